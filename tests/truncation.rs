//! Goal: a store file that someone truncates while the store is open causes an error with its name,
//! and the process continues, except for reads of a mapped file, as documented. The same exception
//! holds for single writes to the log.
//!
//! Method: the test starts itself as a child for each way of reading, with files mapped and not.
//! The child reads in a loop, and another of its threads truncates the file after the first read.
//! The outcome is what ends the loop, and how the child ends.

mod testkit;

use std::fs::{self, OpenOptions};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hblite::{
    ColumnFamilyDescriptor, Connection, Error, Get, Options, Put, Result, Scan, TableDescriptor,
};
use hblite_env::StdFileSystem;

use testkit::{name, store_files};

const CHILD_DIR: &str = "HBLITE_TRUNCATION_CHILD_DIR";
const CHILD_ACTION: &str = "HBLITE_TRUNCATION_CHILD_ACTION";
const CHILD_MAPPED: &str = "HBLITE_TRUNCATION_CHILD_MAPPED";
const SIGBUS: i32 = 7;
const ROWS: u32 = 3_000;
/// The log is mapped on file systems that overwrite in place only, and after some writes.
const PUTS: u32 = 500;
const TIMEOUT: Duration = Duration::from_secs(60);

/// Writing, one row at a time.
const PUT: &str = "put";
/// Reading for a client, and copying.
const READS: [&str; 3] = ["get", "scan", "reverse-scan"];
const COPIES: [&str; 5] = ["compact", "backup", "snapshot", "clone", "scrub"];

