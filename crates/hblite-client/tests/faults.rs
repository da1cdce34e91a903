//! Goal: nothing counts twice, no acknowledged write is lost, and no row of a scan is missing or
//! repeated, while answers are lost or delayed, regions move, split and are busy, and servers
//! crash.
//!
//! Method: a server in this process, with faults chosen by a seed. Finally, the store must contain
//! every acknowledged write exactly once. `HBLITE_CLIENT_SEEDS` sets the number of seeds, or which
//! ones: `1000`, `17..18`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use hblite_model::{Action, Append, CheckAndMutate, Get, Increment, Put, Scan};
use hblite_server::{FaultAction, FaultRule, Faults};

use crate::support::{Cluster, rows_of};

/// The seeds of a run.
fn seeds() -> std::ops::Range<u64> {
    let Ok(wanted) = std::env::var("HBLITE_CLIENT_SEEDS") else { return 0..4 };
    let number = |text: &str| text.parse().expect("HBLITE_CLIENT_SEEDS is a number or A..B");
    match wanted.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&wanted),
    }
}

/// Makes some calls lost, late or refused.
fn disturb(faults: &Faults, seed: u64) {
    let error = |name: &str| FaultAction::Error(name.to_owned());
    let late = FaultAction::Delay(Duration::from_millis(1), Duration::from_millis(5));
    for (number, (action, rate)) in [
        (FaultAction::DropAfter, 0.03),
        (FaultAction::DropBefore, 0.03),
        (error("NotServingRegionException"), 0.03),
        (error("RegionTooBusyException"), 0.05),
        (error("CallQueueTooBigException"), 0.03),
        (late, 0.1),
    ]
    .into_iter()
    .enumerate()
    {
        let rule = FaultRule::new(action)
            .methods(["Get", "Mutate", "Multi", "Scan"])
            .table("t")
            .rate(rate)
            .seed(seed * 100 + number as u64);
        faults.set(rule).unwrap();
    }
}

fn region_of(cluster: &Cluster, row: &str) -> String {
    let regions = cluster.direct("t").regions().unwrap();
    let region = regions.iter().find(|region| region.contains_row(row.as_bytes())).unwrap();
    region.encoded_name().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_counts_twice_and_nothing_is_lost() {
    for seed in seeds() {
        let cluster = Cluster::start(3);
        let table = cluster.table("t", &["g", "p"]).await;
        let faults = cluster.server.faults().clone();
        disturb(&faults, seed);
        let mut writers = tokio::task::JoinSet::new();
        for (writer, row) in ["a", "h", "q"].into_iter().enumerate() {
            let table = table.clone();
            writers.spawn(async move {
                for number in 0..40_i64 {
                    let one = Increment::new(row).add("f", "n", 1);
                    table.read_modify_write(one.as_mutation(), None).await.unwrap();
                    let more = Append::new(row).add("f", "log", "x");
                    table.mutate(more.as_mutation()).await.unwrap();
                    let batch: Vec<Action> = vec![
                        Increment::new(row).add("f", "batched", 1).into(),
                        Put::new(format!("{row}{writer}{number:03}")).add("f", "q", "v").into(),
                        CheckAndMutate::new(row)
                            .if_not_exists("f", "never")
                            .then(Increment::new(row).add("f", "checked", 1))
                            .into(),
                    ];
                    for result in table.batch(&batch).await.unwrap() {
                        assert!(result.unwrap().is_success());
                    }
                }
            });
        }
        // Meanwhile regions move, one splits, and a server crashes and comes back.
        let moves = async {
            for step in 0..6_usize {
                tokio::time::sleep(Duration::from_millis(15)).await;
                let row = ["a", "h", "q"][step % 3];
                let _ = faults.move_region(&region_of(&cluster, row), step % 3);
            }
            faults.split_region(&region_of(&cluster, "h"), Some(b"k")).unwrap();
            faults.crash(2, Some(Duration::from_millis(20))).unwrap();
            tokio::time::sleep(Duration::from_millis(60)).await;
            faults.restart(2).unwrap();
        };
        moves.await;
        while let Some(done) = writers.join_next().await {
            done.unwrap();
        }
        faults.clear_all();
        for row in ["a", "h", "q"] {
            let found = cluster.direct("t").get(&Get::new(row)).unwrap();
            assert_eq!(found.value_as::<i64>("f", "n").unwrap(), Some(40), "seed {seed}, {row}");
            for counter in ["batched", "checked"] {
                let count = found.value_as::<i64>("f", counter).unwrap();
                assert_eq!(count, Some(40), "seed {seed}, {row}, {counter}");
            }
            assert_eq!(found.value("f", "log").unwrap().len(), 40, "seed {seed}, {row}");
        }
        assert_eq!(cluster.direct("t").scan(&Scan::new()).unwrap().count(), 123, "seed {seed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_row_of_a_scan_is_missing_or_repeated() {
    for seed in seeds() {
        let cluster = Cluster::start(3);
        let table = cluster.table("t", &["row100", "row200"]).await;
        let names: Vec<String> = (0..300).map(|number| format!("row{number:03}")).collect();
        let puts: Vec<Action> = names
            .iter()
            .map(|name| Put::new(name).add("f", "a", "1").add("f", "b", "2").add("f", "c", "3"))
            .map(Action::from)
            .collect();
        for result in table.batch(&puts).await.unwrap() {
            result.unwrap();
        }
        let faults = cluster.server.faults().clone();
        disturb(&faults, seed);
        let lost = FaultAction::Error("UnknownScannerException".to_owned());
        faults
            .set(FaultRule::new(lost).methods(["Scan"]).table("t").rate(0.03).seed(seed))
            .unwrap();
        let scans = async {
            let scan = Scan::new().with_caching(7);
            assert_eq!(rows_of(&table, &scan).await, names, "seed {seed}");
            let reversed: Vec<String> = names.iter().rev().cloned().collect();
            let back = scan.clone().with_reversed(true);
            assert_eq!(rows_of(&table, &back).await, reversed, "seed {seed}");
            let ahead = scan.clone().with_async_prefetch(true);
            assert_eq!(rows_of(&table, &ahead).await, names, "seed {seed}");
            // Rows in pieces: two and one, and cell by cell.
            let batches = rows_of(&table, &scan.clone().with_batch(2)).await;
            let twice: Vec<&String> = names.iter().flat_map(|name| [name, name]).collect();
            assert!(batches.iter().eq(twice), "seed {seed}");
            let parts = scan.with_size_max_bytes(1).with_partial_results(true);
            let parts = rows_of(&table, &parts).await;
            let thrice: Vec<&String> = names.iter().flat_map(|name| [name, name, name]).collect();
            assert!(parts.iter().eq(thrice), "seed {seed}");
        };
        let moves = async {
            for step in 0..8_usize {
                tokio::time::sleep(Duration::from_millis(10)).await;
                let row = ["row000", "row150", "row250"][step % 3];
                let _ = faults.move_region(&region_of(&cluster, row), (step + 1) % 3);
                if step == 4 {
                    faults.split_region(&region_of(&cluster, "row150"), Some(b"row150")).unwrap();
                }
            }
        };
        tokio::join!(scans, moves);
    }
}
