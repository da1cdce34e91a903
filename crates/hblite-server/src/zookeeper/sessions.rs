//! Sessions: connected clients, and those that may reconnect before their timeout.
//!
//! Invariant: a session belongs to at most one connection. A client that attaches to it again takes
//! it from the previous connection, which learns this from its [`Detached`].

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use hblite_env::Random;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The shortest and the longest timeout that a client gets: 2 and 20 ticks of ZooKeeper.
const TIMEOUT_MIN: Duration = Duration::from_secs(4);
const TIMEOUT_MAX: Duration = Duration::from_secs(40);
/// More sessions than this are refused.
const SESSIONS_MAX: usize = 10_000;

/// The secret that lets a client attach to its session again.
pub(super) type Password = [u8; 16];

/// Resolves when another connection has taken the session.
pub(super) type Detached = oneshot::Receiver<()>;

/// A session as its client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionName {
    pub(super) id: i64,
    pub(super) password: Password,
    pub(super) timeout: Duration,
}

#[derive(Debug)]
struct Session {
    name: SessionName,
    expires: Instant,
    /// Dropped to tell the connection that it has lost the session.
    connection: Option<oneshot::Sender<()>>,
}

/// All live sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    sessions: HashMap<i64, Session>,
}

impl Sessions {
    pub(super) fn len(&self) -> usize {
        self.sessions.len()
    }

    /// A new session for a client that requests the timeout `wanted`; `None` if there are too many.
    pub(super) fn open(
        &mut self,
        wanted: Duration,
        random: &dyn Random,
    ) -> Option<(SessionName, Detached)> {
        self.forget_expired();
        if self.sessions.len() >= SESSIONS_MAX {
            return None;
        }
        let mut password = [0; 16];
        password[..8].copy_from_slice(&random.next_u64().to_be_bytes());
        password[8..].copy_from_slice(&random.next_u64().to_be_bytes());
        let id = loop {
            // Positive: HBase prints it, and 0 means "expired".
            let id = (random.next_u64() >> 1).cast_signed();
            if id != 0 && !self.sessions.contains_key(&id) {
                break id;
            }
        };
        let name = SessionName { id, password, timeout: wanted.clamp(TIMEOUT_MIN, TIMEOUT_MAX) };
        let (connection, detached) = oneshot::channel();
        let expires = Instant::now() + name.timeout;
        let session = Session { name, expires, connection: Some(connection) };
        let other = self.sessions.insert(id, session);
        assert!(other.is_none(), "two sessions with the id {id:x}");
        Some((name, detached))
    }

    /// Attaches a client to its session again; `None` if it expired or the password is wrong.
    pub(super) fn attach(
        &mut self,
        id: i64,
        password: &[u8],
        wanted: Duration,
    ) -> Option<(SessionName, Detached)> {
        self.forget_expired();
        let session = self.sessions.get_mut(&id)?;
        if session.name.password != password {
            return None;
        }
        let (connection, detached) = oneshot::channel();
        session.name.timeout = wanted.clamp(TIMEOUT_MIN, TIMEOUT_MAX);
        session.expires = Instant::now() + session.name.timeout;
        session.connection = Some(connection);
        Some((session.name, detached))
    }

    /// Records that the client is alive.
    pub(super) fn touch(&mut self, id: i64) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.expires = Instant::now() + session.name.timeout;
        }
    }

    /// Ends a session.
    pub(super) fn close(&mut self, id: i64) {
        self.sessions.remove(&id);
    }

    /// The sessions that have not expired.
    pub(super) fn alive(&mut self) -> HashSet<i64> {
        self.forget_expired();
        self.sessions.keys().copied().collect()
    }

    fn forget_expired(&mut self) {
        let now = Instant::now();
        self.sessions.retain(|_, session| session.expires > now);
    }
}

#[cfg(test)]
mod tests {
    use hblite_env::SeededRandom;

    use super::*;

    const WANTED: Duration = Duration::from_secs(90);

    #[tokio::test(start_paused = true)]
    async fn a_session_is_kept_for_its_timeout_and_taken_over_with_its_password() {
        let random = SeededRandom::new(1);
        let mut sessions = Sessions::default();
        let (name, detached) = sessions.open(WANTED, &random).expect("room");
        assert_eq!(name.timeout, Duration::from_secs(40));
        assert!(sessions.attach(name.id, &[0; 16], WANTED).is_none());
        let again = sessions.attach(name.id, &name.password, Duration::ZERO).expect("it lives");
        assert_eq!(again.0.timeout, Duration::from_secs(4));
        assert!(detached.await.is_err(), "the first connection is told");
        tokio::time::advance(Duration::from_secs(3)).await;
        sessions.touch(name.id);
        tokio::time::advance(Duration::from_secs(3)).await;
        assert!(sessions.attach(name.id, &name.password, Duration::ZERO).is_some());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(sessions.attach(name.id, &name.password, WANTED).is_none());
        assert_eq!(sessions.len(), 0);
    }

    #[tokio::test]
    async fn the_number_of_sessions_is_limited() {
        let random = SeededRandom::new(1);
        let mut sessions = Sessions::default();
        let open: Vec<_> = (0..SESSIONS_MAX).map(|_| sessions.open(WANTED, &random)).collect();
        assert!(open.iter().all(Option::is_some));
        assert!(sessions.open(WANTED, &random).is_none());
        sessions.close(open[0].as_ref().expect("it is open").0.id);
        assert!(sessions.open(WANTED, &random).is_some());
    }
}
