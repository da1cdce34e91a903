//! The operations of the store that both services use.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::{Arc, Weak};

use hblite::{Admin, Connection, Table};
use hblite_model::cell::key::ROW_LENGTH_MAX;
use hblite_model::{
    Action, Error, Exception, Get, Mutation, Protocol, Put, RegionInfo, Result, RowResult,
    TableName,
};
use hblite_wire::callers::CountedClient;
use hblite_wire::memory::MemoryBudget;

use crate::fault::{Answer, Fault, is_runtime};
use crate::memory::Allowance;
use crate::options::{ThriftLimits, ThriftOptions};
use crate::scanners::Scanners;

/// Rows of a cluster that are read at once.
const GETS_AT_ONCE: usize = 100;

/// The store or cluster that the gateways serve.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    options: ThriftOptions,
    started_at_ms: i64,
    /// The account of all connections and scanners.
    memory: Arc<MemoryBudget>,
    pub(crate) scanners: Arc<Scanners>,
}

impl Store {
    pub(crate) fn new(
        connection: Connection,
        options: ThriftOptions,
        memory: Arc<MemoryBudget>,
    ) -> Self {
        let scanners = Arc::new(Scanners::new(connection.clone(), options.limits.clone(), &memory));
        let of_clients: Weak<Scanners> = Arc::downgrade(&scanners);
        connection.add_client_scanners(of_clients);
        let started_at_ms = connection.now_millis();
        Self { connection, options, started_at_ms, memory, scanners }
    }

    /// The account of all connections and scanners.
    pub(crate) fn memory(&self) -> &Arc<MemoryBudget> {
        &self.memory
    }

    /// The client at this address, if its requests are counted.
    pub(crate) fn counted(
        &self,
        protocol: Protocol,
        client: Option<IpAddr>,
    ) -> Option<CountedClient> {
        let callers = self.options.callers.as_ref()?;
        Some(callers.client(protocol, client, None))
    }

    /// Refuses changes of rows if the gateway only reads.
    pub(crate) fn check_writable(&self) -> Answer<()> {
        match self.options.read_only.is_on() {
            true => Err(Fault::read_only()),
            false => Ok(()),
        }
    }

    pub(crate) fn admin(&self) -> Admin {
        self.connection.admin()
    }

    pub(crate) fn limits(&self) -> &ThriftLimits {
        &self.options.limits
    }

    pub(crate) fn cluster_id(&self) -> &str {
        &self.options.cluster_id
    }

    /// When the gateway was started, by the store's clock: the start code of the servers that it
    /// names.
    pub(crate) fn started_at_ms(&self) -> i64 {
        self.started_at_ms
    }

    pub(crate) fn table(&self, name: &[u8]) -> Result<Table> {
        self.connection.table(table_name(name)?)
    }

    /// Writes in one batch, as HBase's client does: each succeeds or fails on its own.
    ///
    /// # Errors
    /// One that counts the writes that failed; `refused` of the error of a batch that HBase's
    /// client does not send, because a cell is too large, for example.
    pub(crate) fn write_all(
        &self,
        table: &[u8],
        mutations: impl ExactSizeIterator<Item = Result<Mutation>>,
        refused: fn(Error) -> Fault,
    ) -> Answer<()> {
        // Mutations are large: they are not moved to another place.
        let mut actions = Vec::with_capacity(mutations.len());
        for mutation in mutations {
            actions.push(Action::Mutation(mutation?));
        }
        let mut failures = Failures::default();
        self.run(&self.table(table)?, &actions, &mut failures, refused)?;
        failures.check()
    }

    /// Reads a row of the answer.
    ///
    /// # Errors
    /// Those of the read; `CallQueueTooBig` if there is no memory for the row.
    pub(crate) fn get(&self, table: &[u8], get: &Get, allowance: &Allowance) -> Answer<RowResult> {
        let row = self.table(table)?.get(get)?;
        hold(allowance, &row)?;
        Ok(row)
    }

    /// Reads the rows of an answer, a few at a time: what is read is charged before the next.
    ///
    /// # Errors
    /// As [`Store::write_all`], if there are several; `CallQueueTooBig` if there is no memory for
    /// the rows.
    pub(crate) fn get_all(
        &self,
        table: &[u8],
        gets: Vec<Get>,
        allowance: &Allowance,
    ) -> Answer<Vec<RowResult>> {
        if let [get] = gets.as_slice() {
            return Ok(vec![self.get(table, get, allowance)?]);
        }
        let table = self.table(table)?;
        // A cluster limits the answer to a batch itself, and each batch is a call.
        let is_embedded = self.connection.dir().is_some();
        let at_once = if is_embedded { 1 } else { GETS_AT_ONCE };
        let actions: Vec<_> = gets.into_iter().map(Action::Get).collect();
        let (mut rows, mut failures) = (Vec::new(), Failures::default());
        for actions in actions.chunks(at_once) {
            for row in self.run(&table, actions, &mut failures, Fault::from)? {
                if failures.is_empty() {
                    hold(allowance, &row)?;
                    rows.push(row);
                }
            }
        }
        failures.check()?;
        Ok(rows)
    }

