//! One call, and who sent it.

use std::time::Instant;

use bytes::Bytes;
use hblite_model::Result;
use hblite_wire::cell_block::{Codec, Compressor};
use hblite_wire::convert::ResultWriter;
use hblite_wire::frame::{self, Request, Response};
use hblite_wire::{RemoteException, pb};
use prost::Message;

use crate::cluster::Role;

/// What a service answers.
pub(crate) type Answer = std::result::Result<Response, RemoteException>;

/// The services that hblite has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Client,
    Admin,
    Master,
    ClientMeta,
    BootstrapNode,
    Lock,
    Hbck,
}

impl Service {
    /// The service with this name, if servers of this role have it.
    pub(crate) fn of_name(name: &str, role: Role) -> Option<Self> {
        let is_master = role == Role::Master;
        match name {
            "ClientService" => Some(Self::Client),
            "AdminService" => Some(Self::Admin),
            "ClientMetaService" => Some(Self::ClientMeta),
            "BootstrapNodeService" => Some(Self::BootstrapNode),
            "MasterService" if is_master => Some(Self::Master),
            "LockService" if is_master => Some(Self::Lock),
            "HbckService" if is_master => Some(Self::Hbck),
            _ => None,
        }
    }
}

/// Who is at the other end of a connection, as its header says.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) role: Role,
    pub(crate) service: Service,
    pub(crate) codec: Option<Codec>,
    pub(crate) compressor: Option<Compressor>,
    /// Major and minor version of a Java client.
    pub(crate) version: Option<(u32, u32)>,
    /// The host under which this client is told of servers.
    pub(crate) host: String,
}

impl Client {
    pub(crate) fn has_version(&self, major: u32, minor: u32) -> bool {
        self.version.is_some_and(|version| version >= (major, minor))
    }
}

/// A call that is to be answered.
#[derive(Debug)]
pub(crate) struct Call<'c> {
    pub(crate) client: &'c Client,
    pub(crate) request: &'c Request,
    /// When nobody waits for the answer any more.
    pub(crate) deadline: Option<Instant>,
    /// Whether the connection waits while this is done, so that it must not take long.
    pub(crate) is_quick: bool,
}

impl Call<'_> {
    /// The parameter.
    ///
    /// # Errors
    /// `DoNotRetryIo` if the bytes are no such message.
    pub(crate) fn parameter<M: Message + Default>(&self) -> Result<M> {
        frame::decode(self.request.message.clone())
    }

    /// The cells beside the parameter, plain.
    ///
    /// # Errors
    /// `DoNotRetryIo` if they cannot be decompressed, or are more than `size_max_bytes`.
    pub(crate) fn cells(&self, size_max_bytes: usize) -> Result<Bytes> {
        match self.client.compressor {
            Some(compressor) if !self.request.cells.is_empty() => {
                compressor.decompress(&self.request.cells, size_max_bytes).map(Bytes::from)
            }
            _ => Ok(self.request.cells.clone()),
        }
    }

    /// A writer of results as this client wants them.
    pub(crate) fn results(&self) -> ResultWriter {
        ResultWriter::new(self.client.codec)
    }

    /// An answer without cells beside it.
    #[expect(clippy::unnecessary_wraps, reason = "every service ends with one of the two")]
    pub(crate) fn answer(&self, message: &impl Message) -> Answer {
        Ok(Response::new(self.request.call_id(), message, Bytes::new()))
    }

    /// An answer with the cells that `results` has beside it.
    pub(crate) fn answer_with(&self, message: &impl Message, results: ResultWriter) -> Answer {
        let block = results.into_block();
        let block = match self.client.compressor {
            Some(compressor) if !block.is_empty() => compressor.compress(&block)?,
            _ => block,
        };
        Ok(Response::new(self.request.call_id(), message, Bytes::from(block)))
    }

    /// An empty answer.
    pub(crate) fn answer_empty(&self) -> Answer {
        self.answer(&pb::Empty {})
    }
}
