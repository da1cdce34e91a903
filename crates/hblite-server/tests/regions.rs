//! Several region servers in one process: each serves its own regions and refuses the others.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::{self, Client, create_table, get, put, region, table_name};
use hblite::Options;
use hblite_server::{ServerOptions, TestServer};
use hblite_wire::cell_block::{CellReader, Codec};
use hblite_wire::pb;

fn start(region_servers: usize) -> TestServer {
    let options = ServerOptions::on_free_ports().with_region_servers(region_servers);
    TestServer::start_with(Options::new(), options).expect("it starts")
}

/// The port where hbase:meta says that a region is.
fn port_of(server: &TestServer, name: &[u8]) -> u16 {
    let row = std::str::from_utf8(name).expect("a printable name");
    let answer = Client::data(server).call("Get", &get(support::META, row));
    let count = answer.decode::<pb::GetResponse>().result.expect("a result");
    let mut cells = CellReader::new(&answer.cells);
    for _ in 0..count.associated_cell_count.unwrap_or(0) {
        let cell = cells.next_cell().expect("a cell");
        if cell.qualifier() == b"server" {
            let text = std::str::from_utf8(cell.value()).expect("text");
            return text.strip_prefix("127.0.0.1:").expect("our address").parse().expect("a port");
        }
    }
    panic!("no server in {count:?}");
}

fn data(port: u16) -> Client {
    Client::java(port, "ClientService")
}

