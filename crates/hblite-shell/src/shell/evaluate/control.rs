//! Conditions, loops, methods, blocks and errors that are caught.

use std::rc::Rc;

use super::{Passed, Scope};
use crate::ast::{Begin, Block, Case, Definition, Expression, For, Parameter, Rescue, While};
use crate::error::Failure;
use crate::lines::Lines;
use crate::method::{self, iterate};
use crate::shell::Shell;
use crate::value::Value;

/// Classes that `rescue` uses for every error, whatever its own class.
const ANY_ERROR: [&str; 8] = [
    "Exception",
    "StandardError",
    "NativeException",
    "java.lang.Exception",
    "java.lang.Throwable",
    "java.io.IOException",
    "Java::JavaLang::Exception",
    "Java::JavaLang::Throwable",
];

impl Shell {
    pub(super) fn control(
        &mut self,
        expression: &Expression,
        is_dropped: bool,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        match expression {
            Expression::Sequence(statements) => self.sequence(statements, is_dropped, answers),
            Expression::If(choice) => {
                let holds = self.evaluate(&choice.condition, answers)?.is_truthy();
                let branch = if holds { &choice.then } else { &choice.otherwise };
                self.sequence(branch, is_dropped, answers)
            }
            Expression::While(repetition) => self.repeat(repetition, answers),
            Expression::For(each) => self.for_each(each, answers),
            Expression::Case(case) => self.case(case, is_dropped, answers),
            Expression::Define(definition) => {
                self.methods.insert(definition.name.clone(), Rc::clone(definition));
                Ok(Value::Symbol(definition.name.clone()))
            }
            Expression::Begin(begin) => self.begin(begin, answers),
            Expression::Return(values) => Err(Failure::Return(self.result(values, answers)?)),
            Expression::Break(values) => Err(Failure::Break(self.result(values, answers)?)),
            Expression::Next(values) => Err(Failure::Next(self.result(values, answers)?)),
            Expression::Yield(values) => {
                let values = self.evaluate_all(values, answers)?;
                match self.scope.block() {
                    Some(block) => self.run_block(&block, values, is_dropped, answers),
                    None => Err(Failure::ruby("LocalJumpError", "no block given (yield)".into())),
                }
            }
            // All others are values, which the caller evaluates.
            _ => Ok(Value::Nil),
        }
    }

    fn result(&mut self, values: &[Expression], answers: &mut dyn Lines) -> Result<Value, Failure> {
        let mut values = self.evaluate_all(values, answers)?;
        Ok(match values.len() {
            0 => Value::Nil,
            1 => values.remove(0),
            _ => Value::Array(values),
        })
    }

    fn repeat(&mut self, while_: &While, answers: &mut dyn Lines) -> Result<Value, Failure> {
        while self.evaluate(&while_.condition, answers)?.is_truthy() != while_.is_until {
            match self.sequence(&while_.body, true, answers) {
                Err(Failure::Break(value)) => return Ok(value),
                Err(Failure::Next(_)) => {}
                other => _ = other?,
            }
        }
        Ok(Value::Nil)
    }

    fn for_each(&mut self, each: &For, answers: &mut dyn Lines) -> Result<Value, Failure> {
        let list = self.evaluate(&each.list, answers)?;
        for item in iterate::items(&list)? {
            match (each.names.as_slice(), item?) {
                ([name], item) => self.scope.set(name, item),
                (names, item) => {
                    for (name, value) in names.iter().zip(spread(item, names.len())) {
                        self.scope.set(name, value);
                    }
                }
            }
            match self.sequence(&each.body, true, answers) {
                Err(Failure::Break(value)) => return Ok(value),
                Err(Failure::Next(_)) => {}
                other => _ = other?,
            }
        }
        Ok(list)
    }

    fn case(
        &mut self,
        case: &Case,
        is_dropped: bool,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let subject = match &case.subject {
            Some(subject) => Some(self.evaluate(subject, answers)?),
            None => None,
        };
        for (values, body) in &case.arms {
            for value in values {
                let value = self.evaluate(value, answers)?;
                let holds = match &subject {
                    Some(subject) => method::matches_case(&value, subject)?,
                    None => value.is_truthy(),
                };
                if holds {
                    return self.sequence(body, is_dropped, answers);
                }
            }
        }
        self.sequence(&case.otherwise, is_dropped, answers)
    }

    /// Calls `block` without end, until it breaks.
    pub(super) fn endless(
        &mut self,
        block: &Passed,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        loop {
            match self.run_block(block, Vec::new(), true, answers) {
                Err(Failure::Break(value)) => return Ok(value),
                other => _ = other?,
            }
        }
    }

