//! Bytes as HBase prints and reads them.
//!
//! The format is that of `Bytes.toStringBinary`: printable ASCII stands for itself. Every other
//! byte, and the backslash, is `\xHH` with upper-case digits.

use std::fmt::Write as _;

use md5::Digest as _;

/// The length in bytes of the longest prefix that both have.
#[inline]
pub fn common_prefix_length(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// What follows `prefix` in `bytes`, like `slice::strip_prefix`. Nothing is compared with an empty
/// prefix: an empty `Vec` or `Box` has an address that must not be read, and a processor with
/// AVX-512 needs 80 ns to find that `memcmp` reads none of it.
#[inline]
pub fn strip_prefix<'a>(bytes: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    if prefix.is_empty() { Some(bytes) } else { bytes.strip_prefix(prefix) }
}

/// The printable form of `bytes`.
pub fn to_string_binary(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if (b' '..=b'~').contains(&byte) && byte != b'\\' {
            text.push(byte as char);
        } else {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    text
}

/// The bytes of a printable form: `\xHH` is a byte, every other character its UTF-8 bytes.
///
/// A backslash that does not begin `\xHH` stands for itself (`Bytes.toBytesBinary`).
pub fn from_string_binary(text: &str) -> Vec<u8> {
    let source = text.as_bytes();
    let mut bytes = Vec::with_capacity(source.len());
    let mut at = 0;
    while let Some(&byte) = source.get(at) {
        let hex = |offset: usize| {
            source.get(at + offset).and_then(|b| (*b as char).to_digit(16)).map(|d| d as u8)
        };
        if byte == b'\\'
            && source.get(at + 1) == Some(&b'x')
            && let (Some(high), Some(low)) = (hex(2), hex(3))
        {
            bytes.push(high << 4 | low);
            at += 4;
        } else {
            bytes.push(byte);
            at += 1;
        }
    }
    bytes
}

/// The smallest byte string that is greater than every string with this prefix.
///
/// Empty (no upper bound) if the prefix is empty or all `0xff`
/// (`ClientUtil.calculateTheClosestNextRowKeyForPrefix`).
pub fn next_after_prefix(prefix: &[u8]) -> Vec<u8> {
    let Some(at) = prefix.iter().rposition(|byte| *byte != 0xff) else {
        return Vec::new();
    };
    let mut next = prefix[..=at].to_vec();
    next[at] += 1;
    next
}

/// The MD5 digest of bytes, as in the names of regions.
pub fn md5(bytes: &[u8]) -> [u8; 16] {
    md5::Md5::digest(bytes).into()
}

/// Bob Jenkins' lookup3 (HBase's `JenkinsHash`). It works on 32 bits and wraps.
pub fn jenkins_hash(bytes: &[u8], seed: u32) -> u32 {
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32).wrapping_add(seed);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut rest = bytes;
    while rest.len() > 12 {
        a = a.wrapping_add(word(rest));
        b = b.wrapping_add(word(&rest[4..]));
        c = c.wrapping_add(word(&rest[8..]));
        for (x, y, z, bits) in [(0, 2, 1, 4), (1, 0, 2, 6), (2, 1, 0, 8)] {
            jenkins_mix(&mut a, &mut b, &mut c, (x, y, z), bits);
        }
        for (x, y, z, bits) in [(0, 2, 1, 16), (1, 0, 2, 19), (2, 1, 0, 4)] {
            jenkins_mix(&mut a, &mut b, &mut c, (x, y, z), bits);
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let mut last = [0; 12];
    last[..rest.len()].copy_from_slice(rest);
    a = a.wrapping_add(word(&last));
    b = b.wrapping_add(word(&last[4..]));
    c = c.wrapping_add(word(&last[8..]));
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    (c ^ b).wrapping_sub(b.rotate_left(24))
}

/// One step of lookup3's mix: `x -= y; x ^= rot(y, bits); y += z`, each of the three by its index.
fn jenkins_mix(a: &mut u32, b: &mut u32, c: &mut u32, (x, y, z): (usize, usize, usize), bits: u32) {
    let mut state = [*a, *b, *c];
    state[x] = state[x].wrapping_sub(state[y]) ^ state[y].rotate_left(bits);
    state[y] = state[y].wrapping_add(state[z]);
    [*a, *b, *c] = state;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_removed() {
        assert_eq!(strip_prefix(b"ab", b""), Some(&b"ab"[..]));
        assert_eq!(strip_prefix(b"ab", b"a"), Some(&b"b"[..]));
        assert_eq!(strip_prefix(b"ab", b"b"), None);
        assert_eq!(strip_prefix(b"", b"b"), None);
    }

    #[test]
    fn printable_form_and_back() {
        assert_eq!(to_string_binary(b"a\\\x00\xff~"), "a\\x5C\\x00\\xFF~");
        for bytes in [&b""[..], b"abc", b"\x00\xff\\x", b"\\x41"] {
            assert_eq!(from_string_binary(&to_string_binary(bytes)), bytes);
        }
        assert_eq!(from_string_binary("a\\xZZ\\x4"), b"a\\xZZ\\x4");
    }

    #[test]
    fn next_after_prefix_is_the_least_upper_bound() {
        assert_eq!(next_after_prefix(b"ab"), b"ac");
        assert_eq!(next_after_prefix(b"a\xff\xff"), b"b");
        assert_eq!(next_after_prefix(b"\xff"), b"");
        assert_eq!(next_after_prefix(b""), b"");
    }
}
