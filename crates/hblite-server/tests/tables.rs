//! Requests for tables: patterns, also empty ones, and states.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_server::TestServer;
use hblite_wire::pb;

use crate::support::{Client, create_table, table_name};

fn names(tables: &[pb::TableName]) -> Vec<String> {
    tables.iter().map(|name| String::from_utf8_lossy(&name.qualifier).into_owned()).collect()
}

fn names_like(master: &mut Client, regex: Option<&str>) -> Vec<String> {
    let request =
        pb::GetTableNamesRequest { regex: regex.map(str::to_owned), ..Default::default() };
    names(&master.call("GetTableNames", &request).decode::<pb::TableNamesResponse>().table_names)
}

fn described(master: &mut Client, request: &pb::GetTableDescriptorsRequest) -> Vec<String> {
    let answer = master.call("GetTableDescriptors", request);
    let tables = answer.decode::<pb::TableDescriptorsResponse>().table_schema;
    names(&tables.into_iter().filter_map(|table| table.table_name).collect::<Vec<_>>())
}

#[test]
fn an_empty_pattern_matches_no_table() {
    let server = TestServer::start().unwrap();
    create_table(&server, "t", &[]);
    create_table(&server, "u", &[]);
    let mut master = Client::master(&server);
    assert_eq!(names_like(&mut master, None), ["t", "u"]);
    assert_eq!(names_like(&mut master, Some("")), [""; 0]);
    assert_eq!(names_like(&mut master, Some("default:t|x")), ["t"]);
    let like = |regex: &str| pb::GetTableDescriptorsRequest {
        regex: Some(regex.to_owned()),
        ..Default::default()
    };
    assert_eq!(described(&mut master, &pb::GetTableDescriptorsRequest::default()), ["t", "u"]);
    assert_eq!(described(&mut master, &like("")), [""; 0]);
    // A pattern applies to the tables that a request names, too.
    let named = |regex: &str| pb::GetTableDescriptorsRequest {
        table_names: vec![table_name("t"), table_name("u"), table_name("missing")],
        ..like(regex)
    };
    assert_eq!(described(&mut master, &named("u.*")), ["u"]);
    assert_eq!(described(&mut master, &named("")), [""; 0]);
}

#[test]
fn tables_by_state_are_those_of_users() {
    let server = TestServer::start().unwrap();
    create_table(&server, "t", &[]);
    create_table(&server, "u", &[]);
    server.connection().admin().disable_table("u").unwrap();
    let mut master = Client::master(&server);
    let mut by_state = |is_enabled| {
        let request = pb::TablesByStateRequest { is_enabled };
        let answer = master.call("ListTableNamesByState", &request);
        names(&answer.decode::<pb::TableNamesResponse>().table_names)
    };
    assert_eq!(by_state(true), ["t"]);
    assert_eq!(by_state(false), ["u"]);
}
