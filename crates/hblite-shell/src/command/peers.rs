//! Replication peers: other clusters that get the writes of this one. A store has none, and none
//! can be added.

use std::collections::BTreeSet;
use std::time::Duration;

use hblite::{
    Error, PeerConfig, PeerTables, PeerWork, ProcedureStatus, ReplicationPeer, Switch, TableName,
};

use super::switches::{boolean, set_to};
use super::{Arguments, CommandResult, Context, Failure, not_of};
use crate::value::{Hash, Value};

commands! {
    "add_peer" 1 3, "Adds a cluster that gets the writes of families with a REPLICATION_SCOPE."
        " '1', CLUSTER_KEY => 'zk1,zk2,zk3:2181:/hbase'\n  hbase> add_peer '2', CLUSTER_KEY => \
         'zk4:2181:/hbase', STATE => 'DISABLED', SERIAL => true,\n           NAMESPACES => \
         ['ns1'], TABLE_CFS => {'t1' => ['f1', 'f2'], 'ns2:t2' => []}" add_peer;
    "remove_peer" 1 1, "Forgets a peer." " '1'"
        |context, arguments| change(context, &arguments, PeerWork::Remove);
    "enable_peer" 1 1, "Sends writes to a peer again." " '1'"
        |context, arguments| change(context, &arguments, PeerWork::Enable);
    "disable_peer" 1 1, "Keeps writes for a peer and does not send them." " '1'"
        |context, arguments| change(context, &arguments, PeerWork::Disable);
    "enable_table_replication" 1 1, "Replicates a table to the peers." " 't1'"
        |context, arguments| {
            let table = arguments.table_name(0)?;
            context.connection.admin().enable_table_replication(&table)?;
            let line = format!("The replication of table '{table}' successfully enabled");
            context.out.line(&line)?;
            Ok(Value::Nil)
        };
    "disable_table_replication" 1 1, "Replicates a table no longer." " 't1'"
        disable_table_replication;
    "peer_modification_switch" 1 2,
        "Turns changes of replication peers on (true) or off (false), and prints what they were. \
        With true as the second argument, waits for those that have begun."
        " false, true" modification_switch;
    "list_peers" 0 0, "Lists the peers." "" list_peers;
    "list_peer_configs" 0 0, "Prints where the peers are, and their settings." ""
        |context, _| {
            let peers = context.connection.admin().list_peers()?;
            for peer in &peers {
                context.out.row_of_two("PeerId", &peer.id)?;
                print_config(context, &peer.config)?;
                context.out.row(" ")?;
            }
            Ok(Value::Nil)
        };
    "get_peer_config" 1 1, "Prints where a peer is, and its settings." " '1'"
        |context, arguments| {
            let config = config_of(context, &arguments)?;
            print_config(context, &config)?;
            Ok(Value::Nil)
        };
    "update_peer_config" 1 2, "Adds settings to a peer."
        " '1', CONFIG => {'setting' => 'value'}, DATA => {'key' => 'value'}" update_config;
    "show_peer_tableCFs" 1 1, "Prints the tables and families that a peer gets." " '1'"
        |context, arguments| {
            let text = config_of(context, &arguments)?.tables.as_ref().map(tables_text);
            context.out.line(text.as_deref().unwrap_or_default())?;
            Ok(text.map_or(Value::Nil, Value::from))
        };
    "set_peer_tableCFs" 1 2, "Says which tables a peer gets." " '1', {'t1' => ['f1'], 't2' => []}"
        |context, arguments| with_tables(context, &arguments, |config, tables| {
            config.tables = Some(tables);
            Ok(())
        });
    "append_peer_tableCFs" 2 2, "Adds tables or families to those that a peer gets."
        " '1', {'t3' => ['f1']}"
        |context, arguments| with_tables(context, &arguments, |config, tables| {
            append(config.tables.get_or_insert_default(), tables);
            Ok(())
        });
    "remove_peer_tableCFs" 2 2, "Removes tables or families from those that a peer gets."
        " '1', {'t3' => ['f1']}"
        |context, arguments| {
            let id = arguments.subject();
            with_tables(context, &arguments, |config, tables| {
                remove(&mut config.tables, &tables, &id, TABLE_CFS)
            })
        };
    "set_peer_exclude_tableCFs" 1 2, "Says which tables a peer that gets all others does not get."
        " '1', {'t1' => ['f1'], 't2' => []}"
        |context, arguments| with_tables(context, &arguments, |config, tables| {
            config.excluded_tables = Some(tables);
            Ok(())
        });
    "append_peer_exclude_tableCFs" 2 2, "Adds tables or families to those that a peer does not get."
        " '1', {'t3' => ['f1']}"
        |context, arguments| with_tables(context, &arguments, |config, tables| {
            append(config.excluded_tables.get_or_insert_default(), tables);
            Ok(())
        });
    "remove_peer_exclude_tableCFs" 2 2,
        "Removes tables or families from those that a peer does not get." " '1', {'t3' => ['f1']}"
        |context, arguments| {
            let id = arguments.subject();
            with_tables(context, &arguments, |config, tables| {
                remove(&mut config.excluded_tables, &tables, &id, EXCLUDED_TABLE_CFS)
            })
        };
    "set_peer_namespaces" 2 2, "Says which namespaces a peer gets." " '1', ['ns1', 'ns2']"
        |context, arguments| with_names(context, &arguments, |config, names| {
            config.namespaces = Some(names);
        });
    "append_peer_namespaces" 2 2, "Adds namespaces to those that a peer gets." " '1', ['ns1']"
        |context, arguments| with_names(context, &arguments, |config, names| {
            config.namespaces.get_or_insert_default().extend(names);
        });
    "remove_peer_namespaces" 2 2, "Removes namespaces from those that a peer gets." " '1', ['ns1']"
        |context, arguments| with_names(context, &arguments, |config, names| {
            config.namespaces.iter_mut().for_each(|kept| kept.retain(|one| !names.contains(one)));
        });
    "set_peer_exclude_namespaces" 2 2,
        "Says which namespaces a peer that gets all others does not get." " '1', ['ns1']"
        |context, arguments| with_names(context, &arguments, |config, names| {
            config.excluded_namespaces = Some(names);
        });
    "append_peer_exclude_namespaces" 2 2, "Adds namespaces to those that a peer does not get."
        " '1', ['ns1']"
        |context, arguments| with_names(context, &arguments, |config, names| {
            config.excluded_namespaces.get_or_insert_default().extend(names);
        });
    "remove_peer_exclude_namespaces" 2 2,
        "Removes namespaces from those that a peer does not get." " '1', ['ns1']"
        |context, arguments| with_names(context, &arguments, |config, names| {
            let kept = &mut config.excluded_namespaces;
            kept.iter_mut().for_each(|kept| kept.retain(|one| !names.contains(one)));
        });
    "set_peer_replicate_all" 2 2, "Says whether a peer gets all tables." " '1', true"
        |context, arguments| {
            let sends_all = boolean(&arguments, 1)?;
            update(context, &arguments, |config| config.sends_all = sends_all)
        };
    "set_peer_serial" 2 2, "Says whether a peer gets the writes of a region in their order."
        " '1', true"
        |context, arguments| {
            let is_serial = boolean(&arguments, 1)?;
            update(context, &arguments, |config| config.is_serial = is_serial)
        };
    "set_peer_bandwidth" 1 2, "Limits the bytes per second that a peer gets; 0 for no limit."
        " '1', 1048576"
        |context, arguments| {
            let bandwidth = arguments.get(1).map(|value| super::integer(value, "The bandwidth"));
            let bandwidth = bandwidth.transpose()?.unwrap_or(0);
            update(context, &arguments, |config| config.bandwidth = bandwidth)
        };
}

