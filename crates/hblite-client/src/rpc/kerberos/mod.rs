//! Kerberos on a connection: which principals the server may have, a ticket for it, and the
//! exchange of tokens.
//!
//! Tickets are read for each connection, so that renewed ones are used. Everything that may wait
//! for a name server or a KDC runs on a thread that may block.

mod library;
mod status;

use std::ffi::CString;
use std::time::Duration;

use hblite_model::Error;
use hblite_wire::client_frame::{Reply, preamble};
use hblite_wire::exception::class;
use hblite_wire::pb;
use hblite_wire::preamble::AUTH_KERBEROS;
use parking_lot::Mutex;
use prost::Message;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

use self::library::{Context, Gss};
use self::status::{GssError, Parties, flag};
use super::Service;
use super::sasl::{Failure, Gssapi, Negotiated, Protected, SecurityContext, Step, negotiate};
use crate::error::CallError;
use crate::kerberos_settings::{KerberosSettings, RpcProtection};
use crate::settings::ClientSettings;
use crate::url::ServerAddress;
use crate::waiting;

const MASTER: &str = "hbase.master.kerberos.principal";
const REGION_SERVER: &str = "hbase.regionserver.kerberos.principal";
/// What stands for the host in a principal.
const HOST: &str = "_HOST";
/// The preamble that asks a server for its principal. HBase has it since 2.6.1.
const WHO_ARE_YOU: &[u8; 6] = b"Securi";
/// Maximum size of its answer.
const ANSWER_SIZE_MAX: usize = 64 * 1024;
/// How much longer than its bytes a wrapped message may be.
const WRAPPING_MAX: usize = 64 * 1024;

/// A connection that is authenticated.
#[derive(Debug)]
pub(super) struct Authenticated<S> {
    pub(super) stream: Protected<S, ServerContext>,
    /// Whether the server authenticates no clients, so that this one only gives its name.
    pub(super) is_simple: bool,
}

/// Authenticates both sides of a connection that has just been opened.
///
/// A server of the registry may have either of two principals. It is asked for its own, unless
/// there is a `guess`. If it does not tell, or the guess is wrong, the result is `None` and `guess`
/// the next one, for a new connection.
pub(super) async fn authenticate<S>(
    stream: S,
    server: &ServerAddress,
    service: Service,
    settings: &ClientSettings,
    guess: &mut Option<usize>,
    limit: Duration,
) -> Result<Option<Authenticated<S>>, CallError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let unreachable = |why| CallError::Unreachable { server: server.clone(), why };
    let exchange = exchange(stream, &server.host, service, settings, guess);
    match timeout(limit, exchange).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(Failure::Refused(why))) => {
            Err(CallError::Unauthenticated { server: server.clone(), why })
        }
        Ok(Err(Failure::Interrupted(why))) => {
            Err(unreachable(format!("the authentication with Kerberos failed: {why}")))
        }
        Err(_) => {
            let millis = limit.as_millis();
            Err(unreachable(format!("no authentication with Kerberos within {millis} ms")))
        }
    }
}

async fn exchange<S>(
    mut stream: S,
    host: &str,
    service: Service,
    settings: &ClientSettings,
    guess: &mut Option<usize>,
) -> Result<Option<Authenticated<S>>, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let kerberos = &settings.kerberos;
    let mut candidates = {
        let (kerberos, host) = (kerberos.clone(), host.to_owned());
        blocking(move || candidates(&kerberos, service, &host)).await?
    };
    let is_guess = guess.is_some();
    let chosen = match *guess {
        Some(guess) => guess,
        None if candidates.len() == 1 => 0,
        None => match ask(&mut stream, &candidates).await? {
            Asked::Is(index) => index,
            Asked::IsNotSecured if kerberos.allows_fallback => 0,
            Asked::IsNotSecured => return Err(not_secured()),
            Asked::DoesNotTell => {
                *guess = Some(0);
                return Ok(None);
            }
        },
    };
    let is_last = chosen + 1 >= candidates.len();
    match authenticate_as(stream, candidates.swap_remove(chosen), settings).await {
        Err(Failure::Refused(why)) if is_guess && !is_last => {
            tracing::debug!(why, "the server may have another principal");
            *guess = Some(chosen + 1);
            Ok(None)
        }
        done => done.map(Some),
    }
}

