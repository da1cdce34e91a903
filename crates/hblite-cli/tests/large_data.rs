//! A large cell and a large row are named in every way of watching a server.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Command;

use hblite::{ColumnFamilyDescriptor, Put, TableDescriptor};
use serde_json::{Value, json};

use crate::served::Served;

const CELL: usize = 3 << 19;

fn watched(url: &str, more: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.args(["hotspot", "watch", url, "--table", "t", "--every", "1", "--windows", "1"]);
    let output = command.args(more).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn large_data_is_named_however_it_is_watched() {
    let served = Served::start(&["--memory"]);
    let connection = hblite::connect(&served.url()).unwrap();
    let table = TableDescriptor::new("t".parse().unwrap());
    let table = table.with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&table).unwrap();
    let table = connection.table("t").unwrap();
    table.put(&Put::new("cell").add("f", "q", vec![7; CELL])).unwrap();
    for column in 0..20 {
        let put = Put::new("row").add("f", format!("q{column}"), vec![7; 900_000]);
        table.put(&put).unwrap();
    }
    connection.admin().flush_table("t").unwrap();
    let port = served.port("http_port");
    let ask = |path: &str| -> Value {
        let mut answer = ureq::get(format!("http://127.0.0.1:{port}/{path}")).call().unwrap();
        answer.body_mut().read_json().unwrap()
    };
    let cell_bytes = CELL as u64 + 4 + 8 + (2 + 4 + 1 + 1 + 1 + 9);
    let is_right = |large: &Value| {
        assert_eq!(large.as_array().unwrap().len(), 2, "{large}");
        let (row, cell) = (&large[0], &large[1]);
        assert_eq!((&row["row"], &cell["row"]), (&json!("row"), &json!("cell")));
        assert_eq!(cell["bytes"], cell_bytes, "{large}");
        let bytes = row["bytes"].as_u64().unwrap();
        assert!(bytes <= 20 * 900_100 && bytes > 17 * 900_000, "{large}");
    };
    is_right(&ask("status")["large"]);
    // The console reads the rows of requests from now on.
    ask("console/api/heat?table=t");
    let texts = [
        "A cell of t is large: row \"cell\", column f:q, 1.5 MiB.",
        "A row of t is large: \"row\"",
    ];
    let http = format!("http://127.0.0.1:{port}/status");
    for url in [&http, &served.url()] {
        let text = watched(url, &[]);
        assert!(texts.iter().all(|wanted| text.contains(wanted)), "{url}: {text}");
        let document: Value = serde_json::from_str(&watched(url, &["--json"])).unwrap();
        is_right(&document["tables"][0]["large"]);
    }
    is_right(&ask("hot?table=t")["tables"][0]["large"]);
    let found = ask("console/api/heat?table=t")["findings"].to_string().replace('\\', "");
    assert!(texts.iter().all(|wanted| found.contains(wanted)), "{found}");
}
