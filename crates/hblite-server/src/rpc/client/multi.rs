//! `Multi`: actions on many rows, region by region, independently or all of a row together.
//!
//! Results are in the order of the actions, which asynchbase relies on. Consecutive puts and
//! deletes become one log entry; a get, an increment or an append between them sees what came
//! before it. If there is no memory for a get, the following gets are refused too.

use hblite_engine::RegionHandle;
use hblite_model::{Durability, Mutation, MutationKind, Operation, Result, RowMutations};
use hblite_wire::cell_block::CellReader;
use hblite_wire::convert::{self, ResultWriter};
use hblite_wire::exception::class;
use hblite_wire::{RemoteException, pb};

use super::mutate::{check_and_mutate, nonce, operation_of, push_row, read_modify_write};
use super::{check_cell_sizes, endpoint, get, on_a_thread, region, writable};
use crate::cluster::Cluster;
use crate::rpc::call::{Attempt, Call, Pace};
use crate::rpc::outgoing::Reply;

type RemoteResult<T> = std::result::Result<T, RemoteException>;

/// More actions than this run on a thread.
const QUICK_ACTIONS_MAX: usize = 128;

/// Runs it immediately if it consists of a few gets, or of a few puts that need not wait. Gets that
/// turn out to be long are repeated on a thread.
pub(super) fn answer(cluster: &Cluster, call: &Call<'_>) -> Attempt {
    let request: pb::MultiRequest = match call.parameter() {
        Ok(request) => request,
        Err(exception) => return Attempt::Done(Err(exception)),
    };
    let pace = if reads(&request) { Pace::Long } else { Pace::Ordinary };
    let is_in_place = match call.pace() {
        Pace::Quick => is_quick(cluster, &request),
        present => present == pace,
    };
    if !is_in_place {
        return on_a_thread(pace);
    }
    match carry_out(cluster, call, request) {
        Ok(Some(reply)) => Attempt::Done(Ok(reply)),
        Ok(None) => on_a_thread(Pace::Long),
        Err(exception) => Attempt::Done(Err(exception)),
    }
}

/// Whether there are actions that may read many cells.
fn reads(request: &pb::MultiRequest) -> bool {
    let mut actions = request.region_action.iter().flat_map(|region| &region.action);
    actions.any(|action| action.get.is_some() || action.service_call.is_some())
}

fn is_quick(cluster: &Cluster, request: &pb::MultiRequest) -> bool {
    let regions = &request.region_action;
    let actions = || regions.iter().flat_map(|region| &region.action);
    if actions().count() > QUICK_ACTIONS_MAX
        || request.condition.is_some()
        || regions.iter().any(|one| one.condition.is_some() || one.atomic == Some(true))
    {
        return false;
    }
    let is_plain_put = |mutation: &pb::MutationProto| {
        convert::kind_and_durability(mutation).is_ok_and(|(kind, durability)| {
            kind == MutationKind::Put && durability != Durability::FsyncWal
        })
    };
    actions().all(|action| action.get.is_some())
        || actions().all(|action| action.mutation.as_deref().is_some_and(is_plain_put))
            && regions.iter().all(|one| !may_have_to_wait(cluster, &one.region))
}

/// Whether a write to this region might have to wait.
fn may_have_to_wait(cluster: &Cluster, specifier: &pb::RegionSpecifier) -> bool {
    cluster.engine.region(&specifier.value).is_some_and(|region| region.may_have_to_wait())
}

