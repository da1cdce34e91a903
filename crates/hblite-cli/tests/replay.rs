//! `hblite serve --record` and `hblite replay`: a new server gives the recorded answers, and a
//! changed value is found.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Output};

use crate::served::Served;
use bytes::Bytes;
use hblite::{
    CheckAndMutate, ColumnFamilyDescriptor, Connection, Delete, Get, Increment, Put, Scan,
    SplitPoints, TableDescriptor, TimeRange,
};
use hblite_wire::recording::{Line, Reader};

fn serve(arguments: &[&str]) -> Served {
    Served::start(&[&["--memory", "--no-http"], arguments].concat())
}

/// What a program does: tables with regions, reads and writes of all kinds, and mistakes.
fn session(connection: &Connection) {
    let admin = connection.admin();
    let table = TableDescriptor::new("users".parse().unwrap())
        .with_family(ColumnFamilyDescriptor::new("f"));
    admin.create_table_with_splits(&table, &[b"g".to_vec(), b"p".to_vec()]).unwrap();
    let users = connection.table("users").unwrap();
    let rows = || ('a'..='z').map(|letter| letter.to_string());
    let puts: Vec<Put> = rows().map(|row| Put::new(row).add("f", "name", "Ada")).collect();
    users.put_all(&puts).unwrap();
    users.put(&Put::new("c").add_at("f", "old", 17, "first")).unwrap();
    users.increment(&Increment::new("c").add("f", "count", 5)).unwrap();
    let check = CheckAndMutate::new("c").if_equals("f", "name", "Ada");
    let check = check.then(Put::new("c").add("f", "name", "Bob"));
    assert!(users.check_and_mutate(&check).unwrap().is_success);
    let found = users.get(&Get::new("c")).unwrap();
    assert_eq!(found.text("f", "name").unwrap(), Some("Bob"));
    // With the timestamp that the server assigned.
    let version = found.cells().find(|cell| cell.qualifier() == b"name").unwrap().timestamp();
    let get =
        Get::new("c").with_column("f", "name").with_time_range(TimeRange::at(version).unwrap());
    assert!(!users.get(&get).unwrap().is_empty());
    users.delete(&Delete::new("d")).unwrap();
    assert_eq!(users.scan(&Scan::new().with_caching(4)).unwrap().count(), 25);
    users.get(&Get::new("c").with_family("none")).unwrap_err();
    admin.flush_table("users").unwrap();
    admin.disable_table("users").unwrap();
    admin.enable_table("users").unwrap();
    assert_eq!(admin.regions("users").unwrap().len(), 3);
    admin.disable_table("users").unwrap();
    admin.truncate_table("users", SplitPoints::Discard).unwrap();
    assert!(users.get(&Get::new("c")).unwrap().is_empty());
    admin.disable_table("users").unwrap();
    admin.delete_table("users").unwrap();
    admin.describe_table("users").unwrap_err();
}

fn replay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hblite")).arg("replay").args(arguments).output().unwrap()
}

fn record_to(file: &Path) -> (bool, String) {
    let server = serve(&["--record", file.to_str().unwrap()]);
    let connection = hblite::connect(&server.url()).unwrap();
    session(&connection);
    connection.close().unwrap();
    let (status, said) = server.end("-TERM");
    (status == Some(0), said)
}

fn lines(file: &Path) -> Vec<Line> {
    let mut reader = Reader::new(BufReader::new(std::fs::File::open(file).unwrap()));
    std::iter::from_fn(|| reader.next_line().unwrap()).collect()
}

#[test]
fn a_recorded_session_is_answered_alike_and_a_changed_value_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("calls.jsonl");
    let (is_success, said) = record_to(&file);
    assert!(is_success, "{said}");
    let mut lines = lines(&file);
    let Some(Line::End { calls, dropped: 0 }) = lines.last() else { panic!("{lines:?}") };
    assert!(*calls > 30, "{calls}");

    let name = file.to_str().unwrap();
    let output = replay(&[name]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with(&format!("{calls} calls replayed, 0 different")), "{text}");

    // A running server, which has seen another session of the same kind.
    let server = serve(&[]);
    let connection = hblite::connect(&server.url()).unwrap();
    session(&connection);
    let output = replay(&[name, "--address", &server.url()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");

    // One value in the answer to a get.
    let changed = lines.iter_mut().find_map(|line| match line {
        Line::Call(call) if call.method == "Get" => {
            let at = |bytes: &[u8]| bytes.windows(3).position(|window| window == b"Bob");
            for bytes in call.response_bytes.iter_mut().chain([&mut call.response_cells]) {
                if let Some(at) = at(bytes) {
                    let mut other = bytes.to_vec();
                    other[at..at + 3].copy_from_slice(b"Eve");
                    *bytes = Bytes::from(other);
                    return Some(());
                }
            }
            None
        }
        _ => None,
    });
    changed.unwrap();
    let text: String = lines.iter().map(Line::to_text).collect();
    std::fs::write(&file, text).unwrap();
    let output = replay(&[name]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("Get of users") && text.contains(", 1 different,"), "{text}");
    assert!(text.contains("recorded Eve, replayed Bob"), "{text}");
}

#[test]
fn an_existing_file_is_recorded_to_only_when_told() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.txt");
    std::fs::write(&file, "mine").unwrap();
    let record = ["--record", file.to_str().unwrap()];
    let (status, said) = serve(&record).end("-TERM");
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("notes.txt: exists; --overwrite replaces it"), "{said}");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
    let (status, said) = serve(&[&record[..], &["--overwrite"]].concat()).end("-TERM");
    assert_eq!(status, Some(0), "{said}");
    let lines = lines(&file);
    assert!(matches!(lines[..], [Line::Begin { .. }, Line::End { calls: 0, .. }]), "{lines:?}");
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_server() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let (is_success, said) = record_to(full);
    assert!(!is_success);
    assert!(said.contains("the recording /dev/full ends after"), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
}

const NO_RECORDING: &str =
    "calls.jsonl: line 1: this is not a recording: 'hblite serve --record FILE' writes one";

#[test]
fn a_file_that_is_no_recording_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("calls.jsonl");
    for (text, reason) in [
        ("{\"hblite-recording\":9}\n", "line 1: the recording has version 9"),
        ("time,device\n", NO_RECORDING),
        ("{\"row\":\"r\"}\n", NO_RECORDING),
        ("\u{7f}ELF", NO_RECORDING),
        ("", NO_RECORDING),
    ] {
        std::fs::write(&file, text).unwrap();
        let output = replay(&[file.to_str().unwrap()]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason), "{said}");
    }
}
