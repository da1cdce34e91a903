//! The message of a panic.

use std::any::Any;

/// The message of a panic with this payload; empty if the payload is not a text.
pub(crate) fn of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
