//! The rule of a fault: its effect, the calls it applies to, and how often.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use hblite_model::{Error, Result};
use serde::{Deserialize, Serialize};

use super::exception;
use crate::role::Role;

/// Maximum delay: for a client, an hour is forever.
const DELAY_MAX: Duration = Duration::from_secs(3_600);

/// What happens to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultAction {
    /// It gets an exception of this class and is not executed. A short name such as
    /// `NotServingRegionException`; [`FaultRule::exceptions`] lists all.
    Error(String),
    /// It waits for a time between these two, and is then executed.
    Delay(Duration, Duration),
    /// Its connection is closed, and it is not executed.
    DropBefore,
    /// It is executed; then its connection is closed without an answer.
    DropAfter,
}

/// A server of the cluster in a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultServer {
    /// The master.
    Master,
    /// A region server by its number, from 0.
    RegionServer(usize),
}

impl FaultServer {
    pub(super) fn is(self, role: Role) -> bool {
        match (self, role) {
            (Self::Master, Role::Master) => true,
            (Self::RegionServer(number), Role::RegionServer(other)) => number == other,
            _ => false,
        }
    }
}

impl fmt::Display for FaultServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Master => f.write_str("master"),
            Self::RegionServer(number) => write!(f, "{number}"),
        }
    }
}

impl FromStr for FaultServer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "master" => Ok(Self::Master),
            number => number.parse().map(Self::RegionServer).map_err(|_| {
                let message = format!("a server is \"master\" or a number from 0, not {text:?}");
                Error::illegal_argument(message)
            }),
        }
    }
}

/// A fault, in effect until it is cleared.
///
/// Empty lists match everything. hbase:meta matches only if `tables` or `regions` names it, so that
/// a client's lookups do not use up a count.
///
/// ```
/// use hblite_server::{FaultAction, FaultRule};
/// let rule = FaultRule::new(FaultAction::Error("RegionTooBusyException".to_owned()))
///     .methods(["Multi", "Mutate"])
///     .table("orders")
///     .rate(0.2)
///     .count(50);
/// # assert!(rule.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FaultRule {
    /// What happens.
    pub action: FaultAction,
    /// Names of RPC methods: `Get`, `Mutate`, `Multi`, `Scan`, `CreateTable`...
    pub methods: Vec<String>,
    /// Names of tables. With these only calls that name a region match.
    pub tables: Vec<String>,
    /// Encoded names of regions.
    pub regions: Vec<String>,
    /// Servers that are called.
    pub servers: Vec<FaultServer>,
    /// The fraction of the calls that it affects, 0 to 1. Default 1.
    pub rate: f64,
    /// Number of calls that pass before it happens for the first time. Default 0.
    pub skip: u64,
    /// Maximum number of times that it happens; `None`, the default, for no limit.
    pub count: Option<u64>,
    /// Decides which calls it affects, if not all: the same seed chooses the same calls of a
    /// sequence. Default: the fault's number.
    pub seed: Option<u64>,
}

impl FaultRule {
    /// `action` for every call.
    pub fn new(action: FaultAction) -> Self {
        Self {
            action,
            methods: Vec::new(),
            tables: Vec::new(),
            regions: Vec::new(),
            servers: Vec::new(),
            rate: 1.0,
            skip: 0,
            count: None,
            seed: None,
        }
    }

    /// Only for these methods.
    #[must_use]
    pub fn methods<S: Into<String>>(mut self, methods: impl IntoIterator<Item = S>) -> Self {
        self.methods.extend(methods.into_iter().map(Into::into));
        self
    }

    /// Only for this table; more than one may be named.
    #[must_use]
    pub fn table(mut self, table: impl Into<String>) -> Self {
        self.tables.push(table.into());
        self
    }

    /// Only for the region with this encoded name; more than one may be named.
    #[must_use]
    pub fn region(mut self, encoded_name: impl Into<String>) -> Self {
        self.regions.push(encoded_name.into());
        self
    }

    /// Only on this server; more than one may be named.
    #[must_use]
    pub fn server(mut self, server: FaultServer) -> Self {
        self.servers.push(server);
        self
    }

    /// Only for this fraction of the calls, 0 to 1.
    #[must_use]
    pub fn rate(self, rate: f64) -> Self {
        Self { rate, ..self }
    }

    /// Not for the first `skip` calls.
    #[must_use]
    pub fn skip(self, skip: u64) -> Self {
        Self { skip, ..self }
    }

    /// At most for `count` calls.
    #[must_use]
    pub fn count(self, count: u64) -> Self {
        Self { count: Some(count), ..self }
    }

