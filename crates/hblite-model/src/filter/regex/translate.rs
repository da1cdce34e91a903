//! Java's syntax outside of character classes, translated to that of the `regex` crate.
//!
//! Flags are resolved here and not passed on, because they mean other things in that crate. In
//! Java, `\w` and case folding are ASCII unless requested otherwise, `$` also matches before a
//! final line end, and there are five line ends.

use super::{RegexFlags, syntax_error};
use crate::error::{Error, Result};

/// A character that ends a line, as the inside of a class.
const LINE_ENDS: &str = r"\n\r\u{85}\u{2028}\u{2029}";

/// Translates `pattern`.
pub(super) fn translate(pattern: &str, flags: RegexFlags) -> Result<String> {
    let flags = if flags.contains(RegexFlags::UNICODE_CHARACTER_CLASS) {
        flags.with(RegexFlags::UNICODE_CASE)
    } else {
        flags
    };
    let mut translator = Translator {
        pattern,
        source: pattern.chars().collect(),
        at: 0,
        flags,
        outer: Vec::new(),
        names: Vec::new(),
        out: String::with_capacity(pattern.len() * 2),
        can_repeat: false,
    };
    if flags.contains(RegexFlags::CANON_EQ) {
        return Err(translator.error("Canonical equivalence is not supported", 0));
    }
    if flags.contains(RegexFlags::LITERAL) {
        pattern.chars().for_each(|c| translator.literal(c));
    } else {
        translator.run()?;
    }
    Ok(translator.out)
}

/// A translation in progress.
pub(super) struct Translator<'a> {
    pattern: &'a str,
    pub(super) source: Vec<char>,
    /// Index of the next character.
    pub(super) at: usize,
    pub(super) flags: RegexFlags,
    /// The flags outside of each open group.
    outer: Vec<RegexFlags>,
    names: Vec<String>,
    out: String,
    /// Whether a quantifier may follow.
    can_repeat: bool,
}

