//! Connections of the admin endpoint: few, short, and independent of each other.
//!
//! A connection is idle until one of its requests is complete, and again after its answer. If there
//! are too many connections, the one that has been idle longest is closed. A connection ends if a
//! request is not complete in time, or if none begins.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hblite_wire::memory::{MemoryBudget, MemoryCharge};
use hblite_wire::permits::Permits;
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

/// Serves until the task is dropped, which also drops its connections.
pub(super) async fn serve(listener: TcpListener, router: Router, terms: Terms) {
    let permits = Permits::new(CONNECTIONS_MAX);
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, client)) => {
                let Some(place) = Place::enter(&permits, client.ip()) else { continue };
                connections.spawn(connection(stream, router.clone(), terms.clone(), place));
            }
            Err(_) => {
                permits.evict();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// The state that the requests of one connection share.
struct Shared {
    router: Router,
    terms: Terms,
    place: Place,
    charge: Mutex<MemoryCharge>,
    /// When the last request, or else the connection, began.
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
            // An error only ends the client's connection.
            _ = &mut conversation => return,
            () = shared.place.evicted() => return,
            () = sleep_until(end) => return,
            _ = begins.changed() => {}
        }
    }
}

/// Reads a request completely and answers it.
async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response, Infallible> {
    shared.began.send_replace(Instant::now());
    let terms = &shared.terms;
    let (head, body) = request.into_parts();
    let body = match timeout(terms.hello_timeout, read_body(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(refused)) => return Ok(refused.into_response()),
        Err(_) => {
            let refused =
                Refused::new(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time");
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
        let message = format!("the body is incomplete, or has more than {BODY_SIZE_MAX} bytes");
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    })
}
