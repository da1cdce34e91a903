//! Goal: of writes that follow one another, the last one wins through every way into a server:
//! the native client, both Thrift gateways, REST, and the shell on a store and on a server.
//!
//! Method: the random sequences of `hblite_reference::writes`, without pauses, on the clock of the
//! system. What is written through a gateway is read from the store behind it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../hblite-rest/tests/http/mod.rs"]
#[allow(dead_code, reason = "each test uses a part of the client")]
mod http;
#[path = "../../hblite-thrift/tests/support/mod.rs"]
#[allow(dead_code, reason = "each test uses a part of the client")]
mod thrift;

use std::fmt::Write as _;
use std::net::TcpStream;

use hblite::{ColumnFamilyDescriptor, Connection, TableDescriptor};
use hblite_reference::writes::{
    ONE, Row, VERSIONS, VERSIONS_MAX, Write, cells_of, get, newest, sequence,
};
use hblite_rest::{RestOptions, RestServer};
use hblite_server::TestServer;
use hblite_thrift::{ThriftGateway, ThriftOptions};

use self::thrift::{Value, ask};
use crate::command;

const SEQUENCES: u64 = 1_000;

fn create(connection: &Connection) {
    let versions = ColumnFamilyDescriptor::new(VERSIONS).with_versions(VERSIONS_MAX as u32);
    let table = TableDescriptor::new("t".parse().unwrap())
        .with_family(versions)
        .with_family(ColumnFamilyDescriptor::new(ONE));
    connection.admin().create_table(&table).unwrap();
}

/// Writes the sequences with `apply`, which skips writes that its way in does not have, and
/// compares the store's rows.
fn run_all(store: &Connection, mut apply: impl FnMut(&str, &Write) -> bool) {
    create(store);
    let table = store.table("t").unwrap();
    let mut applied = 0;
    for seed in 0..SEQUENCES {
        let (row, mut expected) = (format!("r{seed}"), Row::default());
        let mut writes = Vec::new();
        for write in sequence(seed) {
            if depends_on_skipped(&write, &expected) || !apply(&row, &write) {
                continue;
            }
            expected.apply(&write);
            writes.push(write);
            applied += 1;
            let found = cells_of(&table.get(&get(&row)).unwrap());
            assert_eq!(found, expected.cells(), "seed {seed}, after {writes:?}");
        }
    }
    assert!(applied > SEQUENCES, "{applied} writes");
}

/// Whether the condition of a write does not hold because others were skipped.
fn depends_on_skipped(write: &Write, row: &Row) -> bool {
    let Write::Checked((family, qualifier), value, _) = write else { return false };
    let column = format!("{family}:{qualifier}");
    let found = newest(row.cells()).into_iter().find(|(name, _)| *name == column);
    found.map(|(_, value)| value) != *value
}

#[test]
fn through_the_native_client() {
    let server = TestServer::start().unwrap();
    let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
    let client = hblite::connect(&url).unwrap();
    let mut table = None;
    run_all(server.connection(), |row, write| {
        let table = table.get_or_insert_with(|| client.table("t").unwrap());
        table.batch(&[write.action(row)]).unwrap().remove(0).unwrap();
        true
    });
}

fn text(text: impl AsRef<[u8]>) -> Value {
    Value::Bytes(text.as_ref().to_vec())
}

fn fields(values: impl IntoIterator<Item = Value>) -> Value {
    Value::Struct((1..).zip(values).collect())
}

fn call(stream: &mut TcpStream, method: &str, arguments: impl IntoIterator<Item = Value>) {
    let (kind, answer) = ask(stream, method, &fields(arguments)).unwrap();
    assert!(
        kind == 2
            && !matches!(&answer, Value::Struct(fields) if fields.iter().any(|(id, _)| *id > 0)),
        "{method}: {answer}"
    );
}

#[test]
fn through_thrift_1() {
    let store = hblite::open_in_memory().unwrap();
    let gateway =
        ThriftGateway::start(&store, ThriftOptions::default().with_thrift_port(0)).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", gateway.ports().thrift.unwrap())).unwrap();
    let column = |(family, qualifier): (&str, &str)| text(format!("{family}:{qualifier}"));
    let none = || Value::Map(Vec::new());
    run_all(&store, |row, write| {
        let (table, row) = (text("t"), text(row));
        match write {
            Write::Put(cells) => {
                let mutation = |((family, qualifier), value): &((&str, &str), Vec<u8>)| {
                    let value = text(value);
                    fields([Value::Bool(false), column((family, qualifier)), value])
                };
                let mutations = Value::List(cells.iter().map(mutation).collect());
                call(&mut stream, "mutateRow", [table, row, mutations, none()]);
            }
            Write::DeleteRow => call(&mut stream, "deleteAllRow", [table, row, none()]),
            Write::DeleteColumn(name) => {
                call(&mut stream, "deleteAll", [table, row, column(*name), none()]);
            }
            Write::Increment(cells) if cells.len() == 1 => {
                let amount = Value::I64(cells[0].1);
                call(&mut stream, "atomicIncrement", [table, row, column(cells[0].0), amount]);
            }
            _ => return false,
        }
        true
    });
}

