//! `hblite shell` at a terminal: Ctrl-C, Ctrl-D and the history.
//!
//! Each test has a pseudo-terminal of its own, which is the shell's controlling terminal, so that
//! typed keys are handled by the operating system.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const UP: &str = "\x1b[A";

/// A shell at a terminal.
struct Terminal {
    shell: Child,
    keys: File,
    /// The part of the screen that was not read yet.
    screen: String,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended already, unless the test kills it or has failed.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

impl Terminal {
    fn start(arguments: &[&str], history: &Path) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap();
        let open = || {
            let path = OsStr::from_bytes(name.to_bytes());
            File::options().read(true).write(true).open(path).unwrap()
        };
        let mut command = Command::new("setsid");
        command.args(["--ctty", env!("CARGO_BIN_EXE_hblite"), "shell"]).args(arguments);
        command.env("TERM", "xterm").env("NO_COLOR", "1").env("HBLITE_HISTORY", history);
        let shell = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        Self { shell, keys: File::from(keys), screen: String::new() }
    }

    fn type_keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads the screen until `text` appears; returns what precedes it.
    fn expect(&mut self, text: &str) -> String {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            if let Some(at) = self.screen.find(text) {
                let rest = self.screen.split_off(at + text.len());
                let mut before = std::mem::replace(&mut self.screen, rest);
                before.truncate(at);
                return before;
            }
            assert!(Instant::now() < end, "no {text:?} on the screen: {:?}", self.screen);
            let second = Timespec { tv_sec: 1, tv_nsec: 0 };
            let mut waiting = [PollFd::new(&self.keys, PollFlags::IN)];
            if poll(&mut waiting, Some(&second)).unwrap_or(0) > 0 {
                let mut bytes = [0; 1024];
                let count = self.keys.read(&mut bytes).unwrap_or(0);
                assert!(count > 0, "it ended without {text:?} on the screen: {:?}", self.screen);
                self.screen.push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        }
    }

    fn command(&mut self, command: &str) -> String {
        self.type_keys(&format!("{command}\r"));
        let shown = self.expect("Took ");
        // The prompt, and not the `=> []` before it: a key that comes before the prompt is read by
        // the terminal, which takes Ctrl-D for the end of a line.
        self.expect(":0> ");
        shown
    }

    fn leave(mut self) -> Option<i32> {
        self.type_keys(CTRL_D);
        self.shell.wait().unwrap().code()
    }
}

