//! `hblite copy` and `hblite digest` from outside: directories, a cluster, exit statuses, a copy
//! that continues.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::process::Output;

use hblite_server::{ServerOptions, TestServer};

use crate::command;

fn hblite(arguments: &[&str], input: &str) -> Output {
    command::hblite(arguments.iter().copied(), input)
}

/// Standard output and the exit status.
fn outcome(arguments: &[&str]) -> (String, i32) {
    let output = hblite(arguments, "");
    let errors = String::from_utf8_lossy(&output.stderr);
    let shown = String::from_utf8_lossy(&output.stdout);
    (format!("{shown}{errors}"), output.status.code().unwrap())
}

const SCRIPT: &str = "\
create_namespace 'n'
create 't', {NAME => 'f', VERSIONS => 3}, SPLITS => ['g', 'p']
create 'n:u', 'f'
put 't', 'a', 'f:q', 'one', 1
put 't', 'a', 'f:q', 'two', 2
put 't', 'h', 'f:q', 'three', 3
put 't', 'z', 'f:q', 'four', 4
deleteall 't', 'h'
put 'n:u', 'x', 'f:q', 'five', 5
";

fn store(dir: &str) {
    let output = hblite(&["shell", "--dir", dir], SCRIPT);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_store_moves_to_a_cluster_and_back() {
    let root = tempfile::tempdir().unwrap();
    let dir = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let (a, b) = (dir("a"), dir("b"));
    store(&a);
    let options = ServerOptions::on_free_ports().with_region_servers(2);
    let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
    let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);

    let (text, status) = outcome(&["copy", &a, &url]);
    assert_eq!(status, 0, "{text}");
    // The flush on close dropped the cell that the marker hides.
    assert!(text.contains("t: rows 3, cells 4, "), "{text}");
    assert!(text.contains("n:u: rows 1, cells 1, "), "{text}");
    let (text, status) = outcome(&["copy", &url, &b]);
    assert_eq!(status, 0, "{text}");

    let digests = [&a, &url, &b].map(|place| outcome(&["digest", place]));
    assert_eq!(digests[0].1, 0, "{digests:?}");
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[0], digests[2]);
    assert!(digests[0].0.contains("  t  rows 2, cells 3\n"), "{digests:?}");
    let equal = ("t: equal, rows 2\nn:u: equal, rows 1\n".to_owned(), 0);
    assert_eq!(outcome(&["digest", &a, &b]), equal);
    assert_eq!(outcome(&["digest", &a, &url]), equal);
}

#[test]
fn coprocessors_that_the_target_does_not_have_can_be_left_out() {
    let root = tempfile::tempdir().unwrap();
    let dir = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let (a, b) = (dir("a"), dir("b"));
    // As in a directory of HBase, which has classes that hblite does not have.
    let unchecked = hblite::Options::new().with_settings_checked(false);
    let store = unchecked.open(&a).unwrap();
    let family = hblite::ColumnFamilyDescriptor::new("f");
    let mut table = hblite::TableDescriptor::new("t".parse().unwrap()).with_family(family);
    table.add_coprocessor("|org.apache.phoenix.coprocessor.ScanRegionObserver|805306366|").unwrap();
    store.admin().create_table(&table).unwrap();
    store.table("t").unwrap().put(&hblite::Put::new("r").add("f", "q", "v")).unwrap();
    store.close().unwrap();

    let (text, status) = outcome(&["copy", &a, &b]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("ScanRegionObserver cannot be loaded"), "{text}");
    assert!(text.contains("--without-coprocessors"), "{text}");
    let (text, status) = outcome(&["copy", &a, &b, "--without-coprocessors"]);
    assert_eq!((text.contains("t: rows 1, cells 1, "), status), (true, 0), "{text}");
    let copy = hblite::Options::new().open(&b).unwrap();
    assert_eq!(copy.admin().describe_table("t").unwrap().coprocessors().count(), 0);
}

