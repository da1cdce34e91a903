//! Finds the regions that a call names.

use std::collections::BTreeSet;

use hblite_model::META_ENCODED_NAME;
use hblite_wire::frame::Request;
use hblite_wire::pb;
use prost::Message;

use super::Cluster;
use crate::faults::Target;

/// Maximum number of regions of a call that are shown to people.
const NAMED_MAX: usize = 10;

/// Methods whose message begins with the region (field 1).
const OF_ONE_REGION: &[&str] = &[
    "Get",
    "Mutate",
    "Scan",
    "ExecService",
    "BulkLoadHFile",
    "GetRegionInfo",
    "FlushRegion",
    "CompactRegion",
    "MoveRegion",
    "AssignRegion",
    "UnassignRegion",
    "OfflineRegion",
];

/// The part that these messages have in common; the rest is skipped.
#[derive(Clone, PartialEq, Message)]
struct OneRegion {
    #[prost(message, optional, tag = "1")]
    region: Option<pb::RegionSpecifier>,
    /// For a `Scan` that continues.
    #[prost(uint64, optional, tag = "3")]
    scanner_id: Option<u64>,
}

/// A `Multi`.
#[derive(Clone, PartialEq, Message)]
struct ManyRegions {
    #[prost(message, repeated, tag = "1")]
    actions: Vec<ActionsOfRegion>,
}

#[derive(Clone, PartialEq, Message)]
struct ActionsOfRegion {
    #[prost(message, optional, tag = "1")]
    region: Option<pb::RegionSpecifier>,
}

impl Cluster {
    /// Table and encoded name of the regions that the call names, at most ten.
    pub(crate) fn named_regions(&self, request: &Request) -> Vec<(String, String)> {
        let named = self.targets(request).into_iter().take(NAMED_MAX);
        named.map(|target| (target.table, target.encoded_name)).collect()
    }

    /// The regions that the call names; empty for a call that names none, and for methods whose
    /// messages are not examined.
    pub(crate) fn targets(&self, request: &Request) -> BTreeSet<Target> {
        let named = |region: Option<pb::RegionSpecifier>| self.target(&region?.value);
        let message = request.message.clone();
        match request.method() {
            "Multi" => {
                let many = ManyRegions::decode(message).unwrap_or_default();
                many.actions.into_iter().filter_map(|action| named(action.region)).collect()
            }
            method if OF_ONE_REGION.contains(&method) => {
                let one = OneRegion::decode(message).unwrap_or_default();
                let scanned = || {
                    let id = one.scanner_id.filter(|_| method == "Scan")?;
                    self.scanners.region_of(id).map(|info| Target::of(&info))
                };
                scanned().or_else(|| named(one.region.clone())).into_iter().collect()
            }
            _ => BTreeSet::new(),
        }
    }

    /// The region with a full or encoded name; a full one need not be the name of any region.
    fn target(&self, name: &[u8]) -> Option<Target> {
        let text = String::from_utf8_lossy(name);
        let Some((table, rest)) = text.split_once(',') else {
            return self.find_region(name).ok().flatten().map(|info| Target::of(&info));
        };
        let encoded_name = match rest.strip_suffix('.') {
            Some(rest) => rest.rsplit('.').next().unwrap_or_default(),
            None => META_ENCODED_NAME,
        };
        Some(Target { table: table.to_owned(), encoded_name: encoded_name.to_owned() })
    }
}
