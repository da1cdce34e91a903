//! Goal: a reader reads what a writer writes, in both protocols, and hostile bytes cause an error.
//! Method: a struct with every type, random values, and messages that lie about sizes.

use std::rc::Rc;
use std::sync::Arc;

use hblite_wire::memory::MemoryBudget;
use proptest::prelude::*;

use super::error::ProtocolError;
use super::input::Input;
use super::reader::Reader;
use super::wire::{List, Map, Wire, thrift_struct};
use super::writer::Writer;
use super::{MessageHead, MessageType, NESTING_MAX, Protocol, types};
use crate::memory::Allowance;

const BOTH: [Protocol; 2] = [Protocol::Binary, Protocol::Compact];
const SIZE_MAX: usize = 1024 * 1024;

thrift_struct! {
    Everything {
        1 a: bool,
        2 b: i8,
        3 c: i16,
        4 d: i32 = 7,
        5 e: i64,
        6 f: f64,
        7 [required] g: Vec<u8>,
        8 h: Option<bool>,
        30 i: List<bool>,
        31 j: Map<Vec<u8>, List<i32>>,
        32 k: Option<Box<Inner>>,
    }

    Inner {
        1 text: String,
        2 inner: Option<Box<Inner>>,
    }
}

fn write(value: &impl Wire, protocol: Protocol) -> Vec<u8> {
    let mut writer = Writer::new(protocol, Vec::new());
    value.write(&mut writer);
    writer.into_bytes()
}

