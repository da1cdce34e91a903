//! Rules of Java's library that are visible to clients: how text is decoded, and in which order
//! maps are written.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const BASIC: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
const URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT);

/// Base64 as `Base64.getEncoder` writes it.
pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    BASIC.encode(bytes)
}

/// `Base64.getDecoder`: the padding may be missing.
pub(crate) fn decode_base64(text: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    BASIC.decode(text).ok()
}

/// `Base64.getUrlDecoder`.
pub(crate) fn decode_base64_url(text: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    URL.decode(text).ok()
}

/// Base64 in a body, which may contain line breaks and spaces.
pub(crate) fn decode_base64_text(text: &str) -> Option<Vec<u8>> {
    if text.bytes().all(|byte| byte > b' ') {
        return decode_base64(text);
    }
    decode_base64(text.bytes().filter(|byte| *byte > b' ').collect::<Vec<u8>>())
}

/// `URLDecoder.decode`: `+` is a space, and bytes that are not UTF-8 become U+FFFD. `None` for a
/// `%` without two hexadecimal digits.
pub(crate) fn decode_url(text: &str) -> Option<String> {
    decode(text, true)
}

/// A segment of a path: as [`decode_url`], but `+` is unchanged.
pub(crate) fn decode_path(text: &str) -> Option<String> {
    decode(text, false)
}

fn decode(text: &str, plus_is_space: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'+' if plus_is_space => bytes.push(b' '),
            b'%' => {
                let (digits, after) = rest.split_at_checked(2)?;
                let digit = |at: usize| char::from(digits[at]).to_digit(16);
                bytes.push(u8::try_from(digit(0)? * 16 + digit(1)?).ok()?);
                rest = after;
            }
            byte => bytes.push(byte),
        }
    }
    Some(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// `CellUtil.parseColumn`: family and, after the first colon, qualifier.
pub(crate) fn parse_column(column: &[u8]) -> (&[u8], Option<&[u8]>) {
    match column.iter().position(|byte| *byte == b':') {
        Some(at) => (&column[..at], Some(&column[at + 1..])),
        None => (column, None),
    }
}

/// Adds families and columns to a get or a scan.
pub(crate) fn add_columns<'a, R>(
    read: R,
    columns: impl IntoIterator<Item = &'a Vec<u8>>,
    with_family: impl Fn(R, &'a [u8]) -> R,
    with_column: impl Fn(R, &'a [u8], &'a [u8]) -> R,
) -> R {
    columns.into_iter().fold(read, |read, column| match parse_column(column) {
        (family, None) => with_family(read, family),
        (family, Some(qualifier)) => with_column(read, family, qualifier),
    })
}

/// Sorts the keys of a map as a `HashMap` of `Bytes` iterates over them: the order in which
/// attributes of tables and families are written.
pub(crate) fn sort_as_bytes_map<V>(entries: &mut [(String, V)]) {
    let hash = |key: &str| {
        let step = |hash: i32, byte: u8| hash.wrapping_mul(31).wrapping_add(i32::from(byte as i8));
        key.bytes().fold(1_i32, step)
    };
    sort_by_hash(entries, hash);
}

/// Sorts the keys of a map as a `HashMap` of `String` iterates over them.
pub(crate) fn sort_as_string_map<V>(entries: &mut [(String, V)]) {
    let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    sort_by_hash(entries, |key: &str| key.encode_utf16().fold(0_i32, step));
}

fn sort_by_hash<V>(entries: &mut [(String, V)], hash: impl Fn(&str) -> i32) {
    // A map that is a copy of another has as many buckets.
    let buckets = (entries.len() * 4 / 3 + 1).next_power_of_two();
    entries.sort_by_cached_key(|(key, _)| {
        let hash = hash(key).cast_unsigned();
        (hash ^ (hash >> 16)) as usize & (buckets - 1)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_decoded_as_in_java() {
        assert_eq!(decode_url("a+b%2Fc%C3%A9").as_deref(), Some("a b/cé"));
        assert_eq!(decode_path("a+b").as_deref(), Some("a+b"));
        assert_eq!(decode_url("%FF").as_deref(), Some("\u{fffd}"));
        for bad in ["%", "%1", "%zz", "%+1"] {
            assert_eq!(decode_url(bad), None, "{bad}");
        }
    }

    #[test]
    fn base64_may_lack_padding() {
        assert_eq!(decode_base64("cjE").as_deref(), Some(&b"r1"[..]));
        assert_eq!(decode_base64("cjE=").as_deref(), Some(&b"r1"[..]));
        assert_eq!(decode_base64_text("cj\n E=").as_deref(), Some(&b"r1"[..]));
        assert_eq!(decode_base64_url("_-8").as_deref(), Some(&b"\xff\xef"[..]));
        assert_eq!(decode_base64("_"), None);
    }

    #[test]
    fn columns_end_their_family_at_the_first_colon() {
        assert_eq!(parse_column(b"a"), (&b"a"[..], None));
        assert_eq!(parse_column(b"a:"), (&b"a"[..], Some(&b""[..])));
        assert_eq!(parse_column(b"a:b:c"), (&b"a"[..], Some(&b"b:c"[..])));
    }

    #[test]
    fn attributes_have_the_order_of_a_hash_map() {
        let expected = [
            "INDEX_BLOCK_ENCODING",
            "VERSIONS",
            "KEEP_DELETED_CELLS",
            "DATA_BLOCK_ENCODING",
            "TTL",
            "MIN_VERSIONS",
            "REPLICATION_SCOPE",
            "BLOOMFILTER",
            "IN_MEMORY",
            "COMPRESSION",
            "BLOCKCACHE",
            "BLOCKSIZE",
        ];
        let mut names = expected;
        names.sort_unstable();
        let mut entries: Vec<(String, ())> = names.map(|name| (name.to_owned(), ())).into();
        sort_as_bytes_map(&mut entries);
        let order: Vec<&str> = entries.iter().map(|(name, ())| name.as_str()).collect();
        assert_eq!(order, expected);
    }
}
