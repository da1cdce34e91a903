//! Runs many actions at once: groups them by server and region, sends them to all servers at the
//! same time, and returns a result for each.
//!
//! Actions on one row keep their order within an attempt. Actions that failed and may succeed later
//! are retried, without those that have succeeded.
//!
//! Gets with `Consistency::Timeline` may be answered by replicas, as in `timeline.rs`: if a region
//! is late or fails, its replicas are asked as well, and the first answer is used.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use hblite_model::{
    Action, ActionResult, CheckAndMutateResult, Error, Mutation, Result, RowResult, TableName,
};
use hblite_wire::cell_block::CellReader;
use hblite_wire::client_frame::EncodedMessage;
use hblite_wire::convert::{self, MultiRequest, PartKind};
use hblite_wire::pb;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::CODEC;
use super::region_call::method_of;
use super::timeline::Replicas;
use crate::error::{CallError, Thrown};
use crate::locator::{LocateKind, Location};
use crate::retry::Retries;
use crate::rpc::Answer;
use crate::shared::Shared;
use crate::url::ServerAddress;

/// Maximum bytes of cells in one request, unless a single action has more.
const REQUEST_SIZE_MAX: usize = 32 << 20;

type Results = Vec<Option<Result<ActionResult>>>;

/// Runs a batch that has been checked.
pub(super) async fn run(
    shared: &Arc<Shared>,
    table: &TableName,
    actions: &[Action],
) -> Result<Vec<Result<ActionResult>>> {
    let nonces: Vec<u64> = actions.iter().map(|_| shared.new_nonce().number).collect();
    let batch = Batch { shared, table, actions, nonces: &nonces };
    let mut results: Results = actions.iter().map(|_| None).collect();
    let mut begin = 0;
    while begin < actions.len() {
        let end = batch.end_of_request(begin);
        batch.run((begin..end).collect(), &mut results).await;
        begin = end;
    }
    let missing = || Err(Error::do_not_retry("the batch has no result for this action"));
    Ok(results.into_iter().map(|result| result.unwrap_or_else(missing)).collect())
}

struct Batch<'b> {
    shared: &'b Arc<Shared>,
    table: &'b TableName,
    actions: &'b [Action],
    nonces: &'b [u64],
}

/// The request for one server, and what its parts are for.
struct Request {
    server: ServerAddress,
    message: EncodedMessage,
    cells: Vec<u8>,
    parts: Vec<Part>,
}

/// One region's part of a request.
#[derive(Debug, Clone)]
struct Part {
    location: Arc<Location>,
    indexes: Vec<usize>,
    kind: PartKind,
}

/// Actions and where they are performed.
type Places = Vec<(usize, Arc<Location>)>;

/// A region, and the actions on it in order.
type OfRegion = (Arc<Location>, Vec<usize>);

type CallResult = std::result::Result<Answer<pb::MultiResponse>, CallError>;

/// The answer of a server.
struct Done {
    asked: Asked,
    parts: Vec<Part>,
    answer: CallResult,
}

/// Who was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The regions of the actions, or the replicas that they name.
    Regions,
    /// The replicas of regions that are late or have failed.
    Replicas,
}

/// What failed in an attempt.
type Failed = Vec<(usize, CallError)>;