    /// The rows of the actions that did not fail.
    fn run(
        &self,
        table: &Table,
        actions: &[Action],
        failures: &mut Failures,
        refused: fn(Error) -> Fault,
    ) -> Answer<Vec<RowResult>> {
        let results = match table.batch(actions) {
            Ok(results) => results,
            Err(error) if is_runtime(error.exception()) => return Err(refused(error)),
            Err(error) => vec![Err(error); actions.len()],
        };
        let mut rows = Vec::with_capacity(actions.len());
        for (action, result) in actions.iter().zip(results) {
            match result {
                Ok(result) => rows.push(result.into_row()),
                Err(error) => {
                    let server = self.server_with_issues(table.name(), action.row(), &error);
                    failures.add(error, server);
                }
            }
        }
        Ok(rows)
    }

    /// The error of a write that HBase's client makes as a batch of `count` actions.
    pub(crate) fn exhausted(
        &self,
        table: &TableName,
        row: &[u8],
        count: usize,
        error: Error,
    ) -> Fault {
        let server = self.server_with_issues(table, row, &error);
        Fault::exhausted(&[(Fault::of_region_server(error), count)], &server)
    }

    /// The server of a row, as HBase's client names it.
    fn server_with_issues(&self, table: &TableName, row: &[u8], error: &Error) -> String {
        if error.exception() == Exception::TableNotFound {
            return "null".to_owned();
        }
        let location = self.admin().locate_region(table, row);
        let server = location.and_then(|location| self.server_of(&location.region));
        match server {
            Ok((host, port)) => format!("{host},{port},{}", self.started_at_ms),
            Err(_) => "null".to_owned(),
        }
    }

    /// Host and port of the server of a region.
    pub(crate) fn server_of(&self, region: &RegionInfo) -> Result<(String, u16)> {
        if let Some(locate) = &self.options.locate {
            return Ok(locate.server_of(region));
        }
        let location = self.admin().locate_region(region.table(), region.start_key())?;
        let (host, port) = location.server.split_once([':', ',']).unwrap_or((&location.server, ""));
        let port = port.split(',').next().and_then(|port| port.parse().ok());
        Ok((host.to_owned(), port.unwrap_or(0)))
    }
}

/// Charges a row of an answer.
fn hold(allowance: &Allowance, row: &RowResult) -> Answer<()> {
    if allowance.try_hold(row) { Ok(()) } else { Err(Fault::out_of_memory()) }
}

/// Actions of a batch that failed, by their error.
#[derive(Debug, Default)]
struct Failures {
    counts: Vec<(Fault, usize)>,
    servers: BTreeSet<String>,
}

impl Failures {
    fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    fn add(&mut self, error: Error, server: String) {
        self.servers.insert(server);
        let fault = Fault::of_region_server(error);
        match self.counts.iter_mut().find(|(known, _)| *known == fault) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((fault, 1)),
        }
    }

    fn check(self) -> Answer<()> {
        if self.is_empty() {
            return Ok(());
        }
        let servers = Vec::from_iter(self.servers).join(", ");
        Err(Fault::exhausted(&self.counts, &servers))
    }
}

/// The name of a table.
///
/// # Errors
/// `IllegalArgument` if it is not valid.
pub(crate) fn table_name(name: &[u8]) -> Result<TableName> {
    match std::str::from_utf8(name) {
        Ok(name) => name.parse(),
        Err(_) => Err(Error::illegal_argument("the name of the table is not UTF-8")),
    }
}

/// What HBase checks when it constructs a Put or Delete.
pub(crate) fn check_row(row: &[u8], timestamp: i64) -> Result<()> {
    // Nearly all rows are fine, and need no Put for that.
    match matches!(row.len(), 1..=ROW_LENGTH_MAX) && timestamp >= 0 {
        true => Ok(()),
        false => Put::new(row).with_timestamp(timestamp).add("f", "", "").as_mutation().check(),
    }
}

/// Family, and qualifier if there is a colon (`CellUtil.parseColumn`).
pub(crate) fn parse_column(column: &[u8]) -> (&[u8], Option<&[u8]>) {
    match column.iter().position(|byte| *byte == b':') {
        Some(colon) => (&column[..colon], Some(&column[colon + 1..])),
        None => (column, None),
    }
}
