//! Jute, the encoding of ZooKeeper's messages: big-endian numbers, lengths before bytes.
//!
//! Decoding borrows from the frame, never allocates an announced length, and returns [`Malformed`]
//! for invalid bytes. A length of -1 is "null" and read as empty.

#![allow(missing_docs, reason = "each method reads or writes the Jute type in its name")]

use std::fmt;

/// Bytes that are not the expected message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed {
    /// What was being read.
    pub what: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no {} where one should be", self.what)
    }
}

/// Reads the fields of one frame in their order.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub fn new(frame: &'a [u8]) -> Self {
        Self { rest: frame }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Malformed { what })?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed { what })?;
        self.rest = rest;
        Ok(*taken)
    }

    pub fn int(&mut self) -> Result<i32, Malformed> {
        self.array("int").map(i32::from_be_bytes)
    }

    pub fn long(&mut self) -> Result<i64, Malformed> {
        self.array("long").map(i64::from_be_bytes)
    }

    pub fn boolean(&mut self) -> Result<bool, Malformed> {
        self.array::<1>("boolean").map(|[byte]| byte != 0)
    }

    /// Bytes, preceded by their length.
    pub fn buffer(&mut self) -> Result<&'a [u8], Malformed> {
        match self.int()? {
            -1 => Ok(&[]),
            length => {
                let length = usize::try_from(length)
                    .map_err(|_| Malformed { what: "length of a buffer" })?;
                self.take(length, "buffer")
            }
        }
    }

    pub fn string(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.buffer()?).map_err(|_| Malformed { what: "text in UTF-8" })
    }

    /// A vector of which each element is read by `element`.
    pub fn vector<T>(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.int()?;
        // Grows with the elements that are really there: the count alone is not trusted.
        let mut elements = Vec::new();
        for _ in 0..count.max(0) {
            if self.is_empty() {
                return Err(Malformed { what: "element of a vector" });
            }
            elements.push(element(self)?);
        }
        Ok(elements)
    }

    /// The entries of an access control list, which are not used.
    pub fn skip_access_control_list(&mut self) -> Result<(), Malformed> {
        self.vector(|entry| {
            entry.int()?;
            entry.string()?;
            entry.string().map(|_| ())
        })
        .map(|_| ())
    }
}

/// Writes the fields of messages one after another.
#[derive(Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    pub fn shrink_to(&mut self, capacity: usize) {
        self.bytes.shrink_to(capacity);
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    pub fn int(&mut self, value: i32) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub fn long(&mut self, value: i64) -> &mut Self {
        self.bytes.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub fn boolean(&mut self, value: bool) -> &mut Self {
        self.bytes.push(u8::from(value));
        self
    }

    pub fn buffer(&mut self, value: &[u8]) -> &mut Self {
        self.int(length(value.len()));
        self.bytes.extend_from_slice(value);
        self
    }

    pub fn string(&mut self, value: &str) -> &mut Self {
        self.buffer(value.as_bytes())
    }

    pub fn strings<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a str>) -> &mut Self {
        self.int(length(values.len()));
        for value in values {
            self.string(value);
        }
        self
    }

    /// Writes a frame: its length, then what `body` writes.
    pub fn frame(&mut self, body: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.int(0);
        body(self);
        let count = length(self.bytes.len() - start - 4);
        self.bytes[start..start + 4].copy_from_slice(&count.to_be_bytes());
    }

    /// Writes bytes unchanged.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Removes everything from `position` on.
    pub fn truncate(&mut self, position: usize) {
        self.bytes.truncate(position);
    }
}

fn length(count: usize) -> i32 {
    i32::try_from(count).expect("answers are far smaller than 2 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut encoder = Encoder::default();
        encoder.int(-2).long(1 << 40).boolean(true).buffer(b"\0\xff").string("/hbase");
        encoder.strings(["a", "b"].into_iter());
        let mut decoder = Decoder::new(encoder.as_slice());
        assert_eq!(decoder.int(), Ok(-2));
        assert_eq!(decoder.long(), Ok(1 << 40));
        assert_eq!(decoder.boolean(), Ok(true));
        assert_eq!(decoder.buffer(), Ok(&b"\0\xff"[..]));
        assert_eq!(decoder.string(), Ok("/hbase"));
        assert_eq!(decoder.vector(|each| each.string()), Ok(vec!["a", "b"]));
        assert!(decoder.is_empty());
    }

    #[test]
    fn lengths_that_lie_are_refused_without_memory() {
        let huge = [0x7f, 0xff, 0xff, 0xff];
        assert_eq!(Decoder::new(&huge).buffer(), Err(Malformed { what: "buffer" }));
        let elements = Decoder::new(&huge).vector(|each| each.int());
        assert_eq!(elements, Err(Malformed { what: "element of a vector" }));
        let negative = [0xff, 0xff, 0xff, 0xfe];
        assert_eq!(Decoder::new(&negative).buffer(), Err(Malformed { what: "length of a buffer" }));
        assert_eq!(Decoder::new(&[0xff; 4]).buffer(), Ok(&[][..]));
    }
}
