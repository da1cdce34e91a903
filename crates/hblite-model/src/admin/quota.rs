//! Quotas: limits of requests and of space.

use std::fmt;

use crate::TableName;

/// A quota: whom it limits, and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// Whom it limits.
    pub owner: QuotaOwner,
    /// To what.
    pub limit: QuotaLimit,
}

/// Whom a quota limits: everyone that matches all that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuotaOwner {
    /// A user.
    pub user: Option<String>,
    /// A table.
    pub table: Option<TableName>,
    /// A namespace.
    pub namespace: Option<String>,
    /// Region servers: `all` of them.
    pub region_server: Option<String>,
}

/// To what a quota limits its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuotaLimit {
    /// Requests. To set one without a rate removes the limit of this kind, or of all kinds.
    Throttle {
        /// What is counted.
        kind: Option<ThrottleType>,
        /// How much of it.
        rate: Option<Rate>,
    },
    /// Whether the quotas of tables, namespaces and servers do not apply to a user.
    BypassGlobals(bool),
    /// The size of files. To set `None` removes the limit.
    Space(Option<SpaceLimit>),
}

/// An amount per time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Requests, bytes, or units of capacity.
    pub amount: u64,
    /// The time.
    pub per: RateUnit,
    /// What the amount is for.
    pub scope: QuotaScope,
}

/// The greatest size of files, and what happens beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceLimit {
    /// Bytes.
    pub size_max_bytes: u64,
    /// What happens beyond it.
    pub policy: SpaceViolationPolicy,
}

/// The space that a table uses, as its quota sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceUsage {
    /// The table.
    pub table: TableName,
    /// The size of its files, in bytes.
    pub used_bytes: u64,
    /// The greatest size, in bytes.
    pub size_max_bytes: u64,
    /// What happens now, if the table is too large.
    pub violation: Option<SpaceViolationPolicy>,
}

/// Declares an enumeration of HBase's with the name and the number of each value.
macro_rules! numbered {
    ($(#[$doc:meta])* $type:ident {
        $($(#[$one:meta])* $value:ident = $number:literal $name:literal),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type { $($(#[$one])* $value,)* }

        impl $type {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$value),*];

            /// HBase's name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$value => $name),* }
            }

            /// HBase's number, in messages.
            pub fn number(self) -> i32 {
                match self { $(Self::$value => $number),* }
            }

            /// The value with this name.
            pub fn of_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }

            /// The value with this number.
            pub fn of_number(number: i32) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.number() == number)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

numbered! {
    /// What a limit of requests counts.
    ThrottleType {
        /// Requests.
        RequestNumber = 1 "REQUEST_NUMBER",
        /// Bytes of requests and results.
        RequestSize = 2 "REQUEST_SIZE",
        /// Writes.
        WriteNumber = 3 "WRITE_NUMBER",
        /// Bytes of writes.
        WriteSize = 4 "WRITE_SIZE",
        /// Reads.
        ReadNumber = 5 "READ_NUMBER",
        /// Bytes of reads.
        ReadSize = 6 "READ_SIZE",
        /// Units of capacity.
        RequestCapacityUnit = 7 "REQUEST_CAPACITY_UNIT",
        /// Units of capacity of writes.
        WriteCapacityUnit = 8 "WRITE_CAPACITY_UNIT",
        /// Units of capacity of reads.
        ReadCapacityUnit = 9 "READ_CAPACITY_UNIT",
    }
}

numbered! {
    /// A time, with the name that it has in a limit of requests.
    RateUnit {
        /// A nanosecond.
        Nanosecond = 1 "nsec",
        /// A microsecond.
        Microsecond = 2 "usec",
        /// A millisecond.
        Millisecond = 3 "msec",
        /// A second.
        Second = 4 "sec",
        /// A minute.
        Minute = 5 "min",
        /// An hour.
        Hour = 6 "hour",
        /// A day.
        Day = 7 "day",
    }
}

numbered! {
    /// What an amount is for.
    QuotaScope {
        /// All servers together.
        Cluster = 1 "CLUSTER",
        /// Each server.
        Machine = 2 "MACHINE",
    }
}

numbered! {
    /// What happens to a table that is too large.
    SpaceViolationPolicy {
        /// It is disabled.
        Disable = 1 "DISABLE",
        /// It is neither written to nor compacted.
        NoWritesCompactions = 2 "NO_WRITES_COMPACTIONS",
        /// It is not written to.
        NoWrites = 3 "NO_WRITES",
        /// Only deletes are accepted.
        NoInserts = 4 "NO_INSERTS",
    }
}

impl fmt::Display for QuotaOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.table.as_ref().map(ToString::to_string);
        let parts = [
            ("USER", self.user.as_ref()),
            ("TABLE", table.as_ref()),
            ("NAMESPACE", self.namespace.as_ref()),
            ("REGIONSERVER", self.region_server.as_ref()),
        ];
        let parts =
            parts.into_iter().filter_map(|(key, value)| Some(format!("{key} => {}", value?)));
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

/// HBase's text of a quota's settings.
impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.limit {
            QuotaLimit::BypassGlobals(is_on) => write!(f, "GLOBAL_BYPASS => {is_on}"),
            QuotaLimit::Throttle { kind, rate } => {
                f.write_str("TYPE => THROTTLE")?;
                if let Some(kind) = kind {
                    write!(f, ", THROTTLE_TYPE => {kind}")?;
                }
                let Some(Rate { amount, per, scope }) = *rate else {
                    return f.write_str(", LIMIT => NONE");
                };
                let amount = match kind.map_or("", ThrottleType::name).rsplit('_').next() {
                    Some("SIZE") => size_text(amount),
                    Some("UNIT") => format!("{amount}CU"),
                    _ => format!("{amount}req"),
                };
                write!(f, ", LIMIT => {amount}/{per}, SCOPE => {scope}")
            }
            QuotaLimit::Space(limit) => {
                f.write_str("TYPE => SPACE")?;
                if let Some(table) = &self.owner.table {
                    write!(f, ", TABLE => {table}")?;
                }
                if let Some(namespace) = &self.owner.namespace {
                    write!(f, ", NAMESPACE => {namespace}")?;
                }
                let Some(SpaceLimit { size_max_bytes, policy }) = limit else {
                    return f.write_str(", REMOVE => true");
                };
                let size = size_text(*size_max_bytes);
                write!(f, ", LIMIT => {size}, VIOLATION_POLICY => {policy}")
            }
        }
    }
}

