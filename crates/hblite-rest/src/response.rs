//! Responses to requests.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use tokio::sync::mpsc;

/// Pieces of an answer that is sent while it is produced; an error ends the connection.
pub(crate) type Pieces = mpsc::Receiver<Result<Bytes, hblite::Error>>;

/// What follows the head of a response.
#[derive(Debug)]
pub(crate) enum Body {
    Whole(Bytes),
    Pieces(Pieces),
}

/// A response, before it is compressed and sent.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Body,
}

impl Response {
    /// An empty response.
    pub(crate) fn new(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), body: Body::Whole(Bytes::new()) }
    }

    /// 200 without a body.
    pub(crate) fn ok() -> Self {
        Self::new(StatusCode::OK)
    }

    /// A line of text. 304 has no body.
    pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Self {
        let body = if status == StatusCode::NOT_MODIFIED { String::new() } else { text.into() };
        Self::new(status).with_body("text/plain", body)
    }

    /// `Not found`.
    pub(crate) fn not_found() -> Self {
        Self::text(StatusCode::NOT_FOUND, "Not found\r\n")
    }

    /// 201, and the location of the new resource.
    pub(crate) fn created(location: &str) -> Self {
        let response = Self::new(StatusCode::CREATED);
        response.with_header(LOCATION, location)
    }

    pub(crate) fn with_body(mut self, media_type: &str, body: impl Into<Bytes>) -> Self {
        self.body = Body::Whole(body.into());
        self.with_header(CONTENT_TYPE, media_type)
    }

    pub(crate) fn with_pieces(mut self, media_type: &str, pieces: Pieces) -> Self {
        self.body = Body::Pieces(pieces);
        self.with_header(CONTENT_TYPE, media_type)
    }

    /// Adds a header. An invalid value is left out.
    pub(crate) fn with_header(mut self, name: HeaderName, value: impl AsRef<[u8]>) -> Self {
        if let Ok(value) = HeaderValue::from_bytes(value.as_ref()) {
            self.headers.push((name, value));
        }
        self
    }

    /// Requires caches to revalidate it.
    pub(crate) fn without_caching(self) -> Self {
        self.with_header(CACHE_CONTROL, "no-cache")
    }
}
