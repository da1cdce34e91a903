//! `hblite hotspot` from outside: what it prints and writes, and its exit statuses.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn hblite(dir: &Path, line: &str) -> Output {
    // Words in single quotes belong together.
    let pieces = line.split('\'').enumerate();
    let words: Vec<String> = pieces
        .flat_map(|(index, piece)| match index % 2 {
            0 => piece.split_whitespace().map(str::to_owned).collect(),
            _ => vec![piece.to_owned()],
        })
        .collect();
    let mut command = Command::new(env!("CARGO_BIN_EXE_hblite"));
    command.arg("hotspot").args(words).current_dir(dir).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn works(dir: &Path, line: &str) -> String {
    let output = hblite(dir, line);
    assert!(output.status.success(), "{line}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn fails(dir: &Path, line: &str) -> String {
    let output = hblite(dir, line);
    assert_eq!(output.status.code(), Some(1), "{line}: {}", text(&output.stdout));
    text(&output.stderr)
}

const SMALL: &str = "--records 4000 --regions 4 --windows 8 --reads 8";

#[test]
fn a_run_is_reported_compared_and_judged() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    let run = format!("run --study salting --design sequential,salted {SMALL} --out r");
    let shown = works(dir, &run);
    assert!(shown.contains("sequential: writes per region over time"), "{shown}");
    assert!(shown.contains("How evenly writes are spread over regions"), "{shown}");
    let json = std::fs::read_to_string(dir.join("r/salted.json")).unwrap();
    let result: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(result["version"], 1);
    assert_eq!(result["counts"]["windows"].as_array().unwrap().len(), 8);

    let files = works(dir, "report r");
    for file in ["report.html", "heat-map-salted.png", "servers.png", "trade-off-rows.png"] {
        assert!(files.contains(file), "{files}");
        assert!(std::fs::metadata(dir.join("r").join(file)).unwrap().len() > 1000, "{file}");
    }
    let page = std::fs::read_to_string(dir.join("r/report.html")).unwrap();
    assert!(!page.contains("https://") && !page.contains("src="), "it loads nothing");

    let compared = works(dir, "compare r --fail-if 'windowed max/mean > 4.5'");
    assert!(compared.contains("What reads cost"), "{compared}");
    let reason = fails(dir, "compare r --fail-if 'windowed max/mean > 2'");
    assert!(reason.contains("sequential: writes windowed max/mean is "), "{reason}");
    assert!(!reason.contains("salted:"), "{reason}");
    let reason = fails(dir, "compare r --fail-if 'max/median > 2'");
    assert!(reason.contains("unknown figure \"max/median\""), "{reason}");

    let reason = fails(dir, "run --study salting --records 5000 --out r");
    assert!(reason.contains("with another study or other settings"), "{reason}");
}

#[test]
fn what_cannot_be_run_is_refused_with_the_reason() {
    let dir = TempDir::new().unwrap();
    for (line, reason) in [
        ("run --study nothing --out r", "unknown study \"nothing\": use one of salting"),
        ("run --study salting --design plain --out r", "has no design \"plain\""),
        ("run --study salting --design 'bucket(name, 0)|name:str' --out r", "^^^^^^"),
        ("run --study salting --design salted --buckets 32 --out r", "32 salts over 16 regions"),
        ("run --study salting --regions 0 --out r", "--regions is 1 to"),
        ("run --study salting --keys-out k --out r", "the keys of one design"),
        ("report nowhere", "nowhere: No such file"),
        ("report .", "has no results"),
    ] {
        let shown = fails(dir.path(), line);
        assert!(shown.contains(reason), "{line}: {shown}");
    }
    let wrong = hblite(dir.path(), "compare r --fail-if 'max/mean >'");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("expected a figure or a number"));
}

