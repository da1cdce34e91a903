//! A calibration: what a cluster was measured to do, as a file, and the model that follows from it.
//!
//! A call alone takes T. One server answers X calls a second, all N servers together Y; all are
//! medians of the rounds. A server then has ⌊X·T⌋ handlers, at least one, and a call occupies one
//! of them for S = handlers / X. If Y is less than 90 % of N·X, the servers share something, such
//! as the processors of one machine, which a call occupies for 1 / Y. What is left of T passes
//! outside of both.

use std::fmt;
use std::ops::RangeInclusive;

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::simulate::{CallTimes, Kind, Service, ServiceTime};

/// The version of the format.
const VERSION: u32 = 1;
/// Servers share nothing if together they do at least this part of what each does alone.
const INDEPENDENT: f64 = 0.9;
/// The shortest service time, as a part of the mean.
const SHORTEST: f64 = 0.1;
const ROUNDS_MAX: usize = 1_000;
const TIMES_MAX: usize = 100_000;
/// The rates a second that a file may have.
const RATES: RangeInclusive<f64> = 0.001..=1e9;
/// The times that a file may have, in microseconds: up to a thousand seconds.
const TIMES_US: RangeInclusive<f64> = 1e-3..=1e9;
/// The most clients that a calibration has.
pub(super) const CLIENTS_MAX: usize = 256;
/// The most region servers of a calibration.
pub(super) const SERVERS_MAX: usize = 10_000;

/// What a cluster was measured to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    #[serde(rename = "hblite-calibration")]
    version: u32,
    /// Region servers.
    pub servers: usize,
    /// Clients of one server.
    pub clients_of_one: usize,
    /// Clients of all servers.
    pub clients_of_all: usize,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// The same measurements, repeated.
    pub rounds: Vec<Round>,
}

/// One of the repeated measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// Of puts.
    pub write: Observed,
    /// Of gets.
    pub read: Observed,
}

/// What was measured with one kind of call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// Times of calls, one after another with pauses, in microseconds.
    pub alone_us: Vec<f64>,
    /// Calls a second that one server answered.
    pub one_server: f64,
    /// Calls a second that all servers together answered.
    pub all_servers: f64,
}

/// Why a text is not a calibration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadCalibration(String);

impl fmt::Display for BadCalibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a calibration of 'hblite hotspot calibrate': {}", self.0)
    }
}

impl std::error::Error for BadCalibration {}

/// What the simulation has to know of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Handlers of a server.
    pub handlers: usize,
    /// How long a call occupies one.
    pub service: Service,
    /// How long a call occupies what the servers share.
    pub shared: CallTimes,
    /// How long a call takes in addition.
    pub outside: CallTimes,
}

impl Calibration {
    /// A calibration of these measurements.
    pub fn new(
        servers: usize,
        (clients_of_one, clients_of_all): (usize, usize),
        value_bytes: usize,
        rounds: Vec<Round>,
    ) -> Self {
        Self { version: VERSION, servers, clients_of_one, clients_of_all, value_bytes, rounds }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// [`BadCalibration`] with the field that is wrong.
    pub fn parse(text: &str) -> Result<Self, BadCalibration> {
        #[derive(Deserialize)]
        struct Versioned {
            #[serde(rename = "hblite-calibration")]
            version: u32,
        }
        let wrong = |error: serde_json::Error| BadCalibration(error.to_string());
        let Versioned { version } = serde_json::from_str(text).map_err(wrong)?;
        if version != VERSION {
            return Err(BadCalibration(format!(
                "hblite-calibration is {version}; this hblite reads version {VERSION}"
            )));
        }
        let calibration: Self = serde_json::from_str(text).map_err(wrong)?;
        calibration.check().map_err(BadCalibration)?;
        Ok(calibration)
    }

    /// The file's text.
    pub fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("these types are text as JSON, and their keys are names") + "\n"
    }

    fn check(&self) -> Result<(), String> {
        let within = |name: &str, value: usize, most: usize| match (1..=most).contains(&value) {
            true => Ok(()),
            false => Err(format!("{name} is {value}, and not 1 to {most}")),
        };
        within("servers", self.servers, SERVERS_MAX)?;
        within("clients_of_one", self.clients_of_one, CLIENTS_MAX)?;
        within("clients_of_all", self.clients_of_all, CLIENTS_MAX)?;
        within("the number of rounds", self.rounds.len(), ROUNDS_MAX)?;
        let possible = |name: String, value: f64, range: RangeInclusive<f64>| {
            let (least, most) = (range.start(), range.end());
            match range.contains(&value) {
                true => Ok(()),
                false => Err(format!("{name} is {value}, and not {least} to {most}")),
            }
        };
        for (index, round) in self.rounds.iter().enumerate() {
            for (kind, observed) in [("write", &round.write), ("read", &round.read)] {
                let name = |field: &str| format!("rounds[{index}].{kind}.{field}");
                let times = name("alone_us");
                within(&format!("the length of {times}"), observed.alone_us.len(), TIMES_MAX)?;
                for (place, time) in observed.alone_us.iter().enumerate() {
                    possible(format!("{times}[{place}]"), *time, TIMES_US)?;
                }
                possible(name("one_server"), observed.one_server, RATES)?;
                possible(name("all_servers"), observed.all_servers, RATES)?;
            }
        }
        Ok(())
    }

