//! Calls without a socket: the same answers as over one, and what takes the place of a failed
//! connection.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::support::{
    Answer, Client, KEY_VALUE_CODEC, connection_header, create_table, frame, get, put, region,
};
use hblite::{Put, Scan};
use hblite_server::{
    CallFailure, Channel, FaultAction, FaultRule, InProcess, Limits, ServerOptions, TestServer,
};
use hblite_wire::pb;
use prost::Message;

const FIRST_REGION_SERVER: u16 = 16020;

fn connect(server: &InProcess, port: u16, service: &str) -> Channel {
    let header = connection_header(service, Some(KEY_VALUE_CODEC), Some((2, 6)));
    server.connect(port, &header.encode_to_vec()).unwrap()
}

fn data(server: &InProcess) -> Channel {
    connect(server, FIRST_REGION_SERVER, "ClientService")
}

fn try_call(
    channel: &Channel,
    method: &str,
    message: &impl Message,
    timeout: Option<u32>,
) -> Result<Answer, CallFailure> {
    static LAST_ID: AtomicU32 = AtomicU32::new(0);
    let id = LAST_ID.fetch_add(1, Ordering::Relaxed) + 1;
    let answer = channel.call(&frame(id, method, message, b"", timeout))?;
    let whole = [answer.head(), answer.cells()].concat();
    assert_eq!(whole.len(), answer.size_bytes());
    let (length, rest) = whole.split_at(4);
    assert_eq!(u32::from_be_bytes(length.try_into().unwrap()) as usize, rest.len());
    let answer = Answer::parse(rest.to_vec());
    assert_eq!(answer.header.call_id, Some(id));
    Ok(answer)
}

fn call(channel: &Channel, method: &str, message: &impl Message) -> Answer {
    try_call(channel, method, message, None).unwrap()
}

fn mutate(name: &[u8], mutation: pb::MutationProto) -> pb::MutateRequest {
    pb::MutateRequest { region: region(name), mutation, condition: None, nonce_group: None }
}

fn increment(row: &str) -> pb::MutationProto {
    let one = String::from_utf8(1_u64.to_be_bytes().to_vec()).unwrap();
    pb::MutationProto { mutate_type: Some(1), ..put(row, "n", &one) }
}

fn scan(name: &[u8]) -> pb::ScanRequest {
    pb::ScanRequest {
        region: Some(region(name)),
        scan: Some(pb::Scan::default()),
        number_of_rows: Some(1_000_000),
        close_scanner: Some(true),
        ..pb::ScanRequest::default()
    }
}

/// A store with the table `t`, served in both ways.
fn both(limits: Limits) -> (TestServer, InProcess, Vec<u8>) {
    let options = ServerOptions::on_free_ports().with_limits(limits);
    let server = TestServer::start_with(hblite::Options::new(), options.clone()).unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let in_process = InProcess::start(server.connection(), options).unwrap();
    (server, in_process, name)
}

fn same(over_socket: &Answer, direct: &Answer) {
    assert!(over_socket.message == direct.message, "{direct:?}");
    assert!(over_socket.cells == direct.cells);
    let is_exception = |answer: &Answer| answer.header.exception.is_some();
    assert_eq!(is_exception(over_socket), is_exception(direct));
    if is_exception(direct) {
        assert_eq!(over_socket.exception(), direct.exception());
    }
}

#[test]
fn answers_are_those_over_a_socket() {
    let (server, in_process, name) = both(Limits::default().with_connection_unsent_max_bytes(1000));
    let (mut socket, channel) = (Client::data(&server), data(&in_process));
    let table = server.connection().table("t").unwrap();
    // More cells than a call may examine on the calling thread, and more bytes than a small answer.
    let puts: Vec<Put> =
        (0..20_000).map(|row| Put::new(format!("r{row:05}")).add("f", "q", "value")).collect();
    table.put_all(&puts).unwrap();
    let missing = b"t,,1.0123456789abcdef0123456789abcdef.";
    let family = pb::Column { family: "none".into(), ..pb::Column::default() };
    let mut wrong = get(&name, "r00001");
    wrong.get.column.push(family);
    for request in [get(&name, "r00001"), get(&name, "none"), get(missing, "r"), wrong] {
        same(&socket.call("Get", &request), &call(&channel, "Get", &request));
    }
    let written = mutate(&name, put("w", "q", "direct"));
    same(&socket.call("Mutate", &written), &call(&channel, "Mutate", &written));
    let mut all = || {
        let answers = [socket.call("Scan", &scan(&name)), call(&channel, "Scan", &scan(&name))];
        let [over_socket, direct] = answers.map(|answer| {
            // Scanners have numbers of their own.
            let scanner_id = None;
            let message = pb::ScanResponse { scanner_id, ..answer.decode() };
            (message, answer.cells)
        });
        assert!(over_socket == direct);
        assert_eq!(direct.0.cells_per_result.len(), 20_001);
    };
    all();
    // A large answer does not keep the next call waiting.
    all();
    same(&socket.call("Nothing", &pb::Empty {}), &call(&channel, "Nothing", &pb::Empty {}));

    let mut socket = Client::master(&server);
    let master = connect(&in_process, in_process.master_port(), "MasterService");
    let request = pb::GetTableDescriptorsRequest::default();
    let method = "GetTableDescriptors";
    same(&socket.call(method, &request), &call(&master, method, &request));
    assert_eq!(in_process.open_scanners(), 0);
}

