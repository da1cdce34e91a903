//! Commands of operators on a store: switches, lists, servers. What they print is recorded from a
//! standalone HBase 2.6.1.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_shell::Outcome;

use crate::support::Session;

/// Runs a line, and returns what it printed before its time, and the value after that.
fn ask(session: &mut Session, line: &str) -> (String, String) {
    let (_, printed) = session.run(line);
    let at = printed.find("Took ").unwrap();
    let (output, rest) = printed.split_at(at);
    let value = rest.split_once('\n').unwrap().1;
    (output.to_owned(), value.to_owned())
}

fn check(session: &mut Session, line: &str, output: &str, value: &str) {
    let expected = (output.to_owned(), value.to_owned());
    assert_eq!(ask(session, line), expected, "{line}");
}

fn refusal(session: &mut Session, line: &str) -> String {
    match session.run(line) {
        (Outcome::Failed(message), _) => message,
        other => panic!("{line}: {other:?}"),
    }
}

fn session() -> Session {
    let mut session = Session::new(1_000, 10);
    let (outcome, _) = session.run("create 'ops', 'f', SPLITS => ['m']");
    assert_eq!(outcome, Outcome::Done);
    session
}

#[test]
fn a_switch_prints_what_it_was() {
    let mut session = session();
    for (switch, shown, label) in [
        ("balance_switch", "balancer_enabled", "Previous balancer state : "),
        ("normalizer_switch", "normalizer_enabled", ""),
        ("catalogjanitor_switch", "catalogjanitor_enabled", ""),
        ("cleaner_chore_switch", "cleaner_chore_enabled", ""),
        (
            "snapshot_cleanup_switch",
            "snapshot_cleanup_enabled",
            "Previous snapshot cleanup state : ",
        ),
        (
            "peer_modification_switch",
            "peer_modification_enabled",
            "Previous peer modification state : ",
        ),
    ] {
        check(&mut session, shown, "true\n", "=> true\n");
        let off = format!("{switch} false");
        check(&mut session, &off, &format!("{label}true\n"), "=> true\n");
        check(&mut session, shown, "false\n", "=> false\n");
        let on = format!("{switch} 'true'");
        check(&mut session, &on, &format!("{label}false\n"), "=> false\n");
        check(&mut session, shown, "true\n", "=> true\n");
    }
    // Without quotas these stay off.
    for (switch, label) in [
        ("rpc_throttle", "Previous rpc throttle state : "),
        ("exceed_throttle_quota", "Previous exceed throttle quota enabled : "),
    ] {
        for verb in ["disable", "enable", "enable"] {
            let line = format!("{verb}_{switch}");
            check(&mut session, &line, &format!("{label}false\n"), "=> false\n");
        }
    }
    assert_eq!(
        refusal(&mut session, "balance_switch"),
        "wrong number of arguments (given 0, expected 1)"
    );
}

#[test]
fn splits_and_merges_that_are_off_are_refused() {
    let mut session = session();
    let name: hblite::TableName = "ops".parse().unwrap();
    let regions = session.connection.admin().regions(&name).unwrap();
    check(&mut session, "splitormerge_switch 'SPLIT', false", "true\n", "=> true\n");
    check(&mut session, "splitormerge_enabled 'SPLIT'", "false\n", "=> false\n");
    check(&mut session, "splitormerge_enabled 'MERGE'", "true\n", "=> true\n");
    assert_eq!(
        refusal(&mut session, "split 'ops', 'c'"),
        format!(
            "org.apache.hadoop.hbase.DoNotRetryIOException: Split region {} failed due to split \
             switch off",
            regions[0].region_name_as_string()
        )
    );
    check(&mut session, "splitormerge_switch 'SPLIT', true", "false\n", "=> false\n");
    check(&mut session, "splitormerge_switch 'MERGE', false", "true\n", "=> true\n");
    let names = regions.iter().map(|region| region.encoded_name()).collect::<Vec<_>>();
    assert_eq!(
        refusal(&mut session, &format!("merge_region '{}'", names.join("', '"))),
        format!(
            "org.apache.hadoop.hbase.DoNotRetryIOException: Merge of [{}] failed because merge \
             switch is off",
            names.join(", ")
        )
    );
    check(&mut session, "splitormerge_switch 'MERGE', true", "false\n", "=> false\n");
    let message = "only SPLIT or MERGE accepted for type!";
    assert_eq!(refusal(&mut session, "splitormerge_switch 'OTHER', true"), message);
    assert_eq!(refusal(&mut session, "splitormerge_enabled 'OTHER'"), message);
    let (outcome, _) = session.run("split 'ops', 'c'");
    assert_eq!(outcome, Outcome::Done);
}

#[test]
fn compactions_that_are_off_do_nothing_until_they_are_on() {
    let mut session = session();
    let files = |session: &mut Session| {
        let status = session.connection.admin().status().unwrap();
        let regions = status.regions.iter().filter(|region| !region.region.table().is_system());
        regions.map(|region| region.store_file_count).sum::<u64>()
    };
    for row in ["a", "b"] {
        let (_, _) = session.run(&format!("put 'ops', '{row}', 'f:q', 1; flush 'ops'"));
    }
    let server = session.connection.admin().servers().unwrap().live.remove(0);
    let shown = |was_on: bool| format!("['SERVER'  'PREV_STATE']\n {server} {was_on}\n1 row(s)\n");
    check(&mut session, "compaction_switch false", &shown(true), "");
    let (_, _) = session.run("major_compact 'ops'");
    let (_, _) = session.run(&format!("compact_rs '{server}', true"));
    assert_eq!(files(&mut session), 2);
    check(&mut session, &format!("compaction_switch true, '{server}'"), &shown(false), "");
    let (_, _) = session.run(&format!("compact_rs '{server}', true"));
    assert_eq!(files(&mut session), 1);
}

