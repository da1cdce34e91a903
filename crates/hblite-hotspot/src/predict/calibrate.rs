//! Measures what a cluster does, with a table of its own.
//!
//! First the cluster is warmed up, and clients are added to one server until it does no more. Then
//! each round measures, with puts and with gets, one client, one server with that many clients, and
//! all servers with that many clients each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hblite::{Connection, Table};

use super::calibration::{CLIENTS_MAX, Calibration, Observed, Round};
use super::clients::{send, with_clients};
use super::table::{PlacedTable, servers};
use crate::mix::mixed;
use crate::run::RunError;
use crate::simulate::Kind;

const NAME: &str = "hblite_hotspot_calibration";
const ROUNDS: usize = 5;
/// Rows of each server.
const ROWS: u64 = 500;
/// Times of single calls that a round keeps.
const TIMES_MAX: usize = 1_000;
/// Parts of the whole time: six in each round, as many for the warm-up, and one for each number of
/// clients that is tried.
const PARTS: u32 = 6 * (ROUNDS as u32 + 1) + 9;
/// The pause between calls of one client, as between requests that come one by one.
const PAUSE: Duration = Duration::from_millis(4);
/// More clients are of use while they add this much.
const GAIN: f64 = 1.1;

/// How a cluster is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct CalibrateOptions {
    /// The most clients of one server.
    pub clients: usize,
    /// About how long it takes, in seconds.
    pub seconds: f64,
    /// Bytes of a value.
    pub value_bytes: usize,
}

impl Default for CalibrateOptions {
    fn default() -> Self {
        Self { clients: 64, seconds: 60.0, value_bytes: 100 }
    }
}

hblite_model::setters! { CalibrateOptions:
    with_clients sets clients: usize;
    with_seconds sets seconds: f64;
    with_value_bytes sets value_bytes: usize;
}

impl CalibrateOptions {
    fn check(&self) -> Result<(), RunError> {
        let rules = [
            ((1..=CLIENTS_MAX).contains(&self.clients), "--clients is 1 to 256"),
            ((1.0..=3600.0).contains(&self.seconds), "--seconds is 1 to 3600"),
            (self.value_bytes <= 1 << 20, "--value-bytes is at most 1048576"),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(RunError::Settings((*rule).to_owned())),
            None => Ok(()),
        }
    }
}

/// Measures a cluster. It gets a table `hblite_hotspot_calibration`, which must not exist, and
/// which is dropped at the end, also after an error.
///
/// # Errors
/// [`RunError::Settings`] for a setting out of range or if regions do not stay where they are put,
/// [`RunError::Design`] if the table exists, and those of the cluster.
pub fn calibrate(
    cluster: &Connection,
    options: &CalibrateOptions,
) -> Result<Calibration, RunError> {
    options.check()?;
    let servers = servers(cluster)?;
    let splits: Vec<Vec<u8>> = (1..servers.len() as u32).map(|i| i.to_be_bytes().into()).collect();
    let placed = PlacedTable::create(cluster, NAME, &splits, &servers)?;
    let probe = Probe {
        table: placed.table(),
        value: vec![b'x'; options.value_bytes],
        part: Duration::from_secs_f64(options.seconds / f64::from(PARTS)),
    };
    let all = servers.len();
    probe.fill(all, options.clients)?;
    let warm = |_| probe.rate(all, options.clients, Kind::Write).map(drop);
    (0..3).try_for_each(warm)?;
    (0..3).try_for_each(|_| probe.rate(all, options.clients, Kind::Read).map(drop))?;
    let clients = probe.enough_clients(options.clients)?;
    // Servers that are loaded together have as many clients each.
    let together = all.min(CLIENTS_MAX / clients).max(1);
    let counts = (clients, clients * together);
    let observe = |kind| {
        Ok::<_, RunError>(Observed {
            alone_us: probe.alone(kind)?,
            one_server: probe.rate(1, clients, kind)?,
            all_servers: probe.rate(together, counts.1, kind)?,
        })
    };
    let round = |_| Ok(Round { write: observe(Kind::Write)?, read: observe(Kind::Read)? });
    let rounds = (0..ROUNDS).map(round).collect::<Result<_, RunError>>()?;
    placed.remove()?;
    Ok(Calibration::new(together, counts, options.value_bytes, rounds))
}

/// Sends calls to the table of the calibration.
struct Probe<'t> {
    table: &'t Table,
    value: Vec<u8>,
    /// How long a measurement takes.
    part: Duration,
}

impl Probe<'_> {
    /// Writes all rows.
    fn fill(&self, servers: usize, clients: usize) -> Result<(), RunError> {
        with_clients(clients, |client, has_failed| {
            for number in (client as u64..ROWS * servers as u64).step_by(clients) {
                if has_failed.load(Ordering::Relaxed) {
                    break;
                }
                let (server, number) = (number / ROWS, number % ROWS);
                send(self.table, Kind::Write, &row(server as usize, number), &self.value)?;
            }
            Ok(())
        })
        .map(drop)
    }

    /// The number of clients with which one server does as much as it can: doubled until it does
    /// no more.
    fn enough_clients(&self, most: usize) -> Result<usize, RunError> {
        let (mut clients, mut best) = (1, self.rate(1, 1, Kind::Write)?);
        while clients < most {
            let more = (clients * 2).min(most);
            let rate = self.rate(1, more, Kind::Write)?;
            clients = more;
            if rate < best * GAIN {
                break;
            }
            best = rate;
        }
        Ok(clients)
    }

    /// Times of calls of one client with pauses, in microseconds. Threads that have nothing to do
    /// for a while take longer to begin, so a time counts from the end of the pause.
    fn alone(&self, kind: Kind) -> Result<Vec<f64>, RunError> {
        let (began, mut times_us) = (Instant::now(), Vec::new());
        while times_us.is_empty() || began.elapsed() < self.part {
            let due = Instant::now() + PAUSE;
            std::thread::sleep(PAUSE);
            let row = row(0, mixed(times_us.len() as u64) % ROWS);
            send(self.table, kind, &row, &self.value)?;
            times_us.push((due.elapsed().as_nanos() as f64 / 1e3).max(0.001));
        }
        // The same number from all parts of the time.
        let step = times_us.len().div_ceil(TIMES_MAX);
        Ok(times_us.into_iter().step_by(step).collect())
    }

    /// Calls a second of all clients. Each of them sends to one of the first servers.
    fn rate(&self, servers: usize, clients: usize, kind: Kind) -> Result<f64, RunError> {
        let began = Instant::now();
        let counts = with_clients(clients, |client, has_failed: &AtomicBool| {
            let mut count = 0_u64;
            while count == 0 || began.elapsed() < self.part {
                if has_failed.load(Ordering::Relaxed) {
                    break;
                }
                let number = mixed(count ^ mixed(client as u64)) % ROWS;
                send(self.table, kind, &row(client % servers, number), &self.value)?;
                count += 1;
            }
            Ok(count)
        })?;
        let seconds = began.elapsed().as_secs_f64();
        Ok(counts.iter().sum::<u64>() as f64 / seconds.max(1e-9))
    }
}

/// A row of a server's region.
fn row(server: usize, number: u64) -> Vec<u8> {
    let mut row = (server as u32).to_be_bytes().to_vec();
    row.extend(mixed(number).to_be_bytes());
    row
}
