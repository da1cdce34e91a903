//! `hblite shell`: opens a store and runs a shell on it.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use hblite::{Connection, Options};
use hblite_shell::{
    Format, Lines, Outcome, ReadLines, ScriptOptions, ScriptReport, Shell, ShellOptions,
};

use crate::cluster;
use crate::interrupt::CtrlC;
use crate::notices::Notices;
use crate::output::FAILURE;
use crate::settings::Settings;
use crate::store_files;
use crate::terminal::{Editor, Input, ProgressLine, Screen, color_is_wanted, width};

/// The store, the input, and what to do after an error.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ShellArguments {
    /// Script to run; without it, or as '-', standard input
    script: Option<PathBuf>,
    /// Directory of the store; created if it does not exist
    #[arg(long, value_name = "DIR", default_value = "./hblite-data")]
    dir: PathBuf,
    /// Connects to an Apache HBase cluster instead of opening a directory:
    /// hbase://zookeeper-host:2181/hbase or hbase+rpc://host:16000
    #[arg(long, value_name = "URL", conflicts_with_all = ["dir", "memory", "read_only", "salvage"])]
    connect: Option<String>,
    /// A setting of the store by its name in hbase-site.xml; may be repeated. docs/server.md lists
    /// them
    #[arg(long = "set", value_name = "NAME=VALUE", conflicts_with = "connect")]
    settings: Vec<String>,
    /// Uses an empty store in memory, discarded at the end
    #[arg(long, conflicts_with = "dir")]
    memory: bool,
    /// Opens the store read-only, as it is at the start: for read-only media, and while another
    /// process has the store open
    #[arg(long, conflicts_with = "memory")]
    read_only: bool,
    /// Instead of refusing to open, skips damaged records of the log, rebuilds hbase:meta from the
    /// files of the tables if it is lost, and reports both
    #[arg(long)]
    salvage: bool,
    /// Runs this command instead of a script; may be repeated
    #[arg(short, long = "command", value_name = "COMMAND", conflicts_with = "script")]
    commands: Vec<String>,
    /// Continues after an error in a script. The exit status is then 0; errors appear among the
    /// results, and standard error gets their number at the end
    #[arg(long)]
    keep_going: bool,
    /// Treats a terminal as a script: no prompt, no editing, ends at the first error
    #[arg(short, long = "noninteractive")]
    noninteractive: bool,
    /// Prints each line of a script before its output
    #[arg(long)]
    echo: bool,
    /// The form of results: what HBase's shell prints, a JSON object on each line, or the rows of
    /// gets and scans as CSV. With the last two, errors go to standard error
    #[arg(long, value_enum, default_value_t)]
    format: OutputFormat,
}

/// The form of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    #[default]
    Text,
    Json,
    Csv,
}

impl From<OutputFormat> for Format {
    fn from(format: OutputFormat) -> Self {
        match format {
            OutputFormat::Text => Self::Text,
            OutputFormat::Json => Self::Json,
            OutputFormat::Csv => Self::Csv,
        }
    }
}

const AFTER_HELP: &str = "\
A script ends at the first error, with its line on standard error and exit status 1. Comments in
it can change that:
  #: echo          prints each line before its output, from here on
  #: keep-going    continues after errors, from here on
  #: expect-error  the next command must fail; its error is shown, and the script continues
  #: allow-error   the next command may fail

At a terminal, Ctrl-C ends the running command or clears the line, and Ctrl-D leaves. A step that
cannot be interrupted, such as a flush, is finished first; Ctrl-\\ kills the shell.
Input is kept in ~/.hblite_history, or in the file that HBLITE_HISTORY names.

'hblite shell -c help' lists the commands.";

/// Where commands come from.
enum Source {
    /// A script and its name in messages.
    Lines(Box<dyn Lines>, String),
    /// Commands of the command line.
    Commands(Vec<String>),
    Terminal,
}

