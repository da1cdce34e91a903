//! A request: its method, path, query, headers and body, all of them in memory.

use std::sync::Arc;

use bytes::Bytes;
use hblite::{Operation, TableName};
use hblite_wire::callers::CountedClient;
use hyper::header::AsHeaderName;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};

use crate::activity::Work;
use crate::java;
use crate::memory::Allowance;

/// A request whose body has arrived and has been decompressed.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// As it was sent, without the query.
    pub(crate) path: String,
    /// Names and values of the query, decoded, in their order.
    parameters: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The memory of the request.
    pub(crate) memory: Arc<Allowance>,
    /// Counts what the request does.
    client: Option<Arc<CountedClient>>,
    /// Held while the request is in progress.
    pub(crate) work: Arc<Work>,
}

impl Request {
    pub(crate) fn new(
        head: Parts,
        body: Bytes,
        memory: Arc<Allowance>,
        client: Option<Arc<CountedClient>>,
        work: Arc<Work>,
    ) -> Self {
        let query = head.uri.query().unwrap_or_default();
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let decoded = |text: &str| java::decode_url(text).unwrap_or_else(|| text.to_owned());
        let parameters = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        });
        let parameters = parameters.collect();
        let path = head.uri.path().to_owned();
        let (method, headers) = (head.method, head.headers);
        Self { method, path, parameters, headers, body, memory, client, work }
    }

    /// Counts operations in a table.
    pub(crate) fn note(&self, operation: Operation, table: &TableName, count: usize) {
        if let Some(client) = &self.client {
            client.note(operation, table, count as u64);
        }
    }

    /// Whether the request is read-only.
    pub(crate) fn is_read(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }

    /// The first value of a parameter of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// Every value of a parameter of the query.
    pub(crate) fn parameters_called<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.parameters.iter().filter(move |(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// The first value of a header, if it is text.
    pub(crate) fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// How rows and columns are encoded in the path, if they are.
    pub(crate) fn key_encoding(&self) -> Option<&str> {
        self.header("encoding").or_else(|| self.parameter("e"))
    }

    /// The URL of the request without its query: the beginning of a `Location`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}{}", self.header("host").unwrap_or("localhost"), self.path)
    }
}
