//! The rules of style that a machine can check, as a test.
//!
//! Per source file: a head that says what it is, a size, no marks of unfinished work, unsafe code
//! only in the fenced files, and calls that go down the layers of the engine only. Per document:
//! lines that fit the page, links that lead somewhere, idiomatic phrases, and a number of words.
//! `tidy/structure.rs` has the rules about crates, async code, clocks, tests and heads of files,
//! `tidy/cycles.rs` the one about modules, `tidy/programs.rs` the one about test programs,
//! `tidy/differences.rs` the one about answers that suites skip. The other modules check
//! dependencies, features, the paths of operations and the planted bugs.

#[path = "tidy/cycles.rs"]
mod cycles;
mod dependencies;
#[path = "tidy/differences.rs"]
mod differences;
mod features;
mod paths;
mod planted_bugs;
#[path = "tidy/programs.rs"]
mod programs;
#[path = "tidy/structure.rs"]
mod structure;

use std::fs;
use std::path::{Path, PathBuf};

const LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 70;
const COLUMNS_MAX: usize = 100;

/// The only files with unsafe code.
const FENCED: &[&str] = &[
    "crates/hblite-c/src/memory.rs",
    "crates/hblite-client/src/rpc/kerberos/library.rs",
    "crates/hblite-env/src/mapping.rs",
    "crates/hblite-env/src/simulation/fiber.rs",
    "crates/hblite-engine/src/memstore/cells/arena.rs",
    "crates/hblite-engine/src/prefetch.rs",
    "crates/hblite-engine/tests/memstore_accounting.rs",
    "crates/hblite-hfile/tests/allocation.rs",
    "crates/hblite-jni/src/env.rs",
    "crates/hblite-jni/src/lib.rs",
    "crates/hblite-mem/src/compare.rs",
    "crates/hblite-mem/src/copy.rs",
    "crates/hblite-mem/src/heap.rs",
    "crates/hblite-mem/src/symbols.rs",
    "tests/malformed/allocator.rs",
    "tests/testkit/counting.rs",
    "crates/hblite-bench-compare/src/store/lmdb.rs",
];

/// Modules of the engine from the top to the bottom: `use crate::` may only point downwards.
/// What is not named (options, context, status) belongs to all.
const ENGINE_LAYERS: &[&[&str]] = &[
    &["timeline"],
    &["engine"],
    &["check", "chore"],
    &["table"],
    &["catalog"],
    &["region"],
    &["store"],
    &["backup", "memstore", "wal"],
    &["layout"],
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn source_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["src", "crates", "tests", "benches", "examples"] {
        collect(&root().join(folder), &mut files);
    }
    assert!(files.len() > 50, "the sources were found");
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        // hblite-messages writes them.
        if path.ends_with("hblite-wire/generated") {
            continue;
        }
        // A module may be called `target`; a folder of builds has a tag.
        if path.is_dir() && !path.join("CACHEDIR.TAG").exists() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned()
}

/// The lines without the inline tests at the end.
fn code_lines(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| {
        pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    });
    lines[..tests.unwrap_or(lines.len())].to_vec()
}

fn check(what: &str, find: impl Fn(&str, &str) -> Vec<String>) {
    let mut found = Vec::new();
    for path in source_files() {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        found.extend(find(&name(&path), &text));
    }
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    check("files that do not open with //!", |name, text| {
        if text.starts_with("//!") { vec![] } else { vec![name.to_owned()] }
    });
}

#[test]
fn files_are_one_idea_long() {
    check("files that are too long", |name, text| {
        let is_test = name.contains("tests") || name.contains("benches");
        let count = code_lines(text).len();
        let is_long = !is_test && count > LINES_MAX;
        if is_long { vec![format!("{name}: {count} lines")] } else { vec![] }
    });
}

#[test]
fn lines_fit_the_page() {
    check("lines that are too long", |name, text| {
        let long = text.lines().enumerate().filter(|(_, line)| line.chars().count() > COLUMNS_MAX);
        long.map(|(index, _)| format!("{name}:{}", index + 1)).collect()
    });
}

