//! Messages as HBase's shell prints them: as JSON, read into Ruby's hashes.
//!
//! Numbers of 64 bits are texts, bytes are in base64, and enumerations have their names. Threads:
//! any.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;

use crate::pb;
use crate::tree::{Reading, Tree, Value};

/// The states of a procedure, which begin with 1.
const PROCEDURE: &[&str] = &[
    "",
    "INITIALIZING",
    "RUNNABLE",
    "WAITING",
    "WAITING_TIMEOUT",
    "ROLLEDBACK",
    "SUCCESS",
    "FAILED",
];
/// The states of a request to a server, which begin with 1.
const REMOTE: &[&str] = &[
    "",
    "SERVER_REMOTE_PROCEDURE_DISPATCH",
    "SERVER_REMOTE_PROCEDURE_DISPATCH_FAIL",
    "SERVER_REMOTE_PROCEDURE_REPORT_SUCCEED",
    "SERVER_REMOTE_PROCEDURE_REPORT_FAILED",
    "SERVER_REMOTE_PROCEDURE_SERVER_CRASH",
];
const REGION_REMOTE: &[&str] = &[
    "",
    "REGION_REMOTE_PROCEDURE_DISPATCH",
    "REGION_REMOTE_PROCEDURE_REPORT_SUCCEED",
    "REGION_REMOTE_PROCEDURE_DISPATCH_FAIL",
    "REGION_REMOTE_PROCEDURE_SERVER_CRASH",
];
const TRANSITION: &[&str] =
    &["", "REGION_TRANSITION_QUEUE", "REGION_TRANSITION_DISPATCH", "REGION_TRANSITION_FINISH"];
const TRANSITION_CODE: &[&str] = &[
    "OPENED",
    "FAILED_OPEN",
    "CLOSED",
    "READY_TO_SPLIT",
    "READY_TO_MERGE",
    "",
    "",
    "SPLIT",
    "MERGED",
    "SPLIT_REVERTED",
    "MERGE_REVERTED",
];
const PEER: &[&str] =
    &["", "ADD_PEER", "REMOVE_PEER", "ENABLE_PEER", "DISABLE_PEER", "UPDATE_PEER_CONFIG"];
const RESOURCE: &[&str] = &["", "SERVER", "NAMESPACE", "TABLE", "REGION", "PEER"];

/// The names of an enumeration by number, and the field that holds it. A message without a name is
/// any other.
const ENUMERATIONS: [(&str, &str, &[&str]); 13] = [
    ("Procedure", "state", PROCEDURE),
    ("LockedResource", "resource_type", RESOURCE),
    ("LockedResource", "lock_type", &["", "EXCLUSIVE", "SHARED"]),
    ("SnapshotDescription", "type", &["DISABLED", "FLUSH", "SKIPFLUSH"]),
    ("AssignRegionStateData", "transition_state", TRANSITION),
    ("UnassignRegionStateData", "transition_state", TRANSITION),
    ("RefreshPeerStateData", "type", PEER),
    ("RefreshPeerParameter", "type", PEER),
    ("RegionStateTransitionStateData", "type", &["", "ASSIGN", "UNASSIGN", "MOVE", "REOPEN"]),
    ("RegionRemoteProcedureBaseStateData", "state", REGION_REMOTE),
    ("RegionRemoteProcedureBaseStateData", "transition_code", TRANSITION_CODE),
    ("StateMachineProcedureData", "state", &[]),
    ("", "state", REMOTE),
];

/// A message of this type, such as `Procedure`.
pub fn to_ruby(message_type: &str, message: Bytes) -> String {
    Tree::parse(message_type, message).map_or_else(|| "{}".to_owned(), |tree| hash(&tree))
}

/// A message that another one carries with its type. One that is not known is an empty hash.
pub fn any_to_ruby(message: &pb::AnyMessage) -> String {
    let value = message.value.clone().unwrap_or_default();
    let name = message.type_url.as_deref().and_then(|url| url.rsplit(['/', '.']).next());
    match name {
        Some("BytesValue") => {
            let content = Tree::parse("", value);
            let bytes = content.as_ref().and_then(|tree| tree.fields.first());
            match bytes.map(|field| &field.value) {
                Some(Value::Bytes(bytes)) => format!("{{\"value\"=>{}}}", base64(bytes)),
                _ => "{\"value\"=>\"\"}".to_owned(),
            }
        }
        name => to_ruby(name.unwrap_or_default(), value),
    }
}

fn base64(bytes: &[u8]) -> String {
    format!("\"{}\"", BASE64_STANDARD.encode(bytes))
}

