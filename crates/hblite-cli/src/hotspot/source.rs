//! Readings of the counters of a cluster or of servers, with the rows of requests from an hblite.

use hblite::{Clock as _, Connection};
use hblite_hotspot::watch::{Reading, row_counts_of};
use serde_json::Value;

/// Maximum size of a line of a recording, and of a document from a server.
pub(super) const DOCUMENT_MAX: u64 = 64 << 20;

/// Where readings come from.
pub(super) struct Source<'a> {
    urls: &'a [String],
    connection: Option<&'a Connection>,
    /// For each URL, where the next counts of rows begin; `None` if it has none.
    after: Vec<Option<u64>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(urls: &'a [String], connection: Option<&'a Connection>) -> Self {
        let may_count = |url: &String| connection.is_some() || url.ends_with("/status");
        let after = urls.iter().map(|url| may_count(url).then_some(u64::MAX)).collect();
        Self { urls, connection, after }
    }

    /// The counters now, and the rows of the requests since the last reading.
    pub(super) fn read(&mut self) -> Result<Reading, String> {
        let time_ms = hblite::SystemClock.now_millis();
        let mut reading = match self.connection {
            Some(connection) => {
                let status = connection.admin().status();
                Reading::of_status(time_ms, &status.map_err(|error| error.message().to_owned())?)
            }
            None => {
                let documents = self.urls.iter().map(|url| document(url));
                let documents: Vec<Value> = documents.collect::<Result<_, _>>()?;
                let reading = Reading::of_documents(time_ms, &documents);
                reading.map_err(|reason| format!("{}: {reason}", self.urls[0]))?
            }
        };
        for (url, after) in self.urls.iter().zip(&mut self.after) {
            let Some(from) = *after else { continue };
            let counts = match self.connection {
                Some(connection) => match connection.admin().row_counts(from) {
                    Ok(counts) => counts,
                    // The next reading gets the counts of both times.
                    Err(_) => continue,
                },
                None => {
                    let url = format!("{}/rows?after={from}", url.trim_end_matches("/status"));
                    document(&url).ok().and_then(|document| row_counts_of(document).ok())
                }
            };
            // Other servers than hblite do not count.
            *after = counts.as_ref().map(|counts| counts.until);
            if let Some(counts) = counts {
                reading.rows.get_or_insert_default().add(&counts);
            }
        }
        Ok(reading)
    }
}

/// The JSON at a URL.
fn document(url: &str) -> Result<Value, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{url}: {error}");
    let request = ureq::get(url).header("Accept", "application/json");
    let mut response = request.call().map_err(|error| wrong(&error))?;
    let body = response.body_mut().with_config().limit(DOCUMENT_MAX);
    body.read_json().map_err(|error| wrong(&error))
}