#[test]
fn functions_fit_the_screen() {
    check("functions that are too long", |name, text| {
        let mut found = Vec::new();
        if name.contains("tests") {
            return found;
        }
        let mut start: Option<(usize, usize, &str)> = None;
        for (index, line) in code_lines(text).iter().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let trimmed = line.trim_start();
            let is_function = ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn "]
                .iter()
                .any(|keyword| trimmed.starts_with(keyword));
            if is_function && start.is_none() {
                start = Some((index, indent, trimmed));
            }
            if let Some((from, at, head)) = start
                && trimmed.starts_with('}')
                && indent == at
            {
                if index - from + 1 > FUNCTION_LINES_MAX {
                    found.push(format!("{name}:{}: {head}", from + 1));
                }
                start = None;
            } else if let Some((from, at, _)) = start {
                let is_one_line = from == index && trimmed.ends_with('}');
                let is_declaration = at == indent && trimmed.ends_with(';');
                if is_one_line || is_declaration {
                    start = None;
                }
            }
        }
        found
    });
}

#[test]
fn nothing_is_unfinished() {
    let marks = ["TODO", "FIXME", "XXX", "todo!(", "unimplemented!(", "#[ignore"];
    check("marks of unfinished work", |name, text| {
        if name == "tests/tidy.rs" {
            return vec![];
        }
        let lines = text.lines().enumerate();
        lines
            .filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)))
            .map(|(index, line)| format!("{name}:{}: {}", index + 1, line.trim()))
            .collect()
    });
}

#[test]
fn unsafe_code_stays_fenced() {
    check("unsafe code outside its fence", |name, text| {
        if FENCED.contains(&name) || name == "tests/tidy.rs" {
            return vec![];
        }
        let lines = text.lines().enumerate().filter(|(_, line)| {
            let code = line.split("//").next().unwrap_or("");
            // Text between quotes is not code.
            code.split('"').step_by(2).any(|part| part.contains("unsafe "))
        });
        lines.map(|(index, _)| format!("{name}:{}", index + 1)).collect()
    });
}

#[test]
fn unsafe_code_is_covered_by_miri_or_as_the_document_says() {
    let runs_under_miri = ["memstore/cells/arena.rs", "src/compare.rs", "src/copy.rs"];
    let document = fs::read_to_string(root().join("docs/testing-hblite.md")).expect("the document");
    for path in FENCED {
        let source = fs::read_to_string(root().join(path)).expect(path);
        assert!(source.contains("unsafe"), "{path} is safe now: it needs no fence");
        let is_tool = !path.contains("/src/") || path.contains("bench-compare");
        let (directory, file) = path.rsplit_once('/').expect("a file in a directory");
        let directory = directory.trim_start_matches("crates/");
        let is_listed =
            document.lines().any(|line| line.contains(directory) && line.contains(file));
        let is_run = runs_under_miri.iter().any(|run| path.ends_with(run));
        assert!(is_tool || is_run || is_listed, "{path}: which test covers it?");
    }
}

#[test]
fn calls_go_down_the_layers() {
    let level = |module: &str| ENGINE_LAYERS.iter().position(|layer| layer.contains(&module));
    check("uses that point up", |name, text| {
        let Some(path) = name.strip_prefix("crates/hblite-engine/src/") else { return vec![] };
        let own = path.split(['/', '.']).next().unwrap_or("");
        let Some(own_level) = level(own) else { return vec![] };
        let mut found = Vec::new();
        for (index, line) in code_lines(text).iter().enumerate() {
            let mut used = line.split("crate::").skip(1).map(|path| {
                path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("")
            });
            let points_up = |module| level(module).is_some_and(|used_level| used_level < own_level);
            let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
            let names_own_types = line.contains("use crate::{") && !is_test;
            if used.any(points_up) || names_own_types {
                found.push(format!("{name}:{}: {}", index + 1, line.trim()));
            }
        }
        found
    });
}

