//! Ranges of keys, and keys as HBase prints them.

use std::fmt;
use std::fmt::Write as _;

/// The smallest byte string that is greater than every string with this prefix. Empty, which means
/// unbounded, if there is none.
pub fn next_after_prefix(prefix: &[u8]) -> Vec<u8> {
    let Some(at) = prefix.iter().rposition(|byte| *byte != 0xFF) else { return Vec::new() };
    let mut next = prefix[..=at].to_vec();
    next[at] += 1;
    next
}

/// Bytes as `Bytes.toStringBinary` prints them: printable ASCII as it is, the rest as `\xHH`.
///
/// ```
/// assert_eq!(hblite_rowkey::printable(b"u1\x7F\\"), "u1\\x7F\\x5C");
/// ```
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if (b' '..=b'~').contains(&byte) && byte != b'\\' {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    text
}

/// Keys from `start` up to but excluding `stop`; an empty `stop` is the end of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyRange {
    /// The first key that may be in the range.
    pub start: Vec<u8>,
    /// The first key after the range.
    pub stop: Vec<u8>,
}

/// The ends of a scan as HBase's `Scan` takes them: a reversed scan starts at the greater key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScanBounds {
    /// Where the scan starts; empty for the first end of the table in scan direction.
    pub start: Vec<u8>,
    /// Whether a row with this key is included.
    pub is_start_inclusive: bool,
    /// Where the scan stops; empty for the other end of the table.
    pub stop: Vec<u8>,
    /// Whether a row with this key is included.
    pub is_stop_inclusive: bool,
    /// Whether the scan runs in descending order.
    pub is_reversed: bool,
}

impl KeyRange {
    /// The range of one row.
    pub fn row(key: Vec<u8>) -> Self {
        let stop = [key.as_slice(), &[0]].concat();
        Self { start: key, stop }
    }

    /// The key, if the range can hold only one: for a Get.
    pub fn as_row(&self) -> Option<&[u8]> {
        let is_row = self.stop.strip_prefix(self.start.as_slice()) == Some(&[0]);
        is_row.then_some(&self.start)
    }

    /// Whether the range contains a key.
    pub fn contains(&self, key: &[u8]) -> bool {
        self.start.as_slice() <= key && (self.stop.is_empty() || key < self.stop.as_slice())
    }

    /// The range as a scan, ascending or descending.
    pub fn scan(&self, is_reversed: bool) -> ScanBounds {
        if is_reversed {
            ScanBounds {
                start: self.stop.clone(),
                is_start_inclusive: self.stop.is_empty(),
                stop: self.start.clone(),
                is_stop_inclusive: true,
                is_reversed,
            }
        } else {
            ScanBounds {
                start: self.start.clone(),
                is_start_inclusive: true,
                stop: self.stop.clone(),
                is_stop_inclusive: false,
                is_reversed,
            }
        }
    }
}

impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", printable(&self.start), printable(&self.stop))
    }
}
