//! `Get`: one row.

use hblite_engine::{RegionHandle, RegionScan, RegionStep};
use hblite_model::{CellBuffer, CellRef, Operation, RowResult, Scan};
use hblite_wire::convert::{self, ResultWriter};
use hblite_wire::exception::class;
use hblite_wire::{RemoteException, pb};

use super::{on_a_thread, reading, region};
use crate::cluster::Cluster;
use crate::cluster::meta_view::MetaView;
use crate::rpc::call::{Answer, Attempt, Call, Pace, Unfinished};

type RemoteResult<T> = Result<T, RemoteException>;

/// What is read of one column or family before memory for the answer is charged.
const SHORT_BYTES_MAX: usize = 16 * 1024;

/// A get and its result so far.
pub(super) struct Reading {
    source: Source,
    is_of_meta: bool,
    is_existence_only: bool,
    has_cells: bool,
}

enum Source {
    /// All cells of the result.
    Cells(CellBuffer),
    Scan(Box<RegionScan>),
}

pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Attempt {
    let (region, message) = match find(cluster, call) {
        Ok(found) => found,
        Err(exception) => return Attempt::Done(Err(exception)),
    };
    if message.closest_row_before == Some(true) {
        return closest(cluster, call, &region, &message);
    }
    // Older clients do not expect a cell block here.
    let has_block = call.client.has_version(1, 3);
    let mut reading = match Reading::begin(&region, &message) {
        Ok(reading) => reading,
        Err(exception) => return Attempt::Done(Err(exception)),
    };
    let mut results = call.results_with(call.client.codec.filter(|_| has_block));
    match reading.go_on(cluster, call, &mut results) {
        Ok(Some(result)) => answer_with(call, result, results),
        Ok(None) => pause(call, Box::new(reading), results),
        Err(exception) => Attempt::Done(Err(exception)),
    }
}

fn find(cluster: &Cluster, call: &Call<'_>) -> RemoteResult<(RegionHandle, pb::Get)> {
    let request: pb::GetRequest = call.parameter()?;
    let region = region(cluster, call, &request.region)?;
    call.client.counted.note(Operation::Get, region.info().table(), 1);
    Ok((region, request.get))
}

fn answer_with(call: &Call<'_>, result: pb::Result, results: ResultWriter) -> Attempt {
    Attempt::Done(call.answer_with(&pb::GetResponse { result: Some(result) }, results))
}

/// Postpones the rest: the call's turn is over.
fn pause(call: &Call<'_>, mut reading: Box<Reading>, mut results: ResultWriter) -> Attempt {
    if !results.charge_all() {
        return Attempt::Done(Err(call.out_of_memory()));
    }
    let rest = move |cluster: &Cluster, call: &Call<'_>| {
        let done = call.check_is_waited_for();
        match done.and_then(|()| reading.go_on(cluster, call, &mut results)) {
            Ok(Some(result)) => answer_with(call, result, results),
            Ok(None) => pause(call, reading, results),
            Err(exception) => Attempt::Done(Err(exception)),
        }
    };
    Attempt::Unfinished(Unfinished { rest: Box::new(rest), pace: Pace::Long, must_end: false })
}

impl Reading {
    /// Begins to answer a get.
    pub(super) fn begin(region: &RegionHandle, message: &pb::Get) -> RemoteResult<Self> {
        let get = convert::get(message)?;
        let source = match region.get_short(&get, SHORT_BYTES_MAX)? {
            Some(cells) => Source::Cells(cells),
            None => Source::Scan(Box::new(region.begin_get(&get)?)),
        };
        let is_of_meta = region.info().table().is_meta();
        let is_existence_only = message.existence_only == Some(true);
        Ok(Self { source, is_of_meta, is_existence_only, has_cells: false })
    }

