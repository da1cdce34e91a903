//! The commands on a cluster: what they print is what they print on a directory.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod command;

use std::process::Output;

use hblite_server::{ServerOptions, TestServer};

fn hblite(arguments: &[&str], input: &str) -> Output {
    command::hblite(arguments.iter().copied(), input)
}

fn shown(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn cluster() -> (TestServer, String) {
    let options = ServerOptions::on_free_ports().with_region_servers(2);
    let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
    let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
    (server, url)
}

const SCRIPT: &str = "\
create 't', {NAME => 'f', VERSIONS => 3}, SPLITS => ['g', 'p']
put 't', 'a', 'f:q', 'one', 1
put 't', 'h', 'f:q', 'two', 2
put 't', 'z', 'f:q', 'three', 3
incr 't', 'a', 'f:n', 5
get_counter 't', 'a', 'f:n'
get 't', 'h'
scan 't', {COLUMNS => 'f:q', REVERSED => true, LIMIT => 2}
count 't'
deleteall 't', 'h'
scan 't', {COLUMNS => 'f:q', FILTER => \"ValueFilter(!=, 'binary:one')\"}
alter 't', NAME => 'g'
describe 't'
exists 't'
flush 't'
disable 't'
is_enabled 't'
enable 't'
list
create_namespace 'n'
list_namespace
drop_namespace 'n'
disable 't'
drop 't'
list
";

#[test]
fn the_shell_prints_the_same_on_a_cluster() {
    let (_server, url) = cluster();
    let local = shown(&hblite(&["shell", "--memory"], SCRIPT));
    let remote = shown(&hblite(&["shell", "--connect", &url], SCRIPT));
    assert!(local.contains("three"), "{local}");
    let lines = |shown: &str| -> Vec<String> {
        let lines = shown.lines().filter(|line| !line.starts_with("Took "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(lines(&remote), lines(&local));
}

#[test]
fn lines_are_imported_and_exported() {
    let (_server, url) = cluster();
    let lines = "u1,Ada,London\nu2,Grace,New York\n";
    let columns = "HBASE_ROW_KEY,info:name,info:city";
    let to = ["import", "users", "-", "--format", "csv", "--columns", columns, "--connect", &url];
    shown(&hblite(&to, lines));
    let from = ["export", "users", "-", "--format", "csv", "--columns", columns, "--connect", &url];
    assert_eq!(shown(&hblite(&from, "")), lines);
}

#[test]
fn a_cluster_that_is_not_there_is_named() {
    let url = "hbase+rpc://127.0.0.1:1?hbase.client.retries.number=1&hbase.client.pause=1";
    let output = hblite(&["shell", "--connect", url, "-c", "list"], "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("127.0.0.1:1"), "{errors}");
}
