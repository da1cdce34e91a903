//! The code of the fuzz target `client` on random changes of a server's answers.

#[path = "../../../tests/fuzz/bodies/client.rs"]
mod client;

use hblite_env::{Random as _, SeededRandom};

#[test]
fn changed_answers_end_every_operation_before_its_deadline() {
    assert_eq!(client::run(b""), 6, "unchanged answers are understood");
    let random = SeededRandom::new(1);
    for _ in 0..40 {
        let changes = 1 + random.next_u64() % 3;
        let bytes: Vec<u8> = (0..5 * changes).map(|_| random.next_u64() as u8).collect();
        client::run(&bytes);
    }
}
