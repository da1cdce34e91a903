//! Who sent requests: counted by client, user, operation and table.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use crate::TableName;

/// Callers of a list.
pub const CALLERS_MAX: usize = 1_024;
/// Bytes of a user's name that are kept.
pub const USER_MAX: usize = 128;

/// How a request came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// HBase's own protocol.
    #[default]
    Rpc,
    /// The Thrift 1 gateway.
    Thrift1,
    /// The Thrift 2 gateway.
    Thrift2,
    /// The REST gateway.
    Rest,
}

/// What a request does. Each action of a batch counts, and each call for the next rows of a scan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// Reads a row.
    #[default]
    Get,
    /// Reads the next rows of a scan.
    Scan,
    /// Writes cells.
    Put,
    /// Deletes.
    Delete,
    /// Adds to a number.
    Increment,
    /// Adds to a value.
    Append,
    /// Writes under a condition.
    CheckAndMutate,
    /// Writes of several kinds to one row.
    MutateRow,
    /// Calls an endpoint of a region.
    Endpoint,
}

/// The names, in the order of the values.
const PROTOCOLS: [(Protocol, &str); 4] = [
    (Protocol::Rpc, "RPC"),
    (Protocol::Thrift1, "Thrift 1"),
    (Protocol::Thrift2, "Thrift 2"),
    (Protocol::Rest, "REST"),
];
const OPERATIONS: [(Operation, &str); 9] = [
    (Operation::Get, "Get"),
    (Operation::Scan, "Scan"),
    (Operation::Put, "Put"),
    (Operation::Delete, "Delete"),
    (Operation::Increment, "Increment"),
    (Operation::Append, "Append"),
    (Operation::CheckAndMutate, "CheckAndMutate"),
    (Operation::MutateRow, "MutateRow"),
    (Operation::Endpoint, "Endpoint"),
];

macro_rules! named {
    ($type:ident, $names:ident) => {
        impl $type {
            /// Its name.
            pub fn name(self) -> &'static str {
                $names[self as usize].1
            }

            /// The one with this name.
            pub fn of_name(name: &str) -> Option<Self> {
                $names.iter().find(|(_, known)| *known == name).map(|(value, _)| *value)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named!(Protocol, PROTOCOLS);
named!(Operation, OPERATIONS);

/// Who sends which requests.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller {
    /// How they came.
    pub protocol: Protocol,
    /// The address of the client; `None` in this process.
    pub address: Option<IpAddr>,
    /// The user, if the protocol names one, cut after [`USER_MAX`] bytes.
    pub user: Option<Arc<str>>,
    /// What they do.
    pub operation: Operation,
    /// In which table.
    pub table: TableName,
}

impl Default for Caller {
    fn default() -> Self {
        let (protocol, operation) = (Protocol::default(), Operation::default());
        Self { protocol, address: None, user: None, operation, table: TableName::meta() }
    }
}

/// The requests of the callers that sent the most.
///
/// A count is at most [`error`](CallerCounts::error) too low and never too high, and so is the
/// count 0 of a caller that is not in the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallerCounts {
    /// All requests.
    pub requests: u64,
    /// How much too low a count is at most.
    pub error: u64,
    /// Callers with their requests, the most first.
    pub callers: Vec<(Caller, u64)>,
}

impl CallerCounts {
    /// Adds the counts of other requests.
    pub fn add(&mut self, other: &Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.error = self.error.saturating_add(other.error);
        let mut counts: HashMap<Caller, u64> = self.callers.drain(..).collect();
        for (caller, count) in &other.callers {
            let sum = counts.entry(caller.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.callers = counts.into_iter().collect();
        self.keep_the_heaviest();
    }

    /// Requests of callers that are not in the list, and those that are missing in its counts.
    pub fn unlisted(&self) -> u64 {
        let listed = self.callers.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        self.requests.saturating_sub(listed)
    }

    /// Orders the callers, and drops those that are too many.
    pub fn keep_the_heaviest(&mut self) {
        self.callers.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        if let Some((_, dropped)) = self.callers.get(CALLERS_MAX) {
            self.error = self.error.saturating_add(*dropped);
            self.callers.truncate(CALLERS_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_values() {
        for (operation, name) in OPERATIONS {
            assert_eq!((operation.name(), Operation::of_name(name)), (name, Some(operation)));
        }
        for (protocol, name) in PROTOCOLS {
            assert_eq!((protocol.name(), Protocol::of_name(name)), (name, Some(protocol)));
        }
        assert_eq!(Operation::of_name("get"), None);
    }

    #[test]
    fn counts_are_added_and_what_is_dropped_is_an_error() {
        let caller = |number: u32| Caller {
            address: Some(IpAddr::from(number.to_be_bytes())),
            ..Caller::default()
        };
        let counts = |callers: Vec<(Caller, u64)>| CallerCounts {
            requests: callers.iter().map(|(_, count)| count).sum(),
            error: 0,
            callers,
        };
        let mut sum = counts(vec![(caller(1), 5), (caller(2), 3)]);
        sum.add(&counts(vec![(caller(2), 4)]));
        assert_eq!(sum, counts(vec![(caller(2), 7), (caller(1), 5)]));
        sum.add(&counts((10..1_034).map(|number| (caller(number), 2)).collect()));
        assert_eq!((sum.callers.len(), sum.error, sum.unlisted()), (CALLERS_MAX, 2, 4));
    }
}
