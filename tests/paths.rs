//! The paths of a put, two gets and a scan in `docs/architecture.md` get no longer.
//!
//! `tools/paths/run` writes the list of files there and compares it with what the operations
//! execute, which takes a build of its own. Here, without one: the files exist, the numbers below
//! the list are right, and none is higher than it was.

use std::fs;
use std::path::Path;

/// How many files an operation may enter. Lower a number when its path has become shorter.
const FILES_MAX: [(&str, usize); 4] = [("put", 52), ("column", 59), ("row", 59), ("scan", 77)];

#[test]
fn operations_enter_no_more_files_than_before() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/architecture.md")).expect("the page");
    let list = page.split("<!-- tools/paths/run").nth(1).expect("a list");
    let list = list.split("\n```").nth(1).expect("a list between fences");
    let mut lines: Vec<&str> = list.lines().skip(1).collect();
    let stated = lines.pop().expect("the numbers");
    let mut counts = [0; FILES_MAX.len()];
    for line in lines {
        let (letters, path) = line.split_once(' ').expect("letters and a path");
        assert!(root.join(path).is_file(), "{path} is gone: run tools/paths/run --update");
        let letters: Vec<char> = letters.chars().collect();
        for (index, (operation, _)) in FILES_MAX.iter().enumerate() {
            counts[index] += usize::from(operation.chars().next() == letters.get(index).copied());
        }
    }
    let counted: Vec<String> =
        FILES_MAX.iter().zip(counts).map(|((name, _), count)| format!("{name} {count}")).collect();
    assert_eq!(counted.join(", "), stated, "the numbers below the list");
    for ((operation, files_max), count) in FILES_MAX.iter().zip(counts) {
        assert_eq!(count, *files_max, "files that a {operation} enters, and the limit here");
    }
}
