//! `hblite check` and `hblite backup` from outside: what they print, and their exit statuses.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn hblite(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hblite")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A store with a table of one flushed row, and the directory that holds it.
fn store() -> (TempDir, String) {
    let dir = TempDir::new().unwrap();
    let store = dir.path().join("store").to_str().unwrap().to_owned();
    let command = "create 't', 'f'\nput 't', 'r', 'f:q', 'v'\nflush 't'";
    let made = hblite(&["shell", "--dir", &store, "-c", command]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    (dir, store)
}

/// The store file of the table.
fn store_file(store: &str) -> PathBuf {
    let table = Path::new(store).join("data/default/t");
    let mut regions = std::fs::read_dir(table).unwrap().map(|entry| entry.unwrap().path());
    let region = regions.find(|path| !path.ends_with(".tabledesc")).unwrap();
    std::fs::read_dir(region.join("f")).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn a_sound_store_a_damaged_one_and_none() {
    let (dir, store) = store();
    let sound = hblite(&["check", &store]);
    assert_eq!(sound.status.code(), Some(0), "{}", text(&sound.stderr));
    let shown = text(&sound.stdout);
    assert!(shown.starts_with("tables 3, regions 3, store files "), "{shown}");
    assert!(shown.ends_with(" s\nno defects\n"), "{shown}");
    assert_eq!(text(&sound.stderr), "", "no bar where no terminal is");

    let file = store_file(&store);
    let mut content = std::fs::read(&file).unwrap();
    content[40] ^= 1;
    std::fs::write(&file, &content).unwrap();
    let damaged = hblite(&["check", &store]);
    assert_eq!(damaged.status.code(), Some(1));
    let shown = text(&damaged.stdout);
    let place = format!("{} at offset 0: store-file: ", file.display());
    assert!(shown.starts_with(&place) && shown.ends_with("\ndefects: 1\n"), "{shown}");

    let json = hblite(&["check", "--json", &store]);
    assert_eq!(json.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(report["is_clean"], false);
    assert_eq!(report["defects"][0]["kind"], "store-file");
    assert_eq!(report["defects"][0]["offset"], 0);
    assert_eq!(report["defects"][0]["path"], file.to_str().unwrap());
    assert_eq!(report["tables"], 3);

    let nowhere = dir.path().join("nowhere");
    let none = hblite(&["check", nowhere.to_str().unwrap()]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).ends_with("nowhere: no store is there\n"));
    assert!(!nowhere.exists());
}

#[test]
fn a_backup_opens_and_is_made_once() {
    let (dir, store) = store();
    let to = dir.path().join("copy").to_str().unwrap().to_owned();
    let made = hblite(&["backup", &store, &to]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(text(&made.stdout).starts_with(&format!("{to}: files linked ")));
    assert_eq!(hblite(&["check", &to]).status.code(), Some(0));
    let read = hblite(&["shell", "--dir", &to, "-c", "get 't', 'r'"]);
    assert!(text(&read.stdout).contains("value=v"), "{}", text(&read.stdout));

    let again = hblite(&["backup", &store, &to]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("copy is there already and not empty: name"));
    let within = hblite(&["backup", &store, &format!("{store}/copy")]);
    assert_eq!(within.status.code(), Some(1));
    let names: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// Both say who has the store open.
#[test]
fn a_store_that_is_open_elsewhere() {
    let (dir, store) = store();
    let connection = hblite::open(&store).unwrap();
    let to = dir.path().join("copy");
    let checked = hblite(&["check", &store]);
    let copied = hblite(&["backup", &store, to.to_str().unwrap()]);
    assert_eq!((checked.status.code(), copied.status.code()), (Some(2), Some(1)));
    let holder = format!("process {}", std::process::id());
    for output in [checked, copied] {
        assert!(text(&output.stderr).contains(&holder), "{}", text(&output.stderr));
    }
    assert!(!to.exists());
    connection.admin().backup(&to).unwrap();
    assert!(hblite(&["check", to.to_str().unwrap()]).status.success());
}
