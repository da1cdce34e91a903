//! How each language writes an operation.

use std::fmt::Write as _;

use super::Language;
use super::Language::{Go, Java, Python, Rust};
use crate::design::Design;
use crate::number::Number;
use crate::part::{Encoding, HashForm, Labels, numbered_width};
use crate::value::Value;

/// Names that a parameter must not have, in any of the languages.
const RESERVED: &[&str] = &[
    "abstract",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "boolean",
    "box",
    "break",
    "byte",
    "bytes",
    "case",
    "catch",
    "chan",
    "char",
    "class",
    "const",
    "continue",
    "crate",
    "def",
    "default",
    "defer",
    "del",
    "do",
    "double",
    "dyn",
    "elif",
    "else",
    "encode",
    "decode",
    "enum",
    "err",
    "errors",
    "escaped",
    "except",
    "extends",
    "extern",
    "false",
    "final",
    "finally",
    "fixed",
    "float",
    "fmt",
    "fn",
    "for",
    "from",
    "func",
    "global",
    "go",
    "goto",
    "hash",
    "hashlib",
    "hex",
    "hexed",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "instanceof",
    "int",
    "interface",
    "is",
    "join",
    "key",
    "lambda",
    "let",
    "long",
    "loop",
    "main",
    "map",
    "match",
    "md5",
    "mod",
    "move",
    "mut",
    "native",
    "new",
    "nil",
    "nonlocal",
    "not",
    "null",
    "number",
    "or",
    "package",
    "padded",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "range",
    "reader",
    "ref",
    "rest",
    "return",
    "salt",
    "select",
    "self",
    "short",
    "signed",
    "slices",
    "static",
    "strictfp",
    "string",
    "strings",
    "struct",
    "super",
    "switch",
    "synchronized",
    "text",
    "this",
    "throw",
    "throws",
    "trait",
    "transient",
    "trimmed",
    "true",
    "try",
    "turned",
    "type",
    "unhex",
    "union",
    "unsafe",
    "use",
    "value",
    "var",
    "virtual",
    "void",
    "volatile",
    "where",
    "while",
    "with",
    "yield",
    "delimited",
    "reversed",
    "domain",
    "digest",
    "caught",
    "binary",
    "bits",
    "encoding",
    "r",
];

/// The names of a design's fields as parameters, each once.
pub(super) fn names(design: &Design) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for field in design.fields() {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let letters = field.name.chars();
        let mut name: String =
            letters.map(|letter| if is_letter(letter) { letter } else { '_' }).collect();
        if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
            name.insert(0, 'f');
        }
        let is_part = |name: &str| {
            let number = name.strip_prefix('p').unwrap_or("-");
            number.bytes().all(|byte| byte.is_ascii_digit())
        };
        while RESERVED.contains(&name.to_lowercase().as_str())
            || names.contains(&name)
            || is_part(&name)
        {
            name.push_str("_field");
        }
        names.push(name);
    }
    names
}

/// Hexadecimal digits.
pub(super) fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

impl Number {
    /// The greatest number as it is passed, and the mask.
    fn limits(self) -> (u64, u64) {
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::Timestamp => (self.greatest() as u64, 0),
            Self::U64 | Self::BitReversedU64 => (u64::MAX, 0),
            Self::ReversedU64 => (u64::MAX, u64::MAX),
            Self::I64 => (u64::MAX, 1 << 63),
            Self::ReverseTimestamp => (i64::MAX as u64, i64::MAX as u64),
        }
    }
}

