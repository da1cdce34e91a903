//! Servers and their work: lists, and requests to the master and to region servers.

use hblite::{
    BalanceRequest, BalancerLog, BalancerRecord, CompactionKind, Exception, MasterWork, ServerWork,
    SystemTables, TableName,
};
use serde_json::Value as Json;

use super::server_names::{check_server_name, find_servers, servers_in};
use super::switches::boolean;
use super::{Arguments, CommandResult, Context, Failure, MANY, integer, not_of};
use crate::value::{Hash, Value};

commands! {
    "balancer" 0 MANY, "Runs the balancer, with 'ignore_rit' even while regions are moving; with \
        'dry_run', it only counts moves." "\n  hbase> balancer 'dry_run'"
        |context, arguments| balance(context, None, &arguments, 0);
    "normalize" 0 MANY, "Runs the normalizer for all tables or some, and prints whether it ran."
        "\n  hbase> normalize TABLE_NAMES => ['t1', 't2']" normalize;
    "catalogjanitor_run" 0 0, "Removes what splits and merges left in hbase:meta." ""
        |context, _| {
            let count = context.connection.admin().run_catalog_janitor()?;
            Ok(Value::Integer(i64::from(count)))
        };
    "cleaner_chore_run" 0 0, "Removes files that are no longer needed." ""
        |context, _| has_run(context, &MasterWork::CleanerChore);
    "hbck_chore_run" 0 0, "Looks for inconsistencies between regions and files." ""
        |context, _| has_run(context, &MasterWork::HbckChore);
    "compaction_state" 1 1, "Prints whether files of a table are being merged." " 't1'"
        |context, arguments| {
            let table = arguments.table_name(0)?;
            let state = context.connection.admin().compaction_state(table)?.name();
            context.out.row(state)?;
            Ok(Value::from(state))
        };
    "compaction_switch" 1 MANY, "Turns compactions of servers on or off, and prints what they were."
        " false\n  hbase> compaction_switch true, 'SERVER_NAME'" compaction_switch;
    "compact_rs" 1 2, "Compacts every region of a server; with true, all files of each."
        " 'SERVER_NAME'\n  hbase> compact_rs 'SERVER_NAME', true"
        |context, arguments| {
            let kind = match boolean(&arguments, 1)? {
                true => CompactionKind::Major,
                false => CompactionKind::Minor,
            };
            ask_server(context, &arguments, &ServerWork::Compact(kind))
        };
    "wal_roll" 1 1, "Begins a new file of a server's log." " 'SERVER_NAME'"
        |context, arguments| ask_server(context, &arguments, &ServerWork::RollWal);
    "hlog_roll" 1 1, "Begins a new file of a server's log." " 'SERVER_NAME'"
        |context, arguments| ask_server(context, &arguments, &ServerWork::RollWal);
    "clear_compaction_queues" 1 2, "Empties queues of compactions of a server."
        " 'SERVER_NAME', ['long', 'short']"
        |context, arguments| {
            let queues: Vec<String> = arguments.rest(1).into_iter().map(Value::to_text).collect();
            if let Some(other) = queues.iter().find(|queue| !QUEUES.contains(&queue.as_str())) {
                return Err(Failure::refused(format!("Unknown queue name {other}")));
            }
            ask_server(context, &arguments, &ServerWork::ClearCompactionQueues(queues))
        };
    "update_config" 1 1, "Has a server read its configuration again." " 'SERVER_NAME'"
        |context, arguments| ask_server(context, &arguments, &ServerWork::UpdateConfiguration);
    "update_all_config" 0 0, "Has all servers read their configuration again." ""
        |context, _| {
            context.connection.admin().run_on_servers(&[], &ServerWork::UpdateConfiguration)?;
            Ok(Value::Nil)
        };
    "clear_slowlog_responses" 0 1, "Has servers forget slow calls."
        "\n  hbase> clear_slowlog_responses ['SERVER_NAME']" clear_slow_log;
    "list_liveservers" 0 0, "Lists the region servers." ""
        |context, _| {
            let servers = context.connection.admin().servers()?.live;
            list(context, "SERVERNAME", &servers)
        };
    "list_deadservers" 0 0, "Lists region servers that are gone." ""
        |context, _| {
            let servers = context.connection.admin().servers()?.dead;
            list(context, "SERVERNAME", &servers)
        };
    "list_unknownservers" 0 0, "Lists servers with regions that the master does not know." ""
        |context, _| {
            let servers = context.connection.admin().servers()?.unknown;
            list(context, "SERVERNAME", &servers)
        };
    "flush_master_store" 0 0, "Writes what the master keeps for itself in memory to files." ""
        |context, _| has_run(context, &MasterWork::FlushStore).map(|_| Value::Nil);
    "list_decommissioned_regionservers" 0 0, "Lists region servers that get no regions." ""
        |context, _| {
            let servers = context.connection.admin().servers()?.decommissioned;
            list(context, "DECOMMISSIONED REGION SERVERS", &servers)
        };
    "list_replicated_tables" 0 1, "Lists families that are to be replicated." " 'abc.*'"
        list_replicated_tables;
    "regioninfo" 1 1, "Prints a region." " 'REGION_NAME'" region_info;
    "get_balancer_decisions" 0 1, "Prints what the balancer has moved." " LIMIT => 10"
        |context, arguments| balancer_log(context, &arguments, BalancerLog::Decisions);
    "get_balancer_rejections" 0 1, "Prints why the balancer has moved nothing." " LIMIT => 10"
        |context, arguments| balancer_log(context, &arguments, BalancerLog::Rejections);
    "close_region" 1 2, "Does nothing: 'unassign' has taken its place." " 'REGION_NAME'"
        |context, _| {
            context.out.line("DEPRECATED!!! Use 'unassign' command instead.")?;
            Ok(Value::Nil)
        };
}

