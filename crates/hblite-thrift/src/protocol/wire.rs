//! Rust types as Thrift's types, and structs as tables of fields.
//!
//! ```text
//! thrift_struct! { TCell { 1 value: Vec<u8>, 2 timestamp: i64, } }
//! ```
//!
//! A field of type `Option` is omitted when it is `None`. Any other field is always written. If it
//! is missing when a message is read, it gets its default, which may follow the type; with
//! `[required]` after its number, that is an error.

use smallvec::SmallVec;

use super::error::{ProtocolError, Result};
use super::reader::Reader;
use super::types;
use super::writer::Writer;

/// For how many elements of a container there is room before they have arrived.
const RESERVED_MAX: usize = 128;

/// A value of a message.
pub(crate) trait Wire: Sized {
    /// The number of the type; see [`types`].
    const TYPE: u8;

    fn read(reader: &mut Reader<'_>) -> Result<Self>;

    /// Writes the value alone, as an element of a container has it.
    fn write(&self, writer: &mut Writer);

    /// Writes the value with the head of its field, or nothing.
    fn write_field(&self, writer: &mut Writer, id: i16) {
        writer.field(Self::TYPE, id);
        self.write(writer);
    }
}

/// No value: what a method without a result returns.
impl Wire for () {
    const TYPE: u8 = types::VOID;

    fn read(_: &mut Reader<'_>) -> Result<Self> {
        Ok(())
    }

    fn write(&self, _: &mut Writer) {}

    fn write_field(&self, _: &mut Writer, _: i16) {}
}

impl Wire for bool {
    const TYPE: u8 = types::BOOL;

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.bool()
    }

    fn write(&self, writer: &mut Writer) {
        writer.bool(*self);
    }

    fn write_field(&self, writer: &mut Writer, id: i16) {
        writer.bool_field(id, *self);
    }
}

macro_rules! wire_number {
    ($($type:ident = $number:ident;)*) => {$(
        impl Wire for $type {
            const TYPE: u8 = types::$number;

            fn read(reader: &mut Reader<'_>) -> Result<Self> {
                reader.$type()
            }

            fn write(&self, writer: &mut Writer) {
                writer.$type(*self);
            }
        }
    )*};
}

wire_number! {
    i8 = BYTE;
    i16 = I16;
    i32 = I32;
    i64 = I64;
    f64 = DOUBLE;
}

/// Bytes, which Thrift calls a binary.
impl Wire for Vec<u8> {
    const TYPE: u8 = types::STRING;

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.bytes().map(<[u8]>::to_vec)
    }

    fn write(&self, writer: &mut Writer) {
        writer.bytes(self);
    }
}

/// As `Vec<u8>`, without an allocation for names and short rows.
pub(crate) type ShortBytes = SmallVec<[u8; 16]>;

impl Wire for ShortBytes {
    const TYPE: u8 = types::STRING;

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        reader.bytes().map(Self::from_slice)
    }

    fn write(&self, writer: &mut Writer) {
        writer.bytes(self);
    }
}

/// Text. Bytes that are not UTF-8 are replaced, as in Java.
impl Wire for String {
    const TYPE: u8 = types::STRING;

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        Ok(String::from_utf8_lossy(reader.bytes()?).into_owned())
    }

    fn write(&self, writer: &mut Writer) {
        writer.bytes(self.as_bytes());
    }
}

impl<T: Wire> Wire for Option<T> {
    const TYPE: u8 = T::TYPE;

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        T::read(reader).map(Some)
    }

    fn write(&self, writer: &mut Writer) {
        debug_assert!(self.is_some(), "an element of a container has a value");
        if let Some(value) = self {
            value.write(writer);
        }
    }

    fn write_field(&self, writer: &mut Writer, id: i16) {
        if let Some(value) = self {
            value.write_field(writer, id);
        }
    }
}

impl<T: Wire> Wire for Box<T> {
    const TYPE: u8 = T::TYPE;

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        T::read(reader).map(Box::new)
    }

    fn write(&self, writer: &mut Writer) {
        T::write(self, writer);
    }
}

