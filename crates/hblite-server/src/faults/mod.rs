//! The rules of faults, which a test injects into a cluster.
//!
//! - `rule` says what happens to which calls, `active` applies the rules
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
