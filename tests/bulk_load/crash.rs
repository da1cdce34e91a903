//! A load and crashes: after a crash at any operation of the disk, it has happened completely or
//! not at all.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hblite::{Connection, Durability, ErrorKind, Get, Put};
use hblite_env::{
    CrashFileSystem, Fault, FaultFileSystem, FileSystem as _, MemFileSystem, Operation,
};

use super::testkit::cuts;
use super::{FAMILIES, check, create, in_folder, load, name, open, put_cell, write_file};

/// Prepares a table of two regions with two families and a row in each, and a folder to load into
/// all of them.
fn prepared() -> (CrashFileSystem, Connection) {
    let fs = CrashFileSystem::new();
    let connection = open(fs.clone()).expect("an empty disk opens");
    create(&connection, &["m"]).expect("a new table");
    for row in ["c", "x"] {
        let put = Put::new(row).add_at("a", "q", 1, "old").with_durability(Durability::FsyncWal);
        connection.table("t").and_then(|table| table.put(&put)).expect("the table takes it");
    }
    for family in FAMILIES {
        let cells = ["c", "d", "x", "y"].map(|row| put_cell(row, family, "q", 1, "new"));
        write_file(&fs, &in_folder(family, "00"), &cells);
        let cells = ["e", "z"].map(|row| put_cell(row, family, "q", 1, "new"));
        write_file(&fs, &in_folder(family, "01"), &cells[..1]);
        write_file(&fs, &in_folder(family, "02"), &cells[1..]);
    }
    fs.sync_everything();
    (fs, connection)
}

/// Whether a region has the load, all of it or nothing; `rows` are its rows in that region.
fn has_load(connection: &Connection, rows: [&str; 3], context: &str) -> bool {
    let table = connection.table("t").expect("a name");
    let mut seen = Vec::new();
    for row in rows {
        let found = table.get(&Get::new(row)).unwrap_or_else(|e| panic!("{context}: {row}: {e}"));
        for family in FAMILIES {
            seen.push(found.value(family, "q") == Some(b"new"));
        }
        if row == rows[0] {
            let value = found.value("a", "q");
            assert!(value.is_some(), "{context}: acknowledged row {row} is lost");
        }
    }
    assert!(seen.iter().all(|is_new| *is_new == seen[0]), "{context}: {rows:?}: half of a load");
    seen[0]
}

#[test]
fn a_crash_at_any_operation_leaves_a_regions_load_whole_or_away() {
    let (mut whole, mut away) = (0, 0);
    let work = |connection: Connection| load(&connection).is_ok();
    cuts::at_every_operation(1, prepared, work, |fs, is_acknowledged, cut| {
        assert!(cut.of > 30, "{cut}");
        let last = 2 * cut.after + 2;
        for seed in [0, last - 1, last] {
            let is_kill = seed == last;
            let context = format!("{cut}, seed {seed}, kill {is_kill}");
            let rest = if is_kill { fs.after_kill() } else { fs.after_power_cut(seed) };
            let connection = open(rest.clone()).unwrap_or_else(|e| panic!("{context}: {e}"));
            let low = has_load(&connection, ["c", "d", "e"], &context);
            let high = has_load(&connection, ["x", "y", "z"], &context);
            assert!(!is_acknowledged || (low && high), "{context}: an acknowledged load is lost");
            (whole, away) = (whole + u64::from(low), away + u64::from(!low));
            drop(connection);
            let connection = open(rest.after_kill()).unwrap_or_else(|e| panic!("{context}: {e}"));
            assert_eq!(has_load(&connection, ["c", "d", "e"], &context), low, "{context}: again");
            load(&connection).unwrap_or_else(|e| panic!("{context}: loaded again: {e}"));
            assert!(has_load(&connection, ["x", "y", "z"], &context));
            connection.admin().major_compact_table(name("t")).expect("there is room");
            assert!(has_load(&connection, ["c", "d", "e"], &context));
            connection.close().expect("nothing fails");
            let report = check(&rest.after_kill());
            assert!(report.defects.is_empty(), "{context}: {:?}", report.defects);
        }
    });
    assert!(whole > 0 && away > 0, "both happen: {whole}, {away}");
}

/// An open finishes the load of a process that was killed. It may rely on nothing that a power cut
/// takes.
#[test]
fn a_load_is_whole_or_away_after_a_kill_an_open_and_a_power_cut() {
    let work = |connection: Connection| load(&connection).is_ok();
    cuts::at_every_operation(1, prepared, work, |fs, is_acknowledged, cut| {
        cuts::at_every_open_after_a_kill(fs, 7, open, |fs, of_open| {
            for seed in 0..3 {
                let context = format!("killed, {cut}; opened, {of_open}; power cut, seed {seed}");
                let rest = fs.after_power_cut(seed);
                let connection = open(rest.clone()).unwrap_or_else(|e| panic!("{context}: {e}"));
                let low = has_load(&connection, ["c", "d", "e"], &context);
                let high = has_load(&connection, ["x", "y", "z"], &context);
                assert!(!is_acknowledged || (low && high), "{context}: the load is lost");
                drop(connection);
                let report = check(&rest.after_kill());
                assert!(report.defects.is_empty(), "{context}: {:?}", report.defects);
            }
        });
    });
}

