//! Thrift on the wire: the binary and the compact protocol.
//!
//! ```text
//! message  name, type (call, reply, exception, one-way), sequence number, then one struct
//! struct   fields until a stop; a field is a type, a number and a value
//! ```
//!
//! [`input`] takes bytes of one message from a connection, within limits. [`reader`] and
//! [`writer`] know both protocols. [`wire`] maps Rust types to them, and its macro defines structs
//! as tables of fields.
//!
//! Limits: a message has a maximum size, framed or not. No length is trusted before its bytes have
//! arrived. Structs and containers nest at most [`NESTING_MAX`] deep. Memory for the elements of
//! lists and maps is charged to a budget that depends on the size of the message.

pub(crate) mod error;
pub(crate) mod input;
pub(crate) mod reader;
pub(crate) mod wire;
pub(crate) mod writer;

/// How deep structs and containers may nest. HBase's deepest structure has 6 levels.
pub(crate) const NESTING_MAX: usize = 32;

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Fixed widths, big-endian.
    Binary,
    /// Variable-length numbers; field numbers as differences.
    Compact,
}

/// The types of values, with their numbers in the binary protocol.
pub(crate) mod types {
    pub(crate) const STOP: u8 = 0;
    pub(crate) const VOID: u8 = 1;
    pub(crate) const BOOL: u8 = 2;
    pub(crate) const BYTE: u8 = 3;
    pub(crate) const DOUBLE: u8 = 4;
    pub(crate) const I16: u8 = 6;
    pub(crate) const I32: u8 = 8;
    pub(crate) const I64: u8 = 10;
    pub(crate) const STRING: u8 = 11;
    pub(crate) const STRUCT: u8 = 12;
    pub(crate) const MAP: u8 = 13;
    pub(crate) const SET: u8 = 14;
    pub(crate) const LIST: u8 = 15;

    /// The type of each number in the compact protocol. True and false have one each; the first is
    /// the type's.
    pub(super) const COMPACT: [u8; 13] =
        [STOP, BOOL, BOOL, BYTE, I16, I32, I64, DOUBLE, STRING, LIST, SET, MAP, STRUCT];
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageType {
    /// A request.
    Call = 1,
    /// An answer, or an exception that the method declares.
    Reply = 2,
    /// Any other exception.
    Exception = 3,
    /// A request without an answer.
    OneWay = 4,
}

impl MessageType {
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        [Self::Call, Self::Reply, Self::Exception, Self::OneWay]
            .into_iter()
            .find(|one| *one as u8 == number)
    }
}

/// The beginning of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MessageHead {
    /// The method.
    pub(crate) name: String,
    /// The kind of the message.
    pub(crate) kind: MessageType,
    /// Chosen by the client, repeated in the answer.
    pub(crate) sequence: i32,
}

#[cfg(test)]
mod tests;