/// `None` if the call's turn was over and nothing was changed.
fn carry_out(
    cluster: &Cluster,
    call: &Call<'_>,
    mut request: pb::MultiRequest,
) -> RemoteResult<Option<Reply>> {
    let cells = call.cells(cluster.options.limits.frame_size_max_bytes)?;
    call.hold_write(&cells)?;
    let mut multi = Multi {
        cluster,
        call,
        cells: CellReader::new(&cells),
        results: call.results(),
        nonce_group: request.nonce_group,
        is_turn_over: false,
        counted: Vec::new(),
    };
    // How clients before 2.4 send a condition.
    let is_old_condition = request.condition.is_some();
    if let (Some(condition), Some(first)) =
        (request.condition.take(), request.region_action.first_mut())
    {
        first.condition.get_or_insert(condition);
    }
    let mut response = pb::MultiResponse::default();
    for action in &request.region_action {
        let result = multi.region_action(action);
        if multi.is_turn_over {
            return Ok(None);
        }
        if is_old_condition || action.atomic == Some(true) {
            response.processed = result.processed.or(response.processed);
        }
        response.region_action_result.push(result);
        if cluster.options.client_backpressure {
            report_load(cluster, &action.region, &mut response);
        }
    }
    for (region, operation, requests) in std::mem::take(&mut multi.counted) {
        call.client.counted.note(operation, region.info().table(), requests);
    }
    if is_old_condition && request.region_action.is_empty() {
        response.processed = Some(true);
    }
    call.answer_with(&response, multi.results).map(Some)
}

/// Adds the load of a region to the answer, unless the region has gone.
fn report_load(
    cluster: &Cluster,
    specifier: &pb::RegionSpecifier,
    response: &mut pb::MultiResponse,
) {
    let Some(region) = cluster.engine.region(&specifier.value) else { return };
    let (memstore, heap) = region.memstore_load_percent();
    let percent = |percent| i32::try_from(percent).ok();
    let statistics = response.region_statistics.get_or_insert_default();
    statistics.region.push(specifier.clone());
    statistics.stat.push(pb::RegionLoadStats {
        mem_store_load: percent(memstore),
        heap_occupancy: percent(heap),
        compaction_pressure: None,
    });
}

struct Multi<'m> {
    cluster: &'m Cluster,
    call: &'m Call<'m>,
    cells: CellReader<'m>,
    results: ResultWriter,
    nonce_group: Option<u64>,
    /// A get that the connection waits for was not finished.
    is_turn_over: bool,
    /// Requests by region: counted at the end, because they may be repeated.
    counted: Vec<(RegionHandle, Operation, u64)>,
}

/// Puts and deletes that wait to be written together, and the positions of their results.
#[derive(Default)]
struct Batch {
    mutations: Vec<Mutation>,
    places: Vec<usize>,
}

