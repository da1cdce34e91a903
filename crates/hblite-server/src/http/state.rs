//! Routes for checkpoints, forks and the clock.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use hblite::ClockMode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::control::{Answer, bad, body, on_thread};
use super::{Admin, Refused};
use crate::state_control::{ForkStatus, StateControl};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewCheckpoint {
    name: String,
}

pub(super) async fn checkpoints(State(admin): State<Admin>) -> Answer {
    Ok(Json(json!({ "checkpoints": admin.state.checkpoints()? })))
}

pub(super) async fn checkpoint(
    State(admin): State<Admin>,
    new: Result<Json<NewCheckpoint>, JsonRejection>,
) -> Answer {
    let name = body(new)?.name;
    on_thread(move || {
        admin.state.checkpoint(&name)?;
        Ok(json!({ "name": name }))
    })
    .await
}

pub(super) async fn rewind(State(admin): State<Admin>, Path(name): Path<String>) -> Answer {
    on_thread(move || {
        admin.state.rewind(&name)?;
        Ok(json!({ "name": name }))
    })
    .await
}

pub(super) async fn delete_checkpoint(
    State(admin): State<Admin>,
    Path(name): Path<String>,
) -> Answer {
    on_thread(move || match admin.state.delete_checkpoint(&name)? {
        true => Ok(json!({})),
        false => {
            let message = format!("there is no checkpoint {name:?}");
            Err(Refused::new(StatusCode::NOT_FOUND, message))
        }
    })
    .await
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewFork {
    checkpoint: String,
}

fn fork_json(fork: &ForkStatus) -> Value {
    json!({
        "id": fork.id,
        "checkpoint": fork.checkpoint,
        "zookeeper_port": fork.ports.zookeeper,
        "rpc_port": fork.ports.master,
        "region_server_ports": fork.ports.region_servers,
        "http_port": fork.ports.http,
    })
}

pub(super) async fn forks(State(admin): State<Admin>) -> Json<Value> {
    let forks: Value = admin.state.forks().iter().map(fork_json).collect();
    Json(json!({ "forks": forks }))
}

pub(super) async fn fork(
    State(admin): State<Admin>,
    new: Result<Json<NewFork>, JsonRejection>,
) -> Answer {
    let checkpoint = body(new)?.checkpoint;
    on_thread(move || Ok(fork_json(&admin.state.open_fork(&checkpoint)?))).await
}

pub(super) async fn close_fork(State(admin): State<Admin>, Path(id): Path<u64>) -> Answer {
    on_thread(move || match admin.state.close_fork(id) {
        true => Ok(json!({})),
        false => Err(Refused::new(StatusCode::NOT_FOUND, format!("no fork has the number {id}"))),
    })
    .await
}

pub(super) async fn close_forks(State(admin): State<Admin>) -> Answer {
    on_thread(move || {
        admin.state.close_forks();
        Ok(json!({}))
    })
    .await
}

/// The new state of the clock; exactly one of these.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewClock {
    mode: Option<Mode>,
    now_ms: Option<i64>,
    advance_ms: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Real,
    Manual,
    Offset,
}

pub(super) async fn clock(State(admin): State<Admin>) -> Answer {
    clock_json(&admin.state).map(Json)
}

fn clock_json(state: &StateControl) -> Result<Value, Refused> {
    let mode = match state.clock()? {
        ClockMode::Real => "real",
        ClockMode::Manual(_) => "manual",
        ClockMode::Offset(_) => "offset",
    };
    Ok(json!({ "mode": mode, "now_ms": state.now_millis() }))
}

pub(super) async fn set_clock(
    State(admin): State<Admin>,
    new: Result<Json<NewClock>, JsonRejection>,
) -> Answer {
    let new = body(new)?;
    on_thread(move || {
        let state = &admin.state;
        match new {
            NewClock { mode: Some(mode), now_ms: None, advance_ms: None } => match mode {
                Mode::Real => state.set_clock(ClockMode::Real)?,
                Mode::Manual => state.stop_clock()?,
                Mode::Offset => state.start_clock()?,
            },
            NewClock { mode: None, now_ms: Some(millis), advance_ms: None } => {
                state.set_time(millis)?;
            }
            NewClock { mode: None, now_ms: None, advance_ms: Some(millis) } => {
                state.advance_clock(millis)?;
            }
            _ => return Err(bad(
                "say one of {\"mode\": \"real\", \"manual\" or \"offset\"}, {\"now_ms\": number}, \
                 {\"advance_ms\": number}",
            )),
        }
        clock_json(state)
    })
    .await
}
