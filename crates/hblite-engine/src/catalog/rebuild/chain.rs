//! Chooses, among all regions with directories in a table, those that hold its rows.
//!
//! A split leaves the parent next to its daughters, a merge the parents next to the merged region,
//! a truncation the old regions next to the new ones. The newer regions hold the rows, if they were
//! ever used. A region is *proven* if it, or a region created at the same moment (its id is a
//! time), has store files of its own or writes in the log. The rules are:
//!
//! 1. a region that is not proven is left out if older regions hold its rows: it has no cell that
//!    they lack
//! 2. of the rest the newest come first; a region whose rows newer ones hold is superseded
//! 3. a region that partly overlaps newer ones cannot be explained, and nothing is rebuilt
//!
//! A superseded region that is still referred to is kept as the parent of a split or merge.

use std::collections::HashSet;

use hblite_model::bytes::to_string_binary;
use hblite_model::{Error, Exception, RegionInfo, Result, TableName};

use crate::catalog::meta::RegionRow;

/// A region that has a directory.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) info: RegionInfo,
    /// Whether it has cells of its own, in files or in the log.
    pub(super) is_proven: bool,
    /// Encoded names of the regions that it refers to.
    pub(super) parents: HashSet<String>,
}

/// The rows of a table, to be written.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pub(super) rows: Vec<RegionRow>,
    pub(super) split_parents: Vec<(RegionInfo, [RegionInfo; 2])>,
}

/// Chooses the regions of a table. Those in `known` have rows already; guesses and missing regions
/// are added to `notes`.
///
/// # Errors
/// `CorruptHFile` that names two regions which overlap without an explanation.
pub(super) fn choose(
    table: &TableName,
    known: &[RegionRow],
    mut candidates: Vec<Candidate>,
    notes: &mut Vec<String>,
) -> Result<Chain> {
    let named: Vec<&RegionInfo> =
        known.iter().map(|row| &row.info).filter(|info| !info.is_split).collect();
    candidates.sort_by_key(|found| std::cmp::Reverse(found.info.region_id()));
    let proven: HashSet<u64> = candidates
        .iter()
        .filter(|found| found.is_proven)
        .map(|found| found.info.region_id())
        .collect();
    let (mut kept, mut index) = (candidates, 0);
    while let Some(found) = kept.get(index) {
        let id = found.info.region_id();
        let older = kept.iter().map(|other| &other.info).filter(|other| other.region_id() < id);
        let is_spare = !proven.contains(&id)
            && is_covered(&found.info, named.iter().copied().chain(older).collect());
        if is_spare {
            notes.push(format!(
                "region {} has no cells of its own and was left out: older regions have its rows",
                found.info
            ));
            kept.remove(index);
        } else {
            index += 1;
        }
    }
    let (mut placed, mut superseded): (Vec<Candidate>, Vec<Candidate>) = Default::default();
    for found in kept {
        let newer = || named.iter().copied().chain(placed.iter().map(|other| &other.info));
        match newer().find(|other| overlap(other, &found.info)) {
            None => placed.push(found),
            Some(_) if is_covered(&found.info, newer().collect()) => superseded.push(found),
            Some(other) => return Err(unexplained(table, other, &found.info)),
        }
    }
    notes.extend(holes(table, named.iter().copied().chain(placed.iter().map(|p| &p.info))));
    Ok(relate(placed, superseded, notes))
}

/// The rows of the chosen regions, with the parents that they refer to.
fn relate(placed: Vec<Candidate>, superseded: Vec<Candidate>, notes: &mut Vec<String>) -> Chain {
    let mut chain = Chain::default();
    let mut rows: Vec<RegionRow> =
        placed.iter().map(|found| RegionRow::new(clean(&found.info), 1)).collect();
    for parent in &superseded {
        let name = parent.info.encoded_name();
        let heirs: Vec<usize> =
            (0..placed.len()).filter(|index| placed[*index].parents.contains(name)).collect();
        let Some(first) = heirs.first().map(|index| &placed[*index].info) else {
            notes.push(format!("region {} was left out: newer regions have its rows", parent.info));
            continue;
        };
        if is_covered(&parent.info, vec![first]) && first != &parent.info {
            heirs.iter().for_each(|index| rows[*index].merge_parents.push(clean(&parent.info)));
            continue;
        }
        let is_daughter = |other: &&Candidate| {
            other.info.region_id() == first.region_id() && overlap(&other.info, &parent.info)
        };
        let mut daughters: Vec<RegionInfo> = placed
            .iter()
            .chain(&superseded)
            .filter(is_daughter)
            .map(|other| clean(&other.info))
            .collect();
        daughters.sort_by(|left, right| left.start_key().cmp(right.start_key()));
        if let (Some(low), Some(high)) = (daughters.first(), daughters.last()) {
            chain.split_parents.push((clean(&parent.info), [low.clone(), high.clone()]));
        }
    }
    let is_there = |name: &String| superseded.iter().any(|s| s.info.encoded_name() == name);
    for found in &placed {
        for parent in found.parents.iter().filter(|parent| !is_there(parent)) {
            notes.push(format!(
                "region {} refers to files of region {parent}, which has no directory",
                found.info
            ));
        }
    }
    for row in &mut rows {
        row.merge_parents.sort_by(|left, right| left.start_key().cmp(right.start_key()));
    }
    chain.rows = rows;
    chain
}

