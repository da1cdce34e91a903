//! `hblite load-hfiles` from outside: what it prints, and its exit statuses.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn hblite(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hblite")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A store with an empty table of two regions, a folder with a recorded file, and what holds both.
fn prepared() -> (TempDir, String, String) {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (store, folder) = (path("store"), path("hfiles"));
    let command = "create 't', 'cf', SPLITS => ['row00000020']";
    let made = hblite(&["shell", "--dir", &store, "-c", command]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/hfile");
    std::fs::create_dir_all(Path::new(&folder).join("cf")).unwrap();
    let target = Path::new(&folder).join("cf/0a1b");
    std::fs::copy(recorded.join("comp-gz-small.hfile"), target).unwrap();
    (dir, store, folder)
}

#[test]
fn a_folder_is_loaded_and_one_with_a_strange_family_is_not() {
    let (_dir, store, folder) = prepared();
    let strange = Path::new(&folder).join("other");
    std::fs::create_dir_all(&strange).unwrap();
    std::fs::copy(Path::new(&folder).join("cf/0a1b"), strange.join("0c")).unwrap();
    let refused = hblite(&["load-hfiles", "--dir", &store, "t", &folder]);
    assert_eq!(refused.status.code(), Some(1));
    let shown = text(&refused.stderr);
    assert!(shown.contains("Unmatched family names found"), "{shown}");

    let flag = "--ignore-unmatched-families";
    let loaded = hblite(&["load-hfiles", "--dir", &store, flag, "--move", "t", &folder]);
    assert_eq!(loaded.status.code(), Some(0), "{}", text(&loaded.stderr));
    let shown = text(&loaded.stdout);
    let skipped = "other/0c belongs to a family that the table lacks\n";
    assert!(shown.starts_with("skipped: ") && shown.contains(skipped), "{shown}");
    assert!(shown.contains("\nt: files 1, of them split at region boundaries "), "{shown}");
    assert!(!Path::new(&folder).join("cf/0a1b").exists(), "it has moved");
    let counted = hblite(&["shell", "--dir", &store, "-c", "count 't'"]);
    assert!(!text(&counted.stdout).starts_with("0 row"), "{}", text(&counted.stdout));
    assert_eq!(hblite(&["check", &store]).status.code(), Some(0));
}

#[test]
fn nothing_to_load_and_no_store_are_failures() {
    let (dir, store, folder) = prepared();
    std::fs::remove_dir_all(Path::new(&folder).join("cf")).unwrap();
    let empty = hblite(&["completebulkload", "--dir", &store, "t", &folder]);
    assert_eq!(empty.status.code(), Some(1));
    assert!(text(&empty.stderr).contains("has no file to load"), "{}", text(&empty.stderr));
    let unknown = hblite(&["load-hfiles", "--dir", &store, "nope", &folder]);
    assert_eq!(text(&unknown.stderr), "hblite: TableNotFoundException: nope\n");
    let nowhere = dir.path().join("nowhere");
    let missing = hblite(&["load-hfiles", "--dir", nowhere.to_str().unwrap(), "t", &folder]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).ends_with("nowhere: no store is there\n"));
    assert!(!nowhere.exists(), "no store was made");
}
