//! `hblite hotspot calibrate` and `predict`: a small recording of a server, from outside.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use crate::served::Served;
use hblite::{ColumnFamilyDescriptor, Delete, Get, Increment, Put, Scan, TableDescriptor};
use serde_json::Value;
use tempfile::TempDir;

fn hotspot(dir: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.arg("hotspot").args(words).current_dir(dir).output().unwrap()
}

fn works(dir: &Path, words: &[&str]) -> String {
    let output = hotspot(dir, words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

fn fails(dir: &Path, words: &[&str]) -> String {
    let output = hotspot(dir, words);
    assert_eq!(output.status.code(), Some(1), "{words:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn served(arguments: &[&str]) -> Served {
    Served::start(&[&["--memory", "--no-http"], arguments].concat())
}

fn row(ts: u64) -> String {
    format!("{ts:08}-h{}", ts % 7)
}

/// 40 puts alone, 20 in a batch, 10 gets, and one call of each other kind.
fn record(file: &Path) {
    let server = served(&["--record", file.to_str().unwrap()]);
    let connection = hblite::connect(&server.url()).unwrap();
    let table =
        TableDescriptor::new("t".parse().unwrap()).with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&table).unwrap();
    let t = connection.table("t").unwrap();
    let put = |ts| Put::new(row(ts)).add("f", "v", "0123456789");
    (0..40).for_each(|ts| t.put(&put(ts)).unwrap());
    t.put_all(&(40..60).map(put).collect::<Vec<_>>()).unwrap();
    (0..10).for_each(|ts| drop(t.get(&Get::new(row(ts))).unwrap()));
    t.increment(&Increment::new(row(70)).add("f", "n", 1)).unwrap();
    t.delete(&Delete::new(row(1))).unwrap();
    t.put(&Put::new("other").add("f", "v", "x")).unwrap();
    assert_eq!(t.scan(&Scan::new()).unwrap().count(), 61);
    t.get(&Get::new(row(1)).with_family("none")).unwrap_err();
    connection.close().unwrap();
    assert_eq!(server.end("-TERM").0, Some(0));
}

const KEY: &str = "ts:str(8)|\"-\"|host:str";

/// The words of the commands in the documentation that begin like this, with other ones in place of
/// some.
fn documented(command: &str, changed: &[(&str, &str)]) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hotspotting.md");
    let page = std::fs::read_to_string(page).unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix(command)).unwrap();
    // Words in single quotes belong together.
    let pieces = line.split('\'').enumerate();
    let words = pieces.flat_map(|(index, piece)| match index % 2 {
        0 => piece.split_whitespace().map(str::to_owned).collect(),
        _ => vec![piece.to_owned()],
    });
    let change = |word: String| {
        let to = changed.iter().find(|(from, _)| *from == word);
        to.map_or(word.clone(), |(_, to)| (*to).to_owned())
    };
    words.map(change).collect()
}

/// The commands of the documentation, on one server instead of three.
#[test]
fn the_documentation_predicts_a_recording() {
    let dir = TempDir::new().unwrap();
    let (dir, file) = (dir.path(), dir.path().join("calls.jsonl"));
    record(&file);
    let server = served(&[]);
    let url = server.url();
    let changed = [("hbase://zookeeper:2181/hbase", url.as_str()), ("3", "1"), ("32", "2")];
    let run = |command: &str, more: &[&str]| {
        let words = documented(&format!("hblite hotspot {command} "), &changed);
        let words = words.iter().map(String::as_str);
        works(
            dir,
            &[command].into_iter().chain(words).chain(more.iter().copied()).collect::<Vec<_>>(),
        )
    };
    run("calibrate", &["--seconds", "1", "--clients", "2"]);
    let text = run("predict", &[]);
    assert!(text.contains("1 region server and 2 clients; latencies at"), "{text}");
    assert!(text.contains("  recorded  ") && text.contains("  salted  "), "{text}");
}

