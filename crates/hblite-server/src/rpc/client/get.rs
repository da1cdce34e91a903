//! `Get`: one row.

use hblite_engine::{RegionHandle, RegionStep};
use hblite_model::{CellBuffer, Result, RowResult, Scan};
use hblite_wire::convert::{self, ResultWriter};
use hblite_wire::pb;

use super::region;
use crate::cluster::Cluster;
use crate::cluster::meta_view::MetaView;
use crate::rpc::call::{Answer, Call};

pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::GetRequest = call.parameter()?;
    let region = region(cluster, call, &request.region)?;
    if request.get.closest_row_before == Some(true) {
        // Its results have always been part of the message.
        let mut results = ResultWriter::new(None);
        let row = closest_row_before(&region, &request.get)?;
        let result = write_row(cluster, call, &region, &row, &mut results);
        return call.answer(&pb::GetResponse { result: Some(result) });
    }
    // Older clients do not look for a cell block here.
    let has_block = call.client.has_version(1, 3);
    let mut results = ResultWriter::new(call.client.codec.filter(|_| has_block));
    let result = read(cluster, call, &region, &request.get, &mut results)?;
    call.answer_with(&pb::GetResponse { result: Some(result) }, results)
}

/// Answers a get; its cells go to `results`.
pub(super) fn read(
    cluster: &Cluster,
    call: &Call<'_>,
    region: &RegionHandle,
    message: &pb::Get,
    results: &mut ResultWriter,
) -> Result<pb::Result> {
    let get = convert::get(message)?;
    let row = region.get(&get)?;
    if message.existence_only == Some(true) {
        return Ok(pb::Result {
            associated_cell_count: Some(0),
            exists: Some(!row.is_empty()),
            ..pb::Result::default()
        });
    }
    let result = write_row(cluster, call, region, &row, results);
    Ok(pb::Result { stale: Some(false), ..result })
}

/// Gives the cells of a row as this client sees them.
pub(super) fn write_row(
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

/// The last row up to the get's: what asynchbase looks for in hbase:meta, where it must be one of
/// the same table.
fn closest_row_before(region: &RegionHandle, message: &pb::Get) -> Result<RowResult> {
    let mut scan = Scan::new().start_row(&message.row).reversed(true);
    for column in &message.column {
        scan = scan.family(&column.family);
    }
    scan.check()?;
    let mut cells = CellBuffer::new();
    let mut found = region.scan(&scan, None)?;
    let step = found.next(None, || false, |cell| cells.push(cell))?;
    let row = RowResult::new(cells);
    let is_same_table = !region.info().table().is_meta()
        || table_of(row.row()).is_some_and(|table| Some(table) == table_of(&message.row));
    let is_row = matches!(step, RegionStep::Row { .. });
    Ok(if is_row && is_same_table { row } else { RowResult::default() })
}

/// The table in the name of a region.
fn table_of(row: &[u8]) -> Option<&[u8]> {
    let comma = row.iter().position(|byte| *byte == b',')?;
    row.get(..comma)
}
