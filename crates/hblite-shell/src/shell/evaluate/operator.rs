//! Binary operators.

use crate::ast::Expression;
use crate::error::Failure;
use crate::lines::Lines;
use crate::method;
use crate::shell::Shell;
use crate::value::Value;

impl Shell {
    pub(super) fn binary(
        &mut self,
        (operator, left, right): (&str, &Expression, &Expression),
        is_dropped: bool,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        if operator == "<<" {
            let value = self.evaluate(right, answers)?;
            return self.change(left, "<<", &[value], is_dropped, answers);
        }
        let left = self.evaluate(left, answers)?;
        let right = self.evaluate(right, answers)?;
        match operator {
            "==" => Ok(Value::Bool(left.equals(&right))),
            "!=" => Ok(Value::Bool(!left.equals(&right))),
            "===" => method::matches_case(&left, &right).map(Value::Bool),
            "!~" => Ok(Value::Bool(!method::call(&left, "=~", &[right])?.is_truthy())),
            operator => method::call(&left, operator, &[right]),
        }
    }
}