    /// Passes the cells of the row to `results`, as this client sees them; `None` if the call's
    /// turn is over first.
    pub(super) fn go_on(
        &mut self,
        cluster: &Cluster,
        call: &Call<'_>,
        results: &mut ResultWriter,
    ) -> RemoteResult<Option<pb::Result>> {
        let Self { source, is_of_meta, is_existence_only, has_cells } = self;
        let mut view = is_of_meta.then(|| MetaView::new(cluster, &call.client.host));
        let mut visit = |cell: &CellRef<'_>| {
            *has_cells = true;
            match &mut view {
                _ if *is_existence_only => {}
                None => results.push(cell),
                Some(view) => view.show(cell, |shown| results.push(shown)),
            }
        };
        let is_paused = match source {
            Source::Cells(cells) => {
                cells.iter().for_each(|cell| visit(&cell));
                call.note_work(cells.len() as u64);
                false
            }
            Source::Scan(scan) => {
                reading::next_row(call, scan, None, || false, visit)? == RegionStep::Cursor(())
            }
        };
        if results.is_out_of_memory() {
            results.discard();
            return Err(call.out_of_memory());
        }
        if is_paused {
            return Ok(None);
        }
        if *is_existence_only {
            return Ok(Some(pb::Result {
                associated_cell_count: Some(0),
                exists: Some(*has_cells),
                ..pb::Result::default()
            }));
        }
        Ok(Some(pb::Result { stale: Some(false), ..results.finish() }))
    }
}

/// Forwards the cells of a row as this client sees them.
fn write_row(
    cluster: &Cluster,
    call: &Call<'_>,
    region: &RegionHandle,
    row: &RowResult,
    results: &mut ResultWriter,
) -> pb::Result {
    if region.info().table().is_meta() {
        let mut view = MetaView::new(cluster, &call.client.host);
        row.cells().for_each(|cell| view.show(&cell, |shown| results.push(shown)));
    } else {
        row.cells().for_each(|cell| results.push(&cell));
    }
    results.finish()
}

/// The last row up to the get's row: asynchbase uses this in hbase:meta, where it must belong to
/// the same table. HBase 2 always refuses it; without a row in hbase:meta, so does hblite, because
/// a client that asks for a region cannot read an empty answer.
fn closest(
    cluster: &Cluster,
    call: &Call<'_>,
    region: &RegionHandle,
    message: &pb::Get,
) -> Attempt {
    match closest_row_before(call, region, message) {
        Ok(Some(row)) if row.is_empty() && region.info().table().is_meta() => {
            let message = "Is this a pre-hbase-1.0.0 or asynchbase client? Client is invoking \
                           getClosestRowBefore removed in hbase-2.0.0 replaced by reverse Scan.";
            Attempt::Done(Err(RemoteException::new(class::UNKNOWN_PROTOCOL, message)))
        }
        Ok(Some(row)) => Attempt::Done(answer_closest(cluster, call, region, &row)),
        // The search starts again from the beginning.
        Ok(None) => on_a_thread(Pace::Ordinary),
        Err(exception) => Attempt::Done(Err(exception)),
    }
}

fn answer_closest(
    cluster: &Cluster,
    call: &Call<'_>,
    region: &RegionHandle,
    row: &RowResult,
) -> Answer {
    // Its results have always been part of the message.
    let mut results = call.results_with(None);
    let result = write_row(cluster, call, region, row, &mut results);
    if results.is_out_of_memory() {
        return Err(call.out_of_memory());
    }
    call.answer_with(&pb::GetResponse { result: Some(result) }, results)
}

/// `None` if the call's turn is over before it is found.
fn closest_row_before(
    call: &Call<'_>,
    region: &RegionHandle,
    message: &pb::Get,
) -> RemoteResult<Option<RowResult>> {
    let mut scan = Scan::new().with_start_row(&message.row).with_reversed(true);
    for column in &message.column {
        scan = scan.with_family(&column.family);
    }
    scan.check()?;
    let mut cells = CellBuffer::new();
    let mut found = region.scan(&scan, None)?;
    let step = reading::next_row(call, &mut found, None, || false, |cell| cells.push(cell))?;
    if step == RegionStep::Cursor(()) {
        return Ok(None);
    }
    let row = RowResult::new(cells);
    let is_same_table = !region.info().table().is_meta()
        || table_of(row.row()).is_some_and(|table| Some(table) == table_of(&message.row));
    let is_row = matches!(step, RegionStep::Row(_));
    Ok(Some(if is_row && is_same_table { row } else { RowResult::default() }))
}

/// The table in the name of a region.
fn table_of(row: &[u8]) -> Option<&[u8]> {
    let comma = row.iter().position(|byte| *byte == b',')?;
    row.get(..comma)
}
