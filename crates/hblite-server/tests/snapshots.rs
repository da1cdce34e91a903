//! Snapshots as clients of HBase take, list, restore, clone and delete them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::{Client, create_table, put, region, table_name};
use hblite::Get;
use hblite_server::TestServer;
use hblite_wire::pb;

fn snapshot(name: &str, table: &str) -> pb::SnapshotDescription {
    pb::SnapshotDescription {
        name: name.to_owned(),
        table: Some(table.to_owned()),
        ..pb::SnapshotDescription::default()
    }
}

fn write(server: &TestServer, region_name: &[u8], value: &str) {
    let request = pb::MutateRequest {
        region: region(region_name),
        mutation: put("r", "q", value),
        ..pb::MutateRequest::default()
    };
    Client::data(server).call("Mutate", &request).decode::<pb::MutateResponse>();
}

fn value(server: &TestServer, table: &str) -> Vec<u8> {
    let table = server.connection().table(table).unwrap();
    table.get(&Get::new("r")).unwrap().value("f", "q").unwrap().to_vec()
}

fn restore_request(name: &str, table: &str) -> pb::RestoreSnapshotRequest {
    pb::RestoreSnapshotRequest {
        snapshot: snapshot(name, table),
        nonce_group: Some(1),
        nonce: None,
        restore_acl: Some(true),
        custom_sft: None,
    }
}

fn request(name: &str, table: &str, nonce: Option<u64>) -> pb::SnapshotRequest {
    pb::SnapshotRequest { snapshot: snapshot(name, table), nonce_group: nonce, nonce }
}

fn list(master: &mut Client) -> Vec<pb::SnapshotDescription> {
    master
        .call("GetCompletedSnapshots", &pb::Empty {})
        .decode::<pb::SnapshotListResponse>()
        .snapshots
}

