//! Switches of balancer, normalizer, splits, merges, janitor, cleaner and so on.

use hblite_model::{Switch, check_pattern};
use hblite_wire::{RemoteException, pb};

use super::Method;
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

/// `MasterSwitchType.MERGE`; the other one is `SPLIT`.
const MERGE: i32 = 1;

macro_rules! switch {
    (get $name:ident) => {
        |cluster, call| {
            call.answer(&pb::SwitchResponse {
                value: Some(cluster.engine.switches().is_on(Switch::$name)),
            })
        }
    };
    (set $name:ident) => {
        |cluster, call| {
            let request: pb::SwitchRequest = call.parameter()?;
            let before = cluster.engine.switches().set(Switch::$name, request.on);
            cluster.note_change();
            call.answer(&pb::SwitchResponse { value: Some(before) })
        }
    };
}

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "SetBalancerRunning" => switch!(set Balancer),
        "IsBalancerEnabled" => switch!(get Balancer),
        "SetNormalizerRunning" => switch!(set Normalizer),
        "IsNormalizerEnabled" => switch!(get Normalizer),
        "EnableCatalogJanitor" => switch!(set CatalogJanitor),
        "IsCatalogJanitorEnabled" => switch!(get CatalogJanitor),
        "SetCleanerChoreRunning" => switch!(set CleanerChore),
        "IsCleanerChoreEnabled" => switch!(get CleanerChore),
        "SwitchSnapshotCleanup" => switch!(set SnapshotCleanup),
        "IsSnapshotCleanupEnabled" => switch!(get SnapshotCleanup),
        "SwitchRpcThrottle" => switch!(set RpcThrottle),
        "IsRpcThrottleEnabled" => switch!(get RpcThrottle),
        "SwitchExceedThrottleQuota" => switch!(set ExceedThrottleQuota),
        "ReplicationPeerModificationSwitch" => switch!(set PeerModification),
        "IsReplicationPeerModificationEnabled" => switch!(get PeerModification),
        "IsSplitOrMergeEnabled" => is_split_or_merge_enabled,
        "SetSplitOrMergeEnabled" => set_split_or_merge_enabled,
        // The store does the work of these automatically.
        "Normalize" => |c, call| {
            let request: pb::NormalizeRequest = call.parameter()?;
            let checked = request.regex.as_deref().map_or(Ok(()), check_pattern);
            checked.map_err(|error| RemoteException::from(&error).without_retry())?;
            ran(c, call, c.engine.switches().is_on(Switch::Normalizer))
        },
        "RunCleanerChore" => |c, call| ran(c, call, true),
        // What a master keeps for itself is in hbase:meta here.
        "FlushMasterStore" => |_, call| call.answer_empty(),
        "RunCatalogScan" => |cluster, call| {
            let count = cluster.engine.procedures().run_catalog_janitor()?;
            call.answer(&pb::CountResponse { count: i32::try_from(count).ok() })
        },
        _ => return None,
    })
}

fn ran(_: &Cluster, call: &Call<'_>, has_run: bool) -> Answer {
    call.answer(&pb::SwitchResponse { value: Some(has_run) })
}

fn of_type(number: i32) -> Switch {
    if number == MERGE { Switch::Merge } else { Switch::Split }
}

fn is_split_or_merge_enabled(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::IsSplitOrMergeEnabledRequest = call.parameter()?;
    let value = Some(cluster.engine.switches().is_on(of_type(request.switch_type)));
    call.answer(&pb::SwitchResponse { value })
}

fn set_split_or_merge_enabled(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::SetSplitOrMergeEnabledRequest = call.parameter()?;
    let set = |number: &i32| cluster.engine.switches().set(of_type(*number), request.enabled);
    let prev_value: Vec<bool> = request.switch_types.iter().map(set).collect();
    cluster.note_change();
    call.answer(&pb::SetSplitOrMergeEnabledResponse { prev_value })
}
