//! SASL's mechanism GSSAPI (RFC 4752): how both sides agree on the protection once the security
//! context is established.
//!
//! ```text
//! establishing   tokens of the security context, until both sides have it
//! negotiating    the server sends, wrapped: protections that it offers, maximum size
//!                the client answers, wrapped: the one it selects, its own maximum size
//! complete
//! ```

use super::Failure;
use crate::kerberos_settings::RpcProtection;

/// The largest message that this side announces to accept; the length has three bytes.
const RECEIVED_MAX: u32 = 0xff_ffff;
/// The most plain bytes in one wrapped message.
const CHUNK_MAX: u32 = 64 * 1024;

/// A result of [`SecurityContext::step`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::rpc) struct Step {
    /// What to send; may be empty.
    pub(in crate::rpc) token: Vec<u8>,
    /// Whether both sides have the context.
    pub(in crate::rpc) is_established: bool,
}

/// The security context of a connection, as GSSAPI defines it.
pub(in crate::rpc) trait SecurityContext: Send + 'static {
    /// Takes the server's token, empty at first. The result is established only if the server has
    /// proved who it is.
    fn step(&mut self, token: &[u8]) -> Result<Step, Failure>;

    /// Signs, and encrypts if `encrypts`.
    fn wrap(&mut self, plain: &[u8], encrypts: bool) -> Result<Vec<u8>, Failure>;

    /// Verifies, and returns the plain bytes and whether they were encrypted.
    fn unwrap(&mut self, wrapped: &[u8]) -> Result<(Vec<u8>, bool), Failure>;

    /// The most bytes whose wrapped form has at most `wrapped_max` bytes.
    fn plain_size_max(&mut self, wrapped_max: u32, encrypts: bool) -> Result<u32, Failure>;

    /// The error to report if the server refuses with an exception.
    fn refused_by_server(&self, class: &str, message: &str) -> String;
}

#[derive(Debug)]
enum State {
    Establishing,
    Negotiating,
    Complete { selected: RpcProtection, chunk_max: usize },
}

/// The client's side of the mechanism.
#[derive(Debug)]
pub(in crate::rpc) struct Gssapi<C> {
    context: C,
    wanted: Vec<RpcProtection>,
    state: State,
}

impl<C: SecurityContext> Gssapi<C> {
    /// Begins. `wanted` are the acceptable protections, the preferred one first.
    pub(in crate::rpc) fn new(context: C, wanted: &[RpcProtection]) -> Self {
        Self { context, wanted: wanted.to_vec(), state: State::Establishing }
    }

    /// The token to send after the server's `challenge`, which is empty at first.
    pub(super) fn evaluate(&mut self, challenge: &[u8]) -> Result<Vec<u8>, Failure> {
        match self.state {
            State::Establishing => {
                let step = self.context.step(challenge)?;
                if step.is_established {
                    self.state = State::Negotiating;
                }
                Ok(step.token)
            }
            State::Negotiating => self.select(challenge),
            State::Complete { .. } => {
                Err(Failure::Refused("the server sends a token too many".to_owned()))
            }
        }
    }

    fn select(&mut self, challenge: &[u8]) -> Result<Vec<u8>, Failure> {
        let (offer, _) = self.context.unwrap(challenge)?;
        let Ok([offered, size @ ..]) = <[u8; 4]>::try_from(offer) else {
            let why = "the server does not say which hbase.rpc.protection it offers";
            return Err(Failure::Refused(why.to_owned()));
        };
        let found = self.wanted.iter().find(|wanted| offered & bit(**wanted) != 0);
        let selected = *found.ok_or_else(|| self.no_common(offered))?;
        let [a, b, c] = size;
        let wrapped_max = u32::from_be_bytes([0, a, b, c]);
        let mut answer = [0; 4];
        let mut chunk_max = 0;
        if selected != RpcProtection::Authentication {
            let encrypts = selected == RpcProtection::Privacy;
            chunk_max = self.context.plain_size_max(wrapped_max, encrypts)?.min(CHUNK_MAX);
            if chunk_max == 0 {
                let why = format!("the server accepts at most {wrapped_max} bytes in a message");
                return Err(Failure::Refused(why));
            }
            answer = RECEIVED_MAX.to_be_bytes();
        }
        answer[0] = bit(selected);
        let token = self.context.wrap(&answer, false)?;
        self.state = State::Complete { selected, chunk_max: chunk_max as usize };
        Ok(token)
    }

    fn no_common(&self, offered: u8) -> Failure {
        let all = [RpcProtection::Authentication, RpcProtection::Integrity, RpcProtection::Privacy];
        let names = |has: &dyn Fn(RpcProtection) -> bool| {
            let names = all.iter().filter(|one| has(**one)).map(|one| name(*one));
            names.collect::<Vec<_>>().join(",")
        };
        Failure::Refused(format!(
            "hbase.rpc.protection is {} here, but {} on the server; it needs a value in common",
            names(&|one| self.wanted.contains(&one)),
            names(&|one| offered & bit(one) != 0),
        ))
    }

    /// Whether the client has sent its last token. The server sends nothing more if it accepts it.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.state, State::Complete { .. })
    }

    /// How the bytes after the exchange are wrapped; `None` if they are not.
    pub(super) fn into_layer(self) -> Option<Layer<C>> {
        match self.state {
            State::Complete { selected, chunk_max } if chunk_max > 0 => Some(Layer {
                context: self.context,
                encrypts: selected == RpcProtection::Privacy,
                chunk_max,
            }),
            _ => None,
        }
    }

    /// The error to report if the server refuses with an exception.
    pub(super) fn refused_by_server(&self, class: &str, message: &str) -> String {
        self.context.refused_by_server(class, message)
    }
}

/// The bit of a protection in an offer.
fn bit(protection: RpcProtection) -> u8 {
    match protection {
        RpcProtection::Authentication => 1,
        RpcProtection::Integrity => 2,
        RpcProtection::Privacy => 4,
    }
}

fn name(protection: RpcProtection) -> &'static str {
    match protection {
        RpcProtection::Authentication => "authentication",
        RpcProtection::Integrity => "integrity",
        RpcProtection::Privacy => "privacy",
    }
}

/// Wraps and unwraps messages after the exchange.
#[derive(Debug)]
pub(in crate::rpc) struct Layer<C> {
    context: C,
    encrypts: bool,
    chunk_max: usize,
}

impl<C: SecurityContext> Layer<C> {
    /// The most plain bytes in one message.
    pub(super) fn chunk_max(&self) -> usize {
        self.chunk_max
    }

    pub(super) fn wrap(&mut self, plain: &[u8]) -> Result<Vec<u8>, Failure> {
        self.context.wrap(plain, self.encrypts)
    }

    /// The plain bytes of a message.
    ///
    /// # Errors
    /// `Refused` if it is not the server's next message, or not encrypted although it must be.
    pub(super) fn unwrap(&mut self, wrapped: &[u8]) -> Result<Vec<u8>, Failure> {
        let (plain, was_encrypted) = self.context.unwrap(wrapped)?;
        if self.encrypts && !was_encrypted {
            return Err(Failure::Refused("a message of the server is not encrypted".to_owned()));
        }
        Ok(plain)
    }
}
