//! Goal: arguments that HBase's client or master does not take end as they do in HBase. Method:
//! a cell over the limit through each method that writes, and patterns over names.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::net::TcpStream;

use hblite::{ColumnFamilyDescriptor, Options, TableDescriptor};
use hblite_thrift::{ThriftGateway, ThriftOptions};

use crate::support::{Notation, ask};

struct Tested {
    one: TcpStream,
    two: TcpStream,
    _gateway: ThriftGateway,
}

impl Tested {
    fn start() -> Self {
        let engine = Options::new().with_cell_size_max_bytes(1000);
        let connection = engine.open_in_memory().unwrap();
        for name in ["t", "u"] {
            let family = ColumnFamilyDescriptor::new("f");
            let table = TableDescriptor::new(name.parse().unwrap()).with_family(family);
            connection.admin().create_table(&table).unwrap();
        }
        let options = ThriftOptions::default().with_thrift_port(0).with_thrift2_port(0);
        let gateway = ThriftGateway::start(&connection, options).unwrap();
        let ports = gateway.ports();
        let connect = |port: Option<u16>| TcpStream::connect(("127.0.0.1", port.unwrap())).unwrap();
        Self { one: connect(ports.thrift), two: connect(ports.thrift2), _gateway: gateway }
    }
}

fn call(stream: &mut TcpStream, method: &str, arguments: &str) -> String {
    let (_, answer) = ask(stream, method, &Notation::new(arguments).fields()).unwrap();
    answer.to_string()
}

#[test]
fn a_cell_over_the_limit_is_an_argument_that_thrift_1_declares() {
    let mut tested = Tested::start();
    let large = "v".repeat(2000);
    let mutation = format!(r#"{{1:false 2:"f:q" 3:"{large}" 4:true}}"#);
    let rows =
        format!(r#"[{{1:"a" 2:[{{1:false 2:"f:q" 3:"v" 4:true}}]}} {{1:"r" 2:[{mutation}]}}]"#);
    for (method, arguments) in [
        ("mutateRow", format!(r#"1:"t" 2:"r" 3:[{mutation}]"#)),
        ("mutateRowTs", format!(r#"1:"t" 2:"r" 3:[{mutation}] 4:5l"#)),
        ("mutateRows", format!(r#"1:"t" 2:{rows}"#)),
        ("mutateRowsTs", format!(r#"1:"t" 2:{rows} 3:5l"#)),
        ("checkAndPut", format!(r#"1:"t" 2:"r" 3:"f:q" 6:{mutation}"#)),
    ] {
        let answer = call(&mut tested.one, method, &arguments);
        let message = "java.lang.IllegalArgumentException: KeyValue size too large";
        assert_eq!(answer, format!(r#"{{2:{{1:"{message}"}}}}"#), "{method}");
    }
    // Nothing of the batch was written.
    assert_eq!(call(&mut tested.one, "getRow", r#"1:"t" 2:"a""#), "{0:[]}");
    // Thrift 2 does not declare it.
    let put = format!(r#"{{1:"r" 2:[{{1:"f" 2:"q" 3:"{large}"}}]}}"#);
    for (method, arguments) in
        [("put", format!(r#"1:"t" 2:{put}"#)), ("putMultiple", format!(r#"1:"t" 2:[{put}]"#))]
    {
        let answer = call(&mut tested.two, method, &arguments);
        assert_eq!(answer, format!(r#"{{1:"Internal error processing {method}" 2:6}}"#));
    }
}

#[test]
fn an_empty_pattern_matches_no_table() {
    let mut tested = Tested::start();
    let mut names = |arguments: &str| call(&mut tested.two, "getTableNamesByPattern", arguments);
    assert_eq!(names(r#"1:"" 2:false"#), "{0:[]}");
    assert_eq!(names(r#"1:"default:t" 2:false"#), r#"{0:[{1:"default" 2:"t"}]}"#);
    let answer = call(&mut tested.two, "getTableDescriptorsByPattern", r#"1:"" 2:false"#);
    assert_eq!(answer, "{0:[]}");
    // An empty list of names means all, as for HBase's master.
    let all = call(&mut tested.two, "getTableDescriptors", "1:[]");
    assert!(all.contains(r#"2:"t""#) && all.contains(r#"2:"u""#), "{all}");
}
