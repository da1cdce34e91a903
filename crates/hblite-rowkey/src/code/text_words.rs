//! How each language writes text and bytes, and reads them.

use super::Language;
use super::Language::{Go, Java, Python, Rust};
use crate::text::{End, Text, Turn};

impl Language {
    /// The bytes of text, after its turn.
    fn raw(self, name: &str, text: Text) -> String {
        if !text.is_text {
            return if self == Rust { format!("{name}.to_vec()") } else { name.to_owned() };
        }
        let turned = self.turn(name, text.turn);
        match self {
            Python => format!("{turned}.encode()"),
            Java => format!("{turned}.getBytes(StandardCharsets.UTF_8)"),
            Go => format!("[]byte({turned})"),
            Rust => format!("{turned}.as_bytes().to_vec()"),
        }
    }

    fn turn(self, name: &str, turn: Turn) -> String {
        match (turn, self) {
            (Turn::Plain, _) => name.to_owned(),
            (Turn::Reversed, Python) => format!("{name}[::-1]"),
            (Turn::Reversed, Rust) => format!("{name}.chars().rev().collect::<String>()"),
            (Turn::Reversed, _) => format!("reversed({name})"),
            (Turn::Domain, Python) => format!("\".\".join({name}.split(\".\")[::-1])"),
            (Turn::Domain, Rust) => format!("domain(&{name})"),
            (Turn::Domain, _) => format!("domain({name})"),
        }
    }

    /// Text without the mark for its end.
    pub(super) fn text(self, name: &str, text: Text, is_last: bool) -> String {
        let (raw, q) = (self.raw(name, text), self.q());
        match text.end {
            End::Fixed(width) => format!("fixed({raw}, {width}, {}){q}", self.truth(text.is_text)),
            End::Delimiter(delimiter) if !is_last => format!("delimited({raw}, {delimiter}){q}"),
            End::Escaped if !is_last => match self {
                Python => format!("{raw}.replace(b\"\\0\", b\"\\0\\xff\")"),
                Go => format!("bytes.ReplaceAll({raw}, []byte{{0}}, []byte{{0, 0xFF}})"),
                _ => format!("escaped({})", self.of(&raw)),
            },
            _ => raw,
        }
    }

    /// The mark for the end of a text: an expression with its bytes, to which it is added.
    pub(super) fn ended(self, open: &str, text: Text, is_last: bool) -> Option<String> {
        match text.end {
            End::Fixed(_) if !text.is_text => None,
            End::Fixed(width) => Some(match self {
                Python => format!("{open}.ljust({width}, b\"\\0\")"),
                Java => format!("Arrays.copyOf({open}, {width})"),
                Go => format!("append({open}, make([]byte, {width}-len({open}))...)"),
                Rust => format!("padded(&{open}, {width})"),
            }),
            End::Delimiter(delimiter) if !is_last => Some(self.with_end(open, &[delimiter])),
            End::Escaped if !is_last => Some(self.with_end(open, &[0, 1])),
            _ => None,
        }
    }

    fn with_end(self, open: &str, end: &[u8]) -> String {
        match self {
            Python => format!("{open} + {}", self.unhex(end)),
            Java => format!("join({open}, {})", self.unhex(end)),
            Go => self.join(&[open.to_owned(), self.unhex(end)]),
            Rust => format!("[&{open}[..], &{}].concat()", self.unhex(end)),
        }
    }

    /// Text that is read from `r`.
    pub(super) fn read_text(self, text: Text, is_last: bool) -> String {
        let q = self.q();
        let taken = match text.end {
            End::Fixed(width) => {
                let taken = format!("r.take({width}){q}");
                match (text.is_text, self) {
                    (false, _) => taken,
                    (true, Python) => format!("{taken}.rstrip(b\"\\0\")"),
                    (true, Go) => format!("bytes.TrimRight({taken}, \"\\x00\")"),
                    (true, _) => format!("trimmed({taken})"),
                }
            }
            End::Delimiter(delimiter) if !is_last => match self {
                Python => format!("r.until({})", self.unhex(&[delimiter])),
                _ => format!("r.until({delimiter}){q}"),
            },
            End::Escaped if !is_last => format!("r.unescaped(){q}"),
            _ => match self {
                Java => "r.rest()".to_owned(),
                Python => "r.take(len(r.key))".to_owned(),
                Go => "r.take(len(r.key))".to_owned(),
                Rust => "r.take(r.0.len())?".to_owned(),
            },
        };
        if !text.is_text {
            return taken;
        }
        let decoded = match self {
            Python => format!("{taken}.decode()"),
            Java => format!("new String({taken}, StandardCharsets.UTF_8)"),
            Go => format!("string({taken})"),
            Rust => format!("text({taken})?"),
        };
        self.turn(&decoded, text.turn)
    }
}
