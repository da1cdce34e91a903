//! Region replicas as clients see them: further locations of the only copy of a region.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::{self, Client, get, put, region};
use hblite::{ColumnFamilyDescriptor, Options, RegionInfo, TableDescriptor};
use hblite_server::{ServerOptions, TestServer};
use hblite_wire::cell_block::CellReader;
use hblite_wire::pb;

fn start() -> (TestServer, Vec<RegionInfo>) {
    let options = ServerOptions::on_free_ports().with_region_servers(3);
    let server = TestServer::start_with(Options::new(), options).unwrap();
    let admin = server.connection().admin();
    let family = ColumnFamilyDescriptor::new("f");
    let mut table = TableDescriptor::new("t".parse().unwrap()).with_family(family);
    table.set_attribute("REGION_REPLICATION", "3").unwrap();
    admin.create_table_with_splits(&table, &[b"m".to_vec()]).unwrap();
    let regions = admin.regions(table.name()).unwrap();
    (server, regions)
}

/// The columns of a region in hbase:meta, with their values as text.
fn meta_row(server: &TestServer, info: &RegionInfo) -> Vec<(String, String)> {
    let row = info.region_name_as_string();
    let answer = Client::data(server).call("Get", &get(support::META, &row));
    let result = answer.decode::<pb::GetResponse>().result.unwrap();
    let mut cells = CellReader::new(&answer.cells);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (0..result.associated_cell_count.unwrap_or(0))
        .map(|_| cells.next_cell().unwrap())
        .map(|cell| (text(cell.qualifier()), text(cell.value())))
        .collect()
}

fn port(server: &TestServer, info: &RegionInfo, column: &str) -> u16 {
    let row = meta_row(server, info);
    let (_, value) = row.iter().find(|(name, _)| name == column).unwrap();
    value.strip_prefix("127.0.0.1:").unwrap().parse().unwrap()
}

#[test]
fn each_replica_has_a_server_that_reads_the_copy_and_refuses_writes() {
    let (server, regions) = start();
    let info = &regions[0];
    let ports = ["server", "server_0001", "server_0002"].map(|name| port(&server, info, name));
    let mut distinct = ports.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 3, "{ports:?}");

    let write = |name: Vec<u8>| pb::MutateRequest {
        region: region(&name),
        mutation: put("a", "q", "v"),
        ..pb::MutateRequest::default()
    };
    let at = |port| Client::java(port, "ClientService");
    at(ports[0]).call("Mutate", &write(info.region_name())).decode::<pb::MutateResponse>();
    for (id, port) in (1..).zip(&ports[1..]) {
        let name = info.replica(id).region_name();
        let answer = at(*port).call("Get", &get(&name, "a"));
        let result = answer.decode::<pb::GetResponse>().result.unwrap();
        assert_eq!((result.associated_cell_count, result.stale), (Some(1), Some(false)));
        let answer = at(ports[0]).call("Get", &get(&name, "a"));
        assert_eq!(answer.exception(), ("NotServingRegionException", false));
        let answer = at(*port).call("Mutate", &write(name));
        assert_eq!(answer.exception(), ("DoNotRetryIOException", true));
        assert!(answer.exception_text().contains("region is read only"));
    }
    let answer = at(ports[1]).call("Get", &get(&info.replica(3).region_name(), "a"));
    assert_eq!(answer.exception(), ("NotServingRegionException", false));
}

#[test]
fn servers_list_their_replicas_by_name() {
    let (server, regions) = start();
    let mut listed = Vec::new();
    for port in server.ports().region_servers.clone() {
        let mut admin = Client::java(port, "AdminService");
        let answer = admin.call("GetOnlineRegion", &pb::Empty {});
        for info in answer.decode::<pb::GetOnlineRegionResponse>().region_info {
            if info.table_name.qualifier != "t" {
                continue;
            }
            let id = u16::try_from(info.replica_id.unwrap()).unwrap();
            let start = info.start_key.clone().unwrap_or_default();
            let own = regions.iter().find(|one| one.start_key() == &*start).unwrap();
            // By its encoded name, as Java's client asks for the state of a compaction.
            let request = pb::GetRegionInfoRequest {
                region: region(own.replica(id).encoded_name().as_bytes()),
                compaction_state: Some(true),
                best_split_row: None,
            };
            let answer: pb::GetRegionInfoResponse = admin.call("GetRegionInfo", &request).decode();
            assert_eq!(answer.region_info, info);
            listed.push((start, id));
        }
    }
    listed.sort();
    let of = |start: &'static str| (0..3).map(move |id| (start.into(), id));
    assert_eq!(listed, of("").chain(of("m")).collect::<Vec<_>>());
}

#[test]
fn hbase_meta_follows_the_setting_and_the_state_of_the_table() {
    let (server, regions) = start();
    let admin = server.connection().admin();
    let table: hblite::TableName = "t".parse().unwrap();
    let states = || -> Vec<(String, String)> {
        let row = meta_row(&server, &regions[0]).into_iter();
        row.filter(|(name, _)| name.starts_with("state")).collect()
    };
    let expected = |names: &[&str], state: &str| -> Vec<(String, String)> {
        names.iter().map(|name| ((*name).to_owned(), state.to_owned())).collect()
    };
    let alter = |count: &str| {
        let mut changed = admin.describe_table(&table).unwrap();
        changed.set_attribute("REGION_REPLICATION", count).unwrap();
        admin.modify_table(&changed)
    };
    assert_eq!(states(), expected(&["state", "state_0001", "state_0002"], "OPEN"));
    alter("2").unwrap();
    assert_eq!(states(), expected(&["state", "state_0001"], "OPEN"));
    assert!(alter("101").unwrap_err().message().contains("should be at most 100"));
    admin.disable_table(&table).unwrap();
    assert_eq!(states(), expected(&["state", "state_0001"], "CLOSED"));
    alter("3").unwrap();
    assert_eq!(states(), expected(&["state", "state_0001"], "CLOSED"));
    admin.enable_table(&table).unwrap();
    assert_eq!(states(), expected(&["state", "state_0001", "state_0002"], "OPEN"));
    alter("1").unwrap();
    assert_eq!(states(), expected(&["state"], "OPEN"));
}

/// HBase counts no regions of a disabled table: an `alter` of it reports that all are updated.
#[test]
fn the_status_of_the_cluster_counts_replicas_of_enabled_tables() {
    let (server, _) = start();
    let counts = || {
        let request = pb::GetClusterStatusRequest { options: Vec::new() };
        let answer =
            Client::java(server.ports().master, "MasterService").call("GetClusterStatus", &request);
        let status = answer.decode::<pb::GetClusterStatusResponse>().cluster_status;
        let mut tables = status.table_region_states_count.into_iter();
        let table = tables.find(|table| table.table_name.qualifier == "t").unwrap();
        let counts = table.region_states_count;
        (counts.open_regions, counts.closed_regions, counts.total_regions)
    };
    assert_eq!(counts(), (6, 0, 6));
    server.connection().admin().disable_table("t").unwrap();
    assert_eq!(counts(), (0, 0, 0));
}
