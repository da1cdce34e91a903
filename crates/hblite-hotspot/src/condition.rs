//! Conditions over named figures, for `--fail-if`: `windowed max/mean > 2 or p99 > 5 ms`.
//!
//! ```text
//! condition  = conjunction { "or" conjunction }
//! conjunction = term { "and" term }
//! term       = "not" term | "(" condition ")" | operand comparison operand
//! comparison = ">" | ">=" | "<" | "<=" | "==" | "!="
//! operand    = number [ "%" | "ns" | "us" | "ms" | "s" ] | name of a figure, in words
//! ```
//!
//! Times are in seconds: `5 ms` is 0.005. Names have defaults: without `reads` or `bytes` a figure
//! is about writes, and without `total` or `worst` it is windowed.

use std::collections::BTreeMap;
use std::fmt;

/// Figures by their full names.
pub type NamedFigures = BTreeMap<String, f64>;

/// A parsed condition.
///
/// ```
/// use hblite_hotspot::condition::{FigureCondition, NamedFigures};
/// let condition = FigureCondition::parse("windowed max/mean > 2")?;
/// let figures = NamedFigures::from([("writes windowed max/mean".to_owned(), 12.0)]);
/// let finding = condition.evaluate(&figures)?;
/// assert!(finding.holds);
/// assert_eq!(finding.reason, "writes windowed max/mean is 12, which is > 2");
/// # Ok::<(), hblite_hotspot::condition::BadCondition>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FigureCondition(Term);

/// The result of evaluating a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether it holds.
    pub holds: bool,
    /// The comparisons that decided it, with the figures' values.
    pub reason: String,
}

/// What is wrong with a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadCondition(String);

impl fmt::Display for BadCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadCondition {}

#[derive(Debug, Clone, PartialEq)]
enum Term {
    Or(Vec<Self>),
    And(Vec<Self>),
    Not(Box<Self>),
    Compare(Operand, Comparison, Operand),
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Number { value: f64, text: String },
    Figure(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Number { value: f64, text: String },
    Comparison(Comparison),
    Open,
    Close,
}

impl FigureCondition {
    /// Parses a condition. Names are resolved when it is evaluated.
    ///
    /// # Errors
    /// The text with what was expected, and where.
    pub fn parse(text: &str) -> Result<Self, BadCondition> {
        let tokens = tokens(text)?;
        let mut parser = Parser { text, tokens: &tokens, next: 0, depth: 0 };
        let term = parser.or()?;
        if parser.next < tokens.len() {
            return Err(parser.expected("\"and\", \"or\" or the end"));
        }
        Ok(Self(term))
    }

    /// Compares figures.
    ///
    /// # Errors
    /// If a figure is unknown; the message lists the known ones.
    pub fn evaluate(&self, figures: &NamedFigures) -> Result<Finding, BadCondition> {
        let mut reasons = Vec::new();
        let holds = self.0.evaluate(figures, true, &mut reasons)?;
        Ok(Finding { holds, reason: reasons.join(", and ") })
    }
}

impl Term {
    /// Evaluates all parts, so that unknown names are always found; returns reasons if the result
    /// is `wanted`.
    fn evaluate(
        &self,
        figures: &NamedFigures,
        wanted: bool,
        reasons: &mut Vec<String>,
    ) -> Result<bool, BadCondition> {
        match self {
            Self::Or(terms) | Self::And(terms) => {
                let is_or = matches!(self, Self::Or(_));
                let mut holds = !is_or;
                let mut own = Vec::new();
                for term in terms {
                    let term_holds = term.evaluate(figures, wanted, &mut own)?;
                    holds = if is_or { holds | term_holds } else { holds & term_holds };
                }
                if holds == wanted {
                    reasons.append(&mut own);
                }
                Ok(holds)
            }
            Self::Not(term) => Ok(!term.evaluate(figures, !wanted, reasons)?),
            Self::Compare(left, comparison, right) => {
                let (left_value, left_text) = left.look_up(figures)?;
                let (right_value, right_text) = right.look_up(figures)?;
                let holds = comparison.holds(left_value, right_value);
                if holds == wanted {
                    let is_not = if holds { "" } else { "not " };
                    let sign = comparison.text();
                    reasons.push(format!("{left_text}, which is {is_not}{sign} {right_text}"));
                }
                Ok(holds)
            }
        }
    }
}

impl Operand {
    fn look_up(&self, figures: &NamedFigures) -> Result<(f64, String), BadCondition> {
        match self {
            Self::Number { value, text } => Ok((*value, text.clone())),
            Self::Figure(name) => {
                let (full, value) = find(name, figures).ok_or_else(|| unknown(name, figures))?;
                Ok((value, format!("{full} is {}", short(value))))
            }
        }
    }
}

/// The figure that a name refers to, with the defaults filled in.
fn find<'f>(name: &str, figures: &'f NamedFigures) -> Option<(&'f str, f64)> {
    let (first, rest) = name.split_once(' ').unwrap_or((name, ""));
    let candidates = [
        name.to_owned(),
        format!("writes {name}"),
        format!("writes windowed {name}"),
        format!("{first} windowed {rest}"),
    ];
    let found = candidates.iter().find_map(|candidate| figures.get_key_value(candidate));
    found.map(|(full, value)| (full.as_str(), *value))
}

