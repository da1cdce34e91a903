//! The answers to the page's requests, as JSON.
//!
//! | request | answer |
//! |---|---|
//! | `GET overview` | servers, memory, files, rates, calls, callers |
//! | `GET tables` | all tables with sizes and rates |
//! | `GET table?name=t` | families, attributes, regions |
//! | `GET rows?table=t&…` | a page of rows |
//! | `GET heat?table=t&metric=writes&…` | the heat map of a table, what is hot, and callers |
//! | `GET compare?table=t&since=…&until=…&base_since=…&base_until=…` | two times compared |
//! | `GET report?table=t&since=…&until=…&…` | one or two times as a page |
//! | `GET /hot?table=t&since=…&until=…` | what was hot, for programs |
//! | `GET advice?table=t&…` | what the adviser proposes for the sampled rows |
//! | `GET commands` | the commands of the prompt |
//! | `POST run`, `POST stop` | runs commands; stops them; with the token |
//!
//! Row keys are text as `Bytes.toStringBinary` prints them; values are base64.

mod callers;
mod heat;
pub(crate) mod hot;
mod overview;
pub(crate) mod prompt;
pub(crate) mod ranges;
mod rows;
mod tables;

use std::str::FromStr;

use hblite::ErrorKind;
use http::StatusCode;
use serde_json::Value;

use crate::state::State;

/// An answer.
pub(crate) type Reply = Value;
pub(crate) type Answer = Result<Reply, Failure>;

/// A refused request, with the reason.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// The same in a console of this process's own store: there is no server behind it that could
    /// have failed.
    pub(crate) fn of_own_store(self) -> Self {
        match self.status {
            StatusCode::BAD_GATEWAY => Self { status: StatusCode::INTERNAL_SERVER_ERROR, ..self },
            _ => self,
        }
    }
}

impl From<hblite::Error> for Failure {
    fn from(error: hblite::Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotServing | ErrorKind::Busy | ErrorKind::Closed => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            ErrorKind::Io => StatusCode::BAD_GATEWAY,
            ErrorKind::Corrupt => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, error.to_string())
    }
}

/// The parameters of a request.
#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// A parameter that is present and not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(crate) fn required(&self, name: &str) -> Result<&str, Failure> {
        self.text(name).ok_or_else(|| Failure::bad(format!("the parameter {name} is missing")))
    }

    /// A number within bounds.
    pub(crate) fn number<N: FromStr + PartialOrd + Copy + std::fmt::Display>(
        &self,
        name: &str,
        default: N,
        (least, most): (N, N),
    ) -> Result<N, Failure> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let number = text.parse::<N>().ok().filter(|number| *number >= least && *number <= most);
        number.ok_or_else(|| Failure::bad(format!("{name} is a number from {least} to {most}")))
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.text(name) == Some("1")
    }
}

/// The range of time of a request, in milliseconds since 1970: from `since` to before `until`.
fn times(query: &Query) -> Result<Option<(i64, i64)>, Failure> {
    times_of(query, "since", "until")
}

/// The range of time of a request whose parameters have these names.
fn times_of(query: &Query, from: &str, to: &str) -> Result<Option<(i64, i64)>, Failure> {
    if query.text(from).or(query.text(to)).is_none() {
        return Ok(None);
    }
    let bounds = (0, i64::MAX);
    let (since, until) = (query.number(from, 0, bounds)?, query.number(to, i64::MAX, bounds)?);
    if since >= until {
        let message = format!("{from} is before {to}, both in milliseconds since 1970");
        return Err(Failure::bad(message));
    }
    Ok(Some((since, until)))
}

/// Answers a request that changes nothing.
pub(crate) fn read(state: &State, call: &str, query: &Query) -> Answer {
    match call {
        "overview" => overview::overview(state),
        "tables" => tables::tables(state),
        "table" => tables::table(state, query),
        "rows" => rows::rows(state, query),
        "heat" => heat::heat(state, query),
        "compare" => ranges::compare(state, query),
        "advice" => heat::advice(state, query),
        "commands" => prompt::commands(),
        _ => Err(no_such_call()),
    }
}

/// Answers a request that may change something. The token was checked.
pub(crate) fn change(state: &State, call: &str, body: &[u8]) -> Answer {
    match call {
        "run" => prompt::run(state, body),
        "stop" => prompt::stop(state, body),
        _ => Err(no_such_call()),
    }
}

fn no_such_call() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "there is no such call")
}

/// The parsed body of a request.
fn body<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(bytes).map_err(|error| Failure::bad(format!("the body: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_error_is_of_the_cluster_or_of_this_process() {
        let failure = || Failure::from(hblite::Error::new(hblite::Exception::Io, "a disk"));
        assert_eq!(failure().status, StatusCode::BAD_GATEWAY);
        assert_eq!(failure().of_own_store().status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(Failure::bad("no").of_own_store().status, StatusCode::BAD_REQUEST);
    }
}
