//! Java's character classes and escapes, translated to the syntax of the `regex` crate.

use std::fmt::Write as _;

use super::RegexFlags;
use super::translate::Translator;
use crate::error::Result;

/// Maximum nesting of classes.
const DEPTH_MAX: usize = 64;

/// Java's horizontal and vertical white space, as the insides of classes.
const HORIZONTAL: &str = r"\x20\t\u{A0}\u{1680}\u{180E}\u{2000}-\u{200A}\u{202F}\u{205F}\u{3000}";
const VERTICAL: &str = r"\n\x0B\x0C\r\u{85}\u{2028}\u{2029}";

impl Translator<'_> {
    /// The class that begins here, to its end.
    pub(super) fn class(&mut self) -> Result<String> {
        let mut out = String::new();
        self.nested_class(&mut out, 0)?;
        let folds = self.has(RegexFlags::CASE_INSENSITIVE) && self.has(RegexFlags::UNICODE_CASE);
        Ok(if folds { format!("(?i:{out})") } else { out })
    }

    fn nested_class(&mut self, out: &mut String, depth: usize) -> Result<()> {
        let start = self.at;
        if depth > DEPTH_MAX {
            return Err(self.error("Character classes are nested too deep", start));
        }
        self.at += 1;
        out.push('[');
        if self.peek() == Some('^') {
            self.at += 1;
            out.push('^');
        }
        let mut is_empty = true;
        loop {
            self.skip_comments();
            let Some(next) = self.peek() else {
                return Err(self.error("Unclosed character class", self.source.len() - 1));
            };
            match next {
                ']' if !is_empty => {
                    self.at += 1;
                    out.push(']');
                    return Ok(());
                }
                '[' => self.nested_class(out, depth + 1)?,
                '&' if self.peek_second() == Some('&') => {
                    self.at += 2;
                    self.skip_comments();
                    // A missing operand is ignored.
                    if !is_empty && self.peek() != Some(']') {
                        out.push_str("&&");
                    }
                    continue;
                }
                _ => self.class_member(out)?,
            }
            is_empty = false;
        }
    }

    /// A character, a range, or an escape that represents many characters.
    fn class_member(&mut self, out: &mut String) -> Result<()> {
        if self.peek() == Some('\\') {
            let next = self.peek_second().unwrap_or('\\');
            if next == 'Q' {
                self.at += 2;
                while let Some(c) = self.quoted() {
                    self.push_range(out, c, c);
                }
                return Ok(());
            }
            self.at += 1;
            if let Some(set) = self.class_escape(next)? {
                out.push_str(&set);
                return Ok(());
            }
            self.at -= 1;
        }
        let start = self.at;
        let low = self.class_character()?;
        let mut high = low;
        let is_range = self.peek() == Some('-')
            && self.peek_second().is_some_and(|second| second != '[' && second != ']');
        if is_range {
            self.at += 1;
            high = self.class_character()?;
            if high < low {
                return Err(self.error("Illegal character range", start));
            }
        }
        self.push_range(out, low, high);
        Ok(())
    }

    fn class_character(&mut self) -> Result<char> {
        let Some(next) = self.peek() else {
            return Err(self.error("Unclosed character class", self.at - 1));
        };
        self.at += 1;
        if next == '\\' { self.escaped_character() } else { Ok(next) }
    }

    fn push_range(&self, out: &mut String, low: char, high: char) {
        let mut push = |low: u32, high: u32| {
            let _ = write!(out, "\\x{{{low:X}}}-\\x{{{high:X}}}");
        };
        push(low as u32, high as u32);
        if self.has(RegexFlags::CASE_INSENSITIVE) && !self.has(RegexFlags::UNICODE_CASE) {
            for (first, last, other) in [('a', 'z', 'A'), ('A', 'Z', 'a')] {
                let (from, to) = (low.max(first) as u32, high.min(last) as u32);
                if from <= to {
                    let shift = |c: u32| c - first as u32 + other as u32;
                    push(shift(from), shift(to));
                }
            }
        }
    }

    /// The class for `\d`, `\p{Lu}` and the like, if the escape `next` is one. Before the call, the
    /// position is at `next`; afterwards, after the escape.
    pub(super) fn class_escape(&mut self, next: char) -> Result<Option<String>> {
        let unicode = self.has(RegexFlags::UNICODE_CHARACTER_CLASS);
        let members = match next.to_ascii_lowercase() {
            'd' => {
                if unicode {
                    r"\d"
                } else {
                    "0-9"
                }
            }
            'w' => {
                if unicode {
                    r"\w"
                } else {
                    "0-9A-Za-z_"
                }
            }
            's' => {
                if unicode {
                    r"\s"
                } else {
                    r"\t\n\x0B\x0C\r\x20"
                }
            }
            'h' => HORIZONTAL,
            'v' => VERTICAL,
            'p' => return self.property(next == 'P').map(Some),
            _ => return Ok(None),
        };
        self.at += 1;
        let not = if next.is_ascii_uppercase() { "^" } else { "" };
        Ok(Some(format!("[{not}{members}]")))
    }

    /// `\p{name}` or `\pX`, from the `p` on.
    fn property(&mut self, negated: bool) -> Result<String> {
        let start = self.at;
        self.at += 1;
        let mut name = String::new();
        if self.peek() == Some('{') {
            let rest = &self.source[self.at + 1..];
            let Some(length) = rest.iter().position(|c| *c == '}') else {
                return Err(self.error("Unclosed character family", self.source.len() - 1));
            };
            name.extend(&rest[..length]);
            self.at += length + 2;
        } else if let Some(c) = self.peek() {
            name.push(c);
            self.at += 1;
        }
        let known = if self.has(RegexFlags::CASE_INSENSITIVE) { cased(&name) } else { &name };
        let members = property_members(known, self.has(RegexFlags::UNICODE_CHARACTER_CLASS));
        let Some(members) = members else {
            let what = format!("Unknown character property name {{{name}}}");
            return Err(self.error(&what, start));
        };
        let not = if negated { "^" } else { "" };
        Ok(format!("[{not}{members}]"))
    }

    /// The character of an escape that represents one, starting after the backslash.
    pub(super) fn escaped_character(&mut self) -> Result<char> {
        let start = self.at;
        let Some(next) = self.peek() else {
            return Err(self.error("Unexpected end after \\", start - 1));
        };
        self.at += 1;
        let code = match next {
            't' => 0x09,
            'n' => 0x0a,
            'r' => 0x0d,
            'f' => 0x0c,
            'a' => 0x07,
            'e' => 0x1b,
            '0' => return self.octal(start),
            'x' if self.peek() == Some('{') => return self.braced_hex(start),
            'x' => self.hex(2, "Illegal hexadecimal escape sequence")?,
            'u' => return self.utf16(),
            'c' => match self.peek() {
                Some(control) => {
                    self.at += 1;
                    control as u32 ^ 64
                }
                None => return Err(self.error("Illegal control escape sequence", start)),
            },
            _ if next.is_ascii_alphabetic() => {
                return Err(self.error("Illegal/unsupported escape sequence", start));
            }
            _ => return Ok(next),
        };
        self.character(code, start)
    }

    fn character(&self, code: u32, start: usize) -> Result<char> {
        char::from_u32(code).ok_or_else(|| self.error("Not a character", start))
    }

    fn octal(&mut self, start: usize) -> Result<char> {
        let mut code = 0;
        for _ in 0..3 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else {
                break;
            };
            if code * 8 + digit > 0o377 {
                break;
            }
            code = code * 8 + digit;
            self.at += 1;
        }
        if self.at == start + 1 {
            return Err(self.error("Illegal octal escape sequence", start));
        }
        self.character(code, start)
    }

    fn braced_hex(&mut self, start: usize) -> Result<char> {
        let rest = &self.source[self.at + 1..];
        let length = rest.iter().position(|c| *c == '}').unwrap_or(rest.len());
        let digits: String = rest[..length].iter().collect();
        let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        self.at = (self.at + length + 2).min(self.source.len());
        match u32::from_str_radix(&digits, 16) {
            Ok(code) if is_hex => self.character(code, start),
            _ => Err(self.error("Unclosed hexadecimal escape sequence", start)),
        }
    }

    fn hex(&mut self, count: usize, what: &str) -> Result<u32> {
        let digits = self.source.get(self.at..self.at + count).unwrap_or_default();
        let mut code = 0;
        for digit in digits {
            code = code * 16 + digit.to_digit(16).ok_or_else(|| self.error(what, self.at))?;
        }
        if digits.len() < count {
            return Err(self.error(what, self.at));
        }
        self.at += count;
        Ok(code)
    }

    /// Four digits, and four more if they are half of a pair.
    fn utf16(&mut self) -> Result<char> {
        let start = self.at;
        let what = "Illegal Unicode escape sequence";
        let first = self.hex(4, what)?;
        let is_high = (0xd800..0xdc00).contains(&first);
        if is_high && self.peek() == Some('\\') && self.peek_second() == Some('u') {
            self.at += 2;
            let second = self.hex(4, what)?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return self.character(code, start);
            }
        }
        self.character(first, start)
    }
}

