//! Where regions are, which servers may have them, and ending servers.

use hblite::{Exception, MasterWork, ServerWork, TableName};

use super::operations::list;
use super::server_names::{check_server_name, find_servers, servers_in};
use super::{Arguments, CommandResult, Context, Failure, MANY, not_of};
use crate::format::java_date;
use crate::value::Value;

commands! {
    "assign" 1 1, "Puts a region in service."
        " 'REGION_NAME'\n  hbase> assign 'ENCODED_REGION_NAME'"
        |context, arguments| {
            let region = arguments.name(0, "A region name")?;
            run_on_region(context, &MasterWork::Assign(region))
        };
    "unassign" 1 2, "Takes a region out of service. The second argument has no effect."
        " 'REGION_NAME'\n  hbase> unassign 'ENCODED_REGION_NAME'"
        |context, arguments| {
            let region = arguments.name(0, "A region name")?;
            run_on_region(context, &MasterWork::Unassign(region))
        };
    "move" 1 2, "Moves a region to a server, or to any other one."
        " 'ENCODED_REGION_NAME'\n  hbase> move 'ENCODED_REGION_NAME', 'SERVER_NAME'"
        |context, arguments| {
            let server = arguments.name_if_given(1, "A server name")?;
            server.as_deref().map_or(Ok(()), check_server_name)?;
            let region = arguments.name(0, "A region name")?;
            run_on_region(context, &MasterWork::Move { region, server })
        };
    "decommission_regionservers" 1 2,
        "Gives servers no more regions; with true, their regions go to other servers."
        " 'SERVER_NAME'\n  hbase> decommission_regionservers ['host1', 'host2,16020'], true"
        decommission;
    "recommission_regionserver" 1 2, "Gives a server regions again, some of them at once."
        " 'SERVER_NAME'\n  hbase> recommission_regionserver 'SERVER_NAME', ['ENCODED_REGION_NAME']"
        recommission;
    "stop_master" 0 0, "Ends the master of a cluster, or closes the store." ""
        |context, _| run(context, &MasterWork::Stop);
    "stop_regionserver" 1 1, "Ends a region server of a cluster, or closes the store."
        " 'HOST:PORT'" stop_region_server;
    "clear_block_cache" 1 1, "Removes the blocks of a table from the block caches." " 't1'"
        |context, arguments| {
            let table = arguments.table_name(0)?;
            let cleared = context.connection.admin().clear_block_cache(&table)?;
            context.out.line(&format!(
                "CacheEvictionStats{{evictedBlocks={}, maxCacheSize={}, failedRegionsSize={}, \
                 failedRegions=[]}}",
                cleared.evicted_blocks, cleared.size_max_bytes, cleared.failed_regions
            ))?;
            Ok(Value::Nil)
        };
    "clear_deadservers" 0 MANY, "Forgets region servers that are gone." " 'SERVER_NAME'"
        clear_dead_servers;
    "rit" 0 0, "Lists regions that are changing servers." "" regions_in_transition;
    "is_in_maintenance_mode" 0 0, "Prints whether the master is in maintenance mode." ""
        |context, _| {
            let is_on = context.connection.admin().master_report()?.is_in_maintenance_mode;
            context.out.row(&is_on.to_string())?;
            Ok(Value::Bool(is_on))
        };
    "list_security_capabilities" 0 0, "Lists the security features." ""
        |context, _| {
            let names = context.connection.admin().master_report()?.security_capabilities;
            names.iter().try_for_each(|name| context.out.line(name))?;
            Ok(Value::Array(names.into_iter().map(Value::from).collect()))
        };
    "trace" 0 2, "Turns tracing on ('start') or off ('stop'), and prints whether it is on."
        "\n  hbase> trace 'start'" trace;
    "zk_dump" 0 0, "Prints the servers, and what ZooKeeper says of itself." "" zk_dump;
}

fn run(context: &Context<'_>, work: &MasterWork) -> CommandResult {
    context.connection.admin().run_on_master(work)?;
    Ok(Value::Nil)
}

/// Names the exception of a region that the master does not know.
fn run_on_region(context: &Context<'_>, work: &MasterWork) -> CommandResult {
    match context.connection.admin().run_on_master(work) {
        Err(error) if error.exception() == Exception::UnknownRegion => {
            Err(Failure::refused(error.to_java_string()))
        }
        done => done.map(|_| Value::Nil).map_err(Failure::Store),
    }
}

