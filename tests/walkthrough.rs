//! The walkthrough of a put and a get in `docs/architecture.md` is correct and stays short.
//!
//! Each line of it names a file and functions, which must exist. One of the functions of a step
//! calls the first function of the next numbered line, and that of each line below the step. The
//! stated numbers of files must be right, and within the limits.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The maximum number of files on the direct path of an operation.
const PUT_FILES_MAX: usize = 10;
const GET_FILES_MAX: usize = 12;

/// A line of the walkthrough.
struct Step {
    /// 0 for the direct path, more for side steps.
    depth: usize,
    path: String,
    /// `Type::function` or `function`.
    functions: Vec<String>,
}

/// The name of a function without its type.
fn short(function: &str) -> &str {
    function.rsplit("::").next().unwrap_or(function)
}

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The part of the document below this heading.
fn section<'d>(document: &'d str, heading: &str) -> &'d str {
    let start = document.find(heading).unwrap_or_else(|| panic!("no heading {heading}"));
    let body = &document[start + heading.len()..];
    body.split("\n#").next().unwrap_or(body)
}

/// The steps of a section, lines joined.
fn steps(section: &str) -> Vec<Step> {
    let mut items: Vec<(usize, String)> = Vec::new();
    for line in section.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let is_numbered = text.split_once(". ").is_some_and(|(n, _)| n.parse::<u32>().is_ok());
        if indent == 0 && is_numbered {
            items.push((0, text.to_owned()));
        } else if text.starts_with("- ") {
            items.push((indent, text.to_owned()));
        } else if let Some((_, item)) = items.last_mut().filter(|_| indent > 0) {
            item.push(' ');
            item.push_str(text);
        }
    }
    let step = |(depth, item): (usize, String)| {
        let mut code = item.split('`').skip(1).step_by(2);
        let path = code.next().unwrap_or_else(|| panic!("no file in: {item}")).to_owned();
        let functions: Vec<String> = code.map(str::to_owned).collect();
        assert!(!functions.is_empty(), "no function in: {item}");
        Step { depth, path, functions }
    };
    items.into_iter().map(step).collect()
}

/// The bodies of all functions of this name in a file, macros and closures included.
fn bodies(text: &str, function: &str) -> String {
    let mut found = String::new();
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let Some((before, after)) = line.split_once(&format!("fn {function}")) else { continue };
        let is_whole_name = after.starts_with(['(', '<']);
        let is_definition = before.split_whitespace().all(|word| word.starts_with("pub"));
        let indent = line.len() - line.trim_start().len();
        if !is_whole_name || !is_definition {
            continue;
        }
        let end = format!("{}}}", " ".repeat(indent));
        for line in &lines[index..] {
            found.push_str(line.split("//").next().unwrap_or(line));
            found.push('\n');
            if *line == end || (line.ends_with(" }") && line.trim_start().starts_with("fn ")) {
                break;
            }
        }
    }
    found
}

/// Whether a body calls a function of this name. Of names that many types have, the type counts.
fn calls(body: &str, function: &str) -> bool {
    let name = short(function);
    if matches!(name, "new" | "open") && function != name {
        return body.contains(&format!("{function}(")) || body.contains(&format!("Self::{name}("));
    }
    calls_name(body, name)
}

fn calls_name(body: &str, function: &str) -> bool {
    body.match_indices(function).any(|(at, _)| {
        let before = body[..at].chars().next_back();
        let after = &body[at + function.len()..];
        let is_name = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_definition = body[..at].ends_with("fn ");
        is_name && !is_definition && (after.starts_with('(') || after.starts_with("::<"))
    })
}

impl Step {
    /// Whether one of the step's functions calls `function`.
    fn calls(&self, function: &str) -> bool {
        let text = read(&self.path);
        // The call may be in a helper of the same file.
        let mut names: Vec<String> = self.functions.iter().map(|f| short(f).to_owned()).collect();
        let beside: Vec<String> =
            names.iter().flat_map(|name| helpers(&text, &bodies(&text, name))).collect();
        names.extend(beside);
        names.iter().any(|name| calls(&bodies(&text, name), function))
    }
}

/// The functions of the file that a body calls.
fn helpers(text: &str, body: &str) -> Vec<String> {
    let defined = text.lines().filter_map(|line| line.split_once("fn ").map(|(_, rest)| rest));
    let names = defined.map(|rest| {
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("").to_owned()
    });
    names.filter(|name| !name.is_empty() && calls_name(body, name)).collect()
}

/// The number in front of `unit` in a sentence.
fn stated(section: &str, unit: &str) -> usize {
    let before = section.split(unit).next().unwrap_or("");
    let number = before.split_whitespace().next_back().unwrap_or("");
    number.parse().unwrap_or_else(|_| panic!("no number in front of {unit:?}"))
}

fn check(operation: &str, files_max: usize) {
    let document = read("docs/architecture.md");
    let section = section(&document, &format!("\n### {operation}\n"));
    let steps = steps(section);
    for (index, step) in steps.iter().enumerate() {
        let text = read(&step.path);
        for function in &step.functions {
            let body = bodies(&text, short(function));
            assert!(!body.is_empty(), "{} has no function {function}", step.path);
        }
        // The step above: the last one that is less deep, or the numbered one before.
        let above = steps[..index].iter().rev();
        let caller = match step.depth {
            0 => above.clone().find(|other| other.depth == 0),
            depth => above.clone().find(|other| other.depth < depth),
        };
        if let Some(caller) = caller {
            let first = &step.functions[0];
            let has_call = caller.calls(first);
            assert!(has_call, "{} does not call {first} of {}", caller.path, step.path);
        }
    }
    let down: BTreeSet<&str> =
        steps.iter().filter(|step| step.depth == 0).map(|step| step.path.as_str()).collect();
    let all: BTreeSet<&str> = steps.iter().map(|step| step.path.as_str()).collect();
    assert_eq!(stated(section, " files and uses"), down.len(), "{operation}: files straight down");
    assert_eq!(stated(section, " in all."), all.len(), "{operation}: files in all");
    assert!(down.len() <= files_max, "{operation} goes down through {} files", down.len());
}

#[test]
fn a_put_goes_where_the_walkthrough_says() {
    check("Put", PUT_FILES_MAX);
}

#[test]
fn a_get_goes_where_the_walkthrough_says() {
    check("Get", GET_FILES_MAX);
}

#[test]
fn a_call_is_seen_and_a_definition_is_none() {
    let text = "impl A {\n    fn first(&self) {\n        self.second();\n    }\n\n    \
                fn second(&self) {}\n}\n";
    assert!(calls(&bodies(text, "first"), "second"));
    assert!(!calls(&bodies(text, "first"), "secon") && !calls(&bodies(text, "first"), "first"));
    assert!(!calls(&bodies(text, "second"), "second"));
}
