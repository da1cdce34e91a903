//! Any text as lines of the shell, on a store of its own: run, refused or unfinished.

#![no_main]

use hblite_shell::{NoLines, Outcome, Shell, ShellOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let connection = hblite::open_in_memory().expect("a store in memory");
    let options = ShellOptions::default().with_sleep(|_| ());
    let mut shell = Shell::new(connection, Box::new(std::io::sink()), options);
    let create = shell.run_line("create 't', 'f'", &mut NoLines).expect("a sink takes all");
    assert_eq!(create, Outcome::Done);
    let mut source = String::new();
    for line in text.lines() {
        let text = shell.strip_prompt(line, &source).to_owned();
        source.push_str(&text);
        let is_complete = shell.is_complete(&source);
        let outcome = shell.run_line(&source, &mut NoLines).expect("a sink takes all");
        assert_eq!(outcome == Outcome::Incomplete, !is_complete);
        match outcome {
            Outcome::Incomplete => source.push('\n'),
            Outcome::Exit(_) => return,
            Outcome::Done | Outcome::Failed(_) => source.clear(),
        }
    }
});
