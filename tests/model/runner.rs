//! Runs a sequence on the engine and on the model and compares every answer.
//!
//! Operations are drawn when their turn comes, because timestamps follow the clock. After whatever
//! changes files, their number in every store is compared too. An operation that a crash
//! interrupted was done or not: the model continues with the state that is found when the store is
//! opened again. For a write, that is one answer for the table; flushes, compactions and the like
//! are judged store by store.

use hblite_reference::cell::Family;
use hblite_reference::read::Read;

use super::answer::{Answer, Failure};
use super::choices::Choices;
use super::engine::{CLOCK_START, EngineSide};
use super::generator::{Setting, World, families, pause_ms, world};
use super::operation::Operation;
use super::store::Store;
use super::table::{Region, Table};
use super::text::readable;

/// More files in a store are compacted all at once, because the sizes of those that a minor
/// compaction makes are not known until it ends.
const FILES_MAX: usize = 5;

/// A running sequence.
struct Run {
    engine: EngineSide,
    model: Table,
    world: World,
    history: Vec<String>,
}

/// Runs a sequence.
///
/// # Errors
/// The first difference, and all operations before it.
pub(crate) fn run(settings: &[u8], operations: &[Vec<u8>], crashes: bool) -> Result<(), String> {
    let mut choices = Choices::new(settings);
    let world = world(&mut choices, crashes);
    let described = families(&mut choices);
    let engine =
        EngineSide::new(world, &described, choices.number()).map_err(|error| error.to_string())?;
    let mut history = vec![format!("{world:?}")];
    history.extend(described.iter().map(|family| format!("{family:?}")));
    let families: Vec<Family> = described.into_iter().map(|(family, _)| family).collect();
    let mut run = Run { engine, model: Table::new(&families), world, history };
    let outcome = run.look().and_then(|()| {
        for bytes in operations {
            let mut choices = Choices::new(bytes);
            run.engine.clock.advance(pause_ms(&mut choices));
            let setting = Setting {
                world,
                families: &families,
                region_count: run.model.regions.len(),
                now: run.now(),
            };
            let operation = run.within_bounds(setting.operation(&mut choices));
            run.history.push(format!("{}: {operation:?}", run.now()));

            run.step(&operation)?;
        }
        run.compare_everything()
    });
    outcome.map_err(|difference| {
        let before = run.history.iter();
        let told = before.fold(difference, |told, line| format!("{told}\n    {line}"));
        readable(&told)
    })
}

impl Run {
    fn now(&self) -> i64 {
        hblite::Clock::now_millis(self.engine.clock.as_ref())
    }

    fn within_bounds(&self, operation: Operation) -> Operation {
        let mut stores = self.model.regions.iter().flat_map(|region| &region.stores);
        // The sizes of three do not matter.
        let files_max = |store: &Store| if store.depends_on_sizes() { 3 } else { FILES_MAX };
        match operation {
            Operation::Compact { is_major: false }
                if stores.any(|store| store.files.len() > files_max(store)) =>
            {
                Operation::Compact { is_major: true }
            }
            operation => operation,
        }
    }

    fn step(&mut self, operation: &Operation) -> Result<(), String> {
        let now = self.now();
        match operation {
            Operation::Reopen => {
                self.engine.reopen().map_err(|error| format!("it does not open: {error}"))?;
                if self.world == (World::Closes { is_flushed: true }) {
                    self.model.flush(now);
                }
            }
            Operation::Crash { seed } => self.crash(*seed)?,
            Operation::CrashDuring { operation, steps, seed } => {
                return self.crash_during(operation, *steps, *seed);
            }
            operation => {
                let told = self.engine.run(operation).map_err(Failure::from);
                let wanted = run_on_model(&mut self.model, operation, now);
                compare(&told, &wanted)?;
            }
        }
        match operation {
            Operation::Flush
            | Operation::Compact { .. }
            | Operation::Split { .. }
            | Operation::Merge { .. }
            | Operation::Alter { .. }
            | Operation::Reopen => self.look(),
            Operation::Crash { .. } => self.look().and_then(|()| self.compare_everything()),
            _ => Ok(()),
        }
    }

