//! A connection's permit, and its end in favour of another.
//!
//! Threads: any.

use std::future::poll_fn;
use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use hblite_wire::permits::{End, Permit, Permits};
use tokio::sync::Notify;

/// The place of a connection, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    permit: Permit,
    eviction: Arc<Notify>,
}

impl Place {
    /// Takes a permit for a client at `address`, as [`Permits::poll_enter`].
    pub(crate) async fn enter(permits: &Arc<Permits>, address: IpAddr) -> Option<Self> {
        let eviction = Arc::new(Notify::new());
        let notified = Arc::clone(&eviction);
        let end: End = Arc::new(move || notified.notify_one());
        let permit = poll_fn(|context| permits.poll_enter(address, &end, context)).await?;
        Some(Self { permit, eviction })
    }

    /// Resolves when the connection must end in favour of a new one.
    pub(crate) async fn evicted(&self) {
        self.eviction.notified().await;
    }
}

impl Deref for Place {
    type Target = Permit;

    fn deref(&self) -> &Permit {
        &self.permit
    }
}