impl Batch<'_> {
    /// The end of the actions from `begin` on that fit into one request.
    fn end_of_request(&self, begin: usize) -> usize {
        let sizes = |all: &[Mutation]| all.iter().map(|one| one.cells().size_bytes()).sum();
        let size = |action: &Action| match action {
            Action::Get(_) => 0,
            Action::Mutation(mutation) => mutation.cells().size_bytes(),
            Action::RowMutations(all) => sizes(all.mutations()),
            Action::CheckAndMutate(check) => {
                check.parts().map_or(0, |(_, all)| sizes(all.mutations()))
            }
        };
        let mut total = 0;
        let fits = |action: &&Action| {
            total += size(action);
            total <= REQUEST_SIZE_MAX
        };
        begin + self.actions[begin..].iter().take_while(fits).count().max(1)
    }

    async fn run(&self, mut left: Vec<usize>, results: &mut Results) {
        let mut retries = Retries::new(&self.shared.rpc);
        while !left.is_empty() {
            let failed = self.attempt(&left, &retries, results).await;
            left.clear();
            let Some((_, first)) = failed.iter().find(|(_, error)| error.is_retryable()) else {
                self.record(failed, results);
                return;
            };
            let is_not_serving = failed.iter().any(|(_, error)| error.is_not_serving());
            let pause = retries.pause_after(first.clone());
            let out_of_service = match is_not_serving {
                true => self.shared.locator.check_in_service(self.table, retries.deadline()).await,
                false => Ok(()),
            };
            let Ok(pause) = pause else {
                let last = |error: CallError| match error.is_retryable() {
                    true => retries.give_up(error),
                    false => error.into(),
                };
                self.record(failed.into_iter().map(|(at, error)| (at, last(error))), results);
                return;
            };
            let is_retried = |error: &CallError| {
                error.is_retryable() && (out_of_service.is_ok() || !error.is_not_serving())
            };
            let (again, final_ones): (Failed, Failed) =
                failed.into_iter().partition(|(_, error)| is_retried(error));
            self.record(final_ones, results);
            left = again.into_iter().map(|(index, _)| index).collect();
            left.sort_unstable();
            tokio::time::sleep(pause).await;
        }
    }

    fn record<E: Into<Error>>(
        &self,
        failed: impl IntoIterator<Item = (usize, E)>,
        results: &mut Results,
    ) {
        for (index, error) in failed {
            results[index] = Some(self.shared.counted(Err(error.into())));
        }
    }

    /// Sends the actions once. Returns those that failed.
    async fn attempt(&self, indexes: &[usize], retries: &Retries, results: &mut Results) -> Failed {
        let (places, mut failed) = self.places(indexes, retries.deadline()).await;
        let has_replicas = |(at, location): &&(usize, Arc<Location>)| {
            matches!(self.replicas(*at), Replicas::Any { .. }) && !location.replicas.is_empty()
        };
        // The gets whose replicas have not been asked.
        let mut alone: Places = places.iter().filter(has_replicas).cloned().collect();
        let late = Instant::now() + self.shared.settings.primary_multi_get_timeout;
        let mut calls = JoinSet::new();
        self.send(Asked::Regions, places, retries, &mut calls, &mut failed);
        loop {
            let is_late = tokio::select! {
                done = calls.join_next() => match done {
                    None => break,
                    Some(Ok(done)) => {
                        self.take(done, &mut failed, results).await;
                        false
                    }
                    // If a task panicked, its actions have no result, which is reported.
                    Some(Err(_)) => false,
                },
                () = sleep_until(late), if !alone.is_empty() => true,
            };
            alone.retain(|(at, _)| results[*at].is_none());
            if alone.is_empty() && indexes.iter().all(|at| results[*at].is_some()) {
                break;
            }
            if alone.is_empty() {
                continue;
            }
            let retryable = failed.iter().filter(|(_, error)| error.is_retryable());
            let failing: BTreeSet<usize> = retryable.map(|(at, _)| *at).collect();
            let is_asked = |at: usize| is_late || failing.contains(&at);
            let asked: Places = alone.extract_if(.., |(at, _)| is_asked(*at)).collect();
            let of_all = asked.iter().flat_map(|(at, location)| {
                location.replicas.iter().map(|replica| (*at, Arc::clone(replica)))
            });
            // If replicas cannot be asked, the regions may still answer.
            let mut ignored = Failed::new();
            self.send(Asked::Replicas, of_all.collect(), retries, &mut calls, &mut ignored);
        }
        failed.retain(|(at, _)| results[*at].is_none());
        failed
    }

    /// Which replicas may perform an action.
    fn replicas(&self, at: usize) -> Replicas {
        match &self.actions[at] {
            Action::Get(get) => {
                let after = self.shared.settings.primary_multi_get_timeout;
                Replicas::of(get.as_scan(), after)
            }
            _ => Replicas::PRIMARY,
        }
    }

    /// The regions of actions, or the replicas that they name. Also returns the actions whose
    /// region is not known.
    async fn places(&self, indexes: &[usize], deadline: Instant) -> (Places, Failed) {
        let (mut places, mut failed) = (Places::with_capacity(indexes.len()), Failed::new());
        let (locator, kind) = (&self.shared.locator, LocateKind::Current);
        for index in indexes {
            let row = self.actions[*index].row();
            let replicas = self.replicas(*index);
            // Rows of a batch are often in one region.
            if let Some((_, last)) = places.last()
                && replicas == Replicas::PRIMARY
                && last.region.replica_id() == 0
                && last.region.contains_row(row)
            {
                locator.count_hit();
                places.push((*index, Arc::clone(last)));
                continue;
            }
            let found = match replicas {
                Replicas::One(id) => {
                    locator.locate_replica(self.table, row, kind, id, deadline).await
                }
                Replicas::Any { .. } => locator.locate(self.table, row, kind, deadline).await,
            };
            match found {
                Ok(location) => places.push((*index, location)),
                Err(error) => failed.push((*index, error)),
            }
        }
        (places, failed)
    }

    /// Sends the actions at these places to all servers.
    fn send(
        &self,
        asked: Asked,
        places: Places,
        retries: &Retries,
        calls: &mut JoinSet<Done>,
        failed: &mut Failed,
    ) {
        for ((server, wait), regions) in self.group(&places) {
            let indexes = || regions.iter().flat_map(|(_, indexes)| indexes.iter().copied());
            let request = match self.request(server, &regions) {
                Ok(request) => request,
                Err(error) => {
                    failed.extend(indexes().map(|at| (at, error.clone().into())));
                    continue;
                }
            };
            if asked == Asked::Replicas {
                self.shared.rpc.counters().hedged_reads.increment();
            }
            let shared = Arc::clone(self.shared);
            let method = method_of(self.table, "Multi");
            let limit = retries.limit();
            calls.spawn(async move {
                let Request { server, message, cells, parts } = request;
                if !wait.is_zero() {
                    shared.rpc.counters().delayed_requests.increment();
                    sleep_until(limit.deadline.min(Instant::now() + wait)).await;
                }
                let answer = shared.rpc.call(&server, method, &message, &cells, limit).await;
                Done { asked, parts, answer }
            });
        }
    }

    /// The actions by region, and the regions by server and by how long their requests wait.
    fn group(&self, places: &Places) -> BTreeMap<(ServerAddress, Duration), Vec<OfRegion>> {
        let mut regions: BTreeMap<Vec<u8>, OfRegion> = BTreeMap::new();
        for run in places.chunk_by(|(_, one), (_, next)| Arc::ptr_eq(one, next)) {
            let indexes = run.iter().map(|(index, _)| *index);
            let Some((_, location)) = run.first() else { continue };
            match regions.get_mut(&location.region_name) {
                Some((_, of_region)) => of_region.extend(indexes),
                None => {
                    let of_region = (Arc::clone(location), indexes.collect());
                    regions.insert(location.region_name.clone(), of_region);
                }
            }
        }
        let mut servers: BTreeMap<_, Vec<OfRegion>> = BTreeMap::new();
        for of_region in regions.into_values() {
            let location = &of_region.0;
            let key = (location.server.clone(), self.shared.pushback.wait(location));
            servers.entry(key).or_default().push(of_region);
        }
        servers
    }

    fn request(&self, server: ServerAddress, regions: &[OfRegion]) -> Result<Request> {
        let mut request = MultiRequest::new(self.shared.nonce_group, CODEC);
        let mut parts = Vec::new();
        for (location, indexes) in regions {
            let actions = indexes.iter().map(|index| (*index as u32, &self.actions[*index]));
            let nonce = |index: u32| self.nonces[index as usize];
            for made in request.add_region(&location.region_name, actions, nonce)? {
                let indexes = made.indexes.into_iter().map(|index| index as usize).collect();
                parts.push(Part { location: Arc::clone(location), indexes, kind: made.kind });
            }
        }
        let (message, cells) = request.finish();
        Ok(Request { server, message, cells, parts })
    }

    /// Takes the answer of a server.
    async fn take(&self, done: Done, failed: &mut Failed, results: &mut Results) {
        let open = |results: &Results| results.iter().filter(|result| result.is_none()).count();
        match done.asked {
            Asked::Regions => self.take_answer(done.parts, done.answer, failed, results).await,
            Asked::Replicas => {
                // A failed replica is not a failure: the region may still answer.
                let (before, mut ignored) = (open(results), Failed::new());
                self.take_answer(done.parts, done.answer, &mut ignored, results).await;
                if open(results) < before {
                    self.shared.rpc.counters().hedged_read_wins.increment();
                }
            }
        }
    }

    async fn take_answer(
        &self,
        parts: Vec<Part>,
        answer: CallResult,
        failed: &mut Failed,
        results: &mut Results,
    ) {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                for part in parts {
                    self.shared.locator.learn(&part.location, &error).await;
                    failed.extend(part.indexes.into_iter().map(|at| (at, error.clone())));
                }
                return;
            }
        };
        let locations = parts.iter().map(|part| &*part.location);
        self.shared.pushback.note(answer.message.region_statistics.as_ref(), locations);
        let mut cells = CellReader::sharing(&answer.cells);
        let mut answers = answer.message.region_action_result.iter();
        for part in parts {
            let error = match answers.next() {
                None => CallError::from(Error::do_not_retry("the answer lacks a region")),
                Some(answer) => match &answer.exception {
                    Some(exception) => Thrown::from_pair(exception).into(),
                    None => match take_part(&part, answer, &mut cells, failed, results) {
                        Ok(()) => continue,
                        Err(error) => error.into(),
                    },
                },
            };
            self.shared.locator.learn(&part.location, &error).await;
            let open = part.indexes.into_iter().filter(|at| results[*at].is_none());
            failed.extend(open.map(|at| (at, error.clone())));
        }
    }
}