fn unknown(name: &str, figures: &NamedFigures) -> BadCondition {
    let shares_word = |full: &&String| {
        name.split(' ').any(|word| full.split(' ').any(|other| other.starts_with(word)))
    };
    let mut similar: Vec<&str> =
        figures.keys().filter(shares_word).map(String::as_str).take(12).collect();
    if similar.is_empty() {
        similar = figures.keys().map(String::as_str).collect();
    }
    BadCondition(format!("unknown figure {name:?}: use one of {}", similar.join(", ")))
}

/// A value as tables show it.
pub(crate) fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 || size == 0.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        size if size >= 0.01 => 3,
        size if size >= 0.000_1 => 5,
        _ => return format!("{value:.1e}"),
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A time in a suitable unit.
pub(crate) fn duration(nanos: f64) -> String {
    let (scaled, unit) = match nanos {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n if n < 120e9 => (n / 1e9, "s"),
        n if n < 7200e9 => (n / 60e9, "min"),
        n if n < 172_800e9 => (n / 3600e9, "h"),
        n => (n / 86_400e9, "d"),
    };
    format!("{} {unit}", short(scaled))
}

/// Like [`hblite_model::counted`], for a mean.
pub(crate) fn counted(value: f64, noun: &str) -> String {
    let ending = if value == 1.0 { "" } else { "s" };
    format!("{} {noun}{ending}", short(value))
}