/// Before the work, whose result would be lost; nothing is asked of the cluster. What exists is
/// kept without --overwrite.
#[test]
fn an_output_that_cannot_be_written_is_refused_first() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("taken"), "kept").unwrap();
    let cluster = "hbase+rpc://127.0.0.1:1";
    let study = "run --study salting --design salted --connect";
    let advise = "advise --keys none --queries none";
    for (line, reason) in [
        (format!("calibrate {cluster} --out taken"), "taken: exists; --overwrite replaces it"),
        (format!("calibrate {cluster} --out none/c.json"), "none/c.json: No such file"),
        (format!("calibrate {cluster} --overwrite --out ."), ".: is a folder"),
        (format!("watch {cluster} --record taken"), "taken: exists; --overwrite replaces it"),
        (format!("watch {cluster} --record none/r"), "none/r: No such file"),
        (format!("watch {cluster} --out taken"), "taken: File exists"),
        (format!("{study} {cluster} --out taken/r"), "taken/r: Not a directory"),
        (format!("{study} {cluster} --out r --keys-out taken"), "taken: exists; --overwrite"),
        (format!("{advise} --picture none/p.svg"), "none/p.svg: No such file"),
        (format!("{advise} --picture p.gif"), "ends with .svg or .png"),
    ] {
        let shown = fails(dir, &line);
        assert!(shown.contains(reason), "{line}: {shown}");
    }
    assert_eq!(std::fs::read_to_string(dir.join("taken")).unwrap(), "kept");
    let kept = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(kept.collect::<Vec<_>>(), ["taken"], "nothing is left behind");
    let run = "run --study salting --design salted --records 4000 --reads 0 --windows 4 --out r";
    works(dir, &format!("{run} --keys-out taken --overwrite"));
    assert!(std::fs::read_to_string(dir.join("taken")).unwrap().starts_with("split "));
}

#[test]
fn keys_of_a_run_are_a_sample_for_the_adviser() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    works(
        dir,
        "run --study log-keys --design timestamp-lead --records 4000 --entities 300 --regions 4 \
         --reads 0 --windows 4 --out r --keys-out keys.txt",
    );
    let keys = std::fs::read_to_string(dir.join("keys.txt")).unwrap();
    assert_eq!(keys.lines().filter(|line| line.starts_with("split ")).count(), 3);
    assert_eq!(keys.lines().filter(|line| line.starts_with("put ")).count(), 4000);

    std::fs::write(dir.join("queries.txt"), "host = ? and ts in 10 %\n").unwrap();
    let key = "--key 'ts:timestamp|host:str|event:str'";
    let advise = format!("advise {key} --keys keys.txt --queries queries.txt --regions 4");
    let advice = works(dir, &advise);
    assert!(advice.contains("Proposed key: "), "{advice}");
    assert!(advice.contains("create 't', 'd', SPLITS => ['"), "{advice}");

    works(dir, &format!("{advise} --picture front.svg"));
    works(dir, &format!("{advise} --picture front.png"));
    let svg = std::fs::read_to_string(dir.join("front.svg")).unwrap();
    assert!(svg.contains("(today)"), "{svg}");
    assert!(std::fs::read(dir.join("front.png")).unwrap().starts_with(b"\x89PNG"));
    let reason = fails(dir, &format!("{advise} --picture front.gif"));
    assert!(reason.contains("ends with .svg or .png"), "{reason}");
    let reason = fails(dir, &format!("{advise} --fail-if 'windowed max/mean > 2'"));
    assert!(reason.contains("the current key: writes windowed max/mean is 4"), "{reason}");
    works(dir, &format!("{advise} --fail-if 'windowed max/mean > 4.5 or scans per query > 1'"));

    let reason = fails(dir, &advise.replace("keys.txt", "none.txt"));
    assert!(reason.contains("none.txt: No such file"), "{reason}");
    let reason = fails(dir, &advise.replace("ts:timestamp|", "ts:timestamp|car:strange|"));
    assert!(reason.contains("^"), "{reason}");
}

#[test]
fn studies_are_listed_with_their_keys() {
    let dir = TempDir::new().unwrap();
    let shown = works(dir.path(), "studies");
    assert!(shown.contains("bucket(ts, {n})|ts:timestamp|host:str|event:str"), "{shown}");
    assert!(shown.contains("(case study)"), "{shown}");
}

