//! Which files of a store to compact together (HBase's `ExploringCompactionPolicy`, with sorted
//! runs).
//!
//! The files of a sorted run count as one file, as they do for readers, except for small files
//! after the last large one. The policy sees them as a *unit* of their total size; any other file
//! is a unit of its own:
//!
//! ```text
//! files, oldest first   [500 MB]  [22 MB] [22 MB] [22 MB]  [3 MB]  [1 MB]
//! sorted runs            ╰──────────── 0 ───────────────────────╯   ╰ 1 ╯
//! units                  ╰──────── 566 MB ─────────────╯  [3 MB]  [1 MB]
//! ```
//!
//! Of all sequences of adjacent units (by age) that keep the ratio, the one with the most units
//! wins, and among those the smallest. A sequence keeps the ratio if none of its units is larger
//! than the ratio times the others together. So a file is rewritten only together with files of
//! about its own size, and each cell a logarithmic number of times.
//!
//! What is loaded in the order of keys is not compacted at all, up to [`FILES_MAX`] files: 11 GB
//! with the default settings, where a region is split anyway. Beyond it the smallest neighbors
//! become one file. A store at rest has at most [`FILES_AT_REST_MAX`], since each file takes time
//! and memory when the store is opened.

use std::ops::Range;

/// A unit with more files than this counts as two, and so on.
const FILES_PER_UNIT_MAX: usize = 64;
/// With more files than this, neighbors in a run are compacted although they count as one.
pub(super) const FILES_MAX: usize = 512;
/// The same for a store to which nothing is written.
pub(super) const FILES_AT_REST_MAX: usize = 128;

/// The settings of the policy.
#[derive(Debug, Clone)]
pub(crate) struct CompactionRules {
    pub(crate) files_min: usize,
    pub(crate) files_max: usize,
    pub(crate) ratio: f64,
    /// Sequences smaller than this need not keep the ratio, and files smaller than this are not
    /// large.
    pub(crate) small_bytes: u64,
    /// A store with this many units is crowded: it compacts something even if no sequence keeps the
    /// ratio.
    pub(crate) blocking_files: usize,
}

/// A file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// In bytes; `None`: no compaction may include it.
    pub(super) size: Option<u64>,
    /// The sorted run that it belongs to. Those of older files have lower numbers.
    pub(super) run: usize,
    /// Its place among the files of the run by their rows. Neighbors have consecutive numbers.
    pub(super) place: usize,
}

/// Files that count as one.
struct Unit {
    files: Range<usize>,
    size: Option<u64>,
}

/// How many files these are if those that count as one are counted once.
pub(super) fn weight(files: &[Candidate], rules: &CompactionRules) -> usize {
    let weight = |unit: Unit| unit.files.len().div_ceil(FILES_PER_UNIT_MAX);
    units(files, rules).into_iter().map(weight).sum()
}

/// The files to compact, of these from the oldest to the newest; `None` if no compaction is
/// worthwhile. One is if there are more than `kept_max` files, and in a crowded store whenever
/// there are enough.
pub(super) fn select(
    files: &[Candidate],
    kept_max: usize,
    is_crowded: bool,
    rules: &CompactionRules,
) -> Option<Range<usize>> {
    let units = units(files, rules);
    let sizes: Vec<Option<u64>> = units.iter().map(|unit| unit.size).collect();
    let by_size = || {
        let chosen = select_between(&sizes, is_crowded, rules)?;
        let chosen = units.get(chosen)?;
        Some(chosen.first()?.files.start..chosen.last()?.files.end)
    };
    let neighbors = || {
        let windows = units.iter().flat_map(|unit| neighbors(files, unit, rules));
        // The largest file first: a large one must not be rewritten for the sake of small ones.
        let cost = |window: &Range<usize>| {
            let sizes = || files[window.clone()].iter().filter_map(|file| file.size);
            (sizes().max(), sizes().sum::<u64>())
        };
        windows.min_by_key(cost).filter(|_| files.len() > kept_max)
    };
    by_size().or_else(neighbors)
}

fn units(files: &[Candidate], rules: &CompactionRules) -> Vec<Unit> {
    let is_large = |file: &Candidate| file.size.is_some_and(|size| size >= rules.small_bytes);
    let are_of_run = |left: &Candidate, right: &Candidate| {
        left.run == right.run && left.size.is_some() && right.size.is_some()
    };
    let mut units = Vec::new();
    let mut start = 0;
    for run in files.chunk_by(are_of_run) {
        let end = start + run.len();
        if let Some(last) = run.iter().rposition(is_large) {
            let size = run[..=last].iter().map(|file| file.size).sum();
            units.push(Unit { files: start..start + last + 1, size });
            start += last + 1;
        }
        units.extend((start..end).map(|at| Unit { files: at..at + 1, size: files[at].size }));
        start = end;
    }
    units
}

/// Files of a unit that one compaction may merge, such that no other file of their run has rows
/// between theirs.
fn neighbors(
    files: &[Candidate],
    unit: &Unit,
    rules: &CompactionRules,
) -> impl Iterator<Item = Range<usize>> {
    let length = unit.files.len().min(rules.files_max);
    let are_neighbors = move |window: &Range<usize>| {
        let places = || files[window.clone()].iter().map(|file| file.place);
        let ends = places().min().zip(places().max());
        ends.is_some_and(|(first, last)| last - first + 1 == length)
    };
    let is_enough = length >= rules.files_min;
    let starts = unit.files.start..(unit.files.end + 1 - length);
    starts
        .map(move |start| start..start + length)
        .filter(move |one| is_enough && are_neighbors(one))
}

