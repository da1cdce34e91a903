//! Goal: if other processes interfere with the store, a shell and a server report it and keep
//! running.
//!
//! Method: the commands run as child processes on real directories. While they run, the directory
//! is removed or a store file is truncated, and the next commands and calls show the effect.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../hblite-server/tests/support/mod.rs"]
mod support;

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::served::Served;
use hblite_wire::pb;
use support::{Client, get, put, region};

/// A running command, which is killed if the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn hblite(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs lines in a separate shell, which must succeed; returns their output.
fn shell(dir: &Path, lines: &[&str]) -> String {
    let mut arguments = vec!["shell", "--dir", dir.to_str().unwrap()];
    arguments.extend(lines.iter().flat_map(|line| ["-c", line]));
    let output = hblite(&arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// A shell that runs one line after another.
struct Shell {
    _child: Running,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Shell {
    fn start(dir: &Path) -> Self {
        let mut child = hblite(&["shell", "--keep-going", "--dir", dir.to_str().unwrap()]);
        let mut child = Running(child.stderr(Stdio::null()).spawn().unwrap());
        let input = child.0.stdin.take().unwrap();
        let output = BufReader::new(child.0.stdout.take().unwrap());
        Self { _child: child, input, output }
    }

    /// Runs a line; returns its output.
    fn run(&mut self, line: &str) -> String {
        // The shell prints nothing when a command has ended, so another command marks the end.
        writeln!(self.input, "{line}\nputs 'over'").unwrap();
        let mut shown = String::new();
        while !shown.ends_with("over\n") {
            assert!(self.output.read_line(&mut shown).unwrap() > 0, "it ended: {shown}");
        }
        shown
    }
}

fn serve(dir: &Path) -> Served {
    Served::start(&["--dir", dir.to_str().unwrap()])
}

fn client(served: &Served) -> Client {
    let port = served.ready["region_server_ports"][0].as_u64().unwrap();
    Client::java(port.try_into().unwrap(), "ClientService")
}

fn assert_lives(served: &mut Served) {
    assert_eq!(served.child.try_wait().unwrap(), None, "the server has ended");
}

/// The full name of the only region of a table.
fn region_name(dir: &Path, table: &str) -> Vec<u8> {
    let shown = shell(dir, &[&format!("list_regions '{table}'")]);
    let start = shown.find(&format!("{table},,")).unwrap_or_else(|| panic!("{shown}"));
    shown[start..].split_whitespace().next().unwrap().as_bytes().to_vec()
}

fn write(client: &mut Client, name: &[u8], row: &str) -> support::Answer {
    let request = pb::MutateRequest {
        region: region(name),
        mutation: put(row, "q", "v"),
        condition: None,
        nonce_group: None,
    };
    client.call("Mutate", &request)
}

/// How many cells a row has.
fn read(client: &mut Client, name: &[u8], row: &str) -> i32 {
    let answer = client.call("Get", &get(name, row)).decode::<pb::GetResponse>();
    answer.result.and_then(|row| row.associated_cell_count).expect("a count")
}

#[test]
fn a_shell_says_that_its_directory_is_gone() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let mut shell = Shell::start(&dir);
    shell.run("create 't', 'f'");
    shell.run("put 't', 'r', 'f:q', 'v'");
    fs::remove_dir_all(&dir).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let shown = loop {
        let shown = shell.run("put 't', 's', 'f:q', 'v'");
        if shown.contains("ERROR") {
            break shown;
        }
        assert!(Instant::now() < deadline, "writes go on: {shown}");
    };
    assert!(shown.contains("the directory was removed, moved or replaced"), "{shown}");
    assert!(shell.run("get 't', 'r'").contains("value=v"));
    assert!(!dir.exists());
}

#[test]
fn a_server_refuses_writes_when_its_directory_is_gone() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    shell(&dir, &["create 't', 'f'", "put 't', 'r', 'f:q', 'v'"]);
    let name = region_name(&dir, "t");
    let mut served = serve(&dir);
    let mut client = client(&served);
    assert!(write(&mut client, &name, "r1").header.exception.is_none());
    fs::remove_dir_all(&dir).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let answer = loop {
        let answer = write(&mut client, &name, "r2");
        if answer.header.exception.is_some() {
            break answer;
        }
        assert!(Instant::now() < deadline, "writes go on");
    };
    assert_eq!(answer.exception().0, "RegionServerStoppedException");
    let text = answer.exception_text();
    assert!(text.contains("the directory was removed, moved or replaced"), "{text}");
    assert_eq!(read(&mut client, &name, "r"), 1);
    assert_lives(&mut served);
}

/// The only store file of a table.
fn store_file(dir: &Path, table: &str) -> PathBuf {
    let mut dirs = vec![dir.join("data/default").join(table)];
    let mut files = Vec::new();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => dirs.push(entry.path()),
                false => files.push(entry.path()),
            }
        }
    }
    files.retain(|file| file.parent().is_some_and(|family| family.ends_with("f")));
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

