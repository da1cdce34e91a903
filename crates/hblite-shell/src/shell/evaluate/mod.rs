//! Evaluates expressions.
//!
//! Values are copied, not shared: `b = a; b << 1` leaves `a` as it was. Blocks run where they are
//! passed, and are not values. Nothing runs without bound: the depth of calls, the steps of a
//! statement and the size of values are limited, and every step looks whether the user has ended
//! the command.

mod control;
mod iterate;
mod java;
mod operator;
mod place;
mod scope;

use std::rc::Rc;

pub(crate) use self::scope::Scope;

use crate::ast::{Block, Call, Expression, Piece};
use crate::command::{self, help};
use crate::error::Failure;
use crate::lines::Lines;
use crate::method;
use crate::shell::Shell;
use crate::value::{Hash, Value};

/// The end of Ruby's message for a name that the shell does not have.
const RECEIVER: &str = " for #<HBaseReceiver>";
/// Expressions within expressions, with those of called methods, beyond this are refused.
const DEPTH_MAX: usize = 90;
/// A statement that takes more steps is ended.
const STEPS_MAX: u64 = 200_000_000;

/// A block, and the number of the frame where it was written.
pub(crate) type Passed = (Rc<Block>, usize);

impl Shell {
    pub(crate) fn evaluate(
        &mut self,
        expression: &Expression,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        // What is within this expression is needed, whether its own value is or not.
        let is_dropped = std::mem::take(&mut self.is_dropped);
        self.steps += 1;
        if self.steps > STEPS_MAX {
            let message = format!("a statement of more than {STEPS_MAX} steps was ended");
            return Err(Failure::ruby("RuntimeError", message));
        }
        if self.is_interrupted() {
            return Err(Failure::Interrupted);
        }
        if self.depth >= DEPTH_MAX {
            let message = "stack level too deep: methods call each other too often".to_owned();
            return Err(Failure::ruby("SystemStackError", message));
        }
        self.depth += 1;
        let value = self.value_of(expression, is_dropped, answers);
        self.depth -= 1;
        value
    }

    fn value_of(
        &mut self,
        expression: &Expression,
        is_dropped: bool,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        Ok(match expression {
            Expression::Nil => Value::Nil,
            Expression::Bool(value) => Value::Bool(*value),
            Expression::Integer(value) => Value::Integer(*value),
            Expression::Float(value) => Value::Float(*value),
            Expression::String(bytes) => Value::String(bytes.clone()),
            Expression::Pattern(pattern) => Value::Pattern(pattern.clone()),
            Expression::Symbol(name) => Value::Symbol(name.clone()),
            Expression::Interpolated(pieces) => self.interpolate(pieces, answers)?,
            Expression::Constant(name) => self.constant(name)?,
            Expression::Scoped(outer, name) => {
                let outer = self.evaluate(outer, answers)?;
                java::member(&outer, name)?
            }
            Expression::Array(items) => {
                method::sized(Value::Array(self.evaluate_all(items, answers)?))?
            }
            Expression::Hash(pairs) => self.hash(pairs, answers)?,
            Expression::Range(range) => {
                let first = self.evaluate(&range.first, answers)?;
                let last = self.evaluate(&range.last, answers)?;
                Value::Range(Box::new((first, last)), range.is_open)
            }
            Expression::Variable(name) => self.scope.get(name).cloned().unwrap_or(Value::Nil),
            Expression::Assign(name, value) => {
                let value = self.evaluate(value, answers)?;
                self.scope.set(name, value.clone());
                value
            }
            Expression::AssignIndex(receiver, index, value) => {
                let index = self.evaluate(index, answers)?;
                let value = self.evaluate(value, answers)?;
                self.change(receiver, "[]=", &[index, value.clone()], true, answers)?;
                value
            }
            Expression::Index(value, indexes) => self.call_on(value, "[]", indexes, answers)?,
            Expression::Call(call) => self.call(call, is_dropped, answers)?,
            Expression::Binary(operator, left, right) => {
                self.binary((operator, left, right), is_dropped, answers)?
            }
            Expression::Negative(inner) => {
                let value = self.evaluate(inner, answers)?;
                method::call(&value, "-@", &[])?
            }
            Expression::Not(inner) => Value::Bool(!self.evaluate(inner, answers)?.is_truthy()),
            Expression::And(left, right) => {
                let left = self.evaluate(left, answers)?;
                if left.is_truthy() { self.evaluate(right, answers)? } else { left }
            }
            Expression::Or(left, right) => {
                let left = self.evaluate(left, answers)?;
                if left.is_truthy() { left } else { self.evaluate(right, answers)? }
            }
            other => self.control(other, is_dropped, answers)?,
        })
    }