/// Authenticates with a server that has this principal.
async fn authenticate_as<S>(
    mut stream: S,
    parties: Parties,
    settings: &ClientSettings,
) -> Result<Authenticated<S>, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let kerberos = &settings.kerberos;
    let context = {
        let kerberos = kerberos.clone();
        blocking(move || ServerContext::begin(&kerberos, parties)).await?
    };
    stream.write_all(&preamble(AUTH_KERBEROS)).await?;
    let gssapi = Gssapi::new(context, &kerberos.protections);
    let (layer, is_simple) = match negotiate(&mut stream, gssapi).await? {
        Negotiated::Sasl(layer) => (layer, false),
        Negotiated::Simple if kerberos.allows_fallback => (None, true),
        Negotiated::Simple => return Err(not_secured()),
    };
    let message_size_max = settings.response_size_max_bytes.saturating_add(WRAPPING_MAX);
    let stream = Protected::new(stream, layer, message_size_max);
    Ok(Authenticated { stream, is_simple })
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = waiting::on_thread(work).await;
    done.map_err(|error| Failure::Interrupted(error.message().to_owned()))?
}

fn not_secured() -> Failure {
    Failure::Refused(
        "the server accepts only SIMPLE authentication, so it cannot prove who it is; set \
         hbase.security.authentication=simple for such a cluster, or \
         hbase.ipc.client.fallback-to-simple-auth-allowed=true for clusters of both kinds"
            .to_owned(),
    )
}

/// The principals that a server with this service may have, without repetition.
fn candidates(
    settings: &KerberosSettings,
    service: Service,
    host: &str,
) -> Result<Vec<Parties>, Failure> {
    let master = (MASTER, &settings.master_principal);
    let region_server = (REGION_SERVER, &settings.region_server_principal);
    let templates = match service {
        Service::Client | Service::Admin => vec![region_server],
        Service::Master | Service::Hbck => vec![master],
        Service::Registry => vec![master, region_server],
    };
    let mut found: Vec<Parties> = Vec::new();
    let mut canonical = None;
    for (setting, template) in templates {
        let template = template.as_deref().ok_or_else(|| {
            let message = format!(
                "hbase.security.authentication=kerberos needs {setting}, such as \
                 hbase/_HOST@EXAMPLE.COM"
            );
            Failure::Refused(message)
        })?;
        let principal = server_principal(setting, template, || match &canonical {
            Some(name) => Ok(String::clone(name)),
            None => {
                let name = host_name(settings, host)?;
                Ok(canonical.insert(name).clone())
            }
        })?;
        if found.iter().all(|other| other.server != principal) {
            found.push(Parties::new(principal, setting, settings));
        }
    }
    Ok(found)
}

/// A server's principal; `host` returns what stands for [`HOST`].
fn server_principal(
    setting: &str,
    template: &str,
    host: impl FnOnce() -> Result<String, Failure>,
) -> Result<String, Failure> {
    let parts: Vec<&str> = template.split(['/', '@']).collect();
    match parts[..] {
        [name, HOST, realm] if !name.is_empty() && !realm.is_empty() => {
            Ok(format!("{name}/{}@{realm}", host()?))
        }
        [name, host, realm] if ![name, host, realm].contains(&"") => Ok(template.to_owned()),
        _ => Err(Failure::Refused(format!(
            "{setting}: {template:?} is not the principal of a server; it must have a name, a host \
             and a realm, as in hbase/_HOST@EXAMPLE.COM"
        ))),
    }
}

/// The name of a host in its server's principal.
fn host_name(settings: &KerberosSettings, host: &str) -> Result<String, Failure> {
    if !settings.canonicalizes_hosts {
        return Ok(host.to_lowercase());
    }
    let gss = Gss::load().map_err(Failure::Refused)?;
    canonical(gss, Some(host)).map_err(|error| {
        Failure::Interrupted(format!("the host {host} has no canonical name: {}", error.text))
    })
}

/// The canonical name of a host, or of this one.
fn canonical(gss: Gss, host: Option<&str>) -> Result<String, GssError> {
    let principal = gss.service_principal("hbase", host)?;
    let host = principal.split(['/', '@']).nth(1);
    Ok(host.unwrap_or_default().to_lowercase())
}

/// What a server says about its principal.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    Is(usize),
    IsNotSecured,
    /// It does not know the question; or it answers with another principal. HBase 2.6.1 does, if
    /// its process had another user when it began.
    DoesNotTell,
}

