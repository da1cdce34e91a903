//! Commands of features that HBase has switched off unless it is configured otherwise, and that
//! hblite does not have: replication, quotas, permissions, visibility labels, server groups. Each
//! answers as a standalone HBase without the feature.

use hblite::TableName;

use super::operations::on_store;
use super::{Arguments, Command, CommandResult, Context, Failure, MANY};
use crate::value::{Hash, Value};

/// A row: the name, the least and greatest number of arguments, the help, and what the command
/// does.
macro_rules! rows {
    ($($usage:literal { $($name:literal $least:literal $most:expr, $run:expr;)* })*) => {
        pub(super) const COMMANDS: &[Command] = &[$($(Command {
            name: $name,
            aliases: &[],
            arity: ($least, $most),
            is_table_method: false,
            usage: concat!($name, ": ", $usage),
            run: $run,
        },)*)*];
    };
}

rows! {
    "Families with a REPLICATION_SCOPE are to be replicated, but hblite has no peers." {
        "enable_table_replication" 1 1, |context, arguments| {
            context.connection.admin().describe_table(arguments.table_name(0)?)?;
            on_store(context)?;
            Err(Failure::refused("Found no peer cluster for replication."))
        };
        "disable_table_replication" 1 1, disable_table_replication;
    }
    "hblite has no quotas. Quotas can be listed and none can be set." {
        "set_quota" 0 1, set_quota;
        "list_quotas" 0 1, |context, arguments| {
            let options = arguments.hash(0, "Arguments")?;
            let known = ["USER", "TABLE", "NAMESPACE", "LIMIT"];
            let mut rest = Hash::default();
            for (key, value) in options.iter() {
                if !known.contains(&&*key.to_text()) {
                    rest.insert(key.clone(), value.clone());
                }
            }
            context.out.header(&["OWNER", "QUOTAS"])?;
            if rest.iter().next().is_some() {
                let shown = Value::Hash(rest).inspect();
                return Err(Failure::refused(format!("Unexpected arguments: {shown}")));
            }
            no_quotas(context)
        };
        "list_quota_table_sizes" 0 1, |context, _| {
            context.out.header(&["TABLE", "SIZE"])?;
            no_quotas(context)
        };
        "list_quota_snapshots" 0 1, |context, arguments| {
            context.out.row(" TABLE USAGE LIMIT IN_VIOLATION POLICY")?;
            match arguments.hash(0, "Arguments")?.truthy("REGIONSERVER") {
                Some(_) => no_quotas(context),
                None => no_quota_table(context),
            }
        };
        "list_snapshot_sizes" 0 1, |context, _| {
            context.out.header(&["SNAPSHOT", "SIZE"])?;
            no_quota_table(context)
        };
    }
    "hblite has no permissions." {
        "grant" 1 MANY, grant;
        "revoke" 1 4, |context, _| disabled(context, "hbase:acl", NO_PERMISSIONS);
        "user_permission" 0 1, |context, _| {
            context.out.header(&["User", "Namespace,Table,Family,Qualifier:Permission"])?;
            disabled(context, "hbase:acl", NO_PERMISSIONS)
        };
    }
    "hblite has no visibility labels." {
        "add_labels" 0 MANY, |context, _| disabled(context, "hbase:labels", NO_LABELS);
        "list_labels" 0 1, |context, _| disabled(context, "hbase:labels", NO_LABELS);
        "set_auths" 1 MANY, |context, _| disabled(context, "hbase:labels", NO_LABELS);
        "get_auths" 1 1, |context, _| disabled(context, "hbase:labels", NO_LABELS);
        "clear_auths" 1 MANY, |context, _| disabled(context, "hbase:labels", NO_LABELS);
        "set_visibility" 3 3, |context, _| disabled(context, "hbase:labels", NO_LABELS);
    }
    "hblite has no groups of region servers." {
        "list_rsgroups" 0 1, |context, _| no_groups(context, Some(["NAME", "SERVER / TABLE"]));
        "show_rsgroup_config" 1 1, |context, _| no_groups(context, Some(["'KEY'", "'VALUE'"]));
        "get_rsgroup" 1 1, |context, _| no_groups(context, None);
        "add_rsgroup" 1 1, |context, _| no_groups(context, None);
        "remove_rsgroup" 1 1, |context, _| no_groups(context, None);
        "rename_rsgroup" 2 2, |context, _| no_groups(context, None);
        "balance_rsgroup" 1 1, |context, _| no_groups(context, None);
        "move_servers_rsgroup" 2 2, |context, _| no_groups(context, None);
        "move_tables_rsgroup" 2 2, |context, _| no_groups(context, None);
        "move_namespaces_rsgroup" 2 2, |context, _| no_groups(context, None);
        "move_servers_tables_rsgroup" 3 3, |context, _| no_groups(context, None);
        "move_servers_namespaces_rsgroup" 3 3, |context, _| no_groups(context, None);
        "remove_servers_rsgroup" 1 1, |context, _| no_groups(context, None);
        "get_server_rsgroup" 1 1, |context, _| no_groups(context, None);
        "get_table_rsgroup" 1 1, |context, _| no_groups(context, None);
        "update_rsgroup_config" 1 1, |context, _| no_groups(context, None);
        "alter_rsgroup_config" 2 2, |context, _| no_groups(context, None);
        "get_namespace_rsgroup" 1 1, |context, arguments| {
            let name = arguments.name(0, "Namespace name")?;
            let namespace = context.connection.admin().describe_namespace(&name)?;
            if let Some(group) = namespace.properties.get("hbase.rsgroup.name") {
                context.out.row(group)?;
            }
            context.out.footer(1)?;
            Ok(Value::Nil)
        };
    }
}

