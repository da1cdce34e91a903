//! `hblite console`: a store or a cluster in the browser.
//!
//! Prints one line of JSON with the address and the token, like `hblite serve`.

use std::io::{IsTerminal as _, Write as _};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use hblite::{ClusterOptions, Connection};
use hblite_console::{Console, ConsoleOptions, Target};
use hblite_server::{PageServer, Pages};
use serde_json::{Value, json};

use crate::ending::Ending;
use crate::notices::Notices;
use crate::output::{FAILURE, fail, write_port_file};
use crate::store_files;

/// How often the history of requests is kept.
const KEEPING: Duration = Duration::from_secs(60);
const OPERATION_TIMEOUT: &str = "hbase.client.operation.timeout";
/// How long a page waits for a cluster that does not answer. HBase's default is twenty minutes.
const PAGE_PATIENCE_MS: &str = "10000";

/// Which store, and where to serve the page.
#[derive(Debug, Args)]
pub(crate) struct ConsoleArguments {
    /// Directory of a store, or the URL of a cluster: hbase://zookeeper-host:2181/hbase or
    /// hbase+rpc://host:16000
    #[arg(value_name = "DIR|URL", default_value = "hblite-data")]
    target: String,
    /// Opens the store read-only, as it is at the start; works while another process has it open
    #[arg(long)]
    read_only: bool,
    /// The address to listen on. Reading needs no password, changes need the token.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// HTTP port; 0 for any free port.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// A file for the line with address and token, written when the port is open.
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
}

/// The address of the console, and the token that changes need.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    token: String,
    port: u16,
}

impl Access {
    /// The same with a port.
    pub(crate) fn on(self, port: u16) -> Self {
        Self { port, ..self }
    }

    /// The address, with the token in the part that browsers do not send.
    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/console/#token={}", self.port, self.token)
    }

    /// Adds both to a ready line.
    pub(crate) fn add_to(&self, line: &mut Value) {
        line["console_token"] = json!(self.token);
        line["console_url"] = json!(self.url());
    }
}

/// The console of a connection. The history of a store in a directory is kept there.
pub(crate) fn pages(
    connection: &Connection,
    target: Target,
    is_in_directory: bool,
    host: Option<&str>,
    prompt: Option<Connection>,
) -> hblite::Result<(Arc<Console>, Access)> {
    let options = ConsoleOptions::new()?.with_host(host.map(str::to_owned)).with_prompt(prompt);
    let options = options.with_keeping(is_in_directory.then_some(KEEPING));
    let access = Access { token: options.token.text().to_owned(), port: 0 };
    let console = Arc::new(Console::new(connection.clone(), target, options)?);
    if is_in_directory {
        warn_of_history(&console);
    }
    Ok((console, access))
}

/// Says what is wrong with the history of an earlier run once that is known: reading it may take a
/// second.
fn warn_of_history(console: &Arc<Console>) {
    let console = Arc::downgrade(console);
    let warn = move || {
        let problem = console.upgrade().and_then(|console| console.history_problem());
        if let Some(problem) = problem {
            // Standard error may be closed; the console shows it, too.
            let _ = writeln!(std::io::stderr(), "warning: {problem}");
        }
    };
    // Without a thread, the console alone shows it.
    let _ = std::thread::Builder::new().name("hblite-history".to_owned()).spawn(warn);
}

pub(crate) fn run(arguments: &ConsoleArguments) -> ExitCode {
    match show(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message, FAILURE),
    }
}

fn show(arguments: &ConsoleArguments) -> Result<(), String> {
    let no_thread = |error| hblite::Error::no_thread(error).message().to_owned();
    let ending = Ending::catch().map_err(no_thread)?;
    let text = |error: hblite::Error| error.message().to_owned();
    let name = arguments.target.clone();
    let is_cluster = name.contains("://");
    let (connection, target, prompt) = match is_cluster {
        true => {
            let options = ClusterOptions::new().with_setting(OPERATION_TIMEOUT, PAGE_PATIENCE_MS);
            let connection = options.connect(&name).map_err(text)?;
            let prompt = hblite::connect(&name).map_err(text)?;
            (connection, Target::Cluster(name), Some(prompt))
        }
        false => {
            let options = store_files::options();
            let options = options.with_create_if_missing(false).with_read_only(arguments.read_only);
            let connection = options.open(&name).map_err(text)?;
            Notices::Text.open(&connection);
            (connection, Target::Store(name), None)
        }
    };
    let (console, access) = pages(&connection, target, !is_cluster, None, prompt).map_err(text)?;
    let pages: Arc<dyn Pages> = Arc::clone(&console) as _;
    let server = PageServer::start(arguments.bind, arguments.port, pages).map_err(text)?;
    announce(arguments, &access.on(server.port()))?;
    ending.wait();
    drop(server);
    console.stop();
    connection.close().map_err(text)
}

/// Reports that the page is ready.
fn announce(arguments: &ConsoleArguments, access: &Access) -> Result<(), String> {
    let mut stderr = std::io::stderr();
    // Either stream may be closed; the page is served anyway.
    if !arguments.bind.is_loopback() {
        let _ = writeln!(
            stderr,
            "warning: {} is reachable from other machines, and reading needs no password",
            arguments.bind
        );
    }
    let mut line = json!({ "ready": true, "http_port": access.port, "pid": std::process::id() });
    access.add_to(&mut line);
    if let Some(file) = &arguments.port_file {
        write_port_file(file, &line.to_string())?;
    }
    let mut stdout = std::io::stdout();
    if stdout.is_terminal() {
        let _ = writeln!(stderr, "Open this page, and press Ctrl-C to end: {}", access.url());
    }
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    Ok(())
}
