//! The files of the page, embedded in the program.
//!
//! The page runs only its own modules and styles: no inline script, no inline style, no frame, no
//! plug-in, no connection to another site.

use bytes::Bytes;
use http::{Response, StatusCode, header};

/// What the page may load and do.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
     style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Name, type and contents of each file.
const FILES: &[(&str, &str, &str)] = &[
    ("", HTML, include_str!("page/index.html")),
    ("style.css", CSS, include_str!("page/style.css")),
    ("icon.svg", SVG, include_str!("page/icon.svg")),
    ("app.js", SCRIPT, include_str!("page/app.js")),
    ("dom.js", SCRIPT, include_str!("page/dom.js")),
    ("format.js", SCRIPT, include_str!("page/format.js")),
    ("callers.js", SCRIPT, include_str!("page/callers.js")),
    ("overview.js", SCRIPT, include_str!("page/overview.js")),
    ("tables.js", SCRIPT, include_str!("page/tables.js")),
    ("rows.js", SCRIPT, include_str!("page/rows.js")),
    ("heat.js", SCRIPT, include_str!("page/heat.js")),
    ("times.js", SCRIPT, include_str!("page/times.js")),
    ("prompt.js", SCRIPT, include_str!("page/prompt.js")),
    ("server.js", SCRIPT, include_str!("page/server.js")),
];

/// The file below `/console/` with this name.
pub(crate) fn find(name: &str) -> Option<Response<Bytes>> {
    let (_, content_type, text) = FILES.iter().find(|(known, ..)| *known == name)?;
    Some(response(StatusCode::OK, content_type, Bytes::from_static(text.as_bytes())))
}

/// A response with the headers that all responses have.
pub(crate) fn response(status: StatusCode, content_type: &str, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    let policy = header::HeaderName::from_static("cross-origin-resource-policy");
    headers.insert(policy, header::HeaderValue::from_static("same-origin"));
    if let Ok(content_type) = header::HeaderValue::from_str(content_type) {
        headers.insert(header::CONTENT_TYPE, content_type);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of all files.
    const SIZE_MAX: usize = 200 * 1024;

    #[test]
    fn the_page_is_small_and_complete() {
        let total: usize = FILES.iter().map(|(_, _, text)| text.len()).sum();
        assert!(total < SIZE_MAX, "{total} bytes");
        for (name, _, text) in FILES {
            // Every file that another one names exists.
            let quoted = text.split('"').filter_map(|part| part.strip_prefix("./"));
            for file in quoted.filter(|file| file.contains('.')) {
                assert!(FILES.iter().any(|(known, ..)| known == &file), "{name} names {file}");
            }
        }
    }

    /// Functions that interpret text as HTML or code do not appear: the page shows untrusted bytes.
    #[test]
    fn nothing_is_interpreted_as_html_or_code() {
        const REFUSED: [&str; 9] = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "createContextualFragment",
            "DOMParser",
            "eval(",
            "new Function",
            "srcdoc",
        ];
        for (name, _, text) in FILES {
            for word in REFUSED {
                assert!(!text.contains(word), "{name} has {word}");
            }
            let is_html = name.is_empty();
            let inline = ["<script>", "<style", " style=", " onclick=", " onload="];
            assert!(!is_html || inline.iter().all(|part| !text.contains(part)), "{name}");
            assert!(!text.contains("https://"), "{name} names another site");
        }
    }
}