#[test]
fn the_only_server_keeps_its_regions() {
    let mut session = session();
    let name: hblite::TableName = "ops".parse().unwrap();
    let regions = session.connection.admin().regions(&name).unwrap();
    let region = regions[0].encoded_name();
    let server = session.connection.admin().servers().unwrap().live.remove(0);
    let assign = format!("assign '{region}'");
    let class = "org.apache.hadoop.hbase.client.DoNotRetryRegionException";
    assert_eq!(
        refusal(&mut session, &assign),
        format!(
            "{class}: Unexpected state for state=OPEN, location={server}, table=ops, \
             region={region}"
        )
    );
    let (_, _) = session.run("disable 'ops'");
    let closed = format!("state=CLOSED, location=null, table=ops, region={region}");
    assert_eq!(
        refusal(&mut session, &assign),
        format!("org.apache.hadoop.hbase.DoNotRetryIOException: ops is disabled for {closed}")
    );
    let unassign = format!("unassign '{region}'");
    assert_eq!(refusal(&mut session, &unassign), format!("{class}: Unexpected state for {closed}"));
    let (_, _) = session.run("enable 'ops'");
    check(&mut session, &unassign, "", "");
    assert_eq!(refusal(&mut session, &unassign), format!("{class}: Unexpected state for {closed}"));
    let name = regions[0].region_name_as_string();
    let absent = format!(
        "org.apache.hadoop.hbase.NotServingRegionException: {name} is not online: assign it"
    );
    for line in ["get 'ops', 'a'", "put 'ops', 'a', 'f:q', '1'", "scan 'ops'"] {
        assert_eq!(refusal(&mut session, line), absent, "{line}");
    }
    let split = format!("split '{region}', 'c'");
    assert!(refusal(&mut session, &split).contains("not OPEN"));
    check(&mut session, "put 'ops', 'z', 'f:q', '1'", "", "");
    check(&mut session, &assign, "", "");
    check(&mut session, "put 'ops', 'a', 'f:q', '1'", "", "");
    check(&mut session, "count 'ops'", "2 row(s)\n", "=> 2\n");
    check(&mut session, &format!("move '{region}', '{server}'"), "", "");
    check(&mut session, &format!("move '{region}', 'h,1,1'"), "", "");
    assert_eq!(
        refusal(&mut session, &format!("move '{region}', 'nosuch'")),
        "begin 0, end -1, length 6"
    );
    assert!(refusal(&mut session, "move 'nosuch'").ends_with("UnknownRegionException: nosuch"));
    assert_eq!(refusal(&mut session, "stop_regionserver 'x'"), "Not a host:port pair: x");
    assert_eq!(refusal(&mut session, "clear_block_cache 'nosuch'"), "Unknown table nosuch!");
}

#[test]
fn a_store_whose_server_is_stopped_is_closed() {
    for is_master in [true, false] {
        let mut session = session();
        let server = session.connection.admin().servers().unwrap().live.remove(0);
        let stop = match is_master {
            true => "stop_master".to_owned(),
            false => format!("stop_regionserver 'localhost:{}'", server.split(',').nth(1).unwrap()),
        };
        check(&mut session, &stop, "", "");
        assert!(refusal(&mut session, "get 'ops', 'a'").contains("closed"), "{stop}");
        session.connection.clone().close().unwrap();
    }
}

#[test]
fn zk_dump_prints_the_servers_of_a_store() {
    let mut session = session();
    let server = session.connection.admin().servers().unwrap().live.remove(0);
    let expected = format!(
        "HBase is rooted at /hbase\nActive master address: \n {server}\nBackup master \
         addresses:\nRegion server holding hbase:meta:\n {server}\nRegion servers:\n {server}\n\
         Quorum Server Statistics:\n"
    );
    check(&mut session, "zk_dump", &expected, "");
}

#[test]
fn a_decommissioned_server_is_listed() {
    let mut session = session();
    let server = session.connection.admin().servers().unwrap().live.remove(0);
    let listed = |count: usize| {
        let line = if count > 0 { format!("{server}\n") } else { String::new() };
        format!("DECOMMISSIONED REGION SERVERS\n{line}{count} row(s)\n")
    };
    let list = "list_decommissioned_regionservers";
    check(&mut session, "decommission_regionservers 'localhost'", "", "");
    check(&mut session, list, &listed(1), "");
    check(&mut session, &format!("recommission_regionserver '{server}', ['x']"), "", "");
    check(&mut session, list, &listed(0), "");
    assert_eq!(
        refusal(&mut session, &format!("decommission_regionservers ['{server}'], true")),
        "org.apache.hadoop.hbase.HBaseIOException: Unable to determine a plan to move {ENCODED => \
         1588230740, NAME => 'hbase:meta,,1', STARTKEY => '', ENDKEY => ''}"
    );
    check(&mut session, list, &listed(1), "");
    for (line, message) in [
        (
            "decommission_regionservers 'x'",
            "Could not find any server(s) with specified name(s): x",
        ),
        ("decommission_regionservers 5", "Integer of 5 is not of Array/String type"),
        ("decommission_regionservers 'localhost', 5", "5 is not a boolean value"),
        ("recommission_regionserver 5", "Integer of 5 is not of String type"),
        ("recommission_regionserver 'localhost', 'x'", "String of \"x\" is not of Array type"),
        ("recommission_regionserver 'x'", "Could not find any server with name x"),
    ] {
        assert_eq!(refusal(&mut session, line), message, "{line}");
    }
}
