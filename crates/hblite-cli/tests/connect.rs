//! The commands on a cluster: what they print is what they print on a directory.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Output;

use hblite_server::{FaultAction, FaultRule, FaultServer, ServerOptions, TestServer};

use crate::command;
use crate::ports::ClosedPort;

fn hblite(arguments: &[&str], input: &str) -> Output {
    command::hblite(arguments.iter().copied(), input)
}

fn shown(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn cluster() -> (TestServer, String) {
    let options = ServerOptions::on_free_ports().with_region_servers(2);
    let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
    let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
    (server, url)
}

#[test]
fn a_cluster_that_is_down_is_reported_within_seconds_and_once() {
    let closed = ClosedPort::new();
    let url = format!("hbase+rpc://127.0.0.1:{}", closed.port());
    for arguments in [&["shell", "--connect", &url][..], &["digest", &url]] {
        let begun = std::time::Instant::now();
        let output = hblite(arguments, "list\nlist\n");
        assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && errors.lines().count() == 1, "{errors}");
        assert!(errors.contains("Connection refused"), "{errors}");
    }
}

const SCRIPT: &str = "\
create 't', {NAME => 'f', VERSIONS => 3}, SPLITS => ['g', 'p']
put 't', 'a', 'f:q', 'one', 1
put 't', 'h', 'f:q', 'two', 2
put 't', 'z', 'f:q', 'three', 3
incr 't', 'a', 'f:n', 5
get_counter 't', 'a', 'f:n'
get 't', 'h'
scan 't', {COLUMNS => 'f:q', REVERSED => true, LIMIT => 2}
count 't'
deleteall 't', 'h'
scan 't', {COLUMNS => 'f:q', FILTER => \"ValueFilter(!=, 'binary:one')\"}
alter 't', NAME => 'g'
describe 't'
exists 't'
flush 't'
disable 't'
is_enabled 't'
enable 't'
list
create_namespace 'n'
list_namespace
drop_namespace 'n'
disable 't'
drop 't'
list
";

#[test]
fn the_shell_prints_the_same_on_a_cluster() {
    let (_server, url) = cluster();
    let local = shown(&hblite(&["shell", "--memory"], SCRIPT));
    let remote = shown(&hblite(&["shell", "--connect", &url], SCRIPT));
    assert!(local.contains("three"), "{local}");
    let lines = |shown: &str| -> Vec<String> {
        let lines = shown.lines().filter(|line| !line.starts_with("Took "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(lines(&remote), lines(&local));
}

#[test]
fn what_the_shell_cannot_do_has_the_reason_of_its_backend() {
    let (_server, url) = cluster();
    for (place, command, reason) in [
        (&["shell", "--memory"][..], "add_labels 'A'", "labels feature is not available"),
        (&["shell", "--connect", &url], "zk_dump", "does not use ZooKeeper"),
    ] {
        let output = hblite(place, command);
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown);
        assert!(shown.contains(reason), "{shown}");
    }
}

/// The region's server refuses reads, so what is read comes from a replica.
#[test]
fn the_shell_reads_replicas() {
    let options = ServerOptions::on_free_ports().with_region_servers(3);
    let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
    let few = "hbase.client.retries.number=1&hbase.client.pause=1";
    let url = format!("hbase+rpc://127.0.0.1:{}?{few}", server.ports().master);
    let shell = |script: &str| hblite(&["shell", "--connect", &url], script);
    shown(&shell("create 't', 'f', {REGION_REPLICATION => 3}\nput 't', 'r', 'f:q', 'found'\n"));
    let region = &server.connection().admin().regions("t").unwrap()[0];
    let place = server.faults().server_of(region.encoded_name()).unwrap();
    let refused = FaultRule::new(FaultAction::Error("DoNotRetryIOException".to_owned()));
    let rule = refused.methods(["Get", "Scan"]).table("t").server(FaultServer::RegionServer(place));
    server.faults().set(rule).unwrap();
    let replica = "CONSISTENCY => 'TIMELINE', REGION_REPLICA_ID =>";
    for (read, is_answered) in [
        ("get 't', 'r'".to_owned(), false),
        ("scan 't'".to_owned(), false),
        (format!("get 't', 'r', {{{replica} 0}}"), false),
        (format!("get 't', 'r', {{{replica} 1}}"), true),
        (format!("get 't', 'r', {{COLUMN => 'f:q', {replica} 2}}"), true),
        (format!("scan 't', {{{replica} 1}}"), true),
    ] {
        let output = shell(&read);
        let is_found = String::from_utf8_lossy(&output.stdout).contains("value=found");
        assert_eq!((is_found, output.status.success()), (is_answered, is_answered), "{output:?}");
    }
    let output = shell(&format!("get 't', 'r', {{{replica} 7}}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("has no replica 7"), "{errors}");
}

#[test]
fn lines_are_imported_and_exported() {
    let (_server, url) = cluster();
    let lines = "u1,Ada,London\nu2,Grace,New York\n";
    let columns = "HBASE_ROW_KEY,info:name,info:city";
    let to = ["import", "users", "-", "--format", "csv", "--columns", columns, "--connect", &url];
    shown(&hblite(&to, lines));
    let from = ["export", "users", "-", "--format", "csv", "--columns", columns, "--connect", &url];
    assert_eq!(shown(&hblite(&from, "")), lines);
}

#[test]
fn a_cluster_that_is_not_there_is_named() {
    let url = "hbase+rpc://127.0.0.1:1?hbase.client.retries.number=1&hbase.client.pause=1";
    let output = hblite(&["shell", "--connect", url, "-c", "list"], "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && errors.contains("127.0.0.1:1"), "{errors}");
}

/// The lines of a table that follow its title.
fn table(shown: &str, title: &str) -> Vec<String> {
    let lines = shown.lines().skip_while(|line| !line.starts_with(title)).skip(2);
    lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Where the writes went and how many scans, regions and rows a query took, as on a store.
#[test]
fn designs_are_compared_on_a_cluster() {
    let (_server, url) = cluster();
    let dir = tempfile::TempDir::new().unwrap();
    let run = |out: &str, place: &[&str]| {
        let out = dir.path().join(out);
        let study = ["hotspot", "run", "--study", "salting", "--design", "sequential,salted"];
        let size = ["--records", "3000", "--regions", "4", "--windows", "6", "--reads", "6"];
        let arguments = [&study[..], &size, &["--out", out.to_str().unwrap()], place].concat();
        shown(&hblite(&arguments, ""))
    };
    let (local, remote) = (run("local", &[]), run("remote", &["--connect", &url]));
    let even = "How evenly writes are spread";
    assert_eq!(table(&local, even), table(&remote, even), "{remote}");
    assert_eq!(table(&local, even).len(), 2, "{local}");
    let costs = |shown: &str| -> Vec<Vec<String>> {
        let lines = table(shown, "What reads cost");
        // The name of query and design, scans, regions and rows; cells are not counted there.
        let words = |line: &String| line.split_whitespace().take(6).map(str::to_owned).collect();
        lines.iter().map(words).collect()
    };
    assert_eq!(costs(&local), costs(&remote), "{remote}");
    assert_eq!(
        shown(&hblite(&["shell", "--connect", &url, "-c", "list"], "")).matches("salting").count(),
        0
    );

    let create = "create 'salting_salted', 'f'\nput 'salting_salted', 'mine', 'f:q', 'v'\n";
    shown(&hblite(&["shell", "--connect", &url], create));
    let study = ["hotspot", "run", "--study", "salting", "--design", "salted", "--records", "100"];
    let out = dir.path().join("refused");
    let place = ["--regions", "2", "--out", out.to_str().unwrap(), "--connect", &url];
    let output = hblite(&[&study[..], &place].concat(), "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("already has a table salting_salted"), "{errors}");
    let kept = shown(&hblite(&["shell", "--connect", &url, "-c", "scan 'salting_salted'"], ""));
    assert!(kept.contains("mine"), "{kept}");
}

/// In each window, each region has as many writes and reads as in memory if scans do not read
/// ahead.
#[test]
fn regions_count_the_same_requests_on_a_cluster() {
    let (_server, url) = cluster();
    let dir = tempfile::TempDir::new().unwrap();
    let counts = |out: &str, place: &[&str]| -> Vec<serde_json::Value> {
        let out = dir.path().join(out);
        let designs = ["timestamp-lead", "bucketed", "host-lead"];
        let names = designs.join(",");
        let study = ["hotspot", "run", "--study", "log-keys", "--design", &names];
        let size = ["--records", "1000", "--regions", "4", "--windows", "4", "--reads", "4"];
        shown(&hblite(&[&study[..], &size, &["--out", out.to_str().unwrap()], place].concat(), ""));
        let of = |design: &str| {
            let json = std::fs::read(out.join(format!("{design}.json"))).unwrap();
            let result: serde_json::Value = serde_json::from_slice(&json).unwrap();
            let windows = result["counts"]["windows"].as_array().unwrap().clone();
            let counted =
                |window: &serde_json::Value| serde_json::json!([window["writes"], window["reads"]]);
            windows.iter().map(counted).collect()
        };
        designs.map(of).into()
    };
    let local = counts("local", &[]);
    let remote = counts("remote", &["--connect", &format!("{url}?hbase.client.scanner.caching=1")]);
    assert_eq!(local, remote);
    let reads = local.iter().filter_map(|design| design[3][1][0].as_u64());
    assert!(reads.sum::<u64>() > 0, "{local:?}");
    let ahead = counts("ahead", &["--connect", &url]);
    assert_ne!(local, ahead, "a fetch of many rows reads ahead");
}

#[test]
fn a_case_study_gives_the_same_answers_on_a_cluster() {
    let (_server, url) = cluster();
    let run = |place: &[&str]| {
        let study = ["casestudy", "run", "contacts", "--records", "2000", "--check", "--brief"];
        shown(&hblite(&[&study[..], place].concat(), ""))
    };
    // The last column is a time.
    let counts = |shown: &str| -> Vec<Vec<String>> {
        let words = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let counted = words.len().saturating_sub(usize::from(words.len() == 8));
            words[..counted].iter().map(|word| (*word).to_owned()).collect()
        };
        shown.lines().map(words).collect()
    };
    assert_eq!(counts(&run(&[])), counts(&run(&["--connect", &url])));
    let tables = shown(&hblite(&["shell", "--connect", &url, "-c", "list"], ""));
    assert!(tables.contains("0 row(s)"), "{tables}");
}

/// Keys and times of cells are a workload, wherever the table is.
#[test]
fn the_keys_of_a_table_are_run_and_advised_on() {
    let (_server, url) = cluster();
    let dir = tempfile::TempDir::new().unwrap();
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let mut script = "create 'log', 'd'\n".to_owned();
    for index in 0..400 {
        let time = 1_700_000_000_000_u64 + index * 10;
        let host = index * 7919 % 40;
        script += &format!("put 'log', \"host{host:02}\\x00{index:05}\", 'd:v', 'x', {time}\n");
    }
    shown(&hblite(&["shell", "--connect", &url], &script));
    shown(&hblite(&["shell", "--dir", &place("store")], &script));
    let run = |from: &[&str], out: &str| {
        let out = place(out);
        let data = ["hotspot", "run", "--table", "log", "--key", "host:str|n:str", "--out", &out];
        let designs = ["--design", "written:timestamp|host:str|n:str, host:str|n:str"];
        let size = ["--regions", "4", "--windows", "5", "--reads", "0"];
        shown(&hblite(&[&data[..], &designs, &size, from].concat(), ""))
    };
    let local = run(&["--store", &place("store")], "a");
    let even = "How evenly writes are spread";
    assert_eq!(table(&local, even).len(), 2, "{local}");
    // The first is split by time, so each window has its region.
    assert!(table(&local, even)[0].contains("written:timestamp"), "{local}");
    let remote = run(&["--store", &url], "b");
    assert_eq!(table(&local, even), table(&remote, even));
    // Read from the cluster and run there.
    let both = run(&["--connect", &url], "c");
    assert_eq!(table(&local, even), table(&both, even));
    let part = run(&["--store", &url, "--sample", "0.5"], "d");
    assert!(part.contains("host:str|n:str: writes per region over time"), "{part}");

    std::fs::write(place("queries.txt"), "host = ?\n").unwrap();
    let queries = place("queries.txt");
    let advise = ["hotspot", "advise", "--table", "log", "--key", "host:str|n:str"];
    let about = ["--queries", &queries, "--regions", "4", "--connect", &url];
    let advice = shown(&hblite(&[&advise[..], &about].concat(), ""));
    assert!(advice.contains("Proposed key: "), "{advice}");
}

#[test]
fn standard_input_is_a_workload() {
    let dir = tempfile::TempDir::new().unwrap();
    let mut lines = String::new();
    for index in 0..300 {
        lines += &format!(
            "{{\"at\":{},\"id\":\"u{:02}\"}}\n",
            1_700_000_000_000_u64 + index,
            index % 30
        );
    }
    let out = dir.path().join("r").to_str().unwrap().to_owned();
    let data = ["hotspot", "run", "--keys", "-", "--format", "jsonl", "--out", &out];
    let designs = ["--design", "id:str|at:timestamp", "--regions", "3", "--windows", "3"];
    let local = shown(&hblite(&[&data[..], &designs].concat(), &lines));
    assert!(local.contains("id:str|at:timestamp: writes per region over time"), "{local}");
    let result = std::fs::read_dir(&out).unwrap().next().unwrap().unwrap().path();
    let result: serde_json::Value =
        serde_json::from_slice(&std::fs::read(result).unwrap()).unwrap();
    assert_eq!(result["study"], "stdin");
    assert_eq!(result["settings"]["records"], 300);
    let output =
        hblite(&["hotspot", "run", "--keys", "-", "--design", "id:str", "--out", &out], "");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("name the form of the data with --format"), "{errors}");
}

#[test]
fn the_status_of_a_cluster_names_each_server_with_its_regions() {
    let options = ServerOptions::on_free_ports().with_region_servers(3);
    let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
    let url = format!("hbase+rpc://127.0.0.1:{}", server.ports().master);
    let script = "create 't', 'f', SPLITS => ['b', 'c', 'd']\nstatus\nstatus 'simple'\n\
                  list_liveservers\nlist_regions 't', '', ['SERVER_NAME']\n";
    let shown = shown(&hblite(&["shell", "--connect", &url], script));
    // Four regions of the table, hbase:meta and hbase:namespace on three servers.
    let summary = "1 active master, 0 backup masters, 3 servers, 0 dead, 2.0000 average load";
    assert!(shown.contains(summary), "{shown}");
    assert!(shown.contains("3 live servers\n"), "{shown}");
    let counts = shown.split("numberOfOnlineRegions=").skip(1);
    let counts = counts.map(|rest| rest.split(',').next().unwrap().parse::<usize>().unwrap());
    assert_eq!(counts.collect::<Vec<_>>().iter().sum::<usize>(), 6, "{shown}");
    assert!(shown.contains("Aggregate load: 0, regions: 6\n"), "{shown}");
    let (before, regions) = shown.split_once("SERVER_NAME |").unwrap();
    let (_, names) = before.split_once("SERVERNAME\n").unwrap();
    let names: Vec<&str> = names.lines().take(3).collect();
    let servers = regions.lines().filter_map(|line| line.trim().strip_suffix(" |"));
    let servers: Vec<&str> = servers.filter(|name| !name.starts_with('-')).collect();
    assert_eq!(servers.len(), 4, "{shown}");
    assert!(servers.iter().all(|server| names.contains(server)), "{shown}");
}
