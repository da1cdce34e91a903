//! MasterService: tables, namespaces, regions, switches, status.
//!
//! What HBase does in a procedure is complete here before the procedure's id is returned.

mod features;
mod namespaces;
mod procedures;
mod regions;
mod servers;
mod snapshots;
mod status;
mod switches;
mod tables;

pub(super) use self::status::region_load;

use hblite_model::{Error, Nonce, Result};
use hblite_wire::{RemoteException, pb};

use super::call::{Answer, Call};
use super::no_such_method;
use crate::cluster::Cluster;

/// A method of the master, if this part has it.
type Method = fn(&Cluster, &Call<'_>) -> Answer;

pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let name = call.request.method();
    let parts = [
        tables::method,
        namespaces::method,
        regions::method,
        servers::method,
        snapshots::method,
        status::method,
        switches::method,
        features::method,
        procedures::method,
    ];
    match parts.iter().find_map(|part| part(name)) {
        Some(method) => method(cluster, call),
        None => Err(no_such_method(call)),
    }
}

/// HbckService: regions and files are compared when the store is opened, so there is nothing to do.
pub(super) fn answer_hbck(call: &Call<'_>) -> Answer {
    match call.request.method() {
        "RunHbckChore" => call.answer(&pb::SwitchResponse { value: Some(true) }),
        _ => Err(no_such_method(call)),
    }
}

/// The nonce of a change, if its client sent one.
fn nonce(group: Option<u64>, number: Option<u64>) -> Option<Nonce> {
    let number = number.filter(|number| *number != 0)?;
    Some(Nonce { group: group.unwrap_or(0), number })
}

/// Runs a change as a procedure, and answers with its id.
fn procedure(
    cluster: &Cluster,
    call: &Call<'_>,
    nonce: Option<Nonce>,
    work: impl FnOnce() -> Result<()>,
) -> Answer {
    let id = run(cluster, nonce, work)?;
    call.answer(&pb::ProcedureResponse { proc_id: Some(id) })
}

/// Answers with the id of a procedure that has failed: HBase notices this error when the procedure
/// runs, and its shell prints it without the name of the class.
fn failed_procedure(cluster: &Cluster, call: &Call<'_>, error: Error) -> Answer {
    let id = cluster.procedures.failed(cluster.engine.now_millis(), error.into());
    call.answer(&pb::ProcedureResponse { proc_id: Some(id) })
}

/// Runs a change as a procedure. Returns its id.
fn run(
    cluster: &Cluster,
    nonce: Option<Nonce>,
    work: impl FnOnce() -> Result<()>,
) -> std::result::Result<u64, RemoteException> {
    let now_ms = cluster.engine.now_millis();
    let work = || work().map(|()| Vec::new()).map_err(RemoteException::from);
    let id = cluster.procedures.run(nonce, now_ms, work);
    cluster.note_change();
    id
}
