//! The front: designs that no other design beats in both writes and reads.

use std::fmt;

use super::hot::percent;
use super::score::{Score, simpler};
use super::wanted::Wanted;
use crate::condition::counted;

/// Costs within this factor of each other are equal.
const EQUAL: f64 = 1.03;

/// A design of the front, with its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct Tradeoff<'a> {
    /// The design with its costs.
    pub score: &'a Score,
    /// What it does for writes and for reads, in words.
    pub rationale: String,
}

/// The designs of the front, the one with the most even writes first.
pub(super) fn front(scores: &[Score]) -> Vec<&Score> {
    let costs = |score: &Score| [score.unevenness, score.reads];
    let mut simplest: Vec<&Score> = scores.iter().collect();
    simplest.sort_by(|one, other| simpler(one, other));
    let mut front: Vec<&Score> = Vec::new();
    for (place, score) in simplest.iter().enumerate() {
        let own = costs(score);
        let is_beaten = simplest.iter().enumerate().any(|(other_place, other)| {
            let other = costs(other);
            let is_as_good = (0..2).all(|at| other[at] <= own[at] * EQUAL);
            let is_better = (0..2).any(|at| other[at] * EQUAL < own[at]);
            is_as_good && (is_better || other_place < place)
        });
        if !is_beaten {
            front.push(score);
        }
    }
    front.sort_by(|one, other| one.max_over_mean.total_cmp(&other.max_over_mean));
    front
}

/// The reasons for a design's writes and reads.
pub(super) fn rationale(score: &Score, wanted: &Wanted, regions: usize) -> String {
    let mut text = format!("writes: {}", score.design.spread());
    if let Some(hot) = score.hot.as_ref().filter(|hot| hot.is_hot(regions)) {
        text = match hot.together < hot.share {
            true => format!("writes: {hot}, {} in one region", percent(hot.together)),
            false => format!("writes: {hot} in one region"),
        };
    }
    let mut reads = Vec::new();
    for (query, cost) in wanted.queries.iter().zip(&score.queries) {
        reads.push(format!("{} takes {}", query.text, Cost(cost)));
    }
    format!("{text}; reads: {}", reads.join(", "))
}

/// The cost of a query in words.
pub(super) struct Cost<'q>(pub(super) &'q super::score::QueryScore);

impl fmt::Display for Cost<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(cost) = self;
        if cost.is_full_scan {
            return f.write_str("a scan of the whole table");
        }
        let (scans, rows) = (counted(cost.scans, "scan"), counted(cost.rows, "row"));
        write!(f, "{scans} of {rows}")
    }
}
