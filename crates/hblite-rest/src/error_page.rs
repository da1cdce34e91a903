//! Responses to requests that match no resource, in a form that the client accepts.

use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONNECTION};
use hyper::{Method, StatusCode};

use crate::failure::Failure;
use crate::media;
use crate::request::Request;
use crate::response::Response;

/// The forms of a page, the preferred one first.
const FORMS: &[&str] =
    &["text/html", "application/xhtml+xml", "text/plain", "application/json", "text/json"];

/// The `Cache-Control` header of pages, which distinguishes them from answers of resources.
const PAGE_CACHING: &str = "must-revalidate,no-cache,no-store";

/// Whether a response is a page.
pub(crate) fn is_page(response: &Response) -> bool {
    response.headers.iter().any(|(_, value)| value == PAGE_CACHING)
}

/// The response to a request that failed.
pub(crate) fn answer(request: &Request, failure: Failure) -> Response {
    match failure {
        Failure::Answered(response) => response,
        Failure::Page(status) => page(request, status, None),
        Failure::NotAllowed(methods) => {
            let response = page(request, StatusCode::METHOD_NOT_ALLOWED, None);
            response.with_header(ALLOW, methods.join(","))
        }
    }
}

/// A page with a message, or that of the status. Only some methods get a page; others get the
/// status alone.
pub(crate) fn page(request: &Request, status: StatusCode, message: Option<&str>) -> Response {
    let mut response = Response::new(status);
    if status == StatusCode::INTERNAL_SERVER_ERROR {
        response = response.with_header(CONNECTION, "close");
    }
    if !request.is_read() && request.method != Method::POST {
        return response;
    }
    let accept = request.header(ACCEPT).unwrap_or("*/*");
    response = response.with_header(CACHE_CONTROL, PAGE_CACHING);
    let Some(form) = media::choose(accept, FORMS) else {
        return response;
    };
    let (media_type, body) = body(FORMS[form], &request.path, status, message);
    response.with_body(media_type, body)
}

fn body(
    form: &str,
    path: &str,
    status: StatusCode,
    message: Option<&str>,
) -> (&'static str, String) {
    let code = status.as_u16();
    let message = match (message, status) {
        (Some(message), _) => message,
        (None, StatusCode::INTERNAL_SERVER_ERROR) => "Request failed.",
        (None, _) => status.canonical_reason().unwrap_or_default(),
    };
    match form {
        "text/plain" => (
            "text/plain;charset=iso-8859-1",
            format!("HTTP ERROR {code} {message}\nURI: {path}\nSTATUS: {code}\n"),
        ),
        "application/json" | "text/json" => (
            "application/json",
            serde_json::json!({ "message": message, "url": path, "status": code.to_string() })
                .to_string(),
        ),
        _ => {
            let mut uri = String::new();
            crate::xml::text(&mut uri, path);
            let page = format!(
                "<html>\n<head>\n<title>Error {code} {message}</title>\n</head>\n\
                 <body><h2>HTTP ERROR {code} {message}</h2>\n<p>URI: {uri}</p>\n</body>\n</html>\n"
            );
            ("text/html;charset=iso-8859-1", page)
        }
    }
}
