//! Connection strings: the addresses of clusters.
//!
//! ```text
//! hbase://zk1,zk2:2181/hbase?hbase.rpc.timeout=5000     ZooKeeper; also hbase+zk://
//! hbase+rpc://host1:16000,host2:16000                    servers: masters or region servers
//! ```

use std::fmt;

use hblite_model::{Error, Result};

/// ZooKeeper's port (`hbase.zookeeper.property.clientPort`).
pub(crate) const ZOOKEEPER_PORT: u16 = 2181;
/// The parent of HBase's nodes (`zookeeper.znode.parent`).
pub(crate) const ZNODE_PARENT: &str = "/hbase";

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerAddress {
    /// Name or address of the host, without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl ServerAddress {
    /// Reads `host:port`, `[address]:port` or, with a default port, only the host.
    ///
    /// # Errors
    /// `IllegalArgument` if the text is not an address, or has no port and there is no default.
    pub fn parse(text: &str, default_port: Option<u16>) -> Result<Self> {
        let refused =
            |why: &str| Error::illegal_argument(format!("{text:?} is not a server: {why}"));
        let text = text.trim();
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) =
                    rest.split_once(']').ok_or_else(|| refused("the bracket is not closed"))?;
                (host, rest.strip_prefix(':'))
            }
            None => match text.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        if host.is_empty() || host.contains(['/', ' ', '@']) {
            return Err(refused("it has no host"));
        }
        let port = match port {
            Some(port) => port.parse().ok().filter(|port| *port > 0),
            None => default_port,
        };
        let port = port.ok_or_else(|| refused("it has no port from 1 to 65535"))?;
        Ok(Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// How a client finds a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterAddress {
    /// Through ZooKeeper.
    ZooKeeper {
        /// Its servers.
        quorum: Vec<ServerAddress>,
        /// The parent of HBase's nodes.
        parent: String,
    },
    /// Through HBase's own servers: masters since 2.3, region servers since 2.5.
    Rpc {
        /// The addresses of one or more of them.
        servers: Vec<ServerAddress>,
    },
}

/// A parsed connection string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClusterUrl {
    /// `None` for `hbase://` alone: the address is in the configuration.
    pub(crate) address: Option<ClusterAddress>,
    /// Settings of the query.
    pub(crate) settings: Vec<(String, String)>,
}

impl ClusterUrl {
    /// Parses a connection string.
    ///
    /// # Errors
    /// `IllegalArgument` if the text is not one.
    pub(crate) fn parse(url: &str) -> Result<Self> {
        let refused = |why: &str| {
            Error::illegal_argument(format!(
                "{url:?} does not name a cluster: {why}; write \
                 hbase://zookeeper-host:2181/hbase or hbase+rpc://host:16000"
            ))
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| refused("it has no scheme"))?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let path = path.trim_end_matches('/');
        let address = match scheme {
            "hbase" | "hbase+zk" if authority.is_empty() && path.is_empty() => None,
            "hbase" | "hbase+zk" => Some(ClusterAddress::ZooKeeper {
                quorum: servers(authority, Some(ZOOKEEPER_PORT))?,
                parent: if path.is_empty() { ZNODE_PARENT.to_owned() } else { decode(path)? },
            }),
            "hbase+rpc" if path.is_empty() => {
                Some(ClusterAddress::Rpc { servers: servers(authority, None)? })
            }
            "hbase+rpc" => return Err(refused("hbase+rpc takes no path")),
            _ => return Err(refused("its scheme is unknown")),
        };
        let mut settings = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| refused("a setting has no value"))?;
            settings.push((decode(name)?, decode(value)?));
        }
        Ok(Self { address, settings })
    }
}

/// A list of servers, separated by commas. A host without a port has the port of the last server
/// in the list, as in HBase's quorum strings; if that has none either, it is the default port.
pub(crate) fn servers(list: &str, default_port: Option<u16>) -> Result<Vec<ServerAddress>> {
    let names: Vec<&str> = list.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    let Some(last) = names.last() else {
        return Err(Error::illegal_argument("a list of servers is empty"));
    };
    let common = ServerAddress::parse(last, default_port)?.port;
    names.iter().map(|name| ServerAddress::parse(name, Some(common))).collect()
}

/// Replaces `%XX`.
fn decode(text: &str) -> Result<String> {
    let refused = || {
        Error::illegal_argument(format!(
            "{text:?} is not UTF-8 in percent-encoding: two hexadecimal digits must follow each %"
        ))
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2).ok_or_else(refused)?;
        let digits = std::str::from_utf8(digits).map_err(|_| refused())?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| refused())?);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str, port: u16) -> ServerAddress {
        ServerAddress { host: host.to_owned(), port }
    }

    #[test]
    fn a_quorum_has_a_port_and_a_path() {
        let url = ClusterUrl::parse("hbase://zk1,zk2:2182/h/b?hbase.rpc.timeout=5&a=%2f").unwrap();
        let quorum = vec![server("zk1", 2182), server("zk2", 2182)];
        let parent = "/h/b".to_owned();
        assert_eq!(url.address, Some(ClusterAddress::ZooKeeper { quorum, parent }));
        let settings = [("hbase.rpc.timeout", "5"), ("a", "/")];
        assert_eq!(url.settings, settings.map(|(a, b)| (a.to_owned(), b.to_owned())));
        let url = ClusterUrl::parse("hbase+zk://[::1]").unwrap();
        let (quorum, parent) = (vec![server("::1", 2181)], "/hbase".to_owned());
        assert_eq!(url.address, Some(ClusterAddress::ZooKeeper { quorum, parent }));
        assert_eq!(ClusterUrl::parse("hbase://").unwrap().address, None);
    }

    #[test]
    fn servers_need_a_port() {
        let url = ClusterUrl::parse("hbase+rpc://a:16000,b:16001").unwrap();
        let servers = vec![server("a", 16000), server("b", 16001)];
        assert_eq!(url.address, Some(ClusterAddress::Rpc { servers }));
        for (url, reason) in [
            ("hbase+rpc://a", "port"),
            ("hbase+rpc://", "empty"),
            ("hbase+rpc://a:0", "port"),
            ("hbase+rpc://a:1/hbase", "path"),
            ("http://a", "scheme"),
            ("/data", "scheme"),
            ("hbase://a?b", "value"),
            ("hbase://a/%zz", "%"),
            ("hbase://[a", "bracket"),
        ] {
            let error = ClusterUrl::parse(url).unwrap_err();
            assert!(error.message().contains(reason), "{url}: {error}");
        }
    }
}
