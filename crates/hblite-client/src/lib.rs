//! A native asynchronous client of Apache HBase clusters.
//!
//! It speaks HBase's own protocol: no JVM, no gateway. There is one [`Client`] per cluster. It is
//! cheap to clone; clones share connections and cached region locations.
//!
//! ```no_run
//! use hblite_client::Client;
//! use hblite_model::{Get, Put, Scan};
//!
//! # async fn example() -> hblite_model::Result<()> {
//! let client = Client::connect("hbase://zk1,zk2:2181/hbase").await?;
//! let users = client.table("users".parse()?);
//! users.mutate(Put::new("u1").add("info", "name", "Ada").as_mutation()).await?;
//! let row = users.get(&Get::new("u1")).await?;
//! assert_eq!(row.text("info", "name")?, Some("Ada"));
//! let mut scanner = users.scan(&Scan::new().with_prefix("u")).await?;
//! while let Some(row) = scanner.next_row().await? {
//!     println!("{}", String::from_utf8_lossy(row.row()));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! client      Client: one per cluster
//!   admin     tables, regions, namespaces, snapshots, procedures
//!   table     reads, writes, batches, scans, endpoints
//!   shared    settings, connections, locations, nonces
//!   pushback  the load that servers report
//!   retry     pauses, deadlines, what is final
//!   locator   which server has a row: hbase:meta and a cache
//!   registry  where hbase:meta and the master are: ZooKeeper, or the servers themselves
//!   rpc       connections, calls, time limits
//! metrics     counters of calls, retries, lookups, bytes
//! settings, tls_settings, kerberos_settings, registry_settings, pushback_settings
//! setting_value, url, site_xml, error
//! ```
//!
//! Modules use only those below them. Every error is an [`Error`](hblite_model::Error) with HBase's
//! exception class and message. Dropping a future cancels its call.

#![cfg_attr(not(any(feature = "kerberos", test)), forbid(unsafe_code))]

mod admin;
mod client;
mod error;
mod kerberos_settings;
mod locator;
mod metrics;
mod pushback;
mod pushback_settings;
mod registry;
mod registry_settings;
mod retry;
mod rpc;
mod setting_value;
mod settings;
mod shared;
mod site_xml;
mod table;
mod tls_settings;
mod url;
mod waiting;

pub use admin::Admin;
pub use client::Client;
pub use kerberos_settings::{KerberosSettings, RpcProtection};
pub use metrics::{CallMetrics, ClientMetrics, Latencies};
pub use pushback_settings::PushbackSettings;
pub use registry_settings::RegistrySettings;
pub use settings::ClientSettings;
pub use table::{ResultScanner, Table};
pub use tls_settings::TlsSettings;
pub use url::{ClusterAddress, ServerAddress};

/// A future that is compiled in this crate, and not in each crate that awaits it, as the body of an
/// `async fn` is. What hangs below a call is behind this.
type Compiled<'c, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'c>>;
