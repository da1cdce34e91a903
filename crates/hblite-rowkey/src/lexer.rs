//! Tokens of the design language, each with its position in the text.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    Number(u64),
    Literal(Vec<u8>),
    Bar,
    Colon,
    Comma,
    Open,
    Close,
    Star,
}

/// The tokens of a text, read in order.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    tokens: std::iter::Peekable<std::vec::IntoIter<(Token, Range<usize>)>>,
    end_of_last: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Result<Self> {
        let mut tokens = Vec::new();
        let mut at = 0;
        while let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) {
            if character.is_whitespace() {
                at += character.len_utf8();
                continue;
            }
            let (token, length) = token(&text[at..], character, at)?;
            tokens.push((token, at..at + length));
            at += length;
        }
        Ok(Self { text, tokens: tokens.into_iter().peekable(), end_of_last: 0 })
    }

    /// The position of the next token; after the last one, the end of the text.
    pub(crate) fn span(&mut self) -> Range<usize> {
        let end = self.text.len();
        self.tokens.peek().map_or(end..end, |(_, span)| span.clone())
    }

    pub(crate) fn start(&mut self) -> usize {
        self.span().start
    }

    pub(crate) fn end_of_last(&self) -> usize {
        self.end_of_last
    }

    pub(crate) fn next(&mut self) -> Option<Token> {
        let (token, span) = self.tokens.next()?;
        self.end_of_last = span.end;
        Some(token)
    }

    /// Consumes the next token if it is this one.
    pub(crate) fn take(&mut self, wanted: &Token) -> bool {
        let is_wanted = self.tokens.peek().is_some_and(|(token, _)| token == wanted);
        if is_wanted {
            self.next();
        }
        is_wanted
    }

    pub(crate) fn expect_end(&mut self) -> Result<()> {
        match self.tokens.peek() {
            None => Ok(()),
            Some((_, span)) => {
                let message = "the part ends here: separate the next one with |";
                Err(Error::new(ErrorKind::Syntax, message).at(span.clone()))
            }
        }
    }
}

/// The token at the start of `text`, which is at position `at`, and its length.
fn token(text: &str, first: char, at: usize) -> Result<(Token, usize)> {
    let refused =
        |length: usize, message: String| Error::new(ErrorKind::Syntax, message).at(at..at + length);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match first {
        '|' => Ok((Token::Bar, 1)),
        ':' => Ok((Token::Colon, 1)),
        ',' => Ok((Token::Comma, 1)),
        '(' => Ok((Token::Open, 1)),
        ')' => Ok((Token::Close, 1)),
        '*' => Ok((Token::Star, 1)),
        '"' => {
            let (bytes, length) = literal(text, at)?;
            Ok((Token::Literal(bytes), length))
        }
        '0'..='9' => {
            let length = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
            let number = text[..length].parse();
            let number = number.map_err(|_| {
                refused(length, format!("{} is not a number that fits here", &text[..length]))
            })?;
            Ok((Token::Number(number), length))
        }
        'a'..='z' | 'A'..='Z' | '_' => {
            let length = text.find(|c: char| !is_name(c)).unwrap_or(text.len());
            Ok((Token::Name(text[..length].to_owned()), length))
        }
        other => Err(refused(
            other.len_utf8(),
            format!("{other:?} has no meaning in a design; other bytes go into a \"literal\""),
        )),
    }
}

fn literal(text: &str, at: usize) -> Result<(Vec<u8>, usize)> {
    let source = text.as_bytes();
    let mut bytes = Vec::new();
    let mut index = 1;
    while let Some(&byte) = source.get(index) {
        match byte {
            b'"' => return Ok((bytes, index + 1)),
            b'\\' => {
                let hex = |offset: usize| {
                    source.get(index + offset).and_then(|byte| char::from(*byte).to_digit(16))
                };
                match (source.get(index + 1), hex(2), hex(3)) {
                    (Some(b'x'), Some(high), Some(low)) => bytes.push((high << 4 | low) as u8),
                    _ => {
                        let message =
                            "after a backslash, write x and two hexadecimal digits: \\x00";
                        return Err(
                            Error::new(ErrorKind::Syntax, message).at(at + index..at + index + 1)
                        );
                    }
                }
                index += 4;
            }
            byte => {
                bytes.push(byte);
                index += 1;
            }
        }
    }
    let message = "this quote is not closed";
    Err(Error::new(ErrorKind::Syntax, message).at(at..at + 1))
}
