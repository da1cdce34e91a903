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
//! | `/console/…` | attached pages ([`Pages`]) |
//!
//! `listener` keeps connections few and short. A posted body is JSON and must declare that as its
//! content type. This prevents posts from web pages, and so do the rules that a request must name
//! a host name of this machine, and come from no other site.

mod control;
mod gateways;
mod listener;
mod metrics;
mod page_server;
mod pages;
mod state;
mod status;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use hblite_model::{Error, ErrorKind, Exception};
use hblite_wire::site::{RequestHead, Site};
use serde_json::json;
use tokio::net::TcpListener;

use crate::cluster::CurrentCluster;
use crate::fault_control::Faults;
use crate::rpc::Dispatcher;
use crate::state_control::StateControl;
pub(crate) use gateways::Gateways;
use listener::Terms;
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

/// Serves until the task is dropped.
pub(crate) async fn serve(listener: TcpListener, admin: Admin) {
    let router = Router::new()
        .route("/", get(help))
        .route("/health", get(async || "ok\n"))
        .route("/status", get(status::status))
        .route("/metrics", get(metrics::metrics))
        .route("/faults", get(control::list).post(control::set).delete(control::clear_all))
        .route("/faults/{id}", delete(control::clear))
        .route("/regions/{name}/{action}", post(control::region))
        .route("/servers/{server}/{action}", post(control::server))
        .route("/checkpoints", get(state::checkpoints).post(state::checkpoint))
        .route("/checkpoints/{name}", delete(state::delete_checkpoint))
        .route("/checkpoints/{name}/rewind", post(state::rewind))
        .route("/forks", get(state::forks).post(state::fork).delete(state::close_forks))
        .route("/forks/{id}", delete(state::close_fork))
        .route("/clock", get(state::clock).post(state::set_clock))
        .route("/gateways", get(gateways::list))
        .route("/gateways/{name}", post(gateways::set))
        .fallback(pages::fallback)
        .layer(middleware::from_fn_with_state(admin.clone(), check_site))
        .with_state(admin.clone());
    self::listener::serve(listener, router, terms(&admin)).await;
}

async fn help(State(admin): State<Admin>, headers: HeaderMap) -> Response {
    if pages::wants_html(&headers) && admin.pages.get().is_some() {
        return (StatusCode::SEE_OTHER, [(header::LOCATION, "/console/")]).into_response();
    }
    "hblite: GET /health, /status, /metrics, /faults, /console/, /checkpoints, /forks, /clock, \
     /gateways; POST /faults, /regions/NAME/{move,split,assign,unassign}, \
     /servers/NUMBER/{crash,restart}, /checkpoints, /checkpoints/NAME/rewind, /forks, /clock, \
     /gateways/NAME; DELETE /faults, /faults/ID, /checkpoints/NAME, /forks, /forks/ID\n"
        .into_response()
}

/// Refuses requests that pages of other web sites may have sent.
async fn check_site(State(admin): State<Admin>, request: Request, next: Next) -> Response {
    let site = Site::named(admin.cluster.shared().options.advertise.as_deref());
    let Err(refusal) = site.check(&who(&request)) else { return next.run(request).await };
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::FORBIDDEN);
    Refused::new(status, refusal.to_string()).into_response()
}

/// The parts of a request that name a host.
fn who(request: &Request) -> RequestHead<'_> {
    let named = |name| request.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect();
    RequestHead {
        authority: request.uri().authority().map(|authority| authority.as_str().as_bytes()),
        hosts: named(header::HOST),
        origins: named(header::ORIGIN),
    }
}

/// An answer that is an error.
#[derive(Debug)]
pub(crate) struct Refused {
    status: StatusCode,
    message: String,
}

impl Refused {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
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

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.message }))).into_response()
    }
}
