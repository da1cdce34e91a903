//! Tags: small typed values attached to a cell, such as its own time to live.
//!
//! ```text
//! (u16 length of what follows | u8 type | value)*
//! ```

/// Tag types that hblite uses; the numbers are HBase's (`TagType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TagType(pub u8);

impl TagType {
    /// Time to live of the cell: 8 bytes, milliseconds.
    pub const TTL: Self = Self(8);
}

/// A borrowed tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag<'a> {
    /// The meaning of the value.
    pub tag_type: TagType,
    /// The value.
    pub value: &'a [u8],
}

/// Iterates over serialized tags; ends at the first malformed one.
#[derive(Debug, Clone)]
pub struct TagIter<'a>(&'a [u8]);

impl<'a> TagIter<'a> {
    /// Iterates over `tags`, in the format of [`super::CellRef::tags`].
    pub fn new(tags: &'a [u8]) -> Self {
        Self(tags)
    }
}

impl<'a> Iterator for TagIter<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        let (length, rest) = self.0.split_first_chunk::<2>()?;
        let (tag, rest) = rest.split_at_checked(u16::from_be_bytes(*length) as usize)?;
        let (&code, value) = tag.split_first()?;
        self.0 = rest;
        Some(Tag { tag_type: TagType(code), value })
    }
}

/// Appends a tag to serialized tags. Returns false, and appends nothing, if the value has more than
/// 65,534 bytes.
pub fn push_tag(tags: &mut Vec<u8>, tag_type: TagType, value: &[u8]) -> bool {
    let Ok(length) = u16::try_from(value.len() + 1) else {
        return false;
    };
    tags.extend_from_slice(&length.to_be_bytes());
    tags.push(tag_type.0);
    tags.extend_from_slice(value);
    true
}
