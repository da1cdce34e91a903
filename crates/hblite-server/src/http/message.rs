//! Requests and answers of the port, whole in memory.

use hblite_model::{Error, ErrorKind, Exception};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use hyper::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(super) type Request = hyper::Request<Bytes>;
pub(super) type Response = hyper::Response<Bytes>;
/// A JSON document, or an error.
pub(super) type Answer = Result<Value, Refused>;

/// An answer that is an error.
#[derive(Debug)]
pub(super) struct Refused {
    status: StatusCode,
    message: String,
}

impl Refused {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(super) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        let status = match error.exception() {
            Exception::UnknownRegion | Exception::SnapshotDoesNotExist => StatusCode::NOT_FOUND,
            _ if error.kind() == ErrorKind::WrongState => StatusCode::CONFLICT,
            _ if error.kind() == ErrorKind::Io => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string())
    }
}

impl From<Refused> for Response {
    fn from(refused: Refused) -> Self {
        with_status(refused.status, document(&json!({ "error": refused.message })))
    }
}

pub(super) fn document(value: &Value) -> Response {
    with_type("application/json", value.to_string())
}

pub(super) fn with_type(media_type: &'static str, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

pub(super) fn redirect(to: &'static str) -> Response {
    let mut response = with_status(StatusCode::SEE_OTHER, Response::default());
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    response
}

fn with_status(status: StatusCode, mut response: Response) -> Response {
    *response.status_mut() = status;
    response
}

/// The body of a request, which must be JSON and say so: a page of another site cannot.
pub(super) fn body<T: DeserializeOwned>(request: &Request) -> Result<T, Refused> {
    if !declares_json(request.headers()) {
        let message = "the body must be JSON, with the header Content-Type: application/json";
        return Err(Refused::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    serde_json::from_slice(request.body()).map_err(|error| {
        let status = match error.is_data() {
            true => StatusCode::UNPROCESSABLE_ENTITY,
            false => StatusCode::BAD_REQUEST,
        };
        Refused::new(status, format!("the body: {error}"))
    })
}

fn declares_json(headers: &HeaderMap) -> bool {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = declared.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    media_type.eq_ignore_ascii_case("application/json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(media_type: &'static str, text: &'static str) -> Request {
        let mut request = Request::new(Bytes::from_static(text.as_bytes()));
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        request
    }

    #[test]
    fn a_body_is_json_that_says_so_and_fits_the_type() {
        for media_type in ["application/json", "Application/JSON; charset=utf-8"] {
            assert_eq!(body::<u8>(&posted(media_type, "7")).expect("a number"), 7);
        }
        for (request, status) in [
            (posted("text/plain", "7"), 415),
            (Request::new(Bytes::from_static(b"7")), 415),
            (posted("application/json", "700"), 422),
            (posted("application/json", "\"seven\""), 422),
            (posted("application/json", "7,"), 400),
            (posted("application/json", ""), 400),
        ] {
            let refused = body::<u8>(&request).expect_err("not a small number");
            assert_eq!(refused.status.as_u16(), status, "{}", refused.message);
        }
    }
}
