//! Routes that change something.

use std::time::Duration;

use hblite_model::bytes::from_string_binary;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Admin;
use super::message::{Answer, Refused};
use crate::fault_control::Faults;
use crate::faults::{FaultRule, FaultStatus};

pub(super) fn fault_json(fault: &FaultStatus) -> Value {
    json!({
        "id": fault.id,
        "fault": fault.rule,
        "seen": fault.seen,
        "happened": fault.happened,
    })
}

pub(super) fn list(admin: &Admin) -> Value {
    admin.faults.list().iter().map(fault_json).collect()
}

pub(super) fn set(admin: &Admin, rule: FaultRule) -> Answer {
    Ok(json!({ "id": admin.faults.set(rule)? }))
}

pub(super) fn clear_all(admin: &Admin) -> Value {
    admin.faults.clear_all();
    json!({})
}

pub(super) fn clear(admin: &Admin, id: u64) -> Answer {
    match admin.faults.clear(id) {
        true => Ok(json!({})),
        false => Err(Refused::not_found(format!("no fault has the number {id}"))),
    }
}

/// The fields of all actions; each accepts its own.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Details {
    server: Option<usize>,
    /// As the shell prints it, with `\x00`.
    row: Option<String>,
    reassign_after_ms: Option<u64>,
}

pub(super) async fn region(admin: Admin, name: &str, action: &str, details: Details) -> Answer {
    let (name, action) = (name.to_owned(), action.to_owned());
    in_background(admin, move |faults| {
        match (action.as_str(), details) {
            ("move", Details { server: Some(server), row: None, reassign_after_ms: None }) => {
                faults.move_region(&name, server)?;
            }
            ("move", _) => return Err(Refused::bad("move takes {\"server\": number}")),
            ("split", Details { row, server: None, reassign_after_ms: None }) => {
                let row = row.as_deref().map(from_string_binary);
                faults.split_region(&name, row.as_deref())?;
            }
            ("split", _) => return Err(Refused::bad("split takes {} or {\"row\": \"...\"}")),
            ("assign", _) => faults.assign_region(&name)?,
            ("unassign", _) => faults.unassign_region(&name)?,
            _ => return Err(Refused::bad("regions can move, split, assign and unassign")),
        }
        Ok(json!({}))
    })
    .await
}

pub(super) async fn server(admin: Admin, server: usize, action: &str, details: Details) -> Answer {
    let action = action.to_owned();
    in_background(admin, move |faults| match (action.as_str(), details) {
        ("crash", Details { reassign_after_ms, server: None, row: None }) => {
            let crash = faults.crash(server, reassign_after_ms.map(Duration::from_millis))?;
            Ok(json!({ "regions": crash.regions, "log_entries": crash.log_entries }))
        }
        ("crash", _) => Err(Refused::bad("crash takes {} or {\"reassign_after_ms\": number}")),
        ("restart", _) => {
            faults.restart(server)?;
            Ok(json!({}))
        }
        _ => Err(Refused::bad("servers can crash and restart")),
    })
    .await
}

/// Runs work that may take long on a thread for that.
async fn in_background(
    admin: Admin,
    work: impl FnOnce(&Faults) -> Result<Value, Refused> + Send + 'static,
) -> Answer {
    on_thread(move || work(&admin.faults)).await
}

/// Runs `work` on a thread that may block.
pub(super) async fn on_thread(
    work: impl FnOnce() -> Result<Value, Refused> + Send + 'static,
) -> Answer {
    let done = tokio::task::spawn_blocking(work).await;
    let failed =
        |_| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, "the request failed in the server");
    done.map_err(failed)?
}
