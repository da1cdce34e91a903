//! SASL on a connection: the exchange of tokens that authenticates both sides, and the protection
//! of what follows.
//!
//! ```text
//! client                                     server
//! "HBas" 0 81  then frames: length, token
//!                                            status 0, length, token
//!                                            status 0, −88: continue without SASL
//!                                            status 1, class, message: refused
//! the connection's header and requests, wrapped if the protection is integrity or privacy
//! ```
//!
//! `gssapi` decides what the tokens are, `frame` reads and writes them, `protected` wraps the bytes
//! after them. What Kerberos does is behind the trait `SecurityContext`.

mod frame;
mod gssapi;
mod protected;
#[cfg(test)]
mod tests;

use tokio::io::{AsyncRead, AsyncWrite};

pub(super) use self::gssapi::{Gssapi, SecurityContext, Step};
pub(super) use self::protected::Protected;

use self::frame::Reply;
use self::gssapi::Layer;
use crate::waiting;

/// Why the connection is not authenticated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// Another attempt cannot succeed.
    Refused(String),
    /// Another attempt may succeed.
    Interrupted(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Interrupted(match error.kind() {
            std::io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
            _ => error.to_string(),
        })
    }
}

/// How an exchange ended.
#[derive(Debug)]
pub(super) enum Negotiated<C> {
    /// Both sides are authenticated.
    Sasl(Option<Layer<C>>),
    /// The server does not authenticate its clients. It has skipped the first token.
    Simple,
}

/// Exchanges tokens until both sides are authenticated. The preamble has been sent.
pub(super) async fn negotiate<S, C>(
    stream: &mut S,
    mut gssapi: Gssapi<C>,
) -> Result<Negotiated<C>, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin,
    C: SecurityContext,
{
    let mut challenge = Vec::new();
    let mut is_first = true;
    loop {
        // It may ask servers of Kerberos, and waits for their answers.
        let step = move || {
            let token = gssapi.evaluate(&challenge);
            (gssapi, token)
        };
        let done = waiting::on_thread(step).await;
        let done = done.map_err(|error| Failure::Interrupted(error.message().to_owned()));
        let (returned, token) = done?;
        gssapi = returned;
        frame::write_token(stream, &token?).await?;
        if gssapi.is_complete() {
            return Ok(Negotiated::Sasl(gssapi.into_layer()));
        }
        challenge = match frame::read_reply(stream).await? {
            Reply::Token(token) => token,
            Reply::SwitchToSimple if is_first => return Ok(Negotiated::Simple),
            Reply::SwitchToSimple => {
                let why = "the server asks for SIMPLE authentication after it began with SASL";
                return Err(Failure::Refused(why.to_owned()));
            }
            Reply::Refused { class, message } => {
                return Err(Failure::Refused(gssapi.refused_by_server(&class, &message)));
            }
        };
        is_first = false;
    }
}
