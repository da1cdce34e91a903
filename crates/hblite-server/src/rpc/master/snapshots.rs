//! Takes, lists, clones, restores and deletes snapshots.

use std::time::Duration;

use hblite_model::{
    ColumnFamilyDescriptor, Error, Exception, FailSafeSnapshot, Result, SnapshotDescription,
    SnapshotOptions, TableDescriptor, TableName, TableState,
};
use hblite_wire::exception::class;
use hblite_wire::{RemoteException, pb};

use super::tables::{FILE_TRACKER, check_file_tracker};
use super::{Method, nonce, procedure, run};
use crate::cluster::Cluster;
use crate::rpc::call::{Answer, Call};

/// `SnapshotDescription.Type` of a snapshot without memory.
const SKIP_FLUSH: i32 = 2;
/// The layout that HBase 2 gives its snapshots (`SnapshotManifestV2`).
const VERSION: i32 = 2;
/// How long a client waits for a snapshot, in milliseconds
/// (`hbase.snapshot.master.timeout.millis`).
const EXPECTED_TIMEOUT_MS: i64 = 300_000;
/// HBase treats a longer time to live, in seconds, as none.
const TIME_TO_LIVE_MAX_S: i64 = i64::MAX / 1_000;

pub(super) fn method(name: &str) -> Option<Method> {
    Some(match name {
        "Snapshot" => take,
        "IsSnapshotDone" => is_done,
        "GetCompletedSnapshots" => list,
        "DeleteSnapshot" => delete,
        "RestoreSnapshot" => restore,
        _ => return None,
    })
}

fn take(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::SnapshotRequest = call.parameter()?;
    let snapshot = &request.snapshot;
    let table = table_of(snapshot)?;
    let positive = |number: Option<i64>| {
        number.and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0)
    };
    let time_to_live = positive(snapshot.ttl.filter(|ttl| *ttl <= TIME_TO_LIVE_MAX_S));
    let options = SnapshotOptions::default()
        .with_skip_flush(snapshot.r#type == Some(SKIP_FLUSH))
        .with_time_to_live(time_to_live.map(Duration::from_secs))
        .with_max_file_size_bytes(positive(snapshot.max_file_size));
    let nonce = nonce(request.nonce_group, request.nonce);
    let id = run(cluster, nonce, || {
        cluster.engine.procedures().snapshot(&snapshot.name, &table, &options)
    })?;
    call.answer(&pb::SnapshotResponse {
        expected_timeout: EXPECTED_TIMEOUT_MS,
        // Clients before 2.6 send no nonce; they poll whether the snapshot is done.
        proc_id: nonce.map(|_| id),
    })
}

fn table_of(snapshot: &pb::SnapshotDescription) -> Result<TableName> {
    let table = snapshot.table.as_deref().ok_or_else(|| {
        Error::illegal_argument("Descriptor doesn't apply to a table, so we can't build it.")
    })?;
    table.parse()
}

fn find(cluster: &Cluster, name: &str) -> Result<Option<SnapshotDescription>> {
    let snapshots = cluster.engine.procedures().list_snapshots()?;
    Ok(snapshots.into_iter().find(|snapshot| snapshot.name == name))
}

fn is_done(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::IsSnapshotDoneRequest = call.parameter()?;
    let Some(asked) = request.snapshot else {
        let message = "No snapshot name passed in request, can't figure out which snapshot you \
                       want to check.";
        return Err(RemoteException::new(class::UNKNOWN_SNAPSHOT, message));
    };
    let Some(found) = find(cluster, &asked.name)? else {
        let message = format!(
            "Snapshot {} is not currently running or one of the known completed snapshots.",
            text(&asked)
        );
        return Err(RemoteException::new(class::UNKNOWN_SNAPSHOT, message));
    };
    call.answer(&pb::IsSnapshotDoneResponse { done: Some(true), snapshot: Some(message(&found)) })
}

