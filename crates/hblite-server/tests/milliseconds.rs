//! Writes to one row that follow each other within a millisecond, which HBase's clients do not
//! expect. Readers see the last write, and all cells of one write have the same timestamp.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::{self, Client, create_table, put, region};
use hblite_server::TestServer;
use hblite_wire::pb;

const ROUNDS: usize = 300;
const APPEND: i32 = 0;
const INCREMENT: i32 = 1;
const DELETE: i32 = 3;

struct Region {
    _server: TestServer,
    client: Client,
    name: Vec<u8>,
}

impl Region {
    fn new() -> Self {
        let server = TestServer::start().unwrap();
        let name = create_table(&server, "t", &[]).remove(0);
        // Without a codec of cells they come in the messages.
        let hello = support::header("ClientService", None, Some((2, 6)));
        let client = Client::with(server.ports().region_servers[0], &hello);
        Self { _server: server, client, name }
    }

    fn mutate(&mut self, mutation: pb::MutationProto) -> Vec<pb::Cell> {
        let region = region(&self.name);
        let request = pb::MutateRequest { region, mutation, condition: None, nonce_group: None };
        let answer: pb::MutateResponse = self.client.call("Mutate", &request).decode();
        answer.result.unwrap_or_default().cell
    }

    fn values(&mut self, row: &str) -> Vec<Vec<u8>> {
        let found = self.client.call("Get", &support::get(&self.name, row));
        let cells = found.decode::<pb::GetResponse>().result.unwrap().cell;
        cells.into_iter().map(|cell| cell.value.unwrap().to_vec()).collect()
    }
}

fn typed(mutate_type: i32, mutation: pb::MutationProto) -> pb::MutationProto {
    pb::MutationProto { mutate_type: Some(mutate_type), ..mutation }
}

fn delete_row(row: &str) -> pb::MutationProto {
    let row = Some(row.to_owned().into());
    pb::MutationProto { row, mutate_type: Some(DELETE), ..pb::MutationProto::default() }
}

fn one() -> String {
    String::from_utf8(1_u64.to_be_bytes().to_vec()).unwrap()
}

#[test]
fn a_put_right_after_a_delete_is_seen() {
    let mut region = Region::new();
    for round in 0..ROUNDS {
        region.mutate(put("r", "q", "v"));
        region.mutate(delete_row("r"));
        region.mutate(put("r", "q", "again"));
        assert_eq!(region.values("r"), [b"again"], "round {round}");
    }
}

#[test]
fn a_put_or_delete_right_after_a_change_is_seen() {
    let mut region = Region::new();
    for round in 0..ROUNDS {
        let row = format!("r{round}");
        region.mutate(put(&row, "q", &one()));
        region.mutate(typed(INCREMENT, put(&row, "q", &one())));
        region.mutate(put(&row, "q", "later"));
        assert_eq!(region.values(&row), [b"later"], "round {round}");
        region.mutate(typed(APPEND, put(&row, "q", "!")));
        region.mutate(delete_row(&row));
        assert!(region.values(&row).is_empty(), "round {round}");
    }
}

#[test]
fn the_columns_of_a_change_have_one_time() {
    let mut region = Region::new();
    let mut two = typed(APPEND, put("", "a", "1"));
    let second = put("", "b", "2").column_value.remove(0).qualifier_value.remove(0);
    two.column_value[0].qualifier_value.push(second);
    for round in 0..ROUNDS {
        let row = format!("r{round}");
        region.mutate(typed(APPEND, put(&row, "a", "0")));
        let cells = region.mutate(pb::MutationProto { row: Some(row.into()), ..two.clone() });
        let times: Vec<u64> = cells.iter().map(|cell| cell.timestamp.unwrap()).collect();
        assert_eq!(times.len(), 2);
        assert_eq!(times[0], times[1], "round {round}");
    }
}
