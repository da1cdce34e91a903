//! The store as a whole: status, version, user.

use hblite::TableName;

use super::help;
use super::operations::on_store;
use super::region::{megabytes, server_name};
use super::{Arguments, Command, CommandResult, Context, Failure};
use crate::value::Value;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "status",
        aliases: &[],
        arity: (0, 2),
        is_table_method: false,
        usage: "\
Prints the state of the store: a summary ('summary'), its server ('simple') or regions ('detailed').

  hbase> status
  hbase> status 'simple'
  hbase> status 'detailed'
  hbase> status 'replication', 'source'",
        run: status,
    },
    Command {
        name: "table_help",
        aliases: &[],
        arity: (0, 0),
        is_table_method: false,
        usage: "\
Explains how to use a table in a variable.

  hbase> table_help",
        run: |context, _| {
            context.out.line(help::TABLE_HELP)?;
            Ok(Value::Nil)
        },
    },
    Command {
        name: "version",
        aliases: &[],
        arity: (0, 0),
        is_table_method: false,
        usage: "\
Prints the release of HBase whose answers hblite gives, and the version of hblite.",
        run: |context, _| {
            context.out.line(&help::version())?;
            Ok(Value::Nil)
        },
    },
    Command {
        name: "whoami",
        aliases: &[],
        arity: (0, 0),
        is_table_method: false,
        usage: "\
Prints the user.

  hbase> whoami",
        run: |context, _| {
            let line = format!("{} (auth:SIMPLE)", context.options.user);
            context.out.line(&line)?;
            Ok(Value::Nil)
        },
    },
];

fn status(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let format = arguments.name_if_given(0, "The format")?;
    match format.as_deref() {
        Some("simple") => server_status(context, false)?,
        Some("detailed") => server_status(context, true)?,
        Some("replication") => replication_status(context, &arguments)?,
        _ => {
            let regions = context.connection.admin().status()?.regions.len();
            context.out.line(&format!(
                "1 active master, 0 backup masters, 1 servers, 0 dead, {regions}.0000 average load"
            ))?;
        }
    }
    Ok(Value::Nil)
}

/// A store has no peers to send to and receives from none.
fn replication_status(context: &mut Context<'_>, arguments: &Arguments) -> Result<(), Failure> {
    on_store(context)?;
    let kind = arguments.name_if_given(1, "The direction")?.unwrap_or_default();
    let admin = context.connection.admin();
    let started = admin.status()?.opened_at_ms;
    let servers = admin.servers()?.live;
    context.out.line(&format!("version {}", help::HBASE_VERSION))?;
    context.out.line(&format!("{} live servers", servers.len()))?;
    for server in servers {
        let host = server.split(',').next().unwrap_or_default();
        context.out.line(&format!("    {host}:"))?;
        if !kind.eq_ignore_ascii_case("sink") {
            context.out.line("       SOURCE:")?;
        }
        if !kind.eq_ignore_ascii_case("source") {
            let line = format!("      SINK: TimeStampStarted={started}, Waiting for OPs... ");
            context.out.line(&line)?;
        }
    }
    Ok(())
}

fn server_status(context: &mut Context<'_>, is_detailed: bool) -> Result<(), Failure> {
    let admin = context.connection.admin();
    let mut status = admin.status()?;
    status.regions.sort_by_cached_key(|region| region.region.region_name());
    let location = admin.locate_region(TableName::meta(), b"")?;
    let server = server_name(&location.server, status.opened_at_ms);
    let server = server.replacen(',', ":", 1).replacen(',', " ", 1);
    if is_detailed {
        context.out.line(&format!("version {}", help::HBASE_VERSION))?;
        context.out.line("0 regionsInTransition")?;
    }
    context.out.line(&format!("active master:  {server}"))?;
    context.out.line("0 backup masters")?;
    if is_detailed {
        context.out.line("master coprocessors: []")?;
    }
    context.out.line("1 live servers")?;
    context.out.line(&format!("    {server}"))?;
    let regions = &status.regions;
    context.out.line(&format!(
        "        numberOfOnlineRegions={}, numberOfStores={}, numberOfStorefiles={}, \
         storefileSizeMB={}, memstoreSizeMB={}, readRequestsCount={}, writeRequestsCount={}",
        status.regions.len(),
        regions.iter().map(|region| region.store_count).sum::<u64>(),
        regions.iter().map(|region| region.store_file_count).sum::<u64>(),
        megabytes(regions.iter().map(|region| region.store_file_size_bytes).sum()),
        megabytes(status.memstore_size_bytes),
        regions.iter().map(|region| region.load.read_requests).sum::<u64>(),
        regions.iter().map(|region| region.load.write_requests).sum::<u64>(),
    ))?;
    if is_detailed {
        for region in &status.regions {
            let name = Value::from(region.region.region_name_as_string()).inspect();
            context.out.line(&format!("        {name}"))?;
            context.out.line(&format!(
                "            numberOfStores={}, numberOfStorefiles={}, storefileSizeMB={}, \
                 memstoreSizeMB={}, readRequestsCount={}, writeRequestsCount={}",
                region.store_count,
                region.store_file_count,
                megabytes(region.store_file_size_bytes),
                megabytes(region.memstore_size_bytes),
                region.load.read_requests,
                region.load.write_requests,
            ))?;
        }
    }
    context.out.line("0 dead servers")?;
    if let Some(error) = &status.last_error {
        context.out.line(&format!("last background error: {error}"))?;
    }
    if !is_detailed {
        let regions = status.regions.len();
        context.out.line(&format!("Aggregate load: 0, regions: {regions}"))?;
    }
    Ok(())
}
