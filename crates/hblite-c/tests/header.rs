//! The header is what `cbindgen` makes of the source, and the libraries export its functions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn crate_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Constants that are unambiguous without the name of their type.
const SHORTER: &[(&str, &str)] = &[
    ("HBLITE_CELL_TYPE_", "HBLITE_CELL_"),
    ("HBLITE_CODE_", "HBLITE_"),
    ("HBLITE_COMPARISON_", "HBLITE_"),
    ("HBLITE_DELETE_SCOPE_", "HBLITE_DELETE_"),
    ("HBLITE_WRITE_DURABILITY_", "HBLITE_DURABILITY_"),
    ("HBLITE_WRITE_KIND_", "HBLITE_"),
];

/// The header for the present source.
fn generated() -> String {
    let config = cbindgen::Config::from_file(crate_file("cbindgen.toml")).expect("the settings");
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(crate_file("src/lib.rs"))
        .generate()
        .expect("cbindgen reads the source");
    let mut header = Vec::new();
    bindings.write(&mut header);
    let header = String::from_utf8(header).expect("a header is text");
    SHORTER.iter().fold(header, |header, (long, short)| header.replace(long, short))
}

#[test]
fn the_header_is_that_of_the_source() {
    let path = crate_file("include/hblite.h");
    if std::env::var_os("HBLITE_UPDATE_HEADER").is_some() {
        std::fs::write(&path, generated()).expect("the header can be written");
    }
    let header = std::fs::read_to_string(&path).expect("the header");
    let advice = "run this test with HBLITE_UPDATE_HEADER=1 and commit the header";
    assert!(header == generated(), "include/hblite.h is not current: {advice}");
}

/// The names of functions in a C declaration.
fn declared(header: &str) -> BTreeSet<String> {
    let names = header.match_indices("hblite_").filter_map(|(at, _)| {
        let word = header[at..].split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        let is_declaration = header[at + word.len()..].starts_with('(');
        let line_start = header[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let is_comment = header[line_start..].trim_start().starts_with('*');
        (is_declaration && !is_comment && word != "hblite_text").then(|| word.to_owned())
    });
    names.collect()
}

#[cfg(target_os = "linux")]
#[test]
fn the_library_exports_the_functions_of_the_header_and_no_others() {
    let test = std::env::current_exe().expect("the path of the test");
    let library = test.parent().expect("the directory of the tests").join("libhblite_c.so");
    let output = std::process::Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(&library)
        .output()
        .expect("nm runs: it comes with the linker");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let symbols = String::from_utf8(output.stdout).expect("names are text");
    let exported = symbols.lines().filter_map(|line| line.split(' ').next().map(str::to_owned));

    let header = std::fs::read_to_string(crate_file("include/hblite.h")).expect("the header");
    let declared = declared(&header);
    assert!(declared.len() > 40, "the functions were found");
    assert_eq!(declared, exported.collect());
}
