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

use std::net::IpAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode, header};

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
    let host = single(headers, header::HOST.as_str())?;
    let refuse = |message: &str| Err(Failure::new(StatusCode::FORBIDDEN, message));
    let Some(host) = host.filter(|host| is_ours(host, advertised)) else {
        return refuse("this host name is not the server's; use its address");
    };
    if let Some(origin) = single(headers, header::ORIGIN.as_str())?
        && origin != format!("http://{host}")
    {
        return refuse("the request comes from a page of another site");
    }
    let site = single(headers, "sec-fetch-site")?;
    let is_page = !request.uri().path().starts_with("/console/api/");
    // A link on another site may lead to the page, but only the page may request its data.
    if !is_page && site.is_some_and(|site| site != "same-origin" && site != "none") {
        return refuse("the request comes from a page of another site");
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

fn is_ours(host: &str, advertised: Option<&str>) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    name == "localhost" || Some(name) == advertised || name.parse::<IpAddr>().is_ok()
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
