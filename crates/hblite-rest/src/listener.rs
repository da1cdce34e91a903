//! Connections: HTTP/1.1 up to the complete request, and from its response on.
//!
//! A request is answered on a blocking thread; a semaphore limits how many are in progress. A body
//! is charged as it arrives. A connection is closed if no byte moves on it for some time and none
//! of its requests is in progress.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hblite_wire::memory::{MemoryAccount, MemoryCharge, Room};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::CONTENT_LENGTH;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request as HttpRequest, Response as HttpResponse, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::activity::{Activity, Watched, Work};
use crate::failure;
use crate::gateway::Gateway;
use crate::memory::Allowance;
use crate::options::RestLimits;
use crate::packing::{self, Unpackable};
use crate::request::Request;
use crate::response::{Body, Response};
use crate::route;

/// The most memory that a byte of a path or query is decoded to: `a,` is a column with its own
/// allocation.
const URI_FACTOR: usize = 64;
/// The statuses of a request whose body is malformed; HBase does not expect it in some forms.
const MALFORMED: [StatusCode; 3] =
    [StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE, StatusCode::INTERNAL_SERVER_ERROR];
/// The delay after `accept` failed, for example because no file descriptors are left.
const ACCEPT_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// What all connections share.
struct Shared {
    gateway: Arc<Gateway>,
    /// Permits for requests in progress.
    threads: Arc<Semaphore>,
}

impl Shared {
    /// Reports malformed input.
    fn complain(&self, client: &Client, what: &dyn fmt::Display) {
        if let Some(complaints) = &self.gateway.options.complaints {
            complaints.note("REST", client.peer, what);
        }
    }
}

/// Serves until the task is dropped; its connections are dropped with it.
pub(crate) async fn serve(listener: TcpListener, gateway: Arc<Gateway>) {
    let limits = &gateway.options.limits;
    let places = Arc::new(Semaphore::new(limits.connections_max.min(Semaphore::MAX_PERMITS)));
    let shared =
        Arc::new(Shared { threads: Arc::new(Semaphore::new(limits.threads_max)), gateway });
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
                connections.spawn(connection(stream, Arc::clone(&shared), place));
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>, place: OwnedSemaphorePermit) {
    let limits = shared.gateway.options.limits.clone();
    // Answers are small and complete: waiting for more gains nothing.
    let _ = stream.set_nodelay(true);
    let budget = &shared.gateway.memory;
    let memory = budget.account(budget.size_bytes() / 2);
    let client = Arc::new(Client { peer: stream.peer_addr().ok(), memory });
    let activity = Arc::new(Activity::default());
    let stream = Watched::new(stream, Arc::clone(&activity), place);
    let service = service_fn(|request| {
        let work = Work::begin(&activity);
        answer(Arc::clone(&shared), Arc::clone(&client), work, request)
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(limits.idle_timeout);
    protocol.max_buf_size(limits.head_size_max_bytes);
    protocol.auto_date_header(false).title_case_headers(true);
    let conversation = protocol.serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // A failure affects only this client's connection.
        ended = conversation => if let Err(error) = ended && error.is_parse() {
            shared.complain(&client, &error);
        },
        () = activity.stalled(limits.idle_timeout) => {}
    }
}

/// What the requests of a connection have in common.
struct Client {
    peer: Option<SocketAddr>,
    memory: Arc<MemoryAccount>,
}

/// Reads a complete request and returns its response.
async fn answer(
    shared: Arc<Shared>,
    client: Arc<Client>,
    mut work: Work,
    request: HttpRequest<Incoming>,
) -> Result<HttpResponse<Outgoing>, Infallible> {
    let (head, body) = request.into_parts();
    let limits = &shared.gateway.options.limits;
    let name = format!("{} {:.100}", head.method, head.uri.path());
    let has_body = !body.is_end_stream();
    let response = match timeout(limits.request_timeout, read(&head, body, limits, &client)).await {
        Ok(Ok((body, charge))) => {
            work.hold(Arc::clone(&shared.threads).acquire_owned().await.ok());
            let gateway = Arc::clone(&shared.gateway);
            let answered =
                tokio::task::spawn_blocking(move || respond(&gateway, head, body, charge, work));
            let internal = |_| Response::new(StatusCode::INTERNAL_SERVER_ERROR);
            answered.await.unwrap_or_else(internal)
        }
        Ok(Err(refused)) => refused,
        Err(_) => Response::new(StatusCode::REQUEST_TIMEOUT),
    };
    if has_body && MALFORMED.contains(&response.status) {
        shared.complain(&client, &format_args!("{name}: {}", response.status));
    }
    Ok(outgoing(response, &shared.gateway.headers))
}

/// Reads the body of a request, as it was sent, into memory that is charged as it arrives.
async fn read(
    head: &Parts,
    mut body: Incoming,
    limits: &RestLimits,
    client: &Client,
) -> Result<(Bytes, MemoryCharge), Response> {
    let size_max = limits.body_size_max_bytes;
    let length = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length = length.and_then(|length| length.parse::<usize>().ok()).unwrap_or(size_max);
    if length > size_max {
        return Err(too_large(size_max));
    }
    let mut room = Room::new(client.memory.charge(), 0);
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Response::new(StatusCode::BAD_REQUEST))?;
        let Ok(data) = frame.into_data() else { continue };
        if data.len() > size_max - bytes.len() {
            return Err(too_large(size_max));
        }
        let needed = bytes.len() + data.len();
        if !room.try_grow_to(&mut bytes, needed, length.max(needed)) {
            return Err(failure::out_of_memory());
        }
        bytes.extend_from_slice(&data);
    }
    Ok((Bytes::from(bytes), room.into_charge()))
}

