//! Commands beyond the recordings: refusals of values, patterns over names, one family.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::support::Session;
use hblite_shell::Outcome;

fn session() -> Session {
    let mut session = Session::new(1_000, 10);
    done(&mut session, "create 't', 'f', 'g'");
    session
}

fn done(session: &mut Session, line: &str) -> String {
    let (outcome, printed) = session.run(line);
    assert_eq!(outcome, Outcome::Done, "{line}: {printed}");
    printed
}

fn refusal(session: &mut Session, line: &str) -> String {
    match session.run(line) {
        (Outcome::Failed(message), _) => message,
        other => panic!("{line}: {other:?}"),
    }
}

/// Numbers are stored exactly as given.
#[test]
fn settings_that_do_not_fit_are_refused() {
    let mut session = session();
    for setting in ["VERSIONS", "MIN_VERSIONS", "TTL", "BLOCKSIZE", "REPLICATION_SCOPE"] {
        let line = format!("create 'u', {{NAME => 'f', {setting} => 4294967296}}");
        let message = refusal(&mut session, &line);
        let expected = format!("4294967296 is not a value of the attribute {setting}, a number");
        assert!(message.starts_with(&expected), "{message}");
    }
    let message = refusal(&mut session, "alter 't', NAME => 'f', VERSIONS => nil");
    assert!(message.starts_with("nil is not a value of the attribute VERSIONS"), "{message}");
    refusal(&mut session, "alter 't', NAME => 'f', DFS_REPLICATION => -1");
    refusal(&mut session, "alter 't', NAME => 'f', DATA_BLOCK_ENCODING => 'diff'");
    refusal(&mut session, "alter 't', DURABILITY => 'fsync_wal'");
    refusal(&mut session, "alter 't', PRIORITY => 2147483648");
    assert!(done(&mut session, "exists 'u'").contains("does not exist"));
    assert_eq!(
        refusal(&mut session, "create 'u', 'f', SPLITS_FILE => 'no/such/file'"),
        "Splits file no/such/file doesn't exist"
    );
    done(&mut session, "create 'u', {NAME => 'f', VERSIONS => 2, BLOCKSIZE => '8K'}");
    assert!(done(&mut session, "describe 'u'").contains("BLOCKSIZE => '8192 B (8KB)'"));
}

#[test]
fn options_of_reads_are_checked_although_they_change_nothing_on_a_directory() {
    let mut session = session();
    for (option, class) in [
        ("ISOLATION_LEVEL", "IsolationLevel"),
        ("CONSISTENCY", "Consistency"),
        ("READ_TYPE", "Scan.ReadType"),
    ] {
        let message = refusal(&mut session, &format!("scan 't', {option} => 'x'"));
        let expected = format!("No enum constant org.apache.hadoop.hbase.client.{class}.x");
        assert_eq!(message, expected);
    }
    refusal(&mut session, "get 't', 'r', {COLUMN => 'f', CONSISTENCY => 'weak'}");
    refusal(&mut session, "scan 't', CACHE_BLOCKS => 'no'");
    done(&mut session, "scan 't', CACHE_BLOCKS => false, READ_TYPE => 'PREAD'");
    done(&mut session, "scan 't', ISOLATION_LEVEL => 'READ_UNCOMMITTED'");
    done(&mut session, "get 't', 'r', {CONSISTENCY => 'TIMELINE'}");
}

