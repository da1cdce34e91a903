//! What the suites accept as different is on the page that lists the differences.

use std::fs;

use super::root;

/// The reason in a line, if there is one.
type ReasonOf = fn(&str) -> Option<String>;

/// Where suites list the answers that differ on purpose, and what stands before each reason. In
/// the first, the list ends with the first line `];`.
const LISTS: &[(&str, ReasonOf)] = &[
    ("crates/hblite-shell/tests/golden.rs", third_text),
    ("tools/conformance/shell.differences", after_two_words),
    ("tools/conformance/client.differences", |line| Some(line.split_once(" -- ")?.1.to_owned())),
    ("tools/conformance/rest/differences.json", |line| text_after(line, "\": \"")),
    ("crates/hblite-rest/tests/golden/answers.jsonl", |line| text_after(line, "\"reason\": \"")),
];

fn third_text(line: &str) -> Option<String> {
    let texts: Vec<&str> =
        line.strip_prefix("    (\"")?.strip_suffix("\"),")?.split("\", \"").collect();
    (texts.len() == 3).then(|| texts[2].to_owned())
}

fn after_two_words(line: &str) -> Option<String> {
    line.splitn(3, ' ').nth(2).map(str::to_owned)
}

fn text_after(line: &str, start: &str) -> Option<String> {
    Some(line.split_once(start)?.1.split('"').next()?.to_owned())
}

/// A reason begins with words of the page; after a colon, it may say more. `recording:` is for what
/// is wrong in a recording.
#[test]
fn what_suites_accept_is_listed() {
    let page = fs::read_to_string(root().join("docs/differences.md")).expect("the page");
    let (mut unlisted, mut count) = (Vec::new(), 0);
    for (file, reason) in LISTS {
        let text = fs::read_to_string(root().join(file)).expect("a list");
        let list = text.split("\n];").next().unwrap_or_default();
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let Some(reason) = reason(line) else { continue };
            count += 1;
            let words = reason.split(": ").next().unwrap_or_default();
            if words != "recording" && !page.contains(words) {
                unlisted.push(format!("{file}: {reason}"));
            }
        }
    }
    assert!(count >= 25, "{count} reasons were found");
    assert!(unlisted.is_empty(), "not in docs/differences.md:\n{}", unlisted.join("\n"));
}
