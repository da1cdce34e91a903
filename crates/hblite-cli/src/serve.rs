//! `hblite serve`: a store behind the ports of an HBase cluster.
//!
//! One line of JSON on stdout reports the open ports and the token that the console needs for
//! changes; the port file, if requested, has the same line. SIGTERM and SIGINT end the server, and
//! so do a client's `stop_master` and `stop_regionserver` and, if requested, the end of its input:
//! memory is flushed, exit status 0.

use std::io::Write as _;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use hblite::{ClockMode, Connection};
use hblite_console::{Console, Target};
use hblite_server::{Log, LogLevel, Recorder, Server, ServerOptions, ServerPorts, StopHandler};
use hblite_thrift::Complaints;
use serde_json::json;

use crate::console::{self, Access};
use crate::ending::Ending;
use crate::gateways::{GatewayArguments, GatewayOptions, Gateways};
use crate::notices::Notices;
use crate::output::{FAILURE, fail, write_port_file};
use crate::seed::SeedArguments;
use crate::settings::Settings;
use crate::store_files;
use crate::transfer::output_file::check_file;

/// The store, and how clients reach it.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The directory of the store; created if it does not exist.
    #[arg(long, value_name = "DIR", default_value = "hblite-data", conflicts_with = "memory")]
    dir: PathBuf,
    /// Keeps everything in memory and discards it at the end.
    #[arg(long)]
    memory: bool,
    /// The address to listen on. There is no authentication.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// ZooKeeper port; 0 for any free port.
    #[arg(long, value_name = "PORT", default_value_t = 2181)]
    zookeeper_port: u16,
    /// The master's RPC port; 0 for any free port.
    #[arg(long, value_name = "PORT", default_value_t = 16000)]
    rpc_port: u16,
    /// RPC port of the first region server; the others follow. 0 for any free ports, which is also
    /// the default if --rpc-port is 0.
    #[arg(long, value_name = "PORT")]
    region_server_port: Option<u16>,
    /// Number of region servers that clients see.
    #[arg(long, value_name = "N", default_value_t = 1)]
    region_servers: usize,
    /// Port of the admin endpoint (HTTP: console, state, counters, faults). 0 for any free port,
    /// which is also the default if --rpc-port is 0.
    #[arg(long, value_name = "PORT", conflicts_with = "no_http")]
    http_port: Option<u16>,
    /// Opens no admin endpoint.
    #[arg(long)]
    no_http: bool,
    /// The host name given to clients, instead of the address that they connected to.
    #[arg(long, value_name = "HOST")]
    advertise: Option<String>,
    /// Mode of the store's clock: the system's time; the system's time plus an offset, which
    /// `hblite clock` sets; or a time that only `hblite clock` moves.
    #[arg(long, value_name = "MODE", default_value = "real")]
    clock: ClockKind,
    /// Logs the calls answered with an exception, or all calls, to standard error.
    #[arg(long, value_name = "WHICH")]
    log: Option<Which>,
    /// Writes every call and its answer to this file, for `hblite replay`.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Replaces the file of --record if it exists.
    #[arg(long, requires = "record")]
    overwrite: bool,
    #[command(flatten)]
    seed: SeedArguments,
    /// A setting by its name in hbase-site.xml; may be repeated. docs/server.md lists them.
    #[arg(short = 'D', value_name = "NAME=VALUE")]
    settings: Vec<String>,
    #[command(flatten)]
    gateways: GatewayArguments,
    /// File that receives the line with the ports once they are open.
    #[arg(long, value_name = "FILE")]
    port_file: Option<PathBuf>,
    /// Ends when standard input closes. The server then ends with the process at the other end of
    /// the pipe, even if that is killed.
    #[arg(long)]
    exit_with_parent: bool,
}

/// Which calls are logged.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Which {
    Errors,
    Calls,
}

/// The mode of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ClockKind {
    Real,
    Offset,
    Manual,
}

/// Lines about calls, on standard error.
fn log(which: Which) -> Log {
    let level = match which {
        Which::Errors => LogLevel::Errors,
        Which::Calls => LogLevel::Calls,
    };
    Log::new(level, write_line)
}

/// Standard error may be closed; there is nothing to be done about that.
fn write_line(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

pub(crate) fn run(arguments: &ServeArguments) -> ExitCode {
    match serve(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message, FAILURE),
    }
}

