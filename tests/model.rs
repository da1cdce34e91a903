//! Random sequences of operations, on the engine and on a model that is plain enough to be read.
//!
//! The model (`tests/model`) keeps cells in lists and goes through all of them for every answer. It
//! says what HBase 2.6 answers: what flushes and compactions drop stands at the head of `store.rs`,
//! what a read sees at that of `reader.rs`. Sequences mix reads and writes of every kind with
//! flushes, compactions, splits, merges, reopened stores, kills and power cuts; every answer is
//! compared, errors by class and message.
//!
//! `HBLITE_MODEL_SEQUENCES` sets how many sequences are run (default 2,000). One that fails is
//! shrunk and kept in `tests/model/regressions`; what is there is run first.

#[path = "model/answer.rs"]
mod answer;
#[path = "model/cell.rs"]
mod cell;
#[path = "model/engine.rs"]
mod engine;
#[path = "model/filter.rs"]
mod filter;
#[path = "model/generator.rs"]
mod generator;
#[path = "model/new_versions.rs"]
mod new_versions;
#[path = "model/operation.rs"]
mod operation;
#[path = "model/reader.rs"]
mod reader;
#[path = "model/runner.rs"]
mod runner;
#[path = "model/sequence.rs"]
mod sequence;
#[path = "model/store.rs"]
mod store;
#[path = "model/table.rs"]
mod table;
#[path = "model/text.rs"]
mod text;
#[path = "model/write.rs"]
mod write;

use hblite_env::{Random, SeededRandom};

use crate::sequence::{Sequence, kept};

const SEQUENCES_DEFAULT: usize = 2_000;

/// Runs half of the sequences: libtest runs the two tests side by side.
fn check(crashes: bool) {
    for (path, sequence) in kept(crashes) {
        if let Err(difference) = sequence.run(crashes) {
            panic!("{}: {difference}", path.display());
        }
    }
    let wanted = std::env::var("HBLITE_MODEL_SEQUENCES").ok();
    let wanted = wanted.and_then(|count| count.parse().ok()).unwrap_or(SEQUENCES_DEFAULT);
    let random = SeededRandom::from_entropy();
    for _ in 0..usize::div_ceil(wanted, 2) {
        let sequence = Sequence::random(&SeededRandom::new(random.next_u64()));
        if let Err(difference) = sequence.run(crashes) {
            let (sequence, difference) = sequence.shrunk(difference, crashes);
            let path = sequence.keep(&difference, crashes).expect("the folder can be written to");
            panic!("kept as {}: {difference}", path.display());
        }
    }
}

#[test]
fn a_store_that_is_closed_and_opened_answers_as_the_model() {
    check(false);
}

#[test]
fn a_store_that_crashes_answers_as_the_model() {
    check(true);
}
