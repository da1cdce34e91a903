//! Loads whose shares are known, watched in every way while they run: over HTTP, over RPC and in
//! the console. The truth is counted here, by what sends the requests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hblite::{ColumnFamilyDescriptor, Connection, Get, Increment, Put, TableDescriptor, TableName};
use serde_json::Value;

use crate::served::Served;

/// The address of the client.
const LOCAL: &str = "127.0.0.1";
/// Points that a share may be wrong by.
const POINTS_MAX: f64 = 5.0;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Put,
    Get,
    Increment,
}

/// What is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    Nothing,
    Row(&'static str),
    Prefix(&'static str),
    /// All writes move.
    Front,
    /// Writes move within this prefix.
    FrontIn(&'static str),
}

struct Load {
    table: &'static str,
    kind: Kind,
    /// The row of a request.
    row: fn(u64) -> String,
    answer: Answer,
}

/// A number in no order.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 31)).wrapping_mul(0x7fb5_d329_728e_a185);
    (number ^ (number >> 27)).wrapping_mul(0x81da_def4_bc2d_d44d) >> 20
}

/// A row of one of four regions, which begin with the first key, "g", "n" and "t".
fn even(at: u64) -> String {
    let mixed = mixed(at);
    format!("{}{:05}", char::from(b"abhjopuv"[mixed as usize % 8]), mixed % 30_000)
}

fn mostly(row: &str, at: u64) -> String {
    if mixed(at + 7) % 10 < 7 { row.to_owned() } else { even(at) }
}

const LOADS: [Load; 10] = [
    Load { table: "uniform", kind: Kind::Put, row: even, answer: Answer::Nothing },
    Load { table: "row", kind: Kind::Put, row: |at| mostly("hot", at), answer: Answer::Row("hot") },
    Load { table: "first", kind: Kind::Put, row: |at| format!("a{at:09}"), answer: Answer::Front },
    Load { table: "middle", kind: Kind::Put, row: |at| format!("i{at:09}"), answer: Answer::Front },
    Load { table: "last", kind: Kind::Put, row: |at| format!("x{at:09}"), answer: Answer::Front },
    Load {
        table: "prefix",
        kind: Kind::Put,
        row: |at| if at % 5 < 3 { format!("user7-{}", even(at)) } else { even(at) },
        answer: Answer::Prefix("user7-"),
    },
    Load {
        table: "within",
        kind: Kind::Put,
        row: |at| if at % 2 == 0 { format!("user7-{at:09}") } else { even(at) },
        answer: Answer::FrontIn("user7-"),
    },
    Load {
        table: "reads",
        kind: Kind::Get,
        row: |at| mostly("old", at),
        answer: Answer::Row("old"),
    },
    Load { table: "even_reads", kind: Kind::Get, row: even, answer: Answer::Nothing },
    Load {
        table: "counters",
        kind: Kind::Increment,
        row: |at| mostly("total", at),
        answer: Answer::Row("total"),
    },
];

fn connect(served: &Served) -> Connection {
    hblite::connect(&served.url()).expect("a connection")
}

/// Sets a flag at its end.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Tables with a load that ends before anything is watched.
fn prepare(connection: &Connection) {
    for load in &LOADS {
        let name: TableName = load.table.parse().unwrap();
        let family = ColumnFamilyDescriptor::new("f");
        let splits = ["g", "n", "t"].map(|key| key.as_bytes().to_vec());
        let descriptor = TableDescriptor::new(name).with_family(family);
        connection.admin().create_table_with_splits(&descriptor, &splits).unwrap();
        if load.kind != Kind::Get {
            let old = Put::new("old").add("f", "q", 0_i64.to_be_bytes());
            connection.table(load.table).unwrap().put_all(&vec![old; 5_000]).unwrap();
        }
    }
}

/// Sends requests until `stop`. Returns how many each row had.
fn send(connection: &Connection, load: &Load, stop: &AtomicBool) -> BTreeMap<String, u64> {
    let table = connection.table(load.table).unwrap();
    let mut counts = BTreeMap::new();
    for at in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let row = (load.row)(at);
        match load.kind {
            Kind::Put => table.put(&Put::new(&row).add("f", "q", "value")).unwrap(),
            Kind::Get => drop(table.get(&Get::new(&row)).unwrap()),
            Kind::Increment => {
                drop(table.increment(&Increment::new(&row).add("f", "n", 1)).unwrap());
            }
        }
        *counts.entry(row).or_default() += 1;
    }
    counts
}

