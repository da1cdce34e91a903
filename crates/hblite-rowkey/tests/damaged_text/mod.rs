//! Random damage to texts, for tests of parsers: those of row keys and those of the shell.

use proptest::prelude::*;

/// A change at a place: which one, with which character or which other text.
pub(crate) type Damage = (usize, u8, char, usize);

/// Up to five changes, with these characters more often than others.
pub(crate) fn damage(marks: &str) -> impl Strategy<Value = Vec<Damage>> {
    let marks: Vec<char> = marks.chars().collect();
    let character = prop_oneof![proptest::sample::select(marks), any::<char>()];
    proptest::collection::vec((any::<usize>(), any::<u8>(), character, any::<usize>()), 0..6)
}

/// A text with characters replaced, removed, inserted, and parts of `others` spliced in.
pub(crate) fn damaged(text: &str, damage: &[Damage], others: &[&str]) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for (at, kind, character, other) in damage {
        let at = at % text.len().max(1);
        match kind % 5 {
            _ if text.is_empty() => text.push(*character),
            0 => text[at] = *character,
            1 => drop(text.remove(at)),
            2 => text.insert(at, *character),
            3 => text.truncate(at),
            _ => {
                text.truncate(at);
                let other = others[other % others.len()];
                text.extend(other.chars().skip(at % other.len()));
            }
        }
    }
    text.into_iter().collect()
}
