//! Switches, and the exceptions of an HBase without replication, quotas and permissions.

use hblite_server::{ServerOptions, StopHandler, TestServer};
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
    let peer = pb::AddReplicationPeerRequest {
        peer_id: "p".to_owned(),
        peer_config: pb::ReplicationPeer {
            clusterkey: Some("h:2181:/hbase".to_owned()),
            ..pb::ReplicationPeer::default()
        },
        peer_state: pb::ReplicationState { state: 0 },
    };
    let added: pb::ProcedureResponse = master.call("AddReplicationPeer", &peer).decode();
    let request = pb::GetProcedureResultRequest { proc_id: added.proc_id.expect("an id") };
    let done: pb::GetProcedureResultResponse = master.call("getProcedureResult", &request).decode();
    let failure = done.exception.expect("a failure").generic_exception.expect("an exception");
    let message = "Can't get peerClusterId for clusterKey=h:2181:/hbase";
    assert_eq!(failure.message.as_deref(), Some(message));
    let _: pb::Empty = master.call("FlushMasterStore", &pb::Empty {}).decode();
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

#[test]
fn a_client_ends_the_server_after_its_answer_and_no_fork() {
    for (method, is_of_master) in [("Shutdown", true), ("StopMaster", true), ("StopServer", false)]
    {
        let (sender, ended) = std::sync::mpsc::channel();
        let handler = StopHandler::new(move || {
            // It has ended before the server.
            let _ = sender.send(());
        });
        let options = ServerOptions::on_free_ports().with_stop_handler(handler);
        let server = TestServer::start_with(hblite::Options::new(), options).expect("free ports");
        server.state().checkpoint("c").expect("a new name");
        let fork = server.fork("c").expect("free ports");
        let call = |server: &TestServer| match is_of_master {
            true => Client::master(server).call(method, &pb::Empty {}),
            false => {
                let port = server.ports().region_servers[0];
                let request = pb::StopServerRequest { reason: "a test".to_owned() };
                Client::java(port, "AdminService").call(method, &request)
            }
        };
        assert_eq!(call(&fork).exception(), ("DoNotRetryIOException", true), "{method}");
        ended.try_recv().expect_err("the fork is none of a client's");
        let _: pb::Empty = call(&server).decode();
        ended.recv_timeout(std::time::Duration::from_secs(30)).expect(method);
    }
    // An embedded one ends with its program.
    let answer = Client::master(&start()).call("StopMaster", &pb::Empty {});
    assert!(answer.exception_text().contains("the program that runs it"));
}
