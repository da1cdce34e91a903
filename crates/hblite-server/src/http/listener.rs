//! Connections of the admin endpoint: few, short, and none in another's way.
//!
//! A connection waits until a request of its is there as a whole, and again from its answer on.
//! When there are too many, the one that has waited longest makes room. A request that does not
//! come to its end in time, or a connection on which none begins, is ended.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hblite_wire::memory::{MemoryBudget, MemoryCharge};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tower_service::Service as _;

use super::Refused;
use crate::places::{Place, Places};

/// Connections at once.
const CONNECTIONS_MAX: usize = 100;
/// Longest body that is read.
const BODY_SIZE_MAX: usize = 64 * 1024;
/// Longest head of a request, and what is read at once.
const HEAD_SIZE_MAX: usize = 16 * 1024;
/// What a connection takes beside an answer: its head and its body, as bytes and as what they say.
const CONNECTION_BYTES: usize = 2 * (BODY_SIZE_MAX + HEAD_SIZE_MAX);
/// What `accept` waits after it failed, as it does without file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What connections may take.
#[derive(Clone)]
pub(super) struct Terms {
    /// In which a request must be there as a whole.
    pub(super) hello_timeout: Duration,
    /// After which a connection without a request ends.
    pub(super) stall_timeout: Duration,
    /// The budget that requests and answers are charged to.
    pub(super) memory: Arc<MemoryBudget>,
    /// How much of it one connection may use.
    pub(super) memory_share_bytes: usize,
    /// What an answer for this path takes while it is made and sent.
    pub(super) answer_bytes: Arc<dyn Fn(&str) -> usize + Send + Sync>,
}

/// Serves until the task is dropped, and its connections with it.
pub(super) async fn serve(listener: TcpListener, router: Router, terms: Terms) {
    let places = Places::new(CONNECTIONS_MAX);
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let Some(place) = places.enter() else { continue };
                connections.spawn(connection(stream, router.clone(), terms.clone(), place));
            }
            Err(_) => {
                places.evict();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// What the requests of one connection share.
struct Shared {
    router: Router,
    terms: Terms,
    place: Place,
    charge: Mutex<MemoryCharge>,
    /// When the last request began, or the connection.
    began: watch::Sender<Instant>,
}

async fn connection(stream: TcpStream, router: Router, terms: Terms, place: Place) {
    let (head_timeout, idle_timeout) = (terms.hello_timeout, terms.stall_timeout);
    let mut charge = terms.memory.account(terms.memory_share_bytes).charge();
    if !charge.try_resize(CONNECTION_BYTES) {
        return;
    }
    let (began, mut begins) = watch::channel(Instant::now());
    let charge = Mutex::new(charge);
    let shared = Arc::new(Shared { router, terms, place, charge, began });
    let service = service_fn(|request| answer(Arc::clone(&shared), request));
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(head_timeout);
    protocol.max_buf_size(HEAD_SIZE_MAX);
    let mut conversation = std::pin::pin!(protocol.serve_connection(TokioIo::new(stream), service));
    loop {
        let end = *begins.borrow_and_update() + idle_timeout;
        tokio::select! {
            // What fails is the client's connection, and only that.
            _ = &mut conversation => return,
            () = shared.place.evicted() => return,
            () = sleep_until(end) => return,
            _ = begins.changed() => {}
        }
    }
}

/// Reads a request to its end and has it answered.
async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response, Infallible> {
    shared.began.send_replace(Instant::now());
    let terms = &shared.terms;
    let (head, body) = request.into_parts();
    let body = match timeout(terms.hello_timeout, read_body(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(refused)) => return Ok(refused.into_response()),
        Err(_) => {
            let refused = Refused::new(StatusCode::REQUEST_TIMEOUT, "the body takes too long");
            return Ok(refused.into_response());
        }
    };
    let answer_bytes = (terms.answer_bytes)(head.uri.path());
    if !shared.charge.lock().try_resize(CONNECTION_BYTES + answer_bytes) {
        let message = "not enough memory for an answer; try again";
        return Ok(Refused::new(StatusCode::SERVICE_UNAVAILABLE, message).into_response());
    }
    shared.place.work();
    let mut router = shared.router.clone();
    let answered = router.call(Request::from_parts(head, Body::from(body))).await;
    shared.place.wait();
    answered
}

async fn read_body(body: Incoming) -> Result<Bytes, Refused> {
    to_bytes(Body::new(body), BODY_SIZE_MAX).await.map_err(|_| {
        let message = format!("the body is cut, or has more than {BODY_SIZE_MAX} bytes");
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    })
}
