//! Splits shell text into tokens.
//!
//! The language is the part of Ruby that HBase's shell users type: names, constants, strings,
//! numbers, symbols, patterns, operators, and the punctuation of calls, arrays and hashes. Strings
//! are bytes, as in Ruby: `"\x00"` is one byte, `'\x00'` is four. The typographic quotes that
//! documents print (`‘t1′`, `“t1”`) are read as quotes.
//!
//! Invariant: every token's span lies on character boundaries of the source, in ascending order.

mod variables;

use std::collections::BTreeSet;
use std::ops::Range;

use self::variables::Variables;
use crate::error::SyntaxError;

/// A token and its position.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// Byte range in the source.
    pub(crate) span: Range<usize>,
    /// Whether white space precedes it: `f [1]` passes an array, `f[1]` indexes.
    pub(crate) is_spaced: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    String(Vec<u8>),
    /// A string with `#{…}` in it.
    Interpolated(Vec<Part>),
    /// `%w[a b]`
    Words(Vec<Vec<u8>>),
    /// `/…/`
    Pattern(Vec<u8>),
    Integer(i64),
    Float(f64),
    /// `:name`
    Symbol(String),
    /// `name:`, a hash key.
    Label(String),
    /// A name with a capital first letter.
    Constant(String),
    /// Any other name.
    Name(String),
    Arrow,
    Comma,
    Dot,
    Equals,
    Minus,
    /// Any other operator.
    Operator(&'static str),
    ParenOpen,
    ParenClose,
    BraceOpen,
    BraceClose,
    BracketOpen,
    BracketClose,
    Newline,
    Semicolon,
    End,
}

/// A part of a string: text, or the tokens of a `#{…}`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(Vec<u8>),
    Code(Vec<Token>),
}

/// Operators, longer ones before those that they begin with.
const OPERATORS: [&str; 40] = [
    "**=", "<=>", "===", "<<=", "||=", "&&=", "...", "**", "==", "!=", "=~", "!~", "<=", ">=",
    "<<", ">>", "&&", "||", "+=", "-=", "*=", "/=", "%=", "|=", "..", "::", "&.", "+", "*", "/",
    "%", "<", ">", "!", "?", "|", "&", "^", ":", "~",
];
/// A `#{…}` within a `#{…}` within … is refused beyond this.
const CODE_DEPTH_MAX: usize = 10;

/// Typographic characters that are read as a single quote.
const SINGLE_QUOTES: [char; 6] = ['‘', '’', '‚', '‛', '′', '‵'];
/// Typographic characters that are read as a double quote.
const DOUBLE_QUOTES: [char; 6] = ['“', '”', '„', '‟', '″', '‶'];

/// The tokens of `source`, the last of them [`TokenKind::End`]. A slash after one of `variables`
/// divides.
///
/// # Errors
/// A character or literal that is not one of the language; an unfinished string is reported as
/// incomplete.
pub(crate) fn tokenize(
    source: &str,
    variables: BTreeSet<String>,
) -> Result<Vec<Token>, SyntaxError> {
    Lexer { source, at: 0, depth: 0, variables: Variables::new(variables) }.tokens()
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    /// How many `#{` are open.
    depth: usize,
    variables: Variables,
}

