//! Connections: HTTP/1.1 up to the complete request, and from its response on.
//!
//! A request is answered on a blocking thread, when it is its turn. A body is charged as it
//! arrives. A connection is closed if no byte moves on it for some time and none of its requests is
//! in progress. If there are too many, the one is closed that has waited longest for its client.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hblite::Protocol;
use hblite_wire::callers::CountedClient;
use hblite_wire::memory::{MemoryAccount, MemoryCharge, Room};
use hblite_wire::permits::Permits;
use hblite_wire::site::{Refusal, RequestHead};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_LENGTH, HOST, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request as HttpRequest, Response as HttpResponse, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
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
use crate::turns::Turns;

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
    turns: Arc<Turns>,
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
    let permits = Permits::new(limits.connections_max);
    let turns = Arc::new(Turns::new(limits.threads_max));
    let shared = Arc::new(Shared { turns, gateway });
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Some(activity) = Activity::begin(&permits, peer.ip()).await else {
                    continue;
                };
                connections.spawn(connection(stream, Arc::clone(&shared), activity));
            }
            Err(_) => {
                permits.evict();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>, activity: Arc<Activity>) {
    let limits = shared.gateway.options.limits.clone();
    // Answers are small and complete: waiting for more gains nothing.
    let _ = stream.set_nodelay(true);
    let budget = &shared.gateway.memory;
    let memory = budget.account(budget.size_bytes() / 2);
    let peer = stream.peer_addr().ok();
    let callers = shared.gateway.options.callers.as_ref();
    let address = peer.map(|peer| peer.ip());
    let counted = callers.map(|callers| callers.client(Protocol::Rest, address, None));
    let client = Arc::new(Client { peer, memory, counted: counted.map(Arc::new) });
    let stream = Watched::new(stream, Arc::clone(&activity));
    let service = service_fn(|request| {
        let work = Work::begin(&activity, &shared.turns);
        answer(Arc::clone(&shared), Arc::clone(&client), Arc::clone(&activity), work, request)
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
        () = activity.evicted() => {}
    }
}

/// What the requests of a connection have in common.
struct Client {
    peer: Option<SocketAddr>,
    memory: Arc<MemoryAccount>,
    counted: Option<Arc<CountedClient>>,
}

/// Reads a complete request and returns its response.
async fn answer(
    shared: Arc<Shared>,
    client: Arc<Client>,
    activity: Arc<Activity>,
    work: Work,
    request: HttpRequest<Incoming>,
) -> Result<HttpResponse<Outgoing>, Infallible> {
    let (head, body) = request.into_parts();
    let limits = &shared.gateway.options.limits;
    let name = format!("{} {:.100}", head.method, head.uri.path());
    let has_body = !body.is_end_stream();
    if let Err(refusal) = shared.gateway.site.check(&who(&head)) {
        let (status, text) = match refusal {
            Refusal::Malformed => (StatusCode::BAD_REQUEST, "Bad request"),
            _ => (StatusCode::FORBIDDEN, "Forbidden"),
        };
        let refused = Response::text(status, format!("{text}\r\n{refusal}\r\n"));
        return Ok(outgoing(refused, &activity, &shared.gateway.headers));
    }
    let response = match timeout(limits.request_timeout, read(&head, body, limits, &client)).await {
        Ok(Ok((body, charge))) => {
            if !activity.work() {
                let unavailable = Response::text(StatusCode::SERVICE_UNAVAILABLE, "Ending\r\n");
                return Ok(outgoing(unavailable, &activity, &shared.gateway.headers));
            }
            let turn = work.turn().await;
            let (gateway, counted) = (Arc::clone(&shared.gateway), client.counted.clone());
            let answered = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                respond(&gateway, head, (body, charge), counted, work)
            });
            let internal = |_| Response::new(StatusCode::INTERNAL_SERVER_ERROR);
            answered.await.unwrap_or_else(internal)
        }
        Ok(Err(refused)) => refused,
        Err(_) => Response::new(StatusCode::REQUEST_TIMEOUT),
    };
    if has_body && MALFORMED.contains(&response.status) {
        shared.complain(&client, &format_args!("{name}: {}", response.status));
    }
    activity.wait();
    Ok(outgoing(response, &activity, &shared.gateway.headers))
}

/// The parts of a request that name a host.
fn who(head: &Parts) -> RequestHead<'_> {
    let named = |name| head.headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    RequestHead {
        authority: head.uri.authority().map(|authority| authority.as_str().as_bytes()),
        hosts: named(HOST),
        origins: named(ORIGIN),
    }
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
    (mut body, mut charge): (Bytes, MemoryCharge),
    counted: Option<Arc<CountedClient>>,
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
    let request = Request::new(head, body, Arc::clone(&memory), counted, Arc::new(work));
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
fn outgoing(
    response: Response,
    activity: &Arc<Activity>,
    everywhere: &HeaderMap,
) -> HttpResponse<Outgoing> {
    let body = Outgoing { body: response.body, activity: Arc::clone(activity) };
    let mut outgoing = HttpResponse::new(body);
    *outgoing.status_mut() = response.status;
    let headers = outgoing.headers_mut();
    headers.clone_from(everywhere);
    headers.extend(response.headers);
    outgoing
}

/// The body of a response on its way.
struct Outgoing {
    body: Body,
    activity: Arc<Activity>,
}

impl HttpBody for Outgoing {
    type Data = Bytes;
    type Error = hblite::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hblite::Error>>> {
        let this = &mut *self;
        match &mut this.body {
            Body::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Body::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Body::Pieces(pieces) => {
                let polled = pieces.poll_recv(context);
                // The client has taken all there is, or it is asked to take the next piece.
                if polled.is_ready() {
                    this.activity.wait();
                } else {
                    this.activity.work();
                }
                polled.map(|piece| piece.map(|piece| piece.map(Frame::data)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.body, Body::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Body::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Body::Pieces(_) => SizeHint::default(),
        }
    }
}