/// Asks a server which of the principals it has.
async fn ask<S>(stream: &mut S, candidates: &[Parties]) -> Result<Asked, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let malformed = |why: &str| Failure::Refused(format!("the answer to {WHO_ARE_YOU:?}: {why}"));
    stream.write_all(WHO_ARE_YOU).await?;
    stream.flush().await?;
    let length = stream.read_u32().await? as usize;
    if length > ANSWER_SIZE_MAX {
        return Err(malformed("it is too long"));
    }
    let mut frame = vec![0; length];
    stream.read_exact(&mut frame).await?;
    let reply = Reply::parse(frame.into()).map_err(|error| malformed(error.message()))?;
    if let Some(exception) = reply.header.exception {
        let name = exception.exception_class_name.unwrap_or_default();
        let is_not_secured = name == class::SECURITY_NOT_ENABLED;
        return Ok(if is_not_secured { Asked::IsNotSecured } else { Asked::DoesNotTell });
    }
    let answer = pb::SecurityPreambleResponse::decode(reply.message);
    let principal = answer.map_err(|error| malformed(&error.to_string()))?.server_principal;
    let index = candidates.iter().position(|candidate| candidate.server == principal);
    Ok(index.map_or(Asked::DoesNotTell, Asked::Is))
}

/// The security context with a server.
pub(super) struct ServerContext {
    context: Context,
    parties: Parties,
    /// The first token; `None` once it is sent.
    first: Option<Vec<u8>>,
}

/// Held while a keytab's tickets are used: all threads share one cache, in which a thread replaces
/// tickets that expire.
static KEYTAB_TICKETS: Mutex<()> = Mutex::new(());

impl ServerContext {
    /// Gets a ticket for the server.
    fn begin(settings: &KerberosSettings, mut parties: Parties) -> Result<Self, Failure> {
        let gss = Gss::load().map_err(Failure::Refused)?;
        let _shared = settings.keytab.as_ref().map(|_| KEYTAB_TICKETS.lock());
        let explain = |error: GssError, parties: &Parties| parties.explain(&error);
        let server = gss.principal(&parties.server).map_err(|error| explain(error, &parties))?;
        let store =
            store(settings).map_err(|error| Failure::Refused(error.message().to_owned()))?;
        let store: Vec<_> = store.iter().map(|(key, value)| (*key, value.as_c_str())).collect();
        let client = client_principal(gss, settings).map_err(|error| explain(error, &parties))?;
        let client = client.map(|name| gss.principal(&name)).transpose();
        let client = client.map_err(|error| explain(error, &parties))?;
        let credentials = gss.credentials(client.as_ref(), &store);
        let credentials = credentials.map_err(|error| explain(error, &parties))?;
        let mut flags = flag::MUTUAL | flag::REPLAY | flag::SEQUENCE | flag::INTEGRITY;
        if settings.protections.contains(&RpcProtection::Privacy) {
            flags |= flag::CONFIDENTIALITY;
        }
        let mut context = Context::new(gss, credentials, server, flags);
        let first = context.step(b"");
        if let Ok(owner) = context.credentials().owner() {
            parties.client = Some(owner);
        }
        let (first, _) = first.map_err(|error| explain(error, &parties))?;
        Ok(Self { context, parties, first: Some(first) })
    }

    fn failed(&self, error: &GssError) -> Failure {
        Failure::Refused(format!("{}: {}", self.parties.server, error.text))
    }
}

/// Where tickets come from; empty for the ticket cache.
fn store(settings: &KerberosSettings) -> Result<Vec<(&'static std::ffi::CStr, CString)>, Error> {
    let Some(keytab) = &settings.keytab else { return Ok(Vec::new()) };
    let text = |text: String| {
        CString::new(text).map_err(|_| Error::illegal_argument("a setting contains a zero byte"))
    };
    if let Err(error) = std::fs::File::open(keytab) {
        return Err(Error::io("opening hbase.client.keytab.file", keytab, error));
    }
    // Not the user's cache, whose tickets may have another owner.
    let client = settings.client_principal.as_deref().unwrap_or_default();
    let cache = text(format!("MEMORY:hblite {client} {}", keytab.display()))?;
    Ok(vec![(c"client_keytab", text(format!("FILE:{}", keytab.display()))?), (c"ccache", cache)])
}

/// The client's principal, if it is set.
fn client_principal(gss: Gss, settings: &KerberosSettings) -> Result<Option<String>, GssError> {
    let Some(principal) = &settings.client_principal else { return Ok(None) };
    match principal.split(['/', '@']).collect::<Vec<_>>()[..] {
        [name, HOST, realm] => Ok(Some(format!("{name}/{}@{realm}", canonical(gss, None)?))),
        _ => Ok(Some(principal.clone())),
    }
}

