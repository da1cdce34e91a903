//! The code of the fuzz target `copy_state` on random changes of a state, and on what the fuzzer
//! kept.

#[path = "../../../tests/fuzz/bodies/copy_state.rs"]
mod copy_state;
#[path = "../../../tests/fuzz/bodies/corpus.rs"]
mod corpus;

use hblite_env::{Random as _, SeededRandom};

const STATE: &str = r#"{"table":"t","ranges":[
{"start":"","stop":"m","copied_to":"b","is_done":false},
{"start":"m","stop":"","copied_to":"","is_done":false}]}"#;

#[test]
fn a_changed_state_is_refused_or_loses_nothing() {
    assert_eq!(copy_state::run(STATE.as_bytes()), Some(3), "the state itself");
    let random = SeededRandom::new(1);
    for _ in 0..2_000 {
        let mut bytes = STATE.as_bytes().to_vec();
        for _ in 0..1 + random.next_u64() % 2 {
            let at = (random.next_u64() % bytes.len() as u64) as usize;
            match random.next_u64() % 3 {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = b"\\\"az0,{}"[(random.next_u64() % 8) as usize],
                _ => bytes.insert(at, b"\\\"az0,{}"[(random.next_u64() % 8) as usize]),
            }
        }
        copy_state::run(&bytes);
    }
}

#[test]
fn what_the_fuzzer_kept() {
    let inputs = corpus::inputs("copy_state");
    let understood = inputs.iter().filter(|input| copy_state::run(input).is_some()).count();
    assert!(understood > 0 && understood < inputs.len(), "{understood} of {}", inputs.len());
}
