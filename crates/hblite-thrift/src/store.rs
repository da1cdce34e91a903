//! The operations of the store that both services use.

use std::collections::BTreeSet;

use hblite::{Admin, Connection, Table};
use hblite_model::{
    Action, Error, Exception, Get, Mutation, RegionInfo, Result, RowResult, TableName,
};

use crate::fault::{Answer, Fault, is_runtime};
use crate::options::{ThriftLimits, ThriftOptions};
use crate::scanners::Scanners;

/// The store or cluster that the gateways serve.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    options: ThriftOptions,
    started_at_ms: i64,
    pub(crate) scanners: Scanners,
}

impl Store {
    pub(crate) fn new(connection: Connection, options: ThriftOptions) -> Self {
        let scanners = Scanners::new(connection.clone(), options.limits.clone());
        let started_at_ms = connection.now_millis();
        Self { connection, options, started_at_ms, scanners }
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
    /// One that counts the writes that failed.
    pub(crate) fn write_all(
        &self,
        table: &[u8],
        mutations: impl IntoIterator<Item = Mutation>,
    ) -> Answer<()> {
        let table = self.table(table)?;
        let actions: Vec<Action> = mutations.into_iter().map(Action::Mutation).collect();
        self.run_all(&table, &actions).map(drop)
    }

    /// Reads rows, in a batch if there are several.
    ///
    /// # Errors
    /// As [`Store::write_all`], if there are several.
    pub(crate) fn get_all(&self, table: &[u8], gets: &[Get]) -> Answer<Vec<RowResult>> {
        let table = self.table(table)?;
        if let [get] = gets {
            return Ok(vec![table.get(get)?]);
        }
        match table.get_all(gets) {
            Ok(rows) => Ok(rows),
            // Repeats the reads, to count those that fail.
            Err(_) => {
                let actions: Vec<_> = gets.iter().cloned().map(Action::Get).collect();
                self.run_all(&table, &actions)
            }
        }
    }

    fn run_all(&self, table: &Table, actions: &[Action]) -> Answer<Vec<RowResult>> {
        let results = match table.batch(actions) {
            Ok(results) => results,
            Err(error) if is_runtime(error.exception()) => return Err(Fault::Internal),
            Err(error) => vec![Err(error); actions.len()],
        };
        let mut rows = Vec::with_capacity(actions.len());
        let mut failures: Vec<(Fault, usize)> = Vec::new();
        let mut servers = BTreeSet::new();
        for (action, result) in actions.iter().zip(results) {
            let error = match result {
                Ok(row) => {
                    rows.push(row);
                    continue;
                }
                Err(error) => error,
            };
            servers.insert(self.server_with_issues(table.name(), action.row(), &error));
            let fault = Fault::of_region_server(error);
            match failures.iter_mut().find(|(known, _)| *known == fault) {
                Some((_, count)) => *count += 1,
                None => failures.push((fault, 1)),
            }
        }
        if failures.is_empty() {
            return Ok(rows);
        }
        let servers = Vec::from_iter(servers).join(", ");
        Err(Fault::exhausted(&failures, &servers))
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

/// Family, and qualifier if there is a colon (`CellUtil.parseColumn`).
pub(crate) fn parse_column(column: &[u8]) -> (&[u8], Option<&[u8]>) {
    match column.iter().position(|byte| *byte == b':') {
        Some(colon) => (&column[..colon], Some(&column[colon + 1..])),
        None => (column, None),
    }
}