/// The engine takes locks, threads and elapsed time from `hblite-env`, where a build for simulation
/// substitutes its own.
#[test]
fn the_engine_takes_locks_and_threads_from_its_environment() {
    let refused = ["parking_lot", "std::thread", "std::sync::mpsc", "std::time::"];
    check("locks, threads or clocks that a simulation cannot see", |name, text| {
        let is_engine = name.starts_with("crates/hblite-engine/src/");
        if !is_engine || name.contains("/tests/") || name.ends_with("/tests.rs") {
            return vec![];
        }
        let lines = code_lines(text).into_iter().enumerate().filter(|(_, line)| {
            refused.iter().any(|part| line.contains(part)) && !line.contains("std::time::Duration")
        });
        lines.map(|(index, line)| format!("{name}:{}: {}", index + 1, line.trim())).collect()
    });
}

/// The files below some folders that are written by hand and that `is_wanted`.
fn written_files(folders: &[&str], is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder exists").flatten() {
            let (path, file_name) = (entry.path(), entry.file_name());
            let is_made = ["target", "node_modules"].iter().any(|made| file_name == *made);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !is_made => folders.push(path),
                Ok(kind) if kind.is_file() && is_wanted(&path) => files.push(path),
                _ => {}
            }
        }
    }
    files
}

fn end_of_name(path: &Path) -> &str {
    path.extension().and_then(|end| end.to_str()).unwrap_or_default()
}

/// The documents, with their paths below the root.
fn documents() -> Vec<(String, String)> {
    let folders = ["crates", "docs", "examples", "kits", "tests", "tools"];
    let mut paths = written_files(&folders, |path| end_of_name(path) == "md");
    paths.extend(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|name| root().join(name)));
    assert!(paths.len() > 50, "the documents were found");
    let text = |path: &PathBuf| fs::read_to_string(path).expect("documents are UTF-8");
    paths.iter().map(|path| (name(path), text(path))).collect()
}

/// Calls `visit` with the number of each line that is neither code nor part of a table.
fn for_each_prose_line(text: &str, mut visit: impl FnMut(usize, &str)) {
    let mut is_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") && !line.starts_with('|') {
            visit(index + 1, line);
        }
    }
}

#[test]
fn documents_fit_the_page() {
    let mut long = Vec::new();
    for (name, text) in documents() {
        for_each_prose_line(&text, |number, line| {
            if line.chars().count() > COLUMNS_MAX && !line.starts_with("![") {
                long.push(format!("{name}:{number}"));
            }
        });
    }
    assert!(long.is_empty(), "lines over {COLUMNS_MAX} columns:\n{}", long.join("\n"));
}

/// The words that pages may have together, as `wc -w` counts them. The last line is for all pages
/// that a user reads.
const WORDS_MAX: &[(&[&str], usize)] = &[
    (&["CHANGELOG.md"], 400),
    (&["docs/performance.md"], 4_500),
    (&["docs/testing-hblite.md"], 2_500),
    (&["docs/hotspotting.md", "docs/your-keys.md", "docs/case-studies.md"], 9_000),
    (&["README.md", "CHANGELOG.md", "docs/"], 42_000),
];

#[test]
fn documents_stay_short() {
    let documents = documents();
    for (pages, words_max) in WORDS_MAX {
        let is_counted = |name: &str| pages.iter().any(|page| name.starts_with(page));
        let counted = documents.iter().filter(|(name, _)| is_counted(name));
        let counted: Vec<usize> =
            counted.map(|(_, text)| text.split_whitespace().count()).collect();
        let words: usize = counted.iter().sum();
        assert!(counted.len() >= pages.len(), "{pages:?}: the pages were found");
        assert!(words <= *words_max, "{pages:?}: {words} words, at most {words_max}");
    }
}

