//! A recording of calls, and messages as trees.

use bytes::Bytes;
use hblite_wire::recording::{Line, Reader, to_json};
use hblite_wire::tree::{Tree, messages_of};

pub(crate) fn run(data: &[u8]) {
    let mut reader = Reader::new(data);
    while let Ok(Some(line)) = reader.next_line() {
        let text = line.to_text();
        assert_eq!(Line::parse(&text).as_ref(), Ok(&line), "{text}");
        if let Line::Call(call) = line {
            let (request, response) = messages_of("ClientService", &call.method);
            tree(&request, call.request_bytes);
            tree(&response, call.response_bytes.unwrap_or_default());
        }
    }
    for name in ["MultiRequest", "ScanResponse", "GetClusterStatusResponse", "unknown"] {
        tree(name, Bytes::copy_from_slice(data));
    }
}

fn tree(name: &str, message: Bytes) {
    let Some(tree) = Tree::parse(name, message) else { return };
    assert!(to_json(&tree).is_object());
    let encoded = tree.encode();
    let again = Tree::parse(name, encoded.clone()).expect("what was encoded is a message");
    assert_eq!(again.encode(), encoded);
}
