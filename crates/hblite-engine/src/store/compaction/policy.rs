//! Which files of a store to compact together (HBase's `ExploringCompactionPolicy`).
//!
//! Of all runs of adjacent files (by age) that keep the ratio, the one with the most files wins,
//! and among those the smallest. A run keeps the ratio if none of its files is larger than the
//! ratio times the others together. So a file is rewritten only together with files of about its
//! own size, and each cell a logarithmic number of times.

use std::ops::Range;

/// The settings of the policy.
#[derive(Debug, Clone)]
pub(crate) struct CompactionRules {
    pub(crate) files_min: usize,
    pub(crate) files_max: usize,
    pub(crate) ratio: f64,
    /// Runs smaller than this need not keep the ratio.
    pub(crate) small_bytes: u64,
    /// A store with this many files is crowded: it compacts something even if no run keeps the
    /// ratio.
    pub(crate) blocking_files: usize,
}

/// Like [`select`], but files without a size are excluded: no run spans one.
pub(crate) fn select_between(
    sizes: &[Option<u64>],
    is_crowded: bool,
    rules: &CompactionRules,
) -> Option<Range<usize>> {
    let mut best: Option<Range<usize>> = None;
    let mut start = 0;
    for part in sizes.split(Option::is_none) {
        let known: Vec<u64> = part.iter().copied().flatten().collect();
        if let Some(found) = select(&known, is_crowded, rules)
            && best.as_ref().is_none_or(|best| found.len() > best.len())
        {
            best = Some(start + found.start..start + found.end);
        }
        start += part.len() + 1;
    }
    best
}

/// The range of files to compact, given their sizes from the oldest to the newest; `None` if no
/// compaction is worthwhile. In a crowded store, one is whenever there are enough files.
fn select(sizes: &[u64], is_crowded: bool, rules: &CompactionRules) -> Option<Range<usize>> {
    let mut best: Option<(Range<usize>, u64)> = None;
    let mut smallest: Option<(Range<usize>, u64)> = None;
    for start in 0..sizes.len() {
        let end_max = sizes.len().min(start.saturating_add(rules.files_max));
        for end in start.saturating_add(rules.files_min)..=end_max {
            let run = &sizes[start..end];
            let total: u64 = run.iter().sum();
            if smallest.as_ref().is_none_or(|(_, least)| total < *least) {
                smallest = Some((start..end, total));
            }
            if total >= rules.small_bytes && !keeps_ratio(run, total, rules.ratio) {
                continue;
            }
            let is_better = best.as_ref().is_none_or(|(range, best_total)| {
                run.len() > range.len() || (run.len() == range.len() && total < *best_total)
            });
            if is_better {
                best = Some((start..end, total));
            }
        }
    }
    let is_stuck = best.is_none() && is_crowded;
    let chosen = if is_stuck { smallest } else { best };
    chosen.map(|(range, _)| range)
}

fn keeps_ratio(run: &[u64], total: u64, ratio: f64) -> bool {
    run.len() < 2 || run.iter().all(|size| *size as f64 <= (total - size) as f64 * ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: CompactionRules = CompactionRules {
        files_min: 3,
        files_max: 5,
        ratio: 1.0,
        small_bytes: 10,
        blocking_files: 7,
    };

    #[test]
    fn files_of_a_size_are_compacted_together() {
        for (sizes, chosen) in [
            (&[][..], None),
            (&[100, 50], None),
            (&[100, 50, 23, 12, 12], Some(2..5)),
            (&[100, 50, 25, 12, 12], None),
            (&[100, 50, 25, 12, 12, 12], Some(1..6)),
            (&[7, 6, 5, 4, 3, 2], Some(1..6)),
            (&[1_000_000, 1, 1, 1], Some(1..4)),
            (&[1000, 100, 10], None),
        ] {
            assert_eq!(select(sizes, false, &RULES), chosen, "{sizes:?}");
        }
    }

    #[test]
    fn no_run_reaches_over_a_file_that_is_left_alone() {
        let sizes = [Some(7), Some(6), None, Some(5), Some(4), Some(3)];
        assert_eq!(select_between(&sizes, false, &RULES), Some(3..6));
        assert_eq!(select_between(&[Some(7), None, Some(6), None, Some(5)], false, &RULES), None);
        let all: Vec<Option<u64>> = [7, 6, 5, 4].map(Some).to_vec();
        assert_eq!(select_between(&all, false, &RULES), Some(0..4));
        assert_eq!(select_between(&[], true, &RULES), None);
    }

    #[test]
    fn too_many_files_are_compacted_anyway() {
        let doubling: Vec<u64> = (0..7).map(|power| 1000 << (6 - power)).collect();
        assert_eq!(select(&doubling, false, &RULES), None);
        assert_eq!(select(&doubling, true, &RULES), Some(4..7));
        assert_eq!(select(&doubling[5..], true, &RULES), None, "two are too few");
    }
}
