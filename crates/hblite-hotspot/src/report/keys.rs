//! Region labels: first keys without their common prefix.

use super::svg::cut;
use crate::result::Counts;

/// A label for each final region, with at most this many characters.
pub(super) fn labels(counts: &Counts, characters: usize) -> Vec<String> {
    let regions = counts.final_regions().iter();
    let starts: Vec<&str> =
        regions.map(|region| counts.regions[*region as usize].start.as_str()).collect();
    let is_cut = starts.iter().any(|start| start.len() > characters);
    let shared = if is_cut { shared_length(&starts) } else { 0 };
    let label = |start: &&str| {
        if start.is_empty() {
            "(first key)".to_owned()
        } else if shared > 4 {
            cut(&format!("…{}", &start[shared..]), characters)
        } else {
            cut(start, characters)
        }
    };
    starts.iter().map(label).collect()
}

/// The number of bytes that all keys have in common; those of a `\xHH` stay together.
fn shared_length(starts: &[&str]) -> usize {
    let keys: Vec<&str> = starts.iter().copied().filter(|start| !start.is_empty()).collect();
    let [first, others @ ..] = keys.as_slice() else { return 0 };
    if others.is_empty() {
        return 0;
    }
    let shared = others.iter().fold(first.len(), |shared, other| {
        let pairs = first.bytes().zip(other.bytes());
        shared.min(pairs.take_while(|(left, right)| left == right).count())
    });
    let within = &first[..first.floor_char_boundary(shared)];
    match within.rfind('\\') {
        Some(escape) if within.len() - escape < 4 => escape,
        _ => within.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_not_torn() {
        assert_eq!(shared_length(&["", r"\x00\x01]a", r"\x00\x01]b"]), 9);
        assert_eq!(shared_length(&[r"\x00\xA1", r"\x00\xA2"]), 4);
        assert_eq!(shared_length(&[r"\x00\xA1"]), 0);
        assert_eq!(shared_length(&["", "host1", "other"]), 0);
    }
}
