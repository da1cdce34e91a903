//! `-D NAME=VALUE`: settings of a cluster and its gateways under their names in `hbase-site.xml`.

use hblite::Options;
use hblite_rest::{BrowserPatterns, RestOptions};
use hblite_server::{ServerOptions, SiteSettings};
use hblite_thrift::ThriftOptions;

use crate::store_files::unmapped;

/// What a setting changes.
pub(crate) struct Settings {
    site: SiteSettings,
    pub(crate) rest: RestOptions,
    pub(crate) thrift: ThriftOptions,
}

type Set = fn(&mut Settings, &str) -> Option<()>;

/// The settings of gateways, each with a function that applies its value, or returns `None` for an
/// invalid one.
const OF_GATEWAYS: &[(&str, Set)] = &[
    ("hbase.http.filter.csp.value", |s, v| {
        s.rest.security_headers.content_policy = text(v)?;
        Some(())
    }),
    ("hbase.http.filter.hsts.value", |s, v| {
        s.rest.security_headers.transport_security = text(v)?;
        Some(())
    }),
    ("hbase.http.filter.xframeoptions.mode", |s, v| {
        s.rest.security_headers.frame_options = text(v)?;
        Some(())
    }),
    ("hbase.rest-csrf.browser-useragents-regex", |s, v| {
        s.rest.csrf.browsers = BrowserPatterns::new(v).ok()?;
        Some(())
    }),
    ("hbase.rest-csrf.custom-header", |s, v| {
        s.rest.csrf.header = text(v)?;
        Some(())
    }),
    ("hbase.rest-csrf.methods-to-ignore", |s, v| {
        s.rest.csrf.methods_to_ignore = text(v)?;
        Some(())
    }),
    ("hbase.rest.csrf.enabled", |s, v| {
        s.rest.csrf.is_enabled = truth(v)?;
        Some(())
    }),
    ("hbase.rest.readonly", |s, v| {
        s.rest.read_only = truth(v)?.into();
        Some(())
    }),
    ("hbase.thrift.readonly", |s, v| {
        s.thrift.read_only = truth(v)?.into();
        Some(())
    }),
];

fn truth(value: &str) -> Option<bool> {
    value.trim().parse().ok()
}

/// Text that can be a header's name or value.
fn text(value: &str) -> Option<String> {
    let value = value.trim();
    (!value.contains(|c: char| c.is_control())).then(|| value.to_owned())
}

impl Settings {
    /// The defaults of a cluster.
    pub(crate) fn new(server: ServerOptions) -> Self {
        Self::with(SiteSettings::of_cluster(unmapped(Options::new()), server))
    }

    /// The settings of a store that is not served.
    pub(crate) fn of(store: Options) -> Self {
        Self::with(SiteSettings::new(store, ServerOptions::default()))
    }

    fn with(site: SiteSettings) -> Self {
        Self { site, rest: RestOptions::default(), thrift: ThriftOptions::default() }
    }

    /// The settings of the store.
    pub(crate) fn store(&self) -> Options {
        self.site.store()
    }

    /// The settings of the server.
    pub(crate) fn server(&self) -> &ServerOptions {
        self.site.server()
    }

    /// Applies `NAME=VALUE`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn apply(&mut self, setting: &str) -> Result<(), String> {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("-D takes NAME=VALUE, and {setting} has no '='"))?;
        let name = name.trim();
        if self.site.apply(name, value).map_err(|error| error.message().to_owned())? {
            return Ok(());
        }
        let Some((_, set)) = OF_GATEWAYS.iter().find(|(known, _)| *known == name) else {
            let of_gateways = OF_GATEWAYS.iter().map(|(known, _)| *known);
            let mut known: Vec<&str> = SiteSettings::names().chain(of_gateways).collect();
            known.sort_unstable();
            return Err(format!(
                "{name} is not a setting of hblite; these are: {}",
                known.join(", ")
            ));
        };
        set(self, value).ok_or_else(|| format!("{value} is not a value of {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings::new(ServerOptions::default())
    }

    #[test]
    fn files_are_not_mapped() {
        let mut settings = settings();
        settings.apply("hbase.column.max.version = 3").unwrap();
        assert_eq!(settings.server().family_versions, 3);
        let store = format!("{:?}", settings.store());
        assert!(store.contains("are_files_mapped: false"), "{store}");
    }

    #[test]
    fn every_setting_refuses_what_is_no_value() {
        for (name, _) in OF_GATEWAYS {
            let is_text = name.starts_with("hbase.rest-csrf.") || name.contains(".filter.");
            let bad = if is_text { "a\n(" } else { "some" };
            let message = settings().apply(&format!("{name}={bad}")).unwrap_err();
            assert_eq!(message, format!("{bad} is not a value of {name}"));
        }
    }

    #[test]
    fn settings_of_gateways_are_theirs() {
        let mut settings = settings();
        assert!(!settings.rest.csrf.is_enabled && !settings.thrift.read_only.is_on());
        for setting in [
            "hbase.rest.csrf.enabled=true",
            "hbase.rest-csrf.custom-header=X-Mine",
            "hbase.rest-csrf.browser-useragents-regex=.*",
            "hbase.rest.readonly=true",
            "hbase.thrift.readonly=true",
            "hbase.http.filter.hsts.value=max-age=1;preload",
        ] {
            settings.apply(setting).unwrap();
        }
        let rest = settings.rest;
        assert!(
            rest.csrf.is_enabled && rest.read_only.is_on() && settings.thrift.read_only.is_on()
        );
        assert_eq!(rest.csrf.header, "X-Mine");
        assert_eq!(rest.security_headers.transport_security, "max-age=1;preload");
    }

    #[test]
    fn unknown_settings_are_named() {
        let message = settings().apply("hbase.nothing=1").unwrap_err();
        assert!(message.starts_with("hbase.nothing is not a setting of hblite; "), "{message}");
        assert!(settings().apply("word").is_err());
    }
}
