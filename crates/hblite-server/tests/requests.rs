//! Requests that HBase reads in its own way: those of old clients, lengths that do not fit.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_server::TestServer;
use hblite_wire::pb;
use prost::Message as _;

use crate::support::{self, Client, create_table, get, put, region};

/// The condition that a row `r` has no column `f:a`.
fn absent() -> pb::Condition {
    pb::Condition {
        row: "r".into(),
        family: Some("f".into()),
        qualifier: Some("a".into()),
        compare_type: Some(2),
        comparator: Some(pb::Comparator {
            name: "org.apache.hadoop.hbase.filter.NullComparator".to_owned(),
            serialized_comparator: Some(b"".to_vec().into()),
        }),
        ..pb::Condition::default()
    }
}

/// What a client before 2.4 sends for `checkAndMutate(row, ..., RowMutations)`.
#[test]
fn the_results_under_an_old_condition_are_only_numbered() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let action = |index, qualifier| pb::Action {
        index: Some(index),
        mutation: Some(Box::new(put("r", qualifier, "v"))),
        ..pb::Action::default()
    };
    let regions = || pb::RegionAction {
        region: region(&name),
        atomic: Some(true),
        action: vec![action(0, "a"), action(1, "b")],
        condition: None,
    };
    let ask = |is_old: bool| {
        let mut regions = regions();
        let mut request = pb::MultiRequest::default();
        match is_old {
            true => request.condition = Some(absent()),
            false => regions.condition = Some(absent()),
        }
        request.region_action = vec![regions];
        Client::data(&server).call("Multi", &request).decode::<pb::MultiResponse>()
    };
    let results = |response: &pb::MultiResponse| {
        let results = response.region_action_result[0].result_or_exception.clone();
        results.into_iter().map(|one| (one.index, one.result.is_some())).collect::<Vec<_>>()
    };
    let done = ask(true);
    assert_eq!(done.processed, Some(true));
    assert_eq!(results(&done), [(Some(0), false), (Some(1), false)]);
    let refused = ask(true);
    assert_eq!(refused.processed, Some(false));
    assert_eq!(results(&refused), [(Some(0), false), (Some(1), false)]);
    let refused = ask(false);
    assert_eq!(refused.region_action_result[0].processed, Some(false));
    assert_eq!(results(&refused), [(Some(0), false), (Some(1), false)]);
    // Without a condition, each has a result.
    let request = pb::MultiRequest { region_action: vec![regions()], ..Default::default() };
    let all = Client::data(&server).call("Multi", &request).decode::<pb::MultiResponse>();
    assert_eq!(results(&all), [(Some(0), true), (Some(1), true)]);
}

#[test]
fn a_write_to_another_row_than_the_conditions_is_refused_in_the_words_of_the_client() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let request = pb::MutateRequest {
        region: region(&name),
        mutation: put("s", "a", "v"),
        condition: Some(absent()),
        nonce_group: None,
    };
    let answer = Client::data(&server).call("Mutate", &request);
    assert_eq!(answer.exception(), ("DoNotRetryIOException", true));
    let line = "org.apache.hadoop.hbase.DoNotRetryIOException: \
                The row of the action <s> doesn't match the original one <r>";
    assert_eq!(answer.exception_text().lines().next(), Some(line));
}

/// The bytes of a request for `Get` whose parameter announces `more` bytes than it has, with its
/// last `cut` bytes left out.
fn misfit(name: &[u8], more: usize, cut: usize) -> Vec<u8> {
    let header = pb::RequestHeader {
        call_id: Some(7),
        method_name: Some("Get".to_owned()),
        request_param: Some(true),
        ..pb::RequestHeader::default()
    };
    let mut message = get(name, "r").encode_to_vec();
    message.truncate(message.len() - cut);
    let mut frame = header.encode_length_delimited_to_vec();
    prost::encode_length_delimiter(message.len() + more, &mut frame).unwrap();
    frame.append(&mut message);
    [&(frame.len() as u32).to_be_bytes()[..], &frame].concat()
}

#[test]
fn a_parameter_ends_with_its_frame() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let length = get(&name, "r").encode_to_vec().len();
    let mut client = Client::data(&server);
    for more in [0, 1, 16_384, i32::MAX as usize - length] {
        client.send_bytes(&misfit(&name, more, 0));
        let answer = client.receive();
        assert_eq!(answer.header.call_id, Some(7), "{more}");
        assert!(answer.decode::<pb::GetResponse>().result.is_some(), "{more}");
    }
    for more in [0, 1] {
        client.send_bytes(&misfit(&name, more, 1));
        let answer = client.receive();
        assert_eq!(answer.exception(), ("InvalidProtocolBufferException", false), "{more}");
    }
    client.send_bytes(&misfit(&name, i32::MAX as usize, 0));
    assert_eq!(client.receive().exception(), ("DoNotRetryIOException", true));
}

/// The short way to one column is for small cells.
#[test]
fn a_column_is_read_whatever_its_size() {
    let server = TestServer::start().unwrap();
    let name = create_table(&server, "t", &[]).remove(0);
    let mut client = Client::data(&server);
    let request = |qualifier: &str, existence_only| {
        let column =
            pb::Column { family: "f".into(), qualifier: vec![qualifier.to_owned().into()] };
        let mut request = get(&name, "r");
        request.get.column = vec![column];
        request.get.existence_only = existence_only;
        request
    };
    for length in [0, 1, 16_300, 16_384, 20_000, 1 << 20] {
        let value = "v".repeat(length);
        let mutation = put("r", "q", &value);
        let put = pb::MutateRequest {
            region: region(&name),
            mutation,
            condition: None,
            nonce_group: None,
        };
        client.call("Mutate", &put);
        let found = client.call("Get", &request("q", None));
        let cells = found.decode::<pb::GetResponse>().result.unwrap().associated_cell_count;
        assert_eq!(cells, Some(1), "{length}");
        assert!(found.cells.ends_with(value.as_bytes()), "{length}");
        assert!((length..length + 100).contains(&found.cells.len()), "{length}");
        for (qualifier, is_there) in [("q", true), ("other", false)] {
            let found = client.call("Get", &request(qualifier, Some(true)));
            let exists = found.decode::<pb::GetResponse>().result.unwrap().exists;
            assert_eq!((exists, found.cells.len()), (Some(is_there), 0), "{length}");
        }
    }
}

#[test]
fn the_closest_row_of_a_missing_table_is_an_error() {
    let server = TestServer::start().unwrap();
    create_table(&server, "t", &[]);
    let mut request = get(support::META, "missing,,99999999999999");
    request.get.closest_row_before = Some(true);
    request.get.column = vec![pb::Column { family: "info".into(), qualifier: vec![] }];
    let answer = Client::data(&server).call("Get", &request);
    assert_eq!(answer.exception(), ("UnknownProtocolException", true));
}

#[test]
fn servers_tell_their_memory() {
    let server = TestServer::start().unwrap();
    let request = pb::GetClusterStatusRequest { options: vec![] };
    let answer = Client::master(&server).call("GetClusterStatus", &request);
    let status = answer.decode::<pb::GetClusterStatusResponse>().cluster_status;
    assert!(status.live_servers[0].server_load.max_heap_mb > Some(0));
    assert!(server.connection().admin().status().unwrap().memory_max_bytes > 1 << 20);
}
