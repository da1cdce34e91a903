//! Settings of client pushback.

use std::time::Duration;

use hblite_model::{Error, Result};

use crate::setting_value::{boolean, fraction, millis};

/// Whether batches wait before they go to servers and regions that reported a high load. Defaults
/// are HBase's. Servers report it if their own `hbase.client.backpressure.enabled` is true.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PushbackSettings {
    /// Whether the client remembers what servers report. Default false
    /// (`hbase.client.backpressure.enabled`).
    pub is_enabled: bool,
    /// Whether batches wait as HBase's `ExponentialClientBackoffPolicy` lets them, or do not wait.
    /// Default false (`hbase.client.statistics.backoff-policy`, the name of the class).
    pub is_exponential: bool,
    /// The wait at full load. Default 5 min (`hbase.client.exponential-backoff.max`).
    pub backoff_max: Duration,
    /// The used share of a server's memory from which batches wait. Default 0.95
    /// (`hbase.heap.occupancy.low_water_mark`).
    pub heap_low_mark: f64,
    /// The used share at which they wait longest. Default 0.98
    /// (`hbase.heap.occupancy.high_water_mark`).
    pub heap_high_mark: f64,
}

impl Default for PushbackSettings {
    fn default() -> Self {
        Self {
            is_enabled: false,
            is_exponential: false,
            backoff_max: Duration::from_secs(300),
            heap_low_mark: 0.95,
            heap_high_mark: 0.98,
        }
    }
}

impl PushbackSettings {
    /// Sets the setting that HBase calls `name`; false if it is none of these.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        match name {
            "hbase.client.backpressure.enabled" => self.is_enabled = boolean(name, value)?,
            "hbase.client.statistics.backoff-policy" => self.is_exponential = policy(value)?,
            "hbase.client.exponential-backoff.max" => self.backoff_max = millis(name, value)?,
            "hbase.heap.occupancy.low_water_mark" => self.heap_low_mark = fraction(name, value)?,
            "hbase.heap.occupancy.high_water_mark" => self.heap_high_mark = fraction(name, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Whether the class lets batches wait.
fn policy(class: &str) -> Result<bool> {
    match class.rsplit(['.', '$']).next().unwrap_or_default() {
        "ExponentialClientBackoffPolicy" => Ok(true),
        "NoBackoffPolicy" => Ok(false),
        _ => Err(Error::illegal_argument(format!(
            "hbase.client.statistics.backoff-policy: {class:?} is neither \
             org.apache.hadoop.hbase.client.backoff.ExponentialClientBackoffPolicy nor \
             org.apache.hadoop.hbase.client.backoff.ClientBackoffPolicyFactory$NoBackoffPolicy"
        ))),
    }
}
