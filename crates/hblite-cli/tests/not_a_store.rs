//! Directories that are not stores: every command refuses them and leaves them unchanged.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

fn hblite(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hblite")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Everything below a directory: directories without, files with their content.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
            found.insert(path, None);
        } else {
            let content = fs::read(&path).unwrap();
            found.insert(path, Some(content));
        }
    }
    found
}

/// Runs every command that takes a store on `dir`; each must refuse it with the text of `reason`,
/// and change nothing.
fn every_command_refuses(dir: &Path, reason: &str) {
    let (outside, dir_text) = (TempDir::new().unwrap(), dir.to_str().unwrap());
    let lines = outside.path().join("rows.csv");
    write(&lines, "HBASE_ROW_KEY,f:q\nr,v\n");
    let export = outside.path().join("export.csv").to_str().unwrap().to_owned();
    let backup = outside.path().join("backup").to_str().unwrap().to_owned();
    let (lines, folder) = (lines.to_str().unwrap(), outside.path().to_str().unwrap());
    let before = contents(dir);
    for arguments in [
        &["shell", "--dir", dir_text, "-c", "list"][..],
        &["shell", "--salvage", "--dir", dir_text, "-c", "list"],
        &["serve", "--dir", dir_text, "--rpc-port", "0", "--zookeeper-port", "0"],
        &["import", "--dir", dir_text, "--header", "t", lines],
        &["export", "--dir", dir_text, "--format", "jsonl", "t", &export],
        &["check", dir_text],
        &["backup", dir_text, &backup],
        &["load-hfiles", "--dir", dir_text, "t", folder],
    ] {
        let output = hblite(arguments);
        let message = text(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}: {message}");
        assert!(message.contains(reason), "{arguments:?}: {message}");
        assert!(contents(dir) == before, "{arguments:?} changed {dir_text}");
    }
    assert!(!Path::new(&backup).exists() && !Path::new(&export).exists());
}

#[test]
fn a_directory_of_someone_else() {
    let dir = TempDir::new().unwrap();
    fs::create_dir_all(dir.path().join("data/default/photos/2026")).unwrap();
    write(&dir.path().join("data/default/photos/2026/a.jpg"), "");
    write(&dir.path().join(".tmp/mine"), "");
    every_command_refuses(dir.path(), "is not an hblite store: it holds .tmp, data");
    assert!(hblite::Options::new().with_create_if_missing(false).open(dir.path()).is_err());
    assert!(hblite::open(dir.path()).is_err());
    assert!(dir.path().join(".tmp/mine").exists());
}

#[test]
fn a_root_directory_of_hbase() {
    let dir = TempDir::new().unwrap();
    write(&dir.path().join("hbase.version"), "PBUF\x0a\x018");
    let id = "PBUF\x0a\x24ca9fced8-4350-477d-9b81-eaf32ebf7024";
    write(&dir.path().join("hbase.id"), id);
    write(&dir.path().join("data/hbase/meta/1588230740/.regioninfo"), "");
    write(&dir.path().join("MasterData/data/x"), "");
    write(&dir.path().join("WALs/localhost,16020,1/localhost%2C16020%2C1.1"), "");
    every_command_refuses(dir.path(), "is the root directory of an Apache HBase cluster");
}

#[test]
fn a_file_with_a_name_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = TempDir::new().unwrap();
    write(&dir.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe")), "mine");
    every_command_refuses(dir.path(), "is not an hblite store: it holds ");
}

/// Only commands that read refuse an empty or missing directory.
#[test]
fn nothing_at_all() {
    let dir = TempDir::new().unwrap();
    let missing = dir.path().join("typo");
    for path in [dir.path(), &missing] {
        let path = path.to_str().unwrap();
        let output = hblite(&["check", path]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).ends_with(": no store is there\n"));
        assert!(contents(dir.path()).is_empty());
    }
    let output = hblite(&["shell", "--dir", missing.to_str().unwrap(), "-c", "list"]);
    assert!(output.status.success());
    let output = hblite(&["check", missing.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Files put into a store by hand are set aside, which every command that opens the
/// store reports, and are deleted only on request.
#[test]
fn foreign_directories_in_a_store() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().to_str().unwrap();
    let shell = |command: &str| hblite(&["shell", "--dir", path, "-c", command]);
    assert!(shell("create 't', 'f'").status.success());
    let photo = dir.path().join("data/default/photos/2026/a.jpg");
    for file in [&photo, &dir.path().join(".tmp/mine"), &dir.path().join("mine/a")] {
        write(file, "mine");
    }
    let output = shell("list");
    let message = text(&output.stderr);
    let moved_to = message.split(" to ").nth(1).unwrap().split(": ").next().unwrap();
    assert!(output.status.success());
    let from = dir.path().join("data/default/photos");
    assert!(message.starts_with(&format!("hblite: moved {} to ", from.display())), "{message}");
    assert!(!photo.exists());
    assert_eq!(fs::read(Path::new(moved_to).join("2026/a.jpg")).unwrap(), b"mine");
    assert!(dir.path().join(".tmp/mine").exists() && dir.path().join("mine/a").exists());
    let message = text(&shell("list").stderr);
    let (aside, rest) = message.split_once(" is set aside\n").expect("it is listed");
    assert!(moved_to.starts_with(aside.trim_start_matches("hblite: ")), "{message}");
    assert!(rest.contains("hblite check --clean"), "{message}");
    let others = dir.path().join("archive/data/mine");
    write(&others, "mine");
    let output = hblite(&["check", "--clean", path]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains(&format!("deleted {moved_to}")), "{output:?}");
    assert!(!Path::new(moved_to).exists() && others.exists());
    let output = hblite(&["check", "--clean", path]);
    assert!(text(&output.stdout).ends_with("nothing to delete\n"), "{output:?}");
}

/// The log and the tables are useless without hbase:meta: no command treats the store as empty, and
/// salvage restores everything.
#[test]
fn a_lost_catalog() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().to_str().unwrap();
    let output = hblite(&[
        "shell",
        "--dir",
        path,
        "-c",
        "create 't', 'f'",
        "-c",
        "put 't', 'r', 'f:q', 'v'",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    fs::remove_dir_all(dir.path().join("data/hbase/meta/1588230740")).unwrap();
    // The lock names the last process that opened the store.
    let contents = || {
        let mut found = contents(dir.path());
        found.remove(&dir.path().join("LOCK"));
        found
    };
    let before = contents();
    let output = hblite(&["shell", "--dir", path, "-c", "list"]);
    assert!(!output.status.success());
    let message = text(&output.stderr);
    assert!(
        message.contains("hbase:meta had store files") && message.contains("--salvage"),
        "{message}"
    );
    assert!(contents() == before);
    assert_eq!(hblite(&["check", path]).status.code(), Some(1));
    let output = hblite(&["shell", "--salvage", "--dir", path, "-c", "get 't', 'r'"]);
    assert!(text(&output.stdout).contains("value=v"), "{output:?}");
    assert!(text(&output.stderr).contains("rebuilt hbase:meta: tables t, regions 1"), "{output:?}");
    let output = hblite(&["shell", "--dir", path, "-c", "get 't', 'r'"]);
    assert!(text(&output.stdout).contains("value=v") && output.stderr.is_empty(), "{output:?}");
}