impl Translator<'_> {
    pub(super) fn error(&self, what: &str, index: usize) -> Error {
        syntax_error(what, self.pattern, Some(index))
    }

    pub(super) fn has(&self, flag: RegexFlags) -> bool {
        self.flags.contains(flag)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.source.get(self.at).copied()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.source.get(self.at + 1).copied()
    }

    /// Skips white space and comments where they are ignored.
    pub(super) fn skip_comments(&mut self) {
        while self.has(RegexFlags::COMMENTS) {
            match self.peek() {
                Some('\t'..='\r' | ' ') => self.at += 1,
                Some('#') => {
                    while self.peek().is_some_and(|c| !self.ends_line(c)) {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn ends_line(&self, c: char) -> bool {
        let others = ['\r', '\u{85}', '\u{2028}', '\u{2029}'];
        c == '\n' || (!self.has(RegexFlags::UNIX_LINES) && others.contains(&c))
    }

    fn run(&mut self) -> Result<()> {
        loop {
            self.skip_comments();
            let Some(next) = self.peek() else { break };
            match next {
                '\\' => self.escape()?,
                '[' => {
                    let class = self.class()?;
                    self.atom(&class);
                }
                '(' => self.open_group()?,
                ')' => {
                    let Some(flags) = self.outer.pop() else {
                        return Err(self.error("Unmatched closing ')'", self.at));
                    };
                    self.flags = flags;
                    self.at += 1;
                    self.atom(")");
                }
                '|' => {
                    self.at += 1;
                    self.out.push('|');
                    self.can_repeat = false;
                }
                '*' | '+' | '?' | '{' => self.quantifier()?,
                _ => {
                    self.at += 1;
                    match next {
                        '.' => self.any_character(),
                        '^' => self.line_start(),
                        '$' => self.line_end(),
                        _ => self.literal(next),
                    }
                }
            }
        }
        if self.outer.is_empty() {
            Ok(())
        } else {
            Err(self.error("Unclosed group", self.source.len()))
        }
    }

    /// Writes something that a quantifier may follow.
    fn atom(&mut self, text: &str) {
        self.out.push_str(text);
        self.can_repeat = true;
    }

    fn literal(&mut self, c: char) {
        let text = if !self.has(RegexFlags::CASE_INSENSITIVE) {
            ::regex::escape(c.encode_utf8(&mut [0; 4]))
        } else if self.has(RegexFlags::UNICODE_CASE) {
            format!("(?i:\\x{{{:X}}})", c as u32)
        } else if c.is_ascii_alphabetic() {
            format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase())
        } else {
            ::regex::escape(c.encode_utf8(&mut [0; 4]))
        };
        self.atom(&text);
    }

    fn any_character(&mut self) {
        if self.has(RegexFlags::DOTALL) {
            self.atom("(?s:.)");
        } else if self.has(RegexFlags::UNIX_LINES) {
            self.atom(r"[^\n]");
        } else {
            self.atom(&format!("[^{LINE_ENDS}]"));
        }
    }

    fn line_start(&mut self) {
        let is_unix = self.has(RegexFlags::UNIX_LINES);
        self.atom(match (self.has(RegexFlags::MULTILINE), is_unix) {
            (false, _) => r"\A",
            (true, true) => "(?m:^)",
            (true, false) => "(?mR:^)",
        });
    }

    fn line_end(&mut self) {
        if !self.has(RegexFlags::MULTILINE) {
            self.input_end();
        } else if self.has(RegexFlags::UNIX_LINES) {
            self.atom("(?m:$)");
        } else {
            self.atom("(?mR:$)");
        }
    }

    /// The end, or the position before a line end at the end. The line end is matched with it,
    /// which only a pattern that continues after its end could detect.
    fn input_end(&mut self) {
        if self.has(RegexFlags::UNIX_LINES) {
            self.atom(r"(?:\n?\z)");
        } else {
            self.atom(&format!(r"(?:(?:\r\n|[{LINE_ENDS}])?\z)"));
        }
    }

    /// A backslash and what follows, outside of classes.
    fn escape(&mut self) -> Result<()> {
        let start = self.at;
        self.at += 1;
        let Some(next) = self.peek() else {
            return Err(self.error("Unexpected end after \\", start));
        };
        if let Some(set) = self.class_escape(next)? {
            self.atom(&set);
            return Ok(());
        }
        self.at += 1;
        match next {
            'Q' => {
                while let Some(c) = self.quoted() {
                    self.literal(c);
                }
            }
            'b' | 'B' | 'z' => self.atom(&format!("\\{next}")),
            // The first search begins at the start, the only position that \G can match.
            'A' | 'G' => self.atom(r"\A"),
            'Z' => self.input_end(),
            'R' => self.atom(r"(?:\r\n|[\n\x0B\x0C\r\u{85}\u{2028}\u{2029}])"),
            '1'..='9' | 'k' => {
                return Err(self.error("Back references are not supported", start));
            }
            _ => {
                self.at -= 1;
                let c = self.escaped_character()?;
                self.literal(c);
            }
        }
        Ok(())
    }

    /// The next character between `\Q` and `\E`, if there is one.
    pub(super) fn quoted(&mut self) -> Option<char> {
        if self.peek() == Some('\\') && self.peek_second() == Some('E') {
            self.at += 2;
            return None;
        }
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn quantifier(&mut self) -> Result<()> {
        let start = self.at;
        let first = self.source[start];
        self.at += 1;
        let text = if first == '{' {
            self.counted_repetition(start)?
        } else if self.can_repeat {
            first.to_string()
        } else {
            return Err(self.error(&format!("Dangling meta character '{first}'"), start));
        };
        // Java allows a count where there is nothing to repeat.
        if self.can_repeat {
            self.out.push_str(&text);
        }
        self.can_repeat = false;
        self.skip_comments();
        match self.peek() {
            Some('?') => self.at += 1, // Reluctant: finds the same texts.
            Some('+') => {
                return Err(self.error("Possessive quantifiers are not supported", self.at));
            }
            _ => {}
        }
        Ok(())
    }

    /// `n}`, `n,}` or `n,m}`.
    fn counted_repetition(&mut self, start: usize) -> Result<String> {
        let least = self.number();
        let mut text = format!("{{{}", least.unwrap_or(0));
        let mut is_right = least.is_some();
        if self.peek() == Some(',') {
            self.at += 1;
            text.push(',');
            if self.peek() != Some('}') {
                let most = self.number();
                is_right &= most.is_some();
                if most < least {
                    return Err(self.error("Illegal repetition range", start));
                }
                text.push_str(&most.unwrap_or(0).to_string());
            }
        }
        if !is_right || self.peek() != Some('}') {
            return Err(self.error("Illegal repetition", start));
        }
        self.at += 1;
        text.push('}');
        Ok(text)
    }

    fn number(&mut self) -> Option<u32> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.source[start..self.at].iter().collect::<String>().parse().ok()
    }

    fn open_group(&mut self) -> Result<()> {
        let start = self.at;
        self.at += 1;
        let outside = self.flags;
        if self.peek() == Some('?') {
            self.at += 1;
            match (self.peek(), self.peek_second()) {
                (Some(':'), _) => self.at += 1,
                (Some('='), _) | (Some('!'), _) => {
                    return Err(self.error("Look-ahead is not supported", start));
                }
                (Some('<'), Some('=' | '!')) => {
                    return Err(self.error("Look-behind is not supported", start));
                }
                (Some('>'), _) => {
                    return Err(self.error("Atomic groups are not supported", start));
                }
                (Some('<'), _) => self.group_name(start)?,
                _ => {
                    if self.inline_flags(start)? {
                        self.can_repeat = false;
                        return Ok(());
                    }
                }
            }
        }
        self.outer.push(outside);
        self.out.push_str("(?:");
        self.can_repeat = false;
        Ok(())
    }

    fn group_name(&mut self, start: usize) -> Result<()> {
        self.at += 1;
        let from = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        let name: String = self.source[from..self.at].iter().collect();
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if !is_name || self.peek() != Some('>') {
            return Err(self.error("capturing group name is malformed", start));
        }
        if self.names.contains(&name) {
            let what = format!("Named capturing group <{name}> is already defined");
            return Err(self.error(&what, start));
        }
        self.names.push(name);
        self.at += 1;
        Ok(())
    }

    /// `idmsuxU-idmsuxU` and then `)` (true: no group follows) or `:`.
    fn inline_flags(&mut self, start: usize) -> Result<bool> {
        let (mut flags, mut sets) = (self.flags, true);
        while let Some(c) = self.peek() {
            let flag = match c {
                'i' => RegexFlags::CASE_INSENSITIVE,
                'd' => RegexFlags::UNIX_LINES,
                'm' => RegexFlags::MULTILINE,
                's' => RegexFlags::DOTALL,
                'u' => RegexFlags::UNICODE_CASE,
                'x' => RegexFlags::COMMENTS,
                'U' => RegexFlags::UNICODE_CHARACTER_CLASS.with(RegexFlags::UNICODE_CASE),
                '-' if sets => {
                    sets = false;
                    RegexFlags(0)
                }
                ')' | ':' => {
                    self.at += 1;
                    self.flags = flags;
                    return Ok(c == ')');
                }
                _ => break,
            };
            flags = if sets { flags.with(flag) } else { flags.without(flag) };
            self.at += 1;
        }
        Err(self.error("Unknown inline modifier", start))
    }
}
