//! Decides which HTTP requests may come from a web page, for every port that speaks HTTP.
//!
//! A browser on this machine sends whatever a page of another site asks for. Two things give such
//! requests away:
//!
//! - the page's own name, made to point to this machine (DNS rebinding), is the `Host`. A port that
//!   listens on a loopback address knows its names: addresses, `localhost`, and the one that it
//!   advertises. On other addresses, clients may use any name, such as that of a container
//! - scripts send an `Origin` that is not this server's
//!
//! A request without `Host` is not a browser's.

use std::fmt;
use std::net::IpAddr;

/// The names of a server.
#[derive(Debug, Clone)]
pub struct Site {
    refuses_other_hosts: bool,
    advertised: Option<String>,
}

/// The parts of a request's head that name a host, as they came.
#[derive(Debug, Clone, Default)]
pub struct RequestHead<'h> {
    /// The authority of an absolute URI.
    pub authority: Option<&'h [u8]>,
    /// The values of `Host`.
    pub hosts: Vec<&'h [u8]>,
    /// The values of `Origin`.
    pub origins: Vec<&'h [u8]>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// `Host` or `Origin` occurs twice, or is not text: 400.
    Malformed,
    /// It is for another host: 403.
    ForeignHost,
    /// It comes from a page of another site: 403.
    ForeignOrigin,
}

impl Refusal {
    /// The status of the answer.
    pub fn status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::ForeignHost | Self::ForeignOrigin => 403,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the header Host or Origin is malformed, or occurs twice",
            Self::ForeignHost => {
                "this host name is not the server's; use its address, or start it with --advertise"
            }
            Self::ForeignOrigin => "the request comes from a page of another site",
        })
    }
}

impl Site {
    /// Those of a port on the address `bind`: of a loopback address, only `localhost`, addresses
    /// and `advertised`; otherwise any.
    pub fn listening_on(bind: IpAddr, advertised: Option<String>) -> Self {
        Self { refuses_other_hosts: bind.to_canonical().is_loopback(), advertised }
    }

    /// Only `localhost`, addresses and `advertised`, whatever the port listens on.
    pub fn named(advertised: Option<&str>) -> Self {
        Self { refuses_other_hosts: true, advertised: advertised.map(str::to_owned) }
    }

    /// Checks a request.
    ///
    /// # Errors
    /// The reason for which it must be refused.
    pub fn check(&self, head: &RequestHead<'_>) -> Result<(), Refusal> {
        let host = single(&head.hosts)?;
        let authority = head.authority.map(text).transpose()?;
        if self.refuses_other_hosts
            && host.into_iter().chain(authority).any(|name| !self.is_ours(name))
        {
            return Err(Refusal::ForeignHost);
        }
        match (single(&head.origins)?, authority.or(host)) {
            (None, _) => Ok(()),
            (Some(origin), Some(host)) if origin.strip_prefix("http://") == Some(host) => Ok(()),
            (Some(_), _) => Err(Refusal::ForeignOrigin),
        }
    }

    /// Whether a `Host` is one of the server's names, with any port.
    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, port)) => (address, port),
            None => host.split_at(host.find(':').unwrap_or(host.len())),
        };
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let is_advertised = |known: &str| known.eq_ignore_ascii_case(name);
        (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
            && (name.eq_ignore_ascii_case("localhost")
                || self.advertised.as_deref().is_some_and(is_advertised)
                || name.parse::<IpAddr>().is_ok())
    }
}

/// The value of a header that must not occur twice.
fn single<'h>(values: &[&'h [u8]]) -> Result<Option<&'h str>, Refusal> {
    match values {
        [] => Ok(None),
        [value] => text(value).map(Some),
        _ => Err(Refusal::Malformed),
    }
}

fn text(value: &[u8]) -> Result<&str, Refusal> {
    let text = std::str::from_utf8(value).ok().map(str::trim_ascii);
    text.filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic())).ok_or(Refusal::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOREIGN_HOST: Result<(), Refusal> = Err(Refusal::ForeignHost);
    const FOREIGN_ORIGIN: Result<(), Refusal> = Err(Refusal::ForeignOrigin);
    const MALFORMED: Result<(), Refusal> = Err(Refusal::Malformed);

    fn head<'h>(authority: &'h str, hosts: &[&'h str], origins: &[&'h str]) -> RequestHead<'h> {
        RequestHead {
            authority: (!authority.is_empty()).then_some(authority.as_bytes()),
            hosts: hosts.iter().map(|host| host.as_bytes()).collect(),
            origins: origins.iter().map(|origin| origin.as_bytes()).collect(),
        }
    }

    #[test]
    fn pages_of_other_sites_are_refused_on_loopback() {
        let site = Site::named(Some("db"));
        for host in
            ["localhost", "LocalHost:80", "127.0.0.1:16010", "[::1]:80", "::1", "10.1.2.3", "db:1"]
        {
            // Without brackets, an address of IPv6 is not a host.
            let expected = if host == "::1" { FOREIGN_HOST } else { Ok(()) };
            assert_eq!(site.check(&head("", &[host], &[])), expected, "{host}");
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example:1",
            "db.evil",
            "[::1].evil",
            "localhost:80.evil",
            "localhost:80@evil",
            "user@localhost",
        ] {
            assert_eq!(site.check(&head("", &[host], &[])), FOREIGN_HOST, "{host}");
            assert_eq!(site.check(&head(host, &["localhost"], &[])).is_ok(), host.is_empty());
        }
        assert_eq!(site.check(&head("", &[], &[])), Ok(()), "not a browser's");
        assert_eq!(site.check(&head("", &["localhost", "localhost"], &[])), MALFORMED);
        assert_eq!(site.check(&head("", &["löcalhost"], &[])), MALFORMED);
        assert_eq!(site.check(&head("", &["localhost evil"], &[])), MALFORMED);
    }

    #[test]
    fn origins_of_other_sites_are_refused_everywhere() {
        for refuses_other_hosts in [true, false] {
            let site = Site { refuses_other_hosts, advertised: None };
            let host = ["127.0.0.1:8080"];
            assert_eq!(site.check(&head("", &host, &["http://127.0.0.1:8080"])), Ok(()));
            for origin in [
                "http://evil.example",
                "http://127.0.0.1:8081",
                "null",
                "",
                "https://127.0.0.1:8080",
                "http://127.0.0.1:8080.evil",
            ] {
                assert_eq!(site.check(&head("", &host, &[origin])), FOREIGN_ORIGIN, "{origin}");
            }
            let twice = ["http://127.0.0.1:8080"; 2];
            assert_eq!(site.check(&head("", &host, &twice)), MALFORMED);
            assert_eq!(site.check(&head("", &[], &twice[..1])), FOREIGN_ORIGIN);
        }
    }

    #[test]
    fn any_name_will_do_on_other_addresses() {
        let site = Site::listening_on([0, 0, 0, 0].into(), None);
        assert_eq!(site.check(&head("", &["hbase:8080"], &[])), Ok(()));
        assert_eq!(site.check(&head("hbase:8080", &["hbase:8080"], &[])), Ok(()));
        assert_eq!(site.check(&head("", &["hbase", "hbase"], &[])), MALFORMED);
        assert_eq!(
            site.check(&head("", &["hbase:8080"], &["http://evil.example"])),
            FOREIGN_ORIGIN
        );
    }
}