fn move_to(server: &TestServer, name: &[u8], port: u16) {
    let encoded = name[name.len() - 33..name.len() - 1].to_vec();
    let request = pb::MoveRegionRequest {
        region: pb::RegionSpecifier { r#type: 2, value: encoded.into() },
        dest_server_name: Some(pb::ServerName {
            host_name: "127.0.0.1".into(),
            port: Some(port.into()),
            start_code: None,
        }),
    };
    Client::master(server).call("MoveRegion", &request).decode::<pb::Empty>();
}

#[test]
fn regions_are_spread_and_each_is_where_the_catalog_says() {
    let server = start(3);
    let names = create_table(&server, "t", &["b", "c", "d", "e", "f"]);
    let ports: Vec<u16> = names.iter().map(|name| port_of(&server, name)).collect();
    for port in &server.ports().region_servers {
        assert_eq!(ports.iter().filter(|other| *other == port).count(), 2, "{ports:?}");
    }
    for (name, port) in names.iter().zip(&ports) {
        for other in &server.ports().region_servers {
            let answer = data(*other).call("Get", &get(name, "x"));
            if other == port {
                let (class, _) = match answer.header.exception {
                    Some(_) => answer.exception(),
                    None => continue,
                };
                assert_eq!(class, "WrongRegionException", "x is not in all of them");
            } else {
                assert_eq!(answer.exception(), ("NotServingRegionException", false));
                let online = format!("is not online on 127.0.0.1,{other},");
                assert!(answer.exception_text().contains(&online), "{}", answer.exception_text());
            }
        }
    }
    let master =
        Client::java(server.ports().master, "ClientService").call("Get", &get(&names[0], "a"));
    assert_eq!(master.exception().0, "NotServingRegionException");
}

#[test]
fn a_region_that_moved_says_where_to() {
    let server = start(2);
    let name = create_table(&server, "t", &[]).remove(0);
    let from = port_of(&server, &name);
    let to = *server.ports().region_servers.iter().find(|port| **port != from).unwrap();
    let mut client = data(from);
    let scan = pb::ScanRequest {
        region: Some(region(&name)),
        scan: Some(pb::Scan::default()),
        number_of_rows: Some(0),
        ..pb::ScanRequest::default()
    };
    let id = client.call("Scan", &scan).decode::<pb::ScanResponse>().scanner_id;
    move_to(&server, &name, to);
    let answer = client.call("Get", &get(&name, "a"));
    assert_eq!(answer.exception(), ("RegionMovedException", false));
    let exception = answer.header.exception.clone().unwrap();
    assert_eq!(
        (exception.hostname.as_deref(), exception.port),
        (Some("127.0.0.1"), Some(to.into()))
    );
    let text = format!("Region moved to: hostname=127.0.0.1 port={to} startCode=");
    assert!(answer.exception_text().contains(&text), "{}", answer.exception_text());
    let next = pb::ScanRequest { scanner_id: id, ..pb::ScanRequest::default() };
    assert_eq!(client.call("Scan", &next).exception().0, "NotServingRegionException");
    assert_eq!(port_of(&server, &name), to);
    data(to).call("Get", &get(&name, "a")).decode::<pb::GetResponse>();
    let unknown = pb::MoveRegionRequest { region: region(b"nothing"), dest_server_name: None };
    let answer = Client::master(&server).call("MoveRegion", &unknown);
    assert_eq!(answer.exception(), ("UnknownRegionException", true));
}

#[test]
fn balancing_moves_what_is_too_many() {
    let server = start(2);
    let names = create_table(&server, "t", &["b", "c", "d"]);
    let first = server.ports().region_servers[0];
    names.iter().for_each(|name| move_to(&server, name, first));
    let dry = pb::BalanceRequest { dry_run: Some(true), ..pb::BalanceRequest::default() };
    let mut master = Client::master(&server);
    let answer: pb::BalanceResponse = master.call("Balance", &dry).decode();
    assert_eq!((answer.balancer_ran, answer.moves_executed), (true, Some(0)));
    let answer: pb::BalanceResponse =
        master.call("Balance", &pb::BalanceRequest::default()).decode();
    assert!(answer.moves_executed >= Some(2), "{answer:?}");
    let there = names.iter().filter(|name| port_of(&server, name) == first).count();
    assert!((1..=3).contains(&there), "{there}");
    let off = pb::SwitchRequest { on: false, synchronous: None };
    let before: pb::SwitchResponse = master.call("SetBalancerRunning", &off).decode();
    assert_eq!(before.value, Some(true));
    let answer: pb::BalanceResponse =
        master.call("Balance", &pb::BalanceRequest::default()).decode();
    assert!(!answer.balancer_ran);
}

#[test]
fn a_region_can_be_taken_out_of_service_and_back() {
    let server = start(1);
    let name = create_table(&server, "t", &[]).remove(0);
    let request = pb::RegionRequest { region: region(&name), force: None };
    let (mut master, mut client) = (Client::master(&server), Client::data(&server));
    master.call("UnassignRegion", &request).decode::<pb::Empty>();
    let answer = client.call("Get", &get(&name, "a"));
    assert_eq!(answer.exception(), ("NotServingRegionException", false));
    master.call("AssignRegion", &request).decode::<pb::Empty>();
    client.call("Get", &get(&name, "a")).decode::<pb::GetResponse>();
}

#[test]
fn a_region_is_emptied() {
    let server = start(2);
    let names = create_table(&server, "t", &["m"]);
    for (name, row) in names.iter().zip(["a", "x"]) {
        let request = pb::MutateRequest {
            region: region(name),
            mutation: put(row, "q", "v"),
            ..pb::MutateRequest::default()
        };
        let answer = data(port_of(&server, name)).call("Mutate", &request);
        answer.decode::<pb::MutateResponse>();
    }
    let id: u64 = {
        let text = String::from_utf8_lossy(&names[0]).into_owned();
        text.split(['.', ',']).rev().nth(2).unwrap().parse().unwrap()
    };
    let of = |table: &str, region_id, replica_id| pb::TruncateRegionRequest {
        region_info: pb::RegionInfo {
            region_id,
            table_name: table_name(table),
            end_key: Some("m".into()),
            replica_id: Some(replica_id),
            ..pb::RegionInfo::default()
        },
        ..pb::TruncateRegionRequest::default()
    };
    let mut master = Client::master(&server);
    master.call("TruncateRegion", &of("t", id, 0)).decode::<pb::ProcedureResponse>();
    let rows = server.connection().table("t").unwrap().scan(&hblite::Scan::new()).unwrap();
    assert_eq!(rows.count(), 1);
    let answer = master.call("TruncateRegion", &of("t", id, 1));
    assert_eq!(answer.exception(), ("DoNotRetryIOException", true));
    assert!(answer.exception_text().contains("Can't truncate replicas directly."));
    let answer = master.call("TruncateRegion", &of("t", id + 1, 0));
    assert_eq!(answer.exception(), ("UnknownRegionException", true));
    let mut meta = of("meta", 1, 0);
    meta.region_info.table_name.namespace = "hbase".into();
    let refused: pb::ProcedureResponse = master.call("TruncateRegion", &meta).decode();
    let request = pb::GetProcedureResultRequest { proc_id: refused.proc_id.unwrap() };
    let refused: pb::GetProcedureResultResponse =
        master.call("getProcedureResult", &request).decode();
    let exception = refused.exception.unwrap().generic_exception.unwrap();
    assert_eq!(exception.message.as_deref(), Some("Can't truncate region in catalog tables"));
}

#[test]
fn a_multi_goes_on_behind_a_region_that_is_not_there() {
    let server = start(1);
    let names = create_table(&server, "t", &["m"]);
    let mut block = Vec::new();
    for row in ["lost", "z"] {
        let mut cells = hblite::CellBuffer::new();
        cells.push_parts(row.as_bytes(), b"f", b"q", 7, 4, b"v");
        Codec::KeyValue.push(&mut block, &cells.get(0).unwrap());
    }
    let write = |index| pb::Action {
        index: Some(index),
        mutation: Some(
            pb::MutationProto {
                mutate_type: Some(2),
                associated_cell_count: Some(1),
                ..pb::MutationProto::default()
            }
            .into(),
        ),
        ..pb::Action::default()
    };
    let bad = pb::Action {
        index: Some(5),
        mutation: Some(pb::MutationProto { row: Some("n".into()), ..put("n", "q", "v") }.into()),
        ..pb::Action::default()
    };
    let mut no_family = bad;
    no_family.mutation.as_mut().unwrap().column_value[0].family = "none".into();
    let read = pb::Action {
        index: Some(6),
        get: Some(pb::Get { row: "z".into(), ..pb::Get::default() }.into()),
        ..pb::Action::default()
    };
    let actions = |name: &[u8], action| pb::RegionAction {
        region: region(name),
        action,
        ..pb::RegionAction::default()
    };
    let request = pb::MultiRequest {
        region_action: vec![
            actions(b"t,,1.00000000000000000000000000000000.", vec![write(3)]),
            actions(&names[1], vec![write(4), no_family, read]),
        ],
        ..pb::MultiRequest::default()
    };
    let mut client = Client::data(&server);
    client.send_with("Multi", &request, &block, None);
    let answer = client.receive();
    let response: pb::MultiResponse = answer.decode();
    let [first, second] = response.region_action_result.as_slice() else { panic!("{response:?}") };
    let class = |pair: &Option<pb::NameBytesPair>| pair.as_ref().map(|pair| pair.name.clone());
    let package = "org.apache.hadoop.hbase.";
    assert_eq!(class(&first.exception), Some(format!("{package}NotServingRegionException")));
    assert!(first.result_or_exception.is_empty());
    let results = &second.result_or_exception;
    let indexes: Vec<_> = results.iter().map(|result| result.index).collect();
    assert_eq!(indexes, [Some(4), Some(5), Some(6)]);
    let no_family = format!("{package}regionserver.NoSuchColumnFamilyException");
    assert_eq!(class(&results[1].exception), Some(no_family));
    assert!(results[1].result.is_none());
    // The read sees the write before it.
    assert_eq!(results[2].result.as_ref().unwrap().associated_cell_count, Some(1));
    assert_eq!(CellReader::new(&answer.cells).next_cell().unwrap().row(), b"z");
}

#[test]
fn tables_are_made_listed_changed_and_dropped() {
    let server = start(1);
    let mut master = Client::master(&server);
    create_table(&server, "t", &[]);
    let again = pb::CreateTableRequest {
        table_schema: pb::TableSchema {
            table_name: Some(table_name("t")),
            column_families: vec![pb::ColumnFamilySchema {
                name: "f".into(),
                ..Default::default()
            }],
            ..pb::TableSchema::default()
        },
        ..pb::CreateTableRequest::default()
    };
    assert_eq!(master.call("CreateTable", &again).exception(), ("TableExistsException", true));
    let names = pb::GetTableNamesRequest { regex: Some(".*".into()), ..Default::default() };
    let listed: pb::TableNamesResponse = master.call("GetTableNames", &names).decode();
    assert_eq!(listed.table_names, [table_name("t")]);
    let described = pb::GetTableDescriptorsRequest {
        table_names: vec![table_name("t"), table_name("none")],
        ..Default::default()
    };
    let described: pb::TableDescriptorsResponse =
        master.call("GetTableDescriptors", &described).decode();
    let schema = &described.table_schema[0];
    let tracker =
        schema.attributes.iter().find(|pair| pair.first == "hbase.store.file-tracker.impl");
    assert_eq!(tracker.unwrap().second, "DEFAULT");
    let request = pb::TableRequest { table_name: table_name("t"), ..Default::default() };
    let answer = master.call("DeleteTable", &request);
    assert_eq!(answer.exception(), ("TableNotDisabledException", true));
    assert!(answer.exception_text().ends_with("Not DISABLED; tableName=t, state=ENABLED"));
    let disabled: pb::ProcedureResponse = master.call("DisableTable", &request).decode();
    let finished = pb::GetProcedureResultRequest { proc_id: disabled.proc_id.unwrap() };
    let finished: pb::GetProcedureResultResponse =
        master.call("getProcedureResult", &finished).decode();
    assert_eq!((finished.state, finished.exception), (2, None));
    let missing = pb::GetProcedureResultRequest { proc_id: 999 };
    let missing: pb::GetProcedureResultResponse =
        master.call("getProcedureResult", &missing).decode();
    assert_eq!(missing.state, 0);
    master.call("DeleteTable", &request).decode::<pb::ProcedureResponse>();
    let state = pb::GetTableStateRequest { table_name: table_name("t") };
    let answer = master.call("GetTableState", &state);
    assert!(answer.exception_text().ends_with("TableNotFoundException: No state found for t"));
    let answer = master.call("Nonsense", &pb::Empty {});
    assert_eq!(answer.exception(), ("DoNotRetryIOException", true));
    assert!(answer.exception_text().ends_with("java.lang.UnsupportedOperationException: Nonsense"));
}

#[test]
fn a_change_with_a_nonce_is_made_once() {
    let server = start(1);
    let request = pb::CreateTableRequest {
        table_schema: pb::TableSchema {
            table_name: Some(table_name("t")),
            column_families: vec![pb::ColumnFamilySchema {
                name: "f".into(),
                ..Default::default()
            }],
            ..pb::TableSchema::default()
        },
        nonce_group: Some(1),
        nonce: Some(2),
        ..pb::CreateTableRequest::default()
    };
    let mut master = Client::master(&server);
    let first: pb::ProcedureResponse = master.call("CreateTable", &request).decode();
    let again: pb::ProcedureResponse = master.call("CreateTable", &request).decode();
    assert_eq!(first, again);
}

/// HBase's client asks the master whether a table's medium objects are being compacted.
#[test]
fn the_master_names_regions_and_those_of_medium_objects() {
    let server = start(1);
    create_table(&server, "t", &[]);
    let regions = server.connection().admin().regions("t").unwrap();
    let mob = hblite::RegionInfo::mob(&"t".parse().unwrap());
    let mut master = Client::java(server.ports().master, "AdminService");
    let request = |name: Vec<u8>| pb::GetRegionInfoRequest {
        region: pb::RegionSpecifier { r#type: 1, value: name.into() },
        compaction_state: Some(true),
        best_split_row: None,
    };
    let answer = master.call("GetRegionInfo", &request(mob.region_name()));
    let answer: pb::GetRegionInfoResponse = answer.decode();
    assert_eq!(answer.region_info.start_key.as_deref(), Some(&b".mob"[..]));
    assert_eq!(answer.compaction_state, Some(0));
    let answer = master.call("GetRegionInfo", &request(regions[0].encoded_name().into()));
    let answer: pb::GetRegionInfoResponse = answer.decode();
    assert_eq!(answer.region_info.region_id, regions[0].region_id());
    let answer = master.call("GetRegionInfo", &request(b"t,a,1.x.".to_vec()));
    assert_eq!(answer.exception(), ("UnknownRegionException", true));
    let compact = pb::CompactRegionRequest {
        region: pb::RegionSpecifier { r#type: 1, value: mob.region_name().into() },
        ..pb::CompactRegionRequest::default()
    };
    let answer = master.call("CompactRegion", &compact);
    assert_eq!(answer.exception(), ("NotServingRegionException", false));
    assert!(answer.exception_text().contains(" is not online on 127.0.0.1,"));
}

/// A family that is named must exist: an empty name does not mean all families.
#[test]
fn a_flush_or_compaction_of_a_missing_family_is_refused_as_in_hbase() {
    let server = start(1);
    create_table(&server, "t", &[]);
    let regions = server.connection().admin().regions("t").unwrap();
    let name = || pb::RegionSpecifier { r#type: 1, value: regions[0].region_name().into() };
    let mut admin = Client::java(server.ports().region_servers[0], "AdminService");
    for family in ["", "zz"] {
        let compact = pb::CompactRegionRequest {
            region: name(),
            family: Some(family.into()),
            ..pb::CompactRegionRequest::default()
        };
        let answer = admin.call("CompactRegion", &compact);
        assert_eq!(answer.exception().0, "NoSuchColumnFamilyException");
        let message = format!("column family {family} does not exist in region t,,");
        assert!(answer.exception_text().contains(&message), "{}", answer.exception_text());
        let flush = pb::FlushRegionRequest {
            region: name(),
            family: Some(family.into()),
            ..pb::FlushRegionRequest::default()
        };
        let answer = admin.call("FlushRegion", &flush);
        assert_eq!(answer.exception().0, "NoSuchColumnFamilyException");
        let message = format!("Column families [{family}] don't exist in table t");
        assert!(answer.exception_text().contains(&message), "{}", answer.exception_text());
    }
}

/// HBase lists the tables of all namespaces for a name without characters.
#[test]
fn an_empty_namespace_lists_all_tables() {
    let server = start(1);
    create_table(&server, "t", &[]);
    let request = pb::NamespaceNameRequest::default();
    let mut master = Client::master(&server);
    let names: pb::TableNamesResponse = master.call("ListTableNamesByNamespace", &request).decode();
    assert!(names.table_names.iter().any(|name| *name.qualifier == *b"t"));
    assert!(names.table_names.iter().any(|name| *name.qualifier == *b"meta"));
    let tables: pb::TableDescriptorsResponse =
        master.call("ListTableDescriptorsByNamespace", &request).decode();
    assert_eq!(tables.table_schema.len(), names.table_names.len());
}

/// `hbase.column.max.version`: what a request says of its own takes precedence.
#[test]
fn new_families_keep_the_clusters_number_of_versions() {
    let mut options = ServerOptions::on_free_ports();
    options.family_versions = 3;
    let server = TestServer::start_with(Options::new(), options).unwrap();
    create_table(&server, "t", &[]);
    let pair = pb::BytesBytesPair { first: "VERSIONS".into(), second: "2".into() };
    let mut master = Client::master(&server);
    for (name, attributes) in [("g", vec![]), ("h", vec![pair])] {
        let column_families =
            pb::ColumnFamilySchema { name: name.into(), attributes, ..Default::default() };
        let request = pb::ColumnRequest {
            table_name: table_name("t"),
            column_families,
            ..pb::ColumnRequest::default()
        };
        let answer = master.call("AddColumn", &request);
        assert!(answer.decode::<pb::ProcedureResponse>().proc_id.is_some());
    }
    let table = server.connection().admin().describe_table("t").unwrap();
    let versions = |name: &str| table.family(name.as_bytes()).unwrap().versions();
    assert_eq!([versions("f"), versions("g"), versions("h")], [3, 3, 2]);
}
