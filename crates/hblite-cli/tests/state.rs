//! `hblite checkpoint`, `rewind`, `fork` and `clock` against a running `hblite serve`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{ErrorKind, Read as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use crate::served::Served;
use serde_json::Value;

fn hblite(port_file: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.args(arguments).arg("--port-file").arg(port_file).output().unwrap()
}

fn answer(port_file: &Path, arguments: &[&str]) -> Value {
    let output = hblite(port_file, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn complaint(port_file: &Path, arguments: &[&str]) -> String {
    let output = hblite(port_file, arguments);
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A connection to a port. It tells that its server ended: another one may have the port then.
fn connected(port: &Value) -> TcpStream {
    let port = u16::try_from(port.as_u64().unwrap()).unwrap();
    TcpStream::connect(("127.0.0.1", port)).unwrap()
}

fn is_ended(mut connection: TcpStream) -> bool {
    connection.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let end = connection.read(&mut [0]);
    end.map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |length| length == 0)
}

#[test]
fn state_is_controlled_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let ports = dir.path().join("ports");
    let file = ports.to_str().unwrap();
    let server = Served::start(&["--memory", "--clock", "manual", "--port-file", file]);

    assert_eq!(answer(&ports, &["checkpoint", "base"])["name"], "base");
    assert_eq!(answer(&ports, &["checkpoint"])["checkpoints"][0], "base");
    assert_eq!(answer(&ports, &["rewind", "base"])["name"], "base");
    let unknown = complaint(&ports, &["rewind", "no"]);
    assert!(unknown.contains("there is no checkpoint \"no\""), "{unknown}");
    let unknown = complaint(&ports, &["fork", "no"]);
    assert!(unknown.contains("there is no checkpoint \"no\""), "{unknown}");

    let fork = answer(&ports, &["fork", "base"]);
    let [rpc, zookeeper] = ["rpc_port", "zookeeper_port"].map(|port| connected(&fork[port]));
    let id = fork["id"].to_string();
    assert_eq!(answer(&ports, &["fork"])["forks"][0], fork);
    answer(&ports, &["fork", "--close", &id]);
    assert!(is_ended(rpc) && is_ended(zookeeper));
    let other = answer(&ports, &["fork", "base"]);

    let before = answer(&ports, &["clock"]);
    assert_eq!(before["mode"], "manual");
    let after = answer(&ports, &["clock", "advance", "1d"]);
    assert_eq!(
        after["now_ms"].as_i64().unwrap(),
        before["now_ms"].as_i64().unwrap() + 24 * 60 * 60 * 1000
    );
    assert_eq!(answer(&ports, &["clock", "set", "1000"])["now_ms"], 1000);
    assert_eq!(answer(&ports, &["clock", "real"])["mode"], "real");
    assert!(complaint(&ports, &["clock", "set", "1000"]).contains("serve --clock manual"));
    assert!(complaint(&ports, &["clock", "advance", "soon"]).contains("is not a duration"));

    answer(&ports, &["checkpoint", "base", "--delete"]);
    let rpc = connected(&other["rpc_port"]);
    // The forks end with the process.
    drop(server);
    assert!(is_ended(rpc));
}

fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_hblite")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Serves with these arguments until the server is ready, ends it with a signal, and returns its
/// standard error.
fn serve_once(arguments: &[&str]) -> (bool, String) {
    let (status, said) = Served::start(arguments).end("-TERM");
    (status == Some(0), said)
}

#[test]
fn a_server_begins_with_a_seed_and_leaves_an_export() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (store, snapshots) = (path("store"), path("snapshots"));
    let make = "create 's', 'f'; put 's', 'r', 'f:q', 'of the store'; snapshot 's', 'snap'";
    for command in make.split("; ") {
        run(&["shell", "--dir", &store, "-c", command]);
    }
    run(&["snapshot", "export", "snap", &snapshots, "--dir", &store]);
    let (script, lines) = (path("more.hbase"), path("users.jsonl"));
    std::fs::write(&script, "create 'x', 'f'\nput 'x', 'r', 'f:q', 'of the script'\n").unwrap();
    let row = r#"{"row":"u1","cells":[{"column":"info:name","timestamp":7,"value":"Ada"}]}"#;
    std::fs::write(&lines, format!("{row}\n")).unwrap();

    let scans = |store: &str, tables: &[&str]| -> String {
        let scan = |table: &&str| {
            run(&["shell", "--dir", store, "--read-only", "-c", &format!("scan '{table}'")])
        };
        tables.iter().map(scan).collect()
    };
    let all = path("all");
    let seeds = ["--memory", "--seed", &store, "--seed", &script, "--seed", &lines];
    let (ended, said) = serve_once(&[&seeds[..], &["--export-on-exit", &all]].concat());
    assert!(ended, "{said}");
    let text = scans(&all, &["s", "x", "users"]);
    for value in ["of the store", "of the script", "Ada"] {
        assert!(text.contains(value), "{text}");
    }
    assert!(!scans(&store, &["s"]).contains("of the script"));

    for kind in ["--memory", "--dir"] {
        let (served, copy) = (path(&format!("served{kind}")), path(&format!("copy{kind}")));
        let place = if kind == "--dir" { vec!["--dir", &served] } else { vec!["--memory"] };
        let more = ["--seed", &snapshots, "--export-on-exit", &copy];
        let (ended, said) = serve_once(&[&place[..], &more].concat());
        assert!(ended, "{said}");
        assert!(scans(&copy, &["s"]).contains("of the store"));
    }

    // Errors are reported before the ports are open.
    let (ended, said) = serve_once(&["--memory", "--seed", &path("nothing")]);
    assert!(!ended && said.contains("nothing"), "{said}");
    let (ended, said) = serve_once(&["--memory", "--seed", dir.path().to_str().unwrap()]);
    assert!(!ended && said.contains("neither a store nor exported snapshots"), "{said}");
    let (ended, said) = serve_once(&["--memory", "--export-on-exit", &all]);
    assert!(!ended && said.contains("is not an empty directory"), "{said}");
    std::fs::write(&script, "create 'x', 'f'\nput 'no', 'r', 'f:q', 'v'\n").unwrap();
    let (ended, said) = serve_once(&["--memory", "--seed", &script]);
    assert!(!ended && said.contains("line 2"), "{said}");
    // An existing store is not seeded again.
    let (ended, said) = serve_once(&["--dir", &store, "--seed", &lines]);
    assert!(ended && said.contains("--seed is ignored"), "{said}");
}
