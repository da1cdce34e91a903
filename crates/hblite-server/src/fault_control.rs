//! Faults on demand: sets the rules, moves regions and kills servers.
//!
//! `http` does the same for other processes.

use std::sync::Arc;
use std::time::Duration;

use hblite_model::{Error, Exception, RegionInfo, Result};
use parking_lot::Mutex;
use tokio::runtime::Handle;

use crate::cluster::{CurrentCluster, Role};
use crate::faults::{FaultRule, FaultServer, FaultStatus};
use crate::rpc::Port;

/// The faults of a running server, which can be set at any time. Cheap to clone; it works as long
/// as its server runs.
///
/// ```
/// use hblite_server::{FaultAction, FaultRule, TestServer};
/// let server = TestServer::start()?;
/// let faults = server.faults();
/// let id = faults.set(FaultRule::new(FaultAction::DropAfter).methods(["Mutate"]).count(3))?;
/// // The next three increments of this test's HBase client are executed but not answered.
/// assert_eq!(faults.list()[0].happened, 0);
/// faults.clear(id);
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Faults {
    cluster: CurrentCluster,
    runtime: Handle,
    /// The region servers' ports.
    ports: Arc<Mutex<Vec<Port>>>,
}

/// What a crash of a server lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerCrash {
    /// Regions that were on it.
    pub regions: usize,
    /// Entries in the log for these regions.
    pub log_entries: u64,
}

impl Faults {
    pub(crate) fn new(cluster: CurrentCluster, runtime: Handle, ports: Vec<Port>) -> Self {
        Self { cluster, runtime, ports: Arc::new(Mutex::new(ports)) }
    }
}

/// Faults of calls.
impl Faults {
    /// Sets a fault. Returns its number.
    ///
    /// # Errors
    /// `IllegalArgument` for an invalid rule.
    pub fn set(&self, rule: FaultRule) -> Result<u64> {
        for server in &rule.servers {
            if let FaultServer::RegionServer(number) = server {
                self.check_server(*number)?;
            }
        }
        self.cluster.get().faults.add(rule)
    }

    /// Ends a fault; false if there is none with this number.
    pub fn clear(&self, id: u64) -> bool {
        self.cluster.get().faults.remove(id)
    }

    /// Ends all faults of calls.
    pub fn clear_all(&self) {
        self.cluster.get().faults.clear();
    }

    /// The faults that are set, and how often each happened.
    pub fn list(&self) -> Vec<FaultStatus> {
        self.cluster.get().faults.list()
    }
}

/// Regions.
impl Faults {
    fn region(&self, name: &str) -> Result<RegionInfo> {
        self.cluster
            .get()
            .find_region(name.as_bytes())?
            .ok_or_else(|| Error::new(Exception::UnknownRegion, name.to_owned()))
    }

    /// Moves a region to another region server; the old one refers clients to it.
    ///
    /// # Errors
    /// `UnknownRegion`; `IllegalArgument` if there is no such server or it is dead.
    pub fn move_region(&self, name: &str, server: usize) -> Result<()> {
        let region = self.region(name)?;
        self.check_server(server)?;
        if !self.cluster.get().region_servers.is_alive(server) {
            return Err(Error::illegal_argument(format!("region server {server} is dead")));
        }
        self.cluster.get().assignments.move_to(region.encoded_name(), server);
        self.cluster.get().note_change();
        Ok(())
    }

    /// Splits a region, at this row or in its middle. Its halves stay on its server.
    ///
    /// # Errors
    /// Those of the store's split.
    pub fn split_region(&self, name: &str, row: Option<&[u8]>) -> Result<()> {
        self.cluster.get().split(&self.region(name)?, row)?;
        self.cluster.get().note_change();
        Ok(())
    }

    /// Takes a region out of service until it is assigned or its server is restarted.
    ///
    /// # Errors
    /// `UnknownRegion`.
    pub fn unassign_region(&self, name: &str) -> Result<()> {
        self.set_closed(name, true)
    }

