//! Stores on file systems that refuse what others do, and processes with limits. What needs the
//! right to mount is skipped without it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const HBLITE: &str = env!("CARGO_BIN_EXE_hblite");

fn sh(dir: &Path, script: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-euc", script]).env("HBLITE", HBLITE).current_dir(dir).output().unwrap()
}

fn ok(dir: &Path, script: &str) -> String {
    let output = sh(dir, script);
    let [out, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{script}\n{out}\n{error}");
    out.into_owned()
}

/// A store with three tables and a snapshot, in `store`.
fn store() -> TempDir {
    let dir = TempDir::new().unwrap();
    let script = "
        for table in t u v; do
            echo \"create '$table', 'f'\"
            for row in 1 2 3 4 5 6; do echo \"put '$table', 'r$row', 'f:q', 'v'\"; done
            echo \"flush '$table'\"
        done >commands
        echo \"snapshot 't', 's'\" >>commands
        $HBLITE shell --dir store commands >out
        ";
    ok(dir.path(), script);
    dir
}

/// Runs a script in a mount namespace of its own, or says why that is not possible.
fn mounted(dir: &Path, mount: &str, script: &str) {
    let allowed = sh(dir, &format!("unshare -m sh -euc '{mount}'"));
    if !allowed.status.success() {
        println!("skipped: {}", String::from_utf8_lossy(&allowed.stderr));
        return;
    }
    std::fs::write(dir.join("script"), format!("{mount}\n{script}")).unwrap();
    ok(dir, "unshare -m sh -eu script");
}

const CHANGES: &str = "
    run() { $HBLITE shell --dir \"$STORE\" -c \"$1\" >>out 2>&1 || { cat out >&2; exit 1; }; }
    run \"disable 't'; drop 't'\"
    run \"list\"
    run \"disable 'v'; truncate 'v'\"
    run \"split 'u', 'r3'\"
    run \"major_compact 'u'\"
    run \"delete_snapshot 's'\"
    run \"create 't', 'f'; put 't', 'a', 'f:q', 'v'\"
    $HBLITE check \"$STORE\" >checked || { cat checked >&2; exit 1; }
    test \"$($HBLITE digest \"$STORE\" | grep -c 'rows 6, cells 6')\" = 1
    test \"$(find \"$STORE\" -path '*-moved/*' -type f | wc -l)\" = 0
    ";

/// A layer of an image: nothing in it can be renamed, except files.
#[test]
fn a_store_in_a_lower_layer_is_changed_and_opened() {
    let dir = store();
    let mount = "
        mkdir -p layers && mount -t tmpfs none layers && cd layers && mkdir upper work merged
        mount -t overlay overlay -o lowerdir=..,upperdir=upper,workdir=work merged
        cd merged";
    mounted(dir.path(), mount, &format!("STORE=store\n{CHANGES}"));
}

/// The directory of a table, and `data`, on file systems of their own.
#[test]
fn a_store_with_mount_points_is_changed_and_opened() {
    for (place, added) in [("data/default/t", ""), ("data", "mkdir store/data/lost+found")] {
        let dir = store();
        let mount = format!(
            "rm -rf aside && cp -a store/{place} aside && mount -t tmpfs none store/{place}
            cp -a aside/. store/{place}
            {added}"
        );
        mounted(dir.path(), &mount, &format!("STORE=store\n{CHANGES}"));
    }
}

#[test]
fn a_pipe_in_place_of_a_file_is_named() {
    let dir = store();
    ok(dir.path(), "rm store/hbase.id && mkfifo store/hbase.id");
    for command in ["check store", "shell --dir store -c list", "backup store copy"] {
        let output = sh(dir.path(), &format!("timeout 60 $HBLITE {command} 2>&1"));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_ne!(output.status.code(), Some(124), "{command}: it waits");
        assert!(
            !output.status.success() && text.contains("hbase.id is a pipe"),
            "{command}: {text}"
        );
    }
}

#[test]
fn a_result_that_cannot_be_printed_is_a_failure() {
    let dir = store();
    for command in ["check store", "check --json store", "digest store"] {
        let output = sh(dir.path(), &format!("$HBLITE {command} >/dev/full"));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{command}: {error}");
        assert!(error.contains("cannot write to standard output"), "{command}: {error}");
    }
}

/// `ulimit -f` counts blocks of 512 bytes.
#[test]
fn the_limit_on_the_size_of_files_is_an_error() {
    let dir = store();
    let script = "
        head -c 300000 /dev/zero | tr '\\0' x >value
        echo \"put 't', 'large', 'f:q', '$(cat value)'\" >commands
        ulimit -f 200
        $HBLITE shell --dir store commands 2>&1";
    let output = sh(dir.path(), script);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && text.contains("too large"), "{output:?}");
    ok(dir.path(), "$HBLITE check store && $HBLITE shell --dir store -c \"get 't', 'r1'\"");
}

#[test]
fn a_digest_needs_no_lock_and_writes_nothing() {
    let dir = store();
    let script = "
        find store -type f | xargs cksum | sort >before
        $HBLITE digest store >digests
        find store -type f | xargs cksum | sort | cmp - before";
    ok(dir.path(), script);
}