#[test]
fn frames_that_are_no_requests_are_answered_with_exceptions() {
    let (_server, in_process, name) = both(Limits::default().with_frame_size_max_bytes(1 << 20));
    let channel = data(&in_process);
    let good = frame(7, "Get", &get(&name, "r"), b"", None);
    for length in 0..good.len() {
        let answer = channel.call(&good[..length]).unwrap();
        assert!(Answer::parse(answer.head()[4..].to_vec()).header.exception.is_some());
    }
    let value = "v".repeat(900_000);
    let answer = call(&channel, "Mutate", &mutate(&name, put("large", "q", &value)));
    assert_eq!(answer.decode::<pb::MutateResponse>().processed, Some(true));
    assert!(call(&channel, "Get", &get(&name, "large")).cells.len() > 900_000);
    let value = "v".repeat(2_000_000);
    let answer = call(&channel, "Mutate", &mutate(&name, put("too large", "q", &value)));
    assert_eq!(answer.exception().0, "RequestTooBigException");
    assert_eq!(
        in_process.connect(1, b"").unwrap_err().exception().simple_name(),
        "IllegalArgumentException"
    );
    let header = connection_header("MasterService", None, None).encode_to_vec();
    assert!(in_process.connect(FIRST_REGION_SERVER, &header).is_err());
}

#[test]
fn threads_share_a_channel() {
    let (server, in_process, name) = both(Limits::default());
    let channel = data(&in_process);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let answer = call(&channel, "Mutate", &mutate(&name, increment("counter")));
                    assert_eq!(answer.header.exception, None);
                }
            });
        }
    });
    assert!(in_process.memory_used_bytes() > 0);
    drop(channel);
    assert_eq!(in_process.memory_used_bytes(), 0);
    let table = server.connection().table("t").unwrap();
    let row = table.scan(&Scan::new()).unwrap().next().unwrap().unwrap();
    let value = row.value("f", "n").unwrap();
    assert_eq!(u64::from_be_bytes(value.try_into().unwrap()), 400);
}

#[test]
fn a_fault_ends_the_call_and_not_the_channel() {
    let (_server, in_process, name) = both(Limits::default());
    let (channel, faults) = (data(&in_process), in_process.faults());
    let request = get(&name, "r");
    let fails = |action: FaultAction, timeout: Option<u32>| {
        faults.set(FaultRule::new(action).methods(["Get"]).count(1)).unwrap();
        let failure = try_call(&channel, "Get", &request, timeout).unwrap_err();
        assert_eq!(call(&channel, "Get", &request).header.exception, None);
        failure
    };
    assert_eq!(fails(FaultAction::DropBefore, None), CallFailure::Dropped);
    assert_eq!(fails(FaultAction::DropAfter, None), CallFailure::Dropped);
    let hour = Duration::from_secs(3600);
    assert_eq!(fails(FaultAction::Delay(hour, hour), Some(50)), CallFailure::TimedOut);
    let error = FaultAction::Error("RegionTooBusyException".to_owned());
    faults.set(FaultRule::new(error).count(1)).unwrap();
    assert_eq!(call(&channel, "Get", &request).exception().0, "RegionTooBusyException");

    faults.crash(0, None).unwrap();
    let refused = try_call(&channel, "Get", &request, None).unwrap_err();
    assert_eq!(refused, CallFailure::Refused);
    faults.restart(0).unwrap();
    assert_eq!(call(&channel, "Get", &request).header.exception, None);
}

#[test]
fn closing_ends_waiting_calls() {
    let (_server, in_process, name) = both(Limits::default());
    let channel = data(&in_process);
    let hour = Duration::from_secs(3600);
    in_process.faults().set(FaultRule::new(FaultAction::Delay(hour, hour)).count(1)).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| try_call(&channel, "Get", &get(&name, "r"), None));
        let deadline = Instant::now() + Duration::from_secs(20);
        while in_process.faults().list()[0].happened == 0 {
            assert!(Instant::now() < deadline, "the call began");
            std::thread::yield_now();
        }
        drop(in_process);
        assert_eq!(waiting.join().unwrap().unwrap_err(), CallFailure::Closed);
    });
    let late = try_call(&channel, "Get", &get(&name, "r"), None);
    assert_eq!(late.unwrap_err(), CallFailure::Closed);
}

#[test]
fn each_store_has_server_names_of_its_own() {
    let start = || {
        let store = hblite::open_in_memory().unwrap();
        let options = ServerOptions::default().with_region_servers(2);
        let server = InProcess::start(&store, options).unwrap();
        (store, server)
    };
    let ((_first, one), (_second, two)) = (start(), start());
    assert_ne!(one.host(), two.host());
    for server in [&one, &two] {
        let channel = connect(server, server.master_port(), "ClientMetaService");
        let answer = call(&channel, "GetActiveMaster", &pb::Empty {});
        let name = answer.decode::<pb::GetActiveMasterResponse>().server_name.unwrap();
        assert_eq!((name.host_name.as_str(), name.port), (server.host(), Some(16000)));
        let answer = call(&channel, "GetBootstrapNodes", &pb::Empty {});
        let nodes = answer.decode::<pb::GetBootstrapNodesResponse>().server_name;
        let ports: Vec<_> = nodes.iter().map(|node| node.port.unwrap()).collect();
        assert_eq!(ports, [16020, 16021]);
    }
}