fn hash(tree: &Tree) -> String {
    let mut pairs: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    for field in &tree.fields {
        let number = field.number;
        let Some(name) = tree.field_name(number).filter(|_| !seen.contains(&number)) else {
            continue;
        };
        seen.push(number);
        let all = tree.fields.iter().filter(|one| one.number == number);
        let mut values: Vec<String> = all.map(|one| text(tree, number, name, &one.value)).collect();
        let value = match tree.is_repeated(number) {
            true => format!("[{}]", values.join(", ")),
            false => values.pop().unwrap_or_default(),
        };
        pairs.push(format!("\"{}\"=>{value}", camel(name)));
    }
    format!("{{{}}}", pairs.join(", "))
}

fn text(tree: &Tree, number: u32, name: &str, value: &Value) -> String {
    let quoted = |shown: String| match tree.is_wide(number) {
        true => format!("\"{shown}\""),
        false => shown,
    };
    match (value, tree.reading(number)) {
        (Value::Message(inner), _) if inner.message_type() == "AnyMessage" => {
            any_to_ruby(&pb::AnyMessage {
                type_url: inner.bytes("type_url").map(|url| String::from_utf8_lossy(url).into()),
                value: inner.bytes("value").cloned(),
            })
        }
        (Value::Message(inner), _) => hash(inner),
        (Value::Bytes(bytes), Some(Reading::Text)) => {
            format!("{:?}", String::from_utf8_lossy(bytes))
        }
        (Value::Bytes(bytes), _) => base64(bytes),
        (Value::Varint(number), Some(Reading::Bool)) => (*number != 0).to_string(),
        (Value::Varint(number), reading) => match enumeration(tree.message_type(), name) {
            Some(names) if !names.is_empty() => {
                let found = usize::try_from(*number).ok().and_then(|at| names.get(at));
                found.map_or_else(|| number.to_string(), |name| format!("\"{name}\""))
            }
            _ if reading == Some(Reading::Signed) => quoted(number.cast_signed().to_string()),
            _ => quoted(number.to_string()),
        },
        (Value::Fixed64(number), Some(Reading::Float)) => f64::from_bits(*number).to_string(),
        (Value::Fixed64(number), _) => quoted(number.to_string()),
        (Value::Fixed32(number), _) => number.to_string(),
    }
}

fn enumeration(message: &str, field: &str) -> Option<&'static [&'static str]> {
    let is_it =
        |(of, name, _): &&(&str, &str, _)| *name == field && (*of == message || of.is_empty());
    ENUMERATIONS.iter().find(is_it).map(|(_, _, names)| *names)
}

/// The name in JSON: `region_info` is `regionInfo`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;

    #[test]
    fn a_procedure_is_a_hash() {
        let any = |name: &str, message: Vec<u8>| pb::AnyMessage {
            type_url: Some(format!("type.googleapis.com/hbase.pb.{name}")),
            value: Some(message.into()),
        };
        let region = pb::RegionInfo {
            region_id: 1_795_902_808_228,
            table_name: pb::TableName { namespace: "n".into(), qualifier: "t".into() },
            start_key: Some(Bytes::new()),
            end_key: None,
            offline: Some(false),
            split: None,
            replica_id: Some(0),
        };
        let parameters = pb::TruncateTableStateData {
            preserve_splits: Some(true),
            region_info: vec![region],
            ..pb::TruncateTableStateData::default()
        };
        let procedure = pb::Procedure {
            class_name: "a.B".to_owned(),
            proc_id: 7,
            submitted_time: 8,
            state: 2,
            last_update: 9,
            state_message: vec![
                any("StateMachineProcedureData", vec![0x08, 1, 0x08, 2]),
                any("TruncateTableStateData", parameters.encode_to_vec()),
                any("RefreshPeerStateData", vec![0x10, 3]),
                any("NoSuchData", vec![]),
                any("BytesValue", vec![0x0a, 1, b'x']),
            ],
            locked: Some(true),
            ..pb::Procedure::default()
        };
        let expected = [
            r#"{"className"=>"a.B", "procId"=>"7", "submittedTime"=>"8", "state"=>"RUNNABLE", "#,
            r#""lastUpdate"=>"9", "stateMessage"=>[{"state"=>[1, 2]}, {"preserveSplits"=>true, "#,
            r#""regionInfo"=>[{"regionId"=>"1795902808228", "tableName"=>{"namespace"=>"bg==", "#,
            r#""qualifier"=>"dA=="}, "startKey"=>"", "offline"=>false, "replicaId"=>0}]}, "#,
            r#"{"type"=>"ENABLE_PEER"}, {}, {"value"=>"eA=="}], "locked"=>true}"#,
        ]
        .concat();
        assert_eq!(to_ruby("Procedure", procedure.encode_to_vec().into()), expected);
    }
}
