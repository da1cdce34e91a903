//! Connections: HTTP/1.1 up to the complete request, and from its response on.
//!
//! A request is answered on a blocking thread; a semaphore limits how many are in progress. Memory
//! for bodies is reserved before they are read. A connection is closed if no byte moves on it for
//! some time and none of its requests is in progress.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request as HttpRequest, Response as HttpResponse, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::activity::{Activity, Watched, Work};
use crate::gateway::Gateway;
use crate::packing;
use crate::request::Request;
use crate::response::{Body, Response};
use crate::route;

/// The unit in which memory for bodies is counted.
const KIB: usize = 1024;
/// The delay after `accept` failed, as it does when there are no file descriptors left.
const ACCEPT_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// What all connections share.
struct Shared {
    gateway: Arc<Gateway>,
    /// Permits for requests in progress.
    threads: Arc<Semaphore>,
    /// Memory for bodies, in KiB.
    bodies: Arc<Semaphore>,
}

/// Serves until the task is dropped; its connections are dropped with it.
pub(crate) async fn serve(listener: TcpListener, gateway: Arc<Gateway>) {
    let limits = &gateway.options.limits;
    let places = Arc::new(Semaphore::new(limits.connections_max.min(Semaphore::MAX_PERMITS)));
    let shared = Arc::new(Shared {
        threads: Arc::new(Semaphore::new(limits.threads_max)),
        bodies: Arc::new(Semaphore::new(kib(limits.bodies_size_max_bytes) as usize)),
        gateway,
    });
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

async fn connection(stream: TcpStream, shared: Arc<Shared>, _place: OwnedSemaphorePermit) {
    let limits = shared.gateway.options.limits.clone();
    // Answers are small and complete: nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let activity = Arc::new(Activity::default());
    let stream = Watched::new(stream, Arc::clone(&activity));
    let service = service_fn(|request| {
        let work = Work::begin(&activity);
        answer(Arc::clone(&shared), work, request)
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(limits.idle_timeout);
    protocol.max_buf_size(limits.head_size_max_bytes);
    protocol.auto_date_header(false).title_case_headers(true);
    let conversation = protocol.serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // A failure affects only this client's connection.
        _ = conversation => {}
        () = activity.stalled(limits.idle_timeout) => {}
    }
}

/// Reads a complete request and returns its response.
async fn answer(
    shared: Arc<Shared>,
    mut work: Work,
    request: HttpRequest<Incoming>,
) -> Result<HttpResponse<Outgoing>, Infallible> {
    let (head, body) = request.into_parts();
    let limits = &shared.gateway.options.limits;
    let is_packed = packing::is_packed(&head.headers);
    let length = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length = length.and_then(|length| length.parse::<usize>().ok());
    let size_max = limits.body_size_max_bytes;
    let taken = match length {
        _ if body.is_end_stream() => 0,
        Some(length) if !is_packed => length.min(size_max),
        _ => size_max,
    };
    let read = async {
        let memory = Arc::clone(&shared.bodies).acquire_many_owned(kib(taken)).await;
        (memory, Limited::new(body, size_max).collect().await)
    };
    let body = match timeout(limits.request_timeout, read).await {
        Ok((memory, Ok(body))) => {
            work.hold(memory.ok());
            body.to_bytes()
        }
        Ok((_, Err(error))) if error.is::<LengthLimitError>() => {
            return Ok(outgoing(too_large(size_max)));
        }
        Ok((_, Err(_))) => return Ok(outgoing(Response::new(StatusCode::BAD_REQUEST))),
        Err(_) => return Ok(outgoing(Response::new(StatusCode::REQUEST_TIMEOUT))),
    };
    work.hold(Arc::clone(&shared.threads).acquire_owned().await.ok());
    let gateway = Arc::clone(&shared.gateway);
    let answered = tokio::task::spawn_blocking(move || {
        let body = match is_packed {
            true => match packing::unpack(&body, gateway.options.limits.body_size_max_bytes) {
                Some(body) => body,
                None => return Response::new(StatusCode::BAD_REQUEST),
            },
            false => body,
        };
        let uri = &head.uri;
        let (path, query) = (uri.path(), uri.query());
        let request = Request::new(head.method, path, query, head.headers, body, Arc::new(work));
        packing::pack(&request, route::answer(&gateway, &request))
    });
    let internal = |_| Response::new(StatusCode::INTERNAL_SERVER_ERROR);
    Ok(outgoing(answered.await.unwrap_or_else(internal)))
}

fn kib(bytes: usize) -> u32 {
    let max = u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX);
    u32::try_from(bytes.div_ceil(KIB)).unwrap_or(max).min(max)
}

fn too_large(size_max: usize) -> Response {
    let message = format!("the body has more than {size_max} bytes\r\n");
    Response::text(StatusCode::PAYLOAD_TOO_LARGE, message)
}

/// Adds the headers that all responses have.
fn outgoing(response: Response) -> HttpResponse<Outgoing> {
    const EVERYWHERE: [(&str, &str); 3] = [
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        ("x-xss-protection", "1; mode=block"),
    ];
    let mut outgoing = HttpResponse::new(Outgoing(response.body));
    *outgoing.status_mut() = response.status;
    let headers = outgoing.headers_mut();
    for (name, value) in EVERYWHERE {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
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
