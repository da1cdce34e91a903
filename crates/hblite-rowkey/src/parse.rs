//! The design language: a key as a line of text.
//!
//! ```text
//! design   = part { "|" part }
//! part     = computed | literal | name ":" type
//! computed = "salt(" count ")"                 a random salt, in one byte or two
//!          | "salt(" count "," names ")"       by a hash of fields; "*": of all that follows
//!          | "salt(" literals [ "," names ] ")" the salts spelled out: salt("a-", "b-")
//!          | "bucket(" name "," count ")"      field % count
//!          | "md5hex(" names "," characters ")"
//!          | "md5(" names [ "," bytes ] ")"
//! type     = "u8" | "u16" | "u32" | "u64" | "reversed_u64" | "i64"
//!          | "timestamp" | "reverse_timestamp" | "md5" | "md5hex(" characters ")"
//!          | ( "str" | "reversed_str" | "domain" | "bytes" ) [ "(" end ")" ]
//! end      = width | "escape" | "rest" | literal of one byte, the delimiter
//! literal  = '"' printable characters, other bytes as \xHH '"'
//! ```
//!
//! `str`, `reversed_str` and `domain` without an end are delimited by `"\x00"`, `bytes` extends to
//! the end of the key.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::design::Design;
use crate::error::{Error, ErrorKind, Result};
use crate::hash::MD5_WIDTH;
use crate::lexer::{Lexer, Token};
use crate::number::Number;
use crate::part::{Bucket, Encoding, Field, HashForm, HashPrefix, Labels, Part, Salt, SaltBy};
use crate::text::{End, Text, Turn};
use crate::value::Quoted;

impl Design {
    /// The design that a text describes; see the head of `parse.rs` and the crate's documentation
    /// for the language.
    ///
    /// # Errors
    /// `Syntax` or `Design`, both with their position: [`Error::pointing_into`].
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { lexer: Lexer::new(text)? };
        let mut parts = Vec::new();
        let mut spans: Vec<Range<usize>> = Vec::new();
        loop {
            let start = parser.lexer.start();
            parts.push(parser.part()?);
            spans.push(start..parser.lexer.end_of_last());
            if !parser.lexer.take(&Token::Bar) {
                break;
            }
        }
        parser.lexer.expect_end()?;
        Self::new(parts).map_err(|error| match error.part().and_then(|part| spans.get(part)) {
            Some(span) => error.at(span.clone()),
            None => error,
        })
    }
}

impl FromStr for Design {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
}

/// An argument of a part.
#[derive(Debug, PartialEq)]
enum Argument {
    Name(String),
    Number(u64),
    Literal(Vec<u8>),
    Star,
}

