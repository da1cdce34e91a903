//! The examples of `docs/data-model.md`, run.
//!
//! - A block ```` ```hbase ```` holds commands after `hbase> `, and below each of them its output;
//!   ```` ```hbase fresh ```` begins with an empty store. What the document leaves out ([`masks`])
//!   is left out on both sides; a line that ends in `…` is the beginning of a longer one.
//! - The table under "From SQL" has commands in its second column, which must succeed in their
//!   order, and Rust in its third, which must be the code that runs here.
//!
//! Blocks of Rust are doc tests of the root crate.
//!
//! The test controls the clock: a store begins at 2026-01-01T00:00 UTC, each line of commands runs
//! one second after the one before, and `sleep` advances the clock. Nothing is compacted unless a
//! command says so.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::Session;
use hblite::filter::{self, Filter};
use hblite::{
    CheckAndMutate, ColumnFamilyDescriptor, Connection, Delete, Get, NamespaceDescriptor, Put,
    RowMutations, Scan, SplitPoints, TableDescriptor, TimeRange,
};
use hblite_shell::Outcome;
use regex::Regex;

/// 2026-01-01T00:00 UTC.
const START_MS: i64 = 1_767_225_600_000;
const PROMPT: &str = "hbase> ";

/// The time between one line of commands and the next.
const STEP_MS: i64 = 1_000;

/// Lines that the document leaves out.
fn masks() -> Regex {
    let lines = [
        r"\s*",
        r"Took [0-9.]+ seconds",
        r#"For usage try 'help "\w+"'"#,
        r"ROW  COLUMN\+CELL",
        r"COLUMN  CELL",
        r"[1-9]\d* row\(s\)",
        r"Created table \S+",
        r"=> Hbase::Table - \S+",
        r"Updating all regions with the new schema\.\.\.",
        r"\d+/\d+ regions updated\.",
        r"Done\.",
    ];
    Regex::new(&format!("^(?:{})$", lines.join("|"))).unwrap()
}

/// The commands of one line and what they print according to the document.
struct Exchange {
    /// The line number in the document, counted from 1.
    line: usize,
    is_on_fresh_store: bool,
    commands: String,
    expected: Vec<String>,
}

fn document() -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/data-model.md");
    fs::read_to_string(path).unwrap()
}

fn exchanges(document: &str) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    // The language of the block that is open, and whether it waits for a fresh store.
    let mut language = None;
    let mut is_fresh = false;
    for (line, text) in (1..).zip(document.lines()) {
        if let Some(info) = text.strip_prefix("```") {
            language = language.is_none().then_some(info);
            is_fresh = info == "hbase fresh";
            let is_run = ["hbase", "hbase fresh", "rust", ""].contains(&info);
            assert!(is_run, "line {line}: nothing runs a block of {info:?}");
            assert!(language != Some(""), "line {line}: a block without language");
        } else if !language.is_some_and(|language| language.starts_with("hbase")) {
            assert!(!text.starts_with(PROMPT), "line {line}: a command outside of a block");
        } else if let Some(commands) = text.strip_prefix(PROMPT) {
            let (commands, expected) = (commands.to_owned(), Vec::new());
            exchanges.push(Exchange { line, is_on_fresh_store: is_fresh, commands, expected });
            is_fresh = false;
        } else {
            let exchange = exchanges.last_mut().unwrap();
            exchange.expected.push(text.to_owned());
        }
    }
    assert_eq!(language, None, "a block is not closed");
    exchanges
}

fn agrees(expected: &str, actual: &str) -> bool {
    match expected.strip_suffix('…') {
        Some(beginning) => actual.starts_with(beginning),
        None => actual == expected,
    }
}

