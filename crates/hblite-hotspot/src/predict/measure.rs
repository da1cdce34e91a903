//! Measures on a cluster what was predicted: the same calls, to a table with the same regions.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use hblite::Connection;

use super::clients::{Sent, drive, send, with_clients};
use super::load::Keyed;
use super::table::{PlacedTable, servers};
use super::{PredictOptions, Trio};
use crate::run::RunError;
use crate::simulate::Kind;

const NAME: &str = "hblite_hotspot_prediction";
/// The calls are sent as fast as possible again until that took this many seconds.
const SATURATED_S: f64 = 3.0;

/// Sends the calls of a candidate at their pace, and then as fast as they are answered. Rows that
/// are read are written before.
pub(super) fn measure(
    cluster: &Connection,
    keyed: &Keyed,
    value_bytes: usize,
    options: &PredictOptions,
) -> Result<Trio, RunError> {
    let servers = servers(cluster)?;
    if servers.len() != options.servers {
        return Err(RunError::Settings(format!(
            "the cluster to measure has {} region servers: --servers is {}",
            servers.len(),
            options.servers
        )));
    }
    let placed = PlacedTable::create(cluster, NAME, &keyed.splits, &servers)?;
    let (table, clients) = (placed.table(), options.clients);
    let value = vec![b'x'; value_bytes];
    let reads = keyed.calls.iter().filter(|call| call.kind == Kind::Read);
    let rows: BTreeSet<&[u8]> = reads.map(|call| call.row.as_slice()).collect();
    let rows: Vec<&[u8]> = rows.into_iter().collect();
    with_clients(clients, |client, has_failed| {
        let own = rows.iter().skip(client).step_by(clients);
        for row in own.take_while(|_| !has_failed.load(Ordering::Relaxed)) {
            send(table, Kind::Write, row, &value)?;
        }
        Ok(())
    })?;
    let paced = drive(table, &keyed.calls, &value, clients, Sent::AtTheirTime(options.pace))?;
    let (mut seconds, mut passes) = (0.0, 0);
    while seconds < SATURATED_S {
        let pass = drive(table, &keyed.calls, &value, clients, Sent::AtOnce)?;
        seconds += keyed.calls.len() as f64 / pass.per_second;
        passes += 1;
    }
    placed.remove()?;
    let per_second = f64::from(passes) * keyed.calls.len() as f64 / seconds;
    Ok(Trio::of(keyed, per_second, &paced.latency))
}
