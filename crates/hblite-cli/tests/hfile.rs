//! Goal: `hblite hfile` writes, prints and verifies what Apache HBase writes, prints and reads.
//!
//! Method: the command is run on the files of `tests/golden/hfile`. Its output is compared with
//! what HBase's own printer said of the same files (`*.meta.txt`, `*.print.txt`), and files that it
//! writes from the descriptions are verified against them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/hfile")
}

/// Names of the recorded files that have a file with this ending.
fn names(ending: &str) -> Vec<String> {
    let entries = fs::read_dir(golden_folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        names.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect();
    names.sort();
    names
}

fn golden(name: &str, ending: &str) -> String {
    golden_folder().join(format!("{name}{ending}")).to_str().unwrap().to_owned()
}

fn hblite(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hblite")).arg("hfile").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The output of a run that must succeed.
#[track_caller]
fn good(arguments: &[&str]) -> String {
    let output = hblite(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The error of a run that must end with status 1.
#[track_caller]
fn bad(arguments: &[&str]) -> String {
    let output = hblite(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", text(&output.stdout));
    text(&output.stderr)
}

#[test]
fn recorded_files_fit_their_descriptions() {
    let names = names(".hfile");
    assert_eq!(names.len(), 98);
    for name in names {
        let (json, file) = (golden(&name, ".json"), golden(&name, ".hfile"));
        let said = good(&["verify", "--json", &json, &file]);
        assert!(said.starts_with(&format!("{file}: ok, ")), "{said}");
    }
}

/// The mark in recordings where the end of a long line was cut.
const CUT: &str = "[... cut ...]";

/// Compares line by line with the output of HBase's printer.
#[track_caller]
fn assert_same_lines(name: &str, recorded: &str, printed: &str) {
    let recorded: Vec<&str> = recorded.trim_end().lines().collect();
    let printed: Vec<&str> = printed.trim_end().lines().collect();
    for (index, recorded_line) in recorded.iter().enumerate() {
        let line = printed.get(index).copied().unwrap_or("(nothing)");
        match recorded_line.strip_suffix(CUT) {
            Some(begin) => assert!(line.starts_with(begin), "{name}, line {}", index + 1),
            None => assert_eq!(&line, recorded_line, "{name}, line {}", index + 1),
        }
    }
    assert_eq!(printed.len(), recorded.len(), "{name}");
}

#[test]
fn meta_data_are_printed_as_hbase_does() {
    let names = names(".meta.txt");
    assert_eq!(names.len(), 98);
    for name in names {
        let recorded = fs::read_to_string(golden(&name, ".meta.txt")).unwrap();
        let file = golden(&name, ".hfile");
        let printed = good(&["print", "-m", "-b", &file]);
        let folder = golden("", "");
        assert_same_lines(&name, &of_file(&recorded), &printed.replace(&folder, ""));
    }
}

/// Without lines that need a block cache and a heap.
fn of_file(recorded: &str) -> String {
    let is_of_file = |line: &&str| {
        let line = line.trim_start();
        !line.starts_with("Block index size as per heapsize")
            && !line.starts_with("cache")
            && !line.starts_with("prefetchOnOpen")
    };
    recorded.lines().filter(is_of_file).fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn cells_headers_and_statistics_are_printed_as_hbase_does() {
    let names = names(".print.txt");
    assert_eq!(names.len(), 8);
    for name in names {
        let recorded = fs::read_to_string(golden(&name, ".print.txt")).unwrap();
        let printed = good(&["print", "-p", "-h", "-s", &golden(&name, ".hfile")]);
        let mut lines = Vec::new();
        for line in printed.lines() {
            match line.strip_prefix("[blockType=").and_then(|_| line.strip_suffix(']')) {
                None => lines.push(line),
                // The recording ends where HBase's buffers begin, and at the last data block.
                Some(header) if recorded.contains(header) => lines.push(header),
                Some(header) => {
                    assert!(!header.contains("blockType=DATA,"), "{name}: {header}");
                }
            }
        }
        assert_same_lines(&name, &recorded, &lines.join("\n"));
    }
}

/// The parts of a description that do not depend on the compressor.
fn without_places(name: &str) -> Value {
    let mut json: Value =
        serde_json::from_str(&fs::read_to_string(golden(name, ".json")).unwrap()).unwrap();
    let members = json.as_object_mut().unwrap();
    if members["settings"]["compression"] != "NONE" {
        for member in ["trailer", "blocks"] {
            members.remove(member);
        }
    }
    json
}

#[test]
fn what_is_written_from_a_description_fits_it() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let mut written = 0;
    for name in names(".hfile") {
        let description = without_places(&name);
        if description.get("cells").is_none() {
            continue;
        }
        let (out, json) = (path(&name), path(&format!("{name}.json")));
        fs::write(&json, description.to_string()).unwrap();
        let said = good(&["write", "--from", &golden(&name, ".json"), "--out", &out]);
        let cells = description["cell_count"].as_u64().unwrap();
        let cells = hblite_model::counted(cells, "cell");
        assert!(said.starts_with(&format!("{out}: {cells} in ")), "{said}");
        good(&["verify", "--json", &json, &out]);
        if description["settings"]["compression"] == "NONE" {
            let recorded = fs::read(golden(&name, ".hfile")).unwrap();
            assert!(fs::read(&out).unwrap() == recorded, "{name}");
        }
        written += 1;
    }
    assert!(written > 50, "{written}");
}

#[test]
fn a_printed_description_writes_the_same_file_and_fits_it() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for name in names(".hfile") {
        let file = golden(&name, ".hfile");
        let printed = good(&["print", "--json", &file]);
        fs::write(path("described.json"), &printed).unwrap();
        good(&["verify", "--json", &path("described.json"), &file]);
        let described: Value = serde_json::from_str(&printed).unwrap();
        let recorded: Value =
            serde_json::from_str(&fs::read_to_string(golden(&name, ".json")).unwrap()).unwrap();
        for (member, value) in recorded.as_object().unwrap() {
            match value.as_object().filter(|_| member == "settings") {
                // What a file does not show is not described, nor filters without keys.
                Some(settings) if described["cell_count"] != 0 => {
                    for (member, found) in described["settings"].as_object().unwrap() {
                        // Nor whether tags would be compressed if there were some.
                        if member != "compress_tags" || found == true {
                            assert_eq!(Some(found), settings.get(member), "{name}: {member}");
                        }
                    }
                }
                Some(_) => {}
                None => assert_eq!(&described[member], value, "{name}: {member}"),
            }
        }
    }
}

/// Each member that is compared, changed, must be noticed.
#[test]
fn a_file_that_differs_from_its_description_is_refused() {
    let dir = TempDir::new().unwrap();
    let json = dir.path().join("changed.json").to_str().unwrap().to_owned();
    // What a file does not show.
    let unseen = ["block_size", "bloom_block_size", "bloom_error_rate"];
    let unseen_sizes = ["index_chunk_size", "index_min_entries"];
    for name in ["bloom-rowprefix5", "small-ctags-diff", "meta-blocks"] {
        let file = golden(name, ".hfile");
        let description = without_places(name);
        let mut pointers = Vec::new();
        leaves(&description, "", &mut pointers);
        let mut refused = 0;
        for pointer in &pointers {
            let last = pointer.rsplit('/').next().unwrap();
            if ["/format", "/name"].contains(&pointer.as_str())
                || unseen.contains(&last)
                || unseen_sizes.contains(&last)
                || (last == "compress_tags" && description["settings"]["include_tags"] == false)
                || (last == "hash" && description["settings"]["bloom"] == "NONE")
            {
                continue;
            }
            let mut changed = description.clone();
            let value = changed.pointer_mut(pointer).unwrap();
            *value = other(value);
            fs::write(&json, changed.to_string()).unwrap();
            let output = hblite(&["verify", "--json", &json, &file]);
            assert_eq!(output.status.code(), Some(1), "{name}: {pointer}");
            let said = text(&output.stderr);
            assert!(said.starts_with(&format!("hblite: {file}: ")), "{pointer}: {said}");
            refused += 1;
        }
        assert!(refused > 40, "{name}: {refused}");
    }
}

fn leaves(value: &Value, pointer: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                leaves(member, &format!("{pointer}/{name}"), found);
            }
        }
        // The first elements stand for all.
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate().take(2) {
                leaves(element, &format!("{pointer}/{index}"), found);
            }
        }
        _ => found.push(pointer.to_owned()),
    }
}