impl Multi<'_> {
    fn region_action(&mut self, action: &pb::RegionAction) -> pb::RegionActionResult {
        let writes = action.action.iter().any(|one| one.mutation.is_some());
        let find = if writes { writable } else { region };
        let region = match find(self.cluster, self.call, &action.region) {
            Ok(region) => region,
            Err(exception) => {
                let counts = action.action.iter().map(count_cells);
                // If cells are missing at the end, the next region's actions detect it.
                let _ = self.cells.skip(counts.sum());
                return failed(&exception);
            }
        };
        if self.call.client.counted.is_on() {
            self.count(&region, action);
        }
        if action.condition.is_some() || action.atomic == Some(true) {
            return self.atomic(&region, action).unwrap_or_else(|exception| failed(&exception));
        }
        self.one_by_one(&region, &action.action)
    }

    /// Counts the actions on a region.
    fn count(&mut self, region: &RegionHandle, action: &pb::RegionAction) {
        if action.condition.is_some() || action.atomic == Some(true) {
            let is_conditional = action.condition.is_some();
            let operation =
                if is_conditional { Operation::CheckAndMutate } else { Operation::MutateRow };
            self.counted.push((region.clone(), operation, 1));
            return;
        }
        let first = self.counted.len();
        for one in &action.action {
            let kind =
                one.mutation.as_deref().and_then(|one| convert::kind_and_durability(one).ok());
            let operation = match kind {
                Some((kind, _)) => operation_of(kind, false),
                None if one.get.is_some() => Operation::Get,
                None => Operation::Endpoint,
            };
            let known = self.counted[first..].iter_mut().find(|(_, known, _)| *known == operation);
            match known {
                Some((_, _, requests)) => *requests += 1,
                None => self.counted.push((region.clone(), operation, 1)),
            }
        }
    }

    /// Actions on one row, all or none, perhaps under a condition.
    fn atomic(
        &mut self,
        region: &RegionHandle,
        action: &pb::RegionAction,
    ) -> RemoteResult<pb::RegionActionResult> {
        let mutations = self.mutations_of(region, action)?;
        let mut numbers = action.action.iter().filter_map(|one| one.mutation.as_ref()?.nonce);
        let nonce = nonce(self.nonce_group, numbers.next_back());
        let (is_success, row) = match &action.condition {
            Some(_) if mutations.is_empty() => (true, None),
            Some(condition) => {
                let checked = check_and_mutate(region, condition, mutations, nonce)?;
                (checked.is_success, checked.result)
            }
            None => {
                let row = mutations.first().map(|first| first.row().to_vec()).unwrap_or_default();
                let all = mutations.into_iter().fold(RowMutations::new(row), RowMutations::add);
                all.check()?;
                let row = region.mutate_row(&all, nonce)?;
                (true, Some(row).filter(|row| !row.is_empty()))
            }
        };
        // Under a condition there are only indexes: a client before 2.4 fails if there are results.
        let result = action.condition.is_none().then(pb::Result::default);
        let mut results: Vec<pb::ResultOrException> = (0..action.action.len())
            .map(|index| pb::ResultOrException {
                index: Some(index as u32),
                result: result.clone(),
                ..pb::ResultOrException::default()
            })
            .collect();
        if let (Some(row), Some(first)) = (row, results.first_mut()) {
            // Java expects these cells in the message, whatever its codec.
            first.result = Some(push_row(&row, &mut self.call.results_with(None)));
        }
        Ok(pb::RegionActionResult {
            result_or_exception: results,
            processed: Some(is_success),
            exception: None,
        })
    }

    fn mutations_of(
        &mut self,
        region: &RegionHandle,
        action: &pb::RegionAction,
    ) -> RemoteResult<Vec<Mutation>> {
        let mut mutations = Vec::with_capacity(action.action.len());
        let mut first_error = None;
        for one in &action.action {
            // All are consumed, so that the cells of the next region are found.
            match self.mutation_of(region, one) {
                Ok(mutation) => mutations.push(mutation),
                Err(exception) => {
                    first_error.get_or_insert(exception);
                }
            }
        }
        first_error.map_or(Ok(mutations), Err)
    }

    fn mutation_of(
        &mut self,
        region: &RegionHandle,
        action: &pb::Action,
    ) -> RemoteResult<Mutation> {
        let Some(message) = &action.mutation else {
            let message = "Atomic put and/or delete only, not a Get";
            return Err(RemoteException::do_not_retry(message));
        };
        let mutation = self.read_mutation(message)?;
        check_cell_sizes(region, &mutation)?;
        Ok(mutation)
    }

    /// The mutation in a message. Its cells are consumed from the block even if they are invalid.
    fn read_mutation(&mut self, message: &pb::MutationProto) -> Result<Mutation> {
        let mut mine = self.cells.clone();
        let mutation = convert::mutation(message, &mut mine);
        let count = usize::try_from(message.associated_cell_count.unwrap_or(0)).unwrap_or(0);
        self.cells.skip(count)?;
        mutation
    }

    fn one_by_one(
        &mut self,
        region: &RegionHandle,
        actions: &[pb::Action],
    ) -> pb::RegionActionResult {
        let mut results: Vec<pb::ResultOrException> = Vec::with_capacity(actions.len());
        let mut batch = Batch::default();
        for action in actions {
            let index = Some(action.index.unwrap_or(0));
            let mut result = pb::ResultOrException { index, ..pb::ResultOrException::default() };
            if let Some(service_call) = &action.service_call {
                write_batch(region, &mut batch, &mut results);
                match endpoint::execute(self.call, region, service_call) {
                    Ok(value) => {
                        let value = Some(value);
                        result.service_result = Some(pb::CoprocessorServiceResult { value });
                    }
                    Err(exception) => result.exception = Some(exception.to_pair()),
                }
                results.push(result);
                continue;
            }
            let done = self.action(region, action, &mut batch, &mut results);
            if self.is_turn_over {
                break;
            }
            match done {
                Ok(given) => result.result = Some(given),
                Err(exception) => result.exception = Some(exception.to_pair()),
            }
            results.push(result);
        }
        write_batch(region, &mut batch, &mut results);
        pb::RegionActionResult { result_or_exception: results, ..Default::default() }
    }

    fn action(
        &mut self,
        region: &RegionHandle,
        action: &pb::Action,
        batch: &mut Batch,
        results: &mut [pb::ResultOrException],
    ) -> RemoteResult<pb::Result> {
        if self.results.is_out_of_memory() {
            self.cells.skip(count_cells(action))?;
            return Err(self.call.out_of_memory());
        }
        if self.results.size_bytes() > self.cluster.options.limits.result_size_max_bytes {
            self.cells.skip(count_cells(action))?;
            let size = self.results.size_bytes();
            let message = format!("Max size exceeded CellSize: {size} BlockSize: 0");
            return Err(RemoteException::new(class::MULTI_ACTION_RESULT_TOO_LARGE, message));
        }
        if let Some(message) = &action.get {
            write_batch(region, batch, results);
            return self.get(region, message);
        }
        let Some(message) = &action.mutation else {
            return Err(RemoteException::do_not_retry("Unexpected Action type"));
        };
        let mutation = self.read_mutation(message)?;
        check_cell_sizes(region, &mutation)?;
        match mutation.kind() {
            MutationKind::Put | MutationKind::Delete => {
                region.check_mutation(&mutation)?;
                batch.places.push(results.len());
                batch.mutations.push(mutation);
                Ok(pb::Result::default())
            }
            MutationKind::Increment | MutationKind::Append => {
                write_batch(region, batch, results);
                let nonce = nonce(self.nonce_group, message.nonce);
                let row = read_modify_write(region, &mutation, nonce)?;
                Ok(push_row(&row, &mut self.results))
            }
        }
    }
}

