//! Routes for checkpoints, forks and the clock.

use hblite::ClockMode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Admin;
use super::control::on_thread;
use super::message::{Answer, Refused};
use crate::state_control::{ForkStatus, StateControl};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewCheckpoint {
    name: String,
}

pub(super) fn checkpoints(admin: &Admin) -> Answer {
    Ok(json!({ "checkpoints": admin.state.checkpoints()? }))
}

pub(super) async fn checkpoint(admin: Admin, NewCheckpoint { name }: NewCheckpoint) -> Answer {
    on_thread(move || {
        admin.state.checkpoint(&name)?;
        Ok(json!({ "name": name }))
    })
    .await
}

pub(super) async fn rewind(admin: Admin, name: &str) -> Answer {
    let name = name.to_owned();
    on_thread(move || {
        admin.state.rewind(&name)?;
        Ok(json!({ "name": name }))
    })
    .await
}

pub(super) async fn delete_checkpoint(admin: Admin, name: &str) -> Answer {
    let name = name.to_owned();
    on_thread(move || match admin.state.delete_checkpoint(&name)? {
        true => Ok(json!({})),
        false => Err(Refused::not_found(format!("there is no checkpoint {name:?}"))),
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

pub(super) fn forks(admin: &Admin) -> Value {
    let forks: Value = admin.state.forks().iter().map(fork_json).collect();
    json!({ "forks": forks })
}

pub(super) async fn fork(admin: Admin, NewFork { checkpoint }: NewFork) -> Answer {
    on_thread(move || Ok(fork_json(&admin.state.open_fork(&checkpoint)?))).await
}

pub(super) async fn close_fork(admin: Admin, id: u64) -> Answer {
    on_thread(move || match admin.state.close_fork(id) {
        true => Ok(json!({})),
        false => Err(Refused::not_found(format!("no fork has the number {id}"))),
    })
    .await
}

pub(super) async fn close_forks(admin: Admin) -> Answer {
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

pub(super) fn clock(admin: &Admin) -> Answer {
    clock_json(&admin.state)
}

fn clock_json(state: &StateControl) -> Answer {
    let mode = match state.clock()? {
        ClockMode::Real => "real",
        ClockMode::Manual(_) => "manual",
        ClockMode::Offset(_) => "offset",
    };
    Ok(json!({ "mode": mode, "now_ms": state.now_millis() }))
}

pub(super) async fn set_clock(admin: Admin, new: NewClock) -> Answer {
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
            _ => return Err(Refused::bad(
                "say one of {\"mode\": \"real\", \"manual\" or \"offset\"}, {\"now_ms\": number}, \
                 {\"advance_ms\": number}",
            )),
        }
        clock_json(state)
    })
    .await
}
