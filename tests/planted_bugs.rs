//! The bugs of `tools/planted-bugs/bugs.txt` still apply to the sources.
//!
//! Every entry names a text that must occur exactly once in its file. With `HBLITE_PLANT` set to
//! the name of an entry and `HBLITE_PLANT_IN` to a copy of the tree, the bug is planted there; with
//! `HBLITE_PLANT=list`, the names are printed. `tools/planted-bugs/run` uses both.

use std::fs;
use std::path::Path;

struct Bug {
    name: String,
    file: String,
    breaks: String,
    /// The set of tests that catches it, and a filter.
    caught: String,
    original: String,
    planted: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The entry after its `== `.
fn parse(entry: &str) -> Bug {
    let (head, texts) = entry.split_once("-- original\n").expect("an original");
    let (original, planted) = texts.split_once("-- planted\n").expect("what is planted");
    let mut lines = head.lines();
    let name = lines.next().expect("a name").to_owned();
    let mut field = |label: &str| -> String {
        let value = lines.next().and_then(|line| line.strip_prefix(label));
        value.unwrap_or_else(|| panic!("{name}: no {label}")).to_owned()
    };
    let (file, breaks, caught) = (field("file: "), field("breaks: "), field("caught: "));
    let text = |text: &str| text.trim_end_matches('\n').to_owned();
    Bug { file, breaks, caught, original: text(original), planted: text(planted), name }
}

fn bugs() -> Vec<Bug> {
    let list = fs::read_to_string(root().join("tools/planted-bugs/bugs.txt"));
    let list = list.expect("the list is UTF-8");
    list.split("\n== ").skip(1).map(parse).collect()
}

/// The file with the bug in it.
fn plant(bug: &Bug) -> Result<String, String> {
    let source = fs::read_to_string(root().join(&bug.file)).map_err(|error| error.to_string())?;
    match source.matches(&bug.original).count() {
        1 => Ok(source.replacen(&bug.original, &bug.planted, 1)),
        count => Err(format!(
            "{} ({}): its text occurs {count} times in {}",
            bug.name, bug.breaks, bug.file
        )),
    }
}

#[test]
fn every_planted_bug_still_applies() {
    let bugs = bugs();
    if let Ok(wanted) = std::env::var("HBLITE_PLANT") {
        for bug in &bugs {
            if wanted == "list" {
                println!("bug {} {} {}", bug.name, bug.file, bug.caught);
            } else if wanted == bug.name {
                let tree = std::env::var("HBLITE_PLANT_IN").expect("HBLITE_PLANT_IN is set");
                let planted = plant(bug).expect("the bug applies");
                fs::write(Path::new(&tree).join(&bug.file), planted).expect("the copy is there");
            }
        }
        return;
    }
    assert!(bugs.len() >= 30, "{} bugs", bugs.len());
    let failures: Vec<String> = bugs.iter().filter_map(|bug| plant(bug).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let mut names: Vec<&str> = bugs.iter().map(|bug| bug.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), bugs.len(), "names are unique");
}
