//! Rules about the structure of the code: which crate may use which, where `async` code is, what
//! tests must contain, and that the heads of files name what exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{check, code_lines, name, root, source_files};

/// The crates from the bottom to the top: each may use only those before it.
const CRATE_LAYERS: &[&str] = &[
    "hblite-env",
    "hblite-mem",
    "hblite-model",
    "hblite-codec",
    "hblite-hfile",
    "hblite-hfile-json",
    "hblite-engine",
    "hblite-wire",
    "hblite-client",
    "hblite",
    "hblite-rowkey",
    "hblite-transfer",
    "hblite-casestudies",
    "hblite-shell",
    "hblite-hotspot",
    "hblite-thrift",
    "hblite-c",
    "hblite-python",
    "hblite-server",
    "hblite-jni",
    "hblite-rest",
    "hblite-console",
    "hblite-cli",
    "hblite-bench-compare",
];

/// The crates that programs embed: they take the clock and waiting from `hblite-env`, where a test
/// controls them.
const EMBEDDED: &[&str] = &[
    "src/",
    "crates/hblite-model/",
    "crates/hblite-codec/",
    "crates/hblite-hfile/",
    "crates/hblite-engine/",
];

/// The names of the crates in the section `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> Vec<&str> {
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    lines.filter_map(|line| line.split(['.', ' ', '=']).next()).collect()
}

#[test]
fn crates_use_only_crates_below_them() {
    let level = |name: &str| CRATE_LAYERS.iter().position(|known| *known == name);
    let mut found = Vec::new();
    for folder in fs::read_dir(root().join("crates")).expect("crates").flatten() {
        let own = folder.file_name().to_string_lossy().into_owned();
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).expect("a manifest");
        let Some(own_level) = level(&own) else {
            found.push(format!("{own} has no layer"));
            continue;
        };
        let used =
            dependencies(&manifest).into_iter().filter_map(|name| Some((name, level(name)?)));
        let up = used.filter(|(_, used_level)| *used_level >= own_level);
        found.extend(up.map(|(name, _)| format!("{own} uses {name}")));
    }
    assert!(found.is_empty(), "crates that use crates above them:\n{}", found.join("\n"));
}

#[test]
fn async_code_stays_in_the_server_and_the_client() {
    const ASYNC: &[&str] = &[
        "crates/hblite-server/",
        "crates/hblite-rest/",
        "crates/hblite-client/",
        "tests/kerberos/",
        "tests/tidy",
        "examples/tokio.rs",
    ];
    check("async code outside the server and the client", |name, text| {
        if ASYNC.iter().any(|folder| name.starts_with(folder)) {
            return vec![];
        }
        let is_async = |line: &&str| {
            let code = line.split("//").next().unwrap_or_default();
            ["async fn", "async move", "async {"].iter().any(|word| code.contains(word))
        };
        text.lines().filter(is_async).map(|line| format!("{name}: {}", line.trim())).collect()
    });
}

#[test]
fn embedded_crates_take_time_from_their_environment() {
    check("clocks or waiting that a test cannot control", |name, text| {
        let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
        if is_test || !EMBEDDED.iter().any(|folder| name.starts_with(folder)) {
            return vec![];
        }
        let uses_env = ["hblite_env::time", "hblite_env::thread"].iter().any(|m| text.contains(m));
        let refused = ["std::time::Instant", "std::time::SystemTime", "std::thread::sleep"];
        let lines = code_lines(text).into_iter().filter(|line| {
            let is_bare = line.contains("Instant::now") || line.contains("thread::sleep");
            refused.iter().any(|path| line.contains(path)) || (is_bare && !uses_env)
        });
        lines.map(|line| format!("{name}: {}", line.trim())).collect()
    });
}

