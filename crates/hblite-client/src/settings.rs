//! Settings of a client, each with HBase's name and default.

use std::time::Duration;

use hblite_model::{Error, Result};
use hblite_wire::cell_block::Compressor;

use crate::kerberos_settings::KerberosSettings;
use crate::pushback_settings::PushbackSettings;
use crate::registry_settings::RegistrySettings;
use crate::setting_value::{boolean, micros, millis, number};
use crate::tls_settings::TlsSettings;

/// How a client behaves. Defaults are HBase's.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientSettings {
    /// The base of the pauses between attempts. Default 100 ms (`hbase.client.pause`).
    pub pause: Duration,
    /// The base of the pauses when the server is overloaded. Default 500 ms
    /// (`hbase.client.pause.server.overloaded`).
    pub pause_overloaded: Duration,
    /// Attempts after the first one. Default 15 (`hbase.client.retries.number`).
    pub retries: u32,
    /// The time limit of one call. Default 60 s (`hbase.rpc.timeout`).
    pub rpc_timeout: Duration,
    /// The time limit of an operation with all its attempts. Default 20 min
    /// (`hbase.client.operation.timeout`).
    pub operation_timeout: Duration,
    /// The time limit of one call of a scan, with its attempts. Default 60 s
    /// (`hbase.client.scanner.timeout.period`).
    pub scanner_timeout: Duration,
    /// Rows per fetch of a scan that does not set its own. Default 2,147,483,647, which leaves it
    /// to the size limit (`hbase.client.scanner.caching`).
    pub scanner_caching: u32,
    /// Bytes per fetch of a scan that does not set its own. Default 2 MiB
    /// (`hbase.client.scanner.max.result.size`).
    pub scanner_size_max_bytes: u64,
    /// Whether a scan that does not say so itself fetches its next rows while the caller processes
    /// those before them. Default false (`hbase.client.scanner.async.prefetch`).
    pub scanner_async_prefetch: bool,
    /// How long a get with `Consistency::Timeline` waits for the region itself before it asks the
    /// replicas. Default 10 ms (`hbase.client.primaryCallTimeout.get`, in microseconds).
    pub primary_get_timeout: Duration,
    /// The same for gets in a batch. Default 10 ms (`hbase.client.primaryCallTimeout.multiget`, in
    /// microseconds).
    pub primary_multi_get_timeout: Duration,
    /// The same for opening a scanner. Default 1 s (`hbase.client.replicaCallTimeout.scan`, in
    /// microseconds).
    pub primary_scan_timeout: Duration,
    /// The largest cell that may be written; 0 for no limit. Default 10 MiB
    /// (`hbase.client.keyvalue.maxsize`).
    pub cell_size_max_bytes: usize,
    /// Bytes of cells at which a buffer of writes is sent. Default 2 MiB
    /// (`hbase.client.write.buffer`).
    pub write_buffer_size_bytes: usize,
    /// Age of the oldest write at which a buffer of writes is sent. Default none
    /// (`hbase.client.write.buffer.periodicflush.timeout.ms`).
    pub write_buffer_age_max: Option<Duration>,
    /// Connections to each server. Default 1 (`hbase.client.ipc.pool.size`).
    pub connections_per_server: usize,
    /// The time limit for opening a connection. Default 10 s
    /// (`hbase.ipc.client.socket.timeout.connect`).
    pub connect_timeout: Duration,
    /// An idle connection is closed after this time. Default 120 s
    /// (`hbase.ipc.client.connection.minIdleTimeBeforeClose`).
    pub idle_timeout: Duration,
    /// Maximum size of a response. Default 256 MiB (`hbase.ipc.max.response.size`).
    pub response_size_max_bytes: usize,
    /// How cell blocks are compressed: the class name of Hadoop's `GzipCodec`, `SnappyCodec` or
    /// `Lz4Codec`. Default none (`hbase.client.rpc.compressor`).
    pub compressor: Option<String>,
    /// Regions that one lookup in hbase:meta reads. Default 10
    /// (`hbase.client.locate.prefetch.limit`).
    pub locate_prefetch: u32,
    /// Concurrent lookups in one table. Default 8
    /// (`hbase.client.meta.max.concurrent.locate.per.table`).
    pub locates_max: usize,
    /// The time limit for an answer of ZooKeeper. Default 10 s
    /// (`hbase.zookeeper.client.timeout`, this client's own).
    pub zookeeper_timeout: Duration,
    /// Whether batches wait because of the load that servers report.
    pub pushback: PushbackSettings,
    /// How the servers of the registry are asked, if it is not a ZooKeeper.
    pub registry: RegistrySettings,
    /// Encryption of connections. Default none.
    pub tls: TlsSettings,
    /// Authentication with Kerberos. Default none.
    pub kerberos: KerberosSettings,
    /// The user name that the client sends (`hadoop.user.name`). Default `HADOOP_USER_NAME`, then
    /// `USER` of the environment.
    pub user: String,
}

