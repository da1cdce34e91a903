//! Counts the outcomes and prints them as a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::case::{Case, Outcome};
use crate::kind::{Format, Kind};
use crate::mutation::Mutation;
use crate::outcome::Verdict;

/// With at least this many mutations per kind, every mutation must have happened to every kind.
const COVERED_FROM: u64 = 60;

/// The outcomes of all cases.
#[derive(Default)]
pub(crate) struct Report {
    counts: BTreeMap<(Kind, bool), BTreeMap<Verdict, u64>>,
    mutations: BTreeSet<(Kind, Mutation)>,
    unchanged: u64,
    pub(crate) failures: Vec<String>,
}

impl Report {
    pub(crate) fn add(&mut self, case: Case, outcome: Outcome) {
        let Some(mutation) = outcome.mutation else {
            self.unchanged += 1;
            return;
        };
        self.mutations.insert((case.kind, mutation));
        let counts = self.counts.entry((case.kind, outcome.is_corrected)).or_default();
        if let Some(verdict) = outcome.verdict {
            *counts.entry(verdict).or_default() += 1;
        }
        if let Some(failure) = outcome.failure {
            *counts.entry(Verdict::Failed).or_default() += 1;
            self.failures.push(format!("{case}: {failure}"));
        }
    }

    /// Whether every possible outcome has happened.
    pub(crate) fn check_coverage(&self, kinds: &[Kind], per_kind: u64) -> bool {
        let mut is_covered = true;
        for kind in kinds.iter().copied() {
            let is_empty_file = matches!(kind, Kind::Unclaimed | Kind::EditsMark);
            let corrected = self.counts.contains_key(&(kind, true));
            if per_kind >= COVERED_FROM && !corrected && kind.format() != Format::Bare {
                println!("{kind}: no mutation with correct checksums");
                is_covered = false;
            }
            for mutation in Mutation::ALL {
                let has_another = !matches!(mutation, Mutation::Swapped | Mutation::OlderCopy);
                let happened = self.mutations.contains(&(kind, mutation));
                if per_kind >= COVERED_FROM && has_another && !is_empty_file && !happened {
                    println!("{kind}: {mutation:?} never happened");
                    is_covered = false;
                }
            }
        }
        is_covered
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<21}{:<10}", "kind of file", "checksums")?;
        for verdict in Verdict::ALL {
            write!(f, "{:>12}", verdict.title())?;
        }
        writeln!(f, "{:>9}", "total")?;
        let mut totals = BTreeMap::new();
        for ((kind, is_corrected), counts) in &self.counts {
            write!(f, "{kind:<21}{:<10}", if *is_corrected { "corrected" } else { "left" })?;
            for verdict in Verdict::ALL {
                let count = counts.get(&verdict).copied().unwrap_or(0);
                *totals.entry(verdict).or_insert(0) += count;
                write!(f, "{count:>12}")?;
            }
            writeln!(f, "{:>9}", counts.values().sum::<u64>())?;
        }
        write!(f, "{:<31}", "all")?;
        for verdict in Verdict::ALL {
            write!(f, "{:>12}", totals.get(&verdict).copied().unwrap_or(0))?;
        }
        writeln!(f, "{:>9}", totals.values().sum::<u64>())?;
        write!(f, "{} cases changed nothing", self.unchanged)
    }
}
