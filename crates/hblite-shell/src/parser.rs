//! Parses a statement of the shell's language.
//!
//! ```text
//! program     statement { (newline | ";") statement }
//! statement   name "=" statement | expression
//! expression  primary { "." name [arguments] | "[" expression "]" }
//! primary     literal | constant | array | hash | "(" statement ")" | name [arguments]
//! arguments   "(" list ")" | list                   the second only after a blank
//! list        expression { "," expression } { "," expression "=>" expression }
//! ```
//!
//! A `{` right after a command's name opens a block in Ruby, not a hash; so `scan { A => 1 }` is
//! the same syntax error as in HBase's shell, at the same position.
//!
//! Text that ends inside brackets, strings or after a comma is incomplete rather than wrong: the
//! caller reads another line. Nesting is limited, so no input exhausts the stack.

use crate::error::SyntaxError;
use crate::lexer::{Token, TokenKind, tokenize};

/// Nesting beyond this is refused.
const DEPTH_MAX: usize = 100;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Nil,
    Bool(bool),
    Integer(i64),
    Float(f64),
    String(Vec<u8>),
    Symbol(String),
    Constant(String),
    Array(Vec<Expression>),
    Hash(Vec<(Expression, Expression)>),
    Assign(String, Box<Expression>),
    Index(Box<Expression>, Box<Expression>),
    Call(Box<Call>),
}

impl Expression {
    /// The word, without quotes, that the expression is or begins with.
    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Self::Constant(name) => Some(name),
            Self::Call(call) if call.receiver.is_none() => Some(&call.name),
            _ => None,
        }
    }
}

/// A call of a command or method, or a name alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) receiver: Option<Expression>,
    pub(crate) name: String,
    /// `None` for a name alone, which may be a variable.
    pub(crate) arguments: Option<Vec<Expression>>,
}

/// The statements of `source`.
///
/// # Errors
/// See [`SyntaxError`].
pub(crate) fn parse(source: &str) -> Result<Vec<Expression>, SyntaxError> {
    let mut parser = Parser { tokens: tokenize(source)?, at: 0, depth: 0 };
    let mut statements = Vec::new();
    loop {
        while matches!(parser.peek(), TokenKind::Newline | TokenKind::Semicolon) {
            parser.at += 1;
        }
        if *parser.peek() == TokenKind::End {
            return Ok(statements);
        }
        statements.push(parser.statement()?);
        if !matches!(parser.peek(), TokenKind::Newline | TokenKind::Semicolon | TokenKind::End) {
            return Err(parser.unexpected());
        }
    }
}

