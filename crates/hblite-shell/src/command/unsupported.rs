//! Commands of HBase's shell that hblite does not have: each says so, and why.

use super::{Command, Failure, MANY};

macro_rules! unsupported {
    ($($reason:literal: $($name:literal)+;)*) => {
        pub(super) const COMMANDS: &[Command] = &[$($(Command {
            name: $name,
            aliases: &[],
            arity: (0, MANY),
            is_table_method: false,
            usage: concat!($name, " is not supported by hblite: ", $reason, "."),
            run: |_, _| {
                let message = concat!($name, " is not supported by hblite: ", $reason);
                Err(Failure::refused(message))
            },
        },)+)*];
    };
}

unsupported! {
    "there are no snapshots":
        "snapshot" "clone_snapshot" "restore_snapshot" "delete_snapshot" "delete_all_snapshot"
        "delete_table_snapshots" "list_snapshots" "list_table_snapshots" "list_snapshot_sizes"
        "snapshot_cleanup_switch" "snapshot_cleanup_enabled";
    "there is one server, so regions stay where they are":
        "assign" "balancer" "balance_switch" "balancer_enabled" "close_region" "move" "normalize"
        "normalizer_switch" "normalizer_enabled" "unassign" "rit" "stop_master"
        "stop_regionserver" "list_deadservers" "list_liveservers" "clear_deadservers"
        "list_decommissioned_regionservers" "decommission_regionservers"
        "recommission_regionserver" "list_rsgroups" "get_rsgroup" "add_rsgroup" "remove_rsgroup"
        "balance_rsgroup" "move_servers_rsgroup" "move_tables_rsgroup" "move_namespaces_rsgroup"
        "move_servers_tables_rsgroup" "move_servers_namespaces_rsgroup" "get_server_rsgroup"
        "get_table_rsgroup" "remove_servers_rsgroup" "rename_rsgroup" "alter_rsgroup_config"
        "show_rsgroup_config" "get_namespace_rsgroup" "zk_dump";
    "it has no chores to switch":
        "catalogjanitor_run" "catalogjanitor_switch" "catalogjanitor_enabled"
        "cleaner_chore_run" "cleaner_chore_switch" "cleaner_chore_enabled" "hbck_chore_run"
        "compaction_switch" "compaction_state" "compact_rs" "clear_compaction_queues"
        "clear_block_cache" "splitormerge_switch" "splitormerge_enabled" "wal_roll"
        "is_in_maintenance_mode" "regioninfo" "processlist" "trace" "list_procedures"
        "list_locks" "get_slowlog_responses" "get_largelog_responses" "clear_slowlog_responses"
        "get_balancer_decisions" "get_balancer_rejections" "update_config" "update_all_config";
    "there is no replication":
        "add_peer" "remove_peer" "list_peers" "enable_peer" "disable_peer"
        "set_peer_replicate_all" "set_peer_serial" "set_peer_namespaces"
        "append_peer_namespaces" "remove_peer_namespaces" "set_peer_exclude_namespaces"
        "append_peer_exclude_namespaces" "remove_peer_exclude_namespaces" "show_peer_tableCFs"
        "set_peer_tableCFs" "set_peer_exclude_tableCFs" "append_peer_exclude_tableCFs"
        "remove_peer_exclude_tableCFs" "set_peer_bandwidth" "list_replicated_tables"
        "append_peer_tableCFs" "remove_peer_tableCFs" "enable_table_replication"
        "disable_table_replication" "get_peer_config" "list_peer_configs" "update_peer_config";
    "there are no quotas":
        "set_quota" "list_quotas" "list_quota_table_sizes" "list_quota_snapshots"
        "enable_rpc_throttle" "disable_rpc_throttle" "enable_exceed_throttle_quota"
        "disable_exceed_throttle_quota";
    "there are no permissions":
        "list_security_capabilities" "grant" "revoke" "user_permission";
    "there are no visibility labels":
        "add_labels" "list_labels" "set_auths" "get_auths" "clear_auths" "set_visibility";
}