const NO_PERMISSIONS: &str = "DISABLED: Security features are not available";
const NO_LABELS: &str = "DISABLED: Visibility labels feature is not available";
const NO_GROUPS: &str = "org.apache.hadoop.hbase.exceptions.UnknownProtocolException: No \
     registered Master Coprocessor Endpoint found for RSGroupAdminService. Has it been enabled?";

/// Refuses with `message` where the table that a feature keeps its data in does not exist.
fn disabled(context: &Context<'_>, table: &str, message: &str) -> CommandResult {
    let table: TableName = table.parse()?;
    if context.connection.admin().table_exists(&table)? {
        on_store(context)?;
    }
    Err(Failure::refused(message))
}

fn no_quotas(context: &mut Context<'_>) -> CommandResult {
    if context.connection.admin().table_exists("hbase:quota")? {
        on_store(context)?;
    }
    context.out.footer(0)?;
    Ok(Value::Nil)
}

fn no_quota_table(context: &Context<'_>) -> CommandResult {
    disabled(context, "hbase:quota", "Unknown table hbase:quota!")
}

fn set_quota(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let options = arguments.hash(0, "Arguments")?;
    match options.get("TYPE").map(Value::to_text).as_deref() {
        Some("THROTTLE") => {}
        Some("SPACE") => {
            let limit = options.get("LIMIT").map(Value::to_text);
            let missing = ["LIMIT", "POLICY"].into_iter().find(|key| !options.contains(key));
            if let Some(key) = missing.filter(|_| limit.as_deref() != Some("NONE")) {
                return Err(Failure::refused(format!("Expected a {key} to be provided")));
            }
        }
        Some(other) => {
            return Err(Failure::refused(format!("Invalid TYPE argument. got {other}")));
        }
        None if options.contains("GLOBAL_BYPASS") => {}
        None => return Err(Failure::refused("Expected TYPE argument")),
    }
    let message = "Quota Support disabled. Please enable in configuration.";
    disabled(context, "hbase:quota", message)
}

fn grant(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    if !matches!(arguments.get(0), Some(Value::String(_))) {
        return Err(Failure::refused("First argument should be a String"));
    }
    if !matches!(arguments.get(1), Some(Value::String(_) | Value::Hash(_))) {
        return Err(Failure::refused("Second argument should be a String or Hash"));
    }
    disabled(context, "hbase:acl", NO_PERMISSIONS)
}

fn no_groups(context: &mut Context<'_>, titles: Option<[&str; 2]>) -> CommandResult {
    on_store(context)?;
    if let Some(titles) = titles {
        context.out.header(&titles)?;
    }
    Err(Failure::refused(NO_GROUPS))
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
