//! `hblite import` and `hblite export` from outside: the tour of `docs/import-export.md`, exit
//! statuses, and what is left after a failure.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use regex::Regex;
use tempfile::TempDir;

const HBLITE: &str = env!("CARGO_BIN_EXE_hblite");

fn hblite(dir: &Path, arguments: &[&str]) -> Output {
    Command::new(HBLITE).current_dir(dir).args(arguments).output().unwrap()
}

fn failure(dir: &Path, arguments: &[&str]) -> String {
    let output = hblite(dir, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    assert_eq!(output.stdout, b"", "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn success(dir: &Path, arguments: &[&str]) -> String {
    let output = hblite(dir, arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A folder with a file of `count` lines of CSV in it, and the store that they are in.
fn folder(count: u32) -> TempDir {
    let dir = TempDir::new().unwrap();
    let lines: String = (0..count).map(|n| format!("row{n:06},value {n}\n")).collect();
    fs::write(dir.path().join("in.csv"), lines).unwrap();
    let columns = "HBASE_ROW_KEY,f:q";
    let text = success(dir.path(), &["import", "t", "in.csv", "--columns", columns]);
    assert!(text.starts_with(&format!("t: lines {count}, cells {count}, bad lines 0, ")), "{text}");
    dir
}

#[test]
fn the_tour_prints_what_the_document_says() {
    let document = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/import-export.md");
    let document = fs::read_to_string(document).unwrap();
    let dir = TempDir::new().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", Path::new(HBLITE).parent().unwrap().display());
    let run = |command: &str| {
        // Both streams as a terminal shows them.
        let command = format!("exec 2>&1; {command}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &command]).env("PATH", &path).current_dir(dir.path());
        String::from_utf8(shell.output().unwrap().stdout).unwrap()
    };
    let masked = |text: &str| {
        let figures = Regex::new(r"in \d+\.\d\d s(, \d+ lines/s)?").unwrap();
        figures.replace_all(text, "in some time").into_owned()
    };
    let mut commands = 0;
    let mut is_open = false;
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            assert!(is_open || line == "```console", "nothing runs a block {line}");
            is_open = !is_open;
        } else if let Some(command) = line.strip_prefix("$ ") {
            let mut expected = String::new();
            while let Some(line) = lines.next_if(|l| !l.starts_with("$ ") && !l.starts_with("```"))
            {
                expected += line;
                expected.push('\n');
            }
            assert_eq!(masked(&run(command)), masked(&expected), "$ {command}");
            commands += 1;
        }
    }
    assert!(commands > 12, "the commands were found");
}

#[test]
fn what_is_asked_for_wrongly_makes_no_store_and_no_file() {
    let dir = TempDir::new().unwrap();
    let path = dir.path();
    fs::write(path.join("a.csv"), "r,v\n").unwrap();
    fs::write(path.join("a.jsonl"), "{}\n").unwrap();
    let refused: [(&[&str], &str); 9] = [
        (&["import", "t", "none.csv", "--columns", "HBASE_ROW_KEY,f"], "No such file"),
        (&["import", "t", "a.csv"], "need --columns"),
        (&["import", "t", "a.csv", "--columns", "f:q"], "exactly one column"),
        (&["import", "t", "a"], "does not show its format"),
        (&["import", "t", "a.jsonl", "--columns", "HBASE_ROW_KEY,f"], "no columns to name"),
        (
            &["import", "t", "a.csv", "--columns", "HBASE_ROW_KEY,f", "--separator", "=>"],
            "one byte",
        ),
        (&["import", "t", "a.jsonl", "--family", "f,VERSIONS"], "is not a setting NAME=VALUE"),
        (&["import", "t", ".", "--format", "jsonl"], "is a folder"),
        (&["export", "t", "b.jsonl"], "no store is there"),
    ];
    for (arguments, message) in refused {
        let shown = failure(path, arguments);
        assert!(shown.contains(message), "{arguments:?}: {shown}");
        assert_eq!(names(path), ["a.csv", "a.jsonl"], "{arguments:?}");
    }
}

#[test]
fn a_table_must_be_there_or_be_described() {
    let dir = folder(1);
    let path = dir.path();
    fs::write(
        path.join("a.jsonl"),
        "{\"row\":\"r\",\"cells\":[{\"column\":\"g:q\",\"value\":\"\"}]}",
    )
    .unwrap();
    let shown = failure(path, &["import", "new", "a.jsonl"]);
    assert!(shown.contains("name its families with --family"), "{shown}");
    let columns = "HBASE_ROW_KEY,f:q";
    let shown = failure(path, &["import", "new", "in.csv", "--columns", columns, "--no-create"]);
    assert!(shown.contains("Table 'new' does not exist"), "{shown}");
    let shown = failure(path, &["import", "t", "in.csv", "--columns", "HBASE_ROW_KEY,g:q,h"]);
    assert!(shown.contains("Column families: [g, h] do not exist."), "{shown}");
    let shown = failure(path, &["import", "t", "a.jsonl"]);
    assert!(shown.contains("a.jsonl: line 1: ") && shown.contains("family g"), "{shown}");
    let shown = failure(path, &["export", "new", "out.jsonl"]);
    assert!(shown.contains("Table 'new' does not exist."), "{shown}");

    let family = ["--family", "g,VERSIONS=3", "--splits", "m,\\xFF"];
    success(path, &[["import", "new", "a.jsonl"].as_slice(), &family].concat());
    let shown = success(path, &["shell", "-c", "describe 'new'", "-c", "list_regions 'new'"]);
    assert!(shown.contains("VERSIONS => '3'") && shown.contains(" 3 rows"), "{shown}");
}

/// A header as programs write it: its first field is the row, or one that is named, and the others
/// are in the family that is named or the only one.
#[test]
fn any_header_will_do() {
    let dir = TempDir::new().unwrap();
    let path = dir.path();
    fs::write(path.join("a.csv"), "id,name,g:city\nu1,Ada,London\n").unwrap();
    fn import<'a>(more: &[&'a str]) -> Vec<&'a str> {
        [&["import", "t", "a.csv", "--header"], more].concat()
    }
    let shown = failure(path, &import(&[]));
    assert!(
        shown.contains("\"name\" of the header has no family: name it with --family"),
        "{shown}"
    );
    let shown = failure(path, &import(&["--family", "f", "--row-key", "key"]));
    assert!(shown.contains("the header has no key, only id, name, g:city"), "{shown}");
    success(path, &import(&["--family", "f"]));
    success(path, &import(&["--family", "f", "--row-key", "name"]));
    let columns = "HBASE_ROW_KEY,f:id,f:name,g:city";
    let rows = ["export", "t", "-", "--format", "csv", "--columns", columns];
    assert_eq!(success(path, &rows), "Ada,u1,,London\nu1,,Ada,London\n");
    // The only family of a table.
    fs::write(path.join("b.csv"), "id,name\nu1,Ada\n").unwrap();
    success(path, &["import", "u", "b.csv", "--header", "--family", "h"]);
    success(path, &["import", "u", "b.csv", "--header", "--row-key", "name"]);
    let rows = ["export", "u", "-", "--format", "csv", "--columns", "HBASE_ROW_KEY,h:id"];
    assert_eq!(success(path, &rows), "Ada,u1\n");
}

