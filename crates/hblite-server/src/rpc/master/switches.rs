//! Switches of balancer, normalizer, splits, merges, janitor, cleaner and so on.

use hblite_wire::{RemoteException, pb};

use super::Method;
use crate::cluster::{Cluster, Switches};
use crate::rpc::call::{Answer, Call};
use crate::rpc::no_such_method;

/// `MasterSwitchType.MERGE`; the other one is `SPLIT`.
const MERGE: i32 = 1;

macro_rules! switch {
    (get $name:ident) => {
        |cluster, call| {
            call.answer(&pb::SwitchResponse { value: Some(cluster.switches.$name.is_on()) })
        }
    };
    (set $name:ident) => {
        |cluster, call| {
            let request: pb::SwitchRequest = call.parameter()?;
            let before = cluster.switches.$name.set(request.on);
            cluster.note_change();
            call.answer(&pb::SwitchResponse { value: Some(before) })
        }
    };
}

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "SetBalancerRunning" => switch!(set balancer),
        "IsBalancerEnabled" => switch!(get balancer),
        "SetNormalizerRunning" => switch!(set normalizer),
        "IsNormalizerEnabled" => switch!(get normalizer),
        "EnableCatalogJanitor" => switch!(set catalog_janitor),
        "IsCatalogJanitorEnabled" => switch!(get catalog_janitor),
        "SetCleanerChoreRunning" => switch!(set cleaner_chore),
        "IsCleanerChoreEnabled" => switch!(get cleaner_chore),
        "SwitchSnapshotCleanup" => switch!(set snapshot_cleanup),
        "IsSnapshotCleanupEnabled" => switch!(get snapshot_cleanup),
        "SwitchRpcThrottle" => switch!(set rpc_throttle),
        "IsRpcThrottleEnabled" => switch!(get rpc_throttle),
        "ReplicationPeerModificationSwitch" => switch!(set peer_modification),
        "IsReplicationPeerModificationEnabled" => switch!(get peer_modification),
        "AddReplicationPeer"
        | "RemoveReplicationPeer"
        | "EnableReplicationPeer"
        | "DisableReplicationPeer"
        | "UpdateReplicationPeerConfig" => change_peer,
        "IsSplitOrMergeEnabled" => is_split_or_merge_enabled,
        "SetSplitOrMergeEnabled" => set_split_or_merge_enabled,
        // The store does the work of these automatically.
        "Normalize" => |c, call| ran(c, call, c.switches.normalizer.is_on()),
        "RunCleanerChore" => |c, call| ran(c, call, true),
        "RunCatalogScan" => |_, call| call.answer(&pb::CountResponse { count: Some(0) }),
        _ => return None,
    })
}

fn ran(_: &Cluster, call: &Call<'_>, has_run: bool) -> Answer {
    call.answer(&pb::SwitchResponse { value: Some(has_run) })
}

/// There are no peers; while changes to them are off, that is the error.
fn change_peer(cluster: &Cluster, call: &Call<'_>) -> Answer {
    if cluster.switches.peer_modification.is_on() {
        return Err(no_such_method(call));
    }
    Err(RemoteException::do_not_retry("Replication peer modification disabled"))
}

fn of_type(switches: &Switches, number: i32) -> &crate::cluster::Switch {
    if number == MERGE { &switches.merge } else { &switches.split }
}

fn is_split_or_merge_enabled(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::IsSplitOrMergeEnabledRequest = call.parameter()?;
    let value = Some(of_type(&cluster.switches, request.switch_type).is_on());
    call.answer(&pb::SwitchResponse { value })
}

fn set_split_or_merge_enabled(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::SetSplitOrMergeEnabledRequest = call.parameter()?;
    let set = |number: &i32| of_type(&cluster.switches, *number).set(request.enabled);
    let prev_value: Vec<bool> = request.switch_types.iter().map(set).collect();
    cluster.note_change();
    call.answer(&pb::SetSplitOrMergeEnabledResponse { prev_value })
}