#[test]
fn a_recording_is_predicted_and_measured() {
    let dir = TempDir::new().unwrap();
    let (dir, file) = (dir.path(), dir.path().join("calls.jsonl"));
    record(&file);
    let server = served(&[]);
    let url = server.url();
    let calibrate = ["calibrate", &url, "--out", "c.json", "--seconds", "1", "--clients", "2"];
    let said = works(dir, &calibrate);
    assert!(said.starts_with("a put alone: ") && said.contains("a get alone: "), "{said}");

    let base = ["predict", "calls.jsonl", "--table", "t", "--key", KEY, "--clients", "2"];
    let keys = ["--design", "back=host:str(2)|ts:str(8),salt(4)|ts:str(8)|host:str"];
    let more = ["--servers", "1", "--regions", "4", "--calibration", "c.json"];
    let words = [&base[..], &keys, &more, &["--json"]].concat();
    let json: Value = serde_json::from_str(&works(dir, &words)).unwrap();
    // 40 + 20 puts, an increment and a delete; one more row cannot be decoded.
    assert_eq!((&json["writes"], &json["reads"]), (&62.into(), &10.into()), "{json}");
    let notes = json["notes"].to_string();
    for note in [
        "1 scan left out",
        "1 call left out that failed",
        "1 request left out: --key cannot decode the row",
        "20 requests sent alone that came in batches",
        "1 increment, append or conditional write counted as puts",
        "72 requests are 102 calls",
        "a scan of a range would be 4 scans",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let predictions = json["predictions"].as_array().unwrap();
    let names: Vec<_> = predictions.iter().map(|one| one["design"].as_str().unwrap()).collect();
    assert_eq!(names, ["recorded", "back", "salt(4)|ts:str(8)|host:str"]);
    assert_eq!(predictions[2]["splits"].as_array().unwrap().len(), 3);
    let words = [&base[..], &more, &["--measure", &url, "--json"]].concat();
    let json: Value = serde_json::from_str(&works(dir, &words)).unwrap();
    for figure in ["requests_per_second", "p50_us", "p99_us"] {
        let of = |name: &str| json["predictions"][0][figure][name].as_f64().unwrap();
        assert!(of("low") <= of("predicted") && of("predicted") <= of("high"), "{json}");
        assert!(of("measured") > 0.0);
    }

    // The same again, for people; the tables of both commands are gone.
    let words = [&base[..], &keys, &more].concat();
    let text = works(dir, &words);
    assert!(text.contains("72 requests of t in ") && text.contains("  recorded  "), "{text}");
    let connection = hblite::connect(&url).unwrap();
    let tables = connection.admin().list_tables(hblite::SystemTables::Exclude).unwrap();
    assert!(tables.is_empty(), "{tables:?}");

    // A table of that name is not touched.
    let taken = TableDescriptor::new("hblite_hotspot_calibration".parse().unwrap())
        .with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&taken).unwrap();
    let reason = fails(dir, &[&calibrate[..], &["--overwrite"]].concat());
    assert!(reason.contains("already has a table hblite_hotspot_calibration"), "{reason}");
    connection.close().unwrap();
}

#[test]
fn what_cannot_be_predicted_is_refused_with_the_reason() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    let begin = "{\"hblite-recording\":1,\"began_ms\":0}\n";
    let get = |bytes: &str, table: &str| {
        format!(
            "{{\"call\":1,\"connection\":1,\"at_ms\":5,\"method\":\"Get\",\"table\":\"{table}\",\
             \"request_bytes\":\"{bytes}\"}}\n"
        )
    };
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
    write("empty", "");
    write("nothing", &format!("{begin}{{\"calls\":0,\"dropped\":0}}\n"));
    write("other", &format!("{begin}{}", get("", "u")));
    write("damaged", &format!("{begin}{{\"call\":\n"));
    write("unreadable", &format!("{begin}{}", get("////", "t")));
    write("calibration", "{\"hblite-calibration\":1,\"servers\":3}");
    let predict = |file: &str, more: &[&str]| {
        fails(dir, &[&["predict", file, "--table", "t"], more].concat())
    };
    for (file, more, reason) in [
        ("absent", &[][..], "absent: "),
        ("empty", &[], "empty: line 1: this is not a recording"),
        ("nothing", &[], "nothing: no call is about table t, or any other"),
        ("other", &[], "no call is about table t; there are calls about u"),
        ("damaged", &[], "damaged: line 2: "),
        ("unreadable", &[], "unreadable: there are no gets, puts or deletes to predict"),
        ("nothing", &["--servers", "0"], "--servers is 1 to 10000"),
        ("nothing", &["--clients", "99999999"], "--clients is 1 to 10000"),
        ("nothing", &["--pace=-1"], "--pace is 0.001 to 1000"),
        ("nothing", &["--handlers", "0"], "--handlers is 1 to 10000"),
        ("nothing", &["--service", "measured"], "'hblite hotspot calibrate' measures a cluster"),
        ("nothing", &["--calibration", "calibration"], "calibration: not a calibration of"),
        ("nothing", &["--calibration", "none"], "none: "),
        ("nothing", &["--key", "ts:nothing"], "nothing"),
        ("nothing", &["--key", "a:str", "--design", "x=a:str,x=a:str"], "two keys are named x"),
    ] {
        let found = predict(file, more);
        assert!(found.contains(reason), "{file} {more:?}: {found}");
    }
}