fn main() -> ExitCode {
    let outcome = match std::env::var_os(CHILD_DIR) {
        Some(dir) => child(Path::new(&dir)).map_err(|error| error.to_string()),
        None => parent(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("truncation test: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parent() -> std::result::Result<(), String> {
    let unmapped = READS.into_iter().chain(COPIES).chain(["scan-uncached", "compact-all-along"]);
    for action in unmapped {
        expect_error(&run(action, false), action)?;
    }
    for action in COPIES {
        expect_error(&run(action, true), action)?;
    }
    for action in READS {
        let output = run(action, true);
        if output.status.signal() != Some(SIGBUS) {
            return Err(format!("mapped {action}: {}, not SIGBUS", describe(&output)));
        }
    }
    let (mapped, unmapped) = (run(PUT, true), run(PUT, false));
    if !unmapped.status.success() {
        return Err(format!("unmapped {PUT}: {}", describe(&unmapped)));
    }
    // A temporary directory may be on a file system where the log is not mapped.
    if mapped.status.signal() != Some(SIGBUS) && !mapped.status.success() {
        return Err(format!("mapped {PUT}: {}, not SIGBUS", describe(&mapped)));
    }
    println!("truncation test: passed; {PUT}, mapped: {}", mapped.status);
    Ok(())
}

fn run(action: &str, is_mapped: bool) -> Output {
    let dir = tempfile::tempdir().expect("a directory");
    Command::new(std::env::current_exe().expect("this program"))
        .env(CHILD_DIR, dir.path())
        .env(CHILD_ACTION, action)
        .env(CHILD_MAPPED, is_mapped.to_string())
        .output()
        .expect("a child")
}

fn expect_error(output: &Output, action: &str) -> std::result::Result<(), String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let is_named = text.contains("damaged file named") && text.contains("still alive");
    match output.status.success() && is_named {
        true => Ok(()),
        false => Err(format!("{action}: {}", describe(output))),
    }
}

fn describe(output: &Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{}, {out} {err}", output.status)
}

/// Opens a store, truncates files of table `t` while it is read, and reads the others afterwards.
fn child(dir: &Path) -> Result<()> {
    let action = std::env::var(CHILD_ACTION).expect("set by the parent");
    let are_files_mapped = std::env::var(CHILD_MAPPED).is_ok_and(|mapped| mapped == "true");
    let engine = Options::new()
        .with_compaction_enabled(false)
        .with_files_mapped(are_files_mapped)
        // Nothing is served from memory.
        .with_block_cache_size_bytes(0);
    let connection = engine.open(dir.join("store"))?;
    for table in ["t", "other"] {
        create(&connection, table)?;
    }
    if action == PUT {
        return put_into_a_log_cut_off(&connection, dir);
    }
    connection.admin().snapshot("s", name("t"), &hblite::SnapshotOptions::default())?;
    let (has_begun, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let error = std::thread::scope(|scope| {
        let truncating = scope.spawn(|| {
            while !has_begun.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            loop {
                truncate(dir);
                if action != "compact-all-along" || is_over.load(Ordering::SeqCst) {
                    break;
                }
            }
        });
        // The thread waits for both, however this ends.
        let ends = [testkit::SetOnDrop(&is_over), testkit::SetOnDrop(&has_begun)];
        let error = repeat(&connection, &action, dir, &has_begun);
        drop(ends);
        truncating.join().expect("it does not panic");
        error
    })?;
    let file = error.file().unwrap_or_else(|| panic!("{error} names no file"));
    assert!(error.message().contains("short") || error.message().contains("bytes"), "{error}");
    println!("damaged file named: {}", file.display());
    let rows = connection.table("other")?.scan(&Scan::new())?.map(|row| row.map(drop));
    assert_eq!(rows.collect::<Result<Vec<_>>>()?.len(), ROWS as usize);
    println!("still alive");
    connection.close()
}

/// Cuts the log to nothing between single puts. If it is not mapped, writes continue.
fn put_into_a_log_cut_off(connection: &Connection, dir: &Path) -> Result<()> {
    let table = connection.table("t")?;
    let put = |row: u32| table.put(&Put::new(format!("{row:06}")).add("f", "q", "v"));
    (0..PUTS).try_for_each(put)?;
    let log = testkit::files_below(&StdFileSystem, &dir.join("store/WALs")).pop().expect("a log");
    let file = OpenOptions::new().write(true).open(log).expect("the log can be opened");
    file.set_len(0).expect("a shorter file");
    (0..PUTS).try_for_each(put)?;
    let read = Options::new().with_read_only(true).open(dir.join("store"));
    let error = read.expect_err("a kill now would leave a damaged log");
    assert_eq!(error.kind(), hblite::ErrorKind::Corrupt, "{error}");
    println!("still alive");
    Ok(())
}

fn create(connection: &Connection, table: &str) -> Result<()> {
    let family = ColumnFamilyDescriptor::new("f").with_block_size(4096);
    connection.admin().create_table(&TableDescriptor::new(name(table)).with_family(family))?;
    write(connection, table)
}

fn write(connection: &Connection, table: &str) -> Result<()> {
    let handle = connection.table(table)?;
    let puts: Vec<Put> =
        (0..ROWS).map(|row| Put::new(format!("{row:06}")).add("f", "q", vec![b'v'; 100])).collect();
    handle.put_all(&puts)?;
    connection.admin().flush_table(name(table))
}

/// Cuts the files of table `t` to nothing.
fn truncate(dir: &Path) {
    for file in store_files(&dir.join("store"), "t", "f") {
        // It may be gone by now.
        if let Ok(file) = OpenOptions::new().write(true).open(file) {
            file.set_len(0).expect("a shorter file");
        }
    }
}

/// Does the same until it fails; the first success starts the truncation.
fn repeat(
    connection: &Connection,
    action: &str,
    dir: &Path,
    has_begun: &AtomicBool,
) -> Result<Error> {
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT {
        if let Err(error) = once(connection, action, dir) {
            return Ok(error);
        }
        has_begun.store(true, Ordering::SeqCst);
    }
    Err(Error::illegal_argument(format!("{action}: no error within {TIMEOUT:?}")))
}

fn once(connection: &Connection, action: &str, dir: &Path) -> Result<()> {
    let (admin, table) = (connection.admin(), connection.table("t")?);
    let read = |scan: &Scan| table.scan(scan)?.try_for_each(|row| row.map(drop));
    match action {
        "get" => {
            let mut rows = (0..ROWS).step_by(97);
            rows.try_for_each(|row| table.get(&Get::new(format!("{row:06}"))).map(drop))
        }
        "scan" => read(&Scan::new()),
        "reverse-scan" => read(&Scan::new().with_reversed(true)),
        "scan-uncached" => read(&Scan::new().with_cache_blocks(false)),
        "compact" => {
            if store_files(&dir.join("store"), "t", "f")
                .iter()
                .any(|file| fs::metadata(file).is_ok_and(|f| f.len() == 0))
            {
                return admin.major_compact_table(table.name());
            }
            Ok(())
        }
        "compact-all-along" => {
            write(connection, "t")?;
            admin.major_compact_table(table.name())
        }
        "backup" => {
            let to = dir.join("copy");
            let _ = fs::remove_dir_all(&to);
            admin.backup(&to).map(drop)
        }
        "snapshot" => {
            admin.snapshot("another", table.name(), &hblite::SnapshotOptions::default())?;
            admin.delete_snapshot("another")
        }
        "clone" => {
            admin.clone_snapshot("s", name("clone"))?;
            admin.disable_table(name("clone"))?;
            admin.delete_table(name("clone"))
        }
        "scrub" => match admin.scrub()?.damaged.first() {
            None => Ok(()),
            Some(damaged) => Err(Error::corrupt(
                hblite::Exception::CorruptHFile,
                &damaged.file,
                damaged.offset.unwrap_or(0),
                &damaged.message,
            )),
        },
        _ => Err(Error::illegal_argument(format!("{action} is not an action"))),
    }
}
