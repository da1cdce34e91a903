//! Who causes the load: shares of clients, users, operations and tables, with their bounds.
//!
//! A count is at most too low. Of the requests that are not in the list, any number up to the error
//! of the list may be of a listed caller, and all of them of a client or a user.

use std::collections::BTreeMap;

use hblite::{Caller, CallerCounts};
use serde::Serialize;

use super::hot::Share;
use super::share_text;

/// Entries of each list.
const LISTED_MAX: usize = 20;
/// Callers in a sentence, and the share that they have.
const TOLD_MAX: usize = 3;
const TOLD: f64 = 0.05;

/// Who sent the requests of clients.
#[derive(Debug, Clone, Serialize)]
pub struct HotCallers {
    /// The requests that are in the lists.
    pub requests: u64,
    /// Requests of unknown callers, perhaps in other tables.
    pub unlisted: u64,
    /// By address.
    clients: Vec<Part>,
    /// By user, of the clients that name one.
    users: Vec<Part>,
    /// By what they do.
    operations: Vec<Part>,
    /// By table.
    tables: Vec<Part>,
    /// By all of these together.
    callers: Vec<HotCaller>,
}

#[derive(Debug, Clone, Serialize)]
struct Part {
    name: String,
    requests: u64,
    #[serde(flatten)]
    share: Share,
}

#[derive(Debug, Clone, Serialize)]
struct HotCaller {
    client: String,
    user: Option<String>,
    protocol: &'static str,
    operation: &'static str,
    table: String,
    requests: u64,
    #[serde(flatten)]
    share: Share,
}

/// The bounds of a share: `count` of `listed`, of which `missing` more may be, and `unlisted` in
/// all.
fn share(count: u64, listed: u64, missing: u64, unlisted: u64) -> Share {
    let [count, listed, missing, unlisted] =
        [count, listed, missing.min(unlisted), unlisted].map(|number| number as f64);
    let low = count / (listed + unlisted).max(1.0);
    let high = (count + missing) / (listed + missing).max(1.0);
    Share::of(count / listed.max(1.0), low, high)
}

fn client(caller: &Caller) -> String {
    caller.address.map_or_else(|| "this process".to_owned(), |address| address.to_string())
}

impl HotCallers {
    /// Who sent the requests to a table, or to all tables of users; `None` if that was not counted.
    pub fn of(counts: &CallerCounts, table: Option<&str>) -> Option<Self> {
        if counts.requests == 0 {
            return None;
        }
        let is_own = |caller: &Caller| match table {
            Some(table) => caller.table.to_string() == table,
            None => !caller.table.is_system(),
        };
        let own: Vec<&(Caller, u64)> =
            counts.callers.iter().filter(|(caller, _)| is_own(caller)).collect();
        let listed = own.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add(*count));
        let unlisted = counts.unlisted();
        let parts = |name: fn(&Caller) -> Option<String>| {
            let mut sums: BTreeMap<String, u64> = BTreeMap::new();
            for (name, count) in own.iter().filter_map(|(one, count)| Some((name(one)?, count))) {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(*count);
            }
            let mut parts: Vec<(String, u64)> = sums.into_iter().collect();
            parts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            parts.truncate(LISTED_MAX);
            let part = |(name, requests)| {
                let share = share(requests, listed, unlisted, unlisted);
                Part { name, requests, share }
            };
            parts.into_iter().map(part).collect::<Vec<_>>()
        };
        let caller = |(caller, requests): &&(Caller, u64)| HotCaller {
            client: client(caller),
            user: caller.user.as_deref().map(str::to_owned),
            protocol: caller.protocol.name(),
            operation: caller.operation.name(),
            table: caller.table.to_string(),
            requests: *requests,
            share: share(*requests, listed, counts.error, unlisted),
        };
        Some(Self {
            requests: listed,
            unlisted,
            clients: parts(|caller| Some(client(caller))),
            users: parts(|caller| caller.user.as_deref().map(str::to_owned)),
            operations: parts(|caller| Some(caller.operation.name().to_owned())),
            tables: parts(|caller| Some(caller.table.to_string())),
            callers: own.iter().take(LISTED_MAX).map(caller).collect(),
        })
    }

    /// The callers with the most requests, as a sentence.
    pub fn text(&self) -> Option<String> {
        let told = self.callers.iter().take_while(|caller| caller.share.share >= TOLD);
        let texts: Vec<String> = told.take(TOLD_MAX).map(HotCaller::text).collect();
        (!texts.is_empty()).then(|| format!("Who sends them: {}.", texts.join("; ")))
    }
}