/// What `hblite hotspot watch` prints for each table.
fn watch(url: &str) -> BTreeMap<&'static str, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.args(["hotspot", "watch", url, "--every", "2", "--windows", "4"]);
    LOADS.iter().for_each(|load| _ = command.args(["--table", load.table]));
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{url}: {text}{}", String::from_utf8_lossy(&output.stderr));
    let begin = |load: &Load| format!("{}: writes per region", load.table);
    let place = |load: &Load| text.find(&begin(load)).unwrap_or_else(|| panic!("{text}"));
    let mut places: Vec<(usize, &'static str)> =
        LOADS.iter().map(|load| (place(load), load.table)).collect();
    places.sort_unstable();
    let ends = places.iter().skip(1).map(|(place, _)| *place).chain([text.len()]);
    places
        .iter()
        .zip(ends)
        .map(|((from, table), to)| (*table, text[*from..to].to_owned()))
        .collect()
}

/// What the console says of each table.
fn console(served: &Served) -> BTreeMap<&'static str, String> {
    let port = served.port("http_port");
    let of = |load: &Load| {
        let url = format!("http://127.0.0.1:{port}/console/api/heat?table={}", load.table);
        let answer: Value = ureq::get(&url).call().unwrap().body_mut().read_json().unwrap();
        let found = answer["findings"].as_array().unwrap().iter();
        let texts: Vec<&str> = found.map(|finding| finding["text"].as_str().unwrap()).collect();
        (load.table, texts.join("\n"))
    };
    LOADS.iter().map(of).collect()
}

/// All requests come from here, and are of the kind that is sent.
fn check_callers(table: &Value) {
    let load = LOADS.iter().find(|load| load.table == table["table"]).unwrap();
    for (list, name) in [("operations", format!("{:?}", load.kind)), ("clients", LOCAL.to_owned())]
    {
        let first = &table["callers"][list][0];
        assert_eq!((&first["name"], &first["share"]), (&name.into(), &1.0.into()), "{table}");
    }
}

/// The findings of each table in a document for programs, whose shares of rows are those of its
/// findings.
fn findings(document: &Value) -> BTreeMap<String, String> {
    assert_eq!(document["version"], 1, "{document}");
    let of = |table: &Value| {
        assert_eq!(table["rows"]["method"], "counted", "{table}");
        check_callers(table);
        let rows = table["hottest"]["rows"].as_array().unwrap();
        let found = table["findings"].as_array().unwrap();
        for finding in found.iter().filter(|finding| finding["kind"] == "row") {
            // An increment reads and writes, and the two are counted apart.
            let is_it = |row: &&Value| {
                (&row["row"], &row["metric"]) == (&finding["keys"]["start"], &finding["metric"])
            };
            let row = rows.iter().find(is_it).unwrap();
            assert_eq!(row["share"], finding["share"], "{table}");
            let of = |bound: &str| row[bound].as_f64().unwrap();
            assert!(of("low") <= of("share") && of("share") <= of("high"), "{row}");
        }
        let texts: Vec<&str> = found.iter().map(|one| one["text"].as_str().unwrap()).collect();
        (table["table"].as_str().unwrap().to_owned(), texts.join("\n"))
    };
    document["tables"].as_array().unwrap().iter().map(of).collect()
}

/// What `GET /hot` answers for the windows of the console that began after a moment.
fn hot(served: &Served, begin_ms: i64) -> BTreeMap<String, String> {
    let ask = |path: &str| -> Value {
        let url = format!("http://127.0.0.1:{}/{path}", served.port("http_port"));
        ureq::get(&url).call().unwrap().body_mut().read_json().unwrap()
    };
    let overview = ask("console/api/overview");
    let mut ends = overview["series"]["end_ms"].as_array().unwrap().iter();
    let since_ms = ends.find_map(|end| end.as_i64().filter(|end| *end >= begin_ms)).unwrap();
    findings(&ask(&format!("hot?since={since_ms}")))
}

/// What `hblite hotspot watch --json` prints.
fn watch_json(url: &str) -> BTreeMap<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.args(["hotspot", "watch", url, "--every", "2", "--windows", "2", "--json"]);
    LOADS.iter().for_each(|load| _ = command.args(["--table", load.table]));
    let fails = ["--fail-if", "hottest row share > 60 % and findings >= 1"];
    let output = command.args(fails).output().unwrap();
    let reasons = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{reasons}");
    assert!(reasons.contains("row: writes hottest row share is 0."), "{reasons}");
    assert!(!reasons.contains("uniform: "), "{reasons}");
    findings(&serde_json::from_slice(&output.stdout).unwrap())
}

