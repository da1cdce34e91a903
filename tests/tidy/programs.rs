//! No test file is left out: each is a module of its crate's `tests/main.rs`, or a program that
//! the crate's manifest names. Cargo looks for none itself where `autotests` is off.

use std::fs;
use std::path::Path;

use super::{name, root};

/// Programs to link, at most.
const PROGRAMS_MAX: usize = 40;

/// The names of the files and folders in `tests` that can be a module or a program.
fn test_files(crate_folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(crate_folder.join("tests")) else { return Vec::new() };
    let named = entries.flatten().filter_map(|entry| {
        let path = entry.path();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        let is_program = path.join("main.rs").exists() && !path.join("Cargo.toml").exists();
        let stem = path.file_stem()?.to_string_lossy().into_owned();
        (is_source || is_program).then_some(stem)
    });
    named.collect()
}

#[test]
fn every_test_file_is_in_a_program() {
    let crates = fs::read_dir(root().join("crates")).expect("crates").flatten();
    let mut folders: Vec<_> = crates.map(|entry| entry.path()).collect();
    folders.push(root().to_path_buf());
    let (mut programs, mut left_out) = (0, Vec::new());
    for folder in folders {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let files = test_files(&folder);
        if !manifest.contains("\nautotests = false\n") {
            programs += files.len();
            continue;
        }
        let main = fs::read_to_string(folder.join("tests/main.rs")).expect("tests/main.rs");
        programs += manifest.matches("[[test]]\n").count();
        let is_named = |file: &String| {
            file == "main"
                || main.contains(&format!("mod {file};\n"))
                || manifest.contains(&format!("[[test]]\nname = \"{file}\"\n"))
        };
        let missing = files.iter().filter(|file| !is_named(file));
        // Some are modules of the rules instead.
        let tidy = fs::read_to_string(folder.join("tests/tidy.rs")).unwrap_or_default();
        let missing = missing.filter(|file| !tidy.contains(&format!("mod {file};\n")));
        left_out.extend(missing.map(|file| format!("{}: {file}", name(&folder.join("tests")))));
    }
    assert!(left_out.is_empty(), "tests that no program has:\n{}", left_out.join("\n"));
    assert!(programs <= PROGRAMS_MAX, "{programs} test programs");
}
