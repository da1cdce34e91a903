//! Calls: a message to a service of a server, and its answer within a time limit.

mod connection;
#[cfg_attr(not(any(feature = "kerberos", test)), path = "no_kerberos.rs")]
mod kerberos;
mod pool;
#[cfg(any(feature = "kerberos", test))]
mod sasl;
#[cfg_attr(not(feature = "tls"), path = "no_tls.rs")]
mod tls;
mod transport;

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hblite_wire::client_frame::{self, Body};
use hblite_wire::memory::Room;
use hblite_wire::pb;
use prost::Message;
use tokio::time::Instant;
use tracing::Instrument as _;

pub(crate) use self::pool::Service;

use self::pool::Pool;
use crate::Compiled;
use crate::error::{CallError, Thrown};
use crate::metrics::{CallKind, Counters, Outcome};
use crate::settings::ClientSettings;
use crate::url::ServerAddress;

/// The priority of calls to hbase:meta.
pub(crate) const META_PRIORITY: u32 = 200;

/// A method of a service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Method {
    pub(crate) service: Service,
    pub(crate) name: &'static str,
    pub(crate) priority: u32,
}

impl Method {
    pub(crate) const fn new(service: Service, name: &'static str) -> Self {
        Self { service, name, priority: 0 }
    }

    /// The same method, with the priority of calls to hbase:meta.
    pub(crate) const fn of_meta(self) -> Self {
        Self { priority: META_PRIORITY, ..self }
    }

    /// What a call is counted as.
    fn kind(&self) -> CallKind {
        match (self.service, self.name) {
            (Service::Client, _) if self.priority == META_PRIORITY => CallKind::Meta,
            (Service::Client, "Get") => CallKind::Get,
            (Service::Client, "Mutate") => CallKind::Mutate,
            (Service::Client, "Scan") => CallKind::Scan,
            (Service::Client, "ExecService") => CallKind::Endpoint,
            (Service::Client, _) => CallKind::Multi,
            (Service::Admin | Service::Master | Service::Hbck, _) => CallKind::Admin,
            (Service::Registry, _) => CallKind::Registry,
        }
    }
}

/// An answer: its message, and the plain bytes of its cell block.
#[derive(Debug)]
pub(crate) struct Answer<M> {
    pub(crate) message: M,
    pub(crate) cells: Bytes,
}

impl Answer<Bytes> {
    /// The answer of this server, with its message.
    pub(crate) fn decode<M: Message + Default>(
        self,
        server: &ServerAddress,
    ) -> Result<Answer<M>, CallError> {
        let message = M::decode(self.message).map_err(|error| malformed(server, error))?;
        Ok(Answer { message, cells: self.cells })
    }
}

fn malformed(server: &ServerAddress, why: impl Display) -> CallError {
    CallError::Malformed { server: server.clone(), why: why.to_string() }
}

/// How long a call may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// Time for the answer of the call.
    pub(crate) rpc: Duration,
    /// The end of the operation that the call belongs to.
    pub(crate) deadline: Instant,
    /// The time limit sent to the server, if it is different.
    pub(crate) server: Option<Duration>,
}

impl Limit {
    fn of_call(&self) -> Duration {
        self.rpc.min(self.deadline.saturating_duration_since(Instant::now()))
    }
}

/// Makes calls.
#[derive(Debug)]
pub(crate) struct Rpc {
    settings: Arc<ClientSettings>,
    counters: Arc<Counters>,
    pool: Pool,
}

impl Rpc {
    pub(crate) fn new(settings: Arc<ClientSettings>) -> Self {
        let counters = Arc::new(Counters::default());
        let pool = Pool::new(Arc::clone(&settings), Arc::clone(&counters));
        Self { settings, counters, pool }
    }

    pub(crate) fn settings(&self) -> &Arc<ClientSettings> {
        &self.settings
    }

    /// The counters of the client.
    pub(crate) fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Closes all connections.
    pub(crate) fn close(&self) {
        self.pool.close();
    }

    /// Calls a method. `cells` are not compressed; if the settings say so, they are here.
    pub(crate) async fn call<M: Message + Default>(
        &self,
        server: &ServerAddress,
        method: Method,
        request: &dyn Body,
        cells: &[u8],
        limit: Limit,
    ) -> Result<Answer<M>, CallError> {
        self.call_undecoded(server, method, request, cells, limit).await?.decode(server)
    }

    /// Like [`Rpc::call`], for callers that are compiled once for all messages.
    pub(crate) fn call_undecoded<'c>(
        &'c self,
        server: &'c ServerAddress,
        method: Method,
        request: &'c dyn Body,
        cells: &'c [u8],
        limit: Limit,
    ) -> Compiled<'c, Result<Answer<Bytes>, CallError>> {
        Box::pin(self.timed(server, method, request, cells, limit))
    }

    async fn timed(
        &self,
        server: &ServerAddress,
        method: Method,
        request: &dyn Body,
        cells: &[u8],
        limit: Limit,
    ) -> Result<Answer<Bytes>, CallError> {
        let timer = self.counters.begin(method.kind());
        let span = tracing::debug_span!("call", method = method.name, %server);
        let answer = self.exchange(server, method, request, cells, limit).instrument(span).await;
        timer.end(match &answer {
            Ok(_) => Outcome::Answered,
            Err(CallError::Remote(_)) => Outcome::Refused,
            Err(_) => Outcome::Unanswered,
        });
        answer
    }

    async fn exchange(
        &self,
        server: &ServerAddress,
        method: Method,
        request: &dyn Body,
        cells: &[u8],
        limit: Limit,
    ) -> Result<Answer<Bytes>, CallError> {
        let connection = self.pool.connection(server, method.service, limit.deadline).await?;
        let time = limit.of_call();
        let timeout = limit.server.unwrap_or(time).as_millis();
        let frame = |id: u32| {
            let header = pb::RequestHeader {
                call_id: Some(id),
                method_name: Some(method.name.to_owned()),
                request_param: Some(true),
                priority: (method.priority > 0).then_some(method.priority),
                timeout: Some(u32::try_from(timeout).unwrap_or(u32::MAX).clamp(1, i32::MAX as u32)),
                ..pb::RequestHeader::default()
            };
            let compressed;
            let cells = match self.settings.compressor().filter(|_| !cells.is_empty()) {
                Some(compressor) => {
                    compressed = compressor.compress(cells)?;
                    &compressed
                }
                None => cells,
            };
            Ok(client_frame::request(header, request, cells)?)
        };
        let reply = connection.call(method.name, frame, time).await?;
        if let Some(exception) = reply.header.exception {
            return Err(Thrown::from_response(exception).into());
        }
        let cells = self.plain(reply.cells).map_err(|error| malformed(server, error.message()))?;
        Ok(Answer { message: reply.message, cells })
    }

    fn plain(&self, cells: Bytes) -> hblite_model::Result<Bytes> {
        let Some(compressor) = self.settings.compressor().filter(|_| !cells.is_empty()) else {
            return Ok(cells);
        };
        let max = self.settings.response_size_max_bytes;
        let plain = compressor.decompress(&cells, max, &mut Room::of(max.saturating_mul(2)))?;
        let too_large = || hblite_model::Error::do_not_retry("a cell block is too large");
        plain.map(Bytes::from).ok_or_else(too_large)
    }
}
