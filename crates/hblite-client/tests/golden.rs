//! Goal: the client returns the same answers as HBase's own client. Method: the recorded operations
//! of a real HBase are replayed through `hblite::connect` against a server of this process, file by
//! file, each on an empty store.

#[path = "../../../tests/golden_ops/answer.rs"]
mod answer;
#[path = "../../../tests/golden_ops/arguments.rs"]
mod arguments;
#[path = "../../../tests/golden_ops/filters.rs"]
mod filters;
#[path = "../../../tests/golden_ops/runner.rs"]
mod runner;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hblite::ClusterOptions;
use hblite_server::{Server, ServerOptions};

/// The recordings have this many operations.
const OPERATIONS_MIN: usize = 11_633;

/// Files that are played at the same time.
const PLAYERS: usize = 4;

fn play(file: &Path) -> runner::FileOutcome {
    let (store, clock) = runner::empty_store();
    let options = ServerOptions::on_free_ports().with_region_servers(3);
    let server = Server::start(&store, options).expect("a server");
    let client = ClusterOptions::new()
        .with_setting("hbase.client.retries.number", "2")
        .with_setting("hbase.client.pause", "1")
        .connect(&format!("hbase+rpc://127.0.0.1:{}", server.ports().master))
        .expect("the server answers");
    runner::play(file, &client, || {
        runner::wait_for_heirs(&store);
        clock.advance(1);
    })
}

#[test]
fn the_recorded_operations_have_the_recorded_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/ops");
    let only = std::env::var("HBLITE_GOLDEN_ONLY").ok();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the recordings")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .filter(|path| only.as_ref().is_none_or(|only| path.to_string_lossy().contains(only)))
        .collect();
    files.sort();
    files.reverse();
    // Playing a file is mostly waiting, so several are played at once.
    let left = Mutex::new(files);
    let (passed, differences) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..PLAYERS {
            scope.spawn(|| {
                while let Some(file) = { left.lock().expect("no panic").pop() } {
                    let outcome = play(&file);
                    passed.fetch_add(outcome.passed, Ordering::Relaxed);
                    let count = outcome.failed;
                    let difference =
                        outcome.first_difference.map(|first| format!("{count} failed: {first}"));
                    differences.lock().expect("no panic").extend(difference);
                }
            });
        }
    });
    let differences = differences.into_inner().expect("no panic");
    let passed = passed.into_inner();
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    assert!(only.is_some() || passed >= OPERATIONS_MIN, "{passed} operations");
}
