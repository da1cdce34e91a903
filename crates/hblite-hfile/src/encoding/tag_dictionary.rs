//! The dictionary that compresses tags within one block.
//!
//! ```text
//! new tag     ff | varint length | type and value
//! known tag   u16 index
//! ```
//!
//! 127 slots. A new tag takes the next free slot or, if there is none, that of the least recently
//! used tag; adding, writing and reading count as uses. Writer and reader follow the same rules, so
//! their dictionaries agree.
//! Source: HBase's `TagCompressionContext`, `LRUDictionary`.

use super::decoded::DecodedCells;
use crate::error::{Damage, Parsed, ensure};
use crate::input::{Input, write_varint};

const SLOTS: usize = 127;
const NOT_IN_DICTIONARY: u8 = 0xff;
/// Bytes of the length field before a tag.
const TAG_LENGTH_SIZE: usize = 2;

#[derive(Debug)]
struct Slot {
    /// Type and value.
    tag: Vec<u8>,
    last_use: u64,
}

/// Tags seen in this block.
#[derive(Debug, Default)]
pub(crate) struct TagDictionary {
    slots: Vec<Slot>,
    uses: u64,
}

impl TagDictionary {
    /// Begins a new block.
    pub(crate) fn clear(&mut self) {
        self.slots.clear();
    }

    /// Adds a tag; returns its index.
    fn add(&mut self, tag: &[u8]) -> usize {
        self.uses += 1;
        let slot = Slot { tag: tag.to_vec(), last_use: self.uses };
        if self.slots.len() < SLOTS {
            self.slots.push(slot);
            return self.slots.len() - 1;
        }
        let oldest = self.slots.iter().enumerate().min_by_key(|(_, slot)| slot.last_use);
        let index = oldest.map_or(0, |(index, _)| index);
        self.slots[index] = slot;
        index
    }

    fn touch(&mut self, index: usize) {
        self.uses += 1;
        if let Some(slot) = self.slots.get_mut(index) {
            slot.last_use = self.uses;
        }
    }

    /// Writes serialized tags, which the caller has checked.
    pub(crate) fn write_tags(&mut self, out: &mut Vec<u8>, tags: &[u8]) {
        let mut rest = tags;
        while let Some((length, after)) = rest.split_first_chunk::<TAG_LENGTH_SIZE>() {
            let (tag, after) = after.split_at(u16::from_be_bytes(*length) as usize);
            rest = after;
            match self.slots.iter().position(|slot| slot.tag == tag) {
                Some(index) => {
                    out.extend_from_slice(&(index as u16).to_be_bytes());
                    self.touch(index);
                }
                None => {
                    out.push(NOT_IN_DICTIONARY);
                    write_varint(out, tag.len());
                    out.extend_from_slice(tag);
                    self.add(tag);
                }
            }
        }
    }

    /// Reads tags that are `length` bytes when serialized, and appends them in that form.
    pub(crate) fn read_tags(
        &mut self,
        input: &mut Input<'_>,
        length: usize,
        out: &mut DecodedCells,
    ) -> Parsed<()> {
        let mut read = 0;
        while read < length {
            let tag = self.read_tag(input)?;
            read += TAG_LENGTH_SIZE + tag.len();
            out.push(&(tag.len() as u16).to_be_bytes())?;
            out.push(tag)?;
        }
        ensure(read == length, "tags do not have the announced length")
    }

    /// Type and value of the next tag.
    fn read_tag(&mut self, input: &mut Input<'_>) -> Parsed<&[u8]> {
        let first = input.u8()?;
        let index = if first == NOT_IN_DICTIONARY {
            let length = input.varint()?;
            ensure(length <= u16::MAX as usize, "a tag is too long")?;
            self.add(input.take(length)?)
        } else {
            let index = u16::from_be_bytes([first, input.u8()?]) as usize;
            self.touch(index);
            index
        };
        let slot = self.slots.get(index).ok_or_else(|| Damage::new("unknown tag"))?;
        Ok(&slot.tag)
    }
}