/// The queues of compactions that a server has.
const QUEUES: [&str; 2] = ["long", "short"];

fn has_run(context: &Context<'_>, work: &MasterWork) -> CommandResult {
    Ok(Value::Bool(context.connection.admin().run_on_master(work)?))
}

pub(super) fn list(context: &mut Context<'_>, title: &str, names: &[String]) -> CommandResult {
    context.out.header(&[title])?;
    for name in names {
        context.out.name("server", name)?;
    }
    context.out.footer(names.len() as u64)?;
    Ok(Value::Nil)
}

fn normalize(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let (mut tables, mut pattern, mut namespace) = (Vec::new(), None, None);
    let text = |value: &Value, key: &str| match value {
        Value::String(_) => Ok(value.to_text()),
        _ => Err(Failure::refused(format!("{key} must be of type String"))),
    };
    for argument in arguments.rest(0) {
        let Value::Hash(options) = argument else {
            return Err(not_of(argument, "Hash or String"));
        };
        if let Some(table) = options.get("TABLE_NAME") {
            tables = vec![text(table, "TABLE_NAME")?.parse()?];
        } else if let Some(names) = options.get("TABLE_NAMES") {
            let Value::Array(names) = names else {
                return Err(Failure::refused("TABLE_NAMES must be of type Array"));
            };
            let name = |name: &Value| {
                let key = format!("TABLE_NAMES value {}", name.to_text());
                Ok(text(name, &key)?.parse()?)
            };
            tables = names.iter().map(name).collect::<Result<_, Failure>>()?;
        } else if let Some(value) = options.get("REGEX") {
            pattern = Some(text(value, "REGEX")?);
        } else if let Some(value) = options.get("NAMESPACE") {
            namespace = Some(text(value, "NAMESPACE")?);
        } else {
            let shown = argument.inspect();
            return Err(Failure::refused(format!("Unrecognized argument {shown}")));
        }
    }
    let work = MasterWork::Normalize { tables, pattern, namespace };
    match context.connection.admin().run_on_master(&work) {
        Err(error) if error.exception() == Exception::Io => {
            Err(Failure::refused(error.to_java_string()))
        }
        done => {
            let has_run = done?;
            context.out.row(&has_run.to_string())?;
            Ok(Value::Bool(has_run))
        }
    }
}