/// As HBase writes the description in a request.
fn text(snapshot: &pb::SnapshotDescription) -> String {
    let kind = match snapshot.r#type {
        Some(0) => "DISABLED",
        Some(SKIP_FLUSH) => "SKIPFLUSH",
        _ => "FLUSH",
    };
    let table = snapshot.table.as_deref().unwrap_or_default();
    let ttl = snapshot.ttl.unwrap_or(0);
    format!("{{ ss={} table={table} type={kind} ttl={ttl} }}", snapshot.name)
}

fn message(snapshot: &SnapshotDescription) -> pb::SnapshotDescription {
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    pb::SnapshotDescription {
        name: snapshot.name.clone(),
        table: Some(snapshot.table.to_string()),
        creation_time: Some(snapshot.created_at_ms),
        r#type: Some(snapshot.kind as i32),
        version: Some(VERSION),
        // HBase records an owner only if authorization is on.
        owner: None,
        ttl: Some(signed(snapshot.time_to_live.map_or(0, |time| time.as_secs()))),
        max_file_size: snapshot.max_file_size_bytes.map(signed),
    }
}

fn list(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let snapshots = cluster.engine.procedures().list_snapshots()?.iter().map(message).collect();
    call.answer(&pb::SnapshotListResponse { snapshots })
}

fn delete(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::DeleteSnapshotRequest = call.parameter()?;
    cluster.engine.procedures().delete_snapshot(&request.snapshot.name)?;
    call.answer_empty()
}

/// Restores the table in the request if it exists, and clones the snapshot otherwise.
fn restore(cluster: &Cluster, call: &Call<'_>) -> Answer {
    let request: pb::RestoreSnapshotRequest = call.parameter()?;
    let (name, table) = (&request.snapshot.name, table_of(&request.snapshot)?);
    let tracker = request.custom_sft.filter(|tracker| !tracker.is_empty());
    procedure(cluster, call, nonce(request.nonce_group, request.nonce), || {
        let found = find(cluster, name)?;
        if found.is_some_and(|found| found.table == table)
            && cluster.engine.catalog().table_exists(&table)
        {
            check_disabled(cluster, &table)?;
            // Clients take the fail-safe snapshot themselves.
            return cluster.engine.procedures().restore_snapshot(name, FailSafeSnapshot::Skip);
        }
        let Some(tracker) = &tracker else {
            return cluster.engine.procedures().clone_snapshot(name, &table, &Ok);
        };
        check_file_tracker(tracker).map_err(|_| no_such_class(tracker))?;
        cluster
            .engine
            .procedures()
            .clone_snapshot(name, &table, &|table| with_tracker(table, tracker))
    })
}

/// The error that HBase's procedure runs into when it creates the new table.
fn no_such_class(name: &str) -> Error {
    let message = format!(
        "java.lang.RuntimeException: java.lang.RuntimeException: \
         java.lang.ClassNotFoundException: Class {name} not found"
    );
    Error::invalid_argument(Exception::Io, message)
}

fn check_disabled(cluster: &Cluster, table: &TableName) -> Result<()> {
    if cluster.engine.catalog().table_state(table)? != TableState::Enabled {
        return Ok(());
    }
    let message =
        format!("Table '{table}' must be disabled in order to perform a restore operation.");
    Err(Error::new(Exception::UnsupportedOperation, message))
}

/// The same settings, except for the store file tracker, which applies to the whole table.
fn with_tracker(mut table: TableDescriptor, tracker: &str) -> Result<TableDescriptor> {
    table.set_attribute(FILE_TRACKER, tracker)?;
    let families: Vec<ColumnFamilyDescriptor> = table.families().cloned().collect();
    let without = |family: ColumnFamilyDescriptor| {
        let mut attributes = family.attributes().clone();
        let mut configuration = family.configuration().clone();
        attributes.remove(FILE_TRACKER);
        configuration.remove(FILE_TRACKER);
        ColumnFamilyDescriptor::from_parts(family.name().to_vec(), attributes, configuration)
    };
    Ok(families.into_iter().map(without).fold(table, TableDescriptor::with_family))
}
