//! `hblite hotspot` from outside: what it prints and writes, and its exit statuses.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn hblite(dir: &Path, line: &str) -> Output {
    // Words in single quotes belong together.
    let pieces = line.split('\'').enumerate();
    let words: Vec<String> = pieces
        .flat_map(|(index, piece)| match index % 2 {
            0 => piece.split_whitespace().map(str::to_owned).collect(),
            _ => vec![piece.to_owned()],
        })
        .collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.arg("hotspot").args(words).current_dir(dir).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn works(dir: &Path, line: &str) -> String {
    let output = hblite(dir, line);
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn fails(dir: &Path, line: &str) -> String {
    let output = hblite(dir, line);
    assert_eq!(output.status.code(), Some(1), "{line}: {}", text(&output.stdout));
    text(&output.stderr)
}

const SMALL: &str = "--records 4000 --regions 4 --windows 8 --reads 8";

#[test]
fn a_run_is_reported_compared_and_judged() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    let run = format!("run --study salting --design sequential,salted {SMALL} --out r");
    let shown = works(dir, &run);
    assert!(shown.contains("sequential: writes per region over time"), "{shown}");
    assert!(shown.contains("How evenly writes are spread over regions"), "{shown}");
    let json = std::fs::read_to_string(dir.join("r/salted.json")).unwrap();
    let result: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(result["version"], 1);
    assert_eq!(result["counts"]["windows"].as_array().unwrap().len(), 8);

    let files = works(dir, "report r");
    for file in ["report.html", "heat-map-salted.png", "servers.png", "trade-off-rows.png"] {
        assert!(files.contains(file), "{files}");
        assert!(std::fs::metadata(dir.join("r").join(file)).unwrap().len() > 1000, "{file}");
    }
    let page = std::fs::read_to_string(dir.join("r/report.html")).unwrap();
    assert!(!page.contains("https://") && !page.contains("src="), "it loads nothing");

    let compared = works(dir, "compare r --fail-if 'windowed max/mean > 4.5'");
    assert!(compared.contains("What reading back costs"), "{compared}");
    let reason = fails(dir, "compare r --fail-if 'windowed max/mean > 2'");
    assert!(reason.contains("sequential: writes windowed max/mean is "), "{reason}");
    assert!(!reason.contains("salted:"), "{reason}");
    let reason = fails(dir, "compare r --fail-if 'max/median > 2'");
    assert!(reason.contains("unknown figure \"max/median\""), "{reason}");

    let reason = fails(dir, "run --study salting --records 5000 --out r");
    assert!(reason.contains("with another study or other settings"), "{reason}");
}

#[test]
fn what_cannot_be_run_is_refused_with_the_reason() {
    let dir = TempDir::new().unwrap();
    for (line, reason) in [
        ("run --study nothing --out r", "unknown study \"nothing\": use one of salting"),
        ("run --study salting --design plain --out r", "has no design \"plain\""),
        ("run --study salting --design 'bucket(name, 0)|name:str' --out r", "^^^^^^"),
        ("run --study salting --design salted --buckets 32 --out r", "32 salts over 16 regions"),
        ("run --study salting --regions 0 --out r", "--regions is 1 to"),
        ("run --study salting --keys-out k --out r", "the keys of one design"),
        ("report nowhere", "nowhere: No such file"),
        ("report .", "has no results"),
    ] {
        let shown = fails(dir.path(), line);
        assert!(shown.contains(reason), "{line}: {shown}");
    }
    let wrong = hblite(dir.path(), "compare r --fail-if 'max/mean >'");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("a figure or a number is expected"));
}

#[test]
fn keys_of_a_run_are_a_sample_for_the_adviser() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    works(
        dir,
        "run --study log-keys --design timestamp-lead --records 4000 --entities 300 --regions 4 \
         --reads 0 --windows 4 --out r --keys-out keys.txt",
    );
    let keys = std::fs::read_to_string(dir.join("keys.txt")).unwrap();
    assert_eq!(keys.lines().filter(|line| line.starts_with("split ")).count(), 3);
    assert_eq!(keys.lines().filter(|line| line.starts_with("put ")).count(), 4000);

    std::fs::write(dir.join("queries.txt"), "host = ? and ts in 10 %\n").unwrap();
    let key = "--key 'ts:timestamp|host:str|event:str'";
    let advise = format!("advise {key} --keys keys.txt --queries queries.txt --regions 4");
    let advice = works(dir, &advise);
    assert!(advice.contains("Proposed key: "), "{advice}");
    assert!(advice.contains("create 't', 'd', SPLITS => ['"), "{advice}");

    let reason = fails(dir, &advise.replace("keys.txt", "none.txt"));
    assert!(reason.contains("none.txt: No such file"), "{reason}");
    let reason = fails(dir, &advise.replace("ts:timestamp|", "ts:timestamp|car:strange|"));
    assert!(reason.contains("^"), "{reason}");
}

#[test]
fn studies_are_listed_with_their_keys() {
    let dir = TempDir::new().unwrap();
    let shown = works(dir.path(), "studies");
    assert!(shown.contains("bucket(ts, {n})|ts:timestamp|host:str|event:str"), "{shown}");
    assert!(shown.contains("(case study)"), "{shown}");
}
