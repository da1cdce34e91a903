//! Gateways that serve the same store, and whether they only read.

use std::collections::BTreeMap;
use std::sync::Arc;

use hblite_wire::read_only::ReadOnly;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Admin;
use super::message::{Answer, Refused};

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

pub(super) fn list(admin: &Admin) -> Value {
    let gateways = admin.gateways.0.lock();
    let gateways = gateways
        .iter()
        .map(|(name, read_only)| ((*name).to_owned(), json!({ "read_only": read_only.is_on() })));
    Value::Object(gateways.collect())
}

pub(super) fn set(admin: &Admin, name: &str, position: Position) -> Answer {
    let gateways = admin.gateways.0.lock();
    let missing = || Refused::not_found(format!("no gateway has the name {name}; see /gateways"));
    gateways.get(name).ok_or_else(missing)?.set(position.read_only);
    Ok(json!({}))
}
