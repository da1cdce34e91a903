//! How the client authenticates with Kerberos, and how its connections are protected then.

use std::path::PathBuf;

use hblite_model::{Error, Result};

use crate::setting_value::boolean;

/// How the calls on an authenticated connection are protected (`hbase.rpc.protection`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RpcProtection {
    /// Both sides have proved who they are; calls are sent as they are (SASL's `auth`).
    Authentication,
    /// A changed, repeated or missing message is found (SASL's `auth-int`).
    Integrity,
    /// The same, and messages are encrypted (SASL's `auth-conf`).
    Privacy,
}

/// Authentication with Kerberos. Off by default, as in HBase.
///
/// Tickets come from the keytab, if there is one, else from the ticket cache: `KRB5CCNAME`, or the
/// default of `krb5.conf`. They are read again for each connection, so a renewed ticket needs no
/// restart. Kerberos needs the feature `kerberos` and the system's library, `libgssapi_krb5`.
///
/// ```
/// let mut settings = hblite_client::ClientSettings::new();
/// settings.kerberos = hblite_client::KerberosSettings::new("hbase/_HOST@EXAMPLE.COM")
///     .with_keytab("/etc/security/app.keytab", "app@EXAMPLE.COM");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KerberosSettings {
    /// Whether the client authenticates with Kerberos (`hbase.security.authentication`).
    pub is_enabled: bool,
    /// The principal of the masters, such as `hbase/_HOST@EXAMPLE.COM`
    /// (`hbase.master.kerberos.principal`). `_HOST` stands for the name of the server's host.
    pub master_principal: Option<String>,
    /// The principal of the region servers (`hbase.regionserver.kerberos.principal`).
    pub region_server_principal: Option<String>,
    /// The kinds of protection that are acceptable, the preferred one first. Default only
    /// [`RpcProtection::Authentication`] (`hbase.rpc.protection`).
    pub protections: Vec<RpcProtection>,
    /// Whether calls may go to a server that does not authenticate its clients. Default false
    /// (`hbase.ipc.client.fallback-to-simple-auth-allowed`).
    pub allows_fallback: bool,
    /// A file with the key of `client_principal`, in place of a ticket from the ticket cache
    /// (`hbase.client.keytab.file`).
    pub keytab: Option<PathBuf>,
    /// The principal of the client. Default the one of the ticket cache
    /// (`hbase.client.keytab.principal`).
    pub client_principal: Option<String>,
    /// Whether `_HOST` stands for the canonical name of the server's host, which the Kerberos
    /// library looks up as `krb5.conf` says, rather than for the name that the client uses. Default
    /// true (`hbase.unsafe.client.kerberos.hostname.disable.reversedns`, which is the opposite).
    pub canonicalizes_hosts: bool,
}

impl Default for KerberosSettings {
    fn default() -> Self {
        Self {
            is_enabled: false,
            master_principal: None,
            region_server_principal: None,
            protections: vec![RpcProtection::Authentication],
            allows_fallback: false,
            keytab: None,
            client_principal: None,
            canonicalizes_hosts: true,
        }
    }
}

impl KerberosSettings {
    /// Authenticates with Kerberos. All servers have the principal `servers`, in which `_HOST`
    /// stands for the name of the host.
    pub fn new(servers: impl Into<String>) -> Self {
        let servers = Some(servers.into());
        Self {
            is_enabled: true,
            master_principal: servers.clone(),
            region_server_principal: servers,
            ..Self::default()
        }
    }

    /// Gets tickets for `principal` with its key in the file `keytab`.
    #[must_use]
    pub fn with_keytab(mut self, keytab: impl Into<PathBuf>, principal: impl Into<String>) -> Self {
        self.keytab = Some(keytab.into());
        self.client_principal = Some(principal.into());
        self
    }

    /// Accepts these kinds of protection, the preferred one first.
    #[must_use]
    pub fn with_protections(mut self, protections: impl Into<Vec<RpcProtection>>) -> Self {
        self.protections = protections.into();
        self
    }

    /// Sets the setting that HBase calls `name`; false if it is not one of Kerberos.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<bool> {
        let text = || (!value.is_empty()).then(|| value.to_owned());
        match name {
            "hbase.security.authentication" => self.is_enabled = is_kerberos(name, value)?,
            "hbase.master.kerberos.principal" => self.master_principal = text(),
            "hbase.regionserver.kerberos.principal" => self.region_server_principal = text(),
            "hbase.rpc.protection" => self.protections = protections(name, value)?,
            "hbase.ipc.client.fallback-to-simple-auth-allowed" => {
                self.allows_fallback = boolean(name, value)?;
            }
            "hbase.client.keytab.file" => self.keytab = text().map(PathBuf::from),
            "hbase.client.keytab.principal" => self.client_principal = text(),
            "hbase.unsafe.client.kerberos.hostname.disable.reversedns" => {
                self.canonicalizes_hosts = !boolean(name, value)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn is_kerberos(name: &str, value: &str) -> Result<bool> {
    match value.to_ascii_lowercase().as_str() {
        "kerberos" => Ok(true),
        "simple" | "" => Ok(false),
        _ => {
            let message = format!("{name}: {value:?} is neither simple nor kerberos");
            Err(Error::illegal_argument(message))
        }
    }
}

fn protections(name: &str, value: &str) -> Result<Vec<RpcProtection>> {
    let of = |word: &str| match word.trim().to_ascii_lowercase().as_str() {
        "authentication" | "auth" => Ok(RpcProtection::Authentication),
        "integrity" | "auth-int" => Ok(RpcProtection::Integrity),
        "privacy" | "auth-conf" => Ok(RpcProtection::Privacy),
        _ => Err(Error::illegal_argument(format!(
            "{name}: {word:?} is none of authentication, integrity and privacy"
        ))),
    };
    if value.is_empty() {
        return Ok(vec![RpcProtection::Authentication]);
    }
    value.split(',').map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_hbases_names() {
        let mut settings = KerberosSettings::default();
        for (name, value) in [
            ("hbase.security.authentication", "Kerberos"),
            ("hbase.master.kerberos.principal", "m/_HOST@R"),
            ("hbase.regionserver.kerberos.principal", "r/_HOST@R"),
            ("hbase.rpc.protection", "privacy,auth-int"),
            ("hbase.ipc.client.fallback-to-simple-auth-allowed", "true"),
            ("hbase.client.keytab.file", "/k"),
            ("hbase.client.keytab.principal", "c@R"),
            ("hbase.unsafe.client.kerberos.hostname.disable.reversedns", "true"),
        ] {
            assert!(settings.set(name, value).unwrap(), "{name}");
        }
        let mut expected = KerberosSettings::new("r/_HOST@R")
            .with_keytab("/k", "c@R")
            .with_protections([RpcProtection::Privacy, RpcProtection::Integrity]);
        expected.master_principal = Some("m/_HOST@R".to_owned());
        expected.allows_fallback = true;
        expected.canonicalizes_hosts = false;
        assert_eq!(settings, expected);
        assert!(!settings.set("hbase.rpc.timeout", "1").unwrap());
    }

    #[test]
    fn values_that_hbase_refuses_are_errors() {
        let mut settings = KerberosSettings::default();
        for (name, value) in [
            ("hbase.security.authentication", "token"),
            ("hbase.rpc.protection", "privacy,none"),
            ("hbase.ipc.client.fallback-to-simple-auth-allowed", "maybe"),
        ] {
            let error = settings.set(name, value).unwrap_err();
            assert!(error.message().starts_with(name), "{error}");
        }
        assert_eq!(settings, KerberosSettings::default());
    }
}