/// The functions of a file: names and bodies. A body ends with the brace in the column of its
/// function.
fn functions(text: &str) -> Vec<(bool, String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some((before, after)) = code.split_once("fn ") else { continue };
        if !before.split(' ').all(|word| word.is_empty() || is_keyword(word)) {
            continue;
        }
        let indent = line.len() - code.len();
        let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let ends = |line: &&str| line.starts_with(&format!("{}}}", " ".repeat(indent)));
        let length = lines[at..].iter().position(ends).unwrap_or(0);
        let attributes = lines[..at].iter().rev().take_while(|line| line.trim().starts_with("#["));
        let is_test = attributes.into_iter().any(|line| line.contains("test]"));
        found.push((is_test, name, lines[at..=at + length].join("\n")));
    }
    found
}

fn is_keyword(word: &str) -> bool {
    word.starts_with("pub") || ["async", "const", "unsafe"].contains(&word)
}

/// Every word of some code.
fn words(code: &str) -> BTreeSet<&str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

/// A test asserts directly, or calls a function that does.
#[test]
fn every_test_can_fail() {
    const ASSERTIONS: &[&str] =
        &["assert", "panic!", "unwrap_err", "expect_err", "unreachable!", "prop_assert"];
    let mut bodies: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut tests = Vec::new();
    for path in source_files() {
        let text = fs::read_to_string(&path).expect("sources are UTF-8");
        for (is_test, function, body) in functions(&text) {
            if is_test {
                tests.push((name(&path), function, body));
            } else {
                bodies.entry(function).or_default().push(body);
            }
        }
    }
    assert!(tests.len() > 500, "the tests were found");
    let asserts = |body: &str| ASSERTIONS.iter().any(|word| body.contains(word));
    // Functions that assert, and in each round those that call one of them.
    let direct = bodies.iter().filter(|(_, bodies)| bodies.iter().any(|body| asserts(body)));
    let mut asserting: BTreeSet<&str> = direct.map(|(name, _)| name.as_str()).collect();
    for _ in 0..3 {
        let callers = bodies.iter().filter(|(_, bodies)| {
            bodies.iter().any(|body| words(body).iter().any(|word| asserting.contains(word)))
        });
        let callers: Vec<&str> = callers.map(|(name, _)| name.as_str()).collect();
        asserting.extend(callers);
    }
    let idle: Vec<String> = tests
        .iter()
        .filter(|(_, _, body)| {
            !asserts(body) && !words(body).iter().any(|word| asserting.contains(word))
        })
        .map(|(file, test, _)| format!("{file}: {test}"))
        .collect();
    assert!(idle.is_empty(), "tests that assert nothing:\n{}", idle.join("\n"));
}

/// Paths of files and folders between backticks in the head of a file exist.
#[test]
fn heads_name_files_that_exist() {
    let files: Vec<String> = source_files().iter().map(|path| name(path)).collect();
    let exists = |of: &str, path: &str| {
        let (file, folder) = (format!("/{path}"), format!("/{path}"));
        let is_source = files.iter().any(|known| {
            let known = format!("/{known}");
            known.ends_with(&file) || (path.ends_with('/') && known.contains(&folder))
        });
        // Or it is below one of the folders that the file is in.
        is_source || Path::new(of).ancestors().any(|above| root().join(above).join(path).exists())
    };
    check("heads that name files or folders that do not exist", |name, text| {
        let head = text.lines().take_while(|line| line.starts_with("//!"));
        let head: String = head.map(|line| format!("{}\n", &line[3..])).collect();
        let quoted = head.split('`').skip(1).step_by(2);
        let is_path = |quoted: &&str| {
            let is_plain =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-./".contains(c);
            let is_source = Path::new(quoted).extension().is_some_and(|end| end == "rs");
            quoted.chars().all(is_plain)
                && !quoted.starts_with('/')
                && (is_source || quoted.ends_with('/'))
        };
        let missing = quoted.filter(is_path).filter(|path| !exists(name, path));
        missing.map(|path| format!("{name}: {path}")).collect()
    });
}
