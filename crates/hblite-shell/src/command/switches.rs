//! Switches of background work: a row for each command that sets or shows one.

use hblite::Switch;

use super::{Arguments, Command, CommandResult, Context, Failure, not_of};
use crate::value::Value;

/// A row: the name, the help, and what the command does.
macro_rules! rows {
    ($($name:literal $arity:literal $usage:literal $run:expr;)*) => {
        pub(super) const COMMANDS: &[Command] = &[$(Command {
            name: $name,
            aliases: &[],
            arity: ($arity, $arity),
            is_table_method: false,
            usage: concat!($usage, "\n\n  hbase> ", $name),
            run: $run,
        },)*];
    };
}

rows! {
    "balance_switch" 1 "Turns the balancer on (true) or off (false), and prints what it was."
        |context, arguments| {
            set(context, &arguments, Switch::Balancer, "Previous balancer state : ")
        };
    "balancer_enabled" 0 "Prints whether the balancer is on."
        |context, _| show(context, Switch::Balancer);
    "normalizer_switch" 1 "Turns the normalizer on (true) or off (false), and prints what it was."
        |context, arguments| set(context, &arguments, Switch::Normalizer, "");
    "normalizer_enabled" 0 "Prints whether the normalizer is on."
        |context, _| show(context, Switch::Normalizer);
    "splitormerge_switch" 2
        "Turns splits ('SPLIT') or merges ('MERGE') on or off, and prints what they were."
        |context, arguments| {
            let switch = split_or_merge(&arguments)?;
            set_to(context, switch, boolean(&arguments, 1)?, "")
        };
    "splitormerge_enabled" 1 "Prints whether splits ('SPLIT') or merges ('MERGE') are on."
        |context, arguments| show(context, split_or_merge(&arguments)?);
    "catalogjanitor_switch" 1
        "Turns the catalog janitor on (true) or off (false), and prints what it was."
        |context, arguments| set(context, &arguments, Switch::CatalogJanitor, "");
    "catalogjanitor_enabled" 0 "Prints whether the catalog janitor is on."
        |context, _| show(context, Switch::CatalogJanitor);
    "cleaner_chore_switch" 1 "Turns the cleaner on (true) or off (false), and prints what it was."
        |context, arguments| set(context, &arguments, Switch::CleanerChore, "");
    "cleaner_chore_enabled" 0 "Prints whether the cleaner is on."
        |context, _| show(context, Switch::CleanerChore);
    "snapshot_cleanup_switch" 1
        "Turns the removal of expired snapshots on (true) or off (false), and prints what it was."
        |context, arguments| {
            let label = "Previous snapshot cleanup state : ";
            set(context, &arguments, Switch::SnapshotCleanup, label)
        };
    "snapshot_cleanup_enabled" 0 "Prints whether expired snapshots are removed."
        |context, _| show(context, Switch::SnapshotCleanup);
    "enable_rpc_throttle" 0 "Turns the throttling of requests on, and prints what it was."
        |context, _| set_to(context, Switch::RpcThrottle, true, "Previous rpc throttle state : ");
    "disable_rpc_throttle" 0 "Turns the throttling of requests off, and prints what it was."
        |context, _| set_to(context, Switch::RpcThrottle, false, "Previous rpc throttle state : ");
    "enable_exceed_throttle_quota" 0
        "Turns the use of more than a quota on, and prints what it was."
        |context, _| set_to(context, Switch::ExceedThrottleQuota, true, EXCEED);
    "disable_exceed_throttle_quota" 0
        "Turns the use of more than a quota off, and prints what it was."
        |context, _| set_to(context, Switch::ExceedThrottleQuota, false, EXCEED);
    "peer_modification_enabled" 0 "Prints whether replication peers can be changed."
        |context, _| show(context, Switch::PeerModification);
}

const EXCEED: &str = "Previous exceed throttle quota enabled : ";

fn set(
    context: &mut Context<'_>,
    arguments: &Arguments,
    switch: Switch,
    label: &str,
) -> CommandResult {
    set_to(context, switch, boolean(arguments, 0)?, label)
}

pub(super) fn set_to(
    context: &mut Context<'_>,
    switch: Switch,
    on: bool,
    label: &str,
) -> CommandResult {
    let before = context.connection.admin().set_switch(switch, on)?;
    context.out.row(&format!("{label}{before}"))?;
    Ok(Value::Bool(before))
}

fn show(context: &mut Context<'_>, switch: Switch) -> CommandResult {
    let is_on = context.connection.admin().is_switched_on(switch)?;
    context.out.row(&is_on.to_string())?;
    Ok(Value::Bool(is_on))
}

/// As Java reads one: every text but `true` is false, and a number is neither.
pub(super) fn boolean(arguments: &Arguments, at: usize) -> Result<bool, Failure> {
    match arguments.get(at) {
        None => Ok(false),
        Some(Value::Bool(given)) => Ok(*given),
        Some(text @ (Value::String(_) | Value::Symbol(_))) => {
            Ok(text.to_text().eq_ignore_ascii_case("true"))
        }
        Some(other) => Err(not_of(other, "boolean")),
    }
}

fn split_or_merge(arguments: &Arguments) -> Result<Switch, Failure> {
    match arguments.get(0).map(Value::to_text).as_deref() {
        Some("SPLIT") => Ok(Switch::Split),
        Some("MERGE") => Ok(Switch::Merge),
        _ => Err(Failure::refused("only SPLIT or MERGE accepted for type!")),
    }
}