/// The position of the innermost bracket or string that `source` leaves open.
pub(crate) fn opening_of(source: &str) -> Option<usize> {
    let tokens = match tokenize(source) {
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
pub(crate) fn ends_in_string(source: &str) -> bool {
    tokenize(source).is_err_and(|error| error.quote_at().is_some())
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
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

    fn take_if(&mut self, kind: &TokenKind) -> bool {
        let matches = self.peek() == kind;
        self.at += usize::from(matches);
        matches
    }

    fn skip_newlines(&mut self) {
        while *self.peek() == TokenKind::Newline {
            self.at += 1;
        }
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
            (TokenKind::Name(_) | TokenKind::Constant(_), TokenKind::Minus) => {
                error.with_advice("a name or value needs quotes")
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
            TokenKind::String(_) => "tSTRING_BEG".to_owned(),
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

    fn statement(&mut self) -> Result<Expression, SyntaxError> {
        let name = match (self.peek(), self.peek_second().map(|token| &token.kind)) {
            (TokenKind::Name(name), Some(TokenKind::Equals)) => name.clone(),
            _ => return self.expression(),
        };
        self.at += 2;
        self.skip_newlines();
        self.enter()?;
        let value = self.statement()?;
        self.depth -= 1;
        Ok(Expression::Assign(name, Box::new(value)))
    }

    fn expression(&mut self) -> Result<Expression, SyntaxError> {
        self.enter()?;
        let mut expression = self.primary()?;
        let mut links = 0;
        loop {
            if self.take_if(&TokenKind::Dot) {
                self.skip_newlines();
                let TokenKind::Name(name) = self.peek() else {
                    return Err(self.unexpected());
                };
                let name = name.clone();
                self.at += 1;
                let arguments = self.arguments()?;
                let receiver = Some(expression);
                expression = Expression::Call(Box::new(Call { receiver, name, arguments }));
            } else if *self.peek() == TokenKind::BracketOpen && !self.token().is_spaced {
                self.at += 1;
                self.skip_newlines();
                let index = self.expression()?;
                self.expect(&TokenKind::BracketClose)?;
                expression = Expression::Index(Box::new(expression), Box::new(index));
            } else {
                break;
            }
            self.enter()?;
            links += 1;
        }
        self.depth -= 1 + links;
        Ok(expression)
    }

    fn primary(&mut self) -> Result<Expression, SyntaxError> {
        let expression = match self.peek().clone() {
            TokenKind::String(bytes) => Expression::String(bytes),
            TokenKind::Integer(number) => Expression::Integer(number),
            TokenKind::Float(number) => Expression::Float(number),
            TokenKind::Symbol(name) => Expression::Symbol(name),
            TokenKind::Constant(name) => Expression::Constant(name),
            TokenKind::Name(name) => {
                self.at += 1;
                return self.name(name);
            }
            TokenKind::Minus => return self.negative(),
            TokenKind::BracketOpen => return self.array(),
            TokenKind::BraceOpen => return self.hash(),
            TokenKind::ParenOpen => {
                self.at += 1;
                self.skip_newlines();
                let inner = self.statement()?;
                self.expect(&TokenKind::ParenClose)?;
                return Ok(inner);
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(expression)
    }

    fn name(&mut self, name: String) -> Result<Expression, SyntaxError> {
        match name.as_str() {
            "nil" => return Ok(Expression::Nil),
            "true" => return Ok(Expression::Bool(true)),
            "false" => return Ok(Expression::Bool(false)),
            _ => {}
        }
        let arguments = self.arguments()?;
        Ok(Expression::Call(Box::new(Call { receiver: None, name, arguments })))
    }

    fn negative(&mut self) -> Result<Expression, SyntaxError> {
        self.at += 1;
        let number = match *self.peek() {
            TokenKind::Integer(number) => Expression::Integer(-number),
            TokenKind::Float(number) => Expression::Float(-number),
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(number)
    }

    fn array(&mut self) -> Result<Expression, SyntaxError> {
        self.at += 1;
        let items = self.list(&TokenKind::BracketClose)?;
        Ok(Expression::Array(items))
    }

    fn hash(&mut self) -> Result<Expression, SyntaxError> {
        self.at += 1;
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

    /// What a call passes: a list in parentheses, a bare list, or nothing.
    fn arguments(&mut self) -> Result<Option<Vec<Expression>>, SyntaxError> {
        let token = self.token();
        let is_spaced = token.is_spaced;
        match &token.kind {
            TokenKind::ParenOpen => {
                self.at += 1;
                self.list(&TokenKind::ParenClose).map(Some)
            }
            TokenKind::BraceOpen => Err(self.block()),
            TokenKind::BracketOpen if !is_spaced => Ok(None),
            TokenKind::Minus => {
                let is_sign = is_spaced && self.peek_second().is_some_and(|next| !next.is_spaced);
                if is_sign { self.bare_list().map(Some) } else { Ok(None) }
            }
            TokenKind::String(_)
            | TokenKind::Integer(_)
            | TokenKind::Float(_)
            | TokenKind::Symbol(_)
            | TokenKind::Label(_)
            | TokenKind::Constant(_)
            | TokenKind::Name(_)
            | TokenKind::BracketOpen => self.bare_list().map(Some),
            _ => Ok(None),
        }
    }

    /// A block is never valid here: the error is at its first part that no block may contain.
    fn block(&mut self) -> SyntaxError {
        self.at += 1;
        self.skip_newlines();
        if *self.peek() == TokenKind::BraceClose {
            return SyntaxError::new("blocks are not supported", self.token().span.end);
        }
        match self.statement() {
            Err(error) => error,
            Ok(_) if *self.peek() == TokenKind::BraceClose => {
                SyntaxError::new("blocks are not supported", self.token().span.end)
            }
            Ok(_) => self.unexpected(),
        }
    }

    /// Items up to `close`, which is consumed; `=>` pairs at the end become one hash.
    fn list(&mut self, close: &TokenKind) -> Result<Vec<Expression>, SyntaxError> {
        let mut items = List::default();
        loop {
            self.skip_newlines();
            if self.take_if(close) {
                break;
            }
            self.push_item(&mut items)?;
            self.skip_newlines();
            if !self.take_if(&TokenKind::Comma) {
                self.expect(close)?;
                break;
            }
        }
        Ok(items.finish())
    }

    fn bare_list(&mut self) -> Result<Vec<Expression>, SyntaxError> {
        let mut items = List::default();
        loop {
            self.push_item(&mut items)?;
            if !self.take_if(&TokenKind::Comma) {
                return Ok(items.finish());
            }
            self.skip_newlines();
        }
    }

    fn push_item(&mut self, items: &mut List) -> Result<(), SyntaxError> {
        let start = self.at;
        match self.item()? {
            (Some(key), value) => items.pairs.push((key, value)),
            (None, value) if items.pairs.is_empty() => items.values.push(value),
            // After a pair only pairs may follow.
            (None, _) => return Err(self.unexpected_after(start)),
        }
        Ok(())
    }

    /// `value`, `key => value` or `key: value`.
    fn item(&mut self) -> Result<(Option<Expression>, Expression), SyntaxError> {
        if let TokenKind::Label(name) = self.peek() {
            let key = Expression::Symbol(name.clone());
            self.at += 1;
            self.skip_newlines();
            return Ok((Some(key), self.expression()?));
        }
        let first = self.expression()?;
        if !self.take_if(&TokenKind::Arrow) {
            return Ok((None, first));
        }
        self.skip_newlines();
        Ok((Some(first), self.expression()?))
    }
}

#[derive(Default)]
struct List {
    values: Vec<Expression>,
    pairs: Vec<(Expression, Expression)>,
}

impl List {
    fn finish(mut self) -> Vec<Expression> {
        if !self.pairs.is_empty() {
            self.values.push(Expression::Hash(self.pairs));
        }
        self.values
    }
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
        assert_eq!((class, line), ("SyntaxError", Some(1)));
        assert_eq!(message, "syntax error, unexpected '=>'");
        assert_eq!(picture, Some(format!("{source}\n{:17}^", "")));
    }

    #[test]
    fn unfinished_text_asks_for_more() {
        for source in ["create 't',", "get 't', {", "a [", "a(", "x =", "put 't', 'r", "t."] {
            assert!(parse(source).unwrap_err().is_incomplete(), "{source}");
        }
        for source in ["create 't' 'f'", "a)", "=> 1", "a 'b' => 1, 'c'", "{1}", "a b: "] {
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
            assert_eq!(opening_of(source), at, "{source}");
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