#[test]
fn an_export_that_fails_leaves_nothing_and_replaces_nothing() {
    let dir = folder(100);
    let path = dir.path();
    success(path, &["shell", "-c", "put 't', 'row000050', 'f:q', \"two\\nlines\""]);
    let tsv = ["export", "t", "out.tsv", "--columns", "HBASE_ROW_KEY,f:q"];
    let shown = failure(path, &tsv);
    assert!(shown.contains("row row000050: f:q holds a separator"), "{shown}");
    fs::write(path.join("out.tsv"), "mine").unwrap();
    let shown = failure(path, &tsv);
    assert!(shown.contains("--overwrite replaces it"), "{shown}");
    failure(path, &[tsv.as_slice(), &["--overwrite"]].concat());
    assert_eq!(fs::read_to_string(path.join("out.tsv")).unwrap(), "mine");
    success(path, &[tsv.as_slice(), &["--overwrite", "--escaped"]].concat());
    let written = fs::read_to_string(path.join("out.tsv")).unwrap();
    assert!(written.contains("row000050\ttwo\\x0Alines\n"), "{written}");
    assert_eq!(names(path), ["hblite-data", "in.csv", "out.tsv"]);
}

#[test]
fn who_reads_may_go_early() {
    let dir = folder(20_000);
    let mut export = Command::new(HBLITE)
        .current_dir(dir.path())
        .args(["export", "t", "-", "--format", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(export.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"row\":\"row000000\""), "{line}");
    let output = export.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(output.stderr, b"", "nothing is said of it");
}

#[test]
fn pipes_and_gzip_carry_a_table_over() {
    let dir = folder(5_000);
    let path = dir.path();
    success(path, &["export", "t", "t.jsonl.gz", "--versions", "all", "--raw"]);
    success(path, &["import", "u", "t.jsonl.gz", "--family", "f"]);
    let exported = success(path, &["export", "t", "--format", "jsonl"]);
    assert_eq!(success(path, &["export", "u", "--format", "jsonl"]), exported);

    let mut import = Command::new(HBLITE)
        .current_dir(path)
        .args(["import", "v", "-", "--format", "jsonl", "--family", "f", "--dir", "other"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    import.stdin.take().unwrap().write_all(exported.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    assert_eq!(success(path, &["export", "v", "--format", "jsonl", "--dir", "other"]), exported);

    let whole = fs::read(path.join("t.jsonl.gz")).unwrap();
    fs::write(path.join("cut.jsonl.gz"), &whole[..whole.len() / 2]).unwrap();
    let shown = failure(path, &["import", "w", "cut.jsonl.gz", "--family", "f"]);
    assert!(shown.starts_with("hblite: cut.jsonl.gz: reading: "), "{shown}");
}
