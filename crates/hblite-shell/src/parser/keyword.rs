//! `if`, `case`, `while`, `for`, `def`, `begin` and their relatives.

use std::rc::Rc;

use super::Parser;
use crate::ast::{Begin, Case, Definition, Expression, For, If, Rescue, While};
use crate::error::SyntaxError;
use crate::lexer::TokenKind;

/// Words that cannot begin an expression.
const NO_START: [&str; 15] = [
    "then", "do", "end", "else", "elsif", "when", "rescue", "ensure", "and", "or", "in", "if",
    "unless", "while", "until",
];

/// Whether a word after a name cannot be that name's argument.
pub(super) fn ends_arguments(word: &str) -> bool {
    NO_START.contains(&word)
}

impl Parser {
    /// The expression that a word begins, if it is one of Ruby's.
    pub(super) fn keyword(&mut self, word: &str) -> Result<Option<Expression>, SyntaxError> {
        let expression = match word {
            "nil" => Expression::Nil,
            "true" => Expression::Bool(true),
            "false" => Expression::Bool(false),
            "if" => self.condition(false)?,
            "unless" => self.condition(true)?,
            "while" => self.repetition(false)?,
            "until" => self.repetition(true)?,
            "for" => self.for_each()?,
            "case" => self.case()?,
            "def" => self.define()?,
            "begin" => self.begin()?,
            "return" => Expression::Return(self.results()?),
            "break" => Expression::Break(self.results()?),
            "next" => Expression::Next(self.results()?),
            "yield" => Expression::Yield(self.results()?),
            "not" => Expression::Not(Box::new(self.expression()?)),
            "lambda" | "proc" => {
                let message = "lambda and proc are not supported: write a method with def";
                return Err(SyntaxError::new(message, self.token().span.end));
            }
            "class" | "module" => {
                let message =
                    format!("{word} is not supported: write methods with def, and use hashes");
                return Err(SyntaxError::new(message, self.token().span.end));
            }
            word if NO_START.contains(&word) => {
                return Err(SyntaxError::unexpected(&format!("'{word}'"), self.last_end()));
            }
            _ => return Ok(None),
        };
        Ok(Some(expression))
    }

