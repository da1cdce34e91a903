//! Switches of the master and of region servers.

use hblite_model::{Error, Exception, Result, Switch};
use hblite_wire::pb;

use super::Admin;

/// How the master is asked about a switch.
enum Way {
    /// The methods that return and set it.
    Methods(&'static str, &'static str),
    /// Its number in `MasterSwitchType`.
    Type(i32),
    /// The method that sets it; none returns it.
    OnlySet(&'static str),
    /// Each region server has one.
    Servers,
}

fn way(switch: Switch) -> Way {
    match switch {
        Switch::Balancer => Way::Methods("IsBalancerEnabled", "SetBalancerRunning"),
        Switch::Normalizer => Way::Methods("IsNormalizerEnabled", "SetNormalizerRunning"),
        Switch::Split => Way::Type(0),
        Switch::Merge => Way::Type(1),
        Switch::CatalogJanitor => Way::Methods("IsCatalogJanitorEnabled", "EnableCatalogJanitor"),
        Switch::CleanerChore => Way::Methods("IsCleanerChoreEnabled", "SetCleanerChoreRunning"),
        Switch::SnapshotCleanup => {
            Way::Methods("IsSnapshotCleanupEnabled", "SwitchSnapshotCleanup")
        }
        Switch::Compaction => Way::Servers,
        Switch::RpcThrottle => Way::Methods("IsRpcThrottleEnabled", "SwitchRpcThrottle"),
        Switch::ExceedThrottleQuota => Way::OnlySet("SwitchExceedThrottleQuota"),
        Switch::PeerModification => Way::Methods(
            "IsReplicationPeerModificationEnabled",
            "ReplicationPeerModificationSwitch",
        ),
    }
}

impl Admin {
    /// Whether work of this kind is switched on.
    ///
    /// # Errors
    /// `UnsupportedOperation` for [`Switch::Compaction`], which each region server has, and for
    /// [`Switch::ExceedThrottleQuota`], which can only be set.
    pub async fn is_switched_on(&self, switch: Switch) -> Result<bool> {
        let answer: pb::SwitchResponse = match way(switch) {
            Way::Methods(is_on, _) => self.call(is_on, &pb::Empty {}).await?,
            Way::Type(switch_type) => {
                let request = pb::IsSplitOrMergeEnabledRequest { switch_type };
                self.call("IsSplitOrMergeEnabled", &request).await?
            }
            Way::OnlySet(_) => return Err(unsupported("no server reports this switch")),
            Way::Servers => return Err(of_servers()),
        };
        Ok(answer.value.unwrap_or(false))
    }

    /// Switches work of this kind on or off. Returns whether it was on.
    ///
    /// # Errors
    /// `UnsupportedOperation` for [`Switch::Compaction`].
    pub async fn set_switch(&self, switch: Switch, on: bool) -> Result<bool> {
        match way(switch) {
            Way::Methods(_, set) | Way::OnlySet(set) => {
                let request = pb::SwitchRequest { on, synchronous: Some(false) };
                let answer: pb::SwitchResponse = self.call(set, &request).await?;
                Ok(answer.value.unwrap_or(false))
            }
            Way::Type(switch_type) => {
                let request = pb::SetSplitOrMergeEnabledRequest {
                    enabled: on,
                    synchronous: Some(false),
                    switch_types: vec![switch_type],
                };
                let answer: pb::SetSplitOrMergeEnabledResponse =
                    self.call("SetSplitOrMergeEnabled", &request).await?;
                Ok(answer.prev_value.first().copied().unwrap_or(false))
            }
            Way::Servers => Err(of_servers()),
        }
    }
}

fn of_servers() -> Error {
    unsupported("each region server has a switch of its own for compactions")
}

fn unsupported(message: &str) -> Error {
    Error::new(Exception::UnsupportedOperation, message)
}