/// As HBase writes sizes in quotas: with two digits, in the largest unit that fits.
fn size_text(size: u64) -> String {
    let units = [(50, 'P'), (40, 'T'), (30, 'G'), (20, 'M'), (10, 'K'), (0, 'B')];
    let fits = |(shift, _): &&(u32, char)| *shift == 0 || size >= 1 << *shift;
    let (shift, unit) = units.iter().find(fits).copied().unwrap_or((0, 'B'));
    format!("{:.2}{unit}", size as f64 / (1_u64 << shift) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_written_as_in_hbase() {
        let quota = |limit| Quota {
            owner: QuotaOwner { table: Some("t1".parse().unwrap()), ..QuotaOwner::default() },
            limit,
        };
        let rate = |amount| Rate { amount, per: RateUnit::Second, scope: QuotaScope::Machine };
        let throttle =
            |kind, amount| QuotaLimit::Throttle { kind: Some(kind), rate: Some(rate(amount)) };
        let space = SpaceLimit { size_max_bytes: 1 << 30, policy: SpaceViolationPolicy::NoInserts };
        for (limit, text) in [
            (
                throttle(ThrottleType::RequestNumber, 10),
                "TYPE => THROTTLE, THROTTLE_TYPE => REQUEST_NUMBER, LIMIT => 10req/sec, SCOPE => \
                 MACHINE",
            ),
            (
                throttle(ThrottleType::WriteSize, 1536),
                "TYPE => THROTTLE, THROTTLE_TYPE => WRITE_SIZE, LIMIT => 1.50K/sec, SCOPE => \
                 MACHINE",
            ),
            (
                throttle(ThrottleType::ReadCapacityUnit, 3),
                "TYPE => THROTTLE, THROTTLE_TYPE => READ_CAPACITY_UNIT, LIMIT => 3CU/sec, SCOPE \
                 => MACHINE",
            ),
            (QuotaLimit::Throttle { kind: None, rate: None }, "TYPE => THROTTLE, LIMIT => NONE"),
            (QuotaLimit::BypassGlobals(true), "GLOBAL_BYPASS => true"),
            (
                QuotaLimit::Space(Some(space)),
                "TYPE => SPACE, TABLE => t1, LIMIT => 1.00G, VIOLATION_POLICY => NO_INSERTS",
            ),
            (QuotaLimit::Space(None), "TYPE => SPACE, TABLE => t1, REMOVE => true"),
        ] {
            assert_eq!(quota(limit).to_string(), text);
        }
        assert_eq!(size_text(5), "5.00B");
        assert_eq!(size_text(u64::MAX), "16384.00P");
        assert_eq!(quota(QuotaLimit::BypassGlobals(true)).owner.to_string(), "TABLE => t1");
    }
}
