//! Settings of a registry that consists of HBase's servers.

use std::time::Duration;

use hblite_model::Result;

use crate::setting_value::number;

/// How a client that finds its cluster through HBase's servers asks them. Defaults are HBase's. The
/// settings of HBase's `MasterRegistry`, such as `hbase.client.master_registry.hedged.fanout`, mean
/// the same.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RegistrySettings {
    /// How many servers are asked at the same time. Default 2
    /// (`hbase.client.bootstrap.hedged.fanout`).
    pub hedged_fanout: usize,
    /// How often the client asks the cluster which servers it should ask; zero for never. Default
    /// 300 s (`hbase.client.bootstrap.refresh_interval_secs`).
    pub refresh_interval: Duration,
    /// When it does so for the first time. Default a tenth of the interval
    /// (`hbase.client.bootstrap.initial_refresh_delay_secs`).
    pub initial_refresh_delay: Option<Duration>,
    /// The minimum time between two refreshes after a server did not answer. Default 60 s
    /// (`hbase.client.bootstrap.min_secs_between_refreshes`).
    pub refresh_interval_min: Duration,
}

impl Default for RegistrySettings {
    fn default() -> Self {
        Self {
            hedged_fanout: 2,
            refresh_interval: Duration::from_secs(300),
            initial_refresh_delay: None,
            refresh_interval_min: Duration::from_secs(60),
        }
    }
}

impl RegistrySettings {
    /// Sets the setting that HBase calls `name`; false if it is none of these.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        let own = |prefix| name.strip_prefix(prefix);
        let Some(own) =
            own("hbase.client.bootstrap.").or_else(|| own("hbase.client.master_registry."))
        else {
            return Ok(false);
        };
        let seconds = || {
            Ok::<_, hblite_model::Error>(Duration::from_secs(u64::from(number(name, value, 0)?)))
        };
        match own {
            "hedged.fanout" => self.hedged_fanout = number(name, value, 1)? as usize,
            "refresh_interval_secs" => self.refresh_interval = seconds()?,
            "initial_refresh_delay_secs" => self.initial_refresh_delay = Some(seconds()?),
            "min_secs_between_refreshes" => self.refresh_interval_min = seconds()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// When the first refresh takes place, after the first call.
    pub(crate) fn initial_delay(&self) -> Duration {
        let delay = self.initial_refresh_delay.unwrap_or(self.refresh_interval / 10);
        delay.max(Duration::from_millis(1))
    }
}