#[test]
fn through_thrift_2() {
    let store = hblite::open_in_memory().unwrap();
    let gateway =
        ThriftGateway::start(&store, ThriftOptions::default().with_thrift2_port(0)).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", gateway.ports().thrift2.unwrap())).unwrap();
    let column = |(family, qualifier): (&str, &str)| [text(family), text(qualifier)];
    run_all(&store, |row, write| {
        let (table, row) = (text("t"), text(row));
        match write {
            Write::Put(cells) => {
                let cell = |(name, value): &((&str, &str), Vec<u8>)| {
                    fields(column(*name).into_iter().chain([text(value)]))
                };
                let cells = Value::List(cells.iter().map(cell).collect());
                call(&mut stream, "put", [table, fields([row, cells])]);
            }
            Write::DeleteRow => call(&mut stream, "deleteSingle", [table, fields([row])]),
            Write::DeleteColumn(name) => {
                let columns = Value::List(vec![fields(column(*name))]);
                call(&mut stream, "deleteSingle", [table, fields([row, columns])]);
            }
            Write::Increment(cells) => {
                let cell = |(name, amount): &((&str, &str), i64)| {
                    fields(column(*name).into_iter().chain([Value::I64(*amount)]))
                };
                let cells = Value::List(cells.iter().map(cell).collect());
                call(&mut stream, "increment", [table, fields([row, cells])]);
            }
            _ => return false,
        }
        true
    });
}

#[test]
fn through_rest() {
    let store = hblite::open_in_memory().unwrap();
    let server = RestServer::start(&store, RestOptions::default().with_port(0)).unwrap();
    let send = |method: &str, path: String, body: Option<&[u8]>| {
        let headers = [("Content-Type", "application/octet-stream")];
        let answer = http::send(server.port(), method, &path, &headers, body);
        assert_eq!(answer.status, 200, "{method} {path}");
    };
    run_all(&store, |row, write| {
        match write {
            Write::Put(cells) if cells.len() == 1 => {
                let ((family, qualifier), value) = &cells[0];
                send("PUT", format!("/t/{row}/{family}:{qualifier}"), Some(value));
            }
            Write::DeleteRow => send("DELETE", format!("/t/{row}"), None),
            Write::DeleteFamily(family) => send("DELETE", format!("/t/{row}/{family}"), None),
            Write::DeleteColumn((family, qualifier)) => {
                send("DELETE", format!("/t/{row}/{family}:{qualifier}"), None);
            }
            _ => return false,
        }
        true
    });
}

/// The sequences as a script of the shell, each followed by a get, and what the gets must print.
fn script() -> (String, Vec<String>) {
    let (mut script, mut expected) = (String::new(), Vec::new());
    for seed in 0..SEQUENCES {
        let (name, mut row) = (format!("r{seed}"), Row::default());
        for write in sequence(seed) {
            let is_text = |value: &[u8]| value.iter().all(u8::is_ascii_hexdigit);
            match &write {
                Write::Put(cells) if cells.iter().all(|(_, value)| is_text(value)) => {
                    for ((family, qualifier), value) in cells {
                        let value = String::from_utf8_lossy(value);
                        let _ = writeln!(
                            script,
                            "put 't', '{name}', '{family}:{qualifier}', '{value}'"
                        );
                    }
                }
                Write::DeleteRow => {
                    let _ = writeln!(script, "deleteall 't', '{name}'");
                }
                Write::DeleteColumn((family, qualifier)) => {
                    let _ = writeln!(script, "deleteall 't', '{name}', '{family}:{qualifier}'");
                }
                Write::DeleteVersion((family, qualifier)) => {
                    let _ = writeln!(script, "delete 't', '{name}', '{family}:{qualifier}'");
                }
                Write::Append(cells) if cells.len() == 1 => {
                    let ((family, qualifier), text) = cells[0];
                    let _ =
                        writeln!(script, "append 't', '{name}', '{family}:{qualifier}', '{text}'");
                }
                _ => continue,
            }
            row.apply(&write);
        }
        let _ = writeln!(script, "get 't', '{name}'");
        for (column, value) in newest(row.cells()) {
            expected.push(format!("{column} {}", String::from_utf8_lossy(&value)));
        }
        expected.push(format!("end of {seed}"));
    }
    (script, expected)
}

fn check_shell(arguments: &[&str]) {
    let (script, expected) = script();
    let create = format!("create 't', {{NAME => '{VERSIONS}', VERSIONS => 10}}, '{ONE}'\n");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("script");
    std::fs::write(&path, create + &script).unwrap();
    let arguments = arguments.iter().copied().chain(path.to_str());
    let output = command::hblite(arguments, "");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    let (mut found, mut gets) = (Vec::new(), 0);
    for line in printed.lines() {
        if let Some((column, value)) = line.split_once(" timestamp=") {
            let value = value.split_once("value=").map_or("", |(_, value)| value);
            found.push(format!("{} {value}", column.trim()));
        } else if line.contains("row(s)") {
            found.push(format!("end of {gets}"));
            gets += 1;
        }
    }
    let places = expected.iter().zip(&found);
    let wrong = places.take_while(|(expected, found)| expected == found).count();
    assert_eq!(expected.get(wrong), found.get(wrong), "line {wrong}");
}

#[test]
fn through_the_shell_on_a_store() {
    check_shell(&["shell", "--memory"]);
}

#[test]
fn through_the_shell_on_a_server() {
    let server = TestServer::start().unwrap();
    let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
    check_shell(&["shell", "--connect", &url]);
}