#[test]
fn differences_are_shown_and_give_a_status() {
    let root = tempfile::tempdir().unwrap();
    let dir = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let (a, b) = (dir("a"), dir("b"));
    store(&a);
    let (text, status) = outcome(&["copy", &a, &b, "--table", "t"]);
    assert_eq!(status, 0, "{text}");
    let output = hblite(&["shell", "--dir", &b], "put 't', 'b', 'f:q', 'new', 9\n");
    assert!(output.status.success());
    let shown = format!(
        "t: rows that differ: 1 (left: 2 rows, right: 3 rows)\n  b: only on the right\n\
         n:u: does not exist at {b}\n"
    );
    assert_eq!(outcome(&["digest", &a, &b]), (shown, 1));
    let (text, status) = outcome(&["digest", &a, &b, "--table", "t", "--json", "--show", "0"]);
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &line["rows_different"]), (1, &serde_json::json!(1)));
    let (text, status) = outcome(&["digest", &a, "--table", "none"]);
    assert_eq!((text, status), (format!("hblite: {a}: Table 'none' does not exist.\n"), 2));
    assert_eq!(outcome(&["digest", &dir("nowhere")]).1, 2);
    assert!(!root.path().join("nowhere").exists());
}

#[test]
fn a_copy_continues_from_its_file() {
    let root = tempfile::tempdir().unwrap();
    let dir = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let (a, b, state) = (dir("a"), dir("b"), dir("state"));
    store(&a);
    let arguments = ["copy", &a, &b, "--table", "t", "--resume", &state];
    assert_eq!(outcome(&arguments).1, 0);
    // Like a copy that was stopped after the first region, whose rows are not read again.
    let text = fs::read_to_string(&state).unwrap();
    let edited =
        text.replacen(r#""copied_to":"h","is_done":true"#, r#""copied_to":"","is_done":false"#, 1);
    assert_ne!(edited, text);
    fs::write(&state, edited).unwrap();
    let (text, status) = outcome(&arguments);
    assert!(status == 0 && text.starts_with("t: rows 1, cells "), "{text}");
    assert_eq!(outcome(&arguments), ("t: was copied before\n".to_owned(), 0));

    let (text, status) = outcome(&["copy", &b, &a, "--resume", &state]);
    assert!(status == 1 && text.contains("belongs to the copy from"), "{text}");
    fs::write(&state, "{}").unwrap();
    let (text, status) = outcome(&arguments);
    assert!(status == 1 && text.contains("is not the state of a copy"), "{text}");
    assert_eq!(fs::read_to_string(&state).unwrap(), "{}");
}

#[test]
fn a_table_is_copied_under_another_name() {
    let root = tempfile::tempdir().unwrap();
    let a = root.path().join("a").to_str().unwrap().to_owned();
    store(&a);
    let (text, status) = outcome(&["copy", &a, &a, "--table", "t", "--to-table", "m:v"]);
    assert_eq!(status, 0, "{text}");
    let (text, _) = outcome(&["digest", &a]);
    let digest = |table: &str| {
        let line = text.lines().find(|line| line.contains(&format!("  {table}  "))).unwrap();
        line.split("  ").next().unwrap().to_owned()
    };
    assert_eq!(digest("t"), digest("m:v"));
    let (text, status) = outcome(&["copy", &a, &a]);
    assert!(status == 1 && text.contains("the source and the target are the same"), "{text}");
    assert_eq!(outcome(&["copy", &a, "b", "--to-table", "x"]).1, 1);
}

#[test]
fn columns_are_found_by_a_scan() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("a").to_str().unwrap().to_owned();
    let script = "create 't', 'f', 'g'\n\
        put 't', 'a', 'f:q', 'one'\nput 't', 'b', 'f:q', 'two'\n\
        put 't', 'b', \"g:\\x00\\x01\", 'three'\nput 't', 'b', 'g:gone', 'four'\n\
        delete 't', 'b', 'g:gone'\n";
    assert!(hblite(&["shell", "--dir", &dir], script).status.success());
    let found = "f:q  rows 2\ng:\\x00\\x01  rows 1\n".to_owned();
    assert_eq!(outcome(&["columns", &dir, "t"]), (found, 0));
    let found = "f:q  rows 2\n".to_owned();
    assert_eq!(outcome(&["columns", &dir, "t", "--family", "f"]), (found, 0));
    let (shown, status) = outcome(&["columns", &dir, "t", "--max", "1"]);
    assert_eq!(status, 1, "{shown}");
    assert!(shown.contains("t has more than 1 columns: raise --max"), "{shown}");
    assert_eq!(outcome(&["columns", &dir, "none"]).1, 1);
}