#[test]
fn ctrl_c_ends_the_command_and_not_the_shell() {
    let dir = TempDir::new().unwrap();
    let mut terminal = Terminal::start(&["--memory"], &dir.path().join("history"));
    terminal.expect("hbase:001:0> ");
    terminal.command("create 't', 'f'");
    terminal.command("put 't', 'r', 'f:q', 'kept'");
    terminal.type_keys("puts 'begun'; sleep 100000\r");
    terminal.expect("\nbegun");
    terminal.type_keys(CTRL_C);
    terminal.expect("ERROR: interrupted");
    terminal.expect(":0> ");
    let shown = terminal.command("get 't', 'r'");
    assert!(shown.contains("value=kept"), "{shown}");
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn ctrl_c_ends_a_scan_in_the_midst_of_its_rows() {
    const ROWS: usize = 20_000;
    let dir = TempDir::new().unwrap();
    let lines: String = (0..ROWS).map(|n| format!("row{n:05},value\n")).collect();
    fs::write(dir.path().join("in.csv"), lines).unwrap();
    let imported = Command::new(env!("CARGO_BIN_EXE_hblite"))
        .current_dir(dir.path())
        .args(["import", "t", "in.csv", "--columns", "HBASE_ROW_KEY,f:q"])
        .output();
    assert!(imported.unwrap().status.success());
    let store = dir.path().join("hblite-data");
    let arguments = ["--dir", store.to_str().unwrap()];
    let mut terminal = Terminal::start(&arguments, &dir.path().join("history"));
    terminal.expect("hbase:001:0> ");
    terminal.type_keys("scan 't'\r");
    // The terminal holds some pages; then the scan waits until more is read.
    terminal.expect("row00000 ");
    terminal.type_keys(CTRL_C);
    let shown = terminal.expect("ERROR: interrupted");
    let rows = shown.matches("column=f:q").count();
    assert!((1..ROWS).contains(&rows), "{rows}");
    terminal.expect("Took ");
    terminal.expect("hbase:002:0> ");
    let shown = terminal.command("count 't'");
    assert!(shown.contains("20000 row(s)"), "{shown}");
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn ctrl_c_at_the_prompt_clears_the_line_and_an_unfinished_statement() {
    let dir = TempDir::new().unwrap();
    let mut terminal = Terminal::start(&["--memory"], &dir.path().join("history"));
    terminal.expect("hbase:001:0> ");
    terminal.type_keys("nonsense");
    terminal.expect("nonsense");
    terminal.type_keys(CTRL_C);
    terminal.expect("hbase:001:0> ");
    terminal.type_keys("create 't', {\r");
    terminal.expect(":0* ");
    terminal.type_keys(CTRL_C);
    terminal.expect("hbase:001:0> ");
    let shown = terminal.command("list");
    assert!(shown.contains("0 row(s)") && !shown.contains("nonsense"), "{shown}");
    assert_eq!(terminal.leave(), Some(0));
}

#[test]
fn each_line_is_in_the_history_before_it_runs() {
    let dir = TempDir::new().unwrap();
    let history = dir.path().join("history");
    let mut terminal = Terminal::start(&["--memory"], &history);
    terminal.expect("hbase:001:0> ");
    terminal.command("list 'first'");
    terminal.type_keys("puts \"begun\"; sleep 100000\r");
    terminal.expect("\nbegun");
    // Like SIGKILL, which no process can handle.
    drop(terminal);
    let kept = fs::read_to_string(&history).unwrap();
    assert!(kept.ends_with("list 'first'\nputs \"begun\"; sleep 100000\n"), "{kept}");
    assert_eq!(fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);

    // A file that others could read is now private.
    fs::set_permissions(&history, fs::Permissions::from_mode(0o644)).unwrap();
    let mut terminal = Terminal::start(&["--memory"], &history);
    terminal.expect("hbase:001:0> ");
    terminal.type_keys(UP);
    terminal.type_keys(UP);
    let shown = terminal.command("");
    assert!(shown.contains("list 'first'") && shown.contains("0 row(s)"), "{shown}");
    assert_eq!(terminal.leave(), Some(0));
    assert_eq!(fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn the_history_is_bounded() {
    let dir = TempDir::new().unwrap();
    let history = dir.path().join("history");
    let lines: String = (0..1_000).map(|n| format!("puts {n}\n")).collect();
    fs::write(&history, format!("#V2\n{lines}")).unwrap();
    let mut terminal = Terminal::start(&["--memory"], &history);
    terminal.expect("hbase:001:0> ");
    terminal.command("list");
    assert_eq!(terminal.leave(), Some(0));
    let kept = fs::read_to_string(&history).unwrap();
    assert!(kept.starts_with("#V2\nputs 1\n") && kept.ends_with("puts 999\nlist\n"), "{kept}");
}

#[test]
fn tab_completes_the_names_of_the_store() {
    let dir = TempDir::new().unwrap();
    let mut terminal = Terminal::start(&["--memory"], &dir.path().join("history"));
    terminal.expect("hbase:001:0> ");
    terminal.command("create 'customers', 'address'");
    terminal.type_keys("put 'cust\t, 'r', 'ad\tcity', 'Riga'\r");
    terminal.expect("put 'customers', 'r', 'address:");
    terminal.expect("Took ");
    terminal.expect(":0> ");
    let shown = terminal.command("get 'customers', 'r'");
    assert!(shown.contains("value=Riga"), "{shown}");
    assert_eq!(terminal.leave(), Some(0));
}
