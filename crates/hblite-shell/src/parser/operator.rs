//! Operators, from those that bind least to those that bind most.

use super::Parser;
use crate::ast::{Call, Expression, If, Range};
use crate::error::SyntaxError;
use crate::lexer::TokenKind;

/// Binary operators by how strongly they bind.
const LEVELS: [&[&str]; 10] = [
    &["..", "..."],
    &["||"],
    &["&&"],
    &["==", "!=", "=~", "!~", "<=>", "==="],
    &["<", ">", "<=", ">="],
    &["|", "^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Parser {
    /// An expression with `and`, `or` and `not`.
    pub(super) fn low_expression(&mut self) -> Result<Expression, SyntaxError> {
        let mut left = self.expression()?;
        loop {
            let is_and = self.take_word("and");
            if !is_and && !self.take_word("or") {
                return Ok(left);
            }
            self.skip_newlines();
            let (first, second) = (Box::new(left), Box::new(self.expression()?));
            left =
                if is_and { Expression::And(first, second) } else { Expression::Or(first, second) };
        }
    }

    pub(super) fn expression(&mut self) -> Result<Expression, SyntaxError> {
        self.enter()?;
        let condition = self.binary(0)?;
        let expression = if self.take_operator("?") {
            self.skip_newlines();
            let then = vec![self.expression()?];
            self.skip_newlines();
            if !self.take_operator(":") {
                return Err(self.unexpected());
            }
            self.skip_newlines();
            let otherwise = vec![self.expression()?];
            Expression::If(Box::new(If { condition, then, otherwise }))
        } else {
            condition
        };
        self.leave();
        Ok(expression)
    }

    /// Operators that bind at least as strongly as those of `least`, grouped from the left. One
    /// function for all of them: each level would cost stack.
    fn binary(&mut self, least: usize) -> Result<Expression, SyntaxError> {
        let mut left = if self.take_operator("!") {
            self.enter()?;
            let inner = self.binary(LEVELS.len())?;
            self.leave();
            Expression::Not(Box::new(inner))
        } else {
            self.power()?
        };
        while let Some((level, operator)) = self.operator(least) {
            self.at += 1;
            self.skip_newlines();
            let right = self.binary(level + 1)?;
            left = joined(operator, left, right);
        }
        Ok(left)
    }

    /// The operator here, if it binds as strongly as those of `least` or more.
    fn operator(&self, least: usize) -> Option<(usize, &'static str)> {
        let levels = LEVELS.iter().enumerate().skip(least);
        let mut operators =
            levels.flat_map(|(level, operators)| operators.iter().map(move |one| (level, *one)));
        operators.find(|(_, operator)| self.is_operator(operator))
    }

    fn power(&mut self) -> Result<Expression, SyntaxError> {
        if self.is_operator("-") {
            return self.negative();
        }
        let base = self.postfix()?;
        if !self.take_operator("**") {
            return Ok(base);
        }
        self.enter()?;
        let exponent = self.power()?;
        self.leave();
        Ok(Expression::Binary("**", Box::new(base), Box::new(exponent)))
    }

    fn negative(&mut self) -> Result<Expression, SyntaxError> {
        self.at += 1;
        let number = match *self.peek() {
            TokenKind::Integer(number) => Expression::Integer(-number),
            TokenKind::Float(number) => Expression::Float(-number),
            _ => {
                self.enter()?;
                let inner = self.power()?;
                self.leave();
                return Ok(Expression::Negative(Box::new(inner)));
            }
        };
        self.at += 1;
        self.links(number)
    }

    fn postfix(&mut self) -> Result<Expression, SyntaxError> {
        let first = self.primary()?;
        self.links(first)
    }

    /// Methods, elements and constants of `expression`.
    fn links(&mut self, mut expression: Expression) -> Result<Expression, SyntaxError> {
        let mut links = 0;
        loop {
            let is_safe = self.is_operator("&.");
            if is_safe || *self.peek() == TokenKind::Dot {
                self.at += 1;
                self.skip_newlines();
                let name = match self.peek() {
                    TokenKind::Name(name) | TokenKind::Constant(name) => name.clone(),
                    _ => return Err(self.unexpected()),
                };
                self.at += 1;
                let (arguments, block) = self.arguments()?;
                let receiver = Some(expression);
                let call = Call { receiver, is_safe, name, arguments, block };
                expression = Expression::Call(Box::new(call));
            } else if self.is_operator("::") {
                self.at += 1;
                let TokenKind::Constant(name) = self.peek() else {
                    return Err(self.unexpected());
                };
                let name = name.clone();
                self.at += 1;
                expression = Expression::Scoped(Box::new(expression), name);
            } else if *self.peek() == TokenKind::BracketOpen
                && !(self.token().is_spaced && matches!(expression, Expression::Constant(_)))
            {
                self.at += 1;
                let indexes = self.list(&TokenKind::BracketClose)?.0;
                if indexes.is_empty() {
                    return Err(self.unexpected_after(self.at - 1));
                }
                expression = Expression::Index(Box::new(expression), indexes);
            } else {
                break;
            }
            self.enter()?;
            links += 1;
        }
        (0..links).for_each(|_| self.leave());
        Ok(expression)
    }
}

fn joined(operator: &'static str, left: Expression, right: Expression) -> Expression {
    match operator {
        ".." | "..." => {
            let is_open = operator == "...";
            Expression::Range(Box::new(Range { first: left, last: right, is_open }))
        }
        "||" => Expression::Or(Box::new(left), Box::new(right)),
        "&&" => Expression::And(Box::new(left), Box::new(right)),
        _ => Expression::Binary(operator, Box::new(left), Box::new(right)),
    }
}
