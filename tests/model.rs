//! Random sequences of operations, on the engine and on a model that is simple enough to be
//! verified by reading.
//!
//! The model keeps cells in lists and goes through all of them for every answer. It says what HBase
//! 2.6 answers: the head of `store.rs` lists what flushes and compactions drop, that of `reader.rs`
//! in `tests/reference` what a read sees. Sequences mix reads and writes of all kinds with flushes,
//! compactions, splits, merges, reopened stores, kills and power cuts. Every answer is compared,
//! errors by class and message.
//!
//! `HBLITE_MODEL_SEQUENCES` sets how many sequences are run (default 500). One that fails is
//! shrunk and kept in `tests/model/regressions`, whose sequences are run first.

#[path = "model/answer.rs"]
mod answer;
#[path = "model/choices.rs"]
mod choices;
#[path = "model/engine.rs"]
mod engine;
#[path = "model/generator.rs"]
mod generator;
#[path = "model/operation.rs"]
mod operation;
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

use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

use self::sequence::{Sequence, kept};

const SEQUENCES_DEFAULT: u32 = 500;
/// Each attempt runs the sequence again.
const SHRINK_TRIES_MAX: u32 = 5_000;

/// Runs half of the sequences: libtest runs the two tests side by side.
fn check(crashes: bool) {
    for (path, sequence) in kept(crashes) {
        if let Err(difference) = sequence.run(crashes) {
            panic!("{}: {difference}", path.display());
        }
    }
    let wanted = std::env::var("HBLITE_MODEL_SEQUENCES").ok();
    let wanted = wanted.and_then(|count| count.parse().ok()).unwrap_or(SEQUENCES_DEFAULT);
    let mut runner = TestRunner::new(Config {
        cases: wanted.div_ceil(2),
        max_shrink_iters: SHRINK_TRIES_MAX,
        // A failing sequence is kept itself, not the seed that produced it.
        failure_persistence: None,
        ..Config::default()
    });
    let outcome =
        runner.run(&Sequence::any(), |sequence| sequence.run(crashes).map_err(TestCaseError::fail));
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(difference, sequence)) => {
            let path = sequence.keep(difference.message(), crashes);
            let path = path.expect("the folder can be written to");
            panic!("kept as {}: {difference}", path.display());
        }
        Err(TestError::Abort(reason)) => panic!("{reason}"),
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
