//! One filter of the language: `Name(argument, …)`.
//!
//! An argument is a word, or bytes in single quotes, with a quote doubled. Commas are white space,
//! and so is whatever follows a closing quote. Anything that a filter does not accept is an
//! `Incorrect filter string`, whatever the reason; HBase only logs the reason.

use crate::error::Result;
use crate::filter::Filter;
use crate::filter::argument::wrong;
use crate::filter::kind::LANGUAGE;

/// The names of the supported filters, ascending.
pub fn supported_filters() -> impl ExactSizeIterator<Item = &'static str> {
    LANGUAGE.iter().map(|(name, _)| *name)
}

/// The filter expression at the start of `text`: up to the first `)` that is not quoted.
pub(super) fn simple_expression(text: &[u8]) -> Result<&[u8]> {
    let mut is_quoted = false;
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\'' {
            if is_last_quote(text, at) {
                is_quoted = !is_quoted;
            } else {
                at += 1;
            }
        }
        if text[at] == b')' && !is_quoted {
            return Ok(&text[..=at]);
        }
        at += 1;
    }
    Err(wrong("Incorrect Filter String"))
}

/// Whether the quote at `at` is not followed by another.
fn is_last_quote(text: &[u8], at: usize) -> bool {
    text.get(at + 1) != Some(&b'\'')
}

/// The filter of a whole expression.
pub(super) fn parse_simple(expression: &[u8]) -> Result<Filter> {
    let name_end = expression.iter().position(|byte| matches!(byte, b'(' | b' '));
    let Some(name_end) = name_end.filter(|end| *end > 0) else {
        return Err(wrong("Incorrect Filter Name"));
    };
    let name = String::from_utf8_lossy(&expression[..name_end]);
    let Some(open) = expression.iter().position(|byte| *byte == b'(') else {
        return Err(wrong("Incorrect argument list"));
    };
    let arguments = split_arguments(&expression[open + 1..])?;
    let Some((_, constructor)) = LANGUAGE.iter().find(|(known, _)| *known == name) else {
        return Err(wrong(&format!("Filter Name {name} not supported")));
    };
    constructor(&arguments).map_err(|reason| {
        let expression = String::from_utf8_lossy(expression);
        wrong(&format!("Incorrect filter string {expression}")).with_source(reason)
    })
}

/// The arguments between the parentheses; `list` ends with the closing one.
fn split_arguments(list: &[u8]) -> Result<Vec<Vec<u8>>> {
    let is_separator = |byte: &u8| matches!(byte, b' ' | b',' | b')');
    let mut arguments = Vec::new();
    let mut at = 0;
    while at < list.len() {
        if is_separator(&list[at]) {
            at += 1;
        } else if list[at] == b'\'' {
            match closing_quote(list, at)? {
                Some(end) => {
                    arguments.push(unescape(&list[at..=end]));
                    // The byte after the quote counts as a comma.
                    at = end + 2;
                }
                None => at += 1,
            }
        } else {
            let Some(length) = list[at..].iter().position(is_separator) else {
                return Err(wrong("Incorrect argument list"));
            };
            arguments.push(list[at..at + length].to_vec());
            at += length + 1;
        }
    }
    Ok(arguments)
}

/// The quote that closes the one at `start`. `None` if the list ends with two quotes.
fn closing_quote(list: &[u8], start: usize) -> Result<Option<usize>> {
    let mut at = start + 1;
    while at < list.len() {
        if list[at] == b'\'' {
            if is_last_quote(list, at) {
                return Ok(Some(at));
            }
            at += 1;
        } else if at == list.len() - 1 {
            return Err(wrong("Incorrect argument list"));
        }
        at += 1;
    }
    Ok(None)
}

/// A quoted argument, including its quotes, with doubled quotes inside reduced to one.
fn unescape(quoted: &[u8]) -> Vec<u8> {
    let inner = &quoted[1..quoted.len() - 1];
    let mut argument = vec![b'\''];
    let mut at = 0;
    while at < inner.len() {
        argument.push(inner[at]);
        let is_pair = inner[at] == b'\'' && inner.get(at + 1) == Some(&b'\'');
        at += if is_pair { 2 } else { 1 };
    }
    argument.push(b'\'');
    argument
}
