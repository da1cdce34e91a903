//! Bytes of connections to the Thrift gateways: from the first byte on, and as the arguments of a
//! call.

use std::sync::LazyLock;

use hblite::{ColumnFamilyDescriptor, Connection, TableDescriptor};
use hblite_thrift::{ThriftVersion, answer_bytes};

const METHODS: [&str; 8] = [
    "getRow",
    "mutateRows",
    "scannerOpenWithScan",
    "scannerGetList",
    "get",
    "putMultiple",
    "getScannerResults",
    "checkAndMutate",
];

static STORE: LazyLock<Connection> = LazyLock::new(|| {
    let connection = hblite::open_in_memory().expect("memory");
    let family = ColumnFamilyDescriptor::new("f");
    let table = TableDescriptor::new("t".parse().expect("a name")).with_family(family);
    connection.admin().create_table(&table).expect("a table");
    connection
});

pub(crate) fn run(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    let version = if choice & 1 == 0 { ThriftVersion::One } else { ThriftVersion::Two };
    let mut sent = Vec::new();
    if choice & 2 != 0 {
        let method = METHODS[usize::from(choice >> 3) % METHODS.len()];
        match choice & 4 {
            0 => {
                sent.extend([0x80, 1, 0, 1, 0, 0, 0, method.len() as u8]);
                sent.extend(method.as_bytes());
                sent.extend([0, 0, 0, 7]);
            }
            _ => {
                sent.extend([0x82, 0x21, 7, method.len() as u8]);
                sent.extend(method.as_bytes());
            }
        }
    }
    sent.extend(bytes);
    let answer = answer_bytes(&STORE, version, &sent);
    let limit = 1024 + 200 * sent.len();
    assert!(answer.len() <= limit, "{} bytes for {}", answer.len(), sent.len());
}