impl HotCaller {
    fn text(&self) -> String {
        let Self { client, user, protocol, operation, share, .. } = self;
        // A client may call itself anything.
        let user = user.as_ref().map(|user| format!(" as {}", user.escape_debug()));
        let user = user.unwrap_or_default();
        let share = share_text(share.share, share.low, share.high);
        format!("{client}{user}, {operation} over {protocol}, {share}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counts(callers: &[(&str, &str, u64)], error: u64, unlisted: u64) -> CallerCounts {
        let caller = |(address, table, count): &(&str, &str, u64)| {
            let (address, table) = (address.parse().ok(), table.parse().unwrap());
            (Caller { address, table, ..Caller::default() }, *count)
        };
        let requests = callers.iter().map(|(_, _, count)| count).sum::<u64>() + unlisted;
        CallerCounts { requests, error, callers: callers.iter().map(caller).collect() }
    }

    #[test]
    fn shares_are_those_of_a_table_and_exact_if_all_callers_are_listed() {
        let counts = counts(
            &[("10.0.0.1", "t", 60), ("10.0.0.2", "t", 20), ("10.0.0.1", "hbase:meta", 20)],
            0,
            0,
        );
        assert!(HotCallers::of(&CallerCounts::default(), None).is_none());
        for table in [Some("t"), None] {
            let hot = json!(HotCallers::of(&counts, table).unwrap());
            assert_eq!((&hot["requests"], &hot["unlisted"]), (&json!(80), &json!(0)));
            let client = json!({
                "name": "10.0.0.1", "requests": 60, "share": 0.75, "low": 0.75, "high": 0.75
            });
            assert_eq!(hot["clients"][0], client);
            assert_eq!(hot["users"], json!([]));
            assert_eq!(hot["tables"].as_array().unwrap().len(), 1);
        }
        let text = HotCallers::of(&counts, Some("t")).unwrap().text().unwrap();
        let expected = "Who sends them: 10.0.0.1, Get over RPC, 75 %; \
            10.0.0.2, Get over RPC, 25 %.";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_user_cannot_write_to_the_terminal() {
        let caller = Caller { user: Some("\u{1b}[2Jä".into()), ..Caller::default() };
        let caller = Caller { table: "t".parse().unwrap(), ..caller };
        let counts = CallerCounts { requests: 1, error: 0, callers: vec![(caller, 1)] };
        let text = HotCallers::of(&counts, None).unwrap().text().unwrap();
        assert_eq!(text, "Who sends them: this process as \\u{1b}[2Jä, Get over RPC, 100 %.");
    }

    /// Every way in which the unlisted requests may be distributed gives a share within the bounds.
    #[test]
    fn bounds_hold_whoever_sent_the_rest() {
        let (listed, error, unlisted) = ([(1_u64, 40_u64), (2, 25), (3, 5)], 6_u64, 10_u64);
        let list = listed.map(|(number, count)| (format!("10.0.0.{number}"), count));
        let list: Vec<(&str, &str, u64)> =
            list.iter().map(|(address, count)| (address.as_str(), "t", *count)).collect();
        let hot = json!(HotCallers::of(&counts(&list, error, unlisted), Some("t")).unwrap());
        for (at, (_, count)) in listed.iter().enumerate() {
            for (list, most) in [("callers", error), ("clients", unlisted)] {
                let entry = &hot[list][at];
                let bound = |name: &str| entry[name].as_f64().unwrap();
                for more in 0..=most.min(unlisted) {
                    // The others' part may be in this table or in another one.
                    for others in 0..=unlisted - more {
                        let truth = (count + more) as f64 / (70 + more + others) as f64;
                        let is_within =
                            bound("low") - 1e-4 <= truth && truth <= bound("high") + 1e-4;
                        assert!(is_within, "{entry}: {truth}");
                    }
                }
            }
        }
    }
}
