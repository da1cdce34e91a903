//! Finds the regions that a call names, before its message is decoded.

use std::collections::BTreeSet;

use hblite_model::META_ENCODED_NAME;
use hblite_model::protobuf::read_message;
use hblite_wire::frame::Request;

use super::Cluster;
use crate::faults::Target;

/// Maximum number of regions of a call that are displayed.
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

/// Fields of messages: the region of a call, the region of an action of a `Multi`, the scanner of a
/// `Scan` that continues, and the name of a region.
const REGION: u32 = 1;
const ACTION_OF_REGION: u32 = 1;
const SCANNER_ID: u32 = 3;
const NAME: u32 = 2;

impl Cluster {
    /// Table and encoded name of the regions that the call names, at most ten.
    pub(crate) fn named_regions(&self, request: &Request) -> Vec<(String, String)> {
        let mut named = BTreeSet::new();
        self.for_each_target(request, &mut |target| {
            if named.len() < NAMED_MAX {
                named.insert((target.table.clone(), target.encoded_name.clone()));
            }
        });
        named.into_iter().collect()
    }

    /// Calls `visit` with each region that the call names, as often as it does; not for methods
    /// whose messages are not examined. The message is not decoded: whatever its size, this takes
    /// the memory of one name.
    pub(crate) fn for_each_target(&self, request: &Request, visit: &mut dyn FnMut(&Target)) {
        let mut of_region = |specifier: Option<&[u8]>| {
            if let Some(target) = specifier.and_then(|it| self.target(last_field(it, NAME)?)) {
                visit(&target);
            }
        };
        let message = request.message.as_ref();
        let method = request.method();
        if method == "Multi" {
            // The regions before a malformed part count as named.
            let _ = read_message(message, |field, value| {
                if field == ACTION_OF_REGION {
                    of_region(last_field(value.as_bytes(), REGION));
                }
                Ok(())
            });
        } else if OF_ONE_REGION.contains(&method) {
            let mut scanner_id = None;
            let _ = read_message(message, |field, value| {
                if field == SCANNER_ID && method == "Scan" {
                    scanner_id = Some(value.as_number());
                }
                Ok(())
            });
            match scanner_id.and_then(|id| self.scanners.region_of(id)) {
                Some(info) => visit(&Target::of(&info)),
                None => of_region(last_field(message, REGION)),
            }
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

/// The bytes of a field that a message has once; of several the last counts.
fn last_field(message: &[u8], wanted: u32) -> Option<&[u8]> {
    let mut found = None;
    let whole = read_message(message, |field, value| {
        if field == wanted {
            found = Some(value.as_bytes());
        }
        Ok(())
    });
    whole.ok().and(found)
}
