//! Opening the root directory of an Apache HBase that has ended, cleanly or by a kill.
//!
//! 1. rehearse: all of the steps below on an image in memory; what fails there changes nothing
//! 2. open the directory as a store, which marks it and keeps HBase from starting on it
//! 3. give the regions back what HBase's logs have of them, hbase:meta first
//! 4. flush these regions, so that their files have it
//! 5. move the logs to `oldWALs/`
//!
//! After an interruption, the next open that adopts begins again: regions skip what is in their
//! files, by sequence id. Any other open refuses the directory while HBase's logs are there. So no
//! client writes before the logs are through.
//!
//! The rehearsal costs a second reading of logs and of hbase:meta, and memory for what the logs
//! have. Threads: one, before the store is open.

use std::path::Path;
use std::sync::Arc;

use hblite_env::Env;
use hblite_model::{META_ENCODED_NAME, Result};

use super::Engine;
use crate::catalog::survey::{CatalogSurvey, MetaEntry};
use crate::catalog::{Catalog, hbase_root};
use crate::context::EngineContext;
use crate::layout::{self, Layout, Tolerance};
use crate::options::EngineOptions;
use crate::region::{Region, Replay};
use crate::wal::hbase::HBaseLogs;

impl EngineOptions {
    /// What of a directory an open with these settings can deal with.
    pub(super) fn tolerance(&self) -> Tolerance {
        Tolerance { salvage: self.salvage, hbase: self.adopts_hbase, rewind: true }
    }
}

/// Tries in memory what an open will do, if HBase left the directory.
///
/// # Errors
/// What the open would run into: nothing was changed.
pub(super) fn rehearse(env: &Env, dir: &Path, options: &EngineOptions) -> Result<()> {
    let (fs, layout) = (env.fs.as_ref(), Layout::new(dir));
    let plain = Tolerance { hbase: false, ..options.tolerance() };
    if !options.adopts_hbase || layout::recognize(fs, &layout, plain).is_ok() {
        return Ok(());
    }
    let rehearsal = EngineOptions { is_read_only: true, ..options.clone() };
    Engine::open(env.clone(), dir, rehearsal)?.close()
}

/// What HBase left to be replayed; nothing in a directory that hblite closed.
///
/// # Errors
/// `UnsupportedOperation`, `Io` or `CorruptWal` that names what cannot be read.
pub(super) fn look(env: &Env, layout: &Layout, options: &EngineOptions) -> Result<HBaseLogs> {
    let fs = env.fs.as_ref();
    let plain = Tolerance { hbase: false, ..options.tolerance() };
    if !options.adopts_hbase || layout::recognize(fs, layout, plain).is_ok() {
        return Ok(HBaseLogs::default());
    }
    hbase_root::examine(fs, layout)?;
    HBaseLogs::survey(fs, layout)
}

/// The entries for hbase:meta.
///
/// # Errors
/// `Io`, `CorruptWal`.
pub(super) fn meta_entries(env: &Env, logs: &HBaseLogs) -> Result<Vec<MetaEntry>> {
    let mut entries = Vec::new();
    logs.replay(env.fs.as_ref(), &|region| region == META_ENCODED_NAME, &mut |entry| {
        entries.extend(MetaEntry::of(&entry.as_entry()));
        Ok(())
    })?;
    Ok(entries)
}

/// Refuses logs of other tables.
///
/// # Errors
/// `Io` that names the region.
pub(super) fn check(logs: &HBaseLogs, survey: &CatalogSurvey, layout: &Layout) -> Result<()> {
    if logs.is_empty() { Ok(()) } else { hbase_root::check_logs(logs, survey, layout) }
}

/// Gives hbase:meta back what the logs have of it.
///
/// # Errors
/// `Io`, `CorruptWal`.
pub(super) fn replay_meta(
    context: &EngineContext,
    logs: &HBaseLogs,
    meta: &Arc<Region>,
) -> Result<()> {
    let (fs, mut replay) = (context.env.fs.as_ref(), Replay::default());
    logs.replay(fs, &|region| region == META_ENCODED_NAME, &mut |entry| {
        replay.add(&entry.as_entry(), |_| Some(Arc::clone(meta)))
    })?;
    replay.finish()
}

/// Gives all other regions back what the logs have of them.
///
/// # Errors
/// `Io`, `CorruptWal`.
pub(super) fn replay_regions(
    context: &EngineContext,
    logs: &HBaseLogs,
    catalog: &Catalog,
) -> Result<()> {
    let mut replay = Replay::default();
    let is_wanted = |region: &str| region != META_ENCODED_NAME;
    logs.replay(context.env.fs.as_ref(), &is_wanted, &mut |entry| {
        // One out of service was closed: see `hbase_root::check_logs`.
        replay.add(&entry.as_entry(), |name| catalog.region(name))
    })?;
    replay.finish()
}

/// Writes what was replayed to store files, and puts the logs out of the way.
///
/// # Errors
/// `Io`: the next open that adopts begins again.
pub(super) fn finish(context: &EngineContext, logs: &HBaseLogs, catalog: &Catalog) -> Result<()> {
    for name in logs.regions.keys() {
        if let Some(region) = catalog.region(name) {
            region.flush()?;
            region.make_names_durable()?;
        }
    }
    logs.retire(context.env.fs.as_ref(), &context.layout)
}
