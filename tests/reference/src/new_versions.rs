//! NEW_VERSION_BEHAVIOR, by replaying the history of a column.
//!
//! Writes are replayed in the order of their sequence ids. A put joins the versions, replacing one
//! with the same timestamp. A marker removes the existing versions that it masks; before it, and at
//! the end, versions after the newest VERSIONS are dropped. Within one write markers come last.
//!
//! HBase distinguishes writes by their sequence ids alone: the puts of one write to a column count
//! as one version for those after them.

use crate::cell::StoredCell;

/// Which of the puts of a column are still there, newest first. `markers` are those of the row
/// that count, in order.
pub fn survivors<'a>(
    puts: &[&'a StoredCell],
    markers: &[&StoredCell],
    versions_max: usize,
) -> Vec<&'a StoredCell> {
    let Some(qualifier) = puts.first().map(|put| &put.qualifier) else { return Vec::new() };
    let markers: Vec<&StoredCell> = markers
        .iter()
        .filter(|marker| marker.is_of_family() || marker.qualifier == *qualifier)
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
        let now: Vec<_> = markers.iter().filter(|marker| marker.sequence_id == id).collect();
        if !now.is_empty() {
            trim(&mut present, versions_max);
            present.retain(|put| !now.iter().any(|marker| marker.masks(put)));
        }
    }
    trim(&mut present, versions_max);
    present
}

/// Keeps only the newest versions.
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
