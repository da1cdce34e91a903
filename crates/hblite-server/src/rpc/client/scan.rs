//! `Scan`: opens a scanner, reads its next rows, renews and closes it.
//!
//! The rules are those of `RSRpcServices.scan`. An answer ends with the region, with the requested
//! number of rows, with the client's or the server's limit of bytes, or with the time limit: then
//! it is a heartbeat, which means "still looking". A row that does not fit is cut if the client can
//! reassemble rows.
//!
//! Most scans take microseconds, but some take minutes. So each scan begins on the task that read
//! the call. If it is not done soon, it continues on a thread with what it has read.

mod rows;

use std::time::{Duration, Instant};

use hblite_model::{Exception, Operation, RegionInfo};
use hblite_wire::convert;
use hblite_wire::exception::class;
use hblite_wire::{RemoteException, pb};

use self::rows::{Request, Rows};
use super::region;
use crate::cluster::Cluster;
use crate::cluster::scanners::{OpenScanner, Taken};
use crate::rpc::call::{Answer, Attempt, Call, Pace, Unfinished};

/// The size of the smallest cell in the limit of an answer.
const CELL_SIZE_MIN: u64 = 52;

type RemoteResult<T> = std::result::Result<T, RemoteException>;

/// How long a scan may keep its connection waiting: a few times the cost of a thread switch.
const QUICK_MAX: Duration = Duration::from_millis(1);

/// Begins, and postpones the rest if it takes long.
pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Attempt {
    match begin(cluster, call) {
        Ok(Begun::Reading(reading)) => reading.go_on(cluster, call),
        Ok(Begun::Answered(response)) => Attempt::Done(call.answer(&response)),
        Err(exception) => Attempt::Done(Err(exception)),
    }
}

/// The result of a call without its rows.
enum Begun {
    /// There is nothing to read.
    Answered(pb::ScanResponse),
    Reading(Box<Reading>),
}

/// A call and its result so far; it holds its scanner.
struct Reading {
    id: u64,
    is_opening: bool,
    is_closing: bool,
    scanner: Box<OpenScanner>,
    limits: Request,
    rows: Rows,
    response: pb::ScanResponse,
}

fn begin(cluster: &Cluster, call: &Call<'_>) -> RemoteResult<Begun> {
    let request: pb::ScanRequest = call.parameter()?;
    let mut response = pb::ScanResponse::default();
    let now_ms = cluster.engine.now_millis();
    let (id, mut scanner) = match request.scanner_id {
        None => open(cluster, call, &request, &mut response)?,
        Some(id) => {
            response.scanner_id = Some(id);
            match cluster.scanners.take(id, request.next_call_seq, now_ms)? {
                Taken::AlreadyClosed => return Ok(Begun::Answered(response)),
                Taken::Scanner(scanner) => (id, scanner),
            }
        }
    };
    if let Err(exception) = check_region(cluster, &scanner) {
        cluster.scanners.close(id, scanner);
        return Err(exception);
    }
    if let Err(exception) = check_call_sequence(&mut scanner, request.next_call_seq) {
        cluster.scanners.put(id, scanner, now_ms);
        return Err(exception);
    }
    if request.renew != Some(true) {
        call.client.counted.note(Operation::Scan, scanner.scan.info().table(), 1);
    } else {
        cluster.scanners.put(id, scanner, now_ms);
        return Ok(Begun::Answered(response));
    }
    Ok(Begun::Reading(Box::new(Reading {
        id,
        is_opening: request.scanner_id.is_none(),
        is_closing: request.close_scanner == Some(true),
        limits: limits(cluster, call, &request, &scanner),
        scanner,
        rows: Rows::new(call),
        response,
    })))
}

impl Reading {
    /// Continues reading, and postpones the rest when the call's turn is over.
    fn go_on(mut self: Box<Self>, cluster: &Cluster, call: &Call<'_>) -> Attempt {
        let pause_at = call.is_quick().then(|| Instant::now() + QUICK_MAX);
        let Self { rows, limits, scanner, .. } = &mut *self;
        let mut outcome = rows.read_on(cluster, call, limits, scanner, pause_at);
        if matches!(outcome, Ok(false)) {
            if rows.charge_all() {
                return Attempt::Unfinished(Unfinished {
                    rest: Box::new(move |cluster, call| self.go_on(cluster, call)),
                    pace: Pace::Long,
                    must_end: true,
                });
            }
            outcome = Err(call.out_of_memory());
        }
        Attempt::Done(self.end(cluster, call, outcome.map(drop)))
    }

    fn end(
        self: Box<Self>,
        cluster: &Cluster,
        call: &Call<'_>,
        outcome: RemoteResult<()>,
    ) -> Answer {
        let Self { id, scanner, mut response, .. } = *self;
        if let Err(exception) = outcome {
            cluster.scanners.close(id, scanner);
            return Err(if self.is_opening { exception } else { reset(call, exception) });
        }
        let results = self.rows.fill(&mut response);
        if self.is_closing
            || response.more_results == Some(false)
            || response.more_results_in_region == Some(false)
        {
            cluster.scanners.close(id, scanner);
        } else {
            cluster.scanners.put(id, scanner, cluster.engine.now_millis());
        }
        call.answer_with(&response, results)
    }
}