#[test]
fn a_snapshot_is_taken_told_cloned_restored_and_deleted() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    write(&server, &name, "before");
    let mut master = Client::master(&server);
    // With a nonce there is a procedure; a retry takes no second snapshot.
    let first = master.call("Snapshot", &request("s", "t", Some(5)));
    let first = first.decode::<pb::SnapshotResponse>();
    assert!(first.proc_id.is_some() && first.expected_timeout > 0);
    let again = master.call("Snapshot", &request("s", "t", Some(5)));
    assert_eq!(again.decode::<pb::SnapshotResponse>(), first);
    // Without one, as clients before 2.6 ask.
    let old = pb::SnapshotRequest {
        snapshot: pb::SnapshotDescription {
            ttl: Some(60),
            max_file_size: Some(1 << 30),
            r#type: Some(2),
            ..snapshot("old", "t")
        },
        nonce_group: None,
        nonce: None,
    };
    assert_eq!(master.call("Snapshot", &old).decode::<pb::SnapshotResponse>().proc_id, None);
    let done = pb::IsSnapshotDoneRequest { snapshot: Some(snapshot("old", "t")) };
    let done = master.call("IsSnapshotDone", &done).decode::<pb::IsSnapshotDoneResponse>();
    assert_eq!(done.done, Some(true));

    let all = list(&mut master);
    let told: Vec<_> = all
        .iter()
        .map(|one| (one.name.as_str(), one.r#type, one.version, one.ttl, one.max_file_size))
        .collect();
    let expected = [
        ("old", Some(2), Some(2), Some(60), Some(1 << 30)),
        ("s", Some(1), Some(2), Some(0), None),
    ];
    assert_eq!(told, expected);
    assert!(all.iter().all(|one| one.table.as_deref() == Some("t") && one.creation_time > Some(0)));

    write(&server, &name, "behind");
    let refused = master.call("RestoreSnapshot", &restore_request("s", "t"));
    assert_eq!(refused.exception(), ("DoNotRetryIOException", true));
    let cloned = pb::RestoreSnapshotRequest {
        custom_sft: Some("FILE".to_owned()),
        ..restore_request("s", "n")
    };
    master.call("RestoreSnapshot", &cloned).decode::<pb::ProcedureResponse>().proc_id.unwrap();
    assert_eq!(value(&server, "n"), b"before");
    let copy = server.connection().admin().describe_table("n").unwrap();
    assert_eq!(copy.attributes()["hbase.store.file-tracker.impl"], "FILE");

    let disable = pb::TableRequest { table_name: table_name("t"), nonce_group: None, nonce: None };
    master.call("DisableTable", &disable).decode::<pb::ProcedureResponse>();
    master.call("RestoreSnapshot", &restore_request("s", "t")).decode::<pb::ProcedureResponse>();
    master.call("EnableTable", &disable).decode::<pb::ProcedureResponse>();
    assert_eq!(value(&server, "t"), b"before");

    let delete = pb::DeleteSnapshotRequest { snapshot: snapshot("s", "t") };
    master.call("DeleteSnapshot", &delete).decode::<pb::Empty>();
    assert_eq!(list(&mut master).len(), 1);
    assert_eq!(value(&server, "n"), b"before");
}

#[test]
fn what_cannot_be_done_is_refused_as_hbase_does() {
    let server = TestServer::start().unwrap();
    create_table(&server, "t", &[]);
    create_table(&server, "other", &[]);
    let mut master = Client::master(&server);
    master.call("Snapshot", &request("s", "t", None)).decode::<pb::SnapshotResponse>();

    let refusals = [
        (request("s", "t", None), "SnapshotExistsException"),
        (request("new", "none", None), "SnapshotCreationException"),
        (request("-s", "t", None), "DoNotRetryIOException"),
        (request("../s", "t", None), "DoNotRetryIOException"),
        (request("s", "hbase:meta", None), "DoNotRetryIOException"),
    ];
    for (request, class) in refusals {
        assert_eq!(master.call("Snapshot", &request).exception(), (class, true), "{request:?}");
    }
    let mut nameless = request("new", "t", None);
    nameless.snapshot.table = None;
    let refused = master.call("Snapshot", &nameless);
    assert_eq!(refused.exception(), ("DoNotRetryIOException", true));

    let delete = pb::DeleteSnapshotRequest { snapshot: snapshot("none", "t") };
    let refused = master.call("DeleteSnapshot", &delete);
    assert_eq!(refused.exception(), ("SnapshotDoesNotExistException", true));
    let asked = pb::IsSnapshotDoneRequest { snapshot: Some(snapshot("none", "t")) };
    let refused = master.call("IsSnapshotDone", &asked);
    assert_eq!(refused.exception(), ("UnknownSnapshotException", true));
    let refused = master.call("IsSnapshotDone", &pb::IsSnapshotDoneRequest { snapshot: None });
    assert_eq!(refused.exception(), ("UnknownSnapshotException", true));

    let refused = master.call("RestoreSnapshot", &restore_request("none", "new"));
    assert_eq!(refused.exception(), ("SnapshotDoesNotExistException", true));
    let refused = master.call("RestoreSnapshot", &restore_request("s", "other"));
    assert_eq!(refused.exception(), ("TableExistsException", true));
    let foreign = pb::RestoreSnapshotRequest {
        custom_sft: Some("no tracker".to_owned()),
        ..restore_request("s", "new")
    };
    // HBase's procedure runs into it, so the procedure's result reports it.
    let begun: pb::ProcedureResponse = master.call("RestoreSnapshot", &foreign).decode();
    let asked = pb::GetProcedureResultRequest { proc_id: begun.proc_id.unwrap() };
    let became: pb::GetProcedureResultResponse = master.call("getProcedureResult", &asked).decode();
    let exception = became.exception.unwrap().generic_exception.unwrap();
    assert!(exception.message.unwrap().contains("ClassNotFoundException: Class no tracker"));
    assert!(!server.connection().admin().table_exists("new").unwrap());
}
