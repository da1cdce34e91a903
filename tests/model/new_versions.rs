//! NEW_VERSION_BEHAVIOR, by going through the history of a column once more.
//!
//! Writes are done again in the order of their sequence ids. A put joins the versions, in place of
//! one with its timestamp. A marker takes away what it masks of what is there; before it, and at
//! the end, versions behind the newest VERSIONS go for good. Within one write markers come last.
//!
//! HBase tells writes apart by their sequence ids alone. So the puts of one write to a column count
//! as one version for those behind them; and of the markers of one write that delete a family or
//! column up to a time, only the last of those that stand before a put counts for it, with the
//! markers of single versions that stand before the first of them or behind the last.

use hblite::CellType;

use crate::cell::StoredCell;

/// Which of the puts of a column are still there, newest first. `markers` are those of the row
/// that count, in order.
pub(crate) fn survivors<'a>(
    puts: &[&'a StoredCell],
    markers: &[&StoredCell],
    versions_max: usize,
) -> Vec<&'a StoredCell> {
    let Some(qualifier) = puts.first().map(|put| &put.qualifier) else { return Vec::new() };
    let markers: Vec<&StoredCell> = markers
        .iter()
        .filter(|marker| is_of_family(marker) || marker.qualifier == *qualifier)
        .copied()
        .collect();
    let mut ids: Vec<u64> = puts.iter().map(|put| put.sequence_id).collect();
    ids.extend(markers.iter().map(|marker| marker.sequence_id));
    ids.sort_unstable();
    ids.dedup();
    let mut present: Vec<&StoredCell> = Vec::new();
    for id in ids {
        for put in puts.iter().filter(|put| put.sequence_id == id) {
            present.retain(|other| other.timestamp != put.timestamp);
            present.push(put);
        }
        if markers.iter().any(|marker| marker.sequence_id == id) {
            trim(&mut present, versions_max);
            let is_masked = |put: &StoredCell| {
                let counting = counting_for(put, &markers, id);
                counting.iter().any(|marker| marker.masks(put))
            };
            present.retain(|put| !is_masked(put));
        }
    }
    trim(&mut present, versions_max);
    present
}

fn is_of_family(marker: &StoredCell) -> bool {
    matches!(marker.cell_type, CellType::DeleteFamily | CellType::DeleteFamilyVersion)
}

/// Leaves the newest versions.
fn trim(present: &mut Vec<&StoredCell>, versions_max: usize) {
    present.sort_by_key(|put| std::cmp::Reverse(put.timestamp));
    let mut writes: Vec<u64> = Vec::new();
    present.retain(|put| {
        let is_kept = writes.len() < versions_max;
        if is_kept && !writes.contains(&put.sequence_id) {
            writes.push(put.sequence_id);
        }
        is_kept
    });
}

/// The markers of one write that count for a put: of those that stand before it.
fn counting_for<'m>(put: &StoredCell, markers: &[&'m StoredCell], id: u64) -> Vec<&'m StoredCell> {
    let is_up_to = |marker: &StoredCell| {
        matches!(marker.cell_type, CellType::DeleteFamily | CellType::DeleteColumn)
    };
    let stands_before =
        |marker: &&&StoredCell| is_of_family(marker) || marker.timestamp >= put.timestamp;
    let mut counting: Vec<&StoredCell> = Vec::new();
    for marker in markers.iter().filter(|m| m.sequence_id == id).filter(stands_before) {
        if is_up_to(marker)
            && let Some(place) = counting.iter().position(|other| is_up_to(other))
        {
            counting.truncate(place);
        }
        counting.push(marker);
    }
    counting
}
