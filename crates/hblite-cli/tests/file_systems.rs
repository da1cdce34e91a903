//! Stores on file systems that refuse what others do, and processes with limits. What needs the
//! right to mount is skipped without it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const HBLITE: &str = env!("CARGO_BIN_EXE_hblite");

fn sh(dir: &Path, script: &str) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-euc", script]).env("HBLITE", HBLITE).current_dir(dir).output().unwrap()
}

pub(crate) fn ok(dir: &Path, script: &str) -> String {
    let output = sh(dir, script);
    let [out, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{script}\n{out}\n{error}");
    out.into_owned()
}

/// A store with three tables and a snapshot, in `store`.
pub(crate) fn store() -> TempDir {
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

/// The table that fills the disk is dropped, also after a kill, and its space is used.
#[test]
fn a_table_is_dropped_on_a_full_disk() {
    let dir = TempDir::new().unwrap();
    let mount = "mkdir -p disk && mount -t tmpfs -o size=6m none disk";
    let script = "
        run() { $HBLITE shell --dir disk/store \"$@\" 2>&1; }
        { echo \"create 't', 'f'; create 'kept', 'f'; put 'kept', 'a', 'f:q', 'v'\"
          value=$(head -c 20000 /dev/zero | tr '\\0' x)
          for row in $(seq 400); do echo \"put 't', 'r$row', 'f:q', '$value'\"; done
        } >commands
        # However the command ends, the disk is full after it.
        run commands >out || true
        cat /dev/zero >disk/rest 2>/dev/null || true
        run -c \"count 'kept'\" >out || true
        grep -q '^1 row' out || { cat out; exit 1; }
        run -c \"disable 't'; drop 't'; put 'kept', 'b', 'f:q', 'v'\" >out || { cat out; exit 1; }
        run -c \"list; count 'kept'\" >out || { cat out; exit 1; }
        grep -q '^2 row' out || { cat out; exit 1; }
        $HBLITE check disk/store
        test $(du -sk disk/store | cut -f1) -lt 2000";
    mounted(dir.path(), mount, script);
}

/// A user whose threads and processes are those of one test: other tests, and those of another
/// run, have others. A container may have no more than 65,536 users.
pub(crate) fn own_user(number: u32) -> u32 {
    10_000 + std::process::id() % 12_500 * 4 + number
}

/// What runs a program as a user whose threads and processes are counted.
pub(crate) fn user(id: u32) -> [String; 4] {
    let (user, group) = (format!("--reuid={id}"), format!("--regid={id}"));
    ["setpriv".to_owned(), user, group, "--clear-groups".to_owned()]
}

/// Brings a directory, and in it the program `hblite`, within the reach of a user. False, and says
/// why, if that is not possible.
pub(crate) fn give_to_user(dir: &Path, id: u32) -> bool {
    let [setpriv, arguments @ ..] = user(id);
    let script = format!(
        "cp \"$HBLITE\" hblite && chmod 755 . hblite && chown -R {id} .
        {setpriv} {} ./hblite --version",
        arguments.join(" ")
    );
    let allowed = sh(dir, &script);
    if !allowed.status.success() {
        println!("skipped: {}", String::from_utf8_lossy(&allowed.stderr));
    }
    allowed.status.success()
}

/// Runs a script as a user whose threads and processes are counted, or says why not.
fn as_user(dir: &Path, script: &str) {
    std::fs::write(dir.join("script"), script).unwrap();
    let id = own_user(0);
    if give_to_user(dir, id) {
        ok(dir, &format!("HBLITE=./hblite {} sh -eu script", user(id).join(" ")));
    }
}

#[test]
fn without_threads_every_command_works_or_names_the_limit() {
    let dir = store();
    let script = "
        printf 'HBASE_ROW_KEY\\tf:q\\nx\\ty\\n' >rows.tsv
        for limit in 3 4 5 6 7 8 10 12; do
            for command in 'digest store' 'check store' \"backup store copy$limit\" \
                'shell --dir store -c list' 'import --header --dir store t rows.tsv' \
                'serve --dir store --zookeeper-port 0 --rpc-port 0 --rest-port 0'; do
                status=0
                # A server that starts gets a signal, and ends.
                timeout -k 20 4 prlimit --nproc=$limit $HBLITE $command >out 2>&1 </dev/null \
                    || status=$?
                if grep -q panicked out || test $status = 137; then
                    echo \"$limit: $command: $status\"; cat out; exit 1
                fi
                if test $status != 0 && test $status != 124 && ! grep -q 'ulimit -u' out; then
                    echo \"$limit: $command: $status\"; cat out; exit 1
                fi
            done
            $HBLITE check store >out || { cat out; exit 1; }
        done";
    as_user(dir.path(), script);
}

/// A store has more files than the process may have open, which the commands do not map.
#[test]
fn a_store_of_many_files_opens_and_closes_with_few_descriptors() {
    let dir = TempDir::new().unwrap();
    let script = "
        splits=$(for at in $(seq 100 398); do printf \"'%s',\" $at; done)
        rows() { for at in $(seq 100 399); do echo \"put 't', '$at', 'f:q', '$1'\"; done; }
        { echo \"create 't', 'f', SPLITS => [${splits%,}]\"; rows one; } >first
        rows two >second
        rows three >third
        ulimit -n 256
        for commands in first second third; do
            $HBLITE shell --dir store $commands >out 2>&1 || { cat out; exit 1; }
        done
        for command in 'digest store' 'check store' 'backup store copy' \
            \"shell --dir copy -c count('t')\" \"shell --dir store -c major_compact('t')\"; do
            $HBLITE $command >out 2>&1 || { echo \"$command\"; cat out; exit 1; }
        done
        $HBLITE shell --dir store -c \"count 't'\" >out 2>&1
        grep -q '^300 row' out || { cat out; exit 1; }
        for command in 'digest store' 'shell --dir store -c list'; do
            if prlimit --nofile=8 $HBLITE $command >out 2>&1; then continue; fi
            grep -q 'ulimit -n' out || { echo \"$command\"; cat out; exit 1; }
        done
        grep -q 'ulimit -n' out || { cat out; exit 1; }";
    ok(dir.path(), script);
}

/// Idle connections leave half of the descriptors to the store.
#[test]
fn idle_connections_do_not_take_the_descriptors_of_the_store() {
    let dir = store();
    let script = "ulimit -n 128; exec $HBLITE serve --dir store --zookeeper-port 0 --rpc-port 0 \
        --port-file ports >/dev/null";
    let mut command = Command::new("sh");
    let command = command.args(["-euc", script]).env("HBLITE", HBLITE).current_dir(dir.path());
    let mut server = command.spawn().unwrap();
    let begin = Instant::now();
    let ports = loop {
        let ports = std::fs::read_to_string(dir.path().join("ports")).unwrap_or_default();
        if ports.ends_with('\n') {
            break ports;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "the server starts");
        std::thread::sleep(Duration::from_millis(20));
    };
    let port = |name: &str| -> u16 {
        let rest = ports.split(&format!("\"{name}\":")).nth(1).unwrap();
        rest.split([',', '}']).next().unwrap().parse().unwrap()
    };
    let mut idle = Vec::new();
    for port in [port("rpc_port"), port("zookeeper_port"), port("http_port")] {
        for _ in 0..100 {
            idle.extend(TcpStream::connect(("127.0.0.1", port)));
        }
    }
    assert!(idle.len() > 128, "{}", idle.len());
    // All were accepted once this one is answered.
    let mut asked = TcpStream::connect(("127.0.0.1", port("http_port"))).unwrap();
    asked.write_all(b"GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = [0; 8];
    asked.read_exact(&mut answer).unwrap();
    let fds = std::fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(fds < 110, "{fds} descriptors are taken of 128");
}

/// `ulimit -v` counts KiB. The store's sizes fit into what there is.
#[test]
fn a_small_address_space_is_enough_for_much_data() {
    let dir = TempDir::new().unwrap();
    let script = "
        value=$(head -c 5000 /dev/zero | tr '\\0' x)
        awk -v value=$value 'BEGIN {
            print \"HBASE_ROW_KEY\\tf:q\"
            for (row = 0; row < 30000; row++) print row \"\\t\" value
        }' >rows.tsv
        ulimit -v 200000
        $HBLITE import --header --dir store t rows.tsv >out 2>&1 || { cat out; exit 1; }
        $HBLITE digest store >out 2>&1 || { cat out; exit 1; }
        grep -q 'rows 30000' out || { cat out; exit 1; }
        $HBLITE check store";
    ok(dir.path(), script);
}