    /// Puts a region back in service.
    ///
    /// # Errors
    /// `UnknownRegion`.
    pub fn assign_region(&self, name: &str) -> Result<()> {
        self.set_closed(name, false)
    }

    fn set_closed(&self, name: &str, is_closed: bool) -> Result<()> {
        let region = self.region(name)?;
        self.cluster.get().assignments.set_closed(region.encoded_name(), is_closed);
        self.cluster.get().note_change();
        Ok(())
    }
}

/// Servers.
impl Faults {
    fn check_server(&self, server: usize) -> Result<()> {
        let count = self.cluster.get().region_servers.len();
        if server < count {
            return Ok(());
        }
        let message = format!("region servers are numbered 0 to {}, not {server}", count - 1);
        Err(Error::illegal_argument(message))
    }

    /// Kills a region server: its connections are closed, its port refuses new ones, its scanners
    /// are dropped, and the memory of its regions is discarded and replayed from the log. After
    /// `reassign_after` its regions move to the live servers; without it they stay out of service
    /// until they are assigned or the server is restarted.
    ///
    /// # Errors
    /// `IllegalArgument` if there is no such server or it is dead; those of
    /// [`hblite_engine::Procedures::crash_regions`].
    pub fn crash(&self, server: usize, reassign_after: Option<Duration>) -> Result<ServerCrash> {
        self.check_server(server)?;
        let mut ports = self.ports.lock();
        let Some(crash) = self.cluster.get().region_servers.crash(server) else {
            return Err(Error::illegal_argument(format!("region server {server} is dead")));
        };
        let closed = ports.get_mut(server).map_or(Ok(()), Port::close);
        drop(ports);
        let lost = self.cluster.get().assignments.lose(server);
        self.cluster.get().scanners.drop_of(Role::RegionServer(server));
        let names: Vec<&str> = lost.iter().map(String::as_str).collect();
        let report = self.cluster.get().engine.procedures().crash_regions(&names);
        self.cluster.get().note_change();
        if let Some(time) = reassign_after {
            let cluster = self.cluster.clone();
            self.runtime.spawn(async move {
                tokio::time::sleep(time).await;
                let cluster = cluster.get();
                if cluster.region_servers.is_dead_since(server, crash) {
                    cluster.assignments.deal_out_lost(server);
                    cluster.note_change();
                }
            });
        }
        closed.map_err(|error| Error::io_of("cannot close the port", error))?;
        let report = report?;
        Ok(ServerCrash { regions: lost.len(), log_entries: report.log_entries })
    }

    /// Restarts a crashed region server, on its port and with a new start code. It regains the
    /// regions that it lost, except those that other servers have got since.
    ///
    /// # Errors
    /// `IllegalArgument` if there is no such server or it is alive; `Io` if its port cannot be
    /// opened.
    pub fn restart(&self, server: usize) -> Result<()> {
        self.check_server(server)?;
        let mut ports = self.ports.lock();
        if self.cluster.get().region_servers.is_alive(server) {
            return Err(Error::illegal_argument(format!("region server {server} is alive")));
        }
        if let Some(port) = ports.get_mut(server) {
            port.reopen(&self.runtime)
                .map_err(|error| Error::io_of("cannot open the port again", error))?;
        }
        self.cluster.get().region_servers.restart(server, self.cluster.get().engine.now_millis());
        self.cluster.get().assignments.regain(server);
        self.cluster.get().note_change();
        Ok(())
    }

    /// The region servers that are dead.
    pub fn dead_servers(&self) -> Vec<usize> {
        self.cluster.get().region_servers.dead()
    }

    /// The region server that has, or had, a region.
    ///
    /// # Errors
    /// `UnknownRegion`.
    pub fn server_of(&self, name: &str) -> Result<usize> {
        Ok(self.cluster.get().place_of(&self.region(name)?).server)
    }
}
