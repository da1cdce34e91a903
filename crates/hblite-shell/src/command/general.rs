//! The store as a whole: status, version, user.

use hblite::bytes::to_string_binary;
use hblite::{MasterReport, RegionStatus, ReplicationSource, ServerStatus, ServerTask};

use super::help;
use super::region::megabytes;
use super::{Arguments, CommandResult, Context, Failure};
use crate::format::{Format, java_date};
use crate::object::Object;
use crate::value::Value;

commands! {
    "status" 0 2, "\
Prints the state of the store: a summary ('summary'), its server ('simple') or regions ('detailed'),
what the servers do ('tasks') or replicate ('replication').

  hbase> status
  hbase> status 'simple'
  hbase> status 'detailed'
  hbase> status 'replication', 'source'" => status;

    "table_help" 0 0, "\
Explains how to use a table in a variable.

  hbase> table_help" => |context, _| {
        context.out.line(help::TABLE_HELP)?;
        Ok(Value::Nil)
    };

    "version" 0 0, "\
Prints the release of HBase whose answers hblite gives, and the version of hblite."
        => |context, _| {
            context.out.line(&help::version())?;
            Ok(Value::Nil)
        };

    "whoami" 0 0, "\
Prints the user and their groups.

  hbase> whoami" => |context, _| {
        let line = format!("{} (auth:SIMPLE)", context.options.user);
        context.out.line(&line)?;
        let groups = (context.options.groups)().join(", ");
        if !groups.is_empty() {
            context.out.line(&format!("    groups: {groups}"))?;
        }
        Ok(Value::Nil)
    };
}

fn status(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let format = arguments.name_if_given(0, "The format")?;
    match format.as_deref() {
        Some("simple" | "detailed") if context.out.format() == Format::Json => {
            let is_detailed = format.as_deref() == Some("detailed");
            for server in context.connection.admin().server_statuses()? {
                server_objects(context, &server, is_detailed)?;
            }
        }
        Some("simple") => server_status(context, false)?,
        Some("detailed") => server_status(context, true)?,
        Some("tasks") => tasks_at_work(context)?,
        Some("replication") => replication_status(context, &arguments)?,
        _ => {
            let servers = context.connection.admin().servers()?;
            if context.out.format() == Format::Json {
                let object = Object::new("status")
                    .with("hbase_version", servers.hbase_version)
                    .with("master", servers.master)
                    .with("backup_masters", servers.backup_masters)
                    .with("live_servers", servers.live)
                    .with("dead_servers", servers.dead)
                    .with("regions", servers.region_count);
                context.out.object(object)?;
                return Ok(Value::Nil);
            }
            context.out.line(&format!(
                "1 active master, {} backup masters, {} servers, {} dead, {:.4} average load",
                servers.backup_masters.len(),
                servers.live.len(),
                servers.dead.len(),
                servers.region_count as f64 / servers.live.len().max(1) as f64,
            ))?;
        }
    }
    Ok(Value::Nil)
}

/// What servers get from other clusters, and what they send to peers.
fn replication_status(context: &mut Context<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let kind = arguments.name_if_given(1, "The direction")?.unwrap_or_default();
    let admin = context.connection.admin();
    let (version, servers) = (admin.servers()?.hbase_version, admin.server_statuses()?);
    context.out.line(&format!("version {version}"))?;
    context.out.line(&format!("{} live servers", servers.len()))?;
    for server in servers {
        let Some(load) = server.replication else { continue };
        let host = server.name.split(',').next().unwrap_or_default();
        context.out.line(&format!("    {host}:"))?;
        if !kind.eq_ignore_ascii_case("sink") {
            let sources: String =
                load.sources.iter().map(|source| source_text(context, source)).collect();
            context.out.line(&format!("       SOURCE:{sources}"))?;
        }
        if !kind.eq_ignore_ascii_case("source") {
            let line = format!("      SINK: TimeStampStarted={}", load.started_ms);
            // Nothing has come since it began.
            context.out.line(&match load.applied_ms == load.started_ms {
                true => format!("{line}, Waiting for OPs... "),
                false => format!(
                    "{line}, AgeOfLastAppliedOp={}, TimeStampsOfLastAppliedOp={}",
                    load.applied_age_ms,
                    date(context, load.applied_ms)
                ),
            })?;
        }
    }
    Ok(())
}