/// What the adviser proposes can be run: fewer salts or buckets than regions are divided by a
/// sample. A design that cannot be run is refused before another one leaves a result.
#[test]
fn all_designs_are_checked_before_the_first_runs() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    let run = "run --study log-keys --records 4000 --entities 300 --windows 4 --reads 0 --out r";
    let few = "bucket(ts, 4)|ts:timestamp|host:str|event:str";
    let refused = format!("{run} --regions 8 --design 'host-lead, salt(16, *)|host:str'");
    let reason = fails(dir, &refused);
    assert!(reason.contains("salt(16, *)|host:str: 16 salts over 8 regions"), "{reason}");
    assert!(!dir.join("r").exists());
    let unfit = format!("{run} --regions 8 --design 'host-lead, host:str(2)|ts:timestamp'");
    assert!(fails(dir, &unfit).contains("host:str(2)|ts:timestamp: "));
    assert!(!dir.join("r").exists());

    let output = hblite(dir, &format!("{run} --regions 8 --design 'host-lead, {few}'"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let note = format!("{few}: split at the quantiles of its keys: 4 buckets begin keys in 4");
    assert!(text(&output.stderr).contains(&note), "{}", text(&output.stderr));
    let json =
        std::fs::read_to_string(dir.join("r/bucket-ts--4--ts-timestamp-host-str-event-str.json"));
    let result: Value = serde_json::from_str(&json.unwrap()).unwrap();
    assert_eq!(result["counts"]["regions"].as_array().unwrap().len(), 8);
}

/// Shares of regions, counted by hand from the records.
#[test]
fn recorded_data_is_run_like_a_study() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    let mut csv = String::from("when,host,event\n");
    for index in 0..2000 {
        let (second, host) = (index / 10, index * 7919 % 40);
        let (minute, second) = (second / 60, second % 60);
        csv += &format!("2026-01-31 12:{minute:02}:{second:02},host{host:02},e{}\n", index % 3);
    }
    std::fs::write(dir.join("log.csv"), &csv).unwrap();
    std::fs::write(dir.join("queries.txt"), "host = ?\nwhen in 5 %\n").unwrap();
    let shown = works(
        dir,
        "run --keys log.csv --queries queries.txt --regions 4 --windows 10 --reads 5 --out r \
         --design 'when:timestamp|host:str|event:str, host:str|when:timestamp|event:str'",
    );
    assert!(shown.contains("host = ?, host:str|when:timestamp|event:str"), "{shown}");
    assert!(shown.contains("when in 5 %"), "{shown}");
    let by_time = "when:timestamp|host:str|event:str: writes windowed max/mean is";
    let reason = fails(dir, "compare r --fail-if 'windowed max/mean > 2'");
    assert!(reason.contains(by_time), "{reason}");
    assert!(!reason.contains("hblite: host:str"), "{reason}");

    let results = std::fs::read_dir(dir.join("r")).unwrap();
    let results = results.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let by_host = results
        .into_iter()
        .find(|text| {
            text.contains("\"key\": \"host:str|when") || text.contains("\"key\":\"host:str|when")
        })
        .unwrap();
    let result: serde_json::Value = serde_json::from_str(&by_host).unwrap();
    let mut totals = [0_u64; 4];
    for window in result["counts"]["windows"].as_array().unwrap() {
        for (total, count) in totals.iter_mut().zip(window["writes"].as_array().unwrap()) {
            *total += count.as_u64().unwrap();
        }
    }
    let starts: Vec<String> = result["counts"]["regions"].as_array().unwrap()[1..]
        .iter()
        .map(|region| region["start"].as_str().unwrap().chars().take(6).collect())
        .collect();
    // All records but those of a host at a boundary are where their host belongs.
    let mut expected = [0_u64; 4];
    for index in 0..2000_u64 {
        let host = format!("host{:02}", index * 7919 % 40);
        expected[starts.iter().filter(|start| **start <= host).count()] += 1;
    }
    for (total, expected) in totals.iter().zip(expected) {
        assert!(total.abs_diff(expected) <= 50, "{totals:?} are not {expected:?} at {starts:?}");
    }

    // Keys of a table, one per line.
    let key = |index: u32| {
        format!("web{:02}\\x00\\x{:02X}\\x{:02X}\n", index % 50, index >> 8, index & 255)
    };
    std::fs::write(dir.join("keys.txt"), (0..400).map(key).collect::<String>()).unwrap();
    let shown = works(
        dir,
        "run --keys keys.txt --key 'host:str|n:u16' --design 'n:u16|host:str' --regions 2 \
         --records 7 --reads 0 --windows 2 --out k",
    );
    assert!(shown.contains("n:u16|host:str"), "{shown}");
    let refused = fails(dir, "run --keys log.csv --design 'car:str' --out x");
    assert!(refused.contains("no field car; the fields are when, host, event"), "{refused}");
}

