//! Goal: a gateway that only reads refuses every change of a row with HBase's message, still
//! answers reads, and takes changes again once it is switched back. Method: each call of Thrift 2
//! that changes a row, before and after the switch.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "each test uses a part of the client")]
use std::net::TcpStream;

use crate::support::{Notation, ask};
use hblite::{ColumnFamilyDescriptor, TableDescriptor};
use hblite_thrift::{ReadOnly, ThriftGateway, ThriftOptions};

const REFUSAL: &str = r#"{1:{1:"Thrift Server is in Read-only mode." 2:false}}"#;

#[test]
fn changes_are_refused_while_the_gateway_only_reads() {
    let connection = hblite::open_in_memory().unwrap();
    let family = ColumnFamilyDescriptor::new("f");
    let table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
    connection.admin().create_table(&table).unwrap();
    let switch = ReadOnly::from(true);
    let options = ThriftOptions::default().with_thrift2_port(0).with_read_only(switch.clone());
    let gateway = ThriftGateway::start(&connection, options).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", gateway.ports().thrift2.unwrap())).unwrap();
    let mut call = |method: &str, arguments: &str| {
        let (kind, answer) = ask(&mut stream, method, &Notation::new(arguments).fields()).unwrap();
        assert_eq!(kind, 2, "{method}: {answer}");
        answer.to_string()
    };
    let put = r#"{1:"r" 2:[{1:"f" 2:"q" 3:"v"}]}"#;
    let delete = r#"{1:"r"}"#;
    let mutations = format!(r#"{{1:"r" 2:[{{1:{put}}}]}}"#);
    let cell = r#"1:"t" 2:"r" 3:"f" 4:"q""#;
    let changes = [
        ("put", format!(r#"1:"t" 2:{put}"#)),
        ("putMultiple", format!(r#"1:"t" 2:[{put}]"#)),
        ("deleteSingle", format!(r#"1:"t" 2:{delete}"#)),
        ("deleteMultiple", format!(r#"1:"t" 2:[{delete}]"#)),
        ("checkAndPut", format!("{cell} 6:{put}")),
        ("checkAndDelete", format!("{cell} 6:{delete}")),
        ("checkAndMutate", format!(r#"{cell} 5:2 6:"v" 7:{mutations}"#)),
        ("mutateRow", format!(r#"1:"t" 2:{mutations}"#)),
        ("increment", r#"1:"t" 2:{1:"r" 2:[{1:"f" 2:"n" 3:1l}]}"#.to_owned()),
        ("append", r#"1:"t" 2:{1:"r" 2:[{1:"f" 2:"q" 3:"v"}]}"#.to_owned()),
    ];
    for (method, arguments) in &changes {
        assert_eq!(call(method, arguments), REFUSAL, "{method}");
    }
    assert_eq!(call("exists", &format!(r#"1:"t" 2:{delete}"#)), "{0:false}");
    switch.set(false);
    for (method, arguments) in &changes {
        assert!(!call(method, arguments).contains("Read-only"), "{method}");
    }
}
