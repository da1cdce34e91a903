//! Compares this shell's output with that of the shell of a running HBase, script by script.
//!
//! The recordings and their origin are in `tests/golden/shell`. Each recorded prompt with a command
//! is one exchange; the shell under test gets the same commands in the same order on one store,
//! and every exchange must agree once both sides are masked:
//!
//! - Durations, times of day, encoded region names, creation times, ports and object ids differ
//!   from run to run. Java stack traces, with their causes, are not printed here.
//! - The shell recorded in all scripts but 07 is of release 2.4, and writes settings of families in
//!   another order and form than the client of 2.6 that 07 records. The form of 2.6 is the
//!   specification: the output of 07 must match exactly, and in the others settings are compared as
//!   sets.
//! - After calls on a table object (08), HBase's shell leaves out a line break.
//!
//! What differs on purpose is in [`DIFFERENCES`] with its reason; an entry that no longer differs
//! fails the test.
//!
//! The test controls the clock: it advances by 10 ms per command, and `sleep` advances it. Nothing
//! is compacted unless a command says so; otherwise, answers would depend on when that happens.
//!
//! With the feature `cluster`, `HBLITE_SHELL_CONNECT` names a cluster to run the scripts on instead
//! (`tools/oracle/shell`). Then a `sleep` takes its time, and what is in [`DIFFERENCES`] need not
//! differ.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::support::{Session, is_on_cluster};
use hblite_shell::{Outcome, ReadLines, ScriptOptions};
use regex::Regex;

/// Exchanges that differ on purpose: script, prompt number, and words of `docs/differences.md`.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("01_seeds", "009", "typographic quotes: the table is looked for"),
    ("01_seeds", "010", "typographic quotes: the table is looked for"),
    ("05_more", "010", "recording: release 2.4 takes a text for an encoded name"),
    ("05_more", "064", "recording: release 2.4 does not print the time to live"),
    ("05_more", "068", "a confirmation prompt"),
    ("05_more", "070", "a confirmation prompt"),
    ("07_client261", "005", "recording: one region more was counted than the tables have"),
    ("10_coprocessors", "013", "there is no JVM to load classes: no jar is opened"),
    ("08_objects", "065", "recording: release 2.4 prints only whether the balancer ran"),
    ("11_mob", "037", "recording: release 2.4 does not print the time to live"),
    ("11_mob", "021", "the message names the setting and its range"),
    ("12_replicas", "009", "reads from any of them are current"),
    ("13_operations", "068", "procedures, locks, tasks, slow calls"),
    ("14_features", "020", "`clear_block_cache`: the size of the cache"),
    ("14_features", "109", "metrics of a scan"),
    ("14_features", "110", "there is one copy of a region"),
    ("07_client261", "006", "recording: one region more was counted than the tables have"),
];

/// Exchanges that may also differ on a cluster, because its own work takes its own time.
const CLUSTER_DIFFERENCES: &[(&str, &str, &str)] =
    &[("05_more", "011", "HBase has compacted the merged region by then, so it can be split")];

/// The time at which the recordings were made.
const START_MS: i64 = 1_795_259_000_000;

/// The time between one command and the next.
const STEP_MS: i64 = 10;

fn session() -> Session {
    Session::on_cluster().unwrap_or_else(|| Session::new(START_MS, STEP_MS))
}

fn ask(session: &mut Session, command: &str) -> String {
    // The shell's locations do not have the start code.
    let command = match command.strip_suffix("l.getServerName.toString") {
        Some(start) => {
            let server = session.connection.admin().servers().unwrap().live.remove(0);
            &format!("{start}'{server}'")
        }
        None => command,
    };
    let (outcome, answer) = session.run(command);
    assert_ne!(outcome, Outcome::Incomplete, "{command}");
    answer
}

/// A recorded command, its number and its answer.
struct Exchange {
    number: String,
    command: String,
    answer: String,
}

fn golden(name: &str) -> String {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/shell");
    fs::read_to_string(dir.join(name)).unwrap()
}

