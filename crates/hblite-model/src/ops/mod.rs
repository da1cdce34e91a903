//! The operations of the client API and their results.
//!
//! Each is a value that is built step by step and passed to a table; nothing happens before that.
//! Building never fails. Whatever HBase's constructors refuse is refused with the same message when
//! the operation is passed to the table ([`Mutation::check`] and its counterparts).

mod action;
mod attributes;
mod check_and_mutate;
mod columns;
mod consistency;
mod durability;
mod get;
#[cfg(feature = "serde")]
mod json;
mod mutation;
mod nonce;
mod permission_action;
mod row_mutations;
mod row_result;
mod scan;
mod scan_metrics;
mod scan_range;
mod scan_step;
mod time_range;
mod value;

pub use action::{Action, ActionResult};
pub use check_and_mutate::{CheckAndMutate, CheckAndMutateResult, Condition};
pub use columns::{ColumnSelection, Qualifiers};
pub use consistency::Consistency;
pub use durability::Durability;
pub use get::Get;
pub use mutation::{Append, Delete, Increment, Mutation, MutationKind, Put};
pub use nonce::Nonce;
pub use permission_action::PermissionAction;
pub use row_mutations::RowMutations;
pub use row_result::RowResult;
pub use scan::{Scan, row_bound};
pub use scan_metrics::ScanMetrics;
pub use scan_step::{RowPart, ScanStep};
pub use time_range::TimeRange;
pub use value::{FromValue, IntoValue};
