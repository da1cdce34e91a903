//! `hblite console` of a cluster.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::served::Served;
use serde_json::Value;

/// Longer than a page waits, and much shorter than the twenty minutes of HBase's clients.
const PATIENCE: Duration = Duration::from_secs(60);

fn overview(console: &Served) -> (u16, Value) {
    let config = ureq::Agent::config_builder().proxy(None).http_status_as_error(false);
    let agent = ureq::Agent::from(config.timeout_global(Some(PATIENCE)).build());
    let url = format!("http://127.0.0.1:{}/console/api/overview", console.port("http_port"));
    let mut answer = agent.get(url).call().expect("an answer in time");
    (answer.status().as_u16(), answer.body_mut().read_json().unwrap())
}

#[test]
fn a_page_does_not_wait_long_for_a_cluster_that_has_ended() {
    let cluster = Served::start(&["--memory"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.args(["console", &cluster.url()]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let console = Served::of(command.spawn().unwrap());
    let (status, answer) = overview(&console);
    assert_eq!((status, &answer["mode"]), (200, &Value::from("cluster")), "{answer}");
    cluster.end("-KILL");
    let (status, answer) = overview(&console);
    let message = answer["error"].as_str().unwrap_or_default();
    assert!(status == 502 && message.contains("127.0.0.1"), "{status}: {answer}");
}
