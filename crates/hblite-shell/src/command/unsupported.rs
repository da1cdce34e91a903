//! Commands of HBase's shell that hblite does not have: each reports that, and why.

use super::{Command, Failure, MANY};

macro_rules! unsupported {
    ($($reason:literal: $($name:literal)+;)*) => {
        pub(super) const COMMANDS: &[Command] = &[$($(Command {
            name: $name,
            aliases: &[],
            arity: (0, MANY),
            is_table_method: false,
            usage: concat!($name, " is not supported by hblite: ", $reason, "."),
            run: |context, _| {
                // Only a store of this process was recovered; the reasons are about those.
                let message = match context.connection.recovery() {
                    Some(_) => concat!($name, " is not supported by hblite: ", $reason),
                    None => concat!(
                        $name,
                        " is not supported by hblite: on a cluster, use HBase's own shell for it"
                    ),
                };
                Err(Failure::refused(message))
            },
        },)+)*];
    };
}

unsupported! {
    "a store has one server, so regions stay in service on it":
        "assign" "move" "unassign" "decommission_regionservers" "recommission_regionserver";
    "there is one server, this process, which ends with 'exit'":
        "stop_master" "stop_regionserver";
    "the shell uses no ZooKeeper":
        "zk_dump";
    "the block cache exists only as long as the process":
        "clear_block_cache";
    "calls are not traced":
        "trace";
}
