//! The keys in the documentation: every command that prints keys is run, and prints the same bytes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::PathBuf;

use crate::command;

/// The pages whose keys are checked.
const PAGES: [&str; 5] = [
    "README.md",
    "docs/your-keys.md",
    "docs/hotspotting.md",
    "docs/case-studies.md",
    "crates/hblite-cli/README.md",
];

fn page(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// A block of commands, and the text that follows it directly, if any.
struct Example {
    commands: Vec<String>,
    text: Option<String>,
}

fn examples(page: &str) -> Vec<Example> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_owned(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    let mut examples = Vec::new();
    for (index, (language, text)) in blocks.iter().enumerate() {
        if language == "sh" {
            // A line that ends with a backslash continues in the next one.
            let joined = text.replace("\\\n", " ");
            let commands = joined.lines().map(str::to_owned).collect();
            let next = blocks.get(index + 1).filter(|(language, _)| language == "text");
            examples.push(Example { commands, text: next.map(|(_, text)| text.clone()) });
        }
    }
    examples
}

/// The words of a command, which has no quotes but single ones, without its name and a comment.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut is_quoted, mut is_word) = (false, false);
    for character in command.chars() {
        match character {
            '\'' => (is_quoted, is_word) = (!is_quoted, true),
            '#' if !is_quoted && !is_word => break,
            ' ' if !is_quoted => {
                if is_word {
                    words.push(String::new());
                }
                is_word = false;
            }
            character => {
                words.last_mut().unwrap().push(character);
                is_word = true;
            }
        }
    }
    if !is_word {
        words.pop();
    }
    words.remove(0);
    words
}

/// What a command prints, errors included.
fn printed(command: &str) -> String {
    let words = words(command);
    let output = command::hblite(words.iter().map(String::as_str), "");
    let out = [output.stdout, output.stderr].concat();
    String::from_utf8(out).unwrap()
}

#[test]
fn commands_about_keys_print_what_the_documentation_says() {
    let mut checked = 0;
    for name in PAGES {
        for example in examples(&page(name)) {
            let is_rowkey = |command: &String| command.starts_with("hblite rowkey ");
            let (Some(text), true) = (&example.text, example.commands.iter().all(is_rowkey)) else {
                continue;
            };
            let commands = example.commands.iter();
            let printed: String = commands.map(|command| printed(command)).collect();
            assert_eq!(printed.trim_end(), text.trim_end(), "{name}: {:?}", example.commands);
            checked += example.commands.len();
        }
    }
    assert!(checked >= 5, "{checked} commands");
}

/// Lines with keys in the output of case studies; the times in others differ from run to run.
#[test]
fn case_studies_print_the_keys_of_the_documentation() {
    let mut checked = 0;
    for example in examples(&page("docs/case-studies.md")) {
        let Some(text) = &example.text else { continue };
        let has_key = |line: &&str| line.contains("\\x");
        let lines: Vec<&str> = text.lines().filter(has_key).collect();
        let [command] = &example.commands[..] else { continue };
        if lines.is_empty() || !command.starts_with("hblite casestudy run ") {
            continue;
        }
        let printed = printed(command);
        for line in lines {
            assert!(printed.contains(line), "{command}: {line}\nis not in\n{printed}");
            checked += 1;
        }
    }
    assert!(checked >= 3, "{checked} lines");
}

/// The table of two records that the page moves to another key. `DIGEST` stands for the digest,
/// which is the same for both tables, and `…` for the size and the time.
#[test]
fn a_table_moves_to_another_key_as_the_documentation_says() {
    let example = examples(&page("docs/your-keys.md")).into_iter().find(|example| {
        example.commands.first().is_some_and(|command| command.starts_with("hblite copy "))
    });
    let example = example.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let script = "create 'EVENTS', 'd'\n\
        put 'EVENTS', \"\\x00\\x00\\x01\\x9C\\x14\\xA2\\x1E\\x00device0017\", 'd:v', '1', 5\n\
        put 'EVENTS', \"\\x00\\x00\\x01\\x9C\\x14\\xA2\\x1EFdevice0175\", 'd:v', '2', 6\n";
    let store = dir.path().join("hblite-data");
    let output = command::hblite(["shell", "--dir", store.to_str().unwrap()], script);
    assert!(output.status.success(), "{output:?}");
    let mut lines = Vec::new();
    for command in &example.commands {
        let words = words(command);
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_hblite"))
            .args(&words)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        lines.push(String::from_utf8(output.stdout).unwrap().trim_end().to_owned());
    }
    let text = example.text.unwrap();
    let mut digests = std::collections::BTreeSet::new();
    for (line, expected) in lines.iter().zip(text.lines()) {
        match expected.split_once("DIGEST") {
            Some((_, end)) => {
                let digest = line.strip_suffix(end).unwrap_or_else(|| panic!("{line}: {end}"));
                digests.insert(digest.to_owned());
            }
            None => assert!(line.starts_with(expected.trim_end_matches('…')), "{line}"),
        }
    }
    assert_eq!((lines.len(), digests.len()), (3, 1), "{lines:?}");
}
