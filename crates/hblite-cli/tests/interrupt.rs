//! Signals during an import and an export, and what an import that fails says.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use regex::Regex;
use tempfile::TempDir;

const HBLITE: &str = env!("CARGO_BIN_EXE_hblite");
const COLUMNS: [&str; 2] = ["--columns", "HBASE_ROW_KEY,f:q"];

fn start(dir: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(HBLITE);
    command.current_dir(dir).args(arguments).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    start(dir, arguments).wait_with_output().unwrap()
}

fn import<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["import", "t", file, "--format", "csv"], &COLUMNS[..], more].concat()
}

fn signal(child: &Child, signal: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
}

/// Names in a folder, the hidden ones too.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Waits until `is_so`, as long as the process runs. Returns whether it happened.
fn wait_until(child: &mut Child, mut is_so: impl FnMut() -> bool) -> bool {
    loop {
        if is_so() {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn lines(count: u32) -> String {
    (0..count).map(|n| format!("row{n:06},value {n}\n")).collect()
}

fn rows(dir: &Path) -> usize {
    let output = run(dir, &["export", "t", "-", "--format", "jsonl"]);
    assert!(output.status.success(), "{output:?}");
    output.stdout.split_inclusive(|byte| *byte == b'\n').count()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn an_import_that_fails_says_what_is_in_and_how_to_go_on() {
    let dir = TempDir::new().unwrap();
    let text_of = |quote: &str| format!("{}bad,{quote}2\n{}", lines(3), lines(5));
    fs::write(dir.path().join("in.csv"), text_of("\"")).unwrap();
    let output = run(dir.path(), &import("in.csv", &["--timestamp", "7"]));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"");
    let expected = "hblite: in.csv: line 4: a quote opens here and is not closed\n\
        lines imported into t: 3, cells 3\n\
        Correct the line and run the import again with --timestamp 7: imported lines stay as they \
        are.\n";
    assert_eq!(text(&output.stderr), expected);
    assert_eq!(rows(dir.path()), 3);

    fs::write(dir.path().join("in.csv"), text_of("")).unwrap();
    let output = run(dir.path(), &import("in.csv", &["--timestamp", "7"]));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(rows(dir.path()), 6);
    let versions = run(dir.path(), &["export", "t", "-", "--format", "jsonl", "--versions", "all"]);
    assert_eq!(text(&versions.stdout).matches("timestamp").count(), 6);
}

#[test]
fn a_signal_ends_an_import_that_waits_for_input_and_what_was_read_is_in() {
    let imported = Regex::new("lines imported into t: ([0-9]+), cells ([0-9]+)\n").unwrap();
    for (name, status) in [("-TERM", 143), ("-INT", 130), ("-HUP", 129)] {
        let dir = TempDir::new().unwrap();
        let mut child = start(dir.path(), &import("-", &[]));
        // A pipe and the readers' buffers hold less, so some of it is read when this returns.
        child.stdin.as_mut().unwrap().write_all(lines(20_000).as_bytes()).unwrap();
        // The input stays open: it waits for more.
        signal(&child, name);
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        let told = text(&output.stderr);
        assert!(told.starts_with("hblite: interrupted\n"), "{told}");
        assert!(told.contains("To finish, run the import again with --timestamp "), "{told}");
        let count: usize = imported.captures(&told).unwrap()[1].parse().unwrap();
        assert!(count > 0, "{told}");
        assert_eq!(rows(dir.path()), count, "{told}");
    }
}

#[test]
fn a_signal_ends_an_export_and_nothing_is_left_of_it() {
    let dir = TempDir::new().unwrap();
    let path = dir.path();
    fs::write(path.join("in.csv"), lines(50_000)).unwrap();
    assert!(run(path, &import("in.csv", &[])).status.success());
    let before = ["hblite-data", "in.csv"];
    let exports: [&[&str]; 5] = [
        &["out.csv", COLUMNS[0], COLUMNS[1]],
        &["out.tsv", COLUMNS[0], COLUMNS[1]],
        &["out.jsonl"],
        &["out.jsonl.gz"],
        &["--hfiles", "out"],
    ];
    let is_partial = |name: &String| name.starts_with(".hblite-export-") || name == "out.partial";
    for (arguments, (signal_name, status)) in
        exports.iter().zip([("-INT", 130), ("-TERM", 143)].into_iter().cycle())
    {
        // An export may end before the signal arrives: such an attempt proves nothing.
        let mut attempts = 0..20;
        let output = loop {
            assert!(attempts.next().is_some(), "{arguments:?} was never interrupted");
            let mut child = start(path, &[&["export", "t"], *arguments].concat());
            if wait_until(&mut child, || names(path).iter().any(is_partial)) {
                signal(&child, signal_name);
            }
            let output = child.wait_with_output().unwrap();
            if !output.status.success() {
                break output;
            }
            let _ = fs::remove_dir_all(path.join("out"));
            for name in names(path).iter().filter(|name| name.starts_with("out.")) {
                fs::remove_file(path.join(name)).unwrap();
            }
        };
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
        let told = text(&output.stderr);
        assert!(told.starts_with("hblite: interrupted: out"), "{arguments:?}: {told}");
        assert_eq!(names(path), before, "{arguments:?}");
    }
}
