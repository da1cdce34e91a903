//! The variables of a text, by which a slash after a name divides or begins a pattern.

use std::collections::BTreeSet;

use super::TokenKind;

/// Names that are variables where the text has been read so far.
///
/// Scopes are left to the parser: a name stays a variable up to the end of the text.
pub(super) struct Variables {
    names: BTreeSet<String>,
    /// What ends the list of names that is being read: of a block, a loop or a method.
    list_end: Option<TokenKind>,
}

impl Variables {
    pub(super) fn new(names: BTreeSet<String>) -> Self {
        Self { names, list_end: None }
    }

    /// Whether `token` is an operand of the operator that `rest` then begins with, rather than a
    /// method that takes a literal.
    pub(super) fn is_operand(&self, token: &TokenKind, is_spaced: bool, rest: &str) -> bool {
        match token {
            TokenKind::Name(name) => {
                !is_spaced
                    || rest[1..].starts_with(|c: char| c.is_whitespace() || c == '=')
                    || self.names.contains(name)
            }
            TokenKind::String(_)
            | TokenKind::Interpolated(_)
            | TokenKind::Integer(_)
            | TokenKind::Float(_)
            | TokenKind::Symbol(_)
            | TokenKind::Constant(_)
            | TokenKind::ParenClose
            | TokenKind::BraceClose
            | TokenKind::BracketClose => true,
            _ => false,
        }
    }

    /// Takes note of the token `kind`, which comes after `before`.
    pub(super) fn read(&mut self, before: Option<&TokenKind>, kind: &TokenKind) {
        let is_after = |word: &str| matches!(before, Some(TokenKind::Name(name)) if name == word);
        if self.list_end.as_ref() == Some(kind) {
            self.list_end = None;
            return;
        }
        match kind {
            TokenKind::Name(word) if word == "for" => {
                self.list_end = Some(TokenKind::Name("in".to_owned()));
            }
            TokenKind::Name(word) if word == "def" => self.list_end = Some(TokenKind::ParenClose),
            TokenKind::Operator("|") if before == Some(&TokenKind::BraceOpen) || is_after("do") => {
                self.list_end = Some(TokenKind::Operator("|"));
            }
            TokenKind::Newline | TokenKind::Semicolon => self.list_end = None,
            TokenKind::Name(name) if self.list_end.is_some() && !is_after("def") => {
                self.names.insert(name.clone());
            }
            TokenKind::Equals => self.insert(before),
            TokenKind::Operator(operator) if is_change(operator) => self.insert(before),
            _ => {}
        }
    }

    fn insert(&mut self, token: Option<&TokenKind>) {
        if let Some(TokenKind::Name(name)) = token {
            self.names.insert(name.clone());
        }
    }
}

/// Whether an operator changes the variable before it, such as `+=`.
fn is_change(operator: &str) -> bool {
    operator.ends_with('=') && !matches!(operator, "==" | "===" | "!=" | "<=" | ">=")
}
