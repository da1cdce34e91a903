//! Switches, and the exceptions of an HBase without replication, quotas and permissions.

use hblite_wire::pb;

use crate::support::Client;

fn start() -> hblite_server::TestServer {
    hblite_server::TestServer::start().expect("free ports")
}

#[test]
fn peers_are_unknown_and_none_is_accepted() {
    let server = start();
    let mut master = Client::master(&server);
    let peer = pb::ReplicationPeerRequest { peer_id: "p".to_owned() };
    for method in ["RemoveReplicationPeer", "EnableReplicationPeer", "GetReplicationPeerConfig"] {
        let answer = master.call(method, &peer);
        assert_eq!(answer.exception(), ("ReplicationPeerNotFoundException", true), "{method}");
        assert!(answer.exception_text().ends_with(": p"), "{}", answer.exception_text());
    }
    let answer = master.call("AddReplicationPeer", &peer);
    assert_eq!(answer.exception(), ("DoNotRetryIOException", true));
}

#[test]
fn quotas_and_permissions_are_off() {
    let server = start();
    let mut master = Client::master(&server);
    for (method, message) in [
        ("SetQuota", "java.lang.UnsupportedOperationException: quota support disabled"),
        ("Grant", "AccessController is not loaded"),
        ("HasUserPermissions", "AccessController is not loaded"),
    ] {
        let answer = master.call(method, &pb::Empty {});
        assert_eq!(answer.exception(), ("DoNotRetryIOException", true), "{method}");
        assert!(answer.exception_text().contains(message), "{}", answer.exception_text());
    }
    let on = pb::SwitchRequest { on: true, synchronous: None };
    for _ in 0..2 {
        for method in ["SwitchRpcThrottle", "SwitchExceedThrottleQuota"] {
            let before: pb::SwitchResponse = master.call(method, &on).decode();
            assert_eq!(before.value, Some(false), "{method}");
        }
    }
}

#[test]
fn dead_servers_that_are_not_known_are_not_forgotten() {
    let server = start();
    let mut master = Client::master(&server);
    let name = pb::ServerName { host_name: "h".into(), port: Some(1), start_code: Some(2) };
    let names = pb::ServerNames { server_name: vec![name] };
    let left: pb::ServerNames = master.call("ClearDeadServers", &names).decode();
    assert_eq!(left, names);
}
