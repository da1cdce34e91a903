//! Thrift over HTTP/1.1: the body of each POST is one message without a frame, and the body of its
//! response is the answer. The path does not matter, as with HBase.
//!
//! A web page can make a browser send requests to this machine. Those that name another host, or a
//! page of another site, are refused, and so is what is not of Thrift's content type, which
//! browsers send only after a preflight request.
//!
//! A request that is refused is the last one of its connection.

use std::io::Write;

use hblite_wire::site::{RequestHead, Site};
use httparse::{EMPTY_HEADER, Request, Status};

use crate::options::Terms;
use crate::protocol::Protocol;
use crate::protocol::error::Result;
use crate::protocol::input::Input;
use crate::protocol::reader::{COMPACT_ID, Reader};
use crate::protocol::writer::Writer;
use crate::service::{Service, answer};

/// The longest head of a request, in bytes: Jetty's limit for HBase's server.
const HEAD_MAX: usize = 64 * 1024;
/// How much of a longer head is read, so that the client receives the refusal.
const LONG_HEAD_MAX: usize = 4 * HEAD_MAX;
const HEADERS_MAX: usize = 100;
const CONTENT_TYPE: &str = "application/x-thrift";

/// Whether a connection that begins with these four bytes speaks HTTP.
pub(crate) fn is_begun_by(bytes: &[u8]) -> bool {
    [b"POST", b"GET ", b"HEAD", b"PUT ", b"DELE", b"OPTI", b"TRAC", b"PATC"]
        .iter()
        .any(|method| bytes == *method)
}

/// Answers requests until either side ends the connection.
///
/// # Errors
/// The client sent something that is not a message, or is too large. The connection must be closed.
pub(crate) fn serve(
    input: &mut Input,
    output: &mut dyn Write,
    service: &dyn Service,
    terms: Terms<'_>,
) -> Result<()> {
    let limits = terms.limits;
    loop {
        let head = match read_head(input)? {
            Some(head) => Head::parse(&head, limits.message_size_max_bytes, terms.site),
            None => Err(Refusal("431 Request Header Fields Too Large")),
        };
        let head = match head {
            Ok(head) => head,
            Err(Refusal(status)) => {
                let text =
                    format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                return Ok(output.write_all(text.as_bytes())?);
            }
        };
        if head.awaits_continue {
            output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        input.start_sized_message(head.body_size);
        let protocol = match input.peek(1)?.first() {
            Some(&COMPACT_ID) => Protocol::Compact,
            _ => Protocol::Binary,
        };
        let mut writer = Writer::new(protocol, Vec::new());
        let mut reader = Reader::new(input, protocol, limits.message_size_max_bytes);
        answer(service, &mut reader, &mut writer)?;
        input.end_message()?;
        let body = writer.into_bytes();
        let text = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {}\r\n{}\r\n",
            body.len(),
            if head.is_last { "Connection: close\r\n" } else { "" }
        );
        output.write_all(text.as_bytes())?;
        output.write_all(&body)?;
        drop(body);
        let kept = input.kept_bytes();
        input.allowance().keep(kept);
        if head.is_last || !input.await_message()? {
            return Ok(());
        }
    }
}

/// The status with which a request is refused.
struct Refusal(&'static str);

/// The head of a request, with the empty line; `None` if it is too long.
fn read_head(input: &mut Input) -> Result<Option<Vec<u8>>> {
    input.start_message(LONG_HEAD_MAX);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if input.left() == 0 {
            return Ok(None);
        }
        head.extend(input.take(1)?);
    }
    Ok(Some(head).filter(|head| head.len() <= HEAD_MAX))
}

/// The relevant parts of a request's head.
struct Head {
    body_size: usize,
    /// The client asks to close the connection after it.
    is_last: bool,
    /// The client sends the body after `100 Continue`.
    awaits_continue: bool,
}

impl Head {
    fn parse(
        bytes: &[u8],
        body_size_max: usize,
        site: &Site,
    ) -> std::result::Result<Self, Refusal> {
        let mut headers = [EMPTY_HEADER; HEADERS_MAX];
        let mut request = Request::new(&mut headers);
        let parsed = request.parse(bytes);
        let (Ok(Status::Complete(_)), Some(method)) = (parsed, request.method) else {
            return Err(Refusal("400 Bad Request"));
        };
        let named = |name: &str| {
            let headers = request.headers.iter();
            let headers = headers.filter(|each| each.name.eq_ignore_ascii_case(name));
            headers.map(|header| header.value).collect()
        };
        let uri = request.path.unwrap_or_default();
        let authority = uri.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next());
        let who = RequestHead {
            authority: authority.flatten().map(str::as_bytes),
            hosts: named("host"),
            origins: named("origin"),
        };
        if let Err(refusal) = site.check(&who) {
            return Err(Refusal(match refusal.status() {
                400 => "400 Bad Request",
                _ => "403 Forbidden",
            }));
        }
        let of = |name: &str| {
            let header =
                request.headers.iter().find(|each| each.name.eq_ignore_ascii_case(name))?;
            Some(String::from_utf8_lossy(header.value).trim().to_ascii_lowercase())
        };
        let content_type = of("content-type").unwrap_or_default();
        let body_size = of("content-length").and_then(|size| size.parse::<usize>().ok());
        match (method, body_size) {
            ("TRACE" | "OPTIONS", _) => Err(Refusal("403 Forbidden")),
            ("POST", _) if content_type.split(';').next().map(str::trim) != Some(CONTENT_TYPE) => {
                Err(Refusal("415 Unsupported Media Type"))
            }
            // This includes bodies in chunks.
            ("POST", _) if of("transfer-encoding").is_some() => Err(Refusal("411 Length Required")),
            ("POST", None) => Err(Refusal("411 Length Required")),
            ("POST", Some(size)) if size > body_size_max => Err(Refusal("413 Payload Too Large")),
            ("POST", Some(body_size)) => Ok(Self {
                body_size,
                is_last: request.version == Some(0) || of("connection").as_deref() == Some("close"),
                awaits_continue: of("expect").as_deref() == Some("100-continue"),
            }),
            _ => Err(Refusal("405 Method Not Allowed")),
        }
    }
}
