//! Pages that another crate adds to the HTTP port: everything below `/console`, and `/hot`.
//!
//! The port keeps its limits for them: number of connections, size and time of a request, memory.
//! Threads: pages are answered on threads that may block, several at once.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use hyper::StatusCode;
use hyper::body::Bytes;

use super::message::{Refused, Request, Response};

/// Maximum size of a page's body, in bytes, which [`Pages`] must respect.
pub const PAGE_SIZE_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Pages of another crate.
pub trait Pages: Debug + Send + Sync {
    /// Answers a request for `/hot` or a path that begins with `/console`. May block. The body of
    /// the request has at most 64 KiB, that of the response [`PAGE_SIZE_MAX_BYTES`].
    fn answer(&self, request: &hyper::Request<Bytes>) -> hyper::Response<Bytes>;
}

/// The pages of a port, once they are attached.
pub(crate) type Attached = Arc<OnceLock<Arc<dyn Pages>>>;

/// Whether a path belongs to the pages.
pub(super) fn has(path: &str) -> bool {
    path == "/console" || path.starts_with("/console/") || path == "/hot"
}

/// Answers on a thread that may block.
pub(super) async fn answer(pages: Arc<dyn Pages>, request: Request) -> Result<Response, Refused> {
    let answered = tokio::task::spawn_blocking(move || pages.answer(&request)).await;
    let failed = |message| Refused::new(StatusCode::INTERNAL_SERVER_ERROR, message);
    let response = answered.map_err(|_| failed("the request failed in the server"))?;
    if response.body().len() > PAGE_SIZE_MAX_BYTES {
        return Err(failed("the answer is too large"));
    }
    Ok(response)
}