pub(crate) fn run(arguments: ShellArguments) -> ExitCode {
    // Before the store is opened: a mistyped script must not leave an empty one behind.
    let format = Format::from(arguments.format);
    let notices = Notices::from(format);
    let source = match source(&arguments) {
        Ok(source) => source,
        Err(error) => return notices.io_error(&error),
    };
    let connection = match open(&arguments) {
        Ok(connection) => connection,
        Err(error) => return notices.error(&error),
    };
    notices.open(&connection);
    let noted = connection.file_notes().len();
    let script =
        ScriptOptions::default().with_keep_going(arguments.keep_going).with_echo(arguments.echo);
    let result = run_on(&connection, source, script, format);
    notices.files(&connection.file_notes()[noted..]);
    let closed = connection.close();
    match (result, closed) {
        (Err(error), _) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        (Err(error), _) => notices.io_error(&error),
        (Ok(_), Err(error)) => notices.error(&error),
        (Ok(status), Ok(())) => ExitCode::from(status),
    }
}

fn source(arguments: &ShellArguments) -> io::Result<Source> {
    if !arguments.commands.is_empty() {
        return Ok(Source::Commands(arguments.commands.clone()));
    }
    if let Some(path) = arguments.script.as_ref().filter(|path| path.as_os_str() != "-") {
        let name = path.display().to_string();
        let file = File::open(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        return Ok(Source::Lines(Box::new(ReadLines::new(BufReader::new(file))), name));
    }
    if io::stdin().is_terminal() && io::stdout().is_terminal() && !arguments.noninteractive {
        return Ok(Source::Terminal);
    }
    let lines = ReadLines::new(io::stdin().lock());
    Ok(Source::Lines(Box::new(lines), "standard input".to_owned()))
}

fn open(arguments: &ShellArguments) -> hblite::Result<Connection> {
    if let Some(url) = &arguments.connect {
        return cluster::connect_shell(url);
    }
    let defaults = if arguments.memory { Options::new() } else { store_files::options() };
    let mut settings = Settings::of(defaults);
    for setting in &arguments.settings {
        settings.apply(setting).map_err(hblite::Error::illegal_argument)?;
    }
    if arguments.memory {
        return settings.store().open_in_memory();
    }
    let options = settings.store();
    let options = options.with_salvage(arguments.salvage).with_read_only(arguments.read_only);
    options.open(&arguments.dir)
}

/// Runs the commands of `source`; returns the exit status.
fn run_on(
    connection: &Connection,
    source: Source,
    script: ScriptOptions,
    format: Format,
) -> io::Result<u8> {
    let notices = Notices::from(format);
    let is_terminal = io::stdout().is_terminal();
    let progress = ProgressLine::new();
    let interrupt = Arc::new(AtomicBool::new(false));
    let sleep_interrupt = Arc::clone(&interrupt);
    let options = ShellOptions::default()
        .with_format(format)
        .with_width(width().filter(|_| is_terminal))
        .with_colors(is_terminal && color_is_wanted())
        .with_utc_offset_seconds(utc_offset_seconds)
        .with_user(user())
        .with_groups(groups)
        .with_progress(progress.clone())
        .with_sleep(move |duration| sleep_until(duration, &sleep_interrupt))
        .with_interrupt(Arc::clone(&interrupt));
    let mut shell = Shell::new(connection.clone(), Box::new(Screen::new(progress)), options);
    match source {
        Source::Lines(mut lines, name) => {
            let end =
                run_script(&mut shell, lines.as_mut(), script, &|line| format!("{name}:{line}"))?;
            Ok(end.status(&name, notices))
        }
        Source::Commands(commands) => run_commands(&mut shell, &commands, script, notices),
        Source::Terminal => {
            let catch = CtrlC::catch(&interrupt)?;
            let status = interact(&mut shell, connection, &interrupt);
            drop(catch);
            status
        }
    }
}

/// How a script ended.
enum End {
    /// At its end, or with `exit`.
    Reached(ScriptReport),
    /// With an error, which was printed.
    Failed,
}

impl End {
    /// The exit status. Reports how many commands of `name` failed.
    fn status(self, name: &str, notices: Notices) -> u8 {
        match self {
            Self::Failed => FAILURE,
            Self::Reached(ScriptReport { exit: Some(status), .. }) => exit_status(status),
            Self::Reached(ScriptReport { failures: 0, .. }) => 0,
            Self::Reached(ScriptReport { failures, .. }) => {
                notices.failed_commands(name, failures);
                0
            }
        }
    }
}

/// Runs a script; `place` names one of its lines in messages.
fn run_script(
    shell: &mut Shell,
    lines: &mut dyn Lines,
    options: ScriptOptions,
    place: &dyn Fn(u64) -> String,
) -> io::Result<End> {
    match shell.run_script(lines, options) {
        Ok(report) => Ok(End::Reached(report)),
        Err(error) => match error.source {
            Some(source) if source.kind() == io::ErrorKind::BrokenPipe => Err(source),
            _ if error.is_printed => Ok(End::Failed),
            _ => {
                writeln!(io::stderr(), "{}: ERROR: {}", place(error.line), error.message)?;
                Ok(End::Failed)
            }
        },
    }
}

/// Runs commands of the command line, each as a separate script: none continues the previous one.
fn run_commands(
    shell: &mut Shell,
    commands: &[String],
    options: ScriptOptions,
    notices: Notices,
) -> io::Result<u8> {
    let mut total = ScriptReport::default();
    for (number, command) in (1..).zip(commands) {
        let place = |line| match command.trim_end().contains('\n') {
            true => format!("-c {number}:{line}"),
            false => format!("-c {number}"),
        };
        let mut lines = ReadLines::new(command.as_bytes());
        match run_script(shell, &mut lines, options, &place)? {
            End::Failed => return Ok(FAILURE),
            End::Reached(report) => {
                total.failures += report.failures;
                total.exit = report.exit;
            }
        }
        if total.exit.is_some() {
            break;
        }
    }
    Ok(End::Reached(total).status("commands", notices))
}

/// The status as the operating system keeps it: its low eight bits.
fn exit_status(status: i32) -> u8 {
    status.to_le_bytes()[0]
}

/// Runs typed commands. Ctrl-C ends the running command, or discards the current line; Ctrl-D ends
/// the shell.
fn interact(shell: &mut Shell, connection: &Connection, interrupt: &AtomicBool) -> io::Result<u8> {
    shell.print_banner()?;
    let mut editor = Editor::new(connection.clone())?;
    let mut source = String::new();
    loop {
        shell.set_width(width());
        let line = match editor.read(&shell.prompt(source.lines().count()))? {
            Input::Line(line) => line,
            Input::Interrupted => {
                source.clear();
                continue;
            }
            Input::End => return Ok(0),
        };
        let text = shell.strip_prompt(&line, &source).to_owned();
        if source.is_empty() && text.trim().is_empty() {
            continue;
        }
        source.push_str(&text);
        if shell.is_complete(&source) {
            // Before it runs, since it may be the last one.
            editor.remember(&source);
        }
        interrupt.store(false, Ordering::Relaxed);
        match shell.run_line(&source, &mut editor)? {
            Outcome::Incomplete => source.push('\n'),
            Outcome::Exit(status) => return Ok(exit_status(status)),
            Outcome::Done | Outcome::Failed(_) => source.clear(),
        }
    }
}

/// Sleeps, at most until `interrupt` is set.
fn sleep_until(duration: Duration, interrupt: &AtomicBool) {
    const TURN: Duration = Duration::from_millis(50);
    let start = Instant::now();
    while !interrupt.load(Ordering::Relaxed) {
        match duration.checked_sub(start.elapsed()) {
            Some(left) if !left.is_zero() => thread::sleep(left.min(TURN)),
            _ => return,
        }
    }
}

/// Seconds from UTC to the zone of the machine at an instant.
fn utc_offset_seconds(millis: i64) -> i32 {
    // Beyond the range of the time zone database, the offset at its nearest end is used.
    let instant = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    jiff::tz::TimeZone::system().to_offset(instant).seconds()
}

/// The user's name: the environment has it, or else the system is asked.
fn user() -> String {
    let name = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|key| std::env::var(key).ok());
    name.or_else(|| id("-un")).unwrap_or_else(|| "unknown".to_owned())
}

/// The groups of the user.
fn groups() -> Vec<String> {
    let names = id("-Gn").unwrap_or_default();
    names.split_whitespace().map(str::to_owned).collect()
}

/// What `id` prints. The names may be kept where only the system's own programs find them.
fn id(option: &str) -> Option<String> {
    let output = std::process::Command::new("id").arg(option).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}
