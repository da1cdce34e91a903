//! Scripts: statements over several lines, their limits, and how errors in them are reported.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{self, Session};
use hblite_shell::{
    NoLines, Outcome, ReadLines, ScriptError, ScriptOptions, ScriptReport, Shell, ShellOptions,
};

fn run(script: &str, options: ScriptOptions) -> (Result<ScriptReport, ScriptError>, String) {
    let mut session = Session::new(1_000, 10);
    let mut lines = ReadLines::new(script.as_bytes());
    let result = session.shell.run_script(&mut lines, options);
    (result, session.transcript.take())
}

fn printed(script: &str) -> String {
    let (result, printed) = run(script, ScriptOptions::default());
    result.unwrap_or_else(|error| panic!("{script}: {error}"));
    printed
}

fn error(script: &str) -> (u64, String) {
    let error = run(script, ScriptOptions::default()).0.unwrap_err();
    (error.line, error.message)
}

/// A slash after a variable divides, so what follows it is not inside a pattern.
#[test]
fn a_pasted_prompt_is_skipped_after_a_division_by_a_variable() {
    let mut session = Session::new(1_000, 10);
    assert_eq!(session.run("n = 8").0, Outcome::Done);
    for (pending, line, text) in [
        ("puts(n /2,\n", "hbase:002:0* 3)", "3)"),
        ("put 't',\n", "hbase:012:0* 'x'", "'x'"),
        ("put 'r", "hbase:012:0* x'", "hbase:012:0* x'"),
        ("puts(m /2,\n", "hbase:002:0* 3/)", "hbase:002:0* 3/)"),
    ] {
        assert_eq!(session.shell.strip_prompt(line, pending), text, "{pending}");
    }
}

#[test]
fn a_backslash_joins_lines() {
    for end in ["\n", "\r\n"] {
        let script = ["puts \\", "  'one', \\", "  'two'", "puts 'three'", ""].join(end);
        assert_eq!(printed(&script), "one\ntwo\nthree\n", "{end:?}");
    }
    let (line, message) = error("puts 'a'\nputs \\");
    assert!(line == 2 && message.contains("unexpected end-of-file"), "{message}");
}

#[test]
fn a_wrong_line_does_not_swallow_the_next_one() {
    let script = "create 't', 'f'\nscan 't', LIMIT => 1, {COLUMNS => 'f'}\nputs 'next'\n";
    let (result, printed) = run(script, ScriptOptions::default().with_keep_going(true));
    assert_eq!(result.unwrap().failures, 1);
    assert!(printed.ends_with("next\n"), "{printed}");
}

#[test]
fn a_prompt_inside_a_string_is_text() {
    let script = "puts 'a\nhbase> b'\nputs ['c',\nhbase:002:0* 'd']\n";
    assert_eq!(printed(script), "a\nhbase> b\nc\nd\n");
}

/// The message has the line number of the script once, the line itself, and a mark below the
/// column.
#[test]
fn errors_of_the_language_have_one_line_number() {
    let script = "# a comment\n\nputs 'a',\n  'b' 'c'\n";
    let picture = "  'b' 'c'\n      ^";
    let (line, message) = error(script);
    assert_eq!(line, 3);
    let expected = format!("SyntaxError: syntax error, unexpected tSTRING_BEG\n{picture}");
    assert_eq!(message.replace("        ^", "      ^"), expected);
    let (_, printed) = run(script, ScriptOptions::default().with_keep_going(true));
    assert!(printed.contains("SyntaxError ((hbase):4: syntax error"), "{printed}");
}

#[test]
fn endless_statements_say_what_is_open() {
    let lines = "x\n".repeat(2_100);
    let (line, message) = error(&format!("# head\nputs 'a',\n 'b{lines}"));
    assert_eq!(line, 2);
    assert_eq!(message, "a statement of more than 2000 lines: the quote of line 3 is not closed");
    let (_, message) = error(&format!("puts [1,\n [\n{}", "1,\n".repeat(2_100)));
    assert_eq!(message, "a statement of more than 2000 lines: the '[' of line 2 is not closed");
    let wide = format!("'{}',\n", "x".repeat(250 << 10));
    let (line, message) = error(&format!("puts [\n{}", wide.repeat(5)));
    assert_eq!(line, 1);
    assert!(message.ends_with("bytes on several lines: the '[' of line 1 is not closed"));
    // A single long line is not an endless statement.
    assert_eq!(printed(&format!("puts '{}'", "x".repeat(2 << 20))).len(), (2 << 20) + 1);
}

