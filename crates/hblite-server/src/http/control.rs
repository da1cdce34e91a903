//! Routes that change something.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use hblite_model::bytes::from_string_binary;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Admin, Refused};
use crate::fault_control::Faults;
use crate::faults::{FaultRule, FaultStatus};

pub(super) type Answer = Result<Json<Value>, Refused>;

/// A body that must be JSON.
pub(super) fn body<T>(body: Result<Json<T>, JsonRejection>) -> Result<T, Refused> {
    body.map(|Json(body)| body).map_err(|error| Refused::new(error.status(), error.body_text()))
}

pub(super) fn fault_json(fault: &FaultStatus) -> Value {
    json!({
        "id": fault.id,
        "fault": fault.rule,
        "seen": fault.seen,
        "happened": fault.happened,
    })
}

pub(super) async fn list(State(admin): State<Admin>) -> Json<Value> {
    Json(admin.faults.list().iter().map(fault_json).collect())
}

pub(super) async fn set(
    State(admin): State<Admin>,
    rule: Result<Json<FaultRule>, JsonRejection>,
) -> Answer {
    let id = admin.faults.set(body(rule)?)?;
    Ok(Json(json!({ "id": id })))
}

pub(super) async fn clear_all(State(admin): State<Admin>) -> Json<Value> {
    admin.faults.clear_all();
    Json(json!({}))
}

pub(super) async fn clear(State(admin): State<Admin>, Path(id): Path<u64>) -> Answer {
    if admin.faults.clear(id) {
        return Ok(Json(json!({})));
    }
    Err(Refused::new(StatusCode::NOT_FOUND, format!("no fault has the number {id}")))
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

pub(super) async fn region(
    State(admin): State<Admin>,
    Path((name, action)): Path<(String, String)>,
    details: Result<Json<Details>, JsonRejection>,
) -> Answer {
    let details = body(details)?;
    in_background(admin, move |faults| {
        match (action.as_str(), details) {
            ("move", Details { server: Some(server), row: None, reassign_after_ms: None }) => {
                faults.move_region(&name, server)?;
            }
            ("move", _) => return Err(bad("move takes {\"server\": number}")),
            ("split", Details { row, server: None, reassign_after_ms: None }) => {
                let row = row.as_deref().map(from_string_binary);
                faults.split_region(&name, row.as_deref())?;
            }
            ("split", _) => return Err(bad("split takes {} or {\"row\": \"...\"}")),
            ("assign", _) => faults.assign_region(&name)?,
            ("unassign", _) => faults.unassign_region(&name)?,
            _ => return Err(bad("regions can move, split, assign and unassign")),
        }
        Ok(json!({}))
    })
    .await
}

pub(super) async fn server(
    State(admin): State<Admin>,
    Path((server, action)): Path<(usize, String)>,
    details: Result<Json<Details>, JsonRejection>,
) -> Answer {
    let details = body(details)?;
    in_background(admin, move |faults| match (action.as_str(), details) {
        ("crash", Details { reassign_after_ms, server: None, row: None }) => {
            let crash = faults.crash(server, reassign_after_ms.map(Duration::from_millis))?;
            Ok(json!({ "regions": crash.regions, "log_entries": crash.log_entries }))
        }
        ("crash", _) => Err(bad("crash takes {} or {\"reassign_after_ms\": number}")),
        ("restart", _) => {
            faults.restart(server)?;
            Ok(json!({}))
        }
        _ => Err(bad("servers can crash and restart")),
    })
    .await
}

pub(super) fn bad(message: &str) -> Refused {
    Refused::new(StatusCode::BAD_REQUEST, message)
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
    done.map_err(failed)?.map(Json)
}