fn decommission(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let shown = arguments.get(0).unwrap_or(&Value::Nil);
    let Some(wanted) = servers_in(shown) else {
        return Err(not_of(shown, "Array/String"));
    };
    let offload = match arguments.get(1) {
        None => false,
        Some(Value::Bool(offload)) => *offload,
        Some(Value::String(text)) => text.eq_ignore_ascii_case(b"true"),
        Some(other) => {
            return Err(Failure::refused(format!("{} is not a boolean value", other.to_text())));
        }
    };
    let servers = find_servers(context, &wanted)?;
    if servers.is_empty() {
        let message = "Could not find any server(s) with specified name(s):";
        return Err(Failure::refused(format!("{message} {}", shown.to_text())));
    }
    run(context, &MasterWork::Decommission { servers, offload })
}

fn recommission(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let shown = arguments.get(0).unwrap_or(&Value::Nil);
    if !matches!(shown, Value::String(_)) {
        return Err(not_of(shown, "String"));
    }
    let regions = match arguments.get(1) {
        None => Vec::new(),
        Some(Value::Array(names)) => names.iter().map(Value::to_text).collect(),
        Some(other) => return Err(not_of(other, "Array")),
    };
    let wanted = shown.to_text();
    let found = find_servers(context, std::slice::from_ref(&wanted))?;
    let Some(server) = found.into_iter().next() else {
        return Err(Failure::refused(format!("Could not find any server with name {wanted}")));
    };
    run(context, &MasterWork::Recommission { server, regions })
}

fn stop_region_server(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let place = arguments.name(0, "A server")?;
    let Some((host, port)) = place.rsplit_once(':') else {
        return Err(Failure::refused(format!("Not a host:port pair: {place}")));
    };
    if port.parse::<i32>().is_err() {
        return Err(Failure::refused(format!("For input string: \"{port}\"")));
    }
    let found = find_servers(context, &[format!("{host},{port}")])?;
    let Some(server) = found.first() else {
        return Err(Failure::refused(format!("no region server is at {place}")));
    };
    let reason = "Called by hblite's shell".to_owned();
    context.connection.admin().run_on_servers(&[server], &ServerWork::Stop(reason))?;
    Ok(Value::Nil)
}

fn clear_dead_servers(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let admin = context.connection.admin();
    let mut names: Vec<String> = arguments.rest(0).into_iter().map(Value::to_text).collect();
    names.iter().try_for_each(|name| check_server_name(name))?;
    if names.is_empty() {
        names = admin.servers()?.dead;
    }
    let left = admin.clear_dead_servers(&names)?;
    if left.is_empty() {
        context.out.row("true")?;
    } else {
        context.out.row("Some dead server clear failed")?;
        list(context, "SERVERNAME", &left)?;
    }
    Ok(Value::Array(left.into_iter().map(Value::from).collect()))
}

fn regions_in_transition(context: &mut Context<'_>, _: Arguments) -> CommandResult {
    let regions = context.connection.admin().master_report()?.regions_in_transition;
    let now = context.connection.now_millis();
    for one in &regions {
        let (name, state) = (&one.region, &one.state);
        let date = java_date(one.since_ms, (context.options.utc_offset_seconds)(one.since_ms));
        let seconds = now.saturating_sub(one.since_ms) / 1000;
        let line = format!("{name} state={state}, ts={date} ({seconds}s ago), server=null");
        context.out.row(&line)?;
    }
    context.out.footer(regions.len() as u64)?;
    Ok(Value::Nil)
}

/// As in HBase, no span is kept unless the program has a subscriber for them.
fn trace(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let is_tracing = &mut context.options.is_tracing;
    match arguments.get(0).map(Value::to_text).as_deref() {
        Some("start") => *is_tracing = true,
        Some("stop") => *is_tracing = false,
        _ => {}
    }
    Ok(Value::Bool(*is_tracing))
}

fn zk_dump(context: &mut Context<'_>, _: Arguments) -> CommandResult {
    let admin = context.connection.admin();
    let (report, servers) = (admin.zookeeper()?, admin.servers()?);
    let meta = admin.locate_region(TableName::meta(), b"")?.server.replace(':', ",");
    let is_its = |name: &&String| name.rsplit_once(',').is_some_and(|(place, _)| place == meta);
    let of_meta: Vec<String> = servers.live.iter().filter(is_its).cloned().collect();
    context.out.line(&format!("HBase is rooted at {}", report.root))?;
    for (title, names) in [
        ("Active master address: ", std::slice::from_ref(&servers.master)),
        ("Backup master addresses:", &servers.backup_masters),
        ("Region server holding hbase:meta:", &of_meta),
        ("Region servers:", &servers.live),
    ] {
        context.out.line(title)?;
        names.iter().try_for_each(|name| context.out.line(&format!(" {name}")))?;
    }
    context.out.line("Quorum Server Statistics:")?;
    for (server, text) in &report.quorum {
        context.out.line(&format!(" {server}"))?;
        text.lines().try_for_each(|line| context.out.line(&format!("  {line}")))?;
    }
    Ok(Value::Nil)
}
