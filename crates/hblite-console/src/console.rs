//! The console: turns a request into its answer.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hblite::Connection;
use hblite_server::{PAGE_SIZE_MAX_BYTES, Pages};
use http::{Method, Request, Response, StatusCode};
use parking_lot::Mutex;

use crate::api::{self, Failure, Query, Reply};
use crate::recorder::{PERIOD, Recorder};
use crate::source::{Source, Target};
use crate::state::{Prompts, State};
use crate::token::Token;
use crate::{assets, guard};

/// The settings of a console.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ConsoleOptions {
    /// The token that changes require.
    pub token: Token,
    /// A host name that requests may use, in addition to `localhost` and addresses.
    pub host: Option<String>,
    /// How often counters are read. Default 5 seconds.
    pub period: Duration,
    /// The connection that the prompt uses, if not that of the pages: on a cluster, a command may
    /// take longer than a page should.
    pub prompt: Option<Connection>,
}

impl ConsoleOptions {
    /// The defaults, with a new token.
    ///
    /// # Errors
    /// `Io` if the system has no randomness.
    pub fn new() -> hblite::Result<Self> {
        Ok(Self { token: Token::random()?, host: None, period: PERIOD, prompt: None })
    }

    /// Sets [`token`](ConsoleOptions::token).
    #[must_use]
    pub fn with_token(mut self, token: Token) -> Self {
        self.token = token;
        self
    }

    /// Sets [`host`](ConsoleOptions::host).
    #[must_use]
    pub fn with_host(mut self, host: impl Into<Option<String>>) -> Self {
        self.host = host.into();
        self
    }

    /// Sets [`period`](ConsoleOptions::period).
    #[must_use]
    pub fn with_period(mut self, period: Duration) -> Self {
        self.period = period;
        self
    }

    /// Sets [`prompt`](ConsoleOptions::prompt).
    #[must_use]
    pub fn with_prompt(mut self, prompt: impl Into<Option<Connection>>) -> Self {
        self.prompt = prompt.into();
        self
    }
}

/// The console of a store or cluster.
#[derive(Debug)]
pub struct Console {
    options: ConsoleOptions,
    state: State,
}

impl Console {
    /// A console that starts recording now. It keeps `connection` open until it is dropped.
    ///
    /// # Errors
    /// `Io` if no thread can be started.
    pub fn new(
        connection: Connection,
        target: Target,
        options: ConsoleOptions,
    ) -> hblite::Result<Self> {
        let prompt = options.prompt.clone().unwrap_or_else(|| connection.clone());
        let source = Arc::new(Source::new(connection, target));
        let recorder = Recorder::start(Arc::clone(&source), options.period)?;
        let (prompts, advice) = (Prompts::default(), Mutex::default());
        let state = State { source, prompt, recorder, prompts, advice };
        Ok(Self { options, state })
    }

    /// Reads the counters now, in addition to every period: a window ends here.
    pub fn record(&self) {
        self.state.recorder.note();
    }

    fn route(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        guard::check(request, self.options.host.as_deref())?;
        let path = request.uri().path();
        let not_found = || Failure::new(StatusCode::NOT_FOUND, "there is no such page");
        if path == "/hot" {
            if *request.method() != Method::GET {
                return Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "use GET"));
            }
            let query = Query::parse(request.uri().query().unwrap_or_default());
            return json(StatusCode::OK, &api::hot::hot(&self.state, &query)?);
        }
        let Some(name) = path.strip_prefix("/console/") else {
            return Ok(redirect());
        };
        let Some(call) = name.strip_prefix("api/") else {
            return match *request.method() {
                Method::GET => assets::find(name).ok_or_else(not_found),
                _ => Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "use GET")),
            };
        };
        let query = Query::parse(request.uri().query().unwrap_or_default());
        let reply = match *request.method() {
            Method::GET => api::read(&self.state, call, &query)?,
            Method::POST => {
                guard::check_change(request, &self.options.token)?;
                api::change(&self.state, call, request.body())?
            }
            _ => return Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "use GET or POST")),
        };
        json(StatusCode::OK, &reply)
    }
}

impl Pages for Console {
    fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        self.route(request).unwrap_or_else(|failure| {
            let is_cluster = self.state.source.is_cluster();
            let failure = if is_cluster { failure } else { failure.of_own_store() };
            let text = serde_json::json!({ "error": failure.message }).to_string();
            assets::response(failure.status, "application/json", Bytes::from(text))
        })
    }
}

fn redirect() -> Response<Bytes> {
    let mut response = assets::response(StatusCode::SEE_OTHER, "text/plain", Bytes::new());
    let to = http::HeaderValue::from_static("/console/");
    response.headers_mut().insert(http::header::LOCATION, to);
    response
}

fn json(status: StatusCode, reply: &Reply) -> Result<Response<Bytes>, Failure> {
    let text = reply.to_string();
    if text.len() > PAGE_SIZE_MAX_BYTES {
        let message = "the answer is too large; ask for less";
        return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    Ok(assets::response(status, "application/json", Bytes::from(text)))
}