fn clean(info: &RegionInfo) -> RegionInfo {
    let mut info = info.clone();
    (info.is_split, info.is_offline) = (false, false);
    info
}

/// Whether `end`, the end key of a region, is after `row`.
fn ends_after(end: &[u8], row: &[u8]) -> bool {
    end.is_empty() || end > row
}

fn overlap(left: &RegionInfo, right: &RegionInfo) -> bool {
    ends_after(left.end_key(), right.start_key()) && ends_after(right.end_key(), left.start_key())
}

/// Whether these regions together hold every row of `region`.
fn is_covered(region: &RegionInfo, mut by: Vec<&RegionInfo>) -> bool {
    by.sort_by(|left, right| left.start_key().cmp(right.start_key()));
    let mut reached = region.start_key();
    for other in by {
        if other.start_key() > reached {
            return false;
        }
        if ends_after(other.end_key(), reached) {
            reached = other.end_key();
            if reached.is_empty() || (!region.end_key().is_empty() && reached >= region.end_key()) {
                return true;
            }
        }
    }
    false
}

/// Rows that no region has, in words.
fn holes<'r>(table: &TableName, regions: impl Iterator<Item = &'r RegionInfo>) -> Vec<String> {
    let mut regions: Vec<&RegionInfo> = regions.collect();
    regions.sort_by(|left, right| left.start_key().cmp(right.start_key()));
    let hole = |from: &[u8], to: &[u8]| {
        let (from, to) = (to_string_binary(from), to_string_binary(to));
        format!("table {table} has no region for rows from '{from}' up to '{to}'")
    };
    let mut found = Vec::new();
    // The end so far: `None` once a region has no end.
    let mut reached: Option<&[u8]> = Some(b"");
    for region in &regions {
        if let Some(end) = reached.filter(|end| *end < region.start_key()) {
            found.push(hole(end, region.start_key()));
        }
        reached = Some(region.end_key()).filter(|end| !end.is_empty());
    }
    if let Some(end) = reached.filter(|_| !regions.is_empty()) {
        found.push(hole(end, b""));
    }
    found
}