impl Parser<'_> {
    fn part(&mut self) -> Result<Part> {
        let span = self.lexer.span();
        let name = match self.lexer.next() {
            Some(Token::Literal(bytes)) => return Ok(Part::Literal(bytes)),
            Some(Token::Name(name)) => name,
            _ => {
                return Err(syntax(
                    span,
                    "a part begins here: name:type, salt(…), bucket(…), md5hex(…), md5(…) or \
                     \"literal\"",
                ));
            }
        };
        if self.lexer.take(&Token::Colon) {
            return Ok(Part::Field(Field { name, encoding: self.encoding()? }));
        }
        let arguments = self.arguments()?;
        let span = span.start..self.lexer.end_of_last();
        match name.as_str() {
            "salt" => salt(arguments, span),
            "bucket" => bucket(arguments, span),
            "md5hex" | "md5" => hash(&name, arguments, span),
            _ => Err(syntax(
                span,
                format!(
                    "{name} is not salt, bucket, md5hex or md5; a field is written {name}:type, \
                     for instance {name}:str"
                ),
            )),
        }
    }

    fn encoding(&mut self) -> Result<Encoding> {
        let span = self.lexer.span();
        let Some(Token::Name(kind)) = self.lexer.next() else {
            return Err(syntax(span, "expected a type: u64, timestamp, str, bytes(16), md5 …"));
        };
        let arguments = self.arguments()?;
        let whole = span.start..self.lexer.end_of_last();
        if let Some(number) = Number::ALL.into_iter().find(|number| number.name() == kind) {
            return match arguments[..] {
                [] => Ok(Encoding::Number(number)),
                _ => Err(syntax(whole, format!("{kind} has no arguments"))),
            };
        }
        let text = |is_text, turn, open| {
            let end = end(&arguments, open).map_err(|message| syntax(whole.clone(), message))?;
            Ok(Encoding::Text(Text { is_text, turn, end }))
        };
        match kind.as_str() {
            "str" => text(true, Turn::Plain, End::Delimiter(0)),
            "reversed_str" => text(true, Turn::Reversed, End::Delimiter(0)),
            "domain" => text(true, Turn::Domain, End::Delimiter(0)),
            "bytes" => text(false, Turn::Plain, End::Rest),
            "md5" if arguments.is_empty() => Ok(Encoding::Md5),
            "md5hex" => match arguments[..] {
                [Argument::Number(count)] => {
                    Ok(Encoding::Md5Hex(u8::try_from(count).unwrap_or(u8::MAX)))
                }
                _ => Err(syntax(whole, "md5hex needs the number of characters: md5hex(6)")),
            },
            _ => Err(syntax(
                span,
                format!(
                    "{kind} is not a type: use u8, u16, u32, u64, reversed_u64, \
                     bit_reversed_u64, i64, timestamp, reverse_timestamp, str, reversed_str, \
                     domain, bytes, md5, md5hex(6)"
                ),
            )),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Argument>> {
        let mut arguments = Vec::new();
        if !self.lexer.take(&Token::Open) {
            return Ok(arguments);
        }
        loop {
            let span = self.lexer.span();
            arguments.push(match self.lexer.next() {
                Some(Token::Name(name)) => Argument::Name(name),
                Some(Token::Number(number)) => Argument::Number(number),
                Some(Token::Literal(bytes)) => Argument::Literal(bytes),
                Some(Token::Star) => Argument::Star,
                _ => return Err(syntax(span, "expected a number, a name or a \"literal\"")),
            });
            let span = self.lexer.span();
            match self.lexer.next() {
                Some(Token::Comma) => {}
                Some(Token::Close) => return Ok(arguments),
                _ => return Err(syntax(span, "expected a comma or the closing parenthesis")),
            }
        }
    }
}

fn salt(arguments: Vec<Argument>, span: Range<usize>) -> Result<Part> {
    let wrong = || {
        syntax(
            span.clone(),
            "a salt is salt(16), salt(16, field), salt(16, *) or salt(\"a-\", \"b-\")",
        )
    };
    let (mut texts, mut names, mut count, mut is_of_rest) = (vec![], vec![], None, false);
    for argument in arguments {
        let is_label_time = names.is_empty() && !is_of_rest;
        match argument {
            Argument::Number(number) if is_label_time && texts.is_empty() && count.is_none() => {
                count = Some(u32::try_from(number).unwrap_or(u32::MAX));
            }
            Argument::Literal(text) if is_label_time && count.is_none() => texts.push(text),
            Argument::Name(name) if !is_of_rest => names.push(name),
            Argument::Star if is_label_time => is_of_rest = true,
            _ => return Err(wrong()),
        }
    }
    let labels = match count {
        Some(count) => Labels::Numbered(count),
        None if texts.is_empty() => return Err(wrong()),
        None => Labels::Texts(texts),
    };
    let by = match names.is_empty() {
        _ if is_of_rest => SaltBy::Rest,
        true => SaltBy::Random,
        false => SaltBy::Fields(names),
    };
    Ok(Part::Salt(Salt { labels, by }))
}

fn bucket(arguments: Vec<Argument>, span: Range<usize>) -> Result<Part> {
    match <[Argument; 2]>::try_from(arguments) {
        Ok([Argument::Name(field), Argument::Number(count)]) => {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            Ok(Part::Bucket(Bucket { field, count }))
        }
        _ => Err(syntax(span, "a bucket is bucket(field, count): bucket(ts, 16)")),
    }
}

fn hash(name: &str, mut arguments: Vec<Argument>, span: Range<usize>) -> Result<Part> {
    let is_hex = name == "md5hex";
    let width = match arguments.last() {
        Some(Argument::Number(width)) => {
            let width = u8::try_from(*width).unwrap_or(u8::MAX);
            arguments.pop();
            Some(width)
        }
        _ => None,
    };
    let form = match width {
        Some(width) if is_hex => HashForm::Hex(width),
        Some(width) => HashForm::Bytes(width),
        None if is_hex => {
            return Err(syntax(span, "md5hex needs fields and a number: md5hex(id, 6)"));
        }
        None => HashForm::Bytes(MD5_WIDTH as u8),
    };
    let fields = arguments.into_iter().map(|argument| match argument {
        Argument::Name(name) => Ok(name),
        _ => Err(syntax(span.clone(), format!("{name} hashes fields by name: {name}(id, 6)"))),
    });
    Ok(Part::Hash(HashPrefix { fields: fields.collect::<Result<_>>()?, form }))
}

fn end(arguments: &[Argument], open: End) -> std::result::Result<End, String> {
    match arguments {
        [] => Ok(open),
        [Argument::Number(width)] => u16::try_from(*width)
            .map(End::Fixed)
            .map_err(|_| format!("{width} bytes are more than the 32767 of a row key")),
        [Argument::Name(name)] if name == "escape" => Ok(End::Escaped),
        [Argument::Name(name)] if name == "rest" => Ok(End::Rest),
        [Argument::Literal(bytes)] if bytes.len() == 1 => Ok(End::Delimiter(bytes[0])),
        [Argument::Literal(bytes)] => {
            Err(format!("a delimiter is one byte, and {} has {}", Quoted(bytes), bytes.len()))
        }
        _ => Err("the end is a width (16), escape, rest or a delimiter (\"-\")".to_owned()),
    }
}

fn syntax(span: Range<usize>, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Syntax, message).at(span)
}

