//! A design as a program: an encoder and a decoder without dependencies, with test vectors.
//!
//! `write` puts it together; `words` and `text_words` say how each language writes an operation;
//! `runtime`, `go_runtime` and `rust_runtime` have what it calls.

mod go_runtime;
mod runtime;
mod rust_runtime;
mod text_words;
mod words;
mod write;

use std::fmt;
use std::str::FromStr;

use crate::design::Design;
use crate::number::Number;
use crate::part::Encoding;
use crate::text::Text;
use crate::value::Value;

/// A language of generated programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// From version 11 on.
    Java,
    /// Version 3.
    Python,
    /// From version 1.21 on.
    Go,
    /// Edition 2021.
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Java, Self::Python, Self::Go, Self::Rust];
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Java => "java",
            Self::Python => "python",
            Self::Go => "go",
            Self::Rust => "rust",
        })
    }
}

impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|language| language.to_string() == text);
        found.ok_or_else(|| format!("{text:?} is not java, python, go or rust"))
    }
}

/// A record and its key, for tests of the program.
struct Vector {
    values: Vec<Value<'static>>,
    salt: u64,
    key: Vec<u8>,
    /// What the key decodes to: hashed fields become their digests.
    decoded: Vec<Value<'static>>,
}

/// Vectors of a program.
const VECTORS: usize = 4;

impl Design {
    /// A program with functions that encode and decode keys of this design, and that compares them
    /// with keys of this crate when it is run.
    ///
    /// ```
    /// use hblite_rowkey::{Design, Language};
    /// let design = Design::parse("salt(8, host)|host:str|ts:timestamp")?;
    /// let program = design.code(Language::Python);
    /// assert!(program.contains("def encode(host, ts):"));
    /// # Ok::<(), hblite_rowkey::Error>(())
    /// ```
    pub fn code(&self, language: Language) -> String {
        write::program(self, language, &self.vectors())
    }

    fn vectors(&self) -> Vec<Vector> {
        let values = |round: usize| -> Option<Vec<Value<'static>>> {
            let fields = self.fields().iter().enumerate();
            fields.map(|(at, field)| self.sample_value(at, field.encoding, round + at)).collect()
        };
        let vector = |round: usize| {
            let (values, salt) = (values(round)?, 7 * round as u64);
            let mut key = Vec::new();
            self.encode_into(&values, salt, &mut key).ok()?;
            let decoded = self.decode(&key).ok()?;
            let decoded = decoded.into_iter().map(Value::into_owned).collect();
            Some(Vector { values, salt, key, decoded })
        };
        (0..VECTORS).filter_map(vector).collect()
    }

    /// A value that fits a field; another one for each round, as far as there are some.
    fn sample_value(&self, at: usize, encoding: Encoding, round: usize) -> Option<Value<'static>> {
        match encoding {
            Encoding::Number(Number::I64) => {
                let numbers = [-7, 0, i64::MIN, i64::MAX];
                Some(Value::Signed(numbers[round % 4]))
            }
            Encoding::Number(number) => {
                let most = number.greatest() as u64;
                let number = [1_500_000_007, 0, u64::MAX, 1][round % 4].min(most);
                Some(Value::Unsigned(number))
            }
            Encoding::Text(text) => {
                let is_last = self.is_last(at);
                let fits = |value: &&Value<'_>| {
                    let mut key = Vec::new();
                    let open = text.push_open(value, is_last, &mut key);
                    open.and_then(|()| text.push_end(key.len(), is_last, &mut Vec::new())).is_ok()
                };
                let candidates = candidates(text, encoding.width());
                let count = candidates.len();
                let turned = candidates.iter().cycle().skip(round % count);
                turned.take(count).find(fits).cloned()
            }
            Encoding::Md5 | Encoding::Md5Hex(_) => {
                let texts = [
                    "web1",
                    "",
                    "sü.ß",
                    "a longer value, of more than sixty-four bytes, so \
                              that MD5 has two blocks",
                ];
                Some(Value::from(texts[round % 4].to_owned()))
            }
        }
    }
}

fn candidates(text: Text, width: Option<usize>) -> Vec<Value<'static>> {
    if text.is_text {
        let texts = ["web1", "sü.ß", "a.b.example", "z", "\u{7ff}\u{7ff}", "~~"];
        return texts.into_iter().map(|text| Value::from(text.to_owned())).collect();
    }
    match width {
        Some(width) => [0x00, 0x7F, 0xFF].map(|byte| Value::from(vec![byte; width])).into(),
        None => {
            let bytes = [&b"\0\x01\xFF\0"[..], b"key", b"\xFF\xFE", b"\x01\x02"];
            bytes.into_iter().map(|bytes| Value::from(bytes.to_vec())).collect()
        }
    }
}