    fn crash(&mut self, seed: u64) -> Result<(), String> {
        let opened = self.engine.crash(seed);
        opened.map_err(|error| format!("it does not open after a crash: {error}"))
    }

    /// Learns the names of regions and the sizes of files, and compares their numbers.
    fn look(&mut self) -> Result<(), String> {
        let regions = self.engine.regions().map_err(|error| error.to_string())?;
        self.model.description = self.engine.description().map_err(|error| error.to_string())?;
        if regions.len() != self.model.regions.len() {
            return Err(format!("regions: {regions:?}"));
        }
        for (region, info) in self.model.regions.iter_mut().zip(&regions) {
            if (info.start_key(), info.end_key()) != (&*region.start, &*region.end) {
                return Err(format!("the region {region:?} is {info}"));
            }
            region.name = info.region_name_as_string();
            region.encoded_name = info.encoded_name().to_owned();
            for store in &mut region.stores {
                let files = self.engine.files(&region.encoded_name, &store.family.name);
                if !files.are_those_of(store) {
                    return Err(format!("{files:?} in {store:?}"));
                }
                files.identify(store);
            }
        }
        Ok(())
    }

    fn compare_everything(&self) -> Result<(), String> {
        for (is_raw, is_reversed) in [(true, false), (false, true), (false, false)] {
            let read = Read { is_raw, is_reversed, versions: i32::MAX, ..Read::all() };
            self.compare_scan(&self.model, &read)?;
        }
        Ok(())
    }

    fn compare_scan(&self, model: &Table, read: &Read) -> Result<(), String> {
        let told = self.engine.scan(read).map(Answer::Rows).map_err(Failure::from);
        let wanted = model.scan(read, self.now()).map(Answer::Rows);
        compare(&told, &wanted).map_err(|difference| format!("in {read:?} {difference}"))
    }

    fn crash_during(&mut self, operation: &Operation, steps: u64, seed: u64) -> Result<(), String> {
        let now = self.now();
        self.engine.end_after(steps);
        let told = self.engine.run(operation).map_err(Failure::from);
        self.crash(seed)?;
        let before = self.model.clone();
        let mut after = self.model.clone();
        let wanted = run_on_model(&mut after, operation, now);
        let mut flushed = before.clone();
        flushed.flush(now);
        let states = match (&told, &wanted) {
            (_, Err(_)) => vec![before],
            (Ok(_), Ok(_)) => vec![after],
            (Err(_), Ok(_)) if matches!(operation, Operation::Write(_)) => vec![before, after],
            (Err(_), Ok(_)) => {
                let mut states = vec![before, flushed, after];
                states.extend(stages(&self.model, operation, now));
                states
            }
        };
        if told.is_ok() {
            compare(&told, &wanted)?;
        }
        self.history.push(format!("    it said {told:?}"));
        self.model = match operation {
            Operation::Write(_) => self.found_table(&states)?,
            _ => self.found_stores(&states)?,
        };
        self.look()?;
        self.compare_everything()
    }

    /// Which of these states the whole table is in.
    fn found_table(&self, states: &[Table]) -> Result<Table, String> {
        let read = Read { is_raw: true, versions: i32::MAX, ..Read::all() };
        let mut differences = String::new();
        for state in states {
            match self.compare_scan(state, &read) {
                Ok(()) => return Ok(state.clone()),
                Err(difference) => differences.push_str(&difference),
            }
        }
        Err(format!("neither done nor not done: {differences}"))
    }