    /// Calls a block. `next` ends it; `break` is for the caller. If its value is dropped, it may be
    /// any.
    pub(crate) fn run_block(
        &mut self,
        (block, outer): &Passed,
        values: Vec<Value>,
        is_dropped: bool,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let (parameters, body) = match &**block {
            Block::Body { parameters, body } => (parameters, body),
            Block::Method(name) => {
                let receiver = values.first().unwrap_or(&Value::Nil);
                return method::call(receiver, name, values.get(1..).unwrap_or_default());
            }
        };
        let left = self.scope.enter_block(*outer);
        bind(&mut self.scope, parameters, values);
        let value = self.sequence(body, is_dropped, answers);
        self.scope.leave(left);
        match value {
            Err(Failure::Next(value)) => Ok(value),
            value => value,
        }
    }

    pub(super) fn call_method(
        &mut self,
        definition: &Definition,
        values: Vec<Value>,
        block: Option<Passed>,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let (given, most) = (values.len(), definition.parameters.len());
        let least = definition.parameters.iter().filter(|(_, value)| value.is_none()).count();
        if !(least..=most).contains(&given) {
            let expected =
                if least == most { least.to_string() } else { format!("{least}..{most}") };
            let message = format!("wrong number of arguments (given {given}, expected {expected})");
            return Err(Failure::ruby("ArgumentError", message));
        }
        let left = self.scope.enter_method(block);
        let value = self.run_method(definition, values, answers);
        self.scope.leave(left);
        match value {
            Err(Failure::Return(value)) => Ok(value),
            value => value,
        }
    }

    fn run_method(
        &mut self,
        definition: &Definition,
        values: Vec<Value>,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let mut values = values.into_iter();
        for (name, default) in &definition.parameters {
            let value = match (values.next(), default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.evaluate(default, answers)?,
                (None, None) => Value::Nil,
            };
            self.scope.declare(name, value);
        }
        self.sequence(&definition.body, false, answers)
    }

    fn begin(&mut self, begin: &Begin, answers: &mut dyn Lines) -> Result<Value, Failure> {
        let (depth, prints_errors) = (self.depth, self.prints_errors);
        // What is caught is not printed.
        self.prints_errors &= begin.rescues.is_empty();
        let body = self.sequence(&begin.body, false, answers);
        (self.depth, self.prints_errors) = (depth, prints_errors);
        let value = match body {
            Ok(value) if begin.otherwise.is_empty() => Ok(value),
            Ok(_) => self.sequence(&begin.otherwise, false, answers),
            Err(failure) => match self.rescue(&begin.rescues, &failure) {
                Some(rescue) => {
                    if let Some(name) = &rescue.name {
                        let (class, message) = failure.class_and_message().unwrap_or_default();
                        self.scope.set(name, Value::Exception(class, message));
                    }
                    self.sequence(&rescue.body, false, answers)
                }
                None => {
                    self.print_command_error(&failure)?;
                    Err(failure)
                }
            },
        };
        if !begin.ensure.is_empty() {
            self.sequence(&begin.ensure, true, answers)?;
        }
        value
    }

    /// The first of `rescues` for a failure.
    fn rescue<'r>(&self, rescues: &'r [Rescue], failure: &Failure) -> Option<&'r Rescue> {
        let (class, _) = failure.class_and_message()?;
        let is_for = |wanted: &Expression| {
            let name = super::java::path(wanted).or_else(|| match wanted {
                Expression::Constant(name) => Some(name.clone()),
                _ => None,
            });
            name.is_some_and(|name| {
                ANY_ERROR.contains(&name.as_str())
                    || class == name
                    || class.rsplit('.').next() == name.rsplit(['.', ':']).next()
            })
        };
        rescues.iter().find(|one| one.classes.is_empty() || one.classes.iter().any(is_for))
    }
}

/// Gives the parameters of a block their values. An array is opened if there are several.
fn bind(scope: &mut Scope, parameters: &[Parameter], mut values: Vec<Value>) {
    if parameters.len() > 1
        && let [Value::Array(_)] = values.as_slice()
    {
        values = spread(values.remove(0), parameters.len());
    }
    let mut values = values.into_iter();
    for parameter in parameters {
        let value = values.next().unwrap_or(Value::Nil);
        match parameter {
            Parameter::Name(name) => scope.declare(name, value),
            Parameter::Items(names) => {
                for (name, item) in names.iter().zip(spread(value, names.len())) {
                    scope.declare(name, item);
                }
            }
        }
    }
}

/// The items of an array, or the value and `nil`s.
fn spread(value: Value, count: usize) -> Vec<Value> {
    let mut items = match value {
        Value::Array(items) => items,
        other => vec![other],
    };
    items.resize(count.max(items.len()), Value::Nil);
    items
}