fn date(context: &Context<'_>, millis: i64) -> String {
    java_date(millis, (context.options.utc_offset_seconds)(millis))
}

/// A queue of writes for a peer.
fn source_text(context: &Context<'_>, source: &ReplicationSource) -> String {
    let kind = if source.is_recovered { "Recovered" } else { "Normal" };
    let title = format!(" PeerID={}\n         {kind} Queue: {}", source.peer, source.queue);
    if !source.is_running {
        return format!("{title}\n           No Reader/Shipper threads runnning yet.");
    }
    let shipped = match source.shipped_ms {
        0 => "No Ops shipped since last restart".to_owned(),
        shipped_ms => format!(
            "AgeOfLastShippedOp={}, TimeStampOfLastShippedOp={}",
            source.shipped_age_ms,
            date(context, shipped_ms)
        ),
    };
    let next = match source.has_writes {
        true => format!("TimeStampOfNextToReplicate={}", date(context, source.next_ms)),
        false => "No edits for this source since it started".to_owned(),
    };
    format!(
        "{title}\n           {shipped}, SizeOfLogQueue={}, EditsReadFromLogQueue={}, \
         OpsShippedToTarget={}, {next}, Replication Lag={}",
        source.logs, source.writes_read, source.writes_shipped, source.lag_ms
    )
}

/// What the master and the servers are doing.
fn tasks_at_work(context: &mut Context<'_>) -> Result<(), Failure> {
    let admin = context.connection.admin();
    let (master, tasks) = (admin.servers()?.master, admin.master_report()?.tasks);
    let servers = admin.server_statuses()?;
    context.out.line(&format!("active master:  {}", address(&master)))?;
    print_at_work(context, "    ", &tasks)?;
    context.out.line(&format!("{} live servers", servers.len()))?;
    for server in &servers {
        context.out.line(&format!("    {}", address(&server.name)))?;
        print_at_work(context, "        ", &server.tasks)?;
    }
    Ok(())
}

fn print_at_work(
    context: &mut Context<'_>,
    indent: &str,
    tasks: &[ServerTask],
) -> Result<(), Failure> {
    let mut at_work = tasks.iter().filter(|task| task.state == "RUNNING").peekable();
    if at_work.peek().is_none() {
        return Ok(context.out.line(&format!("{indent}no active tasks"))?);
    }
    for task in at_work {
        context.out.line(&format!("{indent}{}", task_text(task)))?;
    }
    Ok(())
}

/// A task as HBase writes it.
fn task_text(task: &ServerTask) -> String {
    format!(
        "{}: status={}, state={}, startTime={}, completionTime={}",
        task.description, task.status, task.state, task.started_ms, task.completed_ms
    )
}

/// `host,port,start code` as HBase's shell prints it.
fn address(name: &str) -> String {
    name.replacen(',', ":", 1).replacen(',', " ", 1)
}