/// Properties of ASCII, or of all Unicode under `UNICODE_CHARACTER_CLASS`.
const POSIX: [(&str, &str, &str); 13] = [
    ("Lower", "a-z", r"\p{Lowercase}"),
    ("Upper", "A-Z", r"\p{Uppercase}"),
    ("ASCII", r"\x00-\x7F", r"\x00-\x7F"),
    ("Alpha", "A-Za-z", r"\p{Alphabetic}"),
    ("Digit", "0-9", r"\p{Nd}"),
    ("Alnum", "0-9A-Za-z", r"\p{Alphabetic}\p{Nd}"),
    ("Punct", r"!-/:-@\[-`\{-\x7E", r"\p{P}"),
    ("Graph", r"!-\x7E", r"[^\p{White_Space}\p{Cc}\p{Cn}]"),
    ("Print", r"\x20-\x7E", r"[^\p{White_Space}\p{Cc}\p{Cn}]\p{Zs}"),
    ("Blank", r"\x20\t", r"\p{Zs}\t"),
    ("Cntrl", r"\x00-\x1F\x7F", r"\p{Cc}"),
    ("XDigit", "0-9A-Fa-f", r"\p{Nd}\p{Hex_Digit}"),
    ("Space", r"\t-\r\x20", r"\p{White_Space}"),
];