/// Another value of the same type.
fn other(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Number(number) => Value::from(number.as_i64().unwrap() ^ 1),
        Value::String(text) => {
            let known = ["NONE", "ROW", "murmur", "default", "CRC32C", "DIFF"];
            let others = ["GZ", "ROWCOL", "jenkins", "meta", "NULL", "PREFIX"];
            match known.iter().position(|known| known == text) {
                Some(index) => Value::from(others[index]),
                None if text.is_empty() => Value::from("00"),
                None => {
                    let (head, last) = text.split_at(text.len() - 1);
                    Value::from(format!("{head}{}", if last == "0" { "1" } else { "0" }))
                }
            }
        }
        other => panic!("{other} is not a leaf"),
    }
}

#[test]
fn settings_on_the_command_line_replace_those_of_the_description() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("out").to_str().unwrap().to_owned();
    let from = golden("small-tags-none", ".json");
    let mut arguments = vec!["write", "--from", &from, "--out", &out];
    arguments.extend(["--encoding", "fast_diff", "--compression", "GZ", "--checksum", "CRC32"]);
    arguments.extend(["--bloom", "ROWPREFIX_FIXED_LENGTH", "--bloom-prefix-length", "6"]);
    arguments.extend(["--include-tags", "false", "--block-size", "300", "--bulk-load"]);
    arguments.extend(["--bytes-per-checksum", "64", "--index-chunk-size", "200"]);
    good(&arguments);
    good(&["verify", &out]);
    let described: Value = serde_json::from_str(&good(&["print", "--json", &out])).unwrap();
    for (name, expected) in [
        ("encoding", Value::from("FAST_DIFF")),
        ("compression", Value::from("GZ")),
        ("checksum", Value::from("CRC32")),
        ("bytes_per_checksum", Value::from(64)),
        ("bloom", Value::from("ROWPREFIX_FIXED_LENGTH")),
        ("bloom_param", Value::from(6)),
        ("include_tags", Value::from(false)),
        ("include_mvcc", Value::from(true)),
        ("max_seq_id", Value::Null),
        ("major_compaction", Value::from(true)),
    ] {
        assert_eq!(described["settings"][name], expected, "{name}");
    }
    let cells = described["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 35);
    assert!(cells.iter().all(|cell| cell["tags"] == "" && cell["mvcc"] == 0));
    assert!(described["trailer"]["num_data_index_levels"].as_u64() >= Some(2));
    assert!(described["file_info"].get("BULKLOAD_TIMESTAMP").is_some());
    // What a bulk load adds is in the description.
    let json = dir.path().join("out.json");
    fs::write(&json, described.to_string()).unwrap();
    let (json, again) = (json.to_str().unwrap(), format!("{out}-again"));
    good(&["write", "--from", json, "--out", &again, "--block-size", "300"]);
    let again: Value = serde_json::from_str(&good(&["print", "--json", &again])).unwrap();
    assert_eq!(again["file_info"], described["file_info"]);
}