    fn results(&mut self) -> Result<Vec<Expression>, SyntaxError> {
        Ok(self.arguments()?.0.unwrap_or_default())
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), TokenKind::Name(name) if name == word)
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let is_it = self.is_word(word);
        self.at += usize::from(is_it);
        is_it
    }

    /// Statements up to one of these words, which is not taken.
    pub(super) fn body(&mut self, ends: &[&str]) -> Result<Vec<Expression>, SyntaxError> {
        self.with_do(true, |parser| {
            let mut statements = Vec::new();
            loop {
                parser.skip_ends();
                if ends.iter().any(|end| parser.is_word(end)) {
                    return Ok(statements);
                }
                statements.push(parser.statement()?);
                let is_over = matches!(parser.peek(), TokenKind::Newline | TokenKind::Semicolon)
                    || ends.iter().any(|end| parser.is_word(end));
                if !is_over {
                    return Err(parser.unexpected());
                }
            }
        })
    }

    /// What a condition needs before its body: a line's end, `;` or `word`.
    fn opening(&mut self, word: &str) -> Result<(), SyntaxError> {
        self.skip_ends();
        self.take_word(word);
        Ok(())
    }

    fn end(&mut self) -> Result<(), SyntaxError> {
        if self.take_word("end") { Ok(()) } else { Err(self.unexpected()) }
    }

    fn condition(&mut self, is_unless: bool) -> Result<Expression, SyntaxError> {
        let mut condition = self.with_do(true, Self::low_expression)?;
        if is_unless {
            condition = Expression::Not(Box::new(condition));
        }
        self.opening("then")?;
        let then = self.body(&["elsif", "else", "end"])?;
        let otherwise = if self.take_word("elsif") {
            self.enter()?;
            let nested = self.condition(false)?;
            self.leave();
            return Ok(Expression::If(Box::new(If { condition, then, otherwise: vec![nested] })));
        } else if self.take_word("else") {
            self.body(&["end"])?
        } else {
            Vec::new()
        };
        self.end()?;
        Ok(Expression::If(Box::new(If { condition, then, otherwise })))
    }

    fn repetition(&mut self, is_until: bool) -> Result<Expression, SyntaxError> {
        let condition = self.with_do(false, Self::low_expression)?;
        self.opening("do")?;
        let body = self.body(&["end"])?;
        self.end()?;
        Ok(Expression::While(Box::new(While { condition, is_until, body })))
    }

    fn for_each(&mut self) -> Result<Expression, SyntaxError> {
        let names = self.names()?;
        if !self.take_word("in") {
            return Err(self.unexpected());
        }
        let list = self.with_do(false, Self::expression)?;
        self.opening("do")?;
        let body = self.body(&["end"])?;
        self.end()?;
        Ok(Expression::For(Box::new(For { names, list, body })))
    }

    /// Names of variables, separated by commas.
    pub(super) fn names(&mut self) -> Result<Vec<String>, SyntaxError> {
        let mut names = Vec::new();
        loop {
            let TokenKind::Name(name) = self.peek() else {
                return Err(self.unexpected());
            };
            let name = name.clone();
            self.at += 1;
            self.variables.insert(name.clone());
            names.push(name);
            if !self.take_if(&TokenKind::Comma) {
                return Ok(names);
            }
        }
    }

    fn case(&mut self) -> Result<Expression, SyntaxError> {
        let subject = match self.peek() {
            TokenKind::Newline | TokenKind::Semicolon => None,
            _ => Some(self.expression()?),
        };
        self.skip_ends();
        let mut arms = Vec::new();
        while self.take_word("when") {
            let mut values = Vec::new();
            loop {
                values.push(self.expression()?);
                if !self.take_if(&TokenKind::Comma) {
                    break;
                }
                self.skip_newlines();
            }
            self.opening("then")?;
            arms.push((values, self.body(&["when", "else", "end"])?));
        }
        if arms.is_empty() {
            return Err(self.unexpected());
        }
        let otherwise = if self.take_word("else") { self.body(&["end"])? } else { Vec::new() };
        self.end()?;
        Ok(Expression::Case(Box::new(Case { subject, arms, otherwise })))
    }

    fn define(&mut self) -> Result<Expression, SyntaxError> {
        let TokenKind::Name(name) = self.peek() else {
            return Err(self.unexpected());
        };
        let name = name.clone();
        self.at += 1;
        let outer = std::mem::take(&mut self.variables);
        let definition = self.definition(name);
        self.variables = outer;
        definition
    }

    fn definition(&mut self, name: String) -> Result<Expression, SyntaxError> {
        let has_parentheses = self.take_if(&TokenKind::ParenOpen);
        let mut parameters = Vec::new();
        while let TokenKind::Name(parameter) = self.peek() {
            let parameter = parameter.clone();
            self.at += 1;
            self.variables.insert(parameter.clone());
            let default = match self.take_if(&TokenKind::Equals) {
                true => Some(self.expression()?),
                false => None,
            };
            parameters.push((parameter, default));
            if !self.take_if(&TokenKind::Comma) {
                break;
            }
        }
        if has_parentheses {
            self.expect(&TokenKind::ParenClose)?;
        } else if !matches!(self.peek(), TokenKind::Newline | TokenKind::Semicolon) {
            return Err(self.unexpected());
        }
        let body = vec![self.begin()?];
        Ok(Expression::Define(Rc::new(Definition { name, parameters, body })))
    }

    /// A body with its `rescue`, `else` and `ensure`, and its `end`.
    fn begin(&mut self) -> Result<Expression, SyntaxError> {
        const PARTS: [&str; 4] = ["rescue", "else", "ensure", "end"];
        let body = self.body(&PARTS)?;
        let mut rescues = Vec::new();
        while self.take_word("rescue") {
            let mut classes = Vec::new();
            while matches!(self.peek(), TokenKind::Constant(_) | TokenKind::Name(_)) {
                classes.push(self.expression()?);
                if !self.take_if(&TokenKind::Comma) {
                    break;
                }
            }
            let name = match self.take_if(&TokenKind::Arrow) {
                true => Some(self.names()?.remove(0)),
                false => None,
            };
            self.opening("then")?;
            rescues.push(Rescue { classes, name, body: self.body(&PARTS)? });
        }
        let otherwise = match self.take_word("else") {
            true => self.body(&["ensure", "end"])?,
            false => Vec::new(),
        };
        let ensure = if self.take_word("ensure") { self.body(&["end"])? } else { Vec::new() };
        self.end()?;
        Ok(Expression::Begin(Box::new(Begin { body, rescues, otherwise, ensure })))
    }
}
