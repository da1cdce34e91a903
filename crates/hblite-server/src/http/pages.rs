//! Pages that another crate adds to the HTTP port: everything below `/console`.
//!
//! The port keeps its limits for them: number of connections, size and time of a request, memory.
//! Threads: pages are answered on threads that may block, several at once.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::{Admin, Refused};

/// Maximum size of a page's body, in bytes, which [`Pages`] must respect.
pub const PAGE_SIZE_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Pages of another crate.
pub trait Pages: Debug + Send + Sync {
    /// Answers a request for a path that begins with `/console`. May block. The body of the request
    /// has at most 64 KiB, that of the response [`PAGE_SIZE_MAX_BYTES`].
    fn answer(&self, request: &axum::http::Request<Bytes>) -> axum::http::Response<Bytes>;
}

/// The pages of a port, once they are attached.
pub(crate) type Attached = Arc<OnceLock<Arc<dyn Pages>>>;

/// Whether a path belongs to the pages.
pub(super) fn has(path: &str) -> bool {
    path == "/console" || path.starts_with("/console/")
}

/// Answers requests that no other route handles.
pub(super) async fn fallback(State(admin): State<Admin>, request: Request) -> Response {
    match admin.pages.get() {
        Some(pages) if has(request.uri().path()) => answer(Arc::clone(pages), request).await,
        _ => Refused::new(StatusCode::NOT_FOUND, "no such path; see /").into_response(),
    }
}

/// Answers on a thread that may block.
pub(super) async fn answer(pages: Arc<dyn Pages>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let failed = |status, message| Refused::new(status, message).into_response();
    // The listener has already read it, within the limit for bodies.
    let Ok(body) = to_bytes(body, PAGE_SIZE_MAX_BYTES).await else {
        return failed(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large");
    };
    let request = axum::http::Request::from_parts(head, body);
    let answered = tokio::task::spawn_blocking(move || pages.answer(&request)).await;
    match answered {
        Ok(response) if response.body().len() <= PAGE_SIZE_MAX_BYTES => response.map(Body::from),
        Ok(_) => failed(StatusCode::INTERNAL_SERVER_ERROR, "the answer is too large"),
        Err(_) => failed(StatusCode::INTERNAL_SERVER_ERROR, "the request failed in the server"),
    }
}

/// Whether the request is from a browser that will show a page, not from a script.
pub(super) fn wants_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}
