//! One case: a file of a kind, a mutation, and the required outcome. The number of a case decides
//! everything in it, so that it can be repeated.

use std::fmt;
use std::str::FromStr;

use hblite_env::{Random, SeededRandom};

use crate::kind::Kind;
use crate::mutation::{self, Mutated, Mutation};
use crate::outcome::{self, Verdict};
use crate::stores::Stores;

/// Attempts to find a file that a mutation changes, and attempts in all.
const ATTEMPTS_EACH: u64 = 10;
const ATTEMPTS: u64 = 11 * ATTEMPTS_EACH;

/// A case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) kind: Kind,
    number: u64,
}

/// The outcome of a case.
pub(crate) struct Outcome {
    pub(crate) mutation: Option<Mutation>,
    pub(crate) is_corrected: bool,
    pub(crate) verdict: Option<Verdict>,
    /// Why it fails.
    pub(crate) failure: Option<String>,
}

impl Case {
    pub(crate) fn new(kind: Kind, number: u64) -> Self {
        Self { kind, number }
    }

    /// Runs the case; prints details if only this one was requested.
    pub(crate) fn run(self, stores: &Stores, is_loud: bool) -> Outcome {
        let random = SeededRandom::new(self.number << 8 | self.kind as u64);
        let files = stores.files(self.kind);
        assert!(!files.is_empty(), "no store has a file of kind {}", self.kind);
        let mutations = Mutation::ALL.len() as u64;
        for attempt in 0..ATTEMPTS {
            // In turns; if one is impossible for this kind, the next.
            let turn = self.number + attempt / ATTEMPTS_EACH;
            let mutation = Mutation::ALL[(turn % mutations) as usize];
            let (store, path) = files[(random.next_u64() % files.len() as u64) as usize];
            let Some(mutated) = mutation::mutate(mutation, store, self.kind, path, &random) else {
                continue;
            };
            if is_loud {
                let Mutated { mutation, is_corrected, paths, what, .. } = &mutated;
                println!(
                    "store {}, {mutation:?}, corrected {is_corrected}: {paths:?} {what}",
                    store.name
                );
            }
            let result = outcome::judge(store, self.kind, &mutated, self.number, is_loud);
            let Mutated { mutation, is_corrected, paths, what, .. } = mutated;
            let name = &store.name;
            let about = format!("store {name}, {mutation:?}, corrected {is_corrected}");
            let failure = result.as_ref().err();
            let failure = failure.map(|error| format!("{about}, {paths:?} {what}: {error}"));
            let (mutation, verdict) = (Some(mutation), result.ok());
            return Outcome { mutation, is_corrected, verdict, failure };
        }
        Outcome { mutation: None, is_corrected: false, verdict: None, failure: None }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HBLITE_MALFORMED_CASE={}/{}", self.kind, self.number)
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let (kind, number) = name.split_once('/').ok_or("expected <kind>/<number>")?;
        let number = number.parse().map_err(|error| format!("{number}: {error}"))?;
        Ok(Self { kind: kind.parse()?, number })
    }
}
