//! What a call is aimed at: the regions that it names.

use std::collections::BTreeSet;

use hblite_model::META_ENCODED_NAME;
use hblite_wire::frame::Request;
use hblite_wire::pb;
use prost::Message;

use crate::cluster::Cluster;

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

/// The part that these messages have in common; the rest is passed over.
#[derive(Clone, PartialEq, Message)]
struct OneRegion {
    #[prost(message, optional, tag = "1")]
    region: Option<pb::RegionSpecifier>,
    /// Of a `Scan` that goes on.
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

/// A region as a call names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    pub(super) table: String,
    pub(super) encoded_name: String,
}

impl Target {
    pub(super) fn of(info: &hblite_model::RegionInfo) -> Self {
        Self { table: info.table().to_string(), encoded_name: info.encoded_name().to_owned() }
    }

    pub(super) fn is_meta(&self) -> bool {
        self.encoded_name == META_ENCODED_NAME
    }

    /// From a full or encoded name; a full one need not be the name of any region.
    fn named(cluster: &Cluster, name: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(name);
        let Some((table, rest)) = text.split_once(',') else {
            return cluster.find_region(name).ok().flatten().map(|info| Self::of(&info));
        };
        let encoded_name = match rest.strip_suffix('.') {
            Some(rest) => rest.rsplit('.').next().unwrap_or_default(),
            None => META_ENCODED_NAME,
        };
        Some(Self { table: table.to_owned(), encoded_name: encoded_name.to_owned() })
    }
}

/// The regions that the call names; none for calls that name none, or in a way that is not looked
/// into.
pub(super) fn targets(cluster: &Cluster, request: &Request) -> BTreeSet<Target> {
    let named = |region: Option<pb::RegionSpecifier>| Target::named(cluster, &region?.value);
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
                cluster.scanners.region_of(id).map(|info| Target::of(&info))
            };
            scanned().or_else(|| named(one.region.clone())).into_iter().collect()
        }
        _ => BTreeSet::new(),
    }
}
