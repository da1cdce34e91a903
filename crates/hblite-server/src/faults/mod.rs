//! The rules of faults: what goes wrong in a cluster, when a test wants it.
//!
//! - `rule` says what is to happen to which calls, `active` decides it
//! - `target` is a region that a call names, `exception` knows the exceptions by name
//!
//! `fault_control` sets the rules.

mod active;
mod exception;
mod rule;
mod target;

pub use self::active::FaultStatus;
pub(crate) use self::active::{ActiveFaults, Outcome, Verdict};
pub use self::rule::{FaultAction, FaultRule, FaultServer};
pub(crate) use self::target::Target;