impl Multi<'_> {
    fn get(&mut self, region: &RegionHandle, message: &pb::Get) -> RemoteResult<pb::Result> {
        let mut reading = get::Reading::begin(region, message)?;
        loop {
            if let Some(result) = reading.go_on(self.cluster, self.call, &mut self.results)? {
                return Ok(result);
            }
            if self.call.is_quick() {
                self.is_turn_over = true;
                return Ok(pb::Result::default());
            }
            self.call.check_is_waited_for()?;
        }
    }
}

fn count_cells(action: &pb::Action) -> usize {
    let count = action.mutation.as_ref().and_then(|mutation| mutation.associated_cell_count);
    usize::try_from(count.unwrap_or(0)).unwrap_or(0)
}

fn failed(exception: &RemoteException) -> pb::RegionActionResult {
    pb::RegionActionResult { exception: Some(exception.to_pair()), ..Default::default() }
}

/// Writes what has been collected. If that fails, each of them fails.
fn write_batch(region: &RegionHandle, batch: &mut Batch, results: &mut [pb::ResultOrException]) {
    let Batch { mutations, places } = std::mem::take(batch);
    if mutations.is_empty() {
        return;
    }
    let Err(error) = region.mutate(&mutations) else { return };
    let exception = RemoteException::from(error).to_pair();
    for place in places {
        if let Some(result) = results.get_mut(place) {
            result.result = None;
            result.exception = Some(exception.clone());
        }
    }
}