    /// The model of all rounds.
    pub fn model(&self) -> Model {
        self.model_of(&self.rounds.iter().collect::<Vec<_>>())
    }

    /// The model of as many rounds, drawn with repetition.
    pub(super) fn drawn(&self, random: &mut Xoshiro256PlusPlus) -> Model {
        let count = self.rounds.len();
        let rounds = (0..count).map(|_| &self.rounds[random.random_range(0..count)]);
        self.model_of(&rounds.collect::<Vec<_>>())
    }

    fn model_of(&self, rounds: &[&Round]) -> Model {
        let writes = Totals::of(rounds.iter().map(|round| &round.write));
        let reads = Totals::of(rounds.iter().map(|round| &round.read));
        let servers = self.servers as f64;
        let shared_us = |totals: &Totals| match totals.all_servers {
            all if all < INDEPENDENT * servers * totals.one_server => 1e6 / all,
            _ => 0.0,
        };
        // The server's part of a call that does not wait is at most this.
        let at_most = |totals: &Totals| (totals.alone_us - shared_us(totals)).max(0.0);
        let in_progress = |totals: &Totals| totals.one_server * at_most(totals) / 1e6;
        let handlers = in_progress(&writes).min(in_progress(&reads)).floor();
        let handlers = (handlers as usize).clamp(1, self.clients_of_one);
        let service_us = |totals: &Totals| handlers as f64 * 1e6 / totals.one_server;
        let outside_us = |totals: &Totals| (at_most(totals) - service_us(totals)).max(0.0);
        let nanos = |micros: f64| (micros * 1e3).round() as u64;
        let times = |micros: &dyn Fn(&Totals) -> f64| CallTimes {
            write_ns: nanos(micros(&writes)),
            read_ns: nanos(micros(&reads)),
        };
        Model {
            handlers,
            service: Service {
                write: writes.service(service_us(&writes)),
                read: reads.service(service_us(&reads)),
            },
            shared: times(&shared_us),
            outside: times(&outside_us),
        }
    }

    /// Medians of all rounds: the time of a call alone in microseconds, and what one server and all
    /// servers answer a second.
    pub fn summary(&self, kind: Kind) -> (f64, f64, f64) {
        let totals = Totals::of(self.rounds.iter().map(|round| match kind {
            Kind::Write => &round.write,
            Kind::Read => &round.read,
        }));
        (totals.alone_us, totals.one_server, totals.all_servers)
    }
}

/// The middle one of numbers in order.
fn median(ordered: &[f64]) -> f64 {
    ordered.get(ordered.len() / 2).copied().unwrap_or(1.0)
}

/// What several rounds say of one kind of call.
struct Totals {
    times_us: Vec<f64>,
    /// The median of the times: a few long ones are pauses, not work.
    alone_us: f64,
    one_server: f64,
    all_servers: f64,
}

impl Totals {
    fn of<'o>(observed: impl Iterator<Item = &'o Observed> + Clone) -> Self {
        let mut times_us: Vec<f64> =
            observed.clone().flat_map(|observed| observed.alone_us.iter().copied()).collect();
        times_us.sort_by(f64::total_cmp);
        // Medians: other work on the machine slows single rounds.
        let rate = |of: fn(&Observed) -> f64| {
            let mut rates: Vec<f64> = observed.clone().map(of).collect();
            rates.sort_by(f64::total_cmp);
            median(&rates)
        };
        Self {
            alone_us: median(&times_us),
            one_server: rate(|observed| observed.one_server),
            all_servers: rate(|observed| observed.all_servers),
            times_us,
        }
    }

    /// The times alone, moved so that what is not the server's falls away, with this mean.
    fn service(&self, mean_us: f64) -> ServiceTime {
        let other_us = (self.alone_us - mean_us).max(0.0);
        let shortest_us = SHORTEST * mean_us;
        let own_us = self.times_us.iter().map(|time_us| (time_us - other_us).max(shortest_us));
        let sum_us: f64 = own_us.clone().sum();
        let scale = mean_us * self.times_us.len() as f64 / sum_us;
        ServiceTime::Measured(own_us.map(|time_us| (time_us * scale * 1e3) as u64).collect())
    }
}