macro_rules! wire_sequence {
    ($($(#[$doc:meta])* $name:ident = $number:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) struct $name<T>(pub(crate) Vec<T>);

        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self(Vec::new())
            }
        }

        impl<T: Wire> Wire for $name<T> {
            const TYPE: u8 = types::$number;

            fn read(reader: &mut Reader<'_>) -> Result<Self> {
                let (kind, count) = reader.list_begin()?;
                check_element(kind, T::TYPE, count)?;
                let mut list = reserve(reader, count)?;
                for index in 0..count {
                    charge_growth::<T>(reader, index)?;
                    list.push(T::read(reader)?);
                }
                reader.container_end();
                Ok(Self(list))
            }

            fn write(&self, writer: &mut Writer) {
                writer.list_begin(T::TYPE, self.0.len());
                for value in &self.0 {
                    value.write(writer);
                }
            }
        }
    )*};
}

wire_sequence! {
    /// A list.
    List = LIST;
    /// A set, in the order in which it is sent.
    Set = SET;
}

/// A map: pairs in the order in which they are sent.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Map<K, V>(pub(crate) Vec<(K, V)>);

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: Wire, V: Wire> Wire for Map<K, V> {
    const TYPE: u8 = types::MAP;

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let (key, value, count) = reader.map_begin()?;
        check_element(key, K::TYPE, count)?;
        check_element(value, V::TYPE, count)?;
        let mut map = reserve(reader, count)?;
        for index in 0..count {
            charge_growth::<(K, V)>(reader, index)?;
            map.push((K::read(reader)?, V::read(reader)?));
        }
        reader.container_end();
        Ok(Self(map))
    }

    fn write(&self, writer: &mut Writer) {
        writer.map_begin(K::TYPE, V::TYPE, self.0.len());
        for (key, value) in &self.0 {
            key.write(writer);
            value.write(writer);
        }
    }
}

/// A vector for the elements of a container, with room for the first ones: as many as are claimed,
/// but a claim alone takes little memory.
fn reserve<T>(reader: &mut Reader<'_>, count: usize) -> Result<Vec<T>> {
    let first = count.min(RESERVED_MAX);
    reader.charge(first, size_of::<T>())?;
    Ok(Vec::with_capacity(first))
}

/// Charges an element that follows those in [`reserve`].
fn charge_growth<T>(reader: &mut Reader<'_>, index: usize) -> Result<()> {
    match index < RESERVED_MAX {
        true => Ok(()),
        // A vector that grows has up to twice the room that it needs.
        false => reader.charge(2, size_of::<T>()),
    }
}

fn check_element(is: u8, expected: u8, count: usize) -> Result<()> {
    match count == 0 || is == expected {
        true => Ok(()),
        false => Err(ProtocolError::malformed(format!(
            "an element of type {is} where type {expected} is expected"
        ))),
    }
}

/// Whether a field must be present: `thrift_struct` passes `required` or nothing.
macro_rules! is_required {
    () => {
        false
    };
    (required) => {
        true
    };
}

/// The default of a field.
macro_rules! default_of {
    () => {
        Default::default()
    };
    ($value:expr) => {
        $value
    };
}

/// Defines structs with their fields; see the head of this file.
macro_rules! thrift_struct {
    ($($(#[$doc:meta])* $name:ident {
        $($id:literal $([$need:ident])? $field:ident: $type:ty $(= $default:expr)?,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::protocol::wire::default_of!($($default)?),)* }
            }
        }

        impl $crate::protocol::wire::Wire for $name {
            const TYPE: u8 = $crate::protocol::types::STRUCT;

            fn read(
                reader: &mut $crate::protocol::reader::Reader<'_>,
            ) -> $crate::protocol::error::Result<Self> {
                #[allow(unused_mut, reason = "a struct may have no fields")]
                let (mut read, mut present) = (Self::default(), 0u64);
                reader.struct_begin()?;
                while let Some((kind, id)) = reader.field()? {
                    match id {
                        $($id if kind == <$type as $crate::protocol::wire::Wire>::TYPE => {
                            read.$field = $crate::protocol::wire::Wire::read(reader)?;
                            present |= 1 << $id;
                        })*
                        _ => reader.skip(kind)?,
                    }
                }
                reader.struct_end();
                $(if $crate::protocol::wire::is_required!($($need)?) && present & 1 << $id == 0 {
                    reader.set_missing(stringify!($name), stringify!($field));
                })*
                let _ = present;
                Ok(read)
            }

            #[allow(unused_variables, reason = "a struct may have no fields")]
            fn write(&self, writer: &mut $crate::protocol::writer::Writer) {
                writer.struct_begin();
                $($crate::protocol::wire::Wire::write_field(&self.$field, writer, $id);)*
                writer.struct_end();
            }
        }
    )*};
}

pub(crate) use {default_of, is_required, thrift_struct};
