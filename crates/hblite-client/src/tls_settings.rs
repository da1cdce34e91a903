//! How connections to the servers are encrypted.

use std::path::PathBuf;
use std::time::Duration;

use hblite_model::Result;

use crate::setting_value::{boolean, millis};

/// TLS on the connections to the servers. Off by default, as in HBase.
///
/// Certificates and keys are PEM files, which are read again for each connection: a renewed
/// certificate needs no restart. TLS needs the feature `tls`.
///
/// ```
/// let mut settings = hblite_client::ClientSettings::new();
/// settings.tls = hblite_client::TlsSettings::new("/etc/hbase/ca.pem")
///     .with_keystore("/etc/hbase/client.pem");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsSettings {
    /// Whether connections are encrypted (`hbase.client.netty.tls.enabled`).
    pub is_enabled: bool,
    /// The certificates of the authorities that may sign a server's certificate
    /// (`hbase.rpc.tls.truststore.location`). Required.
    pub truststore: Option<PathBuf>,
    /// The client's certificate, those of its issuers, and its key, for servers that ask for them
    /// (`hbase.rpc.tls.keystore.location`).
    pub keystore: Option<PathBuf>,
    /// Whether a server's certificate must be valid for the host name that the client uses. Default
    /// true (`hbase.client.netty.tls.verify.server.hostname`).
    pub verifies_host: bool,
    /// The time limit of the handshake. Default 5 s (`hbase.client.netty.tls.handshaketimeout`).
    pub handshake_timeout: Duration,
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self {
            is_enabled: false,
            truststore: None,
            keystore: None,
            verifies_host: true,
            handshake_timeout: Duration::from_secs(5),
        }
    }
}

impl TlsSettings {
    /// Encrypts connections. A server's certificate must be signed by one in the file `truststore`.
    pub fn new(truststore: impl Into<PathBuf>) -> Self {
        Self { is_enabled: true, truststore: Some(truststore.into()), ..Self::default() }
    }

    /// Sends the certificate in this file to servers that ask for one.
    #[must_use]
    pub fn with_keystore(mut self, keystore: impl Into<PathBuf>) -> Self {
        self.keystore = Some(keystore.into());
        self
    }

    /// Accepts certificates for any name.
    #[must_use]
    pub fn without_host_verification(mut self) -> Self {
        self.verifies_host = false;
        self
    }

    /// Sets the setting that HBase calls `name`; false if it is not one of TLS.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        let path = || (!value.is_empty()).then(|| PathBuf::from(value));
        match name {
            "hbase.client.netty.tls.enabled" => self.is_enabled = boolean(name, value)?,
            "hbase.client.netty.tls.verify.server.hostname" => {
                self.verifies_host = boolean(name, value)?;
            }
            "hbase.client.netty.tls.handshaketimeout" => {
                self.handshake_timeout = millis(name, value)?;
            }
            "hbase.rpc.tls.truststore.location" => self.truststore = path(),
            "hbase.rpc.tls.keystore.location" => self.keystore = path(),
            _ => return Ok(false),
        }
        Ok(true)
    }
}
