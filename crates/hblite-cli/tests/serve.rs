//! `hblite serve` as scripts use it: ready line, port file, signals, errors.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

use crate::served::{Served, command};
use serde_json::Value;

/// The cluster's id, as a client asks for it first.
fn cluster_id(served: &Served) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", served.port("rpc_port"))).expect("open");
    stream.write_all(b"Regist").expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    String::from_utf8_lossy(&answer[answer.len() - 36..]).into_owned()
}

/// The exit status after a signal.
fn status_after(signal: &str, served: Served) -> Option<i32> {
    served.end(signal).0
}

fn arguments(dir: &Path) -> Vec<&str> {
    let dir = dir.to_str().expect("UTF-8");
    vec!["--dir", dir]
}

#[test]
fn the_ready_line_names_ports_that_are_open() {
    let dir = tempfile::tempdir().unwrap();
    let port_file = dir.path().join("ports");
    let store = dir.path().join("store");
    let mut arguments = arguments(&store);
    arguments.extend(["--region-servers", "2", "--port-file", port_file.to_str().unwrap()]);
    let served = Served::start(&arguments);
    assert_eq!(served.ready["ready"], true);
    let written: Value = serde_json::from_slice(&fs::read(&port_file).unwrap()).unwrap();
    assert_eq!(written, served.ready);
    let region_servers = served.ready["region_server_ports"].as_array().unwrap().clone();
    assert_eq!(region_servers.len(), 2);
    for port in region_servers.iter().chain([&served.ready["zookeeper_port"]]) {
        let port = u16::try_from(port.as_u64().unwrap()).unwrap();
        TcpStream::connect(("127.0.0.1", port)).unwrap();
    }
    assert_eq!(status_after("-TERM", served), Some(0));
}

#[test]
fn a_store_is_the_same_cluster_when_it_is_served_again() {
    let dir = tempfile::tempdir().unwrap();
    let first = Served::start(&arguments(dir.path()));
    let id = cluster_id(&first);
    assert_eq!(status_after("-TERM", first), Some(0));
    let second = Served::start(&arguments(dir.path()));
    assert_eq!(cluster_id(&second), id);
    assert_eq!(status_after("-INT", second), Some(0));
}

/// Starts a server on free ports, with a pipe on its standard input.
fn serve_with_input(options: &[&str]) -> (Served, ChildStdin) {
    let mut arguments = vec!["--memory", "--rpc-port", "0", "--zookeeper-port", "0"];
    arguments.extend(options);
    let mut child = command(&arguments).stdin(Stdio::piped()).spawn().expect("it starts");
    let input = child.stdin.take().expect("piped");
    (Served::of(child), input)
}

#[test]
fn with_that_option_a_server_ends_with_its_input() {
    let (mut served, input) = serve_with_input(&["--exit-with-parent"]);
    drop(input);
    assert_eq!(served.child.wait().unwrap().code(), Some(0));
}

#[test]
fn without_it_a_server_outlives_its_input() {
    let (served, input) = serve_with_input(&[]);
    drop(input);
    assert_eq!(cluster_id(&served).len(), 36);
    assert_eq!(status_after("-TERM", served), Some(0));
}

#[test]
fn no_server_is_left_when_its_parent_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    // The shell holds the writing end of the server's input until it is killed.
    let script = r#"mkfifo input
        "$0" serve --memory --rpc-port 0 --zookeeper-port 0 --exit-with-parent <input &
        exec 3>input
        read -r never"#;
    let mut parent = Command::new("sh");
    parent.args(["-c", script, env!("CARGO_BIN_EXE_hblite")]).current_dir(dir.path());
    parent.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = parent.spawn().expect("sh");
    let _input = child.stdin.take();
    let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // The server has the same standard output, which closes with the last process that has it.
    stdout.read_line(&mut line).unwrap();
    let port = u16::try_from(ready["rpc_port"].as_u64().unwrap()).unwrap();
    TcpStream::connect(("127.0.0.1", port)).unwrap_err();
}

#[test]
fn what_cannot_be_served_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let first = Served::start(&arguments(&dir.path().join("a")));
    let port = first.port("rpc_port").to_string();
    let text = |arguments: &[&str]| {
        let output = command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let taken = text(&["--memory", "--rpc-port", &port, "--zookeeper-port", "0"]);
    assert!(taken.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{taken}");
    let unknown = text(&["--memory", "-D", "hbase.nothing=1"]);
    assert!(unknown.contains("hbase.nothing is not a setting of hblite"), "{unknown}");
    let bad = text(&["--memory", "-D", "hbase.table.sanity.checks=perhaps"]);
    assert!(bad.contains("perhaps is not a value of hbase.table.sanity.checks"), "{bad}");
    let none = text(&["--memory", "-D", "hbase.regionserver.handler.count=0"]);
    assert!(none.contains("handlers from 1 to 10,000 does not hold"), "{none}");
    let store = dir.path().join("a");
    let open =
        text(&[&arguments(&store)[..], &["--rpc-port", "0", "--zookeeper-port", "0"]].concat());
    assert!(open.contains("hblite: "), "{open}");
    let many =
        text(&["--memory", "--rpc-port", "0", "--zookeeper-port", "0", "--region-servers", "0"]);
    assert!(many.contains("there can be 1 to 100 region servers, not 0"), "{many}");
}

/// The commands of HBase's shell end it as a signal does, and see that it was done.
#[test]
fn a_clients_stop_ends_the_server_cleanly() {
    for command in ["stop_master", "stop_regionserver '127.0.0.1:PORT'"] {
        let dir = tempfile::tempdir().unwrap();
        let mut served = Served::start(&arguments(dir.path()));
        let port = served.ready["region_server_ports"][0].to_string();
        let (url, command) = (served.url(), command.replace("PORT", &port));
        let filled = ["create 't', 'f'", "put 't', 'r', 'f:q', 'v'", &command];
        let mut shell = Command::new(env!("CARGO_BIN_EXE_hblite"));
        shell.args(["shell", "--connect", &url]);
        let said = shell.args(filled.iter().flat_map(|line| ["-c", line])).output().unwrap();
        assert!(said.status.success(), "{command}: {}", String::from_utf8_lossy(&said.stderr));
        // Nothing else ends it.
        assert_eq!(served.child.wait().unwrap().code(), Some(0), "{command}");
        let mut shell = Command::new(env!("CARGO_BIN_EXE_hblite"));
        shell.args(["shell", "-c", "count 't'"]).args(arguments(dir.path()));
        let said = shell.output().unwrap();
        assert!(String::from_utf8_lossy(&said.stdout).contains("1 row(s)"), "{said:?}");
        assert_eq!(said.stderr, b"", "it was closed");
    }
}
