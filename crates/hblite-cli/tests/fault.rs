//! `hblite fault` against a running `hblite serve`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use crate::served::Served;
use serde_json::Value;

fn hblite() -> Command {
    Command::new(env!("CARGO_BIN_EXE_hblite"))
}

/// A server that is ready, with its port file.
fn serve(port_file: &Path, more: &[&str]) -> Served {
    let file = port_file.to_str().expect("UTF-8");
    let arguments = ["--memory", "--region-servers", "2", "--port-file", file];
    Served::start(&[&arguments[..], more].concat())
}

fn fault(port_file: &Path, arguments: &[&str]) -> Output {
    hblite()
        .arg("fault")
        .arg("--port-file")
        .arg(port_file)
        .args(arguments)
        .output()
        .expect("it works")
}

fn answer(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it works")
}

fn complaint(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn faults_are_set_and_cleared_and_servers_killed_from_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ports.json");
    let server = serve(&file, &[]);
    assert!(server.ready["http_port"].as_u64().is_some());
    let set = ["set", "--error", "RegionTooBusy", "--method", "Multi", "--rate", "0.5"];
    assert_eq!(answer(&fault(&file, &set))["id"], 1);
    let set = ["set", "--delay", "5-50", "--server", "1", "--server", "master", "--seed", "3"];
    assert_eq!(answer(&fault(&file, &set))["id"], 2);
    let listed = answer(&fault(&file, &["list"]));
    assert_eq!(listed[0]["fault"]["rate"], 0.5);
    assert_eq!(listed[1]["fault"]["delay_ms"][1], 50);
    assert_eq!(listed[1]["fault"]["servers"][1], "master");
    answer(&fault(&file, &["clear", "1"]));
    assert!(complaint(&fault(&file, &["clear", "1"])).contains("no fault has the number 1"));
    answer(&fault(&file, &["clear"]));
    answer(&fault(&file, &["crash", "1", "--reassign-after", "0"]));
    assert!(complaint(&fault(&file, &["crash", "1"])).contains("dead"));
    let status = answer(&fault(&file, &["status"]));
    assert_eq!(status["servers"][1]["is_alive"], false);
    answer(&fault(&file, &["restart", "1"]));
    assert!(complaint(&fault(&file, &["move", "nowhere", "1"])).contains("nowhere"));
    let unknown = complaint(&fault(&file, &["set", "--error", "Nope"]));
    assert!(unknown.contains("the known exceptions are"), "{unknown}");
}

#[test]
fn a_server_without_the_endpoint_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ports.json");
    let server = serve(&file, &["--no-http"]);
    assert_eq!(server.ready["http_port"], Value::Null);
    assert!(complaint(&fault(&file, &["list"])).contains("no admin endpoint"));
    let missing = dir.path().join("none.json");
    assert!(complaint(&fault(&missing, &["list"])).contains("none.json"));
}
