//! `hblite copy --key-from --key-to` and `hblite digest --key` from outside.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_server::{ServerOptions, TestServer};

use crate::command;

/// Standard output and errors, and the exit status.
fn outcome(arguments: &[&str]) -> (String, i32) {
    let output = command::hblite(arguments.iter().copied(), "");
    let errors = String::from_utf8_lossy(&output.stderr);
    let shown = String::from_utf8_lossy(&output.stdout);
    (format!("{shown}{errors}"), output.status.code().unwrap())
}

const BY_TIME: &str = "ts:timestamp|host:str";
const BY_HOST: &str = "salt(4, host)|host:str|ts:reverse_timestamp";
/// Of the first row.
const TIME: i64 = 0x0000_015d_3447_0800;
const SCRIPT: &str = "\
create 'log', 'd'
put 'log', \"\\x00\\x00\\x01]4G\\x08\\x00web1\", 'd:level', 'INFO', 1
put 'log', \"\\x00\\x00\\x01]4G\\x08\\x01web2\", 'd:level', 'WARN', 2
put 'log', \"\\x00\\x00\\x01]4G\\x08\\x02web1\", 'd:level', 'INFO', 3
";

#[test]
fn a_table_moves_to_another_key_in_a_store_and_in_a_cluster() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("a").to_str().unwrap().to_owned();
    let output = command::hblite(["shell", "--dir", &dir], SCRIPT);
    assert!(output.status.success(), "{output:?}");
    let server = TestServer::start_with(hblite::Options::new(), ServerOptions::on_free_ports());
    let server = server.unwrap();
    let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
    let state = root.path().join("state").to_str().unwrap().to_owned();
    let keys = ["--key-from", BY_TIME, "--key-to", BY_HOST];
    for (place, name) in [(&dir, "by_host"), (&url, "log")] {
        let copy = ["copy", &dir, place, "--table", "log", "--to-table", name];
        let (text, status) = outcome(&[&copy[..], &keys].concat());
        assert_eq!(status, 0, "{text}");
        assert!(text.contains(": rows 3, cells 3, "), "{text}");
        let digest = |place: &str, table: &str, key: &str| {
            let (text, status) = outcome(&["digest", place, "--table", table, "--key", key]);
            assert_eq!(status, 0, "{text}");
            text.replacen(table, "TABLE", 1)
        };
        assert_eq!(digest(&dir, "log", BY_TIME), digest(place, name, BY_HOST));
    }
    let by_host = hblite::connect(&url).unwrap().table("log").unwrap();
    assert_eq!(by_host.regions().unwrap().len(), 4, "one for each salt");
    let rows = by_host.scan(&hblite::Scan::new()).unwrap();
    let rows: Vec<Vec<u8>> = rows.map(|row| row.unwrap().row().to_vec()).collect();
    let end = |ts: i64| (i64::MAX - ts).to_be_bytes();
    let ends: Vec<&[u8]> = rows.iter().map(|row| &row[1..]).collect();
    let row = |host: &str, ts| [host.as_bytes(), &[0], &end(ts)].concat();
    let mut expected = vec![row("web1", TIME + 2), row("web1", TIME)];
    expected.push(row("web2", TIME + 1));
    let mut sorted = ends.clone();
    sorted.sort();
    assert_eq!(sorted, expected);
    let refused = |more: &[&str]| {
        let copy = ["copy", &dir, &url, "--table", "log", "--to-table", "other"];
        let (text, status) = outcome(&[&copy[..], more].concat());
        assert_eq!(status, 1, "{text}");
        text
    };
    let lost = refused(&["--key-from", BY_TIME, "--key-to", "host:str"]);
    assert!(lost.contains("host:str has no field ts"), "{lost}");
    let wrong = refused(&["--key-from", BY_TIME, "--key-to", "host:str|ts:tim"]);
    assert!(wrong.contains("ts:tim"), "{wrong}");
    let bad = refused(&["--key-from", "host:str|ts:timestamp", "--key-to", BY_TIME]);
    assert!(bad.contains(r"row \x00\x00\x01]4G\x08\x00web1: "), "{bad}");
    let resumed = [&keys[..], &["--resume", &state]].concat();
    let copy = ["copy", &dir, &url, "--table", "log", "--to-table", "third"];
    assert_eq!(outcome(&[&copy[..], &resumed].concat()).1, 0);
    let (text, status) = outcome(&[&copy[..], &resumed].concat());
    assert_eq!((text.as_str(), status), ("third: was copied before\n", 0));
    let (text, status) = outcome(&[&copy[..], &["--resume", &state]].concat());
    assert_eq!(status, 1);
    assert!(text.contains("belongs to a copy with other keys"), "{text}");
}
