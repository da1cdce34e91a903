//! Goal: every dependency may be used and can be traced: its license is one that fits Apache 2.0,
//! it comes from crates.io and its manifest names a version. The library has none of them twice,
//! and the workspace only those in a list.
//! Method: ask cargo, which downloads what no build has needed yet.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Licenses that allow use in a work under Apache 2.0. A dependency needs one of its alternatives.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Tools for development under other licenses, of which nothing is in what is distributed.
const TOOLS: &[&str] = &["cbindgen"];

/// All packages of the lock file.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    assert!(packages.len() > 100, "the packages were found");
    packages
}

/// Whether an SPDX expression, or an older one with `/` for OR, can be satisfied.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let is_known = |license: &str| ALLOWED.contains(&license.trim());
    // Right for `(A OR B) AND C`, and too strict for `A OR (B AND C)`.
    expression.split(" AND ").all(|part| part.split(" OR ").any(is_known))
}

#[test]
fn licenses_fit_apache_2() {
    let refused = packages().into_iter().filter_map(|package| {
        let license = package["license"].as_str().unwrap_or("none");
        let is_tool = TOOLS.iter().any(|tool| package["name"] == *tool);
        (!is_allowed(license) && !is_tool).then(|| format!("{}: {license}", package["name"]))
    });
    let refused: Vec<String> = refused.collect();
    assert!(refused.is_empty(), "dependencies whose license is not in the list: {refused:#?}");
}

#[test]
fn licenses_are_told_apart() {
    for allowed in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR GPL-2.0) AND Unicode-3.0"] {
        assert!(is_allowed(allowed), "{allowed}");
    }
    for refused in ["none", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Zlib) AND GPL-2.0"] {
        assert!(!is_allowed(refused), "{refused}");
    }
}

#[test]
fn dependencies_come_from_crates_io() {
    let foreign = packages().into_iter().filter_map(|package| {
        let source = package["source"].as_str()?;
        (source != CRATES_IO).then(|| format!("{} from {source}", package["name"]))
    });
    let foreign: Vec<String> = foreign.collect();
    assert!(foreign.is_empty(), "dependencies from elsewhere: {foreign:#?}");
}

/// A program that embeds the library does not compile two versions of a package.
#[test]
fn the_library_uses_one_version_of_each_package() {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--locked", "--package", "hblite"])
        .args(["--edges", "normal", "--duplicates"])
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree: {errors}");
    let duplicates = String::from_utf8_lossy(&output.stdout);
    assert!(duplicates.trim().is_empty(), "packages in two versions:\n{duplicates}");
}

/// Packages that the workspace compiles in two versions, because dependencies of ours have not met
/// yet. A new one is a reason to look for versions that agree.
const TWICE: &[&str] = &[
    "bit-vec",
    "getrandom",
    "miniz_oxide",
    "num-bigint",
    "syn",
    "synstructure",
    "toml_datetime",
    "winnow",
];

#[test]
fn packages_in_two_versions_are_known() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let text = |field: &str| package[field].as_str().unwrap_or_default().to_owned();
        versions.entry(text("name")).or_default().insert(text("version"));
    }
    let found = versions.into_iter().filter(|(_, versions)| versions.len() > 1);
    let found: BTreeSet<String> = found.map(|(name, _)| name).collect();
    let known: BTreeSet<String> = TWICE.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found, known, "left: in two versions; right: the list above");
}

#[test]
fn dependencies_have_a_version() {
    let wild = packages().into_iter().filter(|package| package["source"].is_null());
    let wild = wild.flat_map(|package| {
        let name = package["name"].to_string();
        let all = package["dependencies"].as_array().cloned().unwrap_or_default();
        let any = all.into_iter().filter(|used| !used["source"].is_null() && used["req"] == "*");
        any.map(move |used| format!("{name} uses any version of {}", used["name"]))
    });
    let wild: Vec<String> = wild.collect();
    assert!(wild.is_empty(), "dependencies without a version: {wild:#?}");
}
