//! Parses a statement of the shell's language.
//!
//! ```text
//! program     statement { (newline | ";") statement }
//! statement   (assignment | low) { ("if" | "unless" | "while" | "until") low }
//! assignment  place ("=" | "+=" | "||=" | …) assignment
//! low         expression { ("and" | "or") expression }
//! expression  binary ["?" expression ":" expression]
//! binary      operands between "..", "||", "&&", "==", "<", "|", "&", "<<", "+", "*" and "**",
//!             from the one that binds least; "!" and "-" before an operand
//! postfix     primary { "." name [arguments] [block] | "[" list "]" | "::" constant }
//! primary     literal | constant | array | hash | "(" program ")" | name [arguments] [block]
//!             | if | unless | case | while | until | for | def | begin
//! arguments   "(" list ")" | list               the second only after a blank
//! list        expression { "," expression } { "," expression "=>" expression }
//! block       "{" ["|" names "|"] program "}" | "do" ["|" names "|"] program "end"
//! ```
//!
//! A `{` right after a command's name opens a block, not a hash; so `scan { A => 1 }` is the same
//! syntax error as in HBase's shell, at the same position.
//!
//! Text that ends inside brackets, strings, blocks or after a comma is incomplete rather than
//! wrong: the caller reads another line. Nesting is limited, so no input exhausts the stack.

mod arguments;
mod keyword;
mod operator;

use std::collections::BTreeSet;

use crate::ast::{Call, Expression, If, Piece, While};
use crate::error::SyntaxError;
use crate::lexer::{Part, Token, TokenKind, tokenize};

/// Nesting beyond this is refused.
const DEPTH_MAX: usize = 64;
/// Operators that change a variable: `a += 1`.
const CHANGES: [(&str, &str); 8] = [
    ("+=", "+"),
    ("-=", "-"),
    ("*=", "*"),
    ("/=", "/"),
    ("%=", "%"),
    ("**=", "**"),
    ("<<=", "<<"),
    ("|=", "|"),
];

/// The statements of `source`. A name in `variables` is not a command, so `n -1` subtracts.
///
/// # Errors
/// See [`SyntaxError`].
pub(crate) fn parse(
    source: &str,
    variables: BTreeSet<String>,
) -> Result<Vec<Expression>, SyntaxError> {
    let mut parser = Parser::new(tokenize(source, variables.clone())?, variables);
    let statements = parser.program()?;
    if *parser.peek() == TokenKind::End { Ok(statements) } else { Err(parser.unexpected()) }
}