/// Requests work of the server that the first argument names.
fn ask_server(context: &Context<'_>, arguments: &Arguments, work: &ServerWork) -> CommandResult {
    let server = arguments.name(0, "A server name")?;
    check_server_name(&server)?;
    context.connection.admin().run_on_servers(&[&server], work)?;
    Ok(Value::Nil)
}

fn compaction_switch(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    context.out.header(&["['SERVER'", "'PREV_STATE']"])?;
    let servers: Vec<String> = arguments.rest(1).into_iter().map(Value::to_text).collect();
    if let Some(wrong) = servers.iter().find(|server| check_server_name(server).is_err()) {
        return Err(Failure::refused(format!("Invalid ServerName format: {wrong}")));
    }
    let work = ServerWork::SwitchCompaction(boolean(&arguments, 0)?);
    let servers: Vec<&str> = servers.iter().map(String::as_str).collect();
    let results = context.connection.admin().run_on_servers(&servers, &work)?;
    for (server, was_on) in &results {
        context.out.row_of_two(server, &was_on.to_string())?;
    }
    context.out.footer(results.len() as u64)?;
    Ok(Value::Nil)
}

fn clear_slow_log(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let servers = match arguments.get(0) {
        None => Vec::new(),
        Some(value) => servers_in(value).ok_or_else(|| not_of(value, "correct"))?,
    };
    let found = find_servers(context, &servers)?;
    let names: Vec<&str> = found.iter().map(String::as_str).collect();
    let admin = context.connection.admin();
    let results = match servers.is_empty() || !names.is_empty() {
        true => admin.run_on_servers(&names, &ServerWork::ClearSlowLog)?,
        false => Vec::new(),
    };
    let cleared = results.iter().filter(|(_, is_cleared)| *is_cleared).count();
    context.out.line(&format!(
        "Cleared Slowlog responses from {cleared}/{} RegionServers",
        results.len()
    ))?;
    Ok(Value::Nil)
}

/// Families with a scope, of tables in which the pattern is found.
fn list_replicated_tables(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    context.out.header(&["TABLE:COLUMNFAMILY", "ReplicationType"])?;
    let pattern = super::pattern::Pattern::searching(&arguments, 0)?;
    let mut count = 0;
    for table in context.connection.admin().list_tables(SystemTables::Exclude)? {
        let name = table.name().to_string();
        let scopes = table.families().map(|family| (family, family.replication_scope()));
        for (family, scope) in scopes.filter(|(_, scope)| *scope != 0) {
            if !pattern.matches(&name) {
                continue;
            }
            let kind = match scope {
                1 => "GLOBAL",
                2 => "SERIAL",
                _ => "UNKNOWN",
            };
            let family = String::from_utf8_lossy(family.name());
            context.out.row_of_two(&format!("{name}:{family}"), kind)?;
            count += 1;
        }
    }
    context.out.footer(count)?;
    Ok(Value::Nil)
}

fn region_info(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let wanted = arguments.name(0, "A region name")?;
    let admin = context.connection.admin();
    let mut tables: Vec<TableName> = vec![TableName::meta().clone()];
    let all = admin.list_tables(SystemTables::Include)?;
    tables.extend(all.iter().map(|table| table.name().clone()));
    for table in &tables {
        let regions = admin.regions(table)?;
        let is_it = |region: &&hblite::RegionInfo| {
            region.encoded_name() == wanted || region.region_name_as_string() == wanted
        };
        if let Some(region) = regions.iter().find(is_it) {
            context.out.line(&region.to_string())?;
            return Ok(Value::Nil);
        }
    }
    Err(Failure::refused(format!("no region is called {wanted}")))
}

