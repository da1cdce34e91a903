//! `hblite casestudy` and `hblite rowkey` as their user types them.

use std::process::{Command, Output};

fn hblite(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hblite")).args(arguments).output().expect("hblite runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_study_runs_and_is_right() {
    let output = hblite(&["casestudy", "run", "all", "--records", "300", "--check"]);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    for line in stdout(&hblite(&["casestudy", "list"])).lines() {
        if let Some((study, _)) = line.split_once(": ").filter(|(name, _)| !name.contains(' ')) {
            assert!(text.contains(&format!("== {study}: ")), "{study}");
        }
    }
    assert!(text.contains("as expected") && !text.contains("NOT as"));
    assert!(text.contains("scan LOG_DATA start \"\\x00\\x00\\x01\\x8B"), "{text}");
}

#[test]
fn kept_stores_can_be_opened_again() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().to_str().expect("a path");
    let run = ["casestudy", "run", "lists", "--design", "tall", "--records", "90", "--dir", path];
    assert!(hblite(&run).status.success());
    let store = dir.path().join("lists").join("tall");
    let checked = hblite(&["check", store.to_str().expect("a path")]);
    assert!(checked.status.success(), "{}", stdout(&checked));
    // The tables are there already.
    let again = hblite(&run);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("LIST_TALL"), "{}", stderr(&again));
}

#[test]
fn wrong_names_are_answered_with_the_right_ones() {
    let output = hblite(&["casestudy", "run", "log"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("no study log; known: log-data,"), "{}", stderr(&output));
    let output = hblite(&["casestudy", "run", "log-data", "--design", "bucket"]);
    assert!(stderr(&output).contains("known: timestamp-first, bucketed,"));
    assert_eq!(hblite(&["casestudy", "run", "lists", "--records", "0"]).status.code(), Some(1));
}

#[test]
fn a_row_key_is_explained_or_refused_at_its_place() {
    let text = stdout(&hblite(&["rowkey", "salt(16, uid)|uid:str(8)|ts:reverse_timestamp"]));
    assert!(text.contains("  uid: prefix scan\n"), "{text}");
    assert!(text.contains("  ts: full scan\n"), "{text}");
    let output = hblite(&["rowkey", "host:str(rest)|ts:timestamp"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("\n^^^^^^^^^^^^^^\nhost has no end"), "{}", stderr(&output));
}
