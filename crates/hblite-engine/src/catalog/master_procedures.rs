//! The procedures that an Apache HBase master had not finished when it ended.
//!
//! ```text
//! MasterData/data/master/store/<region>/proc/<file>   a row per procedure: its id, 8 bytes
//! MasterData/data/master/store/<region>/recovered.wals/<log>
//! MasterData/WALs/<server>/<log>                      what is in no file yet
//!
//! proc:d = Procedure { 1 class_name, 2 parent_id, 3 proc_id, 6 state, … }; empty once it is over
//! ```
//!
//! A procedure changes hbase:meta and directories step by step, and only HBase knows the rest of
//! its steps. A directory with an unfinished procedure is therefore refused, and the error names
//! it. Procedures that only move regions between servers, or recover a crashed server, do not
//! change tables or files: a store that assigns its regions itself can ignore them.
//!
//! Nothing is changed here: HBase finds its procedures again. Source: HBase's
//! `RegionProcedureStore`, `MasterRegion`, `Procedure.proto`. Threads: one, before the store is
//! open.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite_env::FileSystem;
use hblite_hfile::{BlockUse, HFileReader, HFileScanner};
use hblite_model::protobuf;
use hblite_model::{CellRef, CellType, Error, Exception, Result};

use crate::files::list;
use crate::layout::{Layout, is_hex_name};
use crate::wal::hbase::HBaseLogs;

const FAMILY: &[u8] = b"proc";
const QUALIFIER: &[u8] = b"d";
/// States of a finished procedure: ROLLEDBACK and SUCCESS.
const FINISHED: [u64; 2] = [5, 6];
/// Procedures that do not change tables or files.
const HARMLESS: [&str; 21] = [
    "AssignProcedure",
    "AssignReplicationQueuesProcedure",
    "ClaimReplicationQueuesProcedure",
    "CloseRegionProcedure",
    "FlushRegionProcedure",
    "FlushTableProcedure",
    "LogRollProcedure",
    "LogRollRemoteProcedure",
    "MoveRegionProcedure",
    "OpenRegionProcedure",
    "RSProcedureDispatcher",
    "RecoverMetaProcedure",
    "RegionRemoteProcedureBase",
    "ReopenTableRegionsProcedure",
    "ServerCrashProcedure",
    "SnapshotVerifyProcedure",
    "SplitWALProcedure",
    "SplitWALRemoteProcedure",
    "SwitchRpcThrottleProcedure",
    "TransitRegionStateProcedure",
    "UnassignProcedure",
];

/// The newest cell of a procedure's row.
struct Latest {
    timestamp: i64,
    sequence_id: u64,
    procedure: Option<Procedure>,
}

struct Procedure {
    class: String,
    id: u64,
    parent: Option<u64>,
    is_finished: bool,
}

/// Refuses a directory in which a procedure is unfinished.
///
/// # Errors
/// `UnsupportedOperation` that names the procedure; `Io`, `CorruptHFile`, `CorruptWal`.
pub(crate) fn check(fs: &dyn FileSystem, layout: &Layout) -> Result<()> {
    let procedures = read(fs, layout)?;
    let unfinished = |id: &u64| procedures.get(id).filter(|procedure| !procedure.is_finished);
    for procedure in procedures.values().filter(|procedure| !procedure.is_finished) {
        let has_parent = procedure.parent.is_some_and(|parent| unfinished(&parent).is_some());
        let name = procedure.class.rsplit('.').next().unwrap_or_default();
        if has_parent || HARMLESS.contains(&name) {
            // It ends with its parent, which is checked separately.
            continue;
        }
        let message = format!(
            "{}: the master of Apache HBase did not finish its procedure {name} (pid={}), and only \
             HBase can. Nothing was changed. Start HBase on the directory, wait until the \
             procedure is over, and stop it",
            layout.master_data_dir().display(),
            procedure.id
        );
        return Err(Error::new(Exception::UnsupportedOperation, message));
    }
    Ok(())
}

/// The procedures in files and logs, by id.
fn read(fs: &dyn FileSystem, layout: &Layout) -> Result<BTreeMap<u64, Procedure>> {
    let region = super::master_data::region();
    let name = region.encoded_name();
    let place = layout.master_data_dir();
    let region_dir = place.join("data/master/store").join(name);
    let mut rows: BTreeMap<Vec<u8>, Latest> = BTreeMap::new();
    let family_dir = region_dir.join("proc");
    for file in list(fs, &family_dir)? {
        if !file.is_dir && is_hex_name(&file.name) {
            read_file(fs, &family_dir.join(file.name), &mut rows)?;
        }
    }
    let mut dirs: Vec<PathBuf> = Vec::new();
    for server in list(fs, &place.join("WALs"))? {
        if server.is_dir {
            dirs.push(place.join("WALs").join(server.name));
        }
    }
    dirs.push(region_dir.join("recovered.wals"));
    let logs = HBaseLogs::survey_dirs(fs, &dirs)?;
    logs.replay(fs, &|region| region == name, &mut |entry| {
        entry.cells.iter().try_for_each(|cell| note(&cell, &mut rows))
    })?;
    let procedures = rows.into_values().filter_map(|row| row.procedure);
    Ok(procedures.map(|procedure| (procedure.id, procedure)).collect())
}

fn read_file(fs: &dyn FileSystem, path: &Path, rows: &mut BTreeMap<Vec<u8>, Latest>) -> Result<()> {
    let reader = Arc::new(HFileReader::open(fs, path, None)?);
    let mut scanner = HFileScanner::new(reader).with_block_use(BlockUse::Pass);
    let mut is_at_cell = scanner.seek_first()?;
    while is_at_cell {
        if let Some(cell) = scanner.current() {
            note(&cell, rows)?;
        }
        is_at_cell = scanner.next()?;
    }
    Ok(())
}

/// Keeps what a cell says about a procedure, unless a newer one was found.
fn note(cell: &CellRef<'_>, rows: &mut BTreeMap<Vec<u8>, Latest>) -> Result<()> {
    if cell.family() != FAMILY {
        return Ok(());
    }
    let is_put = cell.cell_type() == Some(CellType::Put);
    if is_put && cell.qualifier() != QUALIFIER {
        return Ok(());
    }
    let (timestamp, sequence_id) = (cell.timestamp(), cell.sequence_id());
    let before = rows.get(cell.row());
    if before.is_some_and(|row| (row.timestamp, row.sequence_id) > (timestamp, sequence_id)) {
        return Ok(());
    }
    let is_over = !is_put || cell.value().is_empty();
    let procedure = if is_over { None } else { Some(decode(cell.value())?) };
    rows.insert(cell.row().to_vec(), Latest { timestamp, sequence_id, procedure });
    Ok(())
}

fn decode(message: &[u8]) -> Result<Procedure> {
    let mut procedure = Procedure { class: String::new(), id: 0, parent: None, is_finished: false };
    protobuf::read_message(message, |field, value| {
        match field {
            1 => procedure.class = value.as_text(),
            2 => procedure.parent = Some(value.as_number()),
            3 => procedure.id = value.as_number(),
            6 => procedure.is_finished = FINISHED.contains(&value.as_number()),
            _ => {}
        }
        Ok(())
    })?;
    Ok(procedure)
}