/// The position of the innermost bracket or string that `source` leaves open.
pub(crate) fn opening_of(source: &str, variables: BTreeSet<String>) -> Option<usize> {
    let tokens = match tokenize(source, variables) {
        Ok(tokens) => tokens,
        Err(error) => return error.quote_at(),
    };
    let mut open = Vec::new();
    for token in &tokens {
        match token.kind {
            TokenKind::ParenOpen | TokenKind::BraceOpen | TokenKind::BracketOpen => {
                open.push(token.span.start);
            }
            TokenKind::ParenClose | TokenKind::BraceClose | TokenKind::BracketClose => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

/// Whether `source` ends inside a string.
pub(crate) fn ends_in_string(source: &str, variables: BTreeSet<String>) -> bool {
    tokenize(source, variables).is_err_and(|error| error.quote_at().is_some())
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// Names that were assigned.
    variables: BTreeSet<String>,
    /// Whether `do` opens a block here; after `while`, it begins the body.
    has_do: bool,
}

impl Parser {
    fn new(tokens: Vec<Token>, variables: BTreeSet<String>) -> Self {
        Self { tokens, at: 0, depth: 0, variables, has_do: true }
    }

    fn token(&self) -> &Token {
        // The tokens end with End, and the parser never advances past it.
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn peek(&self) -> &TokenKind {
        &self.token().kind
    }

    fn peek_second(&self) -> Option<&Token> {
        self.tokens.get(self.at + 1)
    }

    /// Where the token before this one ends.
    fn last_end(&self) -> usize {
        self.tokens[self.at.saturating_sub(1)].span.end
    }

    fn take_if(&mut self, kind: &TokenKind) -> bool {
        let matches = self.peek() == kind;
        self.at += usize::from(matches);
        matches
    }

    fn is_operator(&self, operator: &str) -> bool {
        match self.peek() {
            TokenKind::Operator(found) => *found == operator,
            TokenKind::Minus => operator == "-",
            _ => false,
        }
    }

    fn take_operator(&mut self, operator: &str) -> bool {
        let is_it = self.is_operator(operator);
        self.at += usize::from(is_it);
        is_it
    }

    fn skip_newlines(&mut self) {
        while *self.peek() == TokenKind::Newline {
            self.at += 1;
        }
    }

    /// Skips ends of statements.
    fn skip_ends(&mut self) {
        while matches!(self.peek(), TokenKind::Newline | TokenKind::Semicolon) {
            self.at += 1;
        }
    }

    /// Parses with or without `do` as the beginning of a block.
    fn with_do<T>(
        &mut self,
        has_do: bool,
        parse: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        let outer = std::mem::replace(&mut self.has_do, has_do);
        let parsed = parse(self);
        self.has_do = outer;
        parsed
    }

    /// The error for the current token. Where Ruby's says little, it says what to write instead.
    fn unexpected(&self) -> SyntaxError {
        let token = self.token();
        let error = Self::unexpected_token(token);
        let before = self.at.checked_sub(1).and_then(|before| self.tokens.get(before));
        let Some(before) = before.filter(|_| !token.is_spaced) else { return error };
        match (&before.kind, &token.kind) {
            // Ruby joins the two, which loses the quote that was meant.
            (TokenKind::String(_), TokenKind::String(_)) => {
                error.with_advice("a quote within a string is written \"it's\" or 'it\\'s'")
            }
            _ => error,
        }
    }

    /// The error for what follows the item that begins at `start` or, at the end of the text, for
    /// the item itself: no later text can make it valid.
    fn unexpected_after(&self, start: usize) -> SyntaxError {
        match self.peek() {
            TokenKind::End => Self::unexpected_token(&self.tokens[start]),
            _ => self.unexpected(),
        }
    }

    fn unexpected_token(token: &Token) -> SyntaxError {
        let what = match &token.kind {
            TokenKind::End => {
                return SyntaxError::incomplete(
                    "syntax error, unexpected end-of-file",
                    token.span.end,
                );
            }
            TokenKind::Newline => "'\\n'".to_owned(),
            TokenKind::String(_) | TokenKind::Interpolated(_) => "tSTRING_BEG".to_owned(),
            TokenKind::Words(_) => "tQWORDS_BEG".to_owned(),
            TokenKind::Pattern(_) => "tREGEXP_BEG".to_owned(),
            TokenKind::Operator(operator) => format!("'{operator}'"),
            TokenKind::Integer(_) => "tINTEGER".to_owned(),
            TokenKind::Float(_) => "tFLOAT".to_owned(),
            TokenKind::Constant(name) => format!("constant {name}"),
            TokenKind::Name(name) => format!("identifier {name}"),
            TokenKind::Symbol(name) => format!("symbol :{name}"),
            TokenKind::Label(name) => format!("label {name}:"),
            kind => format!("'{}'", punctuation(kind)),
        };
        SyntaxError::unexpected(&what, token.span.end)
    }

    fn expect(&mut self, kind: &TokenKind) -> Result<(), SyntaxError> {
        self.skip_newlines();
        if self.take_if(kind) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn enter(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SyntaxError::new("nested too deeply", self.token().span.end));
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Statements up to something that belongs to none.
    fn program(&mut self) -> Result<Vec<Expression>, SyntaxError> {
        let mut statements = Vec::new();
        loop {
            self.skip_ends();
            if matches!(self.peek(), TokenKind::End | TokenKind::ParenClose | TokenKind::BraceClose)
            {
                return Ok(statements);
            }
            statements.push(self.statement()?);
            if !matches!(self.peek(), TokenKind::Newline | TokenKind::Semicolon) {
                return Ok(statements);
            }
        }
    }

    fn statement(&mut self) -> Result<Expression, SyntaxError> {
        self.enter()?;
        let mut statement = self.assignment()?;
        while let TokenKind::Name(word) = self.peek() {
            let word = word.clone();
            if !["if", "unless", "while", "until"].contains(&word.as_str()) {
                break;
            }
            self.at += 1;
            let mut condition = self.low_expression()?;
            statement = if word == "while" || word == "until" {
                let (is_until, body) = (word == "until", vec![statement]);
                Expression::While(Box::new(While { condition, is_until, body }))
            } else {
                if word == "unless" {
                    condition = Expression::Not(Box::new(condition));
                }
                let (then, otherwise) = (vec![statement], Vec::new());
                Expression::If(Box::new(If { condition, then, otherwise }))
            };
        }
        self.leave();
        Ok(statement)
    }

    /// `place = value`, `place += value`, or an expression.
    fn assignment(&mut self) -> Result<Expression, SyntaxError> {
        if let (TokenKind::Name(name), Some(TokenKind::Equals)) =
            (self.peek(), self.peek_second().map(|token| &token.kind))
        {
            let name = name.clone();
            self.at += 2;
            self.skip_newlines();
            let value = self.statement_value()?;
            self.variables.insert(name.clone());
            return Ok(Expression::Assign(name, Box::new(value)));
        }
        let start = self.at;
        let place = match (self.peek(), self.peek_second().map(|token| &token.kind)) {
            (TokenKind::Name(name), Some(TokenKind::Operator(operator))) if is_change(operator) => {
                let name = name.clone();
                self.at += 1;
                self.variables.insert(name.clone());
                Expression::Variable(name)
            }
            _ => self.low_expression()?,
        };
        let is_assigned = *self.peek() == TokenKind::Equals;
        let operator = match self.peek() {
            TokenKind::Operator(operator) if is_change(operator) => Some(*operator),
            _ => None,
        };
        if !is_assigned && operator.is_none() {
            return Ok(place);
        }
        if !matches!(place, Expression::Variable(_) | Expression::Index(..)) || start == self.at {
            return Err(self.unexpected());
        }
        self.at += 1;
        self.skip_newlines();
        let value = self.statement_value()?;
        let value = match operator {
            None => value,
            Some("||=") => Expression::Or(Box::new(place.clone()), Box::new(value)),
            Some("&&=") => Expression::And(Box::new(place.clone()), Box::new(value)),
            Some(operator) => {
                let change = CHANGES.iter().find(|(change, _)| *change == operator);
                let operator = change.map_or("+", |(_, operator)| *operator);
                Expression::Binary(operator, Box::new(place.clone()), Box::new(value))
            }
        };
        Ok(match place {
            Expression::Index(receiver, mut indexes) => {
                let index = Box::new(indexes.remove(0));
                Expression::AssignIndex(receiver, index, Box::new(value))
            }
            Expression::Variable(name) => Expression::Assign(name, Box::new(value)),
            other => other,
        })
    }

    /// The value of an assignment: another one, or an expression.
    fn statement_value(&mut self) -> Result<Expression, SyntaxError> {
        self.enter()?;
        let value = self.assignment()?;
        self.leave();
        Ok(value)
    }

    fn primary(&mut self) -> Result<Expression, SyntaxError> {
        let expression = match self.peek().clone() {
            TokenKind::String(bytes) => Expression::String(bytes),
            TokenKind::Interpolated(parts) => Expression::Interpolated(self.pieces(parts)?),
            TokenKind::Words(words) => {
                Expression::Array(words.into_iter().map(Expression::String).collect())
            }
            TokenKind::Pattern(pattern) => Expression::Pattern(pattern),
            TokenKind::Integer(number) => Expression::Integer(number),
            TokenKind::Float(number) => Expression::Float(number),
            TokenKind::Symbol(name) => Expression::Symbol(name),
            TokenKind::Constant(name) => return self.constant(name),
            TokenKind::Name(name) => {
                self.at += 1;
                return self.name(name);
            }
            TokenKind::BracketOpen => return self.array(),
            TokenKind::BraceOpen => return self.hash(),
            TokenKind::ParenOpen => {
                self.at += 1;
                let mut inner = self.with_do(true, Self::program)?;
                self.expect(&TokenKind::ParenClose)?;
                return Ok(match inner.len() {
                    1 => inner.remove(0),
                    _ => Expression::Sequence(inner),
                });
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(expression)
    }

    /// The parts of a text, with the statements in its `#{…}`.
    fn pieces(&mut self, parts: Vec<Part>) -> Result<Vec<Piece>, SyntaxError> {
        let piece = |part| match part {
            Part::Text(bytes) => Ok(Piece::Text(bytes)),
            Part::Code(tokens) => {
                self.enter()?;
                let mut parser = Self::new(tokens, self.variables.clone());
                parser.depth = self.depth;
                let statements = parser.program()?;
                self.leave();
                match parser.peek() {
                    TokenKind::End => Ok(Piece::Code(statements)),
                    _ => Err(parser.unexpected()),
                }
            }
        };
        parts.into_iter().map(piece).collect()
    }

    /// A constant, or a method that has a name like one: `Integer('5')`.
    fn constant(&mut self, name: String) -> Result<Expression, SyntaxError> {
        self.at += 1;
        if *self.peek() != TokenKind::ParenOpen || self.token().is_spaced {
            return Ok(Expression::Constant(name));
        }
        let (arguments, block) = self.arguments()?;
        let call = Call { receiver: None, is_safe: false, name, arguments, block };
        Ok(Expression::Call(Box::new(call)))
    }

    fn name(&mut self, name: String) -> Result<Expression, SyntaxError> {
        if let Some(expression) = self.keyword(&name)? {
            return Ok(expression);
        }
        if self.variables.contains(&name) && *self.peek() != TokenKind::ParenOpen {
            return Ok(Expression::Variable(name));
        }
        let (arguments, block) = self.arguments()?;
        let call = Call { receiver: None, is_safe: false, name, arguments, block };
        Ok(Expression::Call(Box::new(call)))
    }

    fn array(&mut self) -> Result<Expression, SyntaxError> {
        self.at += 1;
        let items = self.list(&TokenKind::BracketClose)?.0;
        Ok(Expression::Array(items))
    }

    fn hash(&mut self) -> Result<Expression, SyntaxError> {
        self.at += 1;
        self.with_do(true, Self::pairs)
    }

    fn pairs(&mut self) -> Result<Expression, SyntaxError> {
        let mut pairs = Vec::new();
        loop {
            self.skip_newlines();
            if self.take_if(&TokenKind::BraceClose) {
                break;
            }
            let start = self.at;
            let (key, value) = self.item()?;
            let Some(key) = key else {
                return Err(self.unexpected_after(start));
            };
            pairs.push((key, value));
            self.skip_newlines();
            if !self.take_if(&TokenKind::Comma) {
                self.expect(&TokenKind::BraceClose)?;
                break;
            }
        }
        Ok(Expression::Hash(pairs))
    }
}

fn is_change(operator: &str) -> bool {
    matches!(operator, "||=" | "&&=") || CHANGES.iter().any(|(change, _)| *change == operator)
}

fn punctuation(kind: &TokenKind) -> &'static str {
    match kind {
        TokenKind::Arrow => "=>",
        TokenKind::Comma => ",",
        TokenKind::Dot => ".",
        TokenKind::Equals => "=",
        TokenKind::Minus => "-",
        TokenKind::ParenOpen => "(",
        TokenKind::ParenClose => ")",
        TokenKind::BraceOpen => "{",
        TokenKind::BraceClose => "}",
        TokenKind::BracketOpen => "[",
        TokenKind::BracketClose => "]",
        TokenKind::Semicolon => ";",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    fn parse(source: &str) -> Result<Vec<Expression>, SyntaxError> {
        super::parse(source, BTreeSet::new())
    }

    fn one(source: &str) -> Expression {
        let mut statements = parse(source).unwrap();
        assert_eq!(statements.len(), 1, "{source}");
        statements.remove(0)
    }

    fn call(source: &str) -> Call {
        match one(source) {
            Expression::Call(call) => *call,
            other => panic!("{source} is {other:?}"),
        }
    }

    #[test]
    fn pairs_at_the_end_are_one_hash() {
        let braced = call("alter 't', {NAME => 'f', VERSIONS => 5}");
        assert_eq!(braced, call("alter 't', NAME => 'f', VERSIONS => 5"));
        assert_eq!(braced, call("alter('t', NAME => 'f',\n  VERSIONS => 5)"));
        assert_eq!(braced, call("alter ‘t′, NAME => ‘f′, VERSIONS => 5"));
        assert_eq!(braced.arguments.unwrap().len(), 2);
    }

    #[test]
    fn calls_chain_and_nest() {
        let merge = call("merge_region locate_region('t','a').getRegion.getEncodedName, ['b', -1]");
        let arguments = merge.arguments.unwrap();
        assert_eq!(arguments.len(), 2);
        let Expression::Call(last) = &arguments[0] else { panic!("{arguments:?}") };
        assert_eq!((last.name.as_str(), &last.arguments), ("getEncodedName", &None));
        assert!(matches!(one("t = create 't', 'f'"), Expression::Assign(name, _) if name == "t"));
        assert_eq!(call("t.scan").receiver, Some(one("t")));
        assert_eq!(parse("a; b 'c'\nd\n").unwrap().len(), 3);
        assert!(matches!(one("x[0]"), Expression::Index(..)));
        assert_eq!(call("x [0]").arguments.unwrap().len(), 1);
    }

    #[test]
    fn a_brace_after_a_command_is_a_block() {
        let source = "scan { STARTROW => 'FixedWidthUsername' LIMIT => 30}";
        let error = parse(source).unwrap_err();
        assert!(!error.is_incomplete());
        let Failure::Ruby { class, message, line, picture } = error.explain(source, 1) else {
            panic!("{error:?}");
        };
        assert_eq!((&*class, line), ("SyntaxError", Some(1)));
        assert_eq!(message, "syntax error, unexpected '=>'");
        assert_eq!(picture, Some(format!("{source}\n{:17}^", "")));
    }

    #[test]
    fn unfinished_text_asks_for_more() {
        for source in ["create 't',", "get 't', {", "a [", "a(", "x =", "put 't', 'r", "t."] {
            assert!(parse(source).unwrap_err().is_incomplete(), "{source}");
        }
        for source in ["create 't' 'f'", "a)", "=> 1", "a 'b' => 1, 'c'", "{1}", "a b: ", "x = 1 2"]
        {
            let error = parse(source);
            assert!(error.is_err(), "{source}");
        }
    }

    /// A line that no continuation can make valid fails immediately.
    #[test]
    fn a_finished_line_that_is_wrong_does_not_ask_for_more() {
        for (source, unexpected) in [
            ("scan 't', LIMIT => 1, {COLUMNS => 'f'}", "'{'"),
            ("put 't', A => 1, 'r'", "tSTRING_BEG"),
            ("get 't', {'f'", "tSTRING_BEG"),
        ] {
            let error = parse(source).unwrap_err();
            assert!(!error.is_incomplete(), "{source}");
            let Failure::Ruby { message, .. } = error.explain(source, 1) else {
                panic!("{error:?}")
            };
            assert_eq!(message, format!("syntax error, unexpected {unexpected}"), "{source}");
        }
    }

    #[test]
    fn what_is_left_open_is_found() {
        for (source, at) in [
            ("create 't',", None),
            ("create 't', {A => 'f'", Some(12)),
            ("a(['b', {}", Some(2)),
            ("put 'r', \"x", Some(10)),
            ("put 'r',\n 'y", Some(11)),
        ] {
            assert_eq!(opening_of(source, BTreeSet::new()), at, "{source}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        for deep in ["[".repeat(10_000), "a(".repeat(10_000), format!("a{}", ".b".repeat(10_000))] {
            assert!(!parse(&deep).unwrap_err().is_incomplete());
        }
        assert!(parse(&format!("{}{}", "[".repeat(50), "]".repeat(50))).is_ok());
    }

    proptest::proptest! {
        /// Any text is parsed or refused, in bounded time and stack, and refusals can be shown.
        #[test]
        fn no_text_is_too_odd(
            pieces in proptest::collection::vec(
                proptest::sample::select(vec![
                    "a", "A", "1", "-", "'x'",
                    "\"\\x00\"", "‘y′", "'", "\"", "(", ")", "[", "]", "{",
                    "}", ",", ".", "=>", "=", ":", "b:", "\n", ";", " ", "#", "\\", "é", "nil", "@",
                ]),
                0..40,
            )
        ) {
            let source = pieces.concat();
            if let Err(error) = parse(&source) {
                error.explain(&source, 1);
            }
        }
    }
}