/// The response to a complete request, on a thread that may wait.
fn respond(
    gateway: &Gateway,
    head: Parts,
    mut body: Bytes,
    mut charge: MemoryCharge,
    work: Work,
) -> Response {
    if packing::is_packed(&head.headers) {
        let mut room = Room::new(charge.account().charge(), 0);
        body = match packing::unpack(&body, gateway.options.limits.body_size_max_bytes, &mut room) {
            Ok(body) => body,
            Err(Unpackable::Malformed) => return Response::new(StatusCode::BAD_REQUEST),
            Err(Unpackable::NoMemory) => return failure::out_of_memory(),
        };
        charge = room.into_charge();
    }
    let uri_bytes = head.uri.path_and_query().map_or(0, |text| text.as_str().len());
    if !charge.try_grow(uri_bytes.saturating_mul(URI_FACTOR)) {
        return failure::out_of_memory();
    }
    let memory = Arc::new(Allowance::new(charge));
    let request = Request::new(head, body, Arc::clone(&memory), Arc::new(work));
    let response = packing::pack(&request, route::answer(gateway, &request));
    drop(request);
    match response.body {
        Body::Whole(bytes) => Response { body: Body::Whole(memory.hold(bytes)), ..response },
        Body::Pieces(_) => response,
    }
}

fn too_large(size_max: usize) -> Response {
    let message = format!("the body has more than {size_max} bytes\r\n");
    Response::text(StatusCode::PAYLOAD_TOO_LARGE, message)
}

/// Adds the headers that all responses have.
fn outgoing(response: Response, everywhere: &HeaderMap) -> HttpResponse<Outgoing> {
    let mut outgoing = HttpResponse::new(Outgoing(response.body));
    *outgoing.status_mut() = response.status;
    let headers = outgoing.headers_mut();
    headers.clone_from(everywhere);
    headers.extend(response.headers);
    outgoing
}

/// The body of a response on its way.
struct Outgoing(Body);

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = hblite::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hblite::Error>>> {
        match &mut self.0 {
            Body::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Body::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Body::Pieces(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Body::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Body::Pieces(_) => SizeHint::default(),
        }
    }
}