fn exchanges(script: &str) -> Vec<Exchange> {
    let recorded = golden(&format!("{script}.out"));
    let missing_line_end = Regex::new(r"(Took [0-9.]+ seconds)([^\n])").unwrap();
    let recorded = missing_line_end.replace_all(&recorded, "$1\n$2");
    let prompt = Regex::new(r"(?m)^hbase:(\d{3}):0> ").unwrap();
    let starts: Vec<_> = prompt.captures_iter(&recorded).collect();
    let ends = starts.iter().skip(1).map(|next| next.get(0).unwrap().start());
    let ends = ends.chain([recorded.len()]);
    let pairs = starts.iter().zip(ends).map(|(start, end)| {
        let text = &recorded[start.get(0).unwrap().end()..end];
        let (command, answer) = text.split_once('\n').unwrap_or((text, ""));
        Exchange {
            number: start[1].to_owned(),
            command: command.to_owned(),
            answer: answer.to_owned(),
        }
    });
    pairs.filter(|exchange| !exchange.command.is_empty()).collect()
}

/// Which release's form of settings a recording has.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Client24,
    Client26,
}

struct Masks {
    replacements: Vec<(Regex, &'static str)>,
    family: Regex,
    setting: Regex,
    byte_size: Regex,
}

impl Masks {
    fn new() -> Self {
        let replacements = [
            (r"Took [0-9.]+ seconds", "Took N seconds"),
            (r"timestamp=20\d\d-[0-9T:.-]+", "timestamp=NOW"),
            (r"as of: 20\d\d-[0-9-]+ [0-9:]+", "as of: NOW"),
            (r"\(20\d\d-\d\d-\d\d [0-9:]+ [+]0000\)", "(NOW)"),
            (r"[0-9a-f]{32}", "ENCODED"),
            (r"\b179[56]\d{9}\b", "MILLIS"),
            (r"localhost([:,])\d+", "localhost${1}PORT"),
            (r"(localhost,PORT,)(MILLIS|1)\b", "${1}STARTCODE"),
            (
                r"(column=info:(?:seqnumDuringOpen|serverstartcode)\w*, timestamp=NOW, value=).*",
                "${1}N",
            ),
            // hblite's own.
            (r"(?m)^ .*column=info:hblite\..*\n", ""),
            (r":0x[0-9a-f]+>", ">"),
            (r"(?m)^\d+\.\d+\.\d+, .*$", "VERSION"),
            // Requests, megabytes and locality are measured. The width of the columns depends on
            // the longest name, which contains a port.
            (r"(?m)\|[ 0-9]+\|[ 0-9]+\|[ 0-9.]+\|$", "| N | N | N |"),
            (r"--+", "-"),
            (r"  +", " "),
            // In the figures of status, only the numbers of regions, stores and files must agree.
            (r"(?m)^ .*?(numberOfOnlineRegions=\d+, ).*?(numberOfStores=\d+),.*$", " $1$2"),
            (r"(?m)^ (numberOfStores=\d+, numberOfStorefiles=\d+),.*$", " $1"),
            (r"2\.6\.1-hadoop3", "2.6.1"),
            (r"Aggregate load: \d+", "Aggregate load: N"),
            (r"(hbase:namespace,,)(MILLIS|1)\b", "${1}ID"),
            // The recorded console also prints values that commands return by accident.
            (r"(?m)^=> #<Java::JavaUtil::.*>\n?", ""),
        ];
        let replacements =
            replacements.map(|(mask, shown)| (Regex::new(mask).unwrap(), shown)).to_vec();
        Self {
            replacements,
            family: Regex::new(r"(?m)^\{NAME => '.*BLOCKSIZE => .*\}$").unwrap(),
            setting: Regex::new(r"'?([A-Za-z_.]+)'? => '([^']*)'").unwrap(),
            byte_size: Regex::new(r"'(\d+) B \([^)]*\)'").unwrap(),
        }
    }

    fn apply(&self, text: &str, form: Form) -> String {
        let is_of_trace = |line: &&str| {
            ["\tat ", "\t... ", "Caused by: "].iter().any(|start| line.starts_with(start))
        };
        let lines: Vec<&str> = text.lines().filter(|line| !is_of_trace(line)).collect();
        let mut text = lines.join("\n");
        if form == Form::Client24 {
            text = self.byte_size.replace_all(&text, "'$1'").into_owned();
            let as_set = |found: &regex::Captures<'_>| {
                let settings = self.setting.captures_iter(&found[0]);
                let settings: BTreeSet<String> =
                    settings.map(|setting| format!("{}={}", &setting[1], &setting[2])).collect();
                format!("{settings:?}")
            };
            text = self.family.replace_all(&text, as_set).into_owned();
        }
        for (mask, shown) in &self.replacements {
            text = mask.replace_all(&text, *shown).into_owned();
        }
        text.trim_end().to_owned()
    }
}

