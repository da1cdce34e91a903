//! Changes a value where it is: `a << 1`, `h['k'] = 2`, `list.push(3)`.

use crate::ast::Expression;
use crate::error::Failure;
use crate::lines::Lines;
use crate::method::mutate;
use crate::shell::Shell;
use crate::value::Value;

impl Shell {
    /// Calls a method that changes its receiver: a variable, an element of one, or a value
    /// without a name. If the result is dropped, it may be `nil`.
    pub(super) fn change(
        &mut self,
        receiver: &Expression,
        name: &str,
        arguments: &[Value],
        is_dropped: bool,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let mut indexes = Vec::new();
        let mut place = receiver;
        while let Expression::Index(inner, index) = place {
            match index.as_slice() {
                [index] => indexes.push(self.evaluate(index, answers)?),
                _ => break,
            }
            place = inner;
        }
        let variable = place.variable().and_then(|name| self.scope.get_mut(name));
        let Some(mut value) = variable else {
            let mut value = self.evaluate(receiver, answers)?;
            return mutate::call(&mut value, name, arguments);
        };
        let added = &mut self.added_bytes;
        for index in indexes.iter().rev() {
            value = match element(value, index) {
                Some(element) => element,
                None => return mutate::call(&mut Value::Nil, name, arguments),
            };
        }
        match is_dropped && mutate::add(value, name, arguments, added)? {
            true => Ok(Value::Nil),
            false => mutate::call(value, name, arguments),
        }
    }
}

fn element<'a>(value: &'a mut Value, index: &Value) -> Option<&'a mut Value> {
    match (value, index) {
        (Value::Array(items), Value::Integer(index)) => {
            let at = if *index < 0 { index + items.len() as i64 } else { *index };
            items.get_mut(usize::try_from(at).ok()?)
        }
        (Value::Hash(hash), key) => hash.get_mut(key),
        _ => None,
    }
}