/// Like [`select_sizes`], but those without a size are excluded: no sequence spans one.
fn select_between(
    sizes: &[Option<u64>],
    is_crowded: bool,
    rules: &CompactionRules,
) -> Option<Range<usize>> {
    let mut best: Option<Range<usize>> = None;
    let mut start = 0;
    for part in sizes.split(Option::is_none) {
        let known: Vec<u64> = part.iter().copied().flatten().collect();
        if let Some(found) = select_sizes(&known, is_crowded, rules)
            && best.as_ref().is_none_or(|best| found.len() > best.len())
        {
            best = Some(start + found.start..start + found.end);
        }
        start += part.len() + 1;
    }
    best
}

/// The sequence of units to compact, given their sizes from the oldest to the newest.
fn select_sizes(sizes: &[u64], is_crowded: bool, rules: &CompactionRules) -> Option<Range<usize>> {
    let mut best: Option<(Range<usize>, u64)> = None;
    let mut smallest: Option<(Range<usize>, u64)> = None;
    for start in 0..sizes.len() {
        let end_max = sizes.len().min(start.saturating_add(rules.files_max));
        for end in start.saturating_add(rules.files_min)..=end_max {
            let sequence = &sizes[start..end];
            let total: u64 = sequence.iter().sum();
            if smallest.as_ref().is_none_or(|(_, least)| total < *least) {
                smallest = Some((start..end, total));
            }
            if total >= rules.small_bytes && !keeps_ratio(sequence, total, rules.ratio) {
                continue;
            }
            let is_better = best.as_ref().is_none_or(|(range, best_total)| {
                sequence.len() > range.len()
                    || (sequence.len() == range.len() && total < *best_total)
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

fn keeps_ratio(sizes: &[u64], total: u64, ratio: f64) -> bool {
    sizes.len() < 2 || sizes.iter().all(|size| *size as f64 <= (total - size) as f64 * ratio)
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
            assert_eq!(select_sizes(sizes, false, &RULES), chosen, "{sizes:?}");
        }
    }

    #[test]
    fn no_sequence_reaches_over_a_file_that_is_left_alone() {
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
        assert_eq!(select_sizes(&doubling, false, &RULES), None);
        assert_eq!(select_sizes(&doubling, true, &RULES), Some(4..7));
        assert_eq!(select_sizes(&doubling[5..], true, &RULES), None, "two are too few");
    }

    /// Files of a run in the order of their rows.
    fn run(run: usize, sizes: &[u64]) -> Vec<Candidate> {
        let candidate = |(place, size): (usize, &u64)| Candidate { size: Some(*size), run, place };
        sizes.iter().enumerate().map(candidate).collect()
    }

    #[test]
    fn large_files_of_a_run_count_as_one() {
        let chosen = |files: &[Candidate]| select(files, 100, false, &RULES);
        let one_run = run(0, &[20; 8]);
        assert_eq!((chosen(&one_run), weight(&one_run, &RULES)), (None, 1));
        let overlapping: Vec<_> = (0..8).flat_map(|number| run(number, &[20])).collect();
        assert_eq!((chosen(&overlapping), weight(&overlapping, &RULES)), (Some(0..5), 8));
        // As one, they keep the ratio only with others of their total size.
        let of_40 = |other| [run(0, &[20, 20]), run(1, &[other]), run(2, &[20])].concat();
        assert_eq!(chosen(&of_40(15)), None);
        assert_eq!(chosen(&of_40(20)), Some(0..4));
        // Small files are compacted as always, until large ones follow.
        let small = run(0, &[20, 4, 20, 4, 3, 2]);
        assert_eq!((chosen(&small), weight(&small, &RULES)), (Some(3..6), 4));
        let small = run(0, &[20, 4, 20, 4, 3, 20, 4, 3, 20]);
        assert_eq!((chosen(&small), weight(&small, &RULES)), (None, 1));
        let mut left_alone = one_run;
        left_alone[4].size = None;
        assert_eq!((chosen(&left_alone), weight(&left_alone, &RULES)), (None, 3));
    }

    #[test]
    fn a_long_run_is_compacted_in_pieces() {
        let chosen = |files: &[Candidate]| select(files, 100, false, &RULES);
        let mut files = run(0, &[20; 101]);
        assert_eq!(weight(&files, &RULES), 2);
        assert_eq!(chosen(&files[..100]), None);
        assert_eq!(chosen(&files), Some(0..5));
        files[..40].iter_mut().for_each(|file| file.size = Some(100));
        assert_eq!(chosen(&files), Some(40..45), "the smallest");
        // The file between them by rows is not among them by age.
        files[40].place = 101;
        assert_eq!(chosen(&files), Some(41..46));
        files.iter_mut().for_each(|file| file.place *= 2);
        assert_eq!(chosen(&files), None, "their rows would overlap those of others");
    }

    #[test]
    fn a_run_that_grows_without_end_is_rewritten_once_in_a_while() {
        let rules = CompactionRules { files_max: 10, small_bytes: 1, ..RULES };
        let (mut files, mut written) = (Vec::new(), 0);
        for flush in 0..1_000 {
            files.push(1);
            if let Some(range) = select(&run(0, &files), 128, false, &rules) {
                let size = files[range.clone()].iter().sum();
                written += size;
                files.splice(range, [size]);
            }
            assert!(files.len() <= 128, "after {flush}");
        }
        assert!((872..=1_100).contains(&written), "{written}");
        assert_eq!(files.iter().sum::<u64>(), 1_000);
    }
}
