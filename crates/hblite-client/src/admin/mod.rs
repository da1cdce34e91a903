//! Changes tables, regions, namespaces and snapshots.
//!
//! The master runs changes as procedures. Every method returns when its procedure is done, or when
//! `hbase.client.operation.timeout` has passed; in that case the procedure continues.

mod groups;
mod master_work;
mod namespaces;
mod operations;
mod peers;
mod permissions;
mod placement;
mod procedure;
mod quotas;
mod regions;
mod row_counts;
mod snapshots;
mod status;
mod switches;
mod tables;

use std::sync::Arc;

use bytes::Bytes;
use hblite_model::{Error, Exception, Result, TableName};
use hblite_wire::client_frame::Body;
use hblite_wire::pb;
use parking_lot::Mutex;
use prost::Message;

use crate::Compiled;
use crate::error::CallError;
use crate::registry::Wanted;
use crate::retry::Retries;
use crate::rpc::{Answer, Method, Service};
use crate::shared::Shared;
use crate::url::ServerAddress;

/// Changes tables, regions, namespaces and snapshots of a cluster. Cheap to clone.
///
/// # Errors
/// Every method returns HBase's exception class and message; `MasterNotRunning` if there is no
/// master, and `Io` if it did not answer in time.
#[derive(Debug, Clone)]
pub struct Admin {
    shared: Arc<Shared>,
    /// The master, once it is known.
    master: Arc<Mutex<Option<ServerAddress>>>,
}

impl Admin {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, master: Arc::default() }
    }

    /// Calls a method of the master.
    async fn call<M: Message + Default>(
        &self,
        name: &'static str,
        request: &dyn Body,
    ) -> Result<M> {
        self.call_method(Method::new(Service::Master, name), request).await
    }

    /// Calls a method that every server has, including the master.
    async fn call_server<M: Message + Default>(
        &self,
        name: &'static str,
        request: &dyn Body,
    ) -> Result<M> {
        self.call_method(Method::new(Service::Admin, name), request).await
    }

    async fn call_method<M: Message + Default>(
        &self,
        method: Method,
        request: &dyn Body,
    ) -> Result<M> {
        let (master, answer) = self.call_master(method, request).await?;
        Ok(answer.decode(&master)?.message)
    }

    /// Returns the master that answered, too.
    fn call_master<'c>(
        &'c self,
        method: Method,
        request: &'c dyn Body,
    ) -> Compiled<'c, Result<(ServerAddress, Answer<Bytes>)>> {
        Box::pin(self.attempts(method, request))
    }

    async fn attempts(
        &self,
        method: Method,
        request: &dyn Body,
    ) -> Result<(ServerAddress, Answer<Bytes>)> {
        let mut retries = Retries::new(&self.shared.rpc);
        loop {
            match self.attempt(method, request, &retries).await {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    if error.clears_location() {
                        *self.master.lock() = None;
                    }
                    // The region itself was asked for, not a change that touches regions. The
                    // master will never have it.
                    if method.service == Service::Admin && error.is_not_serving() {
                        return Err(error.into());
                    }
                    retries.after(error).await?;
                }
            }
        }
    }

    async fn attempt(
        &self,
        method: Method,
        request: &dyn Body,
        retries: &Retries,
    ) -> std::result::Result<(ServerAddress, Answer<Bytes>), CallError> {
        let limit = retries.limit();
        let known = self.master.lock().clone();
        let master = match known {
            Some(master) => master,
            None => {
                let master = self.shared.registry.find(Wanted::Master, limit.deadline).await?;
                *self.master.lock() = Some(master.clone());
                master
            }
        };
        let rpc = &self.shared.rpc;
        let answer = rpc.call_undecoded(&master, method, request, b"", limit).await?;
        Ok((master, answer))
    }

    /// Calls a method of the master that begins a procedure, and waits for its end.
    async fn change(&self, name: &'static str, request: &dyn Body) -> Result<()> {
        let answer: pb::ProcedureResponse = self.call(name, request).await?;
        match answer.proc_id {
            Some(id) => self.wait_for_procedure(name, id).await.map(drop),
            None => Ok(()),
        }
    }

    /// Group and number of a nonce, with which a change does not happen twice if its call is
    /// retried.
    fn nonce(&self) -> (Option<u64>, Option<u64>) {
        let nonce = self.shared.new_nonce();
        (Some(nonce.group), Some(nonce.number))
    }
}

fn not_found(table: &TableName) -> Error {
    Error::new(Exception::TableNotFound, table.to_string())
}