impl Language {
    /// What follows a call that may fail.
    pub(super) fn q(self) -> &'static str {
        if self == Rust { "?" } else { "" }
    }

    /// An argument that is not consumed.
    pub(super) fn of(self, name: &str) -> String {
        if self == Rust { format!("&{name}") } else { name.to_owned() }
    }

    fn big(self, number: u64) -> String {
        match self {
            Java => format!("0x{number:X}L"),
            _ => format!("0x{number:X}"),
        }
    }

    pub(super) fn truth(self, is_true: bool) -> &'static str {
        match (self, is_true) {
            (Python, true) => "True",
            (Python, false) => "False",
            (_, true) => "true",
            (_, false) => "false",
        }
    }

    /// The type of a parameter.
    pub(super) fn parameter(self, name: &str, encoding: Encoding) -> String {
        let kind = match (self, encoding) {
            (Python, _) => return name.to_owned(),
            (Java, Encoding::Number(_)) => "long",
            (Go | Rust, Encoding::Number(Number::I64)) => {
                if self == Go {
                    "int64"
                } else {
                    "i64"
                }
            }
            (Go | Rust, Encoding::Number(_)) => {
                if self == Go {
                    "uint64"
                } else {
                    "u64"
                }
            }
            (Java, Encoding::Text(text)) if !text.is_text => "byte[]",
            (Go, Encoding::Text(text)) if !text.is_text => "[]byte",
            (Rust, Encoding::Text(text)) if !text.is_text => "&[u8]",
            (Java, _) => "String",
            (Go, _) => "string",
            (Rust, _) => "&str",
        };
        match self {
            Java => format!("{kind} {name}"),
            Go => format!("{name} {kind}"),
            _ => format!("{name}: {kind}"),
        }
    }

    /// The type of a decoded value.
    pub(super) fn decoded(self, encoding: Encoding) -> &'static str {
        let is_text = matches!(encoding, Encoding::Text(text) if text.is_text);
        match (self, encoding) {
            (Go, Encoding::Number(Number::I64)) => "int64",
            (Go, Encoding::Number(_)) => "uint64",
            (Go, _) => {
                if is_text {
                    "string"
                } else {
                    "[]byte"
                }
            }
            (_, Encoding::Number(Number::I64)) => "i64",
            (_, Encoding::Number(_)) => "u64",
            _ => {
                if is_text {
                    "String"
                } else {
                    "Vec<u8>"
                }
            }
        }
    }

    /// A new variable with bytes.
    pub(super) fn variable(self, name: &str, expression: &str) -> String {
        match self {
            Python => format!("{name} = {expression}"),
            Java => format!("byte[] {name} = {expression};"),
            Go => format!("{name} := {expression}"),
            Rust => format!("let {name} = {expression};"),
        }
    }

    pub(super) fn join(self, names: &[String]) -> String {
        match self {
            Python => format!("b\"\".join([{}])", names.join(", ")),
            Java => format!("join({})", names.join(", ")),
            Go => format!("bytes.Join([][]byte{{{}}}, nil)", names.join(", ")),
            Rust => {
                let slices: Vec<String> = names.iter().map(|name| format!("&{name}[..]")).collect();
                format!("[{}].concat()", slices.join(", "))
            }
        }
    }

    pub(super) fn unhex(self, bytes: &[u8]) -> String {
        match self {
            Python => format!("bytes.fromhex(\"{}\")", digits(bytes)),
            _ => format!("unhex(\"{}\")", digits(bytes)),
        }
    }

    /// A number that is passed to `number`, from a parameter.
    pub(super) fn plain(self, name: &str, number: Number) -> String {
        match (self, number) {
            (Python, Number::I64) => format!("signed({name})"),
            (Go, Number::I64) => format!("uint64({name})"),
            (Rust, Number::I64) => format!("{name} as u64"),
            (Python, Number::BitReversedU64) => {
                format!("turned(value(number({name}, 8, 2**64 - 1, 0), 2**64 - 1, 0))")
            }
            (Java, Number::BitReversedU64) => format!("Long.reverse({name})"),
            (Go, Number::BitReversedU64) => format!("bits.Reverse64({name})"),
            (Rust, Number::BitReversedU64) => format!("{name}.reverse_bits()"),
            _ => name.to_owned(),
        }
    }

    /// The bytes of a number.
    pub(super) fn number(self, plain: &str, number: Number) -> String {
        let ((most, mask), width) = (number.limits(), number.width());
        let (most, mask) = (self.big(most), self.big(mask));
        format!("number({plain}, {width}, {most}, {mask}){}", self.q())
    }

    /// The number in taken bytes.
    pub(super) fn read_number(self, taken: &str, number: Number) -> String {
        let (most, mask) = number.limits();
        let (most, mask, q) = (self.big(most), self.big(mask), self.q());
        let read = format!("value({}, {most}, {mask}){q}", self.of(taken));
        match (self, number) {
            (Python, Number::I64) => format!("({read} ^ 2**63) - 2**63"),
            (Go, Number::I64) => format!("int64({read})"),
            (Rust, Number::I64) => format!("{read} as i64"),
            (Python, Number::BitReversedU64) => format!("turned({read})"),
            (Java, Number::BitReversedU64) => format!("Long.reverse({read})"),
            (Go, Number::BitReversedU64) => format!("bits.Reverse64({read})"),
            (Rust, Number::BitReversedU64) => format!("{read}.reverse_bits()"),
            _ => read,
        }
    }

    /// A digest of bytes, or the beginning of it.
    pub(super) fn digest(self, data: &str, form: HashForm) -> String {
        let data = self.of(data);
        let digest = match self {
            Python => format!("hashlib.md5({data}).digest()"),
            Go => format!("digest({data})"),
            _ => format!("md5({data})"),
        };
        match (form, self) {
            (HashForm::Hex(count), Python) => format!("{digest}.hex().encode()[:{count}]"),
            (HashForm::Hex(count), Java) => format!("Arrays.copyOf(hexed({digest}), {count})"),
            (HashForm::Hex(count), Go) => format!("[]byte(hex.EncodeToString({digest}))[:{count}]"),
            (HashForm::Hex(count), Rust) => format!("hexed(&{digest})[..{count}].to_vec()"),
            (HashForm::Bytes(count), Java) => format!("Arrays.copyOf({digest}, {count})"),
            (HashForm::Bytes(count), Rust) => format!("{digest}[..{count}].to_vec()"),
            (HashForm::Bytes(count), _) => format!("{digest}[:{count}]"),
        }
    }

    /// The value of a field of text or bytes as the bytes that are hashed.
    pub(super) fn hashed(self, name: &str) -> String {
        match self {
            Python => format!("{name}.encode()"),
            Java => format!("{name}.getBytes(StandardCharsets.UTF_8)"),
            Go => format!("[]byte({name})"),
            Rust => format!("{name}.as_bytes()"),
        }
    }

    /// The remainder of a number without sign.
    pub(super) fn remainder(self, number: &str, count: u32) -> String {
        match self {
            Java => format!("Long.remainderUnsigned({number}, {count})"),
            _ => format!("{number} % {count}"),
        }
    }

    /// A number of a bucket, which is never of a type with a sign.
    pub(super) fn unsigned(self, name: &str) -> String {
        match self {
            Python => format!("value(number({name}, 8, 2**64 - 1, 0), 2**64 - 1, 0)"),
            _ => name.to_owned(),
        }
    }

    /// The label with this index.
    pub(super) fn label(self, index: &str, labels: &Labels) -> String {
        match labels {
            Labels::Numbered(count) => {
                let (width, q) = (numbered_width(*count), self.q());
                format!("number({index}, {width}, 0xFFFF, 0){q}")
            }
            Labels::Texts(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| self.unhex(text)).collect();
                let texts = texts.join(", ");
                match self {
                    Python => format!("[{texts}][{index}]"),
                    Java => format!("new byte[][] {{{texts}}}[(int) {index}]"),
                    Go => format!("[][]byte{{{texts}}}[{index}]"),
                    Rust => format!("[{texts}][({index}) as usize].clone()"),
                }
            }
        }
    }

    /// A value in the program.
    pub(super) fn literal(self, value: &Value<'_>) -> String {
        match (value, self) {
            (Value::Unsigned(number), Java) => format!("{}L", *number as i64),
            (Value::Unsigned(number), _) => number.to_string(),
            (Value::Signed(number), Java) => format!("{number}L"),
            (Value::Signed(number), _) => number.to_string(),
            (Value::Text(text), _) => format!("\"{text}\""),
            (Value::Bytes(bytes) | Value::Digest(bytes), _) => self.unhex(bytes),
        }
    }
}