fn open(
    cluster: &Cluster,
    call: &Call<'_>,
    request: &pb::ScanRequest,
    response: &mut pb::ScanResponse,
) -> RemoteResult<(u64, Box<OpenScanner>)> {
    let (Some(specifier), Some(message)) = (&request.region, &request.scan) else {
        return Err(RemoteException::do_not_retry("Missing required input: scannerId or scan"));
    };
    let region = region(cluster, call, specifier)?;
    let (scan, settings) = convert::scan(message)?;
    let scan = region.scan(&scan, settings.read_point)?;
    let charge = cluster.scanners.charge(call.request.message.len());
    let charge = charge.ok_or_else(|| call.out_of_memory())?;
    let id = cluster.scanners.new_id(cluster.started_at_ms)?;
    response.scanner_id = Some(id);
    response.mvcc_read_point = Some(scan.read_point());
    response.ttl = u32::try_from(cluster.scanners.lease_ms()).ok();
    let role = call.client.role;
    let replica = RegionInfo::primary_of_replica(&specifier.value).map_or(0, |(_, id)| id);
    let scanner = OpenScanner {
        scan,
        role,
        replica,
        settings,
        next_call_sequence: 0,
        open_row: None,
        _charge: charge,
    };
    Ok((id, Box::new(scanner)))
}

/// Fails if this server no longer has the region.
fn check_region(cluster: &Cluster, scanner: &OpenScanner) -> RemoteResult<()> {
    use crate::cluster::Role;
    let info = scanner.scan.info();
    let place = cluster.place_of_replica(info, scanner.replica);
    let is_here = scanner.role == Role::RegionServer(place.server) && !place.is_closed;
    if is_here && !scanner.scan.is_region_closed() {
        return Ok(());
    }
    let name = info.region_name_as_string();
    let message = format!("Region has changed on the scanner: regionName={name}");
    Err(RemoteException::new(class::NOT_SERVING_REGION, message))
}

fn check_call_sequence(scanner: &mut OpenScanner, given: Option<u64>) -> RemoteResult<()> {
    let Some(given) = given else {
        return Ok(());
    };
    let expected = scanner.next_call_sequence;
    if given != expected {
        return Err(RemoteException::new(
            class::OUT_OF_ORDER_SCANNER_NEXT,
            format!(
                "Expected nextCallSeq: {expected} But the nextCallSeq got from client: {given}; \
                 region={}",
                scanner.scan.info().region_name_as_string()
            ),
        ));
    }
    scanner.next_call_sequence += 1;
    Ok(())
}

fn limits(
    cluster: &Cluster,
    call: &Call<'_>,
    request: &pb::ScanRequest,
    scanner: &OpenScanner,
) -> Request {
    let is_closing = request.close_scanner == Some(true);
    let rows_max = request.number_of_rows.unwrap_or(u32::from(!is_closing));
    let handles_partials = request.client_handles_partials == Some(true);
    let allows_heartbeats = handles_partials && request.client_handles_heartbeats == Some(true);
    let server_max = cluster.options.limits.result_size_max_bytes as u64;
    let size_max = scanner.settings.size_max_bytes.map_or(server_max, |max| max.min(server_max));
    Request {
        rows_max,
        rows_left: request.limit_of_rows.filter(|rows| *rows > 0),
        size_max,
        allows_partials: handles_partials,
        time_limit: allows_heartbeats.then(|| time_limit(cluster, call)),
        counts_before: scanner.scan.row_counts(),
        tracks_metrics: request.track_scan_metrics == Some(true),
        only_opens: request.scanner_id.is_none()
            && allows_heartbeats
            && !is_closing
            && is_cut_at_every_cell(&scanner.settings),
    }
}

/// Whether each cell is an answer of its own.
///
/// Then `AsyncTable.getScanner` of Java's client stops reading with every answer, and continues
/// when its user has taken the cell. If that opens the scanner of the next region, and the answer
/// with its first cell arrives before the sending thread has returned from the call, the client
/// stops once more but loses track of that, and waits forever. A server on the same machine is that
/// fast. So the answer that opens such a scanner has no cell.
fn is_cut_at_every_cell(settings: &convert::ScanSettings) -> bool {
    // A client that requests cursors counts its answers.
    settings.size_max_bytes.is_some_and(|max| max < CELL_SIZE_MIN) && !settings.needs_cursor
}

/// Half of what the lease and the client's timeout leave.
fn time_limit(cluster: &Cluster, call: &Call<'_>) -> Instant {
    let lease = u64::try_from(cluster.scanners.lease_ms()).unwrap_or(u64::MAX);
    let now = Instant::now();
    let mut limit = Duration::from_millis(lease);
    if let Some(deadline) = call.deadline {
        limit = limit.min(deadline.saturating_duration_since(now));
    }
    now + limit / 2
}

/// The answer to a client whose scanner failed halfway: to open another one after its last row,
/// unless that would fail again.
fn reset(call: &Call<'_>, exception: RemoteException) -> RemoteException {
    if exception.is_do_not_retry()
        || exception.class_name == Exception::NotServingRegion.class_name()
    {
        return exception;
    }
    if call.client.has_version(1, 4) {
        let message = format!("Scanner is closed on the server-side: {exception}");
        return RemoteException::new(class::SCANNER_RESET, message);
    }
    let message = format!(
        "Throwing UnknownScannerException to reset the client scanner state for clients older than \
         1.3.: {exception}"
    );
    RemoteException::new(class::UNKNOWN_SCANNER, message)
}
