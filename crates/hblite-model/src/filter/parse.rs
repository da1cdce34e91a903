//! The filter language of the shell, Thrift and REST (`ParseFilter`).
//!
//! ```text
//! PrefixFilter('r') AND (SKIP ValueFilter(!=, 'binary:x') OR PageFilter(3))
//! ```
//!
//! SKIP and WHILE bind tightest, then AND, then OR. AND and OR need a space or parenthesis on both
//! sides. This is HBase's parser, with one stack of operators and one of filters, including its
//! quirks: a final parenthesis may be missing, and inside parentheses an OR followed by an AND is
//! a `Mismatched parenthesis`.

mod expression;

use std::fmt;

use super::argument::wrong;
use super::{Filter, ListOperator};
use crate::error::{Error, Result};

pub use expression::supported_filters;

/// Why a text is not a filter, and where.
#[derive(Debug)]
pub struct ParseFilterError {
    /// HBase's exception and message.
    pub error: Error,
    /// Offset in bytes of the offending operator, parenthesis or filter, or the end of the text.
    pub position: usize,
}

impl fmt::Display for ParseFilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.error.message(), self.position)
    }
}

impl std::error::Error for ParseFilterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<ParseFilterError> for Error {
    fn from(error: ParseFilterError) -> Self {
        error.error
    }
}

/// The filter that `text` describes.
///
/// # Errors
/// `IllegalArgumentException` with HBase's message, and the position.
pub fn parse_filter(text: impl AsRef<[u8]>) -> std::result::Result<Filter, ParseFilterError> {
    let mut parser =
        Parser { text: text.as_ref(), at: 0, operators: Vec::new(), filters: Vec::new() };
    parser.run().map_err(|error| ParseFilterError { error, position: parser.at })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Skip,
    While,
    Parenthesis,
}

impl Operator {
    /// A greater value binds tighter.
    fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Skip | Self::While => 3,
            Self::Parenthesis => 0,
        }
    }
}

/// The operators as words. The kind of operator decides what may precede it.
const WORDS: [(&[u8], Operator); 4] = [
    (b"OR", Operator::Or),
    (b"AND", Operator::And),
    (b"SKIP", Operator::Skip),
    (b"WHILE", Operator::While),
];

/// A filter on the stack, with its nesting depth.
struct Parsed {
    filter: Filter,
    depth: usize,
}

struct Parser<'a> {
    text: &'a [u8],
    /// The parser's position; after an error, the position of the error.
    at: usize,
    operators: Vec<Operator>,
    filters: Vec<Parsed>,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<Filter> {
        while let Some(&byte) = self.text.get(self.at) {
            if byte == b'(' {
                self.operators.push(Operator::Parenthesis);
                self.at += 1;
            } else if byte == b' ' || byte == b'\t' {
                self.at += 1;
            } else if let Some((length, operator)) = self.operator_here() {
                self.reduce(operator)?;
                self.operators.push(operator);
                self.at += length;
            } else if byte == b')' {
                self.close()?;
                self.at += 1;
            } else {
                let expression = expression::simple_expression(&self.text[self.at..])?;
                let filter = expression::parse_simple(expression)?;
                self.filters.push(Parsed { filter, depth: 1 });
                self.at += expression.len();
            }
        }
        while !self.operators.is_empty() {
            self.apply()?;
        }
        match (self.filters.pop(), self.filters.is_empty()) {
            (Some(parsed), true) => Ok(parsed.filter),
            _ => Err(wrong("Incorrect Filter String")),
        }
    }

    /// The operator at this position, as a word of its own.
    fn operator_here(&self) -> Option<(usize, Operator)> {
        let rest = &self.text[self.at..];
        let (word, operator) = WORDS.iter().find(|(word, _)| rest.starts_with(word))?;
        let before = self.at.checked_sub(1).map(|at| self.text[at]);
        let may_begin = matches!(
            (operator, before),
            (_, Some(b' ' | b')')) | (Operator::Skip | Operator::While, None | Some(b'('))
        );
        let may_end = matches!(rest.get(word.len()), Some(b' ' | b'('));
        (may_begin && may_end).then_some((word.len(), *operator))
    }

    /// Applies the operators on the stack that bind tighter than `operator`.
    fn reduce(&mut self, operator: Operator) -> Result<()> {
        while self.operators.last().is_some_and(|top| top.precedence() > operator.precedence()) {
            self.apply()?;
        }
        Ok(())
    }

    /// A closing parenthesis.
    fn close(&mut self) -> Result<()> {
        let mismatched = || wrong("Mismatched parenthesis");
        let mut top = self.operators.last().copied().ok_or_else(mismatched)?;
        if top == Operator::Parenthesis {
            self.operators.pop();
            return Ok(());
        }
        while top != Operator::Parenthesis {
            if self.operators.is_empty() {
                return Err(mismatched());
            }
            self.apply()?;
            // HBase removes the next operator as if it were the parenthesis, so an operator can
            // get lost here.
            top = self.operators.pop().ok_or_else(mismatched)?;
        }
        Ok(())
    }

    /// Applies the operator on top of the stack, and equal ones below it, to the filters on their
    /// stack.
    fn apply(&mut self) -> Result<()> {
        let Some(&operator) = self.operators.last() else {
            return Err(wrong("Incorrect arguments on operatorStack"));
        };
        let parsed = match operator {
            Operator::Or => {
                let message = "Incorrect input string - an OR needs two filters";
                self.apply_list(operator, ListOperator::MustPassOne, message)?
            }
            Operator::And => {
                let message = "Incorrect input string - an AND needs two filters";
                self.apply_list(operator, ListOperator::MustPassAll, message)?
            }
            Operator::Skip => {
                let inner = self.pop_filter("Incorrect input string - a SKIP wraps a filter")?;
                self.operators.pop();
                Parsed { filter: Filter::skip(inner.filter), depth: inner.depth + 1 }
            }
            Operator::While => {
                let inner = self.pop_filter("Incorrect input string - a WHILE wraps a filter")?;
                self.operators.pop();
                Parsed { filter: Filter::while_match(inner.filter), depth: inner.depth + 1 }
            }
            Operator::Parenthesis => {
                let inner = self.pop_filter("Incorrect Filter String")?;
                self.operators.pop();
                inner
            }
        };
        if parsed.depth > Filter::DEPTH_MAX {
            return Err(wrong("Filters are nested too deep"));
        }
        self.filters.push(parsed);
        Ok(())
    }

    fn apply_list(
        &mut self,
        operator: Operator,
        list: ListOperator,
        message: &str,
    ) -> Result<Parsed> {
        let like = self.operators.iter().rev().take_while(|top| **top == operator).count();
        let first = self.filters.len().checked_sub(like + 1).ok_or_else(|| wrong(message))?;
        self.operators.truncate(self.operators.len() - like);
        let members = self.filters.split_off(first);
        let depth = members.iter().map(|member| member.depth).max().unwrap_or(0) + 1;
        let filters = members.into_iter().map(|member| member.filter).collect();
        Ok(Parsed { filter: Filter::list(list, filters), depth })
    }

    fn pop_filter(&mut self, message: &str) -> Result<Parsed> {
        self.filters.pop().ok_or_else(|| wrong(message))
    }
}

#[cfg(test)]
mod tests;
