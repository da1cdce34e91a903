//! The store as one connection uses it: its requests are counted.

use std::net::IpAddr;
use std::ops::Deref;
use std::sync::Arc;

use hblite::Table;
use hblite_model::{
    Error, Get, Mutation, MutationKind, Operation, Protocol, Result, RowResult, TableName,
};
use hblite_wire::callers::CountedClient;

use crate::fault::{Answer, Fault};
use crate::memory::Allowance;
use crate::store::{Store, table_name};

/// The store, and the client that requests something of it.
pub(crate) struct Requests {
    store: Arc<Store>,
    client: Option<CountedClient>,
}

impl Deref for Requests {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Requests {
    pub(crate) fn new(store: Arc<Store>, protocol: Protocol, client: Option<IpAddr>) -> Self {
        let client = store.counted(protocol, client);
        Self { store, client }
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
    pub(crate) fn get(&self, table: &[u8], get: &Get, allowance: &Allowance) -> Answer<RowResult> {
        self.note_named(Operation::Get, table, 1);
        self.store.get(table, get, allowance)
    }

    /// As [`Store::get_all`].
    pub(crate) fn get_all(
        &self,
        table: &[u8],
        gets: Vec<Get>,
        allowance: &Allowance,
    ) -> Answer<Vec<RowResult>> {
        self.note_named(Operation::Get, table, gets.len());
        self.store.get_all(table, gets, allowance)
    }

    fn note_named(&self, operation: Operation, table: &[u8], requests: usize) {
        if self.client.as_ref().is_some_and(CountedClient::is_on)
            && let Ok(table) = table_name(table)
        {
            self.note(operation, &table, requests);
        }
    }
}
