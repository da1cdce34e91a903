//! The messages of the protocol as a table: their fields, by number and by name.
//!
//! hblite-messages generates it from `proto/`, in the order of the messages' names. Threads: any.

/// A message of the protocol.
#[derive(Debug)]
pub(crate) struct Shape {
    /// With its package.
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [Field],
}

/// A field of a message.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    pub(crate) name: &'static str,
    /// The memory of each element of a repeated field, in a vector that has grown, or that of a
    /// boxed field; 0 if the field is neither.
    pub(crate) element_bytes: u32,
    /// Whether it is a number of 64 bits.
    pub(crate) is_wide: bool,
    pub(crate) kind: Kind,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Bytes of the frame.
    Bytes,
    String,
    /// Numbers, which may be packed.
    Numbers(Number),
    /// The message at this position of the table.
    Message(u16),
}

/// How a number is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Unsigned,
    Signed,
    Bool,
    Float,
}

include!("../generated/shapes.rs");

/// The message with this name, which begins with its package.
pub(crate) fn shape_of(name: &str) -> Option<&'static Shape> {
    let index = SHAPES.binary_search_by(|shape| shape.name.cmp(name)).ok()?;
    Some(&SHAPES[index])
}

impl Shape {
    /// The field with this number.
    pub(crate) fn field(&self, number: u32) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.number == number)
    }
}