/// Takes the results of a region without an error.
fn take_part(
    part: &Part,
    answer: &pb::RegionActionResult,
    cells: &mut CellReader<'_>,
    failed: &mut Failed,
    results: &mut Results,
) -> Result<()> {
    if part.kind != PartKind::Independent {
        if let Some(exception) =
            answer.result_or_exception.iter().find_map(|one| one.exception.as_ref())
        {
            failed.extend(part.indexes.iter().map(|at| (*at, Thrown::from_pair(exception).into())));
            return Ok(());
        }
        let row = row_of(answer, cells)?;
        let is_success = answer.processed.unwrap_or(true);
        let result = match part.kind {
            PartKind::Conditional => ActionResult::Check(CheckAndMutateResult {
                is_success,
                result: (is_success && !row.is_empty()).then_some(row),
            }),
            _ => ActionResult::Row(row),
        };
        if let Some(at) = part.indexes.first() {
            results[*at] = Some(Ok(result));
        }
        return Ok(());
    }
    for one in &answer.result_or_exception {
        let at = one.index.unwrap_or(0) as usize;
        // The indexes are in ascending order.
        if part.indexes.binary_search(&at).is_err() {
            return Err(Error::do_not_retry("an answer to an action that was not sent"));
        }
        match (&one.exception, &one.result) {
            (Some(exception), _) => failed.push((at, Thrown::from_pair(exception).into())),
            (None, Some(result)) => {
                let row = convert::result_from(result, cells)?;
                results[at].get_or_insert(Ok(ActionResult::Row(row)));
            }
            (None, None) => {
                results[at].get_or_insert(Ok(ActionResult::Row(RowResult::default())));
            }
        }
    }
    Ok(())
}

/// What the increments and appends of an atomic part returned.
pub(super) fn row_of(
    answer: &pb::RegionActionResult,
    cells: &mut CellReader<'_>,
) -> Result<RowResult> {
    let mut row = RowResult::default();
    for result in answer.result_or_exception.iter().filter_map(|one| one.result.as_ref()) {
        let found = convert::result_from(result, cells)?;
        if row.is_empty() {
            row = found;
        }
    }
    Ok(row)
}
