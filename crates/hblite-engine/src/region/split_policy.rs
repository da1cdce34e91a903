//! When a region has grown large enough to be split.
//!
//! Sizes are those of the largest store of the region, as in HBase unless
//! `hbase.hregion.split.overallfiles` is set. HBase varies the maximum size by a random eighth per
//! region, so that regions that grow evenly are not all split at once. Here regions are split one
//! after another anyway, and the same load yields the same regions every time.

use hblite_model::{Error, Exception, Result, TableDescriptor};

use crate::options::EngineOptions;

const PACKAGE: &str = "org.apache.hadoop.hbase.regionserver.";
/// The memstore size on which HBase bases the split size of first regions (`MEMSTORE_FLUSHSIZE`).
const FLUSH_SIZE_DEFAULT: u64 = 128 << 20;
/// The names under which a table sets its policy; the second is that of HBase's own setting.
const POLICY_NAMES: [&str; 2] = ["SPLIT_POLICY", "hbase.regionserver.region.split.policy"];
/// The settings of the policies that keep prefixes together; the second name is the old one.
const PREFIX_LENGTH: [&str; 2] =
    ["KeyPrefixRegionSplitPolicy.prefix_length", "prefix_split_key_policy.prefix_length"];
const DELIMITER: &str = "DelimitedKeyPrefixRegionSplitPolicy.delimiter";
/// If a table has more regions than this, only the maximum size counts.
const GROWING_REGIONS_MAX: u64 = 100;

/// The rule of a table (`SPLIT_POLICY`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SplitPolicy {
    /// The only region of a table early, others at the maximum size. The default.
    Stepping,
    /// Early at first, then at sizes that grow with the cube of the number of regions. The next two
    /// do so as well, and `BusyRegionSplitPolicy` does nothing else here: no write is ever blocked.
    IncreasingToUpperBound,
    /// Between rows whose first bytes differ, so many as the table says.
    KeyPrefix,
    /// Between rows that differ before the table's delimiter.
    DelimitedKeyPrefix,
    /// At the maximum size.
    ConstantSize,
    /// Never.
    Disabled,
}

impl SplitPolicy {
    /// The policy set by the table, by its class.
    ///
    /// # Errors
    /// `Io`, as in HBase for an unknown class.
    pub(crate) fn of(table: &TableDescriptor) -> Result<Self> {
        let Some(class) = POLICY_NAMES.iter().find_map(|name| table.attributes().get(*name)) else {
            return Ok(Self::Stepping);
        };
        match class.strip_prefix(PACKAGE) {
            Some("SteppingSplitPolicy") => Ok(Self::Stepping),
            Some("IncreasingToUpperBoundRegionSplitPolicy" | "BusyRegionSplitPolicy") => {
                Ok(Self::IncreasingToUpperBound)
            }
            Some("KeyPrefixRegionSplitPolicy") => Ok(Self::KeyPrefix),
            Some("DelimitedKeyPrefixRegionSplitPolicy") => Ok(Self::DelimitedKeyPrefix),
            Some("ConstantSizeRegionSplitPolicy") => Ok(Self::ConstantSize),
            Some("DisabledRegionSplitPolicy") => Ok(Self::Disabled),
            _ => Err(Error::invalid_argument(
                Exception::Io,
                format!(
                    "Unable to load configured region split policy '{class}' for table '{}'",
                    table.name()
                ),
            )),
        }
    }

    /// The size beyond which a region of the table is split; `None` for any size.
    pub(crate) fn size_bytes(
        self,
        table: &TableDescriptor,
        options: &EngineOptions,
        table_regions: usize,
    ) -> Option<u64> {
        let positive =
            |name| table.number(name).and_then(|n| u64::try_from(n).ok().filter(|n| *n > 0));
        let largest = positive("MAX_FILESIZE").unwrap_or(options.region_size_max_bytes);
        let first = options.region_split_first_size_bytes.unwrap_or_else(|| {
            positive("MEMSTORE_FLUSHSIZE").unwrap_or(FLUSH_SIZE_DEFAULT).saturating_mul(2)
        });
        let regions = table_regions as u64;
        match self {
            Self::Stepping if regions == 1 => Some(first),
            Self::IncreasingToUpperBound | Self::KeyPrefix | Self::DelimitedKeyPrefix
                if (1..=GROWING_REGIONS_MAX).contains(&regions) =>
            {
                Some(largest.min(first.saturating_mul(regions.pow(3))))
            }
            Self::Disabled => None,
            _ => Some(largest),
        }
    }