fn check(session: &mut Session, script: &str, form: Form, complaints: &mut Vec<String>) {
    let masks = Masks::new();
    let exchanges = exchanges(script);
    assert!(!exchanges.is_empty());
    for Exchange { number, command, answer } in exchanges {
        let expected = masks.apply(&answer, form);
        let actual = masks.apply(&ask(session, &command), form);
        let is_this = |entry: &&(&str, &str, &str)| (entry.0, entry.1) == (script, number.as_str());
        let difference = DIFFERENCES.iter().find(is_this);
        let is_on_cluster = is_on_cluster();
        if is_on_cluster && CLUSTER_DIFFERENCES.iter().any(|entry| is_this(&entry)) {
            continue;
        }
        match (difference, expected == actual) {
            (None, false) => complaints.push(format!(
                "{script} {number}> {command}\n--- HBase\n{expected}\n--- hblite\n{actual}\n"
            )),
            (Some(_), true) if !is_on_cluster => {
                complaints.push(format!("{script} {number}> {command}: does not differ\n"));
            }
            _ => {}
        }
    }
}

/// The commands of the case studies, character by character, on an empty store.
#[test]
fn commands_of_the_case_studies() {
    let mut complaints = Vec::new();
    check(&mut session(), "01_seeds", Form::Client24, &mut complaints);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// All other recordings, on one store in the order in which they were made.
#[test]
fn same_answers_as_hbase() {
    let mut complaints = Vec::new();
    let mut session = session();
    for (script, form) in [
        ("02_seeds_repaired", Form::Client24),
        ("03_data", Form::Client24),
        ("04_admin", Form::Client24),
        ("08_objects", Form::Client24),
        ("05_more", Form::Client24),
        ("09_binary_keys", Form::Client24),
        ("07_client261", Form::Client26),
    ] {
        if script != "08_objects" {
            session.restart_shell();
        }
        check(&mut session, script, form, &mut complaints);
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Recordings on a store of their own.
#[test]
fn coprocessors_medium_objects_and_replicas() {
    let mut complaints = Vec::new();
    let mut session = session();
    for script in ["10_coprocessors", "11_mob", "12_replicas"] {
        session.restart_shell();
        check(&mut session, script, Form::Client26, &mut complaints);
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Recordings of the commands of operators, each on a store of its own.
#[test]
fn operations_and_features_that_are_off() {
    let mut complaints = Vec::new();
    for script in ["13_operations", "14_features", "15_servers", "18_options"] {
        check(&mut session(), script, Form::Client26, &mut complaints);
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Recordings of a cluster with quotas, permissions, visibility labels and server groups, which a
/// store does not have.
#[test]
fn features_that_are_on() {
    if !is_on_cluster() {
        return;
    }
    let (mut complaints, mut session) = (Vec::new(), session());
    for script in ["16_quotas", "17_security"] {
        session.restart_shell();
        check(&mut session, script, Form::Client26, &mut complaints);
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// The same on a cluster of its own: who sees cells with labels, who has rights to cells, and the
/// rights that snapshots restore.
#[test]
fn labels_and_rights_of_cells() {
    if !is_on_cluster() {
        return;
    }
    let mut complaints = Vec::new();
    check(&mut session(), "19_labels", Form::Client26, &mut complaints);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// With `-n`, HBase's shell stops at the first error and does not print it among the results. The
/// recording ends there.
#[test]
fn a_script_stops_at_its_first_error() {
    let mut session = session();
    let script = golden("06_errors_n.in");
    let options = ScriptOptions::default().with_echo(true);
    let mut lines = ReadLines::new(script.as_bytes());
    let error = session.shell.run_script(&mut lines, options).unwrap_err();
    let line = script.lines().position(|line| line.starts_with("get 'nosuch'")).unwrap() + 1;
    assert_eq!((error.line, error.message.as_str()), (line as u64, "Unknown table nosuch!"));
    let masks = Masks::new();
    assert_eq!(
        masks.apply(&session.transcript.take(), Form::Client26),
        masks.apply(&golden("06_errors_n.out"), Form::Client26)
    );
}