impl Default for ClientSettings {
    fn default() -> Self {
        let of_environment = |name: &str| std::env::var(name).ok().filter(|name| !name.is_empty());
        let user = of_environment("HADOOP_USER_NAME").or_else(|| of_environment("USER"));
        Self {
            pause: Duration::from_millis(100),
            pause_overloaded: Duration::from_millis(500),
            retries: 15,
            rpc_timeout: Duration::from_secs(60),
            operation_timeout: Duration::from_secs(1_200),
            scanner_timeout: Duration::from_secs(60),
            scanner_caching: i32::MAX as u32,
            scanner_size_max_bytes: 2 << 20,
            scanner_async_prefetch: false,
            primary_get_timeout: Duration::from_millis(10),
            primary_multi_get_timeout: Duration::from_millis(10),
            primary_scan_timeout: Duration::from_secs(1),
            cell_size_max_bytes: 10 << 20,
            write_buffer_size_bytes: 2 << 20,
            write_buffer_age_max: None,
            connections_per_server: 1,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(120),
            response_size_max_bytes: 256 << 20,
            compressor: None,
            locate_prefetch: 10,
            locates_max: 8,
            zookeeper_timeout: Duration::from_secs(10),
            pushback: PushbackSettings::default(),
            registry: RegistrySettings::default(),
            tls: TlsSettings::default(),
            kerberos: KerberosSettings::default(),
            user: user.unwrap_or_else(|| "hblite".to_owned()),
        }
    }
}

impl ClientSettings {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the setting that HBase calls `name`; false if the client has no such setting.
    ///
    /// ```
    /// let mut settings = hblite_client::ClientSettings::new();
    /// assert!(settings.set("hbase.client.retries.number", "3")?);
    /// assert_eq!(settings.retries, 3);
    /// assert!(!settings.set("hbase.master.info.port", "1")?);
    /// assert!(settings.set("hbase.rpc.timeout", "soon").is_err());
    /// # Ok::<(), hblite_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `IllegalArgument` if the value is not valid.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        let value = value.trim();
        match name {
            "hbase.client.pause" => self.pause = millis(name, value)?,
            "hbase.client.pause.server.overloaded" | "hbase.client.pause.cqtbe" => {
                self.pause_overloaded = millis(name, value)?;
            }
            "hbase.client.retries.number" => self.retries = number(name, value, 0)?,
            "hbase.rpc.timeout" => self.rpc_timeout = millis(name, value)?,
            "hbase.client.operation.timeout" => self.operation_timeout = millis(name, value)?,
            "hbase.client.keyvalue.maxsize" => {
                self.cell_size_max_bytes = number(name, value, 0)? as usize;
            }
            "hbase.client.write.buffer" => {
                self.write_buffer_size_bytes = number(name, value, 1)? as usize;
            }
            "hbase.client.write.buffer.periodicflush.timeout.ms" => {
                let millis = u64::from(number(name, value, 0)?);
                self.write_buffer_age_max = (millis > 0).then(|| Duration::from_millis(millis));
            }
            "hbase.client.ipc.pool.size" => {
                self.connections_per_server = number(name, value, 1)? as usize;
            }
            "hbase.ipc.client.socket.timeout.connect" => {
                self.connect_timeout = millis(name, value)?;
            }
            "hbase.ipc.client.connection.minIdleTimeBeforeClose" => {
                self.idle_timeout = millis(name, value)?;
            }
            "hbase.ipc.max.response.size" => {
                self.response_size_max_bytes = number(name, value, 1024)? as usize;
            }
            "hbase.client.rpc.compressor" => self.set_compressor(value)?,
            "hbase.client.locate.prefetch.limit" => self.locate_prefetch = number(name, value, 1)?,
            "hbase.client.meta.max.concurrent.locate.per.table" => {
                self.locates_max = number(name, value, 1)? as usize;
            }
            "hbase.zookeeper.client.timeout" => self.zookeeper_timeout = millis(name, value)?,
            "hadoop.user.name" => self.user = value.to_owned(),
            _ => {
                return Ok(self.set_of_reads(name, value)?
                    || self.tls.set(name, value)?
                    || self.kerberos.set(name, value)?
                    || self.pushback.set(name, value)?
                    || self.registry.set(name, value)?);
            }
        }
        Ok(true)
    }

    fn set_of_reads(&mut self, name: &str, value: &str) -> Result<bool> {
        match name {
            "hbase.client.scanner.timeout.period" => self.scanner_timeout = millis(name, value)?,
            "hbase.client.scanner.caching" => self.scanner_caching = number(name, value, 1)?,
            "hbase.client.scanner.max.result.size" => {
                self.scanner_size_max_bytes = u64::from(number(name, value, 1)?);
            }
            "hbase.client.scanner.async.prefetch" => {
                self.scanner_async_prefetch = boolean(name, value)?;
            }
            "hbase.client.primaryCallTimeout.get" => {
                self.primary_get_timeout = micros(name, value)?;
            }
            "hbase.client.primaryCallTimeout.multiget" => {
                self.primary_multi_get_timeout = micros(name, value)?;
            }
            "hbase.client.replicaCallTimeout.scan" => {
                self.primary_scan_timeout = micros(name, value)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn set_compressor(&mut self, class: &str) -> Result<()> {
        if !class.is_empty() && Compressor::from_class_name(class).is_none() {
            return Err(Error::illegal_argument(format!(
                "hbase.client.rpc.compressor: {class:?} is none of Hadoop's GzipCodec, SnappyCodec \
                 and Lz4Codec, such as org.apache.hadoop.io.compress.GzipCodec"
            )));
        }
        self.compressor = (!class.is_empty()).then(|| class.to_owned());
        Ok(())
    }

    /// The compressor, if there is one.
    pub(crate) fn compressor(&self) -> Option<Compressor> {
        self.compressor.as_deref().and_then(Compressor::from_class_name)
    }
}
