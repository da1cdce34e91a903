//! Server groups: region servers that have the regions of certain tables, and no others. A store
//! has none.

use hblite::{Exception, GroupMember, GroupWork, ServerGroup, TableName};

use super::operations::balance;
use super::pattern::regex;
use super::{Arguments, CommandResult, Context, Failure, MANY, not_of};
use crate::value::Value;

commands! {
    "list_rsgroups" 0 1, "Lists groups, their servers and tables." "\n  hbase> list_rsgroups 'g.*'"
        list_groups;
    "get_rsgroup" 1 1, "Lists the servers and tables of a group." " 'g1'"
        |context, arguments| {
            let group = group(context, &arguments)?;
            context.out.header(&["SERVERS"])?;
            group.servers.iter().try_for_each(|server| context.out.row(server))?;
            context.out.footer(group.servers.len() as u64)?;
            context.out.header(&["TABLES"])?;
            group.tables.iter().try_for_each(|table| context.out.row(&table.to_string()))?;
            context.out.footer(group.tables.len() as u64)?;
            Ok(Value::Nil)
        };
    "show_rsgroup_config" 1 1, "Prints the settings of a group." " 'g1'"
        |context, arguments| {
            context.out.header(&["'KEY'", "'VALUE'"])?;
            let settings = group(context, &arguments)?.configuration;
            for (name, value) in &settings {
                context.out.row_of_two(name, value)?;
            }
            context.out.footer(settings.len() as u64)?;
            Ok(Value::Nil)
        };
    "add_rsgroup" 1 1, "Adds a group." " 'g1'"
        |context, arguments| change(context, &GroupWork::Add(name(&arguments)?));
    "remove_rsgroup" 1 1, "Removes a group without servers and tables." " 'g1'"
        |context, arguments| change(context, &GroupWork::Remove(name(&arguments)?));
    "rename_rsgroup" 2 2, "Renames a group." " 'g1', 'g2'"
        |context, arguments| {
            let (from, to) = (name(&arguments)?, arguments.name(1, "Group name")?);
            change(context, &GroupWork::Rename { from, to })
        };
    "balance_rsgroup" 1 MANY, "Runs the balancer for a group, as 'balancer' does."
        " 'g1'\n  hbase> balance_rsgroup 'g1', 'dry_run'"
        |context, arguments| balance(context, Some(name(&arguments)?), &arguments, 1);
    "move_servers_rsgroup" 2 2, "Moves servers to a group." " 'g1', ['host:16020']"
        |context, arguments| {
            let (group, servers) = (name(&arguments)?, addresses(&arguments, 1)?);
            change(context, &GroupWork::Move { group, servers, tables: Vec::new() })
        };
    "move_tables_rsgroup" 2 2, "Moves tables to a group." " 'g1', ['t1', 't2']"
        |context, arguments| {
            let (group, tables) = (name(&arguments)?, table_names(&arguments, 1)?);
            change(context, &GroupWork::Move { group, servers: Vec::new(), tables })
        };
    "move_namespaces_rsgroup" 2 2, "Moves the tables of namespaces to a group."
        " 'g1', ['ns1', 'ns2']"
        |context, arguments| {
            let group = name(&arguments)?;
            let tables = tables_of(context, &arguments, 1)?;
            change(context, &GroupWork::Move { group, servers: Vec::new(), tables })
        };
    "move_servers_tables_rsgroup" 3 3, "Moves servers and tables to a group."
        " 'g1', ['host:16020'], ['t1']"
        |context, arguments| {
            let (group, servers) = (name(&arguments)?, addresses(&arguments, 1)?);
            let tables = table_names(&arguments, 2)?;
            change(context, &GroupWork::Move { group, servers, tables })
        };
    "move_servers_namespaces_rsgroup" 3 3, "Moves servers and the tables of namespaces to a group."
        " 'g1', ['host:16020'], ['ns1']"
        |context, arguments| {
            let (group, servers) = (name(&arguments)?, addresses(&arguments, 1)?);
            let tables = tables_of(context, &arguments, 2)?;
            change(context, &GroupWork::Move { group, servers, tables })
        };
    "remove_servers_rsgroup" 1 1, "Forgets servers that are decommissioned or gone."
        " ['host:16020']"
        |context, arguments| change(context, &GroupWork::RemoveServers(addresses(&arguments, 0)?));
    "get_server_rsgroup" 1 1, "Prints the group of a server." " 'host:16020'"
        |context, arguments| {
            let server = arguments.name(0, "A server")?;
            check_address(&server)?;
            member(context, GroupMember::Server(server.clone()), "Server", &server)
        };
    "get_table_rsgroup" 1 1, "Prints the group of a table." " 't1'"
        |context, arguments| {
            let table = arguments.table_name(0)?;
            let name = table.to_string();
            member(context, GroupMember::Table(table), "Table", &name)
        };
    "get_namespace_rsgroup" 1 1, "Prints the group of a namespace." " 'ns1'"
        |context, arguments| {
            let name = arguments.name(0, "Namespace name")?;
            let namespace = context.connection.admin().describe_namespace(&name)?;
            if let Some(group) = namespace.properties.get("hbase.rsgroup.name") {
                context.out.row(group)?;
            }
            context.out.footer(1)?;
            Ok(Value::Nil)
        };
    "alter_rsgroup_config" 2 2, "Sets or removes settings of a group."
        " 'g1', {METHOD => 'set', 'setting' => 'value'}\n  hbase> alter_rsgroup_config 'g1', \
         {METHOD => 'unset', NAME => 'setting'}" configure;
    "update_rsgroup_config" 1 1, "Has the servers of a group read their configuration again."
        " 'g1'"
        |context, arguments| {
            let servers = known_group(context, &arguments, "RSGroup does not exist: {}")?.servers;
            let live = context.connection.admin().servers()?.live;
            let is_its = |name: &&String| {
                let mut parts = name.split(',');
                let place = parts.next().zip(parts.next());
                place.is_some_and(|(host, port)| servers.contains(&format!("{host}:{port}")))
            };
            let names: Vec<&str> = live.iter().filter(is_its).map(String::as_str).collect();
            // Without a name, all servers would.
            if !names.is_empty() {
                let work = hblite::ServerWork::UpdateConfiguration;
                context.connection.admin().run_on_servers(&names, &work)?;
            }
            Ok(Value::Nil)
        };
}

