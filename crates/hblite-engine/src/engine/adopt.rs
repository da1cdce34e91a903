//! Opens the root directory of an Apache HBase that was stopped or killed.
//!
//! 1. rehearse: run all of the steps below on an image in memory; a failure there changes nothing
//! 2. open the directory as a store, which marks it and prevents HBase from starting on it
//! 3. replay HBase's logs into the regions, hbase:meta first
//! 4. flush these regions, and write the manifests of all regions
//! 5. move the logs to `oldWALs/`
//!
//! After an interruption, the next adopting open starts over: regions skip what is already in their
//! files, by sequence id. Any other open refuses the directory while HBase's logs are there, so no
//! client writes before the logs are replayed.
//!
//! The rehearsal costs a second read of the logs and of hbase:meta, and memory for the contents of
//! the logs. Threads: one, before the store is open.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
    /// Which directories an open with these settings can handle.
    pub(super) fn tolerance(&self) -> Tolerance {
        Tolerance { salvage: self.salvage, hbase: self.adopts_hbase, rewind: true }
    }
}

/// If HBase left the directory, tries in memory what an open will do.
///
/// # Errors
/// Those of the open; nothing was changed.
pub(super) fn rehearse(env: &Env, dir: &Path, options: &EngineOptions) -> Result<()> {
    let (fs, layout) = (env.fs.as_ref(), Layout::new(dir));
    let plain = Tolerance { hbase: false, ..options.tolerance() };
    if !options.adopts_hbase || layout::recognize(fs, &layout, plain).is_ok() {
        return Ok(());
    }
    let rehearsal = EngineOptions { is_read_only: true, ..options.clone() };
    Engine::open(env.clone(), dir, rehearsal)?.close()?;
    // The image lacks some directories, such as `oldWALs`.
    hbase_root::examine(fs, &layout)
}

/// What HBase left to be replayed; `None` in a directory that hblite closed.
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
pub(super) fn check(
    env: &Env,
    logs: &HBaseLogs,
    survey: &CatalogSurvey,
    layout: &Layout,
) -> Result<()> {
    let fs = env.fs.as_ref();
    if logs.is_empty() { Ok(()) } else { hbase_root::check_logs(fs, logs, survey, layout) }
}

/// Replays the logs into hbase:meta.
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

/// Replays the logs into all other regions.
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
        // A region out of service was closed: see `hbase_root::check_logs`.
        replay.add(&entry.as_entry(), |name| catalog.region(name))
    })?;
    replay.finish()
}

/// Flushes what was replayed, and moves the logs out of the way.
///
/// # Errors
/// `Io`: the next adopting open starts over.
pub(super) fn finish(context: &EngineContext, logs: &HBaseLogs, catalog: &Catalog) -> Result<()> {
    for name in logs.regions.keys() {
        if let Some(region) = catalog.region(name) {
            region.flush()?;
            region.make_names_durable()?;
        }
    }
    if !logs.is_empty() {
        // Without the logs, manifests count again.
        for region in catalog.all_regions() {
            region.files().save_durably()?;
        }
        context.has_hbase_logs.store(false, Ordering::Release);
    }
    logs.retire(context.env.fs.as_ref(), &context.layout)
}
