//! The dictionaries of a compressed log.
//!
//! ```text
//! new       ff │ varint length │ bytes
//! known     u16 slot
//! ```
//!
//! A new entry takes the next free slot or, if all are taken, that of the least recently used
//! entry; adding and reading count as uses. The empty entry is never kept. Writer and reader follow
//! the same rules, so their dictionaries agree. Source: HBase's `LRUDictionary`, `Dictionary`,
//! `CompressionContext`.

use super::input::{Decoded, Input};

/// Slots for rows and tags, and for regions and tables in a server's log.
pub(super) const LARGE: usize = 32_767;
/// Slots for families and qualifiers.
pub(super) const SMALL: usize = 127;
/// Slots for regions and tables in recovered edits, which belong to one region.
pub(super) const SINGLE: usize = 1;
const NOT_IN_DICTIONARY: u8 = 0xff;
/// No slot.
const NONE: usize = usize::MAX;

#[derive(Debug)]
struct Slot {
    bytes: Vec<u8>,
    /// The slot that was used just after this one.
    newer: usize,
    older: usize,
}

/// Entries seen in this log.
#[derive(Debug)]
pub(super) struct Dictionary {
    slots: Vec<Slot>,
    slots_max: usize,
    newest: usize,
    oldest: usize,
}

impl Dictionary {
    pub(super) fn new(slots_max: usize) -> Self {
        Self { slots: Vec::new(), slots_max, newest: NONE, oldest: NONE }
    }

    /// Reads the next entry, new or known.
    pub(super) fn read(&mut self, input: &mut Input<'_>) -> Decoded<&[u8]> {
        let first = input.u8()?;
        if first == NOT_IN_DICTIONARY {
            let length = input.varint()? as usize;
            let bytes = input.take(length)?;
            if bytes.is_empty() {
                return Ok(&[]);
            }
            let slot = self.add(bytes);
            return Ok(&self.slots[slot].bytes);
        }
        let slot = usize::from(u16::from_be_bytes([first, input.u8()?]));
        if slot >= self.slots.len() {
            return Err("it refers to an unknown slot of a dictionary".into());
        }
        self.unlink(slot);
        self.link_newest(slot);
        Ok(&self.slots[slot].bytes)
    }

    /// Adds an entry; returns its slot.
    fn add(&mut self, bytes: &[u8]) -> usize {
        let slot = if self.slots.len() < self.slots_max {
            self.slots.push(Slot { bytes: bytes.to_vec(), newer: NONE, older: NONE });
            self.slots.len() - 1
        } else {
            let slot = self.oldest;
            self.unlink(slot);
            self.slots[slot].bytes = bytes.to_vec();
            slot
        };
        self.link_newest(slot);
        slot
    }

    fn unlink(&mut self, slot: usize) {
        let Slot { newer, older, .. } = self.slots[slot];
        match self.slots.get_mut(newer) {
            Some(next) => next.older = older,
            None => self.newest = older,
        }
        match self.slots.get_mut(older) {
            Some(next) => next.newer = newer,
            None => self.oldest = newer,
        }
    }

    fn link_newest(&mut self, slot: usize) {
        let before = self.newest;
        self.slots[slot].newer = NONE;
        self.slots[slot].older = before;
        match self.slots.get_mut(before) {
            Some(next) => next.newer = slot,
            None => self.oldest = slot,
        }
        self.newest = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dictionary: &mut Dictionary, bytes: &[u8]) -> Option<Vec<u8>> {
        dictionary.read(&mut Input::new(bytes)).ok().map(<[u8]>::to_vec)
    }

    #[test]
    fn the_entry_that_was_used_longest_ago_gives_up_its_slot() {
        let mut dictionary = Dictionary::new(2);
        assert_eq!(read(&mut dictionary, &[0, 0]), None);
        assert_eq!(read(&mut dictionary, b"\xff\x01a"), Some(b"a".to_vec()));
        assert_eq!(read(&mut dictionary, b"\xff\x00"), Some(Vec::new()), "not kept");
        assert_eq!(read(&mut dictionary, &[0, 1]), None);
        assert_eq!(read(&mut dictionary, b"\xff\x01b"), Some(b"b".to_vec()));
        assert_eq!(read(&mut dictionary, &[0, 0]), Some(b"a".to_vec()), "used again");
        assert_eq!(read(&mut dictionary, b"\xff\x01c"), Some(b"c".to_vec()));
        assert_eq!(read(&mut dictionary, &[0, 1]), Some(b"c".to_vec()));
        assert_eq!(read(&mut dictionary, &[0, 0]), Some(b"a".to_vec()));
        assert_eq!(read(&mut dictionary, b"\xff\x02d"), None, "cut");
    }
}