#[test]
fn statuses_and_lists() {
    for (text, status) in [("exit", 0), ("exit false", 1), ("exit true", 0), ("exit 7", 7)] {
        let (outcome, _) = Session::new(0, 1).run(text);
        assert_eq!(outcome, Outcome::Exit(status), "{text}");
    }
    assert_eq!(printed("puts [1, [2, 'c']], 4\nputs\nputs []\n"), "1\n2\nc\n4\n\n");
}

/// Sets a flag, as Ctrl-C does, when a text is printed.
struct Trap {
    transcript: support::Transcript,
    text: &'static str,
    interrupt: Arc<AtomicBool>,
}

impl Write for Trap {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if String::from_utf8_lossy(bytes).contains(self.text) {
            self.interrupt.store(true, Ordering::Relaxed);
        }
        self.transcript.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A shell on a table of six rows that is interrupted when `text` is printed, or by `sleep`.
fn trapped(text: &'static str) -> (Shell, Arc<AtomicBool>, support::Transcript) {
    let interrupt = Arc::new(AtomicBool::new(false));
    let transcript = support::Transcript::default();
    let trap = Trap { transcript: transcript.clone(), text, interrupt: Arc::clone(&interrupt) };
    let sleeping = Arc::clone(&interrupt);
    let options = ShellOptions::default()
        .with_interrupt(Arc::clone(&interrupt))
        .with_sleep(move |_| sleeping.store(true, Ordering::Relaxed));
    let mut shell = Shell::new(hblite::open_in_memory().unwrap(), Box::new(trap), options);
    let puts: String = (1..=6).map(|n| format!("put 't', 'row{n}', 'f:q', 'v'\n")).collect();
    let mut script = ReadLines::new(puts.as_bytes());
    assert_eq!(shell.run_line("create 't', 'f'", &mut NoLines).unwrap(), Outcome::Done);
    shell.run_script(&mut script, ScriptOptions::default()).unwrap();
    transcript.take();
    (shell, interrupt, transcript)
}

#[test]
fn an_interrupt_ends_the_command_that_runs() {
    let interrupted = Outcome::Failed("interrupted".to_owned());
    let ends = [
        ("scan 't'", "row3", "row4"),
        ("count 't', 1", "Current count: 2", "Current count: 3"),
        ("scan 't'; puts 'not reached'", "row6", "not reached"),
        ("sleep 100; puts 'not reached'", "?", "not reached"),
    ];
    for (line, last, never) in ends {
        let (mut shell, interrupt, transcript) = trapped(last);
        assert_eq!(shell.run_line(line, &mut NoLines).unwrap(), interrupted, "{line}");
        let shown = transcript.take();
        assert!(shown.contains("\nERROR: interrupted\n\n"), "{line}: {shown}");
        assert!(!shown.contains(never), "{line}: {shown}");
        interrupt.store(false, Ordering::Relaxed);
        assert_eq!(shell.run_line("count 't', 10", &mut NoLines).unwrap(), Outcome::Done);
        assert!(transcript.take().ends_with("=> 6\n"), "{line}");
    }
    // Nothing is deleted once the flag is set.
    let (mut shell, interrupt, transcript) = trapped("?");
    interrupt.store(true, Ordering::Relaxed);
    let line = "deleteall 't', {ROWPREFIXFILTER => 'row'}";
    assert_eq!(shell.run_line(line, &mut NoLines).unwrap(), interrupted);
    interrupt.store(false, Ordering::Relaxed);
    assert_eq!(shell.run_line("count 't', 10", &mut NoLines).unwrap(), Outcome::Done);
    assert!(transcript.take().ends_with("=> 6\n"));
}

#[test]
fn an_interrupt_ends_a_script_even_one_that_goes_on_after_errors() {
    let (mut shell, _, transcript) = trapped("row2");
    let mut lines = ReadLines::new(&b"puts 'begun'\n\nscan 't'\nputs 'not reached'\n"[..]);
    let options = ScriptOptions::default().with_keep_going(true);
    let error = shell.run_script(&mut lines, options).unwrap_err();
    assert_eq!((error.line, error.message.as_str()), (3, "interrupted"));
    assert!(!transcript.take().contains("not reached"));
}