impl SecurityContext for ServerContext {
    fn step(&mut self, token: &[u8]) -> Result<Step, Failure> {
        if let Some(token) = self.first.take() {
            return Ok(Step { token, is_established: false });
        }
        let step = self.context.step(token);
        let (token, is_established) = step.map_err(|error| self.failed(&error))?;
        if is_established && !self.context.has(flag::MUTUAL | flag::INTEGRITY) {
            return Err(Failure::Refused("the server does not prove who it is".to_owned()));
        }
        Ok(Step { token, is_established })
    }

    fn wrap(&mut self, plain: &[u8], encrypts: bool) -> Result<Vec<u8>, Failure> {
        self.context.wrap(plain, encrypts).map_err(|error| self.failed(&error))
    }

    fn unwrap(&mut self, wrapped: &[u8]) -> Result<(Vec<u8>, bool), Failure> {
        self.context.unwrap(wrapped).map_err(|error| self.failed(&error))
    }

    fn plain_size_max(&mut self, wrapped_max: u32, encrypts: bool) -> Result<u32, Failure> {
        let size = self.context.plain_size_max(wrapped_max, encrypts);
        size.map_err(|error| self.failed(&error))
    }

    fn refused_by_server(&self, class: &str, message: &str) -> String {
        self.parties.refused_by_server(class, message)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hblite_wire::frame::{NO_CALL_ID, Response};

    use super::*;

    #[test]
    fn host_stands_for_the_name_of_the_host() {
        let host = || Ok("h.example.com".to_owned());
        let of = |template| server_principal("s", template, host);
        assert_eq!(of("hbase/_HOST@R").unwrap(), "hbase/h.example.com@R");
        assert_eq!(of("hbase/other@R").unwrap(), "hbase/other@R");
        for refused in ["hbase", "hbase@R", "hbase/_HOST", "hbase/_HOST@", "/_HOST@R", ""] {
            let Err(Failure::Refused(why)) = of(refused) else { panic!("{refused} is accepted") };
            assert!(why.starts_with("s: "), "{why}");
        }
    }

    #[tokio::test]
    async fn a_server_is_asked_for_its_principal() {
        let settings = KerberosSettings::default();
        let candidates =
            ["m/h@R", "rs/h@R"].map(|name| Parties::new(name.to_owned(), MASTER, &settings));
        let principal = |name: &str| {
            let answer = pb::SecurityPreambleResponse { server_principal: name.to_owned() };
            Response::new(NO_CALL_ID, &answer, Bytes::new()).head
        };
        let exception = |class: &'static str| {
            let exception = hblite_wire::RemoteException::new(class, "no");
            Response::of_exception(NO_CALL_ID, &exception).head
        };
        for (answer, expected) in [
            (principal("rs/h@R"), Asked::Is(1)),
            (principal("m/h@R"), Asked::Is(0)),
            (principal("root"), Asked::DoesNotTell),
            (exception(class::SECURITY_NOT_ENABLED), Asked::IsNotSecured),
            (exception(class::FATAL_CONNECTION), Asked::DoesNotTell),
        ] {
            let (mut client, mut server) = tokio::io::duplex(1024);
            server.write_all(&answer).await.unwrap();
            assert_eq!(ask(&mut client, &candidates).await, Ok(expected));
            let mut asked = [0; 6];
            server.read_exact(&mut asked).await.unwrap();
            assert_eq!(&asked, WHO_ARE_YOU);
        }
        let (mut client, mut server) = tokio::io::duplex(1024);
        server.write_all(b"\xff\xff\xff\xff").await.unwrap();
        assert!(matches!(ask(&mut client, &candidates).await, Err(Failure::Refused(_))));
    }

    #[test]
    fn a_service_determines_the_principals() {
        let mut settings = KerberosSettings::new("rs/h@R");
        let of = |settings: &KerberosSettings, service| {
            let found = candidates(settings, service, "h").unwrap();
            found.into_iter().map(|one| one.server).collect::<Vec<_>>()
        };
        assert_eq!(of(&settings, Service::Registry), ["rs/h@R"]);
        settings.master_principal = Some("m/h@R".to_owned());
        assert_eq!(of(&settings, Service::Client), ["rs/h@R"]);
        assert_eq!(of(&settings, Service::Master), ["m/h@R"]);
        assert_eq!(of(&settings, Service::Registry), ["m/h@R", "rs/h@R"]);
        settings.master_principal = None;
        let Err(Failure::Refused(why)) = candidates(&settings, Service::Master, "h") else {
            panic!("there is no principal");
        };
        assert!(why.contains(MASTER), "{why}");
    }
}