fn name(arguments: &Arguments) -> Result<String, Failure> {
    arguments.name(0, "Group name")
}

fn names(arguments: &Arguments, at: usize) -> Result<Vec<String>, Failure> {
    match arguments.get(at) {
        Some(Value::Array(names)) => Ok(names.iter().map(Value::to_text).collect()),
        Some(Value::String(name)) if at == 0 => Ok(vec![String::from_utf8_lossy(name).into()]),
        other => Err(not_of(other.unwrap_or(&Value::Nil), "Array")),
    }
}

/// Names of servers, `host:port`.
fn addresses(arguments: &Arguments, at: usize) -> Result<Vec<String>, Failure> {
    let names = names(arguments, at)?;
    names.iter().try_for_each(|name| check_address(name))?;
    Ok(names)
}

/// Refuses a port that is not a number, in the words of HBase's library.
fn check_address(address: &str) -> Result<(), Failure> {
    match address.rsplit_once(':') {
        Some((_, port)) if port.parse::<u16>().is_err() => {
            Err(Failure::refused(format!("Unparseable port number: {address}")))
        }
        _ => Ok(()),
    }
}

fn table_names(arguments: &Arguments, at: usize) -> Result<Vec<TableName>, Failure> {
    let names = names(arguments, at)?;
    names.iter().map(|name| Ok(name.parse()?)).collect()
}

/// The tables of namespaces.
fn tables_of(
    context: &Context<'_>,
    arguments: &Arguments,
    at: usize,
) -> Result<Vec<TableName>, Failure> {
    let mut tables = Vec::new();
    for name in names(arguments, at)? {
        match context.connection.admin().list_namespace_tables(&name) {
            Err(error) if error.exception() == Exception::NamespaceNotFound => {
                return Err(Failure::refused(format!("Can't find a namespace: {name}")));
            }
            found => tables.extend(found?),
        }
    }
    Ok(tables)
}

fn change(context: &Context<'_>, work: &GroupWork) -> CommandResult {
    Ok(context.connection.admin().change_group(work).map(|()| Value::Nil)?)
}

fn group(context: &Context<'_>, arguments: &Arguments) -> Result<ServerGroup, Failure> {
    known_group(context, arguments, "Group does not exist: {}")
}

/// The group that the first argument names; without one, the refusal has the name for `{}`.
fn known_group(
    context: &Context<'_>,
    arguments: &Arguments,
    refusal: &str,
) -> Result<ServerGroup, Failure> {
    let name = name(arguments)?;
    let found = context.connection.admin().find_group(&GroupMember::Name(name.clone()))?;
    found.ok_or_else(|| Failure::refused(refusal.replace("{}", &name)))
}

fn member(context: &mut Context<'_>, member: GroupMember, kind: &str, name: &str) -> CommandResult {
    let found = context.connection.admin().find_group(&member)?;
    let group = found.ok_or_else(|| Failure::refused(format!("{kind} has no group: {name}")))?;
    context.out.row(&group.name)?;
    context.out.footer(1)?;
    Ok(Value::Nil)
}

fn list_groups(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    context.out.header(&["NAME", "SERVER / TABLE"])?;
    let pattern = arguments.name_if_given(0, "A regular expression")?.unwrap_or_default();
    let regex = regex(&pattern, &pattern)?;
    let mut count = 0;
    for group in context.connection.admin().list_groups()? {
        if !regex.is_match(&group.name) {
            continue;
        }
        count += 1;
        let servers = group.servers.iter().map(|server| format!("server {server}"));
        let mut members: Vec<String> =
            servers.chain(group.tables.iter().map(|table| format!("table {table}"))).collect();
        if members.is_empty() {
            members.push(String::new());
        }
        for (at, member) in members.iter().enumerate() {
            let name = if at == 0 { group.name.as_str() } else { "" };
            context.out.row_of_two(name, member)?;
        }
    }
    context.out.footer(count)?;
    Ok(Value::Nil)
}

fn configure(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let mut settings = known_group(context, &arguments, "RSGroup does not exist")?.configuration;
    for argument in arguments.rest(1) {
        let Value::Hash(options) = argument else {
            return Err(not_of(argument, "Hash"));
        };
        match options.get("METHOD").map(Value::to_text).as_deref() {
            Some("unset") => {
                let name = options.get("NAME").map(Value::to_text).unwrap_or_default();
                settings.remove(&name);
            }
            Some("set") => {
                for (key, value) in options.iter() {
                    if key.to_text() != "METHOD" {
                        settings.insert(key.to_text(), value.to_text());
                    }
                }
            }
            other => {
                let method = other.unwrap_or_default();
                return Err(Failure::refused(format!("Unknown method {method}")));
            }
        }
    }
    change(context, &GroupWork::Configure(name(&arguments)?, settings))
}
