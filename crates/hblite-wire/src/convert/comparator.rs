//! Comparators by class name and serialized form.

use bytes::Bytes;
use hblite_model::filter::{
    BigDecimal, BitwiseOperator, Comparator, CompareOperator, RegexEngine, RegexFlags, RegexString,
};
use hblite_model::{Error, Result};
use prost::Message as _;

use super::no_such;
use crate::frame::decode;
use crate::pb;

/// The Java package of filters and comparators.
pub(super) const PACKAGE: &str = "org.apache.hadoop.hbase.filter.";

/// The operator with this number.
pub(super) fn compare_operator(number: i32) -> Result<CompareOperator> {
    let index = usize::try_from(number).ok();
    let operator = index.and_then(|index| CompareOperator::ALL.get(index));
    operator.copied().ok_or_else(|| no_such("compare operator", number))
}

/// Java's error for a class that it cannot load.
pub(super) fn class_not_found(name: &str) -> Error {
    Error::do_not_retry(format!("java.lang.ClassNotFoundException: {name}"))
}

/// The comparator in a message.
///
/// # Errors
/// `DoNotRetryIo` for an unknown class or invalid bytes; errors of its constructor.
pub(super) fn comparator(message: &pb::Comparator) -> Result<Comparator> {
    let bytes = message.serialized_comparator.clone().unwrap_or_default();
    let simple = message.name.strip_prefix(PACKAGE).unwrap_or_default();
    Ok(match simple {
        "BinaryComparator" => Comparator::Binary(value(bytes)?),
        "BinaryPrefixComparator" => Comparator::BinaryPrefix(value(bytes)?),
        "LongComparator" => {
            let value = value(bytes)?;
            let number = value.as_slice().try_into().map_err(|_| {
                Error::do_not_retry(format!("{} bytes are not a long", value.len()))
            })?;
            Comparator::Long(i64::from_be_bytes(number))
        }
        "BigDecimalComparator" => Comparator::BigDecimal(BigDecimal::from_bytes(&value(bytes)?)?),
        "BitComparator" => {
            let message: pb::BitComparator = decode(bytes)?;
            let value = message.comparable.value.unwrap_or_default().to_vec();
            let operator = match message.bitwise_op {
                1 => BitwiseOperator::And,
                2 => BitwiseOperator::Or,
                3 => BitwiseOperator::Xor,
                other => return Err(no_such("bitwise operator", other)),
            };
            Comparator::Bit { value, operator }
        }
        "BinaryComponentComparator" => {
            let message: pb::BinaryComponentComparator = decode(bytes)?;
            let offset = message.offset as usize;
            Comparator::BinaryComponent { value: message.value.to_vec(), offset }
        }
        "NullComparator" => Comparator::Null,
        "RegexStringComparator" => Comparator::Regex(regex(bytes)?),
        "SubstringComparator" => {
            Comparator::substring(&decode::<pb::SubstringComparator>(bytes)?.substr)
        }
        _ => return Err(class_not_found(&message.name)),
    })
}

fn value(bytes: Bytes) -> Result<Vec<u8>> {
    let message: pb::BinaryComparator = decode(bytes)?;
    Ok(message.comparable.value.unwrap_or_default().to_vec())
}

fn regex(bytes: Bytes) -> Result<RegexString> {
    let message: pb::RegexStringComparator = decode(bytes)?;
    let engine = match message.engine.as_deref() {
        Some("JONI") => RegexEngine::Joni,
        _ => RegexEngine::Java,
    };
    let regex = RegexString::new(&message.pattern, RegexFlags(message.pattern_flags), engine)?;
    let is_latin1 = ["ISO-8859-1", "ISO8859_1", "ISO_8859_1", "LATIN1", "US-ASCII"]
        .iter()
        .any(|name| message.charset.eq_ignore_ascii_case(name));
    Ok(if is_latin1 { regex.over_latin1() } else { regex })
}

/// The operator's number.
pub(super) fn operator_number(operator: CompareOperator) -> i32 {
    let index = CompareOperator::ALL.iter().position(|known| *known == operator);
    index.and_then(|index| i32::try_from(index).ok()).unwrap_or_default()
}

/// The comparator as a message.
///
/// # Errors
/// `UnsupportedOperation` for a comparator without a form on the wire.
pub(super) fn comparator_message(comparator: &Comparator) -> Result<pb::Comparator> {
    let plain = |value: &[u8]| {
        let comparable = pb::ByteArrayComparable { value: Some(Bytes::copy_from_slice(value)) };
        pb::BinaryComparator { comparable }.encode_to_vec()
    };
    let content = match comparator {
        Comparator::Binary(value) | Comparator::BinaryPrefix(value) => plain(value),
        Comparator::Long(number) => plain(&number.to_be_bytes()),
        Comparator::BigDecimal(number) => plain(&number.to_bytes()),
        Comparator::Null => Vec::new(),
        Comparator::Bit { value, operator } => pb::BitComparator {
            comparable: pb::ByteArrayComparable { value: Some(value.clone().into()) },
            bitwise_op: match operator {
                BitwiseOperator::And => 1,
                BitwiseOperator::Or => 2,
                BitwiseOperator::Xor => 3,
            },
        }
        .encode_to_vec(),
        Comparator::BinaryComponent { value, offset } => pb::BinaryComponentComparator {
            value: value.clone().into(),
            offset: u32::try_from(*offset).unwrap_or(u32::MAX),
        }
        .encode_to_vec(),
        Comparator::Regex(regex) => pb::RegexStringComparator {
            pattern: regex.pattern().to_owned(),
            pattern_flags: regex.flags().0,
            charset: if regex.is_over_latin1() { "ISO-8859-1" } else { "UTF-8" }.to_owned(),
            engine: Some(
                match regex.engine() {
                    RegexEngine::Java => "JAVA",
                    RegexEngine::Joni => "JONI",
                }
                .to_owned(),
            ),
        }
        .encode_to_vec(),
        Comparator::Substring { substring, .. } => {
            pb::SubstringComparator { substr: substring.clone() }.encode_to_vec()
        }
        other => return Err(no_form(other.class_name())),
    };
    Ok(pb::Comparator {
        name: format!("{PACKAGE}{}", comparator.class_name()),
        serialized_comparator: Some(content.into()),
    })
}

/// The error for a filter or comparator that has no form on the wire.
fn no_form(class_name: &str) -> Error {
    let message = format!("{class_name} has no form on the wire");
    Error::new(hblite_model::Exception::UnsupportedOperation, message)
}
