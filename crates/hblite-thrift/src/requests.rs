//! The store as one connection uses it: its requests are counted.

use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use hblite::Table;
use hblite_model::{
    Error, Get, Mutation, MutationKind, Operation, Protocol, Result, RowResult, TableName,
};
use hblite_wire::callers::CountedClient;

use crate::fault::{Answer, Fault};
use crate::memory::Allowance;
use crate::scanners::Scanner;
use crate::store::{Store, table_name};

/// The store, and the client that requests something of it.
pub(crate) struct Requests {
    store: Arc<Store>,
    client: Option<CountedClient>,
    /// Number of the connection.
    connection: u64,
    /// The account of answers.
    pub(crate) allowance: Rc<Allowance>,
}

impl Deref for Requests {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Requests {
    pub(crate) fn new(
        store: Arc<Store>,
        protocol: Protocol,
        client: Option<IpAddr>,
        connection: u64,
        allowance: &Rc<Allowance>,
    ) -> Self {
        let client = store.counted(protocol, client);
        Self { store, client, connection, allowance: Rc::clone(allowance) }
    }

    /// Counts requests.
    pub(crate) fn note(&self, operation: Operation, table: &TableName, requests: usize) {
        if let Some(client) = &self.client {
            client.note(operation, table, requests as u64);
        }
    }

    /// A table for one request.
    pub(crate) fn requested(&self, operation: Operation, table: &[u8]) -> Result<Table> {
        let table = self.store.table(table)?;
        self.note(operation, table.name(), 1);
        Ok(table)
    }

    /// As [`Store::write_all`].
    pub(crate) fn write_all(
        &self,
        table: &[u8],
        mutations: impl ExactSizeIterator<Item = Result<Mutation>>,
        refused: fn(Error) -> Fault,
    ) -> Answer<()> {
        let (mut puts, mut deletes) = (0, 0);
        let counted = mutations.inspect(|mutation| match mutation {
            Ok(mutation) if mutation.kind() == MutationKind::Delete => deletes += 1,
            Ok(_) => puts += 1,
            Err(_) => {}
        });
        let answer = self.store.write_all(table, counted, refused);
        self.note_named(Operation::Put, table, puts);
        self.note_named(Operation::Delete, table, deletes);
        answer
    }

    /// As [`Store::get`].
    pub(crate) fn get(&self, table: &[u8], get: &Get) -> Answer<RowResult> {
        self.note_named(Operation::Get, table, 1);
        self.store.get(table, get, &self.allowance)
    }

    /// As [`Store::get_all`].
    pub(crate) fn get_all(&self, table: &[u8], gets: Vec<Get>) -> Answer<Vec<RowResult>> {
        self.note_named(Operation::Get, table, gets.len());
        self.store.get_all(table, gets, &self.allowance)
    }

    /// As [`crate::scanners::Scanners::open`].
    pub(crate) fn open(&self, scanner: Scanner) -> Answer<i32> {
        self.store.scanners.open(scanner, self.connection, &self.allowance)
    }

    /// As [`Scanner::next`].
    pub(crate) fn next(&self, scanner: &Scanner, count: i32) -> Answer<Vec<RowResult>> {
        self.note(Operation::Scan, &scanner.table, 1);
        scanner.next(count, self.store.limits().result_size_max_bytes, &self.allowance)
    }

    fn note_named(&self, operation: Operation, table: &[u8], requests: usize) {
        if self.client.as_ref().is_some_and(CountedClient::is_on)
            && let Ok(table) = table_name(table)
        {
            self.note(operation, &table, requests);
        }
    }
}

/// The id of the cluster, for both services.
pub(crate) fn cluster_id(requests: &Requests) -> Answer<String> {
    Ok(requests.store.cluster_id().to_owned())
}