impl Lexer<'_> {
    /// The tokens up to the end, or inside a `#{` up to its `}`, which is taken.
    fn tokens(&mut self) -> Result<Vec<Token>, SyntaxError> {
        let (mut tokens, mut braces) = (Vec::new(), 0_usize);
        loop {
            let is_spaced = self.skip_blanks();
            let start = self.at;
            let kind = match self.literal(tokens.last(), is_spaced)? {
                Some(literal) => literal,
                None => self.next_kind()?,
            };
            braces += usize::from(kind == TokenKind::BraceOpen);
            let is_over = self.depth > 0 && braces == 0 && kind == TokenKind::BraceClose;
            let kind = match kind {
                TokenKind::BraceClose if is_over => TokenKind::End,
                TokenKind::End if self.depth > 0 => {
                    return Err(SyntaxError::open_string(start, self.at));
                }
                kind => kind,
            };
            braces = braces.saturating_sub(usize::from(kind == TokenKind::BraceClose));
            let is_end = kind == TokenKind::End;
            self.variables.read(tokens.last().map(|token: &Token| &token.kind), &kind);
            tokens.push(Token { kind, span: start..self.at, is_spaced });
            if is_end {
                return Ok(tokens);
            }
        }
    }

    /// A pattern or a list of words, where an operator could not be.
    fn literal(
        &mut self,
        before: Option<&Token>,
        is_spaced: bool,
    ) -> Result<Option<TokenKind>, SyntaxError> {
        let rest = &self.source[self.at..];
        let may_pass = |token: &Token| {
            matches!(token.kind, TokenKind::ParenOpen | TokenKind::Comma | TokenKind::Operator("&"))
        };
        if rest.starts_with(':') && before.is_some_and(may_pass) {
            let operators = ["<=>", "==", "**", "+", "-", "*", "/", "%", "<", ">", "&", "|"];
            let operator = operators.into_iter().find(|one| rest[1..].starts_with(one));
            if let Some(operator) = operator {
                self.at += 1 + operator.len();
                return Ok(Some(TokenKind::Symbol(operator.to_owned())));
            }
        }
        if !rest.starts_with('/') && !rest.starts_with("%w") && !rest.starts_with("%i") {
            return Ok(None);
        }
        let is_after_value =
            before.is_some_and(|token| self.variables.is_operand(&token.kind, is_spaced, rest));
        if is_after_value {
            return Ok(None);
        }
        if rest.starts_with('/') {
            return self.pattern().map(Some);
        }
        let close = match rest[2..].chars().next() {
            Some('[') => ']',
            Some('(') => ')',
            Some('{') => '}',
            _ => return Ok(None),
        };
        let Some(length) = rest[3..].find(close) else {
            return Err(SyntaxError::open_string(self.at, self.source.len()));
        };
        let words = rest[3..3 + length].split_whitespace().map(|word| word.as_bytes().to_vec());
        let words = words.collect();
        self.at += 3 + length + 1;
        Ok(Some(TokenKind::Words(words)))
    }

    /// `/…/`, in which `\\/` is a slash; letters after it are not supported.
    fn pattern(&mut self) -> Result<TokenKind, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let mut bytes = Vec::new();
        while let Some(character) = self.take() {
            match character {
                '/' => {
                    let is_insensitive = self.take_if(|c| c == 'i').is_some();
                    let prefix = if is_insensitive { "(?i)" } else { "" };
                    return Ok(TokenKind::Pattern([prefix.as_bytes(), &bytes].concat()));
                }
                '\\' => match self.take() {
                    Some('/') => bytes.push(b'/'),
                    Some(other) => {
                        bytes.push(b'\\');
                        push_char(&mut bytes, other);
                    }
                    None => break,
                },
                other => push_char(&mut bytes, other),
            }
        }
        Err(SyntaxError::open_string(start, self.at))
    }

    fn peek(&self) -> Option<char> {
        self.source[self.at..].chars().next()
    }

    fn peek_second(&self) -> Option<char> {
        self.source[self.at..].chars().nth(1)
    }

    fn take(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    fn take_if(&mut self, accept: impl Fn(char) -> bool) -> Option<char> {
        self.peek().filter(|c| accept(*c)).inspect(|c| self.at += c.len_utf8())
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(character) = self.take_if(&accept) {
            text.push(character);
        }
        text
    }

    /// Skips blanks, comments and escaped line ends; returns whether there were any.
    fn skip_blanks(&mut self) -> bool {
        let start = self.at;
        loop {
            match self.peek() {
                Some('#') => {
                    self.take_while(|c| c != '\n');
                }
                Some('\n') => break,
                Some('\\') if self.peek_second() == Some('\n') => self.at += 2,
                Some(c) if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
                _ => break,
            }
        }
        self.at > start
    }

    fn next_kind(&mut self) -> Result<TokenKind, SyntaxError> {
        let start = self.at;
        let Some(character) = self.take() else {
            return Ok(TokenKind::End);
        };
        Ok(match character {
            '\n' => TokenKind::Newline,
            ';' => TokenKind::Semicolon,
            ',' => TokenKind::Comma,
            '.' if self.peek() != Some('.') => TokenKind::Dot,
            '(' => TokenKind::ParenOpen,
            ')' => TokenKind::ParenClose,
            '{' => TokenKind::BraceOpen,
            '}' => TokenKind::BraceClose,
            '[' => TokenKind::BracketOpen,
            ']' => TokenKind::BracketClose,
            '-' if self.peek() != Some('=') => TokenKind::Minus,
            '=' if self.take_if(|c| c == '>').is_some() => TokenKind::Arrow,
            '=' if !matches!(self.peek(), Some('=' | '~')) => TokenKind::Equals,
            '\'' => TokenKind::String(self.single_quoted(|c| c == '\'')?),
            '"' => self.double_quoted(|c| c == '"')?,
            c if SINGLE_QUOTES.contains(&c) => {
                TokenKind::String(self.single_quoted(|c| c == '\'' || SINGLE_QUOTES.contains(&c))?)
            }
            c if DOUBLE_QUOTES.contains(&c) => {
                self.double_quoted(|c| c == '"' || DOUBLE_QUOTES.contains(&c))?
            }
            ':' if self.peek().is_some_and(|c| c == '"' || is_name_start(c)) => self.symbol()?,
            c if c.is_ascii_digit() => self.number(start)?,
            c if is_name_start(c) => self.name(start),
            // The line continues on the next one, which has not been read yet.
            '\\' if self.peek().is_none() => {
                let message = "syntax error, unexpected end-of-file";
                return Err(SyntaxError::incomplete(message, self.at));
            }
            c => match OPERATORS.iter().find(|one| self.source[start..].starts_with(**one)) {
                Some(operator) => {
                    self.at = start + operator.len();
                    TokenKind::Operator(operator)
                }
                None => return Err(SyntaxError::unexpected(&format!("'{c}'"), self.at)),
            },
        })
    }

    /// Inside single quotes only `\'` and `\\` are escapes.
    fn single_quoted(&mut self, is_end: impl Fn(char) -> bool) -> Result<Vec<u8>, SyntaxError> {
        let start = self.at;
        let mut bytes = Vec::new();
        while let Some(character) = self.take() {
            if is_end(character) {
                return Ok(bytes);
            }
            if character == '\\'
                && let Some(escaped) = self.take_if(|c| c == '\\' || is_end(c))
            {
                push_char(&mut bytes, escaped);
            } else {
                push_char(&mut bytes, character);
            }
        }
        Err(SyntaxError::open_string(start, self.at))
    }

    fn double_quoted(&mut self, is_end: impl Fn(char) -> bool) -> Result<TokenKind, SyntaxError> {
        let start = self.at;
        let (mut parts, mut bytes) = (Vec::new(), Vec::new());
        while let Some(character) = self.take() {
            match character {
                c if is_end(c) && parts.is_empty() => return Ok(TokenKind::String(bytes)),
                c if is_end(c) => {
                    parts.push(Part::Text(bytes));
                    return Ok(TokenKind::Interpolated(parts));
                }
                '\\' => self.escape(&mut bytes)?,
                '#' if self.take_if(|c| c == '{').is_some() => {
                    if self.depth >= CODE_DEPTH_MAX {
                        return Err(SyntaxError::new("nested too deeply", self.at));
                    }
                    parts.push(Part::Text(std::mem::take(&mut bytes)));
                    self.depth += 1;
                    let tokens = self.tokens();
                    self.depth -= 1;
                    parts.push(Part::Code(tokens?));
                }
                c => push_char(&mut bytes, c),
            }
        }
        Err(SyntaxError::open_string(start, self.at))
    }

    /// What follows a backslash inside double quotes.
    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), SyntaxError> {
        let Some(character) = self.take() else {
            return Ok(());
        };
        match character {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'r' => bytes.push(b'\r'),
            's' => bytes.push(b' '),
            'e' => bytes.push(0x1b),
            'a' => bytes.push(0x07),
            'b' => bytes.push(0x08),
            'f' => bytes.push(0x0c),
            'v' => bytes.push(0x0b),
            '\n' => {}
            'x' => {
                let byte = self.digits(16, 2).ok_or_else(|| self.bad_escape("hex"))?;
                bytes.push(byte as u8);
            }
            'u' => {
                let is_braced = self.take_if(|c| c == '{').is_some();
                let code = self.digits(16, if is_braced { 6 } else { 4 });
                let is_closed = !is_braced || self.take_if(|c| c == '}').is_some();
                let decoded = code.and_then(char::from_u32).filter(|_| is_closed);
                push_char(bytes, decoded.ok_or_else(|| self.bad_escape("Unicode"))?);
            }
            '0'..='7' => {
                self.at -= 1;
                // Ruby keeps the low eight bits of \400 and above.
                bytes.push(self.digits(8, 3).unwrap_or(0) as u8);
            }
            c => push_char(bytes, c),
        }
        Ok(())
    }

    fn bad_escape(&self, what: &str) -> SyntaxError {
        SyntaxError::new(format!("invalid {what} escape"), self.at)
    }

    /// Up to `count_max` digits of this radix; `None` if there are none.
    fn digits(&mut self, radix: u32, count_max: usize) -> Option<u32> {
        let mut value = None;
        for _ in 0..count_max {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            self.at += 1;
            value = Some(value.unwrap_or(0) * radix + digit);
        }
        value
    }

    fn symbol(&mut self) -> Result<TokenKind, SyntaxError> {
        match self.peek() {
            Some('"') => {
                self.at += 1;
                match self.double_quoted(|c| c == '"')? {
                    TokenKind::String(bytes) => {
                        Ok(TokenKind::Symbol(String::from_utf8_lossy(&bytes).into_owned()))
                    }
                    _ => Err(SyntaxError::new("a symbol cannot contain #{…}", self.at)),
                }
            }
            Some(c) if is_name_start(c) => Ok(TokenKind::Symbol(self.take_while(is_name_part))),
            _ => Err(SyntaxError::unexpected("':'", self.at)),
        }
    }

    fn number(&mut self, start: usize) -> Result<TokenKind, SyntaxError> {
        let radix = match (&self.source[start..self.at], self.peek()) {
            ("0", Some('x' | 'X')) => 16,
            ("0", Some('b' | 'B')) => 2,
            _ => 10,
        };
        if radix != 10 {
            self.at += 1;
            let digits = self.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
            return self.integer(&digits, radix);
        }
        let is_digit = |c: char| c.is_ascii_digit() || c == '_';
        self.take_while(is_digit);
        let has_fraction =
            self.peek() == Some('.') && self.peek_second().is_some_and(|c| c.is_ascii_digit());
        if has_fraction {
            self.at += 1;
            self.take_while(is_digit);
        }
        let mut is_float = has_fraction;
        if self.peek().is_some_and(|c| matches!(c, 'e' | 'E'))
            && self.peek_second().is_some_and(|c| c.is_ascii_digit() || c == '-')
        {
            self.at += 2;
            self.take_while(is_digit);
            is_float = true;
        }
        let digits = self.source[start..self.at].replace('_', "");
        if is_float {
            let number = digits.parse().map_err(|_| self.bad_number(&digits))?;
            return Ok(TokenKind::Float(number));
        }
        self.integer(&digits, 10)
    }

    fn integer(&self, digits: &str, radix: u32) -> Result<TokenKind, SyntaxError> {
        let digits = digits.replace('_', "");
        i64::from_str_radix(&digits, radix)
            .map(TokenKind::Integer)
            .map_err(|_| self.bad_number(&digits))
    }

    fn bad_number(&self, digits: &str) -> SyntaxError {
        let reason = if digits.chars().all(|c| c.is_ascii_hexdigit()) && !digits.is_empty() {
            "number too big to convert into 'long'"
        } else {
            "numeric literal without digits"
        };
        SyntaxError::new(reason, self.at)
    }

    fn name(&mut self, start: usize) -> TokenKind {
        self.take_while(is_name_part);
        // A predicate's `?`, but not the first half of `a ? b : c`.
        if !matches!(self.peek_second(), Some('=' | '~')) {
            self.take_if(|c| matches!(c, '?' | '!'));
        }
        let name = self.source[start..self.at].to_owned();
        if self.peek() == Some(':') && self.peek_second() != Some(':') {
            self.at += 1;
            return TokenKind::Label(name);
        }
        if name.starts_with(|c: char| c.is_uppercase()) {
            TokenKind::Constant(name)
        } else {
            TokenKind::Name(name)
        }
    }
}