impl Comparison {
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Equal => left == right,
            Self::NotEqual => left != right,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, BadCondition> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            '<' | '>' | '=' | '!' => comparison(text, rest)?,
            '0'..='9' | '.' | '-' => number(text, rest)?,
            _ if first.is_alphabetic() => {
                let is_end = |c: char| !c.is_alphanumeric() && !"/._-".contains(c);
                let length = rest.find(is_end).unwrap_or(rest.len());
                (Token::Word(rest[..length].to_lowercase()), length)
            }
            _ => {
                return Err(BadCondition(format!(
                    "{text:?}: {first:?} means nothing here; a condition is like \
                     \"windowed max/mean > 2\""
                )));
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn comparison(text: &str, rest: &str) -> Result<(Token, usize), BadCondition> {
    let signs = [
        (">=", Comparison::GreaterOrEqual),
        ("<=", Comparison::LessOrEqual),
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        (">", Comparison::Greater),
        ("<", Comparison::Less),
    ];
    let found = signs.into_iter().find(|(sign, _)| rest.starts_with(sign));
    found
        .map(|(sign, comparison)| (Token::Comparison(comparison), sign.len()))
        .ok_or_else(|| BadCondition(format!("{text:?}: a comparison is one of > >= < <= == !=")))
}

fn number(text: &str, rest: &str) -> Result<(Token, usize), BadCondition> {
    let is_end = |c: char| !c.is_ascii_digit() && !"._-".contains(c);
    let digits = rest.find(is_end).unwrap_or(rest.len());
    let value: f64 = rest[..digits]
        .replace('_', "")
        .parse()
        .map_err(|_| BadCondition(format!("{text:?}: {:?} is not a number", &rest[..digits])))?;
    let after = rest[digits..].trim_start();
    let units = [("%", 0.01), ("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let is_unit = |unit: &str| {
        after
            .strip_prefix(unit)
            .is_some_and(|next| unit == "%" || !next.starts_with(|c: char| c.is_alphanumeric()))
    };
    let unit = units.into_iter().find(|(unit, _)| is_unit(unit));
    let (factor, length) = match unit {
        Some((unit, factor)) => (factor, rest.len() - after.len() + unit.len()),
        None => (1.0, digits),
    };
    Ok((Token::Number { value: value * factor, text: rest[..length].to_owned() }, length))
}

/// How deeply parentheses may be nested.
const DEPTH_MAX: usize = 50;

struct Parser<'p> {
    text: &'p str,
    tokens: &'p [Token],
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    fn expected(&self, what: &str) -> BadCondition {
        let found = match self.tokens.get(self.next) {
            None => "the end".to_owned(),
            Some(Token::Word(word)) => format!("{word:?}"),
            Some(Token::Number { text, .. }) => format!("{text:?}"),
            Some(Token::Comparison(comparison)) => format!("{:?}", comparison.text()),
            Some(Token::Open) => "\"(\"".to_owned(),
            Some(Token::Close) => "\")\"".to_owned(),
        };
        BadCondition(format!("{:?}: expected {what}, but found {found}", self.text))
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.tokens.get(self.next), Some(Token::Word(found)) if found == word);
        self.next += usize::from(is_it);
        is_it
    }

    fn or(&mut self) -> Result<Term, BadCondition> {
        let mut terms = vec![self.and()?];
        while self.takes_word("or") {
            terms.push(self.and()?);
        }
        Ok(if terms.len() == 1 { terms.remove(0) } else { Term::Or(terms) })
    }

    fn and(&mut self) -> Result<Term, BadCondition> {
        let mut terms = vec![self.term()?];
        while self.takes_word("and") {
            terms.push(self.term()?);
        }
        Ok(if terms.len() == 1 { terms.remove(0) } else { Term::And(terms) })
    }

    fn term(&mut self) -> Result<Term, BadCondition> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(BadCondition(format!("parentheses are nested deeper than {DEPTH_MAX}")));
        }
        let term = if self.takes_word("not") {
            Term::Not(Box::new(self.term()?))
        } else if self.tokens.get(self.next) == Some(&Token::Open) {
            self.next += 1;
            let term = self.or()?;
            if self.tokens.get(self.next) != Some(&Token::Close) {
                return Err(self.expected("\")\""));
            }
            self.next += 1;
            term
        } else {
            let left = self.operand()?;
            let Some(Token::Comparison(comparison)) = self.tokens.get(self.next) else {
                return Err(self.expected("a comparison like \">\""));
            };
            self.next += 1;
            Term::Compare(left, *comparison, self.operand()?)
        };
        self.depth -= 1;
        Ok(term)
    }

    fn operand(&mut self) -> Result<Operand, BadCondition> {
        if let Some(Token::Number { value, text }) = self.tokens.get(self.next) {
            self.next += 1;
            return Ok(Operand::Number { value: *value, text: text.clone() });
        }
        let mut words: Vec<&str> = Vec::new();
        while let Some(Token::Word(word)) = self.tokens.get(self.next)
            && !matches!(word.as_str(), "and" | "or" | "not")
        {
            words.push(word);
            self.next += 1;
        }
        if words.is_empty() {
            return Err(self.expected("a figure or a number"));
        }
        Ok(Operand::Figure(words.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn figures() -> NamedFigures {
        let figures = [
            ("writes windowed max/mean", 12.0),
            ("writes total max/mean", 1.0),
            ("writes total hottest share", 0.25),
            ("reads windowed max/mean", 3.0),
            ("p99", 0.004),
            ("p99.9", 0.02),
        ];
        figures.map(|(name, value)| (name.to_owned(), value)).into()
    }

    fn holds(text: &str) -> bool {
        let condition = FigureCondition::parse(text).expect(text);
        condition.evaluate(&figures()).expect(text).holds
    }

    #[test]
    fn names_may_leave_out_what_is_usual() {
        assert!(holds("max/mean == 12"));
        assert!(holds("windowed max/mean == 12"));
        assert!(holds("writes max/mean == 12"));
        assert!(holds("Writes  Windowed MAX/MEAN == 12"));
        assert!(holds("total max/mean == 1"));
        assert!(holds("reads max/mean == 3"));
    }

    #[test]
    fn units_brackets_and_words_of_logic() {
        assert!(holds("p99 < 5ms and p99.9 > 19 ms"));
        assert!(holds("total hottest share <= 25%"));
        assert!(holds("not (p99 > 1s or max/mean < 2)"));
        assert!(holds("max/mean < 2 and p99 > 1s or p99 > 3000 us"));
        assert!(holds("max/mean != reads max/mean"));
        assert!(!holds("1_000 < max/mean"));
    }

    #[test]
    fn the_reason_has_what_made_it_so() {
        let condition = FigureCondition::parse("max/mean > 2 or p99 > 1 s").expect("good");
        let finding = condition.evaluate(&figures()).expect("known");
        assert_eq!(finding.reason, "writes windowed max/mean is 12, which is > 2");
        let condition = FigureCondition::parse("not p99 > 1 s").expect("good");
        let finding = condition.evaluate(&figures()).expect("known");
        assert_eq!(finding.reason, "p99 is 0.004, which is not > 1 s");
    }

    #[test]
    fn wrong_conditions_are_told_why() {
        for (text, reason) in [
            ("", "expected a figure or a number, but found the end"),
            ("max/mean", "expected a comparison like \">\", but found the end"),
            ("max/mean > ", "expected a figure or a number"),
            ("max/mean = 2", "one of > >= <"),
            ("(max/mean > 2", "expected \")\", but found the end"),
            ("max/mean > 2 3", "expected \"and\", \"or\" or the end, but found \"3\""),
            ("max/mean > 2 & p99 > 1", "'&' means nothing here"),
            ("1-2 > 3", "is not a number"),
        ] {
            let error = FigureCondition::parse(text).expect_err(text).to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let unknown = FigureCondition::parse("max/median > 2").expect("good");
        let error = unknown.evaluate(&figures()).expect_err("unknown").to_string();
        assert!(error.contains("unknown figure \"max/median\": use one of "), "{error}");
        let deep = format!("{}1 > 2{}", "(".repeat(1000), ")".repeat(1000));
        assert!(FigureCondition::parse(&deep).expect_err("deep").to_string().contains("nested"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z0-9<>=!()%.µ/ _-]{0,40}") {
            if let Ok(condition) = FigureCondition::parse(&text) {
                let _ = condition.evaluate(&figures());
            }
        }
    }
}
