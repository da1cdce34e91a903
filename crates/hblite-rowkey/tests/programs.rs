//! Generated programs, compiled and run where their compilers are: each compares its keys with
//! those of the crate.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use hblite_rowkey::{Design, Language};

const DESIGNS: &[&str] = &[
    "bucket(ts, 4)|ts:timestamp|host:str|event:str",
    "salt(16, *)|host:str|ts:reverse_timestamp",
    "salt(300, host)|host:str(escape)|n:i64|tag:bytes",
    r#"salt("a-", "b-")|name:reversed_str("-")|d:domain"#,
    "md5hex(id, 7)|id:str(10)|kind:u8",
    r#"md5(id, n, 4)|"\x01-"|id:bytes(4)|n:u16|m:u32|o:u64|p1:reversed_u64|q:bit_reversed_u64"#,
    "id:md5|class:md5hex(5)|type:str(rest)",
    "bucket(n, 300)|n:u32|s:bytes(escape)|t:reversed_str",
    r#"salt(4, *)|"x"|d:domain(escape)|x:bytes("|")|y:str(7)|reader:domain(12)"#,
    r#""*/"|only:str(" ")"#,
];

fn run(dir: &Path, program: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(program).args(arguments).current_dir(dir).env("GO111MODULE", "off").output().ok()
}

/// Runs a program; `None` without its compiler.
fn output(dir: &Path, language: Language, program: &str) -> Option<Output> {
    let write = |name: &str| std::fs::write(dir.join(name), program).unwrap();
    match language {
        Language::Python => {
            write("rowkey.py");
            run(dir, "python3", &["rowkey.py"])
        }
        Language::Java => {
            write("RowKey.java");
            run(dir, "java", &["RowKey.java"])
        }
        Language::Go => {
            write("rowkey.go");
            run(dir, "go", &["run", "rowkey.go"])
        }
        Language::Rust => {
            write("rowkey.rs");
            let warnings = ["--edition", "2021", "-D", "warnings", "rowkey.rs"];
            let compiled = run(dir, "rustc", &warnings)?;
            match compiled.status.success() {
                true => run(dir, &dir.join("rowkey").display().to_string(), &[]),
                false => Some(compiled),
            }
        }
    }
}

#[test]
fn programs_make_the_same_keys() {
    let check = |language: Language| {
        let mut runs = 0;
        for text in DESIGNS {
            let dir = tempfile::tempdir().unwrap();
            let program = Design::parse(text).unwrap().code(language);
            assert!(program.lines().all(|line| line.trim_end() == line), "{language}, {text}");
            let Some(output) = output(dir.path(), language, &program) else { continue };
            let shown = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            let is_expected = output.status.success() && shown == "the keys are as expected\n";
            assert!(is_expected, "{language}, {text}: {shown}{errors}\n{program}");
            runs += 1;
        }
        println!("{language}: {runs} of {} programs were run", DESIGNS.len());
    };
    std::thread::scope(|scope| {
        for language in Language::ALL {
            scope.spawn(move || check(language));
        }
    });
}

/// A key with another byte is found out, so the programs do compare.
#[test]
fn programs_find_another_key() {
    let program = Design::parse("host:str|ts:timestamp").unwrap().code(Language::Python);
    let key = "\"7765623100";
    assert!(program.matches(key).count() >= 2, "{program}");
    for changed in [program.replacen(key, "\"7765623200", 1), program.replace(key, "\"77656231")] {
        let dir = tempfile::tempdir().unwrap();
        let Some(output) = output(dir.path(), Language::Python, &changed) else { return };
        assert!(!output.status.success(), "{changed}");
    }
}
