//! Media types: the form of the answer that a client requests, and the form of its body.

use hyper::StatusCode;
use hyper::header::{ACCEPT, CONTENT_TYPE};

use crate::failure::Failure;
use crate::request::Request;

/// A form of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Xml,
    Json,
    Protobuf,
    /// The same as [`Format::Protobuf`], by its registered name.
    ProtobufIetf,
    Binary,
}

impl Format {
    /// Every form that describes a resource.
    pub(crate) const DESCRIPTIONS: &'static [Self] =
        &[Self::Text, Self::Xml, Self::Json, Self::Protobuf, Self::ProtobufIetf];
    /// The forms that have structure: those that the body of a request may have.
    pub(crate) const STRUCTURED: &'static [Self] =
        &[Self::Xml, Self::Json, Self::Protobuf, Self::ProtobufIetf];
    /// The forms of cells.
    pub(crate) const CELLS: &'static [Self] =
        &[Self::Xml, Self::Json, Self::Protobuf, Self::ProtobufIetf, Self::Binary];
    /// Every form.
    pub(crate) const ALL: &'static [Self] =
        &[Self::Text, Self::Xml, Self::Json, Self::Protobuf, Self::ProtobufIetf, Self::Binary];

    /// Its media type.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Text => "text/plain",
            Self::Xml => "text/xml",
            Self::Json => "application/json",
            Self::Protobuf => "application/x-protobuf",
            Self::ProtobufIetf => "application/protobuf",
            Self::Binary => "application/octet-stream",
        }
    }

    /// The form of an answer: the one among `offered` that the client prefers.
    ///
    /// # Errors
    /// 406 if it accepts none of them.
    pub(crate) fn accepted(request: &Request, offered: &[Self]) -> Result<Self, Failure> {
        let accepts: Vec<&str> = request
            .headers
            .get_all(ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .collect();
        let accept = if accepts.is_empty() { "*/*".to_owned() } else { accepts.join(",") };
        let types: Vec<&str> = offered.iter().map(|format| format.media_type()).collect();
        let chosen = choose(&accept, &types).map(|at| offered[at]);
        chosen.ok_or(Failure::Page(StatusCode::NOT_ACCEPTABLE))
    }

    /// The form of a request's body.
    ///
    /// # Errors
    /// 415 if it is none of `taken`.
    pub(crate) fn of_body(request: &Request, taken: &[Self]) -> Result<Self, Failure> {
        let content_type = request.header(CONTENT_TYPE).unwrap_or_default();
        let name = content_type.split(';').next().unwrap_or_default().trim();
        let format = taken.iter().find(|format| name.eq_ignore_ascii_case(format.media_type()));
        format.copied().ok_or(Failure::Page(StatusCode::UNSUPPORTED_MEDIA_TYPE))
    }
}

/// A type that a client accepts, and its quality value.
struct Accepted<'a> {
    main: &'a str,
    sub: &'a str,
    /// In thousandths.
    quality: u32,
}

impl<'a> Accepted<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';');
        let (main, sub) = match parts.next()?.trim() {
            "*" => ("*", "*"),
            name => name.split_once('/')?,
        };
        let quality = parts.find_map(|part| part.trim().strip_prefix("q="));
        let quality: f32 = quality.map_or(Some(1.0), |quality| quality.trim().parse().ok())?;
        // In range, so only digits after the third are lost.
        let quality = (quality.clamp(0.0, 1.0) * 1000.0) as u32;
        Some(Self { main, sub, quality })
    }

    fn matches(&self, media_type: &str) -> bool {
        let (main, sub) = media_type.split_once('/').unwrap_or((media_type, ""));
        let fits = |wanted: &str, name: &str| wanted == "*" || wanted.eq_ignore_ascii_case(name);
        fits(self.main, main) && fits(self.sub, sub)
    }

    fn wildcards(&self) -> u8 {
        u8::from(self.main == "*") + u8::from(self.sub == "*")
    }
}

/// The index of the type that the header `accept` prefers among those offered.
pub(crate) fn choose(accept: &str, offered: &[&str]) -> Option<usize> {
    let mut accepted: Vec<Accepted<'_>> = accept.split(',').filter_map(Accepted::parse).collect();
    accepted.sort_by_key(|accepted| (u32::MAX - accepted.quality, accepted.wildcards()));
    let wanted = accepted.iter().filter(|accepted| accepted.quality > 0);
    wanted.flat_map(|wanted| offered.iter().position(|offered| wanted.matches(offered))).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_type_is_chosen() {
        let offered = ["text/xml", "application/json", "application/octet-stream"];
        let chosen = |accept| choose(accept, &offered).map(|at| offered[at]);
        assert_eq!(chosen("*/*"), Some("text/xml"));
        assert_eq!(chosen("application/*"), Some("application/json"));
        assert_eq!(chosen("application/json;q=0.5, text/xml;q=0.4"), Some("application/json"));
        assert_eq!(chosen("*/*, application/octet-stream"), Some("application/octet-stream"));
        assert_eq!(chosen("Application/JSON; charset=utf-8"), Some("application/json"));
        for refused in ["text/plain", "", "application/json;q=0", "application/json;q=x", "/,;"] {
            assert_eq!(chosen(refused), None, "{refused}");
        }
    }
}