fn change(
    context: &Context<'_>,
    arguments: &Arguments,
    work: impl Fn(String) -> PeerWork,
) -> CommandResult {
    run(context, &work(arguments.subject()))
}

/// Where a change of the master fails, HBase's shell prints the message without its class.
fn run(context: &Context<'_>, work: &PeerWork) -> CommandResult {
    let done = context.connection.admin().change_peer(work);
    done.map(|()| Value::Nil).map_err(|error| {
        let message = error.message();
        Failure::refused(match message == CHANGES_ARE_OFF {
            true => format!("java.io.IOException: {message}"),
            false => message.to_owned(),
        })
    })
}

const CHANGES_ARE_OFF: &str = "Replication peer modification disabled";

fn config_of(context: &Context<'_>, arguments: &Arguments) -> Result<PeerConfig, Error> {
    context.connection.admin().peer_config(&arguments.subject())
}

fn update(
    context: &Context<'_>,
    arguments: &Arguments,
    edit: impl FnOnce(&mut PeerConfig),
) -> CommandResult {
    let mut config = config_of(context, arguments)?;
    edit(&mut config);
    replace(context, arguments, config)
}

fn replace(context: &Context<'_>, arguments: &Arguments, config: PeerConfig) -> CommandResult {
    run(context, &PeerWork::Update(arguments.subject(), config))
}

/// Edits tables; `nil` changes nothing, and no peer is looked for.
fn with_tables(
    context: &Context<'_>,
    arguments: &Arguments,
    edit: impl FnOnce(&mut PeerConfig, PeerTables) -> Result<(), Failure>,
) -> CommandResult {
    let tables = match arguments.get(1) {
        None => return Ok(Value::Nil),
        Some(Value::Hash(tables)) => tables_in(tables)?,
        Some(other) => return Err(not_of(other, "Hash")),
    };
    let mut config = config_of(context, arguments)?;
    edit(&mut config, tables)?;
    replace(context, arguments, config)
}

