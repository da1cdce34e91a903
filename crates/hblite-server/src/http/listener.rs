//! Connections of the admin endpoint: few, short, and independent of each other.
//!
//! A connection is idle until one of its requests is complete, and again after its answer. If there
//! are too many connections, the one that has been idle longest is closed. A connection ends if a
//! request is not complete in time, or if none begins.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hblite_wire::memory::{MemoryBudget, MemoryCharge};
use hblite_wire::permits::Permits;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::StatusCode;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::message::{Refused, Request, Response};
use crate::place::Place;

/// Maximum number of connections.
const CONNECTIONS_MAX: usize = 100;
/// Maximum size of a body.
const BODY_SIZE_MAX: usize = 64 * 1024;
/// Maximum size of a request's head, and of a single read.
const HEAD_SIZE_MAX: usize = 16 * 1024;
/// The memory of a connection without its answer: head and body, as bytes and parsed.
const CONNECTION_BYTES: usize = 2 * (BODY_SIZE_MAX + HEAD_SIZE_MAX);
/// How long to wait after `accept` has failed, for example for lack of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The limits of connections.
#[derive(Clone)]
pub(super) struct Terms {
    /// The time in which a request must be complete.
    pub(super) hello_timeout: Duration,
    /// The time after which a connection without a request ends.
    pub(super) stall_timeout: Duration,
    /// The budget that requests and answers are charged to.
    pub(super) memory: Arc<MemoryBudget>,
    /// How much of it one connection may use.
    pub(super) memory_share_bytes: usize,
    /// The memory of an answer for this path while it is built and sent.
    pub(super) answer_bytes: Arc<dyn Fn(&str) -> usize + Send + Sync>,
}

/// What answers the requests of a port.
pub(super) trait Answers: Send + Sync + 'static {
    /// Answers a request that has arrived completely.
    fn answer(self: Arc<Self>, request: Request) -> impl Future<Output = Response> + Send;
}

/// Serves until the task is dropped, which also drops its connections.
pub(super) async fn serve<A: Answers>(listener: TcpListener, answers: Arc<A>, terms: Terms) {
    let permits = Permits::new(CONNECTIONS_MAX);
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, client)) => {
                let place = Place::enter(&permits, client.ip()).await;
                let Some(place) = place else { continue };
                connections.spawn(connection(stream, Arc::clone(&answers), terms.clone(), place));
            }
            Err(_) => {
                permits.evict();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// The state that the requests of one connection share.
struct Shared<A> {
    answers: Arc<A>,
    terms: Terms,
    place: Place,
    charge: Mutex<MemoryCharge>,
    /// When the last request, or else the connection, began.
    began: watch::Sender<Instant>,
}

async fn connection<A: Answers>(stream: TcpStream, answers: Arc<A>, terms: Terms, place: Place) {
    let (head_timeout, idle_timeout) = (terms.hello_timeout, terms.stall_timeout);
    let mut charge = terms.memory.account(terms.memory_share_bytes).charge();
    if !charge.try_resize(CONNECTION_BYTES) {
        return;
    }
    let (began, mut begins) = watch::channel(Instant::now());
    let charge = Mutex::new(charge);
    let shared = Arc::new(Shared { answers, terms, place, charge, began });
    let service = service_fn(|request| answer(Arc::clone(&shared), request));
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(head_timeout);
    protocol.max_buf_size(HEAD_SIZE_MAX);
    let mut conversation = std::pin::pin!(protocol.serve_connection(TokioIo::new(stream), service));
    loop {
        let end = *begins.borrow_and_update() + idle_timeout;
        tokio::select! {
            // An error only ends the client's connection.
            _ = &mut conversation => return,
            () = shared.place.evicted() => return,
            () = sleep_until(end) => return,
            _ = begins.changed() => {}
        }
    }
}

/// Reads a request completely and answers it.
async fn answer<A: Answers>(
    shared: Arc<Shared<A>>,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, Infallible> {
    shared.began.send_replace(Instant::now());
    let response = read_and_answer(&shared, request).await.unwrap_or_else(Response::from);
    Ok(response.map(Full::new))
}

async fn read_and_answer<A: Answers>(
    shared: &Shared<A>,
    request: hyper::Request<Incoming>,
) -> Result<Response, Refused> {
    let terms = &shared.terms;
    let (head, body) = request.into_parts();
    let body = timeout(terms.hello_timeout, Limited::new(body, BODY_SIZE_MAX).collect()).await;
    let late = |_| Refused::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time");
    let body = body.map_err(late)?.map_err(|_| {
        let message = format!("the body is incomplete, or has more than {BODY_SIZE_MAX} bytes");
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    })?;
    let answer_bytes = (terms.answer_bytes)(head.uri.path());
    if !shared.charge.lock().try_resize(CONNECTION_BYTES + answer_bytes) {
        let message = "not enough memory for an answer; try again";
        return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, message));
    }
    if !shared.place.work() {
        let message = "the connection is ending in favour of another";
        return Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, message));
    }
    let request = Request::from_parts(head, body.to_bytes());
    let response = Arc::clone(&shared.answers).answer(request).await;
    shared.place.wait();
    Ok(response)
}
