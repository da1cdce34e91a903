//! Decides which requests are answered.
//!
//! A web page of another site must neither read nor change anything, even if it runs in a browser
//! on this machine:
//!
//! - its name, made to point to this machine (DNS rebinding), is not in the list of hosts
//! - its scripts send an `Origin` that is not this server's
//! - changes require the token, in a header that other sites cannot set without a CORS preflight
//!
//! A change must also declare that its body is JSON. The server's answers are never embedded in
//! another page.

use bytes::Bytes;
use hblite_wire::site::{Refusal, RequestHead, Site};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};

use crate::api::Failure;
use crate::token::Token;

/// The header that carries the token.
pub(crate) const TOKEN_HEADER: &str = "x-hblite-token";

/// Checks a request of any kind.
///
/// # Errors
/// `FORBIDDEN` with the reason.
pub(crate) fn check(request: &Request<Bytes>, advertised: Option<&str>) -> Result<(), Failure> {
    let headers = request.headers();
    let refused = |refusal: Refusal| {
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::FORBIDDEN);
        Failure::new(status, refusal.to_string())
    };
    let named = |name| headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    let head = RequestHead {
        authority: request.uri().authority().map(|authority| authority.as_str().as_bytes()),
        hosts: named(header::HOST),
        origins: named(header::ORIGIN),
    };
    Site::named(advertised).check(&head).map_err(refused)?;
    if head.hosts.is_empty() {
        return Err(refused(Refusal::ForeignHost));
    }
    let site = single(headers, "sec-fetch-site")?;
    let path = request.uri().path();
    let is_page = !path.starts_with("/console/api/") && path != "/hot";
    // A link on another site may lead to the page, but only the page may request its data.
    if !is_page && site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(refused(Refusal::ForeignOrigin));
    }
    Ok(())
}

/// Checks a request that changes something.
///
/// # Errors
/// `UNAUTHORIZED` without the token, `UNSUPPORTED_MEDIA_TYPE` for a body that is not JSON.
pub(crate) fn check_change(request: &Request<Bytes>, token: &Token) -> Result<(), Failure> {
    debug_assert_eq!(request.method(), Method::POST);
    let headers = request.headers();
    let content_type = single(headers, header::CONTENT_TYPE.as_str())?.unwrap_or_default();
    if content_type.split(';').next().map(str::trim) != Some("application/json") {
        let message = "the body must be JSON, and Content-Type must be application/json";
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    if single(headers, TOKEN_HEADER)?.is_some_and(|text| token.is(text)) {
        return Ok(());
    }
    let message = "the token is missing or wrong; hblite printed it when it started";
    Err(Failure::new(StatusCode::UNAUTHORIZED, message))
}

/// The value of a header that must not occur twice.
fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Failure> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    let value = first.map(|value| value.to_str()).transpose();
    match (value, values.next()) {
        (Ok(value), None) => Ok(value),
        _ => Err(Failure::new(StatusCode::BAD_REQUEST, format!("the header {name} is malformed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, headers: &[(&str, &str)]) -> Request<Bytes> {
        let mut request = Request::post(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Bytes::new()).unwrap()
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let path = "/console/api/overview";
        let ours = ("host", "127.0.0.1:16010");
        let status = |headers: &[(&str, &str)]| {
            check(&request(path, headers), Some("db")).err().map(|failure| failure.status.as_u16())
        };
        assert_eq!(status(&[ours]), None);
        assert_eq!(status(&[("host", "localhost:1")]), None);
        assert_eq!(status(&[("host", "[::1]:1")]), None);
        assert_eq!(status(&[("host", "db:1")]), None);
        assert_eq!(status(&[ours, ("origin", "http://127.0.0.1:16010")]), None);
        assert_eq!(status(&[ours, ("sec-fetch-site", "same-origin")]), None);
        for refused in [
            &[][..],
            &[("host", "")],
            &[("host", "evil.example:16010")],
            &[("host", "localhost.evil.example")],
            &[ours, ("origin", "http://evil.example")],
            &[ours, ("origin", "http://127.0.0.1:16011")],
            &[ours, ("origin", "https://127.0.0.1:16010")],
            &[ours, ("origin", "null")],
            &[ours, ("sec-fetch-site", "cross-site")],
            &[ours, ("sec-fetch-site", "same-site")],
        ] {
            assert_eq!(status(refused), Some(403), "{refused:?}");
        }
        assert_eq!(status(&[ours, ours]), Some(400));
    }

    #[test]
    fn changes_need_the_token_and_json() {
        let token = Token::random().unwrap();
        let json = ("content-type", "application/json; charset=utf-8");
        let status = |headers: &[(&str, &str)]| {
            let checked = check_change(&request("/console/api/shell", headers), &token);
            checked.err().map(|failure| failure.status.as_u16())
        };
        assert_eq!(status(&[json, (TOKEN_HEADER, token.text())]), None);
        assert_eq!(status(&[json]), Some(401));
        assert_eq!(status(&[json, (TOKEN_HEADER, "")]), Some(401));
        assert_eq!(status(&[json, (TOKEN_HEADER, &"0".repeat(32))]), Some(401));
        assert_eq!(status(&[(TOKEN_HEADER, token.text())]), Some(415));
        let form = ("content-type", "text/plain");
        assert_eq!(status(&[form, (TOKEN_HEADER, token.text())]), Some(415));
    }
}