/// Reads from bytes that end where a connection would.
fn read_with<T>(
    bytes: &[u8],
    protocol: Protocol,
    read: impl FnOnce(&mut Reader<'_>) -> super::error::Result<T>,
) -> super::error::Result<T> {
    let memory = Arc::new(MemoryBudget::new(64 << 20));
    let allowance = Rc::new(Allowance::of(&memory));
    let mut input = Input::new(Box::new(std::io::Cursor::new(bytes.to_vec())), allowance);
    input.start_message(SIZE_MAX);
    read(&mut Reader::new(&mut input, protocol, SIZE_MAX))
}

fn read<T: Wire>(bytes: &[u8], protocol: Protocol) -> super::error::Result<T> {
    read_with(bytes, protocol, T::read)
}

fn everything() -> impl Strategy<Value = Everything> {
    let numbers = (any::<bool>(), any::<i8>(), any::<i16>(), any::<i32>(), any::<i64>());
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let lists = prop::collection::vec(any::<bool>(), 0..40);
    let map = prop::collection::vec((bytes(), prop::collection::vec(any::<i32>(), 0..20)), 0..20);
    let rest = (-1e9..1e9f64, bytes(), any::<Option<bool>>(), lists, map, any::<Option<String>>());
    (numbers, rest).prop_map(|((a, b, c, d, e), (f, g, h, i, j, text))| {
        let inner = |text| Inner { text, inner: Some(Box::default()) };
        let j = j.into_iter().map(|(key, list)| (key, List(list))).collect();
        let k = text.map(|text| Box::new(inner(text)));
        Everything { a, b, c, d, e, f, g, h, i: List(i), j: Map(j), k }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(value in everything()) {
        for protocol in BOTH {
            let bytes = write(&value, protocol);
            prop_assert_eq!(&read::<Everything>(&bytes, protocol).unwrap(), &value);
            // As a field that is not known, it is skipped as a whole.
            read_with(&bytes, protocol, |reader| reader.skip(types::STRUCT)).unwrap();
        }
    }

    #[test]
    fn random_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for protocol in BOTH {
            let values = read::<Everything>(&bytes, protocol).map(|value| value.i.0.len());
            prop_assert!(values.unwrap_or(0) <= bytes.len());
        }
    }

    #[test]
    fn a_truncated_message_is_an_error(value in everything(), cut in any::<prop::sample::Index>()) {
        for protocol in BOTH {
            let bytes = write(&value, protocol);
            let error = read::<Everything>(&bytes[..cut.index(bytes.len())], protocol);
            prop_assert!(matches!(error, Err(ProtocolError::Io(_))));
        }
    }
}

#[test]
fn message_heads_are_read() {
    for protocol in BOTH {
        for kind in [MessageType::Call, MessageType::OneWay, MessageType::Exception] {
            let head = MessageHead { name: "getRow".to_owned(), kind, sequence: -5 };
            let mut writer = Writer::new(protocol, Vec::new());
            writer.message_head(&head);
            let read =
                read_with(&writer.into_bytes(), protocol, |reader| reader.message_head()).unwrap();
            assert_eq!(read, head);
        }
    }
    let old = b"\0\0\0\x03get\x01\0\0\0\x09";
    let head = read_with(old, Protocol::Binary, |reader| reader.message_head()).unwrap();
    assert_eq!((head.name.as_str(), head.sequence), ("get", 9));
}

#[test]
fn missing_fields_have_defaults_or_are_named() {
    for protocol in BOTH {
        let (read, missing) = read_with(&[types::STOP], protocol, |reader| {
            let value = Everything::read(reader)?;
            Ok((value, reader.missing().map(str::to_owned)))
        })
        .unwrap();
        assert_eq!((read.d, read.h), (7, None));
        let expected = "Required field 'g' was not present! Struct: Everything";
        assert_eq!(missing.as_deref(), Some(expected));
    }
}

#[test]
fn sizes_are_not_trusted() {
    let too_large = |bytes: &[u8], protocol| {
        let error = read::<Everything>(bytes, protocol).unwrap_err();
        assert!(matches!(error, ProtocolError::TooLarge(_)), "{error}");
    };
    too_large(b"\x0b\0\x07\x7f\xff\xff\xff", Protocol::Binary);
    too_large(b"\x0f\0\x1e\x02\x7f\xff\xff\xff", Protocol::Binary);
    too_large(b"\x0d\0\x1f\x0b\x0f\x7f\xff\xff\xff", Protocol::Binary);
    too_large(b"\x78\xff\xff\xff\xff\x07", Protocol::Compact);
    let negative = read::<Everything>(b"\x0b\0\x07\xff\xff\xff\xff", Protocol::Binary);
    assert!(matches!(negative, Err(ProtocolError::Malformed(_))));
}

#[test]
fn elements_are_charged() {
    // Each struct is one byte of the message and much more in memory.
    let count = SIZE_MAX - 100;
    let mut bytes = vec![types::STRUCT];
    bytes.extend(u32::try_from(count).unwrap().to_be_bytes());
    bytes.resize(bytes.len() + count, types::STOP);
    let error = read::<List<Everything>>(&bytes, Protocol::Binary).unwrap_err();
    assert!(matches!(error, ProtocolError::TooLarge(_)), "{error}");
}

#[test]
fn nesting_is_bounded() {
    let deep = |depth: usize| -> Vec<u8> { [0x0c, 0, 2].repeat(depth) };
    let error = read::<Inner>(&deep(100_000), Protocol::Binary).unwrap_err();
    assert!(error.to_string().contains("nested more than"), "{error}");
    let skipped = read_with(&deep(100_000), Protocol::Binary, |reader| reader.skip(types::STRUCT));
    assert!(skipped.unwrap_err().to_string().contains("nested more than"));
    let mut lists = vec![0x19; 100_000];
    lists[0] = 0x19;
    let skipped = read_with(&lists, Protocol::Compact, |reader| reader.skip(types::LIST));
    assert!(skipped.unwrap_err().to_string().contains("nested more than"));
    let mut good = deep(NESTING_MAX - 1);
    good.resize(good.len() + NESTING_MAX, types::STOP);
    assert!(read::<Inner>(&good, Protocol::Binary).unwrap().inner.is_some());
}
