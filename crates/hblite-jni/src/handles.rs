//! The stores and channels that Java has open, by number. A number is never used again, so one that
//! was closed is unknown, whatever was opened since.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};

use hblite::{Connection, Error, Options, Result};
use hblite_server::{Channel, InProcess, ServerOptions, SiteSettings};
use parking_lot::RwLock;

static HANDLES: LazyLock<Handles> = LazyLock::new(Handles::default);

#[derive(Default)]
struct Handles {
    last: AtomicI64,
    stores: RwLock<HashMap<i64, Arc<Store>>>,
    /// With the number of its store.
    channels: RwLock<HashMap<i64, (i64, Arc<Channel>)>>,
}

/// An open store. Its server ends before it is closed.
struct Store {
    server: InProcess,
    connection: Connection,
    /// The store of which it is a fork, which closes it.
    parent: Option<i64>,
}

fn next() -> i64 {
    HANDLES.last.fetch_add(1, Ordering::Relaxed) + 1
}

fn store(number: i64) -> Result<Arc<Store>> {
    let store = HANDLES.stores.read().get(&number).map(Arc::clone);
    store.ok_or_else(|| Error::illegal_argument("the embedded store is closed"))
}

/// Opens the store in a directory, or an empty one in memory. `settings` are lines with
/// `name=value`, by the names in `hbase-site.xml`.
pub(crate) fn open(dir: Option<&Path>, region_servers: usize, settings: &str) -> Result<i64> {
    // Reading the lost part of a mapped file that was truncated would kill the JVM.
    let store = Options::new().with_files_mapped(false);
    let server = ServerOptions::default().with_region_servers(region_servers);
    let mut site = SiteSettings::of_cluster(store, server);
    for setting in settings.lines() {
        let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
        if !site.apply(name, value)? {
            let known: Vec<&str> = SiteSettings::names().collect();
            let known = known.join(", ");
            let message = format!("{name} is not a setting of hblite; these are: {known}");
            return Err(Error::illegal_argument(message));
        }
    }
    let connection = match dir {
        Some(dir) => site.store().open(dir)?,
        None => site.store().open_in_memory()?,
    };
    let server = InProcess::start(&connection, site.server().clone())?;
    Ok(keep(Store { server, connection, parent: None }))
}

fn keep(store: Store) -> i64 {
    let number = next();
    HANDLES.stores.write().insert(number, Arc::new(store));
    number
}

/// A copy-on-write view of a checkpoint of a store, which is closed with the store.
pub(crate) fn fork(parent: i64, checkpoint: &str) -> Result<i64> {
    let (connection, server) = store(parent)?.server.fork(checkpoint)?;
    let fork = keep(Store { server, connection, parent: Some(parent) });
    // The parent may have been closed meanwhile, without knowing this fork.
    if store(parent).is_err() {
        close(fork)?;
    }
    Ok(fork)
}

/// Closes a store, its forks and its channels. Calls in progress fail. Does nothing for one that is
/// closed.
pub(crate) fn close(number: i64) -> Result<()> {
    let Some(store) = HANDLES.stores.write().remove(&number) else { return Ok(()) };
    let is_fork = |store: &Store| store.parent == Some(number);
    let stores = HANDLES.stores.read();
    let forks = stores.iter().filter(|(_, store)| is_fork(store)).map(|(fork, _)| *fork);
    let forks: Vec<i64> = forks.collect();
    drop(stores);
    forks.into_iter().try_for_each(close)?;
    let mut channels = HANDLES.channels.write();
    let closed: Vec<_> = channels.extract_if(|_, (store, _)| *store == number).collect();
    drop(channels);
    store.server.close();
    drop(closed);
    store.connection.clone().close()
}

/// Answers a request to the admin endpoint of a store.
pub(crate) fn admin(number: i64, method: &str, path: &str, body: &str) -> Result<String> {
    store(number)?.server.admin(method, path, body)
}

/// `host:port` of the master.
pub(crate) fn master(number: i64) -> Result<String> {
    let store = store(number)?;
    Ok(format!("{}:{}", store.server.host(), store.server.master_port()))
}

/// Connects to a server of the store.
pub(crate) fn connect(store_number: i64, port: u16, header: &[u8]) -> Result<i64> {
    let channel = store(store_number)?.server.connect(port, header)?;
    let number = next();
    HANDLES.channels.write().insert(number, (store_number, Arc::new(channel)));
    Ok(number)
}

/// Closes a channel. Does nothing for one that is closed.
pub(crate) fn disconnect(number: i64) {
    let closed = HANDLES.channels.write().remove(&number);
    drop(closed);
}

/// An open channel.
pub(crate) fn channel(number: i64) -> Option<Arc<Channel>> {
    HANDLES.channels.read().get(&number).map(|(_, channel)| Arc::clone(channel))
}
