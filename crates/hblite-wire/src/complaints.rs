//! Reports malformed input, with a limit on the number of lines per minute.
//!
//! Anybody can send such input as fast as the network carries it, and a log must not fill a disk.
//!
//! Threads: any.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hblite_model::counted;

/// The period of the limit.
const PERIOD: Duration = Duration::from_secs(60);
/// The maximum number of lines in a period.
const LINES_PER_PERIOD: usize = 10;

/// Where lines about malformed input go.
#[derive(Clone)]
pub struct Complaints {
    write: Arc<dyn Fn(&str) + Send + Sync>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    period: Option<Instant>,
    lines: usize,
    left_out: u64,
}

impl Complaints {
    /// Passes each line, without a line end, to `write`, which is called from many threads and must
    /// be quick.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { write: Arc::new(write), state: Arc::default() }
    }

    /// Writes a line: what is wrong with the input that `port` got from `peer`. After ten lines in
    /// a minute the others are only counted, and the next minute begins with their number.
    pub fn note(&self, port: &str, peer: Option<SocketAddr>, what: &dyn fmt::Display) {
        self.note_at(Instant::now(), port, peer, what);
    }

    fn note_at(&self, now: Instant, port: &str, peer: Option<SocketAddr>, what: &dyn fmt::Display) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.period.is_none_or(|begun| now.saturating_duration_since(begun) >= PERIOD) {
            state.period = Some(now);
            state.lines = 0;
        }
        if state.lines == LINES_PER_PERIOD {
            state.left_out += 1;
            return;
        }
        state.lines += 1;
        let left_out = std::mem::take(&mut state.left_out);
        drop(state);
        if left_out > 0 {
            let lines = counted(left_out, "more line");
            (self.write)(&format!("left out: {lines} about malformed input"));
        }
        let peer = peer.map(|peer| format!(" from {peer}")).unwrap_or_default();
        (self.write)(&format!("{port}: malformed input{peer}: {what}"));
    }
}

impl fmt::Debug for Complaints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Complaints").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_writes_few_lines_and_is_counted() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&lines);
        let complaints = Complaints::new(move |line| sink.lock().unwrap().push(line.to_owned()));
        let peer = "127.0.0.1:7".parse().ok();
        let begin = Instant::now();
        for number in 0..1_000 {
            complaints.note_at(begin, "Thrift 1", peer, &number);
        }
        assert_eq!(lines.lock().unwrap().len(), LINES_PER_PERIOD);
        assert_eq!(lines.lock().unwrap()[0], "Thrift 1: malformed input from 127.0.0.1:7: 0");
        complaints.note_at(begin + PERIOD, "REST", None, &"later");
        let lines = lines.lock().unwrap();
        assert_eq!(lines[10], "left out: 990 more lines about malformed input");
        assert_eq!(lines[11], "REST: malformed input: later");
        assert_eq!(lines.len(), 12);
    }
}
