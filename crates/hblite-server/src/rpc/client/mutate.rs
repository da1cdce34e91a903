//! `Mutate`: one write to one row, perhaps under a condition.

use hblite_engine::RegionHandle;
use hblite_model::{CheckAndMutateResult, Durability, Error, Exception, Mutation, MutationKind};
use hblite_model::{Nonce, Operation, Result, RowMutations, RowResult};
use hblite_wire::cell_block::CellReader;
use hblite_wire::convert::{self, ResultWriter};
use hblite_wire::{RemoteException, pb};

use super::{check_cell_sizes, on_a_thread, writable};
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Attempt, Call, Pace};

pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Attempt {
    let prepared = match prepare(cluster, call) {
        Ok(prepared) => prepared,
        Err(exception) => return Attempt::Done(Err(exception)),
    };
    if call.is_quick() {
        let Prepared { region, mutation, condition, .. } = &prepared;
        let may_wait = mutation.durability() == Durability::FsyncWal || region.may_have_to_wait();
        // A filter may examine the whole row.
        let reads_much = condition.as_ref().is_some_and(|condition| condition.filter.is_some());
        if may_wait || reads_much {
            return on_a_thread(Pace::Ordinary);
        }
    }
    Attempt::Done(write(call, &prepared))
}

struct Prepared {
    region: RegionHandle,
    mutation: Mutation,
    condition: Option<pb::Condition>,
    nonce: Option<Nonce>,
}

fn prepare(cluster: &Cluster, call: &Call<'_>) -> std::result::Result<Prepared, RemoteException> {
    let request: pb::MutateRequest = call.parameter()?;
    let region = writable(cluster, call, &request.region)?;
    let cells = call.cells(cluster.options.limits.frame_size_max_bytes)?;
    call.hold_write(&cells)?;
    let mutation = convert::mutation(&request.mutation, &mut CellReader::new(&cells))?;
    check_cell_sizes(&region, &mutation)?;
    let nonce = nonce(request.nonce_group, request.mutation.nonce);
    Ok(Prepared { region, mutation, condition: request.condition, nonce })
}

fn write(call: &Call<'_>, prepared: &Prepared) -> Answer {
    let Prepared { region, mutation, condition, nonce } = prepared;
    let operation = operation_of(mutation.kind(), condition.is_some());
    call.client.counted.note(operation, region.info().table(), 1);
    let mut results = call.results();
    if let Some(condition) = condition {
        let checked = check_and_mutate(region, condition, vec![mutation.clone()], *nonce)?;
        let result = checked.result.map(|row| push_row(&row, &mut results));
        let processed = Some(checked.is_success);
        return call.answer_with(&pb::MutateResponse { result, processed }, results);
    }
    match mutation.kind() {
        MutationKind::Put | MutationKind::Delete => {
            region.mutate(std::slice::from_ref(mutation))?;
            call.answer(&pb::MutateResponse { result: None, processed: Some(true) })
        }
        MutationKind::Increment | MutationKind::Append => {
            let row = read_modify_write(region, mutation, *nonce)?;
            let result = Some(push_row(&row, &mut results));
            call.answer_with(&pb::MutateResponse { result, processed: None }, results)
        }
    }
}

/// What a write counts as.
pub(super) fn operation_of(kind: MutationKind, is_conditional: bool) -> Operation {
    match kind {
        _ if is_conditional => Operation::CheckAndMutate,
        MutationKind::Put => Operation::Put,
        MutationKind::Delete => Operation::Delete,
        MutationKind::Increment => Operation::Increment,
        MutationKind::Append => Operation::Append,
    }
}

/// The nonce of a write, if it has one.
pub(super) fn nonce(group: Option<u64>, number: Option<u64>) -> Option<Nonce> {
    let number = number.filter(|number| *number != 0)?;
    Some(Nonce { group: group.unwrap_or(0), number })
}

/// An increment or append.
pub(super) fn read_modify_write(
    region: &RegionHandle,
    mutation: &Mutation,
    nonce: Option<Nonce>,
) -> Result<RowResult> {
    let mutations = RowMutations::new(mutation.row()).add(mutation.clone());
    region.mutate_row(&mutations, nonce)
}

/// Writes if the condition holds.
pub(super) fn check_and_mutate(
    region: &RegionHandle,
    condition: &pb::Condition,
    mutations: Vec<Mutation>,
    nonce: Option<Nonce>,
) -> Result<CheckAndMutateResult> {
    let check = convert::condition(condition)?;
    let actions = RowMutations::new(check.row());
    let actions = mutations.into_iter().fold(actions, RowMutations::add);
    let request = check.then_mutate_row(actions);
    // `ProtobufUtil.toCheckAndMutate` answers what its builder refuses with that text alone.
    request.parts().map_err(|error| match error.exception() {
        Exception::IllegalArgument => Error::new(Exception::DoNotRetryIo, error.message()),
        _ => error,
    })?;
    region.check_and_mutate(&request, nonce)
}

/// Returns the cells of a row that was written.
pub(super) fn push_row(row: &RowResult, results: &mut ResultWriter) -> pb::Result {
    row.cells().for_each(|cell| results.push(&cell));
    results.finish()
}