    /// With this seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    /// The short names of the exceptions that a fault can return.
    pub fn exceptions() -> impl Iterator<Item = &'static str> {
        exception::short_names()
    }

    /// Checks the rule.
    ///
    /// # Errors
    /// `IllegalArgument` that says what is wrong.
    pub fn check(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.rate) {
            let message = format!("the rate must be between 0 and 1, not {}", self.rate);
            return Err(Error::illegal_argument(message));
        }
        match &self.action {
            FaultAction::Error(name) => exception::of_name(name).map(drop),
            FaultAction::Delay(from, to) if from > to || *to > DELAY_MAX => {
                let (from, to, max) = (from.as_millis(), to.as_millis(), DELAY_MAX.as_millis());
                let message = format!("a delay of {from} to {to} ms is not within 0 and {max}");
                Err(Error::illegal_argument(message))
            }
            _ => Ok(()),
        }
    }
}

/// A rule in JSON.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Json {
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drop: Option<Drop>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    methods: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tables: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    regions: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    servers: Vec<Server>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    skip: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "milliseconds, or their minimum and maximum: [10, 50]")]
enum Millis {
    One(u64),
    Range(u64, u64),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Drop {
    Before,
    After,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "\"master\" or the number of a region server")]
enum Server {
    Number(usize),
    Name(String),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Serialize for FaultRule {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let millis = |time: &Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut json = Json {
            methods: self.methods.clone(),
            tables: self.tables.clone(),
            regions: self.regions.clone(),
            servers: self.servers.iter().map(|server| Server::of(*server)).collect(),
            rate: (self.rate < 1.0).then_some(self.rate),
            skip: self.skip,
            count: self.count,
            seed: self.seed,
            ..Json::default()
        };
        match &self.action {
            FaultAction::Error(name) => json.error = Some(name.clone()),
            FaultAction::Delay(from, to) if from == to => {
                json.delay_ms = Some(Millis::One(millis(from)));
            }
            FaultAction::Delay(from, to) => {
                json.delay_ms = Some(Millis::Range(millis(from), millis(to)));
            }
            FaultAction::DropBefore => json.drop = Some(Drop::Before),
            FaultAction::DropAfter => json.drop = Some(Drop::After),
        }
        json.serialize(to)
    }
}

impl Server {
    fn of(server: FaultServer) -> Self {
        match server {
            FaultServer::Master => Self::Name(server.to_string()),
            FaultServer::RegionServer(number) => Self::Number(number),
        }
    }
}

impl<'de> Deserialize<'de> for FaultRule {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let json = Json::deserialize(from)?;
        let failed = |error: Error| serde::de::Error::custom(error.message());
        let action = match (json.error, json.delay_ms, json.drop) {
            (Some(name), None, None) => FaultAction::Error(name),
            (None, Some(Millis::One(millis)), None) => {
                FaultAction::Delay(Duration::from_millis(millis), Duration::from_millis(millis))
            }
            (None, Some(Millis::Range(from, to)), None) => {
                FaultAction::Delay(Duration::from_millis(from), Duration::from_millis(to))
            }
            (None, None, Some(Drop::Before)) => FaultAction::DropBefore,
            (None, None, Some(Drop::After)) => FaultAction::DropAfter,
            _ => {
                let message = "a fault has exactly one of \"error\", \"delay_ms\" and \"drop\"";
                return Err(serde::de::Error::custom(message));
            }
        };
        let servers = json.servers.into_iter().map(|server| match server {
            Server::Number(number) => Ok(FaultServer::RegionServer(number)),
            Server::Name(name) => name.parse(),
        });
        let rule = Self {
            action,
            methods: json.methods,
            tables: json.tables,
            regions: json.regions,
            servers: servers.collect::<Result<_>>().map_err(failed)?,
            rate: json.rate.unwrap_or(1.0),
            skip: json.skip,
            count: json.count,
            seed: json.seed,
        };
        rule.check().map_err(failed)?;
        Ok(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_the_same_in_json() {
        for text in [
            r#"{"error":"NotServingRegionException"}"#,
            r#"{"delay_ms":20,"servers":["master",1]}"#,
            r#"{"delay_ms":[5,50],"methods":["Get"],"rate":0.5,"seed":7}"#,
            r#"{"drop":"after","tables":["t"],"regions":["abc"],"skip":2,"count":3}"#,
            r#"{"drop":"before"}"#,
        ] {
            let rule: FaultRule = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&rule).unwrap(), text);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_a_reason() {
        for (text, reason) in [
            ("{}", "exactly one of"),
            (r#"{"error":"IOException","drop":"after"}"#, "exactly one of"),
            (r#"{"error":"SomeException"}"#, "SomeException"),
            (r#"{"drop":"during"}"#, "during"),
            (r#"{"drop":"after","rate":1.5}"#, "1.5"),
            (r#"{"drop":"after","table":["t"]}"#, "table"),
            (r#"{"drop":"after","servers":["slave"]}"#, "slave"),
            (r#"{"delay_ms":[50,5]}"#, "50 to 5 ms"),
            (r#"{"delay_ms":99999999}"#, "99999999"),
            (r#"{"delay_ms":"soon"}"#, "milliseconds"),
        ] {
            let error = serde_json::from_str::<FaultRule>(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
