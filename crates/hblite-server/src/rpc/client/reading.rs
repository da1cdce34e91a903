//! Reads for a call, step by step. Each step examines a limited number of cells, and its memory is
//! charged before it begins.

use hblite_engine::{RegionScan, RegionStep};
use hblite_model::CellRef;
use hblite_wire::RemoteException;

use crate::rpc::call::Call;

/// Passes the cells of the next row to `visit`, as [`RegionScan::next`] does, and pauses when the
/// call's turn is over; on a thread, also between two rows when `is_time_over`.
///
/// # Errors
/// Those of files and filters; `CallQueueTooBig` if there is no memory for a row that a filter
/// evaluates; an exception that is not sent if the client no longer waits.
pub(super) fn next_row(
    call: &Call<'_>,
    scan: &mut RegionScan,
    size_limit: Option<u64>,
    mut is_time_over: impl FnMut() -> bool,
    mut visit: impl FnMut(&CellRef<'_>),
) -> Result<RegionStep, RemoteException> {
    loop {
        if scan.collects_rows() {
            call.hold_collected(scan.collected_bytes())?;
        }
        let work = call.step_work();
        scan.allow_work(work);
        let step = scan.next(size_limit, &mut is_time_over, &mut visit)?;
        let work_left = scan.work_left();
        call.note_work(work - work_left);
        let is_out_of_work = step == RegionStep::Cursor(()) && work_left == 0;
        if !is_out_of_work || call.is_turn_over() {
            return Ok(step);
        }
        call.check_is_wanted()?;
        if !scan.is_within_row() && is_time_over() {
            return Ok(step);
        }
    }
}
