//! A crash of single regions: what a cluster does when one of its servers is killed.
//!
//! 1. the regions stop: writers in them finish, no other enters, memory is discarded
//! 2. the current log file is ended, so that the regions' entries are in log files that get no more
//!    records
//! 3. the regions are opened from their directories
//! 4. entries that are not in their files are replayed from these log files
//! 5. they are in service again
//!
//! Other regions keep working meanwhile; procedures wait.

use std::collections::HashMap;
use std::sync::Arc;

use hblite_model::{RegionInfo, Result};

use super::Procedures;
use super::open_regions::open_region;
use super::procedures::begin_procedure;
use super::table::TableEntry;
use crate::context::EngineContext;
use crate::region::{Region, Replay};
use crate::status::CrashReport;
use crate::wal::WalEntry;

impl Procedures<'_> {
    /// Discards what the regions with these encoded names hold in memory, as if their server had
    /// been killed, and opens them again from their files and the log. Acknowledged writes survive,
    /// except those with `Durability::SkipWal`; a write in progress is there completely or not at
    /// all. Unknown names are ignored; hbase:meta and hbase:namespace are not affected.
    ///
    /// # Errors
    /// `Io` and `Corrupt`: regions whose files or log could not be read are out of service until
    /// the store is opened again. `RegionServerStopped` if the store is closed or its log failed.
    pub fn crash_regions(&self, encoded_names: &[&str]) -> Result<CrashReport> {
        let catalog = self.0;
        let _procedure = begin_procedure(catalog)?;
        let is_lost = |info: &RegionInfo| {
            !info.table().is_system() && encoded_names.contains(&info.encoded_name())
        };
        let mut entries = catalog.entries();
        entries.retain(|entry| entry.regions().iter().any(|region| is_lost(region.info())));
        for region in entries.iter().flat_map(|entry| entry.regions()) {
            if is_lost(region.info()) {
                region.abandon();
            }
        }
        let recovered = recover(&catalog.context, &entries, &is_lost);
        let regions = recovered.as_ref().map(|(_, regions)| regions);
        for entry in &entries {
            let in_service = entry.regions().iter().filter_map(|region| {
                if !is_lost(region.info()) {
                    return Some(Arc::clone(region));
                }
                regions.ok()?.get(region.info().encoded_name()).cloned()
            });
            let after = entry.with_state(entry.state, in_service.collect());
            catalog.publish(entry.descriptor.name(), Some(after));
        }
        recovered.map(|(report, _)| report)
    }
}

/// Steps 2 to 4.
fn recover(
    context: &Arc<EngineContext>,
    entries: &[Arc<TableEntry>],
    is_lost: &impl Fn(&RegionInfo) -> bool,
) -> Result<(CrashReport, HashMap<String, Arc<Region>>)> {
    let hold = context.wal.hold_log_files();
    let sealed = hold.seal()?;
    let mut regions = HashMap::new();
    for entry in entries {
        for region in entry.regions().iter().filter(|region| is_lost(region.info())) {
            let name = region.info().encoded_name();
            let row = entry.live_rows().find(|row| row.info.encoded_name() == name);
            if let Some(row) = row {
                let opened = open_region(context, row, &entry.descriptor)?;
                regions.insert(name.to_owned(), opened);
            }
        }
    }
    let mut report = CrashReport { regions: regions.len(), ..CrashReport::default() };
    let mut replay = Replay::default();
    let mut add = |entry: WalEntry<'_>| {
        report.log_entries += u64::from(regions.contains_key(entry.region));
        replay.add(&entry, |name| regions.get(name).cloned())
    };
    let options = context.replay_options();
    hold.replay(&sealed, &context.env, options, &mut add)?;
    replay.finish()?;
    Ok((report, regions))
}