/// The number before the first " %" after `begin`.
fn share(text: &str, begin: &str) -> f64 {
    let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("{begin}: {text}"));
    let number: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    number.parse().unwrap_or_else(|_| panic!("{begin}: {text}"))
}

fn check(how: &str, load: &Load, counts: &BTreeMap<String, u64>, text: &str) {
    let total: u64 = counts.values().sum();
    let percent = |is_it: &dyn Fn(&str) -> bool| {
        let counts = counts.iter().filter(|(row, _)| is_it(row));
        counts.map(|(_, count)| *count).sum::<u64>() as f64 / total as f64 * 100.0
    };
    let is_close = |share: f64, truth: f64| {
        let text = format!("{how}, {}: {share} is not {truth} %\n{text}", load.table);
        assert!((share - truth).abs() <= POINTS_MAX, "{text}");
    };
    let what = if load.kind == Kind::Get { "reads" } else { "writes" };
    match load.answer {
        Answer::Nothing => {}
        Answer::Row(row) => {
            let found = share(text, &format!("The row \"{row}\" has"));
            is_close(found, percent(&|other| other == row));
            assert!(text.contains(&format!("of the {what}")), "{how}, {}: {text}", load.table);
        }
        Answer::Prefix(prefix) => {
            let found = share(text, &format!("Rows that begin with \"{prefix}\" have"));
            is_close(found, percent(&|row| row.starts_with(prefix)));
        }
        Answer::Front => {
            assert!(
                text.contains("100 % of the writes move forward through the keys, now"),
                "{text}"
            );
        }
        Answer::FrontIn(prefix) => {
            let within = format!("move forward through the keys that begin with \"{prefix}\"");
            assert!(text.contains(&within), "{how}, {}: {text}", load.table);
        }
    }
    // Nothing else is said to be hot: neither an earlier load nor what observers do.
    let rows = match (load.answer, load.kind) {
        // An increment reads and writes.
        (Answer::Row(_), Kind::Increment) => 2,
        (Answer::Row(_), _) => 1,
        _ => 0,
    };
    assert_eq!(text.matches("The row ").count(), rows, "{how}: {text}");
    let moves = matches!(load.answer, Answer::Front | Answer::FrontIn(_));
    assert_eq!(text.contains(" move forward"), moves, "{how}, {}: {text}", load.table);
    if load.kind == Kind::Put {
        let has_reads = text.contains("of the reads") || text.contains(" reads in 4 regions");
        assert!(!has_reads, "{how}, {}: {text}", load.table);
    }
    if load.answer == Answer::Nothing {
        assert!(!text.contains(" takes ") && !text.contains("begin with"), "{how}: {text}");
    }
}

#[test]
fn shares_are_right_however_they_are_watched() {
    let served = Served::start(&["--memory"]);
    let connection = connect(&served);
    prepare(&connection);
    let stop = AtomicBool::new(false);
    let begin_ms = connection.now_millis();
    let (truths, by_http, by_rpc, by_console, by_json, by_hot) = thread::scope(|scope| {
        let senders: Vec<_> = LOADS
            .iter()
            .map(|load| {
                let (connection, stop) = (&connection, &stop);
                scope.spawn(move || send(connection, load, stop))
            })
            .collect();
        // If something is not as expected, too.
        let senders_end = SetOnDrop(&stop);
        let http = format!("http://127.0.0.1:{}/status", served.port("http_port"));
        let by_http = scope.spawn({
            let http = http.clone();
            move || watch(&http)
        });
        let by_rpc = watch(&served.url());
        let by_http = by_http.join();
        let by_json = watch_json(&http);
        let by_console = console(&served);
        let by_hot = hot(&served, begin_ms);
        drop(senders_end);
        let truths: Vec<_> = senders.into_iter().map(|sender| sender.join().unwrap()).collect();
        (truths, by_http.unwrap(), by_rpc, by_console, by_json, by_hot)
    });
    for (load, counts) in LOADS.iter().zip(&truths) {
        for (how, texts) in [("HTTP", &by_http), ("RPC", &by_rpc)] {
            let text = &texts[load.table];
            let kind = format!(", {:?} over RPC, 100 %.", load.kind);
            assert!(text.contains("Who sends them: 127.0.0.1") && text.contains(&kind), "{text}");
            check(how, load, counts, text);
        }
        check("console", load, counts, &by_console[load.table]);
        check("JSON", load, counts, &by_json[load.table]);
        check("GET /hot", load, counts, &by_hot[load.table]);
    }
}