#[test]
fn patterns_match_names_with_and_without_the_default_namespace() {
    let mut session = session();
    done(&mut session, "create_namespace 'ns'");
    done(&mut session, "create 'ns:t', 'f'");
    for (pattern, tables) in [
        ("default:t", r#"["t"]"#),
        ("default:.*", r#"["t"]"#),
        (".*:t", r#"["t", "ns:t"]"#),
        ("t", r#"["t"]"#),
        ("ns:.*", r#"["ns:t"]"#),
        ("default.t", r#"["t"]"#),
        ("efault:t", "[]"),
    ] {
        let printed = done(&mut session, &format!("list '{pattern}'"));
        assert!(printed.ends_with(&format!("=> {tables}\n")), "{pattern}: {printed}");
    }
}

#[test]
fn an_empty_pattern_matches_nothing_and_nil_is_none() {
    let mut session = session();
    done(&mut session, "snapshot 't', 's'");
    for (command, tail) in [
        ("list", ""),
        ("disable_all", ""),
        ("enable_all", ""),
        ("drop_all", ""),
        ("list_snapshots", ""),
        ("delete_all_snapshot", ""),
        ("list_table_snapshots", ", 's'"),
        ("delete_table_snapshots", ", 's'"),
        ("list_table_snapshots 't',", ""),
        ("delete_table_snapshots 't',", ""),
    ] {
        let printed = done(&mut session, &format!("{command} ''{tail}"));
        let is_nothing = printed.contains("No ") || printed.ends_with("=> []\n");
        assert!(is_nothing, "{command}: {printed}");
        let message = refusal(&mut session, &format!("{command} nil{tail}"));
        assert_eq!(message, "A regular expression must be of type String", "{command}");
    }
    assert!(done(&mut session, "list_snapshots").ends_with("=> [\"s\"]\n"));
    assert!(done(&mut session, "is_enabled 't'").contains("true"));
}

#[test]
fn a_doubled_quote_is_explained() {
    let mut session = session();
    let message = refusal(&mut session, "put 't', 'r', 'f:q', 'it''s'");
    assert!(message.contains(r#"is written "it's" or 'it\'s'"#), "{message}");
    done(&mut session, r#"put 't', 'r', 'f:q', "it's""#);
    done(&mut session, r"put 't', 'r', 'f:q', 'it\'s'");
}

#[test]
fn a_word_without_quotes_is_explained() {
    let mut session = session();
    for (command, quoted) in [
        ("create users, 'f'", "users"),
        ("create 'x', f", "f"),
        ("create 'x', {NAME => Info}", "Info"),
        ("put 't', r1, 'f:q', 'v'", "r1"),
        ("scan 't', {COLUMNS => [f]}", "f"),
        ("scan Users", "Users"),
        ("get users 'r1'", "users"),
        ("put 't', 'r', 'f:q', hello world", "world"),
    ] {
        let message = refusal(&mut session, command);
        let advice = format!("; a name or value needs quotes: '{quoted}'");
        assert!(message.ends_with(&advice) && message.matches(';').count() == 1, "{message}");
    }
    for (command, word) in [("scan my-table", "my"), ("get 't', row-1", "row")] {
        let message = refusal(&mut session, command);
        let advice = format!("; a name or value needs quotes: '{word}'");
        assert!(message.ends_with(&advice), "{message}");
    }
    // No string is missing here.
    for command in ["users", "users()", "scan 't', {NOSUCH => 1}", "x.name"] {
        assert!(!refusal(&mut session, command).contains("quotes"), "{command}");
    }
}

#[test]
fn a_region_is_truncated() {
    let mut session = session();
    done(&mut session, "put 't', 'a', 'f:q', 1");
    let name: hblite::TableName = "t".parse().unwrap();
    let region = session.connection.admin().regions(&name).unwrap().remove(0);
    done(&mut session, &format!("truncate_region '{}'", region.encoded_name()));
    done(&mut session, &format!("truncate_region '{}'", region.region_name_as_string()));
    assert!(done(&mut session, "count 't'").contains("0 row(s)"));
    let message = refusal(&mut session, "truncate_region 'none'");
    assert_eq!(message, "Invalid region: none");
}

#[test]
fn alter_async_prints_nothing() {
    let mut session = session();
    let printed = done(&mut session, "alter_async 't', NAME => 'f', VERSIONS => 3");
    assert!(printed.starts_with("Took ") && printed.lines().count() == 1, "{printed}");
    assert!(done(&mut session, "describe 't'").contains("VERSIONS => '3'"));
}

#[test]
fn families_are_flushed_and_compacted_alone() {
    let mut session = session();
    let files = |session: &mut Session| {
        let status = session.connection.admin().status().unwrap();
        let is_user_table = |region: &&hblite::RegionStatus| !region.region.table().is_system();
        status.regions.iter().find(is_user_table).unwrap().store_file_count
    };
    for row in ["a", "b"] {
        done(&mut session, &format!("put 't', '{row}', 'f:q', 1; put 't', '{row}', 'g:q', 1"));
        done(&mut session, "flush 't', 'f'");
    }
    assert_eq!(files(&mut session), 2);
    done(&mut session, "major_compact 't', 'g'");
    assert_eq!(files(&mut session), 2);
    done(&mut session, "major_compact 't', 'f'");
    assert_eq!(files(&mut session), 1);
    for command in ["compact", "major_compact"] {
        let message = refusal(&mut session, &format!("{command} 't', 'h'"));
        assert!(message.contains("NoSuchColumnFamilyException"), "{message}");
    }
}

#[test]
fn snapshots_are_taken_listed_cloned_restored_and_deleted() {
    let mut session = session();
    done(&mut session, "put 't', 'r', 'f:q', 'before'");
    done(&mut session, "snapshot 't', 'one'");
    done(&mut session, "snapshot 't', 'two', {SKIP_FLUSH => true, TTL => 60}");
    done(&mut session, "put 't', 'r', 'f:q', 'behind'");
    let there = refusal(&mut session, "snapshot 't', 'one'");
    assert!(there.ends_with("Snapshot 'one' already stored on the filesystem."), "{there}");
    let listed = done(&mut session, "list_snapshots 'o.*'");
    assert!(listed.contains(" one t (1970-01-01 00:00:01 +0000) FOREVER\n1 row(s)"), "{listed}");
    assert!(done(&mut session, "list_snapshots").contains("=> [\"one\", \"two\"]"));
    assert!(done(&mut session, "list_table_snapshots 't', 'tw.'").contains("=> [\"two\"]"));
    assert!(done(&mut session, "list_table_snapshots 'x.*'").contains("0 row(s)"));
    done(&mut session, "clone_snapshot 'one', 'copy'");
    assert!(done(&mut session, "get 'copy', 'r'").contains("value=before"));
    assert_eq!(refusal(&mut session, "clone_snapshot 'one', 't'"), "Table already exists: t!");
    assert_eq!(refusal(&mut session, "clone_snapshot 'one', 'no:t'"), "Unknown namespace: no!");
    refusal(&mut session, "restore_snapshot 'one'");
    done(&mut session, "disable 't'");
    done(&mut session, "restore_snapshot 'one'");
    done(&mut session, "enable 't'");
    assert!(done(&mut session, "get 't', 'r'").contains("value=before"));
    let none = done(&mut session, "delete_table_snapshots 'x'");
    assert!(none.contains("No snapshots matched the table name regular expression x and the"));
    done(&mut session, "delete_snapshot 'two'");
    assert_eq!(refusal(&mut session, "delete_snapshot 'two'"), "Unknown snapshot two!");
    assert!(done(&mut session, "help 'snapshots'").contains("delete_table_snapshots"));
}

/// `hbase.column.max.version`.
#[test]
fn a_family_without_versions_has_those_of_the_store() {
    use hblite_shell::{NoLines, Shell, ShellOptions};
    let connection = hblite::Options::new().with_family_versions(3).open_in_memory().unwrap();
    let mut shell =
        Shell::new(connection.clone(), Box::new(std::io::sink()), ShellOptions::default());
    for line in
        ["create 't', 'f', {NAME => 'g', VERSIONS => 2}, {NAME => 'h', TTL => 9}", "alter 't', 'i'"]
    {
        assert_eq!(shell.run_line(line, &mut NoLines).unwrap(), Outcome::Done);
    }
    let table = connection.admin().describe_table("t").unwrap();
    let versions: Vec<u32> = table.families().map(|family| family.versions()).collect();
    assert_eq!(versions, [3, 2, 3, 3]);
}

#[test]
fn values_of_other_types_are_refused_and_change_nothing() {
    let mut session = session();
    done(&mut session, "incr 't', 'r', 'f:n', 2.9");
    for (line, message) in [
        ("alter 't', 5", "Integer of 5 is not of Hash or String type"),
        ("incr 't', 'r', 'f:n', '5'", "String of \"5\" is not of Integer type"),
        ("clone_table_schema 't', 'u', 'x'", "String of \"x\" is not of boolean type"),
        ("balance_switch 5", "Integer of 5 is not of boolean type"),
        ("create 'u', 'f', {NUMREGIONS => 3, SPLITALGO => 'Best'}", "Class Best not found"),
        ("list '['", "Unclosed character class near index 0\n[\n^"),
        ("list_snapshots '('", "Unclosed group near index 1\n("),
    ] {
        assert_eq!(refusal(&mut session, line), message, "{line}");
    }
    assert!(done(&mut session, "describe 't'").contains("2 row(s)"));
    assert!(done(&mut session, "get_counter 't', 'r', 'f:n'").contains("COUNTER VALUE = 2"));
    assert!(done(&mut session, "list").contains("1 row(s)"));
}

/// A table must not look encrypted without being so.
#[test]
fn encryption_is_refused() {
    let mut session = session();
    let message = refusal(&mut session, "create 'u', {NAME => 'f', ENCRYPTION => 'AES'}");
    assert!(message.contains("KeyStoreKeyProvider failed test"), "{message}");
    let message = refusal(&mut session, "alter 't', NAME => 'f', ENCRYPTION => 'AES'");
    assert!(message.contains("KeyStoreKeyProvider failed test"), "{message}");
    let line = "create 'u', {NAME => 'f', ENCRYPTION => 'AES', ENCRYPTION_KEY => 'k'}";
    assert!(refusal(&mut session, line).starts_with("ENCRYPTION_KEY must be wrapped"));
}

#[test]
fn what_does_not_exist_is_named_as_in_hbase() {
    let mut session = session();
    for line in ["delete_snapshot 'no'", "clone_snapshot 'no', 'u'"] {
        assert_eq!(refusal(&mut session, line), "Unknown snapshot no!", "{line}");
    }
    let message = "Unable to find the table name for snapshot=no";
    assert_eq!(refusal(&mut session, "restore_snapshot 'no'"), message);
    let message = "Column families [h] don't exist in table t";
    assert_eq!(refusal(&mut session, "flush 't', 'h'"), message);
    assert!(done(&mut session, "get_splits 'no'").contains("Total number of splits = 1"));
    done(&mut session, "decommission_regionservers 'no,1,2'");
    done(&mut session, "recommission_regionserver 'no,1,2'");
}

#[test]
fn a_disabled_table_is_not_split_and_compacts_nothing() {
    let mut session = session();
    done(&mut session, "disable 't'");
    assert_eq!(refusal(&mut session, "split 't', 'c'"), "Table t is disabled!");
    assert!(done(&mut session, "compaction_state 't'").contains("NONE"));
}

#[test]
fn a_table_in_a_variable_takes_snapshots() {
    let mut session = session();
    done(&mut session, "t = get_table 't'");
    done(&mut session, "t.snapshot 's', {SKIP_FLUSH => true}");
    assert!(done(&mut session, "list_snapshots").contains("1 row(s)"));
}
