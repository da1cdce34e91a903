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

/// What programs ask for, and what is a page to be saved.
const HOT: &str = "/hot";
const REPORT: &str = "/console/api/report";

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
    /// How often the history is written to the directory of the store, where the next console finds
    /// it; it is at the end, too. By default it is not kept.
    pub keeping: Option<Duration>,
}

impl ConsoleOptions {
    /// The defaults, with a new token.
    ///
    /// # Errors
    /// `Io` if the system has no randomness.
    pub fn new() -> hblite::Result<Self> {
        Ok(Self {
            token: Token::random()?,
            host: None,
            period: PERIOD,
            prompt: None,
            keeping: None,
        })
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

    /// Sets [`keeping`](ConsoleOptions::keeping).
    #[must_use]
    pub fn with_keeping(mut self, every: impl Into<Option<Duration>>) -> Self {
        self.keeping = every.into();
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
        let recorder = Recorder::start(Arc::clone(&source), options.period, options.keeping)?;
        let (prompts, advice) = (Prompts::default(), Mutex::default());
        let state = State { source, prompt, recorder, prompts, advice };
        Ok(Self { options, state })
    }

    /// Stops recording and keeps the history, as a drop does: comes before the store is closed.
    pub fn stop(&self) {
        self.state.recorder.stop();
    }

    /// Why the history of an earlier run could not be read, or this one not be kept. Waits until
    /// the earlier one is read.
    pub fn history_problem(&self) -> Option<String> {
        self.state.recorder.problem()
    }

    /// Reads the counters now, in addition to every period: a window ends here.
    pub fn record(&self) {
        self.state.recorder.note();
    }

    fn route(&self, request: &Request<Bytes>) -> Result<Response<Bytes>, Failure> {
        guard::check(request, self.options.host.as_deref())?;
        let path = request.uri().path();
        let not_found = || Failure::new(StatusCode::NOT_FOUND, "there is no such page");
        let query = Query::parse(request.uri().query().unwrap_or_default());
        if [HOT, REPORT].contains(&path) && *request.method() != Method::GET {
            return Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "use GET"));
        }
        match path {
            HOT => return json(StatusCode::OK, &api::hot::hot(&self.state, &query)?),
            REPORT => return report(api::ranges::report(&self.state, &query)?),
            _ => {}
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

/// A page to be saved: its script and style are within it, which this site's pages may not have.
fn report(page: String) -> Result<Response<Bytes>, Failure> {
    check_size(&page)?;
    let mut response =
        assets::response(StatusCode::OK, "text/html; charset=utf-8", Bytes::from(page));
    let name = http::HeaderValue::from_static("attachment; filename=\"report.html\"");
    response.headers_mut().insert(http::header::CONTENT_DISPOSITION, name);
    Ok(response)
}

fn check_size(text: &str) -> Result<(), Failure> {
    if text.len() > PAGE_SIZE_MAX_BYTES {
        let message = "the answer is too large; ask for less";
        return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    Ok(())
}

fn json(status: StatusCode, reply: &Reply) -> Result<Response<Bytes>, Failure> {
    let text = reply.to_string();
    check_size(&text)?;
    Ok(assets::response(status, "application/json", Bytes::from(text)))
}