fn with_names(
    context: &Context<'_>,
    arguments: &Arguments,
    edit: impl FnOnce(&mut PeerConfig, BTreeSet<String>),
) -> CommandResult {
    let names = match arguments.get(1) {
        None => return Ok(Value::Nil),
        Some(Value::Array(names)) => names.iter().map(Value::to_text).collect(),
        Some(other) => return Err(not_of(other, "Array")),
    };
    update(context, arguments, |config| edit(config, names))
}

fn tables_in(hash: &Hash) -> Result<PeerTables, Failure> {
    let mut tables = PeerTables::new();
    for (name, families) in hash.iter() {
        let table: TableName = name.to_text().parse()?;
        let families = match families {
            Value::Nil => BTreeSet::new(),
            Value::Array(families) => families.iter().map(Value::to_text).collect(),
            one => [one.to_text()].into(),
        };
        tables.insert(table, families);
    }
    Ok(tables)
}

/// A table without families has all of them.
fn append(tables: &mut PeerTables, more: PeerTables) {
    for (table, families) in more {
        match tables.get_mut(&table) {
            Some(known) if known.is_empty() || families.is_empty() => known.clear(),
            Some(known) => known.extend(families),
            None => _ = tables.insert(table, families),
        }
    }
}

/// The name of a list in HBase's messages: for a list that is there, and for one that is not.
type ListName = (&'static str, &'static str);
const TABLE_CFS: ListName = ("table-cfs", "Table-Cfs");
const EXCLUDED_TABLE_CFS: ListName = ("exclude-table-cfs", "exclude-Table-Cfs");

fn remove(
    tables: &mut Option<PeerTables>,
    less: &PeerTables,
    id: &str,
    (name, missing): ListName,
) -> Result<(), Failure> {
    let Some(known) = tables else {
        return Err(Failure::refused(format!("{missing} for peer: {id} is null")));
    };
    let name = format!("{name} config in peer: {id}");
    for (table, families) in less {
        let Some(kept) = known.get_mut(table) else {
            let name = name.replace(" in peer", " of peer");
            return Err(Failure::refused(format!("No table: {table} in {name}")));
        };
        match (kept.is_empty(), families.is_empty()) {
            (true, true) => _ = known.remove(table),
            (true, false) => {
                let message = format!(
                    "Cannot remove cf of table: {table} which doesn't specify cfs from {name}"
                );
                return Err(Failure::refused(message));
            }
            (false, true) => {
                let message =
                    format!("Cannot remove table: {table} which has specified cfs from {name}");
                return Err(Failure::refused(message));
            }
            (false, false) => {
                kept.retain(|family| !families.contains(family));
                if kept.is_empty() {
                    known.remove(table);
                }
            }
        }
    }
    Ok(())
}

fn add_peer(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let nothing = Hash::default();
    let options = match arguments.get(1) {
        None => &nothing,
        Some(Value::Hash(options)) => options,
        Some(_) => return Err(Failure::refused("args must be a Hash")),
    };
    if arguments.get(2).is_some() {
        return Err(Failure::refused("peer_tableCFs should be specified as TABLE_CFS in args"));
    }
    let text = |key: &str| options.get(key).map(Value::to_text);
    let mut config = PeerConfig {
        cluster_key: text("CLUSTER_KEY"),
        endpoint: text("ENDPOINT_CLASSNAME"),
        sends_all: true,
        ..PeerConfig::default()
    };
    if config.cluster_key.is_none() && config.endpoint.is_none() {
        let message = "Either ENDPOINT_CLASSNAME or CLUSTER_KEY must be specified.";
        return Err(Failure::refused(message));
    }
    add_settings(&mut config, options)?;
    config.is_serial = options.truthy("SERIAL").is_some();
    if let Some(Value::Array(names)) = options.get("NAMESPACES") {
        config.namespaces = Some(names.iter().map(Value::to_text).collect());
        config.sends_all = false;
    }
    match options.get("TABLE_CFS") {
        None | Some(Value::Nil) => {}
        Some(Value::Hash(tables)) => {
            config.tables = Some(tables_in(tables)?);
            config.sends_all = false;
        }
        Some(other) => return Err(not_of(other, "Hash")),
    }
    let is_enabled = text("STATE").as_deref() != Some("DISABLED");
    let peer = ReplicationPeer { id: arguments.subject(), is_enabled, config };
    run(context, &PeerWork::Add(peer))
}