/// Runs the balancer, as the arguments from `at` on say.
pub(super) fn balance(
    context: &mut Context<'_>,
    group: Option<String>,
    arguments: &Arguments,
    at: usize,
) -> CommandResult {
    let options = arguments.rest(at);
    if options.len() > 2 {
        let (shown, count) =
            (Value::Array(options.into_iter().cloned().collect()), arguments.len());
        return Err(Failure::refused(format!(
            "Illegal arguments {}. Expected between 0 and 2 arguments, but got {}.",
            shown.inspect(),
            count - at
        )));
    }
    let mut request = BalanceRequest { group, ..BalanceRequest::default() };
    for (index, option) in options.into_iter().enumerate() {
        let shown = option.to_text();
        let illegal = format!("Illegal argument in index {index}: {shown}.");
        match (option, shown.as_str()) {
            (Value::String(_), "force" | "ignore_rit") => request.ignores_moves = true,
            (Value::String(_), "dry_run") => request.is_dry_run = true,
            (Value::String(_), _) => {
                return Err(Failure::refused(format!(
                    "{illegal} Unknown option {shown}, expected 'force', 'ignore_rit', or \
                     'dry_run'."
                )));
            }
            (other, _) => {
                return Err(Failure::refused(format!(
                    "{illegal} All arguments must be strings, but got {}.",
                    other.class_name()
                )));
            }
        }
    }
    let report = context.connection.admin().balance(&request)?;
    if report.has_run {
        context.out.row("Balancer ran")?;
        let (calculated, executed) = (report.calculated, report.executed);
        let line = format!("Moves calculated: {calculated}, moves executed: {executed}");
        context.out.row(&line)?;
    } else {
        context.out.row("Balancer did not run. See logs for details.")?;
    }
    Ok(Value::Bool(report.has_run))
}

fn balancer_log(
    context: &mut Context<'_>,
    arguments: &Arguments,
    log: BalancerLog,
) -> CommandResult {
    let options = match arguments.get(0) {
        None => Hash::default(),
        Some(Value::Hash(options)) => options.clone(),
        Some(_) => return Err(Failure::refused("Filter parameters are not Hash")),
    };
    let limit = options.get("LIMIT").map(|limit| integer(limit, "LIMIT")).transpose()?;
    let limit = u32::try_from(limit.unwrap_or(250)).unwrap_or(0);
    let records = context.connection.admin().balancer_log(log, limit)?;
    let kind = match log {
        BalancerLog::Decisions => "BalancerDecision",
        BalancerLog::Rejections => "BalancerRejection",
    };
    context.out.line(&format!("Retrieved {kind} Responses"))?;
    for record in records {
        context.out.line(&pretty(&record))?;
    }
    Ok(Value::Nil)
}

/// A run of the balancer as HBase's shell prints it: JSON on lines of its own.
fn pretty(record: &BalancerRecord) -> String {
    let list = |items: &[String]| match items {
        [] => "[]".to_owned(),
        items => {
            let items: Vec<String> =
                items.iter().map(|item| format!("    {}", Json::from(item.as_str()))).collect();
            format!("[\n{}\n  ]", items.join(",\n"))
        }
    };
    let fields = match record {
        BalancerRecord::Decision {
            costs_before,
            costs_after,
            cost_before,
            cost_after,
            steps,
            moves,
        } => vec![
            ("initialFunctionCosts", Json::from(costs_before.as_str()).to_string()),
            ("finalFunctionCosts", Json::from(costs_after.as_str()).to_string()),
            ("initTotalCost", format!("{cost_before:?}")),
            ("computedTotalCost", format!("{cost_after:?}")),
            ("computedSteps", steps.to_string()),
            ("regionPlans", list(moves)),
        ],
        BalancerRecord::Rejection { reason, costs } => vec![
            ("reason", Json::from(reason.as_str()).to_string()),
            ("costFuncInfoList", list(costs)),
        ],
    };
    let fields: Vec<String> =
        fields.into_iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
    format!("{{\n{}\n}}", fields.join(",\n"))
}