#[test]
fn what_cannot_be_written_leaves_no_file() {
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (out, from) = (path("out"), golden("small-tags-none", ".json"));
    let digest_only = golden("typical-none", ".json");
    let prefix = ["--bloom", "ROWPREFIX_FIXED_LENGTH"];
    for (arguments, expected) in [
        (vec!["--from", &digest_only], "/cells: is missing, nothing can be written"),
        (vec!["--from", "nosuch.json"], "nosuch.json: No such file"),
        ([&["--from", &from][..], &prefix].concat(), "row prefixes without a length"),
        (vec!["--from", &from, "--compression", "LZO"], "LZO"),
    ] {
        let said = bad(&[&["write", "--out", &out][..], &arguments].concat());
        assert!(said.starts_with("hblite: ") && said.contains(expected), "{said}");
        assert!(!Path::new(&out).exists());
    }
    // Cells out of order are found when some were written.
    let mut json: Value = serde_json::from_str(&fs::read_to_string(&from).unwrap()).unwrap();
    json["cells"].as_array_mut().unwrap().swap(3, 30);
    fs::write(path("swapped.json"), json.to_string()).unwrap();
    let said = bad(&["write", "--from", &path("swapped.json"), "--out", &out]);
    assert!(said.contains("Added a key not lexically larger"), "{said}");
    assert!(!Path::new(&out).exists());
    // An existing file stays.
    fs::write(&out, "mine").unwrap();
    bad(&["write", "--from", &from, "--out", &out]);
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
}

#[test]
fn damage_is_named_with_its_offset() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("damaged");
    let mut bytes = fs::read(golden("small-tags-none", ".hfile")).unwrap();
    bytes[1000] ^= 1;
    fs::write(&file, &bytes).unwrap();
    let (file, whole) = (file.to_str().unwrap(), golden("one", ".hfile"));
    let said = bad(&["verify", &whole, file]);
    assert!(said.starts_with(&format!("hblite: damaged: {file} at offset 975: CRC32C")), "{said}");
    let output = hblite(&["verify", file, &whole]);
    assert!(text(&output.stdout).starts_with(&format!("{whole}: ok, 1 cell ")));
    let said = bad(&["verify", "nosuch"]);
    assert!(said.starts_with("hblite: unreadable: opening nosuch: "), "{said}");
    // The cells before the damage are printed.
    let output = hblite(&["print", "-e", file]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).lines().count(), 12);
    assert!(text(&output.stderr).contains("at offset 975"));
}

#[test]
fn one_row_a_region_and_checks() {
    let file = golden("small-tags-none", ".hfile");
    let row = good(&["print", "-e", "-w", "user10100148", &file]);
    assert_eq!(row.lines().count(), 6);
    assert!(
        row.ends_with(
            "Scanned kv count -> 5
"
        ),
        "{row}"
    );
    let absent = good(&["print", "-v", "-w", "user10100149", &file]);
    assert_eq!(
        absent,
        format!(
            "Scanning -> {file}
Scanned kv count -> 0
"
        )
    );
    assert_eq!(good(&["print", "-k", &file]), "");
    let output = hblite(&["print", "-a", &file]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout).matches("of another family").count(), 35);

    let dir = TempDir::new().unwrap();
    for (family, name) in [("cf", "family-cf"), ("d", "family-d"), (".tmp", "one")] {
        fs::create_dir(dir.path().join(family)).unwrap();
        fs::copy(golden(name, ".hfile"), dir.path().join(family).join("file")).unwrap();
    }
    fs::write(dir.path().join(".regioninfo"), "").unwrap();
    let region = dir.path().to_str().unwrap();
    let printed = good(&["print", "-a", "-v", "-r", region]);
    assert_eq!(printed.matches("Scanned kv count -> 1354").count(), 2, "{printed}");
}