#[test]
fn a_server_outlives_a_store_file_that_is_truncated() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let value = "v".repeat(1000);
    let mut lines = vec!["create 't', 'f'".to_owned(), "create 'u', 'f'".to_owned()];
    for row in 0..300 {
        lines.push(format!("put 't', 'r{row:03}', 'f:q', '{value}'"));
    }
    lines.push("put 'u', 'r', 'f:q', 'v'".to_owned());
    shell(&dir, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let (name, other) = (region_name(&dir, "t"), region_name(&dir, "u"));
    let file = store_file(&dir, "t");
    let mut served = serve(&dir);
    let mut client = client(&served);
    assert_eq!(read(&mut client, &name, "r000"), 1);

    // The first block, which is in the cache, and a part of the second one are left.
    let file_to_cut = OpenOptions::new().write(true).open(&file).unwrap();
    file_to_cut.set_len(70_000).unwrap();
    for row in ["r150", "r299", "r150"] {
        let answer = client.call("Get", &get(&name, row));
        assert!(answer.header.exception.is_some(), "{row}");
        let text = answer.exception_text();
        let file_name = file.file_name().unwrap().to_str().unwrap();
        assert!(text.contains(file_name), "{text}");
    }
    assert_lives(&mut served);
    assert_eq!(read(&mut client, &name, "r000"), 1, "a block that was read before");
    assert_eq!(read(&mut client, &other, "r"), 1, "another table");
    assert!(write(&mut client, &name, "new").header.exception.is_none());
    assert_lives(&mut served);
}

/// What a process has mapped of the files below a directory.
fn mapped(child: &Child, dir: &Path) -> Vec<String> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", child.id())).unwrap();
    let dir = dir.to_str().unwrap();
    maps.lines().filter(|line| line.contains(dir)).map(str::to_owned).collect()
}

/// A command that waits in the middle of its work, because its pipe is full or empty.
fn assert_maps_nothing(dir: &Path, arguments: &[&str]) {
    let dir_argument = dir.to_str().unwrap();
    let mut child =
        Running(hblite(&[arguments, &["--dir", dir_argument]].concat()).spawn().unwrap());
    let lock = dir.join("LOCK");
    let holder = format!("process {}", child.0.id());
    let is_working = |child: &mut Running| match arguments[0] {
        // It has written, and the other end stops reading.
        "export" => {
            let mut line = String::new();
            let stdout = child.0.stdout.as_mut().unwrap();
            BufReader::with_capacity(64, stdout).read_line(&mut line).unwrap() > 0
        }
        _ => fs::read_to_string(&lock).is_ok_and(|text| text == holder),
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_working(&mut child) {
        assert!(Instant::now() < deadline, "{arguments:?} does not begin");
        assert_eq!(child.0.try_wait().unwrap(), None, "{arguments:?} has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    for _ in 0..20 {
        assert_eq!(mapped(&child.0, dir), Vec::<String>::new(), "{arguments:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(child.0.try_wait().unwrap(), None, "{arguments:?} has ended");
}

/// Only a mapping lets a truncated file kill a process.
#[test]
fn no_command_maps_files_of_a_store() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("store");
    let value = "v".repeat(2000);
    let mut lines = vec!["create 't', 'f'".to_owned()];
    for row in 0..300 {
        lines.push(format!("put 't', 'r{row:03}', 'f:q', '{value}'"));
    }
    shell(&dir, &lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(fs::metadata(store_file(&dir, "t")).unwrap().len() > 1 << 16);
    assert_maps_nothing(&dir, &["export", "t", "-", "--format", "jsonl"]);
    assert_maps_nothing(&dir, &["export", "t", "-", "--format", "jsonl", "--read-only"]);
    assert_maps_nothing(&dir, &["shell"]);
    assert_maps_nothing(&dir, &["import", "t", "-", "--format", "jsonl"]);
}
