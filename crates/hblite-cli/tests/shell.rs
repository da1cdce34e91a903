//! `hblite shell` from outside: the tour, scripts, pipes, exit statuses.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::command;

fn hblite(arguments: &[&str], input: &str) -> Output {
    command::hblite(["shell"].into_iter().chain(arguments.iter().copied()), input)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn path(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The tour ends well, leaves nothing, and may be run again on the same directory.
#[test]
fn the_tour_can_be_repeated() {
    let tour = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/tour.hbase");
    let dir = TempDir::new().unwrap();
    for _ in 0..2 {
        let output = hblite(&["--dir", &path(dir.path()), &path(&tour)], "");
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        let shown = text(&output.stdout);
        assert!(shown.contains("SyntaxError ((hbase):"), "{shown}");
        assert!(shown.contains("unexpected '=>')\nscan { STARTROW =>"), "{shown}");
        assert!(shown.contains("hbase:012:0> ") && shown.contains("# Versions."), "{shown}");
        assert!(!shown.contains("already exists"), "{shown}");
    }
    let output = hblite(&["--dir", &path(dir.path()), "-c", "list"], "");
    assert!(text(&output.stdout).contains("TABLE\n0 row(s)\n"));
}

#[test]
fn a_script_stops_at_its_first_error_and_says_where() {
    let dir = TempDir::new().unwrap();
    let script = dir.path().join("script");
    std::fs::write(&script, "create 't',\n 'f'\n# more\nget 'nosuch', 'r'\nlist\n").unwrap();
    let output = hblite(&["--memory", &path(&script)], "");
    assert_eq!(output.status.code(), Some(1));
    let expected = format!("{}:4: ERROR: Unknown table nosuch!\n", path(&script));
    assert_eq!(text(&output.stderr), expected);
    assert!(!text(&output.stdout).contains("TABLE"));

    let output = hblite(&["--memory", "--keep-going", &path(&script)], "");
    assert_eq!(output.status.code(), Some(0));
    let shown = text(&output.stdout);
    let block = "\nERROR: Unknown table nosuch!\n\nFor usage try 'help \"get\"'\n\nTook";
    assert!(shown.contains(block) && shown.contains("TABLE\nt\n1 row(s)\n"), "{shown}");
    assert!(text(&output.stderr).ends_with("failed commands: 1\n"));
}

#[test]
fn a_pipe_is_a_script_and_answers_questions() {
    let input = "create 'a', 'f'\ncreate 'b', 'f'\ndisable_all '[ab]'\ny\ndrop_all 'a'\ny\nlist\n";
    let output = hblite(&["--memory"], input);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("Disable the above 2 tables (y/n)?\n2 tables successfully disabled\n"));
    assert!(shown.ends_with("=> [\"b\"]\n"), "{shown}");

    let output = hblite(&["--memory"], "create 'a', 'f'\ndisable_all 'a'");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn settings_of_the_store_apply() {
    let create = ["-c", "create 't', 'f'; describe 't'"];
    let output = hblite(
        &[["--memory", "--set", "hbase.column.max.version=3"].as_slice(), &create].concat(),
        "",
    );
    assert!(text(&output.stdout).contains("VERSIONS => '3'"), "{}", text(&output.stdout));
    let output = hblite(&["--memory", "--set", "hbase.column.max.version=0"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("hbase.column.max.version"), "{}", text(&output.stderr));
}

#[test]
fn statuses_of_exit_unfinished_text_and_bad_directives() {
    let status = |input: &str| hblite(&["--memory"], input).status.code();
    assert_eq!(status("exit 3\nnosuch\n"), Some(3));
    assert_eq!(status("exit"), Some(0));
    assert_eq!(status("create 't', {\n"), Some(1));
    assert_eq!(status("#: nosuch\n"), Some(1));
    assert_eq!(status("#: expect-error\nlist\n"), Some(1));
    assert_eq!(status("#: expect-error\nnosuch\nlist\n"), Some(0));
    assert_eq!(status("#: expect-error\nnosuch\nnosuch\n"), Some(1));
    assert_eq!(status("#: allow-error\nnosuch\n#: allow-error\nlist\n"), Some(0));
    assert_eq!(status("#: keep-going\nnosuch\n"), Some(0));
}

#[test]
fn commands_of_the_command_line_are_statements_of_their_own() {
    let run = |commands: &[&str]| {
        let arguments: Vec<_> = commands.iter().flat_map(|command| ["-c", *command]).collect();
        hblite(&[&["--memory"], &arguments[..]].concat(), "")
    };
    let output = run(&["create 't',", "'f'"]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(told.starts_with("-c 1: ERROR: SyntaxError: syntax error, unexpected end-"), "{told}");
    let output = run(&["list", "get 'nosuch', 'r'", "puts 'more'"]);
    assert_eq!(text(&output.stderr), "-c 2: ERROR: Unknown table nosuch!\n");
    let output = run(&["list", "puts 'a'\nget 'nosuch', 'r'"]);
    assert_eq!(text(&output.stderr), "-c 2:2: ERROR: Unknown table nosuch!\n");
    let output = run(&["t = create 'a', 'f'", "disable_all 'a'\ny", "exit 3", "nosuch"]);
    assert_eq!(output.status.code(), Some(3));
    let output = hblite(&["--memory", "--keep-going", "-c", "nosuch", "-c", "nosuch"], "");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "hblite: commands: failed commands: 2\n");
}

#[test]
fn a_script_that_is_not_there_makes_no_store() {
    let dir = TempDir::new().unwrap();
    let dir = dir.path().join("store");
    let output = hblite(&["--dir", &path(&dir), "nosuch-script"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("hblite: nosuch-script: "));
    assert!(!dir.exists());
}

#[test]
fn data_outlive_the_process() {
    let dir = TempDir::new().unwrap();
    let dir = path(&dir.path().join("store"));
    let put = ["-c", "create 't', 'f'", "-c", "put 't', 'r', 'f:q', \"\\x00v\", 7"];
    assert!(hblite(&[&["--dir", &dir], &put[..]].concat(), "").status.success());
    let output = hblite(&["--dir", &dir, "-c", "get 't', 'r'"], "");
    let expected = " f:q timestamp=1970-01-01T00:00:00.007, value=\\x00v\n1 row(s)\n";
    assert!(text(&output.stdout).contains(expected), "{}", text(&output.stdout));
}

/// Another process has the store open, and wrote to its log alone.
#[test]
fn a_store_that_is_open_is_read_and_not_changed() {
    let dir = TempDir::new().unwrap();
    let store = path(&dir.path().join("store"));
    let mut writer = Command::new(env!("CARGO_BIN_EXE_hblite"))
        .args(["shell", "--dir", &store])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let script = "create 't', 'f'\nput 't', 'r', 'f:q', 'v'\nputs 'written'\n";
    writer.stdin.as_mut().unwrap().write_all(script.as_bytes()).unwrap();
    let mut shown = std::io::BufReader::new(writer.stdout.take().unwrap()).lines();
    assert!(shown.any(|line| line.unwrap() == "written"));

    let refused = hblite(&["--dir", &store, "-c", "get 't', 'r'"], "");
    let told = text(&refused.stderr);
    assert!(told.contains("is open in another process"), "{told}");
    assert!(told.contains("Options::with_read_only, or --read-only"), "{told}");

    let read = ["--dir", &store, "--read-only", "--keep-going", "-c", "get 't', 'r'"];
    let output = hblite(&[&read[..], &["-c", "put 't', 's', 'f:q', 'v'"]].concat(), "");
    let shown = text(&output.stdout);
    assert!(shown.contains("value=v\n1 row(s)"), "{shown}");
    let expected = format!(
        "ERROR: org.apache.hadoop.hbase.DoNotRetryIOException: {store} is open read-only\n"
    );
    assert!(shown.contains(&expected), "{shown}");
    let exported = Command::new(env!("CARGO_BIN_EXE_hblite"))
        .args(["export", "t", "-", "--format", "jsonl", "--read-only", "--dir", &store])
        .output()
        .unwrap();
    assert!(text(&exported.stdout).starts_with("{\"row\":\"r\""), "{}", text(&exported.stderr));

    writer.stdin.take();
    assert!(writer.wait().unwrap().success());
}

/// A mapped file would end the process with SIGBUS.
#[test]
fn a_file_that_is_truncated_under_the_shell_is_an_error_with_its_name() {
    let dir = TempDir::new().unwrap();
    let store = dir.path().join("store");
    let mut child = Command::new(env!("CARGO_BIN_EXE_hblite"))
        .args(["shell", "--dir", &path(&store)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    input.write_all(b"create 't', 'f'\nput 't', 'r', 'f:q', 'v'\nflush 't'\ncount 't'\n").unwrap();
    let mut line = String::new();
    while !line.contains("1 row(s)") {
        line.clear();
        assert!(shown.read_line(&mut line).unwrap() > 0, "the count is shown");
    }
    let region = std::fs::read_dir(store.join("data/default/t")).unwrap();
    let files = region.flatten().filter_map(|dir| std::fs::read_dir(dir.path().join("f")).ok());
    let file = files.flatten().flatten().next().expect("a store file").path();
    std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(0).unwrap();
    input.write_all(b"scan 't', CACHE_BLOCKS => false\n").unwrap();
    drop(input);
    let mut rest = String::new();
    shown.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some(), "no signal ended it: {}", output.status);
    let told = rest + &text(&output.stderr);
    assert!(told.contains(&path(&file)) && told.contains("has become shorter"), "{told}");
}

#[test]
fn results_can_be_json_with_errors_on_standard_error() {
    let output = hblite(&["--memory", "--format", "json"], "create 't', 'f'\nscan 'u'\n");
    assert_eq!(output.status.code(), Some(1));
    let object = |bytes: &[u8]| -> serde_json::Value {
        serde_json::from_slice(bytes).unwrap_or_else(|error| panic!("{error}: {bytes:?}"))
    };
    let lines: Vec<_> = output.stdout.split(|byte| *byte == b'\n').collect();
    assert_eq!(object(lines[0])["text"], "Created table t");
    let error = object(&output.stderr);
    assert_eq!((&error["kind"], &error["line"]), (&"error".into(), &2.into()));
}

/// Whoever reads the results as JSON also reads standard error so: each of its lines.
#[test]
fn all_of_standard_error_is_json_with_the_results() {
    let dir = TempDir::new().unwrap();
    let store = path(&dir.path().join("store"));
    let said = |arguments: &[&str], script: &str, status: i32| -> Vec<serde_json::Value> {
        let output = hblite(&[&["--format", "json"], arguments].concat(), script);
        assert_eq!(output.status.code(), Some(status), "{script}");
        let lines = text(&output.stderr);
        let object = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
        lines.lines().map(object).collect()
    };
    let failing = "scan 'u'\nscan 'v'\n";
    let said_of = said(&["--dir", &store, "--keep-going"], failing, 0);
    assert_eq!((said_of.len(), &said_of[2]["kind"]), (3, &"failures".into()));
    assert_eq!(said_of[2]["count"], 2);
    let commands = ["--memory", "--keep-going", "-c", "scan 'u'"];
    assert_eq!(said(&commands, "", 0)[1]["script"], "commands");

    let unknown = said(&["--memory"], "list\n#: expect-nothing\n", 1);
    assert_eq!((unknown.len(), &unknown[0]["line"]), (1, &2.into()), "{unknown:?}");
    assert_eq!(unknown[0]["class"], "ScriptError");
    let expected = said(&["--memory"], "#: expect-error\nlist\n", 1);
    assert!(expected[0]["message"].as_str().unwrap().contains("there was none"), "{expected:?}");

    std::fs::write(dir.path().join("strange"), "x").unwrap();
    let strange = path(dir.path());
    for arguments in [&["--dir", &strange][..], &["no-such-script"], &["--set", "x=y"]] {
        let refused = said(arguments, "", 1);
        assert_eq!((refused.len(), &refused[0]["kind"]), (1, &"error".into()), "{arguments:?}");
        assert!(refused[0]["class"].as_str().unwrap().contains('.'), "{refused:?}");
    }
    let note = said(&["--dir", &store], "create 't', 'f'\nput 't', 'r', 'f:q', 'v'\n", 0);
    assert_eq!(note, Vec::<serde_json::Value>::new());
}
