//! The admin endpoint: state, counters and faults over HTTP, for people, scripts and tests in
//! other languages.
//!
//! | request | |
//! |---|---|
//! | `GET /health` | 200 and `ok` while the server runs |
//! | `GET /status` | servers, regions and counters as JSON |
//! | `GET /metrics` | the counters in Prometheus' text format |
//! | `GET /faults` | the active faults of calls |
//! | `POST /faults`, `DELETE /faults/7`, `DELETE /faults` | sets one, clears one, clears all |
//! | `POST /regions/<name>/{move,split,assign,unassign}` | regions, by their encoded names |
//! | `POST /servers/<number>/{crash,restart}` | region servers |
//! | `GET /checkpoints`, `POST /checkpoints`, `DELETE /checkpoints/<name>` | earlier states |
//! | `POST /checkpoints/<name>/rewind` | returns to one |
//! | `GET /forks`, `POST /forks`, `DELETE /forks/7`, `DELETE /forks` | independent servers |
//! | `GET /clock`, `POST /clock` | the store's clock |
//! | `GET /gateways`, `POST /gateways/<name>` | which gateways are read-only |
//! | `/console/…`, `GET /hot` | attached pages ([`Pages`]) |
//!
//! `listener` keeps connections few and short, `routes` finds what a request does. A posted body is
//! JSON and must declare that as its content type. This prevents posts from web pages, and so do
//! the rules that a request must name a host name of this machine, and come from no other site.

mod control;
mod gateways;
mod listener;
mod message;
mod metrics;
mod page_server;
mod pages;
mod routes;
mod rows;
mod state;
mod status;

use std::sync::Arc;

use hblite_model::{Error, Exception, Result};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HOST};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::cluster::CurrentCluster;
use crate::fault_control::Faults;
use crate::rpc::Dispatcher;
use crate::state_control::StateControl;
pub(crate) use gateways::Gateways;
use listener::{Answers, Terms};
use message::Request;
pub use page_server::PageServer;
pub(crate) use pages::Attached;
pub use pages::{PAGE_SIZE_MAX_BYTES, Pages};

/// The state that the routes use.
#[derive(Clone)]
pub(crate) struct Admin {
    pub(crate) cluster: CurrentCluster,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) faults: Faults,
    pub(crate) state: StateControl,
    pub(crate) pages: Attached,
    pub(crate) gateways: Gateways,
}

/// The memory that an answer needs per region that it may name, while it is built and sent.
const REGION_BYTES: usize = 4 * 1024;

/// The limits of the port, which are part of the server's.
fn terms(admin: &Admin) -> Terms {
    let limits = &admin.cluster.shared().options.limits;
    let cluster = admin.cluster.clone();
    let answer_bytes = move |path: &str| match pages::has(path) {
        true => 2 * PAGE_SIZE_MAX_BYTES,
        false => cluster.get().engine.online_regions().len() * REGION_BYTES,
    };
    Terms {
        hello_timeout: limits.hello_timeout,
        stall_timeout: limits.stall_timeout,
        memory: Arc::clone(&admin.cluster.shared().memory),
        memory_share_bytes: limits.memory_max_bytes / 8,
        answer_bytes: Arc::new(answer_bytes),
    }
}

/// A request of this process; `body` is JSON, or empty.
///
/// # Errors
/// `IllegalArgument` if the method or path is none of HTTP's.
pub(crate) fn request(method: &str, path: &str, body: &str) -> Result<Request> {
    let invalid = |error| Error::illegal_argument(format!("{method} {path}: {error}"));
    hyper::Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, "localhost")
        .header(CONTENT_TYPE, "application/json")
        .body(Bytes::copy_from_slice(body.as_bytes()))
        .map_err(invalid)
}

/// The body of the answer to a request.
///
/// # Errors
/// `IllegalArgument`, or `Io` if the server is at fault, with the reason that the answer has.
pub(crate) async fn answer(admin: Admin, request: Request) -> Result<String> {
    let asked = format!("{} {}", request.method(), request.uri());
    let response = Arc::new(admin).answer(request).await;
    let status = response.status();
    let body = String::from_utf8_lossy(response.body()).into_owned();
    if status.is_success() {
        return Ok(body);
    }
    let reason = serde_json::from_str(&body)
        .ok()
        .and_then(|answer: Value| answer.get("error").and_then(Value::as_str).map(str::to_owned));
    let message = format!("{asked}: {}", reason.as_deref().unwrap_or(status.as_str()));
    let exception = match status.is_server_error() {
        true => Exception::Io,
        false => Exception::IllegalArgument,
    };
    Err(Error::new(exception, message))
}

/// Serves until the task is dropped.
pub(crate) async fn serve(listener: TcpListener, admin: Admin) {
    let terms = terms(&admin);
    self::listener::serve(listener, Arc::new(admin), terms).await;
}