fn serve(arguments: &ServeArguments) -> Result<(), String> {
    // Before the ports are open: a process that has seen the line may end the server immediately.
    let text = |error: hblite::Error| error.message().to_owned();
    let no_thread = |error| text(hblite::Error::no_thread(error));
    let ending = Ending::catch().map_err(no_thread)?;
    if arguments.exit_with_parent {
        ending.include_input().map_err(no_thread)?;
    }
    store_files::limit_connections();
    let mut settings = Settings::new(options(arguments));
    for setting in &arguments.settings {
        settings.apply(setting)?;
    }
    arguments.record.as_ref().map_or(Ok(()), |file| check_file(file, arguments.overwrite))?;
    let dir = (!arguments.memory).then_some(arguments.dir.as_path());
    let connection = arguments.seed.open(dir, settings.store())?;
    Notices::Text.open(&connection);
    let noted = connection.file_notes().len();
    match arguments.clock {
        ClockKind::Real => Ok(()),
        ClockKind::Offset => connection.set_clock(ClockMode::Offset(0)),
        ClockKind::Manual => connection.set_clock(ClockMode::Manual(connection.now_millis())),
    }
    .map_err(text)?;
    let recorder = arguments.record.as_ref().map(record).transpose().map_err(text)?;
    let options = settings.server().clone().with_recorder(recorder.clone());
    let options = options.with_stop_handler(StopHandler::new(ending.trigger()));
    let server = Server::start(&connection, options).map_err(text)?;
    let options = GatewayOptions {
        thrift: settings.thrift,
        rest: settings.rest,
        bind: arguments.bind,
        advertise: arguments.advertise.clone(),
        complaints: arguments.log.map(|_| Complaints::new(write_line)),
    };
    let gateways = Gateways::start(&arguments.gateways, options, &connection, &server);
    let gateways = gateways.map_err(text)?;
    let console = attach_console(arguments, &connection, &server).map_err(text)?;
    let access = console.as_ref().map(|(_, access)| access);
    announce(arguments, &ready_line(server.ports(), &gateways, access))?;
    ending.wait();
    gateways.stop();
    if let Some((console, _)) = console {
        console.stop();
    }
    // After a rewind in memory there may be fewer: it begins without notes.
    Notices::Text.files(connection.file_notes().get(noted..).unwrap_or_default());
    end(arguments, server, recorder, connection)
}

/// Records calls to this file. Errors are reported on standard error.
fn record(file: &PathBuf) -> hblite::Result<Recorder> {
    Recorder::create(file, |line| {
        // As in `log`.
        let _ = writeln!(std::io::stderr().lock(), "hblite: {line}");
    })
}

/// Serves the console on the HTTP port, if there is one.
fn attach_console(
    arguments: &ServeArguments,
    connection: &Connection,
    server: &Server,
) -> hblite::Result<Option<(Arc<Console>, Access)>> {
    let Some(port) = server.ports().http else { return Ok(None) };
    let target = Target::Server(server.view().clone());
    let host = server.view().advertised_host();
    let (console, access) = console::pages(connection, target, !arguments.memory, host, None)?;
    server.attach_pages(Arc::clone(&console) as _);
    Ok(Some((console, access.on(port))))
}

fn options(arguments: &ServeArguments) -> ServerOptions {
    let defaults = ServerOptions::default();
    let region_server_port = match (arguments.region_server_port, arguments.rpc_port) {
        (Some(port), _) => port,
        (None, 0) => 0,
        (None, _) => defaults.region_server_port,
    };
    let http_port = match (arguments.http_port, arguments.rpc_port) {
        _ if arguments.no_http => None,
        (Some(port), _) => Some(port),
        (None, 0) => Some(0),
        (None, _) => defaults.http_port,
    };
    defaults
        .with_http_port(http_port)
        .with_bind(arguments.bind)
        .with_master_port(arguments.rpc_port)
        .with_region_server_port(region_server_port)
        .with_region_servers(arguments.region_servers)
        .with_zookeeper_port(Some(arguments.zookeeper_port))
        .with_advertise(arguments.advertise.clone())
        .with_log(arguments.log.map(log))
}

/// Reports that the server is ready.
fn announce(arguments: &ServeArguments, line: &str) -> Result<(), String> {
    if !arguments.bind.is_loopback() {
        let warning = format!(
            "warning: {} is reachable from other machines, and hblite requires no password",
            arguments.bind
        );
        let _ = writeln!(std::io::stderr(), "{warning}");
    }
    if let Some(file) = &arguments.port_file {
        write_port_file(file, line)?;
    }
    let mut stdout = std::io::stdout().lock();
    // The process that started the server may have closed its end; the server runs anyway.
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
    Ok(())
}

fn ready_line(ports: &ServerPorts, gateways: &Gateways, access: Option<&Access>) -> String {
    let thrift = gateways.thrift_ports();
    let mut line = json!({
        "ready": true,
        "zookeeper_port": ports.zookeeper,
        "rpc_port": ports.master,
        "region_server_ports": ports.region_servers,
        "http_port": ports.http,
        "thrift_port": thrift.thrift,
        "rest_port": gateways.rest_port(),
        "thrift2_port": thrift.thrift2,
        "pid": std::process::id(),
    });
    if let Some(access) = access {
        access.add_to(&mut line);
    }
    line.to_string()
}

fn end(
    arguments: &ServeArguments,
    server: Server,
    recorder: Option<Recorder>,
    connection: Connection,
) -> Result<(), String> {
    server.stop();
    let text = |error: hblite::Error| error.message().to_owned();
    let recorded = recorder.map_or(Ok(()), |recorder| recorder.finish().map(drop).map_err(text));
    let exported = arguments.seed.export(&connection);
    let closed = connection.close().map_err(text);
    recorded.and(exported).and(closed)
}
