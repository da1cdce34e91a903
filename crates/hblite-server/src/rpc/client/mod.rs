//! ClientService: reads and writes of regions.

mod bulk_load;
mod endpoint;
mod get;
mod multi;
mod mutate;
mod scan;

use hblite_engine::RegionHandle;
use hblite_model::{Mutation, MutationKind};
use hblite_wire::frame::Request;
use hblite_wire::{RemoteException, pb};

use super::call::{Answer, Call, Client, Service};
use super::dispatch::no_such_method;
use crate::cluster::Cluster;

/// A call larger than this is left to a thread, for which the change does not count.
const QUICK_BYTES_MAX: usize = 64 * 1024;

/// What is left to do of a call.
pub(super) type Rest = Box<dyn FnOnce(&Cluster, &Call<'_>) -> Answer + Send>;

/// What came of doing a call at once.
pub(super) enum Attempt {
    Done(Answer),
    /// It would have to wait, or take long. Nothing was done; this does it.
    TooSlow(Rest),
    /// A part was done, and this does the rest.
    Begun(Rest),
}

/// Whether the call is one that takes microseconds as a rule.
pub(super) fn is_quick(client: &Client, request: &Request) -> bool {
    client.service == Service::Client
        && matches!(request.method(), "Get" | "Mutate" | "Scan" | "Multi")
        && request.message.len() + request.cells.len() <= QUICK_BYTES_MAX
}

/// Does a call that [`is_quick`], as far as it turns out to be.
pub(super) fn try_quick(cluster: &Cluster, call: &Call<'_>) -> Attempt {
    match call.request.method() {
        "Get" => Attempt::Done(get::answer(cluster, call)),
        "Scan" => scan::try_quick(cluster, call),
        "Multi" => multi::try_quick(cluster, call),
        _ => match mutate::answer(cluster, call) {
            Some(answer) => Attempt::Done(answer),
            None => Attempt::TooSlow(Box::new(self::answer)),
        },
    }
}

pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Answer {
    match call.request.method() {
        "Get" => get::answer(cluster, call),
        "Mutate" => mutate::answer(cluster, call).unwrap_or_else(|| Err(no_such_method(call))),
        "Multi" => multi::answer(cluster, call),
        "Scan" => scan::answer(cluster, call),
        "ExecService" => endpoint::answer(cluster, call),
        "PrepareBulkLoad" => bulk_load::prepare(cluster, call),
        "BulkLoadHFile" => bulk_load::load(cluster, call),
        "CleanupBulkLoad" => bulk_load::clean_up(cluster, call),
        _ => Err(no_such_method(call)),
    }
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

/// Refuses cells over the limit (`RSRpcServices.checkCellSizeLimit`).
fn check_cell_sizes(region: &RegionHandle, mutation: &Mutation) -> Result<(), RemoteException> {
    if mutation.kind() == MutationKind::Delete {
        return Ok(());
    }
    let max = region.cell_size_max();
    // What Java counts: serialized, with a length in front.
    let size = |cell: &hblite_model::CellRef<'_>| cell.serialized_size() + size_of::<u32>();
    match mutation.cells().iter().find(|cell| max > 0 && size(cell) > max) {
        None => Ok(()),
        Some(cell) => Err(RemoteException::do_not_retry(format!(
            "Cell[{cell}] with size {} exceeds limit of {max} bytes",
            size(&cell)
        ))),
    }
}
