//! Gateways that serve the same store, and whether they only read.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use hblite_wire::read_only::ReadOnly;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::control::{Answer, body};
use super::{Admin, Refused};

/// The gateways by their names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gateways(Arc<Mutex<BTreeMap<&'static str, ReadOnly>>>);

impl Gateways {
    pub(crate) fn attach(&self, name: &'static str, read_only: ReadOnly) {
        self.0.lock().insert(name, read_only);
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Position {
    read_only: bool,
}

pub(super) async fn list(State(admin): State<Admin>) -> Json<Value> {
    let gateways = admin.gateways.0.lock();
    let gateways = gateways
        .iter()
        .map(|(name, read_only)| ((*name).to_owned(), json!({ "read_only": read_only.is_on() })));
    Json(Value::Object(gateways.collect()))
}

pub(super) async fn set(
    State(admin): State<Admin>,
    Path(name): Path<String>,
    position: Result<Json<Position>, JsonRejection>,
) -> Answer {
    let position = body(position)?;
    let gateways = admin.gateways.0.lock();
    let Some(read_only) = gateways.get(name.as_str()) else {
        let message = format!("no gateway has the name {name}; see /gateways");
        return Err(Refused::new(StatusCode::NOT_FOUND, message));
    };
    read_only.set(position.read_only);
    Ok(Json(json!({})))
}
