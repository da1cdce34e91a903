//! The first look at a directory, before an open changes anything in it except the lock.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{Env, FileLock};
use hblite_model::Result;

use super::{Engine, adopt};
use crate::catalog::survey::{CatalogSurvey, MetaEntry};
use crate::catalog::{loss, rebuild, snapshot};
use crate::layout::{self, Layout, Place, rewind};
use crate::options::EngineOptions;
use crate::wal::hbase::HBaseLogs;
use crate::wal::{self, ReplayOptions, ReplayReport, Salvaged};

/// What the first look found.
pub(super) struct Found {
    pub(super) recovery: ReplayReport,
    /// With salvage: how to rebuild the lost rows of hbase:meta.
    pub(super) rebuild: Option<rebuild::Plan>,
    /// What HBase left to be replayed.
    pub(super) hbase_logs: HBaseLogs,
}

/// Looking.
impl Engine {
    /// Recognizes the directory and takes its lock.
    pub(super) fn enter(
        env: &Env,
        dir: &Path,
        options: &EngineOptions,
    ) -> Result<(Layout, Place, Arc<dyn FileLock>)> {
        let (layout, fs) = (Layout::new(dir), env.fs.as_ref());
        let mut place = layout::recognize(fs, &layout, options.tolerance())?;
        if !options.create_if_missing {
            place.require_store(dir)?;
        }
        layout.create_root(fs)?;
        let lock = layout.lock(env)?;
        if !matches!(place, Place::Store(_)) {
            // Another process may have changed the directory before the lock was taken.
            place = layout::recognize(fs, &layout, options.tolerance())?;
        }
        // Needed before anything else is read: other files name the store that they belong to.
        let store_id = place.store_id(env.random.as_ref());
        // A program may change its directory while the store is open.
        let layout = layout.with_store_id(store_id).resolved(fs)?;
        layout.remove_kept(fs)?;
        rewind::finish(fs, &layout)?;
        Ok((layout, place, Arc::from(lock)))
    }

    /// Reads the log, and hbase:meta from its files and the log: whether rows are lost, and with
    /// salvage, how to rebuild them.
    ///
    /// # Errors
    /// `CorruptHFile` if rows are lost; errors of reading them.
    pub(super) fn look(
        env: &Env,
        layout: &Layout,
        place: Place,
        settings: &EngineOptions,
    ) -> Result<Found> {
        let (fs, wal_dir, salvage) = (env.fs.as_ref(), layout.wal_dir(), settings.salvage);
        let hbase_logs = adopt::look(env, layout, settings)?;
        let options = ReplayOptions { store: layout.store_id(), salvage };
        let mut entries = adopt::meta_entries(env, &hbase_logs)?;
        let mut recovery = wal::replay(env, &wal_dir, options, &mut |entry| {
            entries.extend(MetaEntry::of(&entry));
            Ok(())
        })?;
        if matches!(place, Place::Free(_)) {
            return Ok(Found { recovery, rebuild: None, hbase_logs });
        }
        let marker = layout.marker_of(fs, place)?;
        if layout::has_lost_log(fs, layout, marker)? {
            let (file, what) = (wal::head_file(&wal_dir), layout::LOST_LOG.to_owned());
            recovery.salvaged.push(Salvaged { file, offset: 0, bytes_lost: 0, what });
        }
        let survey = CatalogSurvey::read(env, layout, &entries, salvage)?;
        adopt::check(env, &hbase_logs, &survey, layout)?;
        if !salvage && hbase_logs.is_empty() {
            snapshot::check(fs, layout, &snapshot::named(&survey.rows))?;
        }
        let losses = loss::find(fs, layout, marker, &survey, &recovery)?;
        let rebuild = match (losses.is_empty(), salvage) {
            (true, _) => None,
            (false, true) => Some(rebuild::plan(fs, layout, &survey, &recovery, losses)?),
            (false, false) => return Err(loss::refusal(layout, &losses)),
        };
        Ok(Found { recovery, rebuild, hbase_logs })
    }
}