    fn hash(
        &mut self,
        pairs: &[(Expression, Expression)],
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let mut hash = Hash::default();
        for (key, value) in pairs {
            let key = self.evaluate(key, answers)?;
            hash.insert(key, self.operand(value, answers)?);
        }
        method::sized(Value::Hash(hash))
    }

    fn interpolate(&mut self, pieces: &[Piece], answers: &mut dyn Lines) -> Result<Value, Failure> {
        let mut bytes = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => bytes.extend_from_slice(text),
                Piece::Code(code) => {
                    bytes.extend(self.sequence(code, false, answers)?.to_bytes());
                }
            }
        }
        method::sized(Value::String(bytes))
    }

    /// The value of the last of `statements`. If it is dropped, any value may be returned.
    pub(crate) fn sequence(
        &mut self,
        statements: &[Expression],
        is_dropped: bool,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let mut value = Value::Nil;
        for (at, statement) in statements.iter().enumerate() {
            self.is_dropped = is_dropped || at + 1 < statements.len();
            value = self.evaluate(statement, answers)?;
        }
        Ok(value)
    }

    fn constant(&self, name: &str) -> Result<Value, Failure> {
        if let Some(text) = crate::constants::resolve(name) {
            return Ok(Value::from(text));
        }
        if let Some(class) = self.imports.get(name) {
            return Ok(Value::Module(class.clone()));
        }
        java::constant(name).ok_or_else(|| Failure::name_error(undefined_constant(name)))
    }

    pub(crate) fn evaluate_all(
        &mut self,
        expressions: &[Expression],
        answers: &mut dyn Lines,
    ) -> Result<Vec<Value>, Failure> {
        expressions.iter().map(|expression| self.operand(expression, answers)).collect()
    }

    /// The value of an argument or of a part of one. A word that means nothing there was probably
    /// meant as a string, and the error says how to write it.
    fn operand(
        &mut self,
        expression: &Expression,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        self.evaluate(expression, answers).map_err(|failure| match (failure, expression.word()) {
            (Failure::Ruby { class, message, line, picture }, Some(word))
                if message == undefined_constant(word) || message.ends_with(RECEIVER) =>
            {
                let message = format!("{message}; a name or value needs quotes: '{word}'");
                Failure::Ruby { class, message, line, picture }
            }
            (failure, _) => failure,
        })
    }

    fn call(
        &mut self,
        call: &Call,
        is_dropped: bool,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let Some(receiver) = &call.receiver else {
            return self.call_by_name(call, answers);
        };
        if let Some(path) = java::path(&Expression::Call(Box::new(call.clone()))) {
            return Ok(Value::Module(path));
        }
        let is_change = call.block.is_none() && method::mutate::is_change(&call.name);
        if is_change && !self.holds_table(receiver) {
            let values =
                self.evaluate_all(call.arguments.as_deref().unwrap_or_default(), answers)?;
            return self.change(receiver, &call.name, &values, is_dropped, answers);
        }
        if let ("delete", Some([wanted]), None) =
            (call.name.as_str(), call.arguments.as_deref(), &call.block)
        {
            let wanted = self.evaluate(wanted, answers)?;
            return self.change(receiver, "delete", &[wanted], false, answers);
        }
        if call.block.is_none() && self.holds_data(receiver) {
            let arguments = call.arguments.as_deref().unwrap_or_default();
            return self.call_on(receiver, &call.name, arguments, answers);
        }
        let receiver = self.evaluate(receiver, answers)?;
        if call.is_safe && matches!(receiver, Value::Nil) {
            return Ok(Value::Nil);
        }
        let values = self.evaluate_all(call.arguments.as_deref().unwrap_or_default(), answers)?;
        if let Value::Table(table) = receiver {
            return self.call_table(table, &call.name, values, answers);
        }
        if let Some(block) = &call.block {
            let block = (Rc::clone(block), self.scope.current());
            return self.iterate(receiver, &call.name, &values, &block, answers);
        }
        if let Value::Module(class) = &receiver {
            let now = self.now_millis();
            return java::call(class, &call.name, &values, now);
        }
        method::call(&receiver, &call.name, &values)
    }

    /// Calls a method that changes nothing. What a variable holds is not copied for it.
    fn call_on(
        &mut self,
        receiver: &Expression,
        name: &str,
        arguments: &[Expression],
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        if self.holds_data(receiver) {
            let values = self.evaluate_all(arguments, answers)?;
            let held = receiver.variable().and_then(|name| self.scope.get(name));
            return method::call(held.unwrap_or(&Value::Nil), name, &values);
        }
        let value = self.evaluate(receiver, answers)?;
        let values = self.evaluate_all(arguments, answers)?;
        method::call(&value, name, &values)
    }

    /// Whether `expression` is a variable with a table, which has commands of those names.
    fn holds_table(&self, expression: &Expression) -> bool {
        let value = expression.variable().and_then(|name| self.scope.get(name));
        matches!(value, Some(Value::Table(_)))
    }

    /// Whether `expression` is a variable with a text, an array or a hash.
    fn holds_data(&self, expression: &Expression) -> bool {
        let value = expression.variable().and_then(|name| self.scope.get(name));
        matches!(value, Some(Value::String(_) | Value::Array(_) | Value::Hash(_)))
    }

    fn call_table(
        &mut self,
        table: hblite::TableName,
        name: &str,
        values: Vec<Value>,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        if name == "help" {
            return match values.first() {
                Some(topic) => self.help(topic),
                None => {
                    self.out.line(help::TABLE_HELP)?;
                    Ok(Value::Nil)
                }
            };
        }
        match command::find(name).filter(|command| command.is_table_method) {
            Some(command) => {
                let arguments = [vec![Value::Table(table)], values].concat();
                self.run_command(command, arguments, answers)
            }
            None => method::call(&Value::Table(table), name, &values),
        }
    }

    fn call_by_name(&mut self, call: &Call, answers: &mut dyn Lines) -> Result<Value, Failure> {
        if let (None, None, Some(value)) =
            (&call.arguments, &call.block, self.scope.get(&call.name))
        {
            return Ok(value.clone());
        }
        if call.name == "import" || call.name == "java_import" {
            return Ok(self.import(call));
        }
        if let (None, None, Some(path)) = (&call.arguments, &call.block, java::root(&call.name)) {
            return Ok(Value::Module(path.to_owned()));
        }
        let values = self.evaluate_all(call.arguments.as_deref().unwrap_or_default(), answers)?;
        let block = call.block.as_ref().map(|block| (Rc::clone(block), self.scope.current()));
        if let Some(definition) = self.methods.get(&call.name) {
            let definition = Rc::clone(definition);
            return self.call_method(&definition, values, block, answers);
        }
        match (command::find(&call.name), block) {
            (Some(command), _) => self.run_command(command, values, answers),
            (None, Some(block)) if call.name == "loop" => self.endless(&block, answers),
            (None, _) => self.builtin(&call.name, call.arguments.is_some(), &values),
        }
    }

    /// Makes the last part of a class's name a constant.
    fn import(&mut self, call: &Call) -> Value {
        for argument in call.arguments.iter().flatten() {
            let path = match argument {
                Expression::String(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
                other => java::path(other),
            };
            if let Some(path) = path {
                let name = path.rsplit('.').next().unwrap_or(&path).to_owned();
                self.imports.insert(name, path);
            }
        }
        Value::Nil
    }
}

/// The error for a name that means nothing.
pub(crate) fn undefined_name(name: &str, is_call: bool) -> Failure {
    match is_call {
        true => Failure::no_method(format!("undefined method `{name}'{RECEIVER}")),
        false => {
            Failure::name_error(format!("undefined local variable or method `{name}'{RECEIVER}"))
        }
    }
}

fn undefined_constant(name: &str) -> String {
    format!("uninitialized constant HBaseReceiver::{name}")
}
