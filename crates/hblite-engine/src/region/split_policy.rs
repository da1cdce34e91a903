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
/// If a table has more regions than this, only the maximum size counts.
const GROWING_REGIONS_MAX: u64 = 100;

/// The rule of a table (`SPLIT_POLICY`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SplitPolicy {
    /// The only region of a table early, others at the maximum size. The default.
    Stepping,
    /// Early at first, then at sizes that grow with the cube of the number of regions.
    IncreasingToUpperBound,
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
            Some("IncreasingToUpperBoundRegionSplitPolicy") => Ok(Self::IncreasingToUpperBound),
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
            Self::IncreasingToUpperBound if (1..=GROWING_REGIONS_MAX).contains(&regions) => {
                Some(largest.min(first.saturating_mul(regions.pow(3))))
            }
            Self::Stepping | Self::IncreasingToUpperBound | Self::ConstantSize => Some(largest),
            Self::Disabled => None,
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
    fn an_unknown_class_is_refused_by_name() {
        for name in POLICY_NAMES {
            let error = SplitPolicy::of(&table(&[(name, "com.example.Mine")])).unwrap_err();
            let message =
                "Unable to load configured region split policy 'com.example.Mine' for table 't'";
            assert_eq!(error.message(), message);
        }
    }
}