fn unexplained(table: &TableName, left: &RegionInfo, right: &RegionInfo) -> Error {
    Error::new(
        Exception::CorruptHFile,
        format!(
            "hbase:meta cannot be rebuilt: regions {left} and {right} of table {table} overlap, \
             and neither a split nor a merge explains it. Nothing was changed. Move the directory \
             of the one that is wrong out of the store, and open with salvage again"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(
        start: &str,
        end: &str,
        id: u64,
        is_proven: bool,
        parents: &[&Candidate],
    ) -> Candidate {
        let info = RegionInfo::new("t".parse().unwrap(), start.as_bytes(), end.as_bytes(), id);
        let parents = parents.iter().map(|p| p.info.encoded_name().to_owned()).collect();
        Candidate { info, is_proven, parents }
    }

    fn chosen(candidates: &[&Candidate]) -> (Chain, Vec<String>) {
        let mut notes = Vec::new();
        let candidates = candidates.iter().map(|found| (*found).clone()).collect();
        let table = "t".parse().unwrap();
        let chain = choose(&table, &[], candidates, &mut notes).unwrap();
        (chain, notes)
    }

    /// Start keys and ids of the rows.
    fn rows(chain: &Chain) -> Vec<(String, u64)> {
        let mut rows: Vec<_> = chain
            .rows
            .iter()
            .map(|row| {
                let start = String::from_utf8_lossy(row.info.start_key()).into_owned();
                (start, row.info.region_id())
            })
            .collect();
        rows.sort();
        rows
    }

    fn pairs(rows: &[(&str, u64)]) -> Vec<(String, u64)> {
        rows.iter().map(|(start, id)| ((*start).to_owned(), *id)).collect()
    }

    #[test]
    fn regions_side_by_side_are_the_table() {
        let (left, right) = (candidate("", "m", 1, false, &[]), candidate("m", "", 1, false, &[]));
        let (chain, notes) = chosen(&[&left, &right]);
        assert_eq!(rows(&chain), pairs(&[("", 1), ("m", 1)]));
        assert_eq!(notes, [""; 0]);
    }

    #[test]
    fn a_split_counts_once_a_daughter_has_cells() {
        let parent = candidate("", "", 1, true, &[]);
        for is_used in [false, true] {
            let low = candidate("", "m", 2, is_used, &[&parent]);
            let high = candidate("m", "", 2, false, &[&parent]);
            let (chain, notes) = chosen(&[&parent, &low, &high]);
            if is_used {
                assert_eq!(rows(&chain), pairs(&[("", 2), ("m", 2)]));
                let [(found, daughters)] = &chain.split_parents[..] else { panic!("one parent") };
                assert_eq!((found, daughters), (&parent.info, &[low.info, high.info]));
                assert_eq!(notes, [""; 0]);
            } else {
                assert_eq!(rows(&chain), pairs(&[("", 1)]));
                assert_eq!((chain.split_parents.len(), notes.len()), (0, 2));
            }
        }
        // Half-made daughters change nothing.
        let low = candidate("", "m", 2, false, &[&parent]);
        assert_eq!(rows(&chosen(&[&parent, &low]).0), pairs(&[("", 1)]));
    }

    #[test]
    fn a_merge_counts_once_the_merged_region_has_cells() {
        let (left, right) = (candidate("", "m", 1, true, &[]), candidate("m", "", 1, true, &[]));
        for is_used in [false, true] {
            let merged = candidate("", "", 2, is_used, &[&left, &right]);
            let (chain, notes) = chosen(&[&left, &merged, &right]);
            if is_used {
                assert_eq!(rows(&chain), pairs(&[("", 2)]));
                assert_eq!(chain.rows[0].merge_parents, [left.info.clone(), right.info.clone()]);
                assert_eq!(notes, [""; 0]);
            } else {
                assert_eq!(rows(&chain), pairs(&[("", 1), ("m", 1)]));
                assert_eq!(notes.len(), 1);
            }
        }
    }

    #[test]
    fn parents_that_nothing_refers_to_are_left_out() {
        let parent = candidate("", "", 1, true, &[]);
        let (low, high) = (candidate("", "m", 2, true, &[]), candidate("m", "", 2, true, &[]));
        let (chain, notes) = chosen(&[&parent, &low, &high]);
        assert_eq!(rows(&chain), pairs(&[("", 2), ("m", 2)]));
        assert_eq!((chain.split_parents.len(), notes.len()), (0, 1));
        assert!(notes[0].contains("newer regions have its rows"), "{notes:?}");
    }

    #[test]
    fn holes_and_missing_parents_are_reported() {
        let lost = candidate("", "", 1, true, &[]);
        let found = candidate("c", "m", 2, true, &[&lost]);
        let (chain, notes) = chosen(&[&found]);
        assert_eq!(rows(&chain), pairs(&[("c", 2)]));
        assert!(notes[0].contains("no region for rows from '' up to 'c'"), "{notes:?}");
        assert!(notes[1].contains("no region for rows from 'm' up to ''"), "{notes:?}");
        assert!(notes[2].contains("which has no directory"), "{notes:?}");
    }

    #[test]
    fn an_overlap_that_nothing_explains_is_refused_with_both_names() {
        let (left, right) = (candidate("", "n", 1, true, &[]), candidate("m", "", 2, true, &[]));
        let table = "t".parse().unwrap();
        let candidates = vec![left.clone(), right.clone()];
        let error = choose(&table, &[], candidates, &mut Vec::new()).unwrap_err();
        for region in [left, right] {
            assert!(error.message().contains(region.info.encoded_name()), "{error}");
        }
    }

    #[test]
    fn what_hbase_meta_still_names_comes_first() {
        let parent = candidate("", "", 1, true, &[]);
        let (low, high) = (candidate("", "m", 2, false, &[]), candidate("m", "", 2, false, &[]));
        let known = [RegionRow::new(low.info, 7), RegionRow::new(high.info, 7)];
        let (table, mut notes) = ("t".parse().unwrap(), Vec::new());
        let chain = choose(&table, &known, vec![parent], &mut notes).unwrap();
        assert!(chain.rows.is_empty() && notes.len() == 1, "{notes:?}");
    }
}