/// The regions of the present table, from its split keys, a file with them, or the table. The
/// counts are those of the names, which are compared here.
#[test]
fn todays_table_is_simulated_with_its_split_keys() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path();
    let name = |index: u32| format!("{}{index:04}", char::from(b'a' + (index * index % 26) as u8));
    let names: Vec<String> = (0..900).map(name).collect();
    std::fs::write(dir.join("data.csv"), format!("name\n{}\n", names.join("\n"))).unwrap();
    std::fs::write(dir.join("splits.txt"), "g\n\nn\\x00\n").unwrap();
    let create = "create 't', 'f', SPLITS => ['g', \"n\\x00\"]";
    let shell = Command::new(env!("CARGO_BIN_EXE_hblite"))
        .args(["shell", "-c", create, "--dir", "store"])
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(shell.status.success(), "{}", text(&shell.stderr));
    let is_in = |name: &&String, from: &str, to: &str| name.as_str() >= from && name.as_str() < to;
    let count = |from, to| names.iter().filter(|name| is_in(name, from, to)).count() as u64;
    let expected = [count("", "g"), count("g", "n\0"), count("n\0", "~")];
    let given =
        ["--split-keys 'g,n\\x00'", "--splits-from splits.txt", "--splits-from t --store store"];
    for (number, given) in given.into_iter().enumerate() {
        let design = "--design 'name:str' --reads 0 --windows 4";
        works(dir, &format!("run --keys data.csv {design} {given} --out r{number}"));
        let json = std::fs::read_to_string(dir.join(format!("r{number}/name-str.json")));
        let result: Value = serde_json::from_str(&json.unwrap()).unwrap();
        assert_eq!(result["settings"]["splits"], "given");
        let mut sums = [0; 3];
        for window in result["counts"]["windows"].as_array().unwrap() {
            for (sum, writes) in sums.iter_mut().zip(window["writes"].as_array().unwrap()) {
                *sum += writes.as_u64().unwrap();
            }
        }
        assert_eq!(sums, expected, "{given}");
    }
    let wrong = fails(dir, "run --keys data.csv --design name:str --split-keys 'n,g' --out x");
    assert!(wrong.contains("\"g\" does not come after \"n\""), "{wrong}");
    let wrong = fails(dir, "run --keys data.csv --design name:str --splits-from none --out x");
    assert!(wrong.contains("there is no file none"), "{wrong}");

    // All names are beyond the last split key.
    std::fs::write(dir.join("queries.txt"), "name = ?\n").unwrap();
    let advise = "advise --keys data.csv --key name:str --queries queries.txt --regions 4";
    let shown = works(dir, &format!("{advise} --split-keys '1,2,3,4'"));
    assert!(shown.contains(", today, in 5 regions, 5 times"), "{shown}");
    let condition = "--fail-if 'windowed max/mean > 4.9'";
    let reason = fails(dir, &format!("{advise} --split-keys '1,2,3,4' {condition}"));
    assert!(reason.contains("writes windowed max/mean is 5, which is > 4.9"), "{reason}");
    works(dir, &format!("{advise} {condition}"));
}