/// The design in its language; [`Design::parse`] reads it back.
impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts().iter().enumerate() {
            if index > 0 {
                f.write_str("|")?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Salt(salt) => write!(f, "{salt}"),
            Self::Bucket(bucket) => write!(f, "bucket({}, {})", bucket.field, bucket.count),
            Self::Hash(hash) => {
                let names = hash.fields.join(", ");
                match hash.form {
                    HashForm::Hex(count) => write!(f, "md5hex({names}, {count})"),
                    HashForm::Bytes(16) => write!(f, "md5({names})"),
                    HashForm::Bytes(count) => write!(f, "md5({names}, {count})"),
                }
            }
            Self::Literal(bytes) => write!(f, "{}", Quoted(bytes)),
            Self::Field(field) => write!(f, "{}:{}", field.name, field.encoding),
        }
    }
}

impl fmt::Display for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.labels {
            Labels::Numbered(count) => write!(f, "salt({count}")?,
            Labels::Texts(texts) => {
                let texts: Vec<String> =
                    texts.iter().map(|text| Quoted(text).to_string()).collect();
                write!(f, "salt({}", texts.join(", "))?;
            }
        }
        match &self.by {
            SaltBy::Random => f.write_str(")"),
            SaltBy::Rest => f.write_str(", *)"),
            SaltBy::Fields(names) => write!(f, ", {})", names.join(", ")),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => f.write_str(number.name()),
            Self::Md5 => f.write_str("md5"),
            Self::Md5Hex(count) => write!(f, "md5hex({count})"),
            Self::Text(text) => {
                f.write_str(text.name())?;
                match (text.end, text.is_text) {
                    (End::Delimiter(0), true) | (End::Rest, false) => Ok(()),
                    (End::Fixed(width), _) => write!(f, "({width})"),
                    (End::Delimiter(byte), _) => write!(f, "({})", Quoted(&[byte])),
                    (End::Escaped, _) => f.write_str("(escape)"),
                    (End::Rest, true) => f.write_str("(rest)"),
                }
            }
        }
    }
}
