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
    "expired snapshots are always removed":
        "snapshot_cleanup_switch" "snapshot_cleanup_enabled";
    "snapshots share their files with tables, and quotas are not kept":
        "list_snapshot_sizes";
    "a store has one server, so regions stay where they are":
        "assign" "balancer" "balance_switch" "balancer_enabled" "close_region" "move" "unassign"
        "rit" "get_balancer_decisions" "get_balancer_rejections";
    "hblite has no normalizer":
        "normalize" "normalizer_switch" "normalizer_enabled";
    "there is one server, this process, which ends with 'exit'":
        "stop_master" "stop_regionserver" "is_in_maintenance_mode";
    "there is one server, this process":
        "list_deadservers" "list_liveservers" "clear_deadservers"
        "list_decommissioned_regionservers" "decommission_regionservers"
        "recommission_regionserver" "list_rsgroups" "get_rsgroup" "add_rsgroup" "remove_rsgroup"
        "balance_rsgroup" "move_servers_rsgroup" "move_tables_rsgroup" "move_namespaces_rsgroup"
        "move_servers_tables_rsgroup" "move_servers_namespaces_rsgroup" "get_server_rsgroup"
        "get_table_rsgroup" "remove_servers_rsgroup" "rename_rsgroup" "alter_rsgroup_config"
        "show_rsgroup_config" "get_namespace_rsgroup";
    "the shell uses no ZooKeeper":
        "zk_dump";
    "background work needs neither a switch nor a manual start":
        "catalogjanitor_run" "catalogjanitor_switch" "catalogjanitor_enabled"
        "cleaner_chore_run" "cleaner_chore_switch" "cleaner_chore_enabled" "hbck_chore_run";
    "alter tables with COMPACTION_ENABLED instead":
        "compaction_switch";
    "alter tables with SPLIT_ENABLED and MERGE_ENABLED instead":
        "splitormerge_switch" "splitormerge_enabled";
    "a requested compaction is done when its command returns; others are not listed":
        "compaction_state" "clear_compaction_queues";
    "compact and major_compact take a table or region":
        "compact_rs";
    "the block cache exists only as long as the process":
        "clear_block_cache";
    "the log is rolled when it is large enough, not by hand":
        "wal_roll" "hlog_roll";
    "list_regions and locate_region describe regions":
        "regioninfo";
    "work in progress is not listed":
        "processlist" "trace" "list_procedures" "list_locks";
    "slow calls are not recorded":
        "get_slowlog_responses" "get_largelog_responses" "clear_slowlog_responses";
    "options are fixed when the store is opened":
        "update_config" "update_all_config";
    "hblite has no replication":
        "add_peer" "remove_peer" "list_peers" "enable_peer" "disable_peer"
        "set_peer_replicate_all" "set_peer_serial" "set_peer_namespaces"
        "append_peer_namespaces" "remove_peer_namespaces" "set_peer_exclude_namespaces"
        "append_peer_exclude_namespaces" "remove_peer_exclude_namespaces" "show_peer_tableCFs"
        "set_peer_tableCFs" "set_peer_exclude_tableCFs" "append_peer_exclude_tableCFs"
        "remove_peer_exclude_tableCFs" "set_peer_bandwidth" "list_replicated_tables"
        "append_peer_tableCFs" "remove_peer_tableCFs" "enable_table_replication"
        "disable_table_replication" "get_peer_config" "list_peer_configs" "update_peer_config";
    "hblite has no quotas":
        "set_quota" "list_quotas" "list_quota_table_sizes" "list_quota_snapshots"
        "enable_rpc_throttle" "disable_rpc_throttle" "enable_exceed_throttle_quota"
        "disable_exceed_throttle_quota";
    "hblite has no permissions":
        "list_security_capabilities" "grant" "revoke" "user_permission";
    "hblite has no visibility labels":
        "add_labels" "list_labels" "set_auths" "get_auths" "clear_auths" "set_visibility";
}
