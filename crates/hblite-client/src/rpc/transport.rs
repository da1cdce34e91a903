//! Opens the way to a server: the socket, TLS, Kerberos, and the first bytes that both leave to the
//! connection.

use std::fmt;
use std::io::ErrorKind;

use bytes::Bytes;
use hblite_wire::{client_frame, pb};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use super::kerberos::Authenticated;
use super::{Service, kerberos, tls};
use crate::error::CallError;
use crate::settings::ClientSettings;
use crate::url::ServerAddress;
use crate::waiting;

/// What a connection is for.
#[derive(Debug, Clone)]
pub(super) struct Hello {
    pub(super) service: Service,
    /// The header for a server that knows the user only by the name in it.
    pub(super) header: pb::ConnectionHeader,
}

impl Hello {
    /// The header for a server that has authenticated the user. A name in it would ask to act for
    /// another user.
    fn authenticated(self) -> pb::ConnectionHeader {
        pb::ConnectionHeader { user_info: None, ..self.header }
    }
}

/// An open way to a server.
pub(super) struct Transport {
    pub(super) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(super) writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// What to send before the first frame.
    pub(super) first: Bytes,
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport").field("first", &self.first).finish_non_exhaustive()
    }
}

/// Connects, and encrypts and authenticates as the settings say.
pub(super) async fn open(
    server: &ServerAddress,
    hello: Hello,
    settings: &ClientSettings,
    deadline: Instant,
) -> Result<Transport, CallError> {
    let attempt = Attempt { server, settings, deadline };
    if !settings.kerberos.is_enabled {
        let first = client_frame::hello(&hello.header);
        let stream = attempt.connect().await?;
        if settings.tls.is_enabled {
            return Ok(split(attempt.encrypt(stream).await?, first));
        }
        let (reader, writer) = stream.into_split();
        return Ok(Transport { reader: Box::new(reader), writer: Box::new(writer), first });
    }
    let mut guess = None;
    loop {
        if let Some(transport) = attempt.authenticated(hello.clone(), &mut guess).await? {
            return Ok(transport);
        }
    }
}

fn split<S>(stream: S, first: Bytes) -> Transport
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (reader, writer) = tokio::io::split(stream);
    Transport { reader: Box::new(reader), writer: Box::new(writer), first }
}

#[derive(Debug)]
struct Attempt<'a> {
    server: &'a ServerAddress,
    settings: &'a ClientSettings,
    deadline: Instant,
}

impl Attempt<'_> {
    async fn connect(&self) -> Result<TcpStream, CallError> {
        let unreachable = |why| CallError::Unreachable { server: self.server.clone(), why };
        let limit = self
            .settings
            .connect_timeout
            .min(self.deadline.saturating_duration_since(Instant::now()));
        let stream = match timeout(limit, waiting::connect(self.server)).await {
            Ok(stream) => stream.map_err(|error| match error.kind() {
                ErrorKind::NotFound => CallError::UnknownHost { server: self.server.clone() },
                _ => unreachable(error.to_string()),
            })?,
            Err(_) => {
                return Err(unreachable(format!("no connection within {} ms", limit.as_millis())));
            }
        };
        stream.set_nodelay(true).map_err(|error| unreachable(error.to_string()))?;
        Ok(stream)
    }

    async fn encrypt(
        &self,
        stream: TcpStream,
    ) -> Result<impl AsyncRead + AsyncWrite + Send + Unpin + use<>, CallError> {
        let limit = self.deadline.saturating_duration_since(Instant::now());
        tls::handshake(stream, self.server, &self.settings.tls, limit).await
    }

    /// A new connection with Kerberos; `None` if the principal that is in `guess` now may be the
    /// server's.
    async fn authenticated(
        &self,
        hello: Hello,
        guess: &mut Option<usize>,
    ) -> Result<Option<Transport>, CallError> {
        let stream = self.connect().await?;
        if self.settings.tls.is_enabled {
            self.authenticate(self.encrypt(stream).await?, hello, guess).await
        } else {
            self.authenticate(stream, hello, guess).await
        }
    }

    async fn authenticate<S>(
        &self,
        stream: S,
        hello: Hello,
        guess: &mut Option<usize>,
    ) -> Result<Option<Transport>, CallError>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let Self { server, settings, deadline } = self;
        let limit = deadline.saturating_duration_since(Instant::now());
        let done =
            kerberos::authenticate(stream, server, hello.service, settings, guess, limit).await?;
        let Some(Authenticated { stream, is_simple }) = done else { return Ok(None) };
        let header = if is_simple { hello.header } else { hello.authenticated() };
        Ok(Some(split(stream, client_frame::connection_header(&header))))
    }
}