fn add_settings(config: &mut PeerConfig, options: &Hash) -> Result<(), Failure> {
    for (key, is_data) in [("CONFIG", false), ("DATA", true)] {
        let settings = match options.get(key) {
            None | Some(Value::Nil) => continue,
            Some(Value::Hash(settings)) => settings,
            Some(other) => return Err(not_of(other, "Hash")),
        };
        for (name, value) in settings.iter() {
            if is_data {
                config.data.retain(|(known, _)| *known != name.to_bytes());
                config.data.push((name.to_bytes(), value.to_bytes()));
            } else {
                config.configuration.insert(name.to_text(), value.to_text());
            }
        }
    }
    Ok(())
}

fn update_config(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let options = match arguments.get(1) {
        None => Hash::default(),
        Some(Value::Hash(options)) => options.clone(),
        Some(other) => {
            let (shown, class) = (other.inspect(), other.class_name());
            let message = format!("undefined method `fetch' for {shown}:{class}");
            return Err(Failure::refused(message));
        }
    };
    let mut config = config_of(context, &arguments)?;
    add_settings(&mut config, &options)?;
    replace(context, &arguments, config)
}

/// The parts of a list of tables as HBase's shell writes them: `ns.table:f,g;ns.other`.
fn tables_text(tables: &PeerTables) -> String {
    let one = |(table, families): (&TableName, &BTreeSet<String>)| {
        let name = format!("{}.{}", table.namespace(), table.qualifier());
        let families: Vec<&str> = families.iter().map(String::as_str).collect();
        match families.is_empty() {
            true => name,
            false => format!("{name}:{}", families.join(",")),
        }
    };
    tables.iter().map(one).collect::<Vec<_>>().join(";")
}

fn print_config(context: &mut Context<'_>, config: &PeerConfig) -> Result<(), Failure> {
    if let Some(key) = &config.cluster_key {
        context.out.row_of_two("Cluster Key", key)?;
    }
    if let Some(endpoint) = &config.endpoint {
        context.out.row_of_two("Replication Endpoint", endpoint)?;
    }
    for (name, value) in &config.configuration {
        context.out.row_of_two(name, value)?;
    }
    Ok(())
}

fn list_peers(context: &mut Context<'_>, _: Arguments) -> CommandResult {
    context.out.row(
        " PEER_ID CLUSTER_KEY ENDPOINT_CLASSNAME STATE REPLICATE_ALL NAMESPACES TABLE_CFS \
         BANDWIDTH SERIAL",
    )?;
    let peers = context.connection.admin().list_peers()?;
    let joined = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(";");
    for ReplicationPeer { id, is_enabled, config } in &peers {
        let (names, tables, mark) = match config.sends_all {
            true => (&config.excluded_namespaces, &config.excluded_tables, "!"),
            false => (&config.namespaces, &config.tables, ""),
        };
        let names = names.as_ref().map(|names| format!("{mark}{}", joined(names)));
        let tables = tables.as_ref().map(|tables| format!("{mark}{}", tables_text(tables)));
        let fields = [
            id.clone(),
            config.cluster_key.clone().unwrap_or_default(),
            config.endpoint.clone().unwrap_or_default(),
            if *is_enabled { "ENABLED" } else { "DISABLED" }.to_owned(),
            config.sends_all.to_string(),
            names.unwrap_or_default(),
            tables.unwrap_or_default(),
            config.bandwidth.to_string(),
            config.is_serial.to_string(),
        ];
        context.out.row(&format!(" {}", fields.join(" ")))?;
    }
    context.out.footer(peers.len() as u64)?;
    Ok(Value::Nil)
}

/// What the classes of procedures that change peers begin with.
const PEER_PROCEDURES: &str = "org.apache.hadoop.hbase.master.replication.";

fn modification_switch(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let label = "Previous peer modification state : ";
    let before = set_to(context, Switch::PeerModification, boolean(&arguments, 0)?, label)?;
    let is_at_work = |one: &ProcedureStatus| {
        one.class.starts_with(PEER_PROCEDURES)
            && !matches!(one.state.as_str(), "SUCCESS" | "FAILED" | "ROLLEDBACK")
    };
    while boolean(&arguments, 1)?
        && context.connection.admin().list_procedures()?.iter().any(is_at_work)
    {
        context.check_interrupt()?;
        (context.options.sleep)(Duration::from_millis(100));
    }
    Ok(before)
}

fn disable_table_replication(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let admin = context.connection.admin();
    let name = arguments.table_name(0)?;
    let mut table = admin.describe_table(&name)?;
    let replicated: Vec<_> =
        table.families().filter(|family| family.replication_scope() != 0).cloned().collect();
    if !replicated.is_empty() {
        for mut family in replicated {
            family.set_attribute("REPLICATION_SCOPE", "0")?;
            table.set_family(family);
        }
        admin.modify_table(&table)?;
    }
    context.out.line(&format!("Replication of table '{name}' successfully disabled."))?;
    Ok(Value::Nil)
}