/// The servers, and with `is_detailed` their regions.
fn server_status(context: &mut Context<'_>, is_detailed: bool) -> Result<(), Failure> {
    let admin = context.connection.admin();
    let (servers, live) = (admin.servers()?, admin.server_statuses()?);
    let report = if is_detailed { admin.master_report()? } else { MasterReport::default() };
    if is_detailed {
        let moving = report.regions_in_transition.len();
        context.out.line(&format!("version {}", servers.hbase_version))?;
        context.out.line(&format!("{moving} regionsInTransition"))?;
    }
    context.out.line(&format!("active master:  {}", address(&servers.master)))?;
    for task in &report.tasks {
        context.out.line(&format!("    {}", task_text(task)))?;
    }
    context.out.line(&format!("{} backup masters", servers.backup_masters.len()))?;
    for master in &servers.backup_masters {
        context.out.line(&format!("    {}", address(master)))?;
    }
    if is_detailed {
        let names = report.coprocessors.join(", ");
        context.out.line(&format!("master coprocessors: [{names}]"))?;
    }
    context.out.line(&format!("{} live servers", live.len()))?;
    for server in &live {
        context.out.line(&format!("    {}", address(&server.name)))?;
        context.out.line(&format!("        {}", load_of_server(server)))?;
        for region in server.regions.iter().filter(|_| is_detailed) {
            let name = Value::from(region.region.region_name_as_string()).inspect();
            context.out.line(&format!("        {name}"))?;
            context.out.line(&format!("            {}", load_of_region(region)))?;
        }
        for task in server.tasks.iter().filter(|_| is_detailed) {
            context.out.line(&format!("        {}", task_text(task)))?;
        }
    }
    context.out.line(&format!("{} dead servers", servers.dead.len()))?;
    for server in &servers.dead {
        context.out.line(&format!("    {server}"))?;
    }
    for error in live.iter().filter_map(|server| server.last_error.as_ref()) {
        context.out.line(&format!("last background error: {error}"))?;
    }
    if !is_detailed {
        let load: u64 = live.iter().map(|server| server.requests_per_second).sum();
        let regions: usize = live.iter().map(|server| server.regions.len()).sum();
        context.out.line(&format!("Aggregate load: {load}, regions: {regions}"))?;
    }
    Ok(())
}

/// A server as JSON, and with `is_detailed` its regions.
fn server_objects(
    context: &mut Context<'_>,
    server: &ServerStatus,
    is_detailed: bool,
) -> Result<(), Failure> {
    let object = Object::new("server")
        .with("name", &*server.name)
        .with("regions", server.regions.len())
        .with("requests_per_second", server.requests_per_second)
        .with("memory_used_bytes", server.memory_used_bytes)
        .with("memory_max_bytes", server.memory_max_bytes);
    context.out.object(object)?;
    for region in server.regions.iter().filter(|_| is_detailed) {
        let object = Object::new("region")
            .with("table", region.region.table().to_string())
            .with("name", region.region.region_name_as_string())
            .with("server", &*server.name)
            .with("start_key", to_string_binary(region.region.start_key()))
            .with("end_key", to_string_binary(region.region.end_key()))
            .with("store_files", region.store_file_count)
            .with("store_file_size_bytes", region.store_file_size_bytes)
            .with("memstore_size_bytes", region.memstore_size_bytes)
            .with("read_requests", region.load.read_requests)
            .with("write_requests", region.load.write_requests);
        context.out.object(object)?;
    }
    Ok(())
}

/// HBase's names for what is known of a server.
fn load_of_server(server: &ServerStatus) -> String {
    let sum = |value: fn(&RegionStatus) -> u64| server.regions.iter().map(value).sum::<u64>();
    format!(
        "requestsPerSecond={}.0, numberOfOnlineRegions={}, usedHeapMB={}, maxHeapMB={}, \
         numberOfStores={}, numberOfStorefiles={}, storefileSizeMB={}, memstoreSizeMB={}, \
         readRequestsCount={}, writeRequestsCount={}",
        server.requests_per_second,
        server.regions.len(),
        server.memory_used_bytes >> 20,
        server.memory_max_bytes >> 20,
        sum(|region| region.store_count),
        sum(|region| region.store_file_count),
        megabytes(sum(|region| region.store_file_size_bytes)),
        megabytes(sum(|region| region.memstore_size_bytes)),
        sum(|region| region.load.read_requests),
        sum(|region| region.load.write_requests),
    )
}

/// HBase's names for what is known of a region.
fn load_of_region(region: &RegionStatus) -> String {
    format!(
        "numberOfStores={}, numberOfStorefiles={}, storefileSizeMB={}, memstoreSizeMB={}, \
         readRequestsCount={}, writeRequestsCount={}",
        region.store_count,
        region.store_file_count,
        megabytes(region.store_file_size_bytes),
        megabytes(region.memstore_size_bytes),
        region.load.read_requests,
        region.load.write_requests,
    )
}
