//! The switches of background work.
//!
//! A store has no balancer, normalizer or peers; their switches are only kept, for those who ask.
//! The others take effect where their work is done. All are on when a store is opened, except those
//! of quotas: as in HBase without quotas, they stay off.
//!
//! Threads: any.

use std::sync::atomic::{AtomicBool, Ordering};

use hblite_model::{Error, Result, Switch};

/// The switches of one store.
#[derive(Debug)]
pub struct Switches {
    by_number: [AtomicBool; Switch::ALL.len()],
    /// Whether the store, as a region server, is to get no more regions. Its regions stay: there is
    /// no other server.
    is_decommissioned: AtomicBool,
}

impl Default for Switches {
    fn default() -> Self {
        let by_number = Switch::ALL.map(|switch| AtomicBool::new(!is_of_quotas(switch)));
        Self { by_number, is_decommissioned: AtomicBool::new(false) }
    }
}

impl Switches {
    /// Whether it is on.
    pub fn is_on(&self, switch: Switch) -> bool {
        self.by_number[switch as usize].load(Ordering::Relaxed)
    }

    /// Turns it on or off. Returns whether it was on.
    pub fn set(&self, switch: Switch, on: bool) -> bool {
        self.by_number[switch as usize].swap(on && !is_of_quotas(switch), Ordering::Relaxed)
    }

    /// Whether the store's server is to get no more regions.
    pub fn is_decommissioned(&self) -> bool {
        self.is_decommissioned.load(Ordering::Relaxed)
    }

    /// Says whether the store's server is to get no more regions.
    pub fn set_decommissioned(&self, is_decommissioned: bool) {
        self.is_decommissioned.store(is_decommissioned, Ordering::Relaxed);
    }

    /// Sets each as it is in `other`.
    pub(crate) fn copy(&self, other: &Self) {
        for switch in Switch::ALL {
            self.set(switch, other.is_on(switch));
        }
        self.set_decommissioned(other.is_decommissioned());
    }

    /// Refuses work that is switched off.
    ///
    /// # Errors
    /// `DoNotRetryIo` with `message`.
    pub(crate) fn check(&self, switch: Switch, message: impl FnOnce() -> String) -> Result<()> {
        if self.is_on(switch) { Ok(()) } else { Err(Error::do_not_retry(message())) }
    }
}

fn is_of_quotas(switch: Switch) -> bool {
    matches!(switch, Switch::RpcThrottle | Switch::ExceedThrottleQuota)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_switch_has_a_place_of_its_own() {
        let switches = Switches::default();
        for (at, switch) in Switch::ALL.into_iter().enumerate() {
            assert_eq!(switch as usize, at);
            let is_on = !is_of_quotas(switch);
            assert_eq!(switches.set(switch, false), is_on);
            assert!(!switches.set(switch, true));
            assert_eq!(switches.is_on(switch), is_on);
        }
    }
}