/// Properties that only Java has.
const JAVA: [(&str, &str); 10] = [
    ("L1", r"\x00-\u{FF}"),
    ("LC", r"\p{Lu}\p{Ll}\p{Lt}"),
    ("LD", r"\p{L}\p{Nd}"),
    ("all", r"\x00-\u{10FFFF}"),
    ("javaLetterOrDigit", r"\p{L}\p{Nd}"),
    ("javaLowerCase", r"\p{Lowercase}"),
    ("javaUpperCase", r"\p{Uppercase}"),
    ("javaAlphabetic", r"\p{Alphabetic}"),
    ("javaLetter", r"\p{L}"),
    ("javaDigit", r"\p{Nd}"),
];

/// The property that replaces `name` when case is ignored.
fn cased(name: &str) -> &str {
    match name {
        "Lower" | "Upper" => "Alpha",
        "Lu" | "Ll" | "Lt" | "IsLu" | "IsLl" | "IsLt" => "LC",
        "javaLowerCase" | "javaUpperCase" | "IsLowercase" | "IsUppercase" => "IsCased",
        _ => name,
    }
}

/// The members of a property, as the inside of a class; `None` if the name is unknown here.
/// Well-formed names are left to the `regex` crate.
fn property_members(name: &str, unicode: bool) -> Option<String> {
    if let Some((_, ascii, all)) = POSIX.iter().find(|(posix, ..)| *posix == name) {
        return Some((if unicode { all } else { ascii }).to_string());
    }
    if let Some((_, members)) = JAVA.iter().find(|(java, _)| *java == name) {
        return Some((*members).to_owned());
    }
    let value = match name.split_once('=') {
        Some(("script" | "sc" | "general_category" | "gc", value)) => value,
        Some(_) => return None,
        // Blocks are not supported.
        None if name.starts_with("In") => return None,
        None => name.strip_prefix("Is").unwrap_or(name),
    };
    let is_word = value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (is_word && !value.is_empty()).then(|| format!(r"\p{{{value}}}"))
}