#[test]
fn blocks_print_what_the_document_says() {
    let masks = masks();
    let mut complaints = Vec::new();
    let mut session = Session::new(START_MS, STEP_MS);
    let exchanges = exchanges(&document());
    assert!(exchanges.len() > 50, "the blocks were found");
    for Exchange { line, is_on_fresh_store, commands, expected } in exchanges {
        if is_on_fresh_store {
            session = Session::new(START_MS, STEP_MS);
        }
        let (outcome, printed) = session.run(&commands);
        let actual: Vec<&str> = printed.lines().filter(|line| !masks.is_match(line)).collect();
        let is_same = expected.len() == actual.len()
            && expected.iter().zip(&actual).all(|(expected, actual)| agrees(expected, actual));
        if !is_same || outcome == Outcome::Incomplete {
            complaints.push(format!(
                "docs/data-model.md:{line}: {commands}\n--- document\n{}\n--- hblite\n{}\n",
                expected.join("\n"),
                actual.join("\n")
            ));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A row of the table under "From SQL".
struct Translation {
    line: usize,
    shell: String,
    rust: String,
}

fn translations(document: &str) -> Vec<Translation> {
    let row = Regex::new(r"^\| .* \| (–|`(?<shell>.+)`) \| `(?<rust>.+)` \|$").unwrap();
    let lines = (1..).zip(document.lines()).skip_while(|(_, text)| *text != "## From SQL");
    let rows = lines.filter(|(_, text)| text.starts_with("| ")).skip(1);
    let translations = rows.map(|(line, text)| {
        let columns = row.captures(text).unwrap_or_else(|| panic!("line {line}: {text}"));
        let shell = columns.name("shell").map_or("", |commands| commands.as_str());
        Translation { line, shell: shell.to_owned(), rust: columns["rust"].to_owned() }
    });
    translations.collect()
}

#[test]
fn translations_run_in_the_shell() {
    let mut session = Session::new(START_MS, STEP_MS);
    for Translation { line, shell, .. } in translations(&document()) {
        if !shell.is_empty() {
            let (outcome, printed) = session.run(&shell);
            assert_eq!(outcome, Outcome::Done, "docs/data-model.md:{line}: {printed}");
        }
    }
}

/// Runs pieces of code and returns them as text.
macro_rules! run_and_quote {
    ($({ $($code:tt)* })*) => {
        [$({
            let _ = { $($code)* };
            stringify!($($code)*)
        }),*]
    };
}

fn rust_column(connection: &Connection) -> hblite::Result<Vec<&'static str>> {
    let admin = connection.admin();
    let users = connection.table("users")?;
    let table = TableDescriptor::new(users.name().clone());
    let d = ColumnFamilyDescriptor::new("d");
    let day = Duration::from_secs(24 * 60 * 60);
    let ada = Put::new("u1").add("d", "name", "Ada").add("d", "version", "7");
    let ada_8 = Put::new("u1").add("d", "name", "Ada").add("d", "version", "8");
    let ada_9 = Put::new("u1").add("d", "name", "Ada").add("d", "version", "9");
    let no_mail = Delete::new("u1").columns("d", "mail");
    let quoted = run_and_quote! {
        { admin.create_namespace(&NamespaceDescriptor::new("shop"))? }
        {
            admin.create_table(
                &table.with_family(ColumnFamilyDescriptor::new("d").with_versions(3))
            )?
        }
        { admin.modify_family(users.name(), &d.with_time_to_live(day))? }
        { users.put(&Put::new("u1").add("d", "name", "Ada"))? }
        {
            users.check_and_mutate(
                &CheckAndMutate::new("u1").if_not_exists("d", "name").then(ada)
            )?
        }
        {
            users.check_and_mutate(
                &CheckAndMutate::new("u1").if_equals("d", "version", "7").then(ada_8)
            )?
        }
        { users.increment_column("u1", "d", "n", 1)? }
        { users.mutate_row(&RowMutations::new("u1").add(ada_9).add(no_mail))? }
        { users.get(&Get::new("u1"))? }
        { users.get(&Get::new("u1").with_column("d", "name"))? }
        { users.get(&Get::new("u1").with_time_range(TimeRange::new(0, 9)?))? }
        { users.scan(&Scan::new().with_start_row("a").with_stop_row("m"))? }
        { users.scan(&Scan::new().with_prefix("u"))? }
        { users.scan(&Scan::new().with_reversed(true).with_limit(1))? }
        {
            users.scan(
                &Scan::new().with_filter(filter::parse_filter("ValueFilter(=, 'binary:Ada')")?)
            )?
        }
        { users.scan(&Scan::new().with_filter(Filter::first_key_only()))?.count() }
        { users.delete(&Delete::new("u1").columns("d", "name"))? }
        { users.delete(&Delete::new("u1"))? }
        {
            admin.disable_table(users.name())?;
            admin.truncate_table(users.name(), SplitPoints::Discard)?
        }
        { admin.disable_table(users.name())?; admin.delete_table(users.name())? }
    };
    Ok(quoted.to_vec())
}

#[test]
fn translations_are_rust_that_runs() {
    let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
    let quoted = rust_column(&Session::new(START_MS, STEP_MS).connection).unwrap();
    let quoted = quoted.into_iter().map(without_blanks);
    let translations = translations(&document());
    assert_eq!(translations.len(), quoted.len(), "rows of the table and pieces of code");
    for (Translation { line, rust, .. }, quoted) in translations.into_iter().zip(quoted) {
        assert_eq!(without_blanks(&rust), quoted, "docs/data-model.md:{line}");
    }
}