/// Phrases that no editor would let pass, each with a better one.
const UNIDIOMATIC: &[(&str, &str)] = &[
    ("for ever", "forever"),
    ("passed over", "skipped"),
    ("in some minutes", "in a few minutes"),
    ("in some milliseconds", "within milliseconds"),
    ("second names", "hard links"),
    ("stands beside", "is next to"),
    ("told of", "reported"),
    ("borders", "boundaries"),
    ("nobody", "no client, no process"),
    ("somebody", "another process"),
    ("who comes", "what arrives"),
    ("by themselves", "automatically"),
    ("is no part", "is not part"),
    ("filled up", "padded, filled"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("in vain", "forever, without effect"),
    ("gives back", "returns"),
    ("is told", "is asked, is informed"),
    ("some seconds", "a few seconds"),
    ("by turns", "in turn"),
    ("any more", "any longer, no longer, afterwards"),
    ("beside", "next to, in addition to, compared with"),
    ("at hand", "known, available"),
];

/// The unidiomatic phrases of a line, with better ones.
fn unidiomatic(line: &str) -> Vec<String> {
    // Text between backticks is code. Words end at anything that is not a letter.
    let prose = line.split('`').step_by(2).collect::<String>().to_lowercase();
    let words: Vec<&str> = prose.split(|c: char| !c.is_alphabetic()).collect();
    let words = format!(" {} ", words.join(" "));
    let is_in = |phrase: &str| words.contains(&format!(" {phrase} "));
    let found = UNIDIOMATIC.iter().filter(|(phrase, _)| is_in(phrase));
    let found = found.map(|(phrase, better)| format!("{phrase}: write {better}"));
    found.chain(negated_nouns(&words)).collect()
}

/// "This is no file" in place of "this is not a file". "There is no file" is idiomatic.
fn negated_nouns(words: &str) -> Vec<String> {
    let idiomatic = ["longer", "more", "less", "one", "such", "different", "exception"];
    let words: Vec<&str> = words.split_whitespace().collect();
    let is_negated = |window: &&[&str]| {
        let [subject, verb, negation, noun] = **window else { return false };
        ["is", "are", "was", "were"].contains(&verb)
            && negation == "no"
            && !["there", "where"].contains(&subject)
            && !idiomatic.contains(&noun)
    };
    let found = words.windows(4).filter(is_negated);
    found.map(|window| format!("{}: write not a", window[1..].join(" "))).collect()
}

#[test]
fn documents_are_idiomatic() {
    let mut found = Vec::new();
    for (name, text) in documents() {
        for_each_prose_line(&text, |number, line| {
            found.extend(unidiomatic(line).iter().map(|what| format!("{name}:{number}: {what}")));
        });
    }
    assert!(found.is_empty(), "unidiomatic phrases:\n{}", found.join("\n"));
}

/// The ends of the names of files with comments, except for Rust.
const LANGUAGES: &[&str] = &["java", "go", "py", "js", "ts", "sh"];

fn is_script(path: &Path) -> bool {
    fs::read(path).is_ok_and(|content| content.starts_with(b"#!"))
}

/// The files of tools, kits and examples in other languages.
fn other_sources() -> Vec<PathBuf> {
    let files = written_files(&[".ci", "crates", "examples", "kits", "tools"], |path| {
        let end = end_of_name(path);
        LANGUAGES.contains(&end) || (end.is_empty() && is_script(path))
    });
    assert!(files.len() > 150, "the files were found");
    files
}

/// Comments that fill a line, in all languages.
#[test]
fn comments_are_idiomatic() {
    let mut found = Vec::new();
    for path in source_files().into_iter().chain(other_sources()) {
        if path.ends_with("tidy.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        for (index, line) in text.lines().enumerate() {
            let start = line.trim_start();
            if ["//", "/*", "* ", "# "].iter().any(|mark| start.starts_with(mark)) {
                let phrases = unidiomatic(start);
                let place = format!("{}:{}", name(&path), index + 1);
                found.extend(phrases.iter().map(|what| format!("{place}: {what}")));
            }
        }
    }
    assert!(found.is_empty(), "unidiomatic phrases:\n{}", found.join("\n"));
}

/// The anchor of a heading, as on the pages that show it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for (name, text) in documents() {
        let folder = root().join(&name).parent().expect("a folder").to_path_buf();
        for_each_prose_line(&text, |number, line| {
            for link in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                if link.starts_with("http") {
                    continue;
                }
                let (path, heading) = link.split_once('#').unwrap_or((link, ""));
                let target = if path.is_empty() { root().join(&name) } else { folder.join(path) };
                let exists = target.exists()
                    && (heading.is_empty()
                        || fs::read_to_string(&target).is_ok_and(|text| {
                            let headings = text.lines().filter(|line| line.starts_with('#'));
                            headings
                                .map(|line| anchor(line.trim_start_matches('#')))
                                .any(|anchor| anchor == heading)
                        }));
                if !exists {
                    broken.push(format!("{name}:{number}: {link}"));
                }
            }
        });
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}
