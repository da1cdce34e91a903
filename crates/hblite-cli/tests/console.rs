//! `hblite console` of a cluster, and what `hblite serve` keeps for the console.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::command::hblite;
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

/// What a server recorded is shown by the next one, and by a console of the directory.
#[test]
fn the_heat_of_a_server_is_there_after_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("store");
    let path = dir.to_str().unwrap();
    let created = hblite(
        ["shell", "--dir", path],
        "create 't', 'f'\n(1..40).each { |n| put 't', n, 'f:q', 1 }\n",
    );
    assert!(created.status.success());
    let heat = |server: &Served| -> f64 {
        let port = server.port("http_port");
        let url = format!("http://127.0.0.1:{port}/console/api/heat?table=t&metric=writes");
        let mut answer = ureq::get(url).call().unwrap();
        let heat: Value = answer.body_mut().read_json().unwrap();
        let columns = heat["counts"].as_array().unwrap().iter();
        let counts = columns.flat_map(|column| column.as_array().unwrap());
        counts.map(|count| count.as_f64().unwrap()).sum::<f64>().round()
    };
    let server = Served::start(&["--dir", path]);
    let puts = "(1..70).each { |n| put 't', n, 'f:q', 2 }\n";
    assert!(hblite(["shell", "--connect", &server.url()], puts).status.success());
    assert_eq!(server.end("-TERM").0, Some(0));
    let server = Served::start(&["--dir", path]);
    assert_eq!(heat(&server), 70.0, "of the first server");
    // Nothing happened since: the file stays as it is.
    assert_eq!(server.end("-KILL").0, None);
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.args(["console", "--read-only", path]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let console = Served::of(command.spawn().unwrap());
    assert_eq!(heat(&console), 70.0);
    console.end("-TERM");
    std::fs::write(dir.join("hblite.history"), "not a history").unwrap();
    let server = Served::start(&["--dir", path]);
    assert_eq!(heat(&server), 0.0);
    let (status, errors) = server.end("-TERM");
    assert_eq!(status, Some(0));
    assert!(errors.contains("hblite.history") && errors.contains("ignored"), "{errors}");
}