    /// The row to split at instead of `middle`: its prefix, so that rows with a common prefix stay
    /// in one region. Without a valid setting, and without the delimiter, `middle` itself
    /// (`getSplitPoint` of the two classes).
    pub(crate) fn split_row(self, table: &TableDescriptor, middle: Vec<u8>) -> Vec<u8> {
        let setting =
            |names: &[&str]| names.iter().find_map(|name| table.attributes().get(*name)).cloned();
        let end = match self {
            Self::KeyPrefix => {
                setting(&PREFIX_LENGTH).and_then(|n| n.parse().ok()).filter(|n| *n > 0)
            }
            Self::DelimitedKeyPrefix => {
                setting(&[DELIMITER]).filter(|text| !text.is_empty()).and_then(|delimiter| {
                    let delimiter = delimiter.as_bytes();
                    middle.windows(delimiter.len()).position(|part| part == delimiter)
                })
            }
            _ => None,
        };
        match end.and_then(|end: usize| middle.get(..end)) {
            Some(prefix) => prefix.to_vec(),
            None => middle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(attributes: &[(&str, &str)]) -> TableDescriptor {
        let mut table = TableDescriptor::new("t".parse().unwrap());
        for (name, value) in attributes {
            table.set_attribute(name, value).unwrap();
        }
        table
    }

    fn sizes(table: &TableDescriptor, options: &EngineOptions) -> [Option<u64>; 4] {
        let policy = SplitPolicy::of(table).unwrap();
        [1, 2, 100, 101].map(|regions| policy.size_bytes(table, options, regions))
    }

    #[test]
    fn each_policy_has_the_sizes_of_its_class() {
        const MIB: u64 = 1 << 20;
        let options = EngineOptions::default();
        let largest = Some(10 << 30);
        let class = |name: &str| format!("{PACKAGE}{name}");
        assert_eq!(sizes(&table(&[]), &options), [Some(256 * MIB), largest, largest, largest]);
        let constant = class("ConstantSizeRegionSplitPolicy");
        let constant = [("SPLIT_POLICY", constant.as_str()), ("MAX_FILESIZE", "5000000")];
        assert_eq!(sizes(&table(&constant), &options), [Some(5_000_000); 4]);
        let growing = class("IncreasingToUpperBoundRegionSplitPolicy");
        let growing = [("SPLIT_POLICY", growing.as_str()), ("MEMSTORE_FLUSHSIZE", "1048576")];
        let expected = [Some(2 * MIB), Some(16 * MIB), largest, largest];
        assert_eq!(sizes(&table(&growing), &options), expected);
        let disabled = class("DisabledRegionSplitPolicy");
        assert_eq!(sizes(&table(&[("SPLIT_POLICY", &disabled)]), &options), [None; 4]);
        let early =
            EngineOptions { region_split_first_size_bytes: Some(1000), ..EngineOptions::default() };
        assert_eq!(sizes(&table(&[]), &early)[..2], [Some(1000), largest]);
    }

    #[test]
    fn rows_with_a_common_prefix_stay_together() {
        const KEY: &str = "KeyPrefixRegionSplitPolicy";
        const DELIMITED: &str = "DelimitedKeyPrefixRegionSplitPolicy";
        let cases = [
            (KEY, PREFIX_LENGTH[0], "3", "user_7", "use"),
            (KEY, PREFIX_LENGTH[1], "3", "user_7", "use"),
            (KEY, PREFIX_LENGTH[0], "9", "user_7", "user_7"),
            (KEY, PREFIX_LENGTH[0], "0", "user_7", "user_7"),
            (KEY, PREFIX_LENGTH[0], "x", "user_7", "user_7"),
            (KEY, "another", "3", "user_7", "user_7"),
            (DELIMITED, DELIMITER, "_", "user_7_8", "user"),
            (DELIMITED, DELIMITER, "__", "a_b__c", "a_b"),
            (DELIMITED, DELIMITER, "/", "user_7", "user_7"),
            (DELIMITED, DELIMITER, "", "user_7", "user_7"),
            ("SteppingSplitPolicy", DELIMITER, "_", "user_7", "user_7"),
        ];
        for (class, setting, value, middle, expected) in cases {
            let table = table(&[("SPLIT_POLICY", &format!("{PACKAGE}{class}")), (setting, value)]);
            let row = SplitPolicy::of(&table).unwrap().split_row(&table, middle.into());
            assert_eq!(row, expected.as_bytes(), "{class} {setting} {value}");
        }
        let growing = |class: &str| {
            let class = format!("{PACKAGE}{class}");
            sizes(&table(&[("SPLIT_POLICY", class.as_str())]), &EngineOptions::default())
        };
        let expected = growing("IncreasingToUpperBoundRegionSplitPolicy");
        for class in [KEY, DELIMITED, "BusyRegionSplitPolicy"] {
            assert_eq!(growing(class), expected, "{class}");
        }
    }

    #[test]
    fn an_unknown_class_is_refused_by_name() {
        for name in POLICY_NAMES {
            let error = SplitPolicy::of(&table(&[(name, "com.example.Mine")])).unwrap_err();
            let message =
                "Unable to load configured region split policy 'com.example.Mine' for table 't'";
            assert_eq!(error.message(), message);
        }
    }
}