fn is_name_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn is_name_part(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn push_char(bytes: &mut Vec<u8>, character: char) {
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokenize(source: &str) -> Result<Vec<Token>, SyntaxError> {
        super::tokenize(source, BTreeSet::new())
    }

    fn kinds(source: &str) -> Vec<TokenKind> {
        let mut kinds: Vec<_> =
            tokenize(source).unwrap().into_iter().map(|token| token.kind).collect();
        assert_eq!(kinds.pop(), Some(TokenKind::End));
        kinds
    }

    fn string(source: &str) -> Vec<u8> {
        match kinds(source).as_slice() {
            [TokenKind::String(bytes)] => bytes.clone(),
            other => panic!("{source} is {other:?}"),
        }
    }

    #[test]
    fn quotes_decide_about_escapes() {
        assert_eq!(string(r#""\x00\xFFk\101\e\u00e9\"\x7""#), b"\x00\xffkA\x1b\xc3\xa9\"\x07");
        assert_eq!(string(r"'\x00\'\\n'"), br"\x00'\n");
        assert_eq!(string("‘t1′"), b"t1");
        assert_eq!(string("“a\\x00”"), b"a\x00");
        assert_eq!(string("'it‘s'"), "it‘s".as_bytes());
    }

    #[test]
    fn numbers_names_and_symbols() {
        use TokenKind as K;
        assert_eq!(
            kinds("t.put 1_000, -0x1F, 1.5e2, NAME => :a, b: nil # rest"),
            [
                K::Name("t".into()),
                K::Dot,
                K::Name("put".into()),
                K::Integer(1000),
                K::Comma,
                K::Minus,
                K::Integer(31),
                K::Comma,
                K::Float(150.0),
                K::Comma,
                K::Constant("NAME".into()),
                K::Arrow,
                K::Symbol("a".into()),
                K::Comma,
                K::Label("b".into()),
                K::Name("nil".into()),
            ]
        );
    }

    #[test]
    fn bad_text_is_refused_and_unfinished_text_is_told_apart() {
        for source in ["@", "0x", "99999999999999999999", "\"\\xZZ\"", "$x", "`ls`"] {
            let error = tokenize(source).unwrap_err();
            assert!(!error.is_incomplete(), "{source}: {error:?}");
        }
        for source in ["'abc", "\"abc\\", "‘abc", "list \\", "\\", "\"a#{b", "x = /a"] {
            assert!(tokenize(source).unwrap_err().is_incomplete(), "{source}");
        }
        assert_eq!(kinds("list \\\n 'a'"), kinds("list 'a'"));
        assert!(!tokenize("list \\ 'a'").unwrap_err().is_incomplete());
    }
}