/// The directory of a committed load is removed with what the load wrote, and nothing else.
#[test]
fn what_others_put_into_a_load_is_kept_when_an_open_finishes_it() {
    let mut found = 0;
    let work = |connection: Connection| drop(load(&connection));
    cuts::at_every_operation(1, prepared, work, |fs, (), cut| {
        let rest = fs.after_kill();
        let mut loads = Vec::new();
        for region in dirs_in(&rest, Path::new("/store/data/default/t")) {
            loads.extend(dirs_in(&rest, &region.join(".bulk")));
        }
        let Some(dir) = loads.first() else { return };
        found += 1;
        let files = [dir.join("notes.txt"), dir.join("a/mine"), dir.join("photos/a.jpg")];
        for file in &files {
            rest.create_dir_all(file.parent().expect("a directory")).expect("room");
            rest.create(file).and_then(|mut file| file.write_all(b"mine")).expect("room");
        }
        let connection = open(rest.clone()).unwrap_or_else(|error| panic!("{cut}: {error}"));
        has_load(&connection, ["c", "d", "e"], "finished");
        has_load(&connection, ["x", "y", "z"], "finished");
        assert!(!rest.exists(dir).expect("an answer"), "{cut}");
        let moved: Vec<_> = connection.file_notes();
        assert_eq!(moved.iter().filter(|note| note.path == *dir).count(), 1, "{cut}: {moved:?}");
        let to = moved[0].what.strip_prefix("moved to ").and_then(|what| what.split(',').next());
        for file in &files {
            let kept = Path::new(to.expect("where")).join(file.strip_prefix(dir).expect("below"));
            assert_eq!(rest.read(&kept).expect("it is there"), b"mine", "{cut}");
        }
        connection.close().expect("nothing fails");
        let report = check(&rest.after_kill());
        assert!(report.defects.is_empty(), "{cut}: {:?}", report.defects);
    });
    assert!(found > 3, "cuts behind a commit: {found}");
}

fn dirs_in(fs: &CrashFileSystem, dir: &Path) -> Vec<PathBuf> {
    let entries = fs.list_dir(dir).unwrap_or_default();
    entries.iter().filter(|entry| entry.is_dir).map(|entry| dir.join(&entry.name)).collect()
}

/// Each operation of a load fails once, and the process continues: a region has the load or does
/// not, and if that is unknown, it accepts no more writes.
#[test]
fn a_failure_at_any_operation_leaves_a_regions_load_whole_or_away() {
    let operations = [
        Operation::Create,
        Operation::Write,
        Operation::Sync,
        Operation::SyncDir,
        Operation::Rename,
        Operation::Remove,
    ];
    let (mut refused, mut stopped) = (0, 0);
    for operation in operations {
        for nth in 0.. {
            let context = format!("{operation:?} {nth}");
            let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
            let connection = open(fs.clone()).expect("an empty store");
            create(&connection, &["m"]).expect("a new table");
            for family in FAMILIES {
                let cells = ["c", "d", "x"].map(|row| put_cell(row, family, "q", 1, "new"));
                write_file(&fs, &in_folder(family, "00"), &cells);
                let cells = ["y", "e"].map(|row| put_cell(row, family, "q", 1, "new"));
                write_file(&fs, &in_folder(family, "01"), &cells);
            }
            for row in ["c", "x"] {
                let put = Put::new(row).add_at("a", "q", 1, "old");
                connection.table("t").and_then(|t| t.put(&put)).expect("the table takes it");
            }
            let before = fs.count(operation);
            fs.inject(Fault::on(operation).nth(nth));
            let loaded = load(&connection);
            let is_over = fs.count(operation) - before <= nth && loaded.is_ok();
            fs.heal();
            let is_stopped = loaded.as_ref().is_err_and(|e| e.kind() == ErrorKind::Closed);
            (refused, stopped) =
                (refused + u64::from(loaded.is_err()), stopped + u64::from(is_stopped));
            if !is_stopped {
                for rows in [["c", "d", "e"], ["x", "y", "y"]] {
                    let is_there = has_load(&connection, rows, &context);
                    assert!(is_there || loaded.is_err(), "{context}: {rows:?}");
                }
                load(&connection).unwrap_or_else(|error| panic!("{context}: again: {error}"));
            }
            drop(connection);
            let connection = open(fs).unwrap_or_else(|error| panic!("{context}: {error}"));
            for rows in [["c", "d", "e"], ["x", "y", "y"]] {
                let is_there = has_load(&connection, rows, &context);
                assert!(is_there || is_stopped, "{context}: {rows:?}, opened again");
            }
            load(&connection).unwrap_or_else(|error| panic!("{context}: again: {error}"));
            if is_over {
                break;
            }
        }
    }
    assert!(refused > 50 && stopped > 0, "{refused} refused, of them {stopped} of unknown end");
}

/// A check of what a crash left reports no defect, even if an open still has work to finish.
#[test]
fn what_a_crash_leaves_of_a_load_is_no_defect() {
    let mut unfinished = 0;
    let work = |connection: Connection| drop(load(&connection));
    cuts::at_every_operation(1, prepared, work, |fs, (), cut| {
        let report = check(&fs.after_kill());
        assert!(report.defects.is_empty(), "{cut}: {:?}", report.defects);
        let is_load = |note: &hblite::Finding| note.to_string().contains("an open finishes");
        unfinished += usize::from(report.notes.iter().any(is_load));
    });
    assert!(unfinished > 0, "some cuts fall between commit and end");
}
