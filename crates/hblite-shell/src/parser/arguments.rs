//! What calls pass: lists in and without parentheses, and blocks.

use std::rc::Rc;

use super::Parser;
use super::keyword::ends_arguments;
use crate::ast::{Block, Expression, Parameter};
use crate::error::SyntaxError;
use crate::lexer::TokenKind;

/// What a call passes: arguments, if there are any, and a block.
type Passed = (Option<Vec<Expression>>, Option<Rc<Block>>);

impl Parser {
    /// What a call passes: a list in parentheses, a bare list, or nothing; and a block.
    pub(super) fn arguments(&mut self) -> Result<Passed, SyntaxError> {
        let (arguments, passed) = match self.begins_arguments() {
            _ if *self.peek() == TokenKind::ParenOpen => {
                self.at += 1;
                let (arguments, block) = self.list(&TokenKind::ParenClose)?;
                (Some(arguments), block)
            }
            true => {
                let (arguments, block) = self.bare_list()?;
                (Some(arguments), block)
            }
            false => (None, None),
        };
        let is_bare = arguments.is_some() && self.tokens[self.at - 1].kind != TokenKind::ParenClose;
        let block = match self.peek() {
            _ if passed.is_some() => passed,
            TokenKind::BraceOpen if !is_bare => Some(self.braced_block()?),
            TokenKind::Name(word) if word == "do" && self.has_do => {
                self.at += 1;
                let parameters = self.parameters()?;
                let body = self.body(&["end"])?;
                self.at += 1;
                Some(Rc::new(Block::Body { parameters, body }))
            }
            _ => None,
        };
        Ok((arguments, block))
    }

    /// Whether the token after a name is the first of its arguments.
    fn begins_arguments(&self) -> bool {
        let token = self.token();
        let is_sign = || token.is_spaced && self.peek_second().is_some_and(|next| !next.is_spaced);
        match &token.kind {
            TokenKind::BracketOpen => token.is_spaced,
            TokenKind::Minus | TokenKind::Operator("&" | "!") => is_sign(),
            TokenKind::Name(word) => !ends_arguments(word),
            TokenKind::String(_)
            | TokenKind::Interpolated(_)
            | TokenKind::Words(_)
            | TokenKind::Pattern(_)
            | TokenKind::Integer(_)
            | TokenKind::Float(_)
            | TokenKind::Symbol(_)
            | TokenKind::Label(_)
            | TokenKind::Constant(_) => true,
            _ => false,
        }
    }

    fn braced_block(&mut self) -> Result<Rc<Block>, SyntaxError> {
        self.at += 1;
        self.enter()?;
        let block = self.with_do(true, |parser| {
            let parameters = parser.parameters()?;
            let body = parser.program()?;
            Ok(Block::Body { parameters, body })
        })?;
        self.leave();
        self.expect(&TokenKind::BraceClose)?;
        Ok(Rc::new(block))
    }

    /// `|a, (b, c)|`
    fn parameters(&mut self) -> Result<Vec<Parameter>, SyntaxError> {
        let mut parameters = Vec::new();
        if !self.take_operator("|") {
            return Ok(parameters);
        }
        loop {
            if self.take_if(&TokenKind::ParenOpen) {
                parameters.push(Parameter::Items(self.names()?));
                self.expect(&TokenKind::ParenClose)?;
            } else if let TokenKind::Name(name) = self.peek() {
                let name = name.clone();
                self.at += 1;
                self.variables.insert(name.clone());
                parameters.push(Parameter::Name(name));
            } else {
                return Err(self.unexpected());
            }
            if self.take_operator("|") {
                return Ok(parameters);
            }
            if !self.take_if(&TokenKind::Comma) {
                return Err(self.unexpected());
            }
        }
    }

    /// Items up to `close`, which is consumed; `=>` pairs at the end become one hash, and `&:name`
    /// is a block.
    pub(super) fn list(
        &mut self,
        close: &TokenKind,
    ) -> Result<(Vec<Expression>, Option<Rc<Block>>), SyntaxError> {
        self.with_do(true, |parser| {
            let mut items = List::default();
            loop {
                parser.skip_newlines();
                if parser.take_if(close) {
                    break;
                }
                parser.push_item(&mut items)?;
                parser.skip_newlines();
                if !parser.take_if(&TokenKind::Comma) {
                    parser.expect(close)?;
                    break;
                }
            }
            Ok(items.finish())
        })
    }

    fn bare_list(&mut self) -> Result<(Vec<Expression>, Option<Rc<Block>>), SyntaxError> {
        // A block after `do` belongs to the call itself, not to its last argument.
        self.with_do(false, |parser| {
            let mut items = List::default();
            loop {
                parser.push_item(&mut items)?;
                if !parser.take_if(&TokenKind::Comma) {
                    return Ok(items.finish());
                }
                parser.skip_newlines();
            }
        })
    }

    fn push_item(&mut self, items: &mut List) -> Result<(), SyntaxError> {
        let start = self.at;
        if self.take_operator("&") {
            let TokenKind::Symbol(name) = self.peek() else {
                return Err(self.unexpected());
            };
            items.block = Some(Rc::new(Block::Method(name.clone())));
            self.at += 1;
            return Ok(());
        }
        match self.item()? {
            (Some(key), value) => items.pairs.push((key, value)),
            (None, value) if items.pairs.is_empty() => items.values.push(value),
            // After a pair only pairs may follow.
            (None, _) => return Err(self.unexpected_after(start)),
        }
        Ok(())
    }

    /// `value`, `key => value` or `key: value`.
    pub(super) fn item(&mut self) -> Result<(Option<Expression>, Expression), SyntaxError> {
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
    block: Option<Rc<Block>>,
}

impl List {
    fn finish(mut self) -> (Vec<Expression>, Option<Rc<Block>>) {
        if !self.pairs.is_empty() {
            self.values.push(Expression::Hash(self.pairs));
        }
        (self.values, self.block)
    }
}
