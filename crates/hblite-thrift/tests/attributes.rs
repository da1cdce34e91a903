//! Goal: the attribute `_ttl` of a mutation limits how long its cells live, through both services.
//! Method: a clock that is set by hand; the cells are read just before and just after their end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::TcpStream;
use std::sync::Arc;

use crate::support::{Notation, ask};
use hblite::{ColumnFamilyDescriptor, ManualClock, Options, TableDescriptor};
use hblite_thrift::{ThriftGateway, ThriftOptions};

/// 2,000 ms, and a number that has too few bytes.
const TTL: &str = r#"("_ttl":"\x00\x00\x00\x00\x00\x00\x07\xd0")"#;
const NO_TTL: &str = r#"("_ttl":"\x00" "other":"")"#;

struct Tested {
    clock: Arc<ManualClock>,
    one: TcpStream,
    two: TcpStream,
    _gateway: ThriftGateway,
}

impl Tested {
    fn start() -> Self {
        let clock = Arc::new(ManualClock::new(1_000_000));
        let connection = Options::new().with_clock(clock.clone()).open_in_memory().unwrap();
        let family = ColumnFamilyDescriptor::new("f");
        let table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
        connection.admin().create_table(&table).unwrap();
        let options = ThriftOptions::default().with_thrift_port(0).with_thrift2_port(0);
        let gateway = ThriftGateway::start(&connection, options).unwrap();
        let ports = gateway.ports();
        let connect = |port: Option<u16>| TcpStream::connect(("127.0.0.1", port.unwrap())).unwrap();
        Self { one: connect(ports.thrift), two: connect(ports.thrift2), clock, _gateway: gateway }
    }

    fn columns(&mut self) -> String {
        let arguments = Notation::new("1:\"t\" 2:{1:\"r\"}").fields();
        let (_, row) = ask(&mut self.two, "get", &arguments).unwrap();
        let row = row.to_string();
        ["put", "no", "one", "many", "sum", "text"]
            .into_iter()
            .filter(|column| row.contains(&format!("2:\"{column}\"")))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

#[test]
fn cells_live_as_long_as_the_attribute_says() {
    let mut tested = Tested::start();
    let call = |stream: &mut TcpStream, method: &str, arguments: String| {
        let (kind, answer) = ask(stream, method, &Notation::new(&arguments).fields()).unwrap();
        assert!(kind == 2 && !answer.to_string().starts_with("{1:"), "{method}: {answer}");
    };
    let put = |column: &str, attributes: &str| {
        format!("1:\"t\" 2:{{1:\"r\" 2:[{{1:\"f\" 2:\"{column}\" 3:\"v\"}}] 5:{attributes}}}")
    };
    call(&mut tested.two, "put", put("put", TTL));
    call(&mut tested.two, "put", put("no", NO_TTL));
    let increment = format!("1:\"t\" 2:{{1:\"r\" 2:[{{1:\"f\" 2:\"sum\" 3:5l}}] 4:{TTL}}}");
    call(&mut tested.two, "increment", increment);
    let append = format!("1:\"t\" 2:{{1:\"r\" 2:[{{1:\"f\" 2:\"text\" 3:\"v\"}}] 3:{TTL}}}");
    call(&mut tested.two, "append", append);
    let mutation = |column: &str| format!("[{{2:\"f:{column}\" 3:\"v\"}}]");
    let one = format!("1:\"t\" 2:\"r\" 3:{} 4:{TTL}", mutation("one"));
    call(&mut tested.one, "mutateRow", one);
    let many = format!("1:\"t\" 2:[{{1:\"r\" 2:{}}}] 3:{TTL}", mutation("many"));
    call(&mut tested.one, "mutateRows", many);
    assert_eq!(tested.columns(), "put no one many sum text");
    tested.clock.advance(1_990);
    assert_eq!(tested.columns(), "put no one many sum text");
    tested.clock.advance(20);
    assert_eq!(tested.columns(), "no");
}