    /// The table with each store in whichever of these states it is found.
    fn found_stores(&self, states: &[Table]) -> Result<Table, String> {
        let infos = self.engine.regions().map_err(|error| error.to_string())?;
        let has_borders = |state: &&Table| {
            let borders = state.regions.iter().map(|region| (&*region.start, &*region.end));
            borders.eq(infos.iter().map(|info| (info.start_key(), info.end_key())))
        };
        let states: Vec<&Table> = states.iter().filter(has_borders).collect();
        let mut found = (*states.first().ok_or(format!("no such regions: {infos:?}"))?).clone();
        for (place, info) in infos.iter().enumerate() {
            for index in 0..found.regions[place].stores.len() {
                let is_found = |state: &&&Table| {
                    self.is_store(&state.regions[place], index, info.encoded_name(), state)
                };
                let state = states.iter().find(is_found).ok_or_else(|| {
                    let store = &found.regions[place].stores[index];
                    format!("in no state that it can be in: {store:?}")
                })?;
                found.regions[place].stores[index] = state.regions[place].stores[index].clone();
            }
        }
        Ok(found)
    }

    /// Whether the engine's store has as many files, and references, and shows the same cells.
    fn is_store(&self, region: &Region, index: usize, encoded_name: &str, state: &Table) -> bool {
        let store = &region.stores[index];
        let files = self.engine.files(encoded_name, &store.family.name);
        let read = Read {
            start: region.start.clone(),
            stop: region.end.clone(),
            columns: vec![(store.family.name.clone(), None)],
            is_raw: true,
            versions: i32::MAX,
            ..Read::all()
        };
        files.are_those_of(store) && self.compare_scan(state, &read).is_ok()
    }
}

type Outcome = Result<Answer, Failure>;

fn compare(told: &Outcome, wanted: &Outcome) -> Result<(), String> {
    let is_same = match (told, wanted) {
        (Ok(told), Ok(wanted)) => told.is_as_wanted(wanted),
        (Err(told), Err(wanted)) => told == wanted,
        _ => false,
    };
    let difference = || format!("the engine says\n  {told:?}\nthe model\n  {wanted:?}");
    if is_same { Ok(()) } else { Err(difference()) }
}

/// What a minor compaction leaves if it ends between two steps of a store.
fn stages(model: &Table, operation: &Operation, now: i64) -> Vec<Table> {
    let mut model = model.clone();
    let is_minor = matches!(operation, Operation::Compact { is_major: false });
    let next = || (is_minor && model.compact_once(now)).then(|| model.clone());
    std::iter::from_fn(next).collect()
}

fn run_on_model(model: &mut Table, operation: &Operation, now: i64) -> Outcome {
    let borders = |model: &Table| {
        let border = |region: &Region| (region.start.clone(), region.end.clone());
        Answer::Borders(model.regions.iter().map(border).collect())
    };
    match operation {
        Operation::Get(read) => model.get(read, now).map(Answer::Cells),
        Operation::Scan(read) => model.scan(read, now).map(Answer::Rows),
        Operation::Write(write) => model.write(write, now).map(Answer::Cells),
        Operation::WriteAll(writes) => model.write_all(writes, now).map(|()| Answer::Done),
        Operation::RowWrites { row, writes } => {
            model.row_writes(row, writes, now).map(Answer::Cells)
        }
        Operation::CheckedWrites(checked) => model.checked_writes(checked, now),
        Operation::Batch(items) => model.batch(items, now),
        Operation::Flush => {
            model.flush(now);
            Ok(Answer::Done)
        }
        Operation::Compact { is_major } => {
            model.compact(*is_major, now);
            Ok(Answer::Done)
        }
        Operation::Split { row } => model.split(row, now).map(|()| borders(model)),
        Operation::Merge { first } => model.merge(*first, now).map(|()| borders(model)),
        Operation::Alter { family, versions } => {
            model.alter(family, *versions, now);
            Ok(Answer::Done)
        }
        Operation::Reopen | Operation::Crash { .. } | Operation::CrashDuring { .. } => {
            Ok(Answer::Done)
        }
    }
}

// The first operation is not at time 0, where nothing could lie before it.
const _: () = assert!(CLOCK_START > 10_000);
