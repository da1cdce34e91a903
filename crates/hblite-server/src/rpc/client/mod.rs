//! ClientService: reads and writes of regions.

mod bulk_load;
mod endpoint;
mod get;
mod multi;
mod mutate;
mod reading;
mod scan;

use hblite_engine::RegionHandle;
use hblite_model::{Mutation, MutationKind, RegionInfo};
use hblite_wire::frame::Request;
use hblite_wire::{RemoteException, pb};

use super::call::{Attempt, Call, Pace, Unfinished};
use super::no_such_method;
use super::peer::{Client, Service};
use crate::cluster::Cluster;

/// A larger call runs on a thread; compared with its duration, the switch does not matter.
const QUICK_BYTES_MAX: usize = 64 * 1024;
/// Compressed cells may be a thousand times as many.
const QUICK_COMPRESSED_MAX: usize = 2 * 1024;

/// Whether the call usually takes microseconds.
pub(super) fn is_quick(client: &Client, request: &Request) -> bool {
    client.service == Service::Client
        && matches!(request.method(), "Get" | "Mutate" | "Scan" | "Multi")
        && request.message.len() + request.cells.len() <= QUICK_BYTES_MAX
        && (client.compressor.is_none() || request.cells.len() <= QUICK_COMPRESSED_MAX)
}

/// Runs a call as far as its limits allow.
pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Attempt {
    Attempt::Done(match call.request.method() {
        "Get" => return get::answer(cluster, call),
        "Mutate" => return mutate::answer(cluster, call),
        "Multi" => return multi::answer(cluster, call),
        "Scan" => return scan::answer(cluster, call),
        "ExecService" => endpoint::answer(cluster, call),
        "PrepareBulkLoad" => bulk_load::prepare(cluster, call),
        "BulkLoadHFile" => bulk_load::load(cluster, call),
        "CleanupBulkLoad" => bulk_load::clean_up(cluster, call),
        _ => Err(no_such_method(call)),
    })
}

/// The whole call, for a thread.
fn on_a_thread(pace: Pace) -> Attempt {
    Attempt::Unfinished(Unfinished { rest: Box::new(self::answer), pace, must_end: false })
}

/// The region that the call is for.
fn region(
    cluster: &Cluster,
    call: &Call<'_>,
    specifier: &pb::RegionSpecifier,
) -> Result<RegionHandle, RemoteException> {
    let region = cluster.region(call.client.role, &call.client.host, specifier)?;
    let (role, method) = (call.client.role, call.request.method());
    match cluster.faults.refusal_of_region(role, method, region.info()) {
        Some(exception) => Err(exception),
        None => Ok(region),
    }
}

/// The region that a write is for; replicas are only read.
fn writable(
    cluster: &Cluster,
    call: &Call<'_>,
    specifier: &pb::RegionSpecifier,
) -> Result<RegionHandle, RemoteException> {
    let region = region(cluster, call, specifier)?;
    match RegionInfo::primary_of_replica(&specifier.value) {
        Some(_) => Err(RemoteException::do_not_retry("region is read only")),
        None => Ok(region),
    }
}

/// Refuses cells over the limit (`RSRpcServices.checkCellSizeLimit`).
fn check_cell_sizes(region: &RegionHandle, mutation: &Mutation) -> Result<(), RemoteException> {
    if mutation.kind() == MutationKind::Delete {
        return Ok(());
    }
    let Some(max) = region.cell_size_max() else { return Ok(()) };
    // What Java counts: serialized, with a length in front.
    let size = |cell: &hblite_model::CellRef<'_>| cell.serialized_size() + size_of::<u32>();
    match mutation.cells().iter().find(|cell| size(cell) > max) {
        None => Ok(()),
        Some(cell) => Err(RemoteException::do_not_retry(format!(
            "Cell[{cell}] with size {} exceeds limit of {max} bytes",
            size(&cell)
        ))),
    }
}
