//! The master's switches. They are stored and reported; the store itself has no balancer,
//! normalizer, janitor or cleaner that they could stop.
//!
//! Threads: any.

use std::sync::atomic::{AtomicBool, Ordering};

macro_rules! switches {
    ($($name:ident = $default:literal,)*) => {
        /// The switches, each with HBase's default.
        #[derive(Debug)]
        pub(crate) struct Switches { $(pub(crate) $name: Switch,)* }

        impl Default for Switches {
            fn default() -> Self {
                Self { $($name: Switch(AtomicBool::new($default)),)* }
            }
        }
    };
}

switches! {
    balancer = true,
    normalizer = true,
    split = true,
    merge = true,
    catalog_janitor = true,
    cleaner_chore = true,
    snapshot_cleanup = true,
    compaction = true,
    rpc_throttle = true,
    peer_modification = true,
}

/// One switch.
#[derive(Debug)]
pub(crate) struct Switch(AtomicBool);

impl Switch {
    pub(crate) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets it; returns its previous value.
    pub(crate) fn set(&self, on: bool) -> bool {
        self.0.swap(on, Ordering::Relaxed)
    }
}
