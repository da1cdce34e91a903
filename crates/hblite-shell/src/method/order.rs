//! Equality and order of values.

use std::cmp::Ordering;

use crate::value::Value;

impl Value {
    /// Ruby's `==`.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nil, Self::Nil) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Symbol(left), Self::Symbol(right)) => left == right,
            (Self::Module(left), Self::Module(right)) => left == right,
            (Self::Hash(left), Self::Hash(right)) => {
                let has = |(key, value): (&Self, &Self)| {
                    right.get_value(key).is_some_and(|other| other.equals(value))
                };
                left.iter().count() == right.iter().count() && left.iter().all(has)
            }
            (Self::Array(left), Self::Array(right)) => {
                left.len() == right.len() && left.iter().zip(right).all(|(l, r)| l.equals(r))
            }
            (Self::Range(left, open), Self::Range(right, other_open)) => {
                open == other_open && left.0.equals(&right.0) && left.1.equals(&right.1)
            }
            _ => compare(self, other) == Some(Ordering::Equal),
        }
    }
}

/// Ruby's `<=>`; `None` where the values have no order.
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => Some(left.cmp(right)),
        (Value::Integer(left), Value::Float(right)) => (*left as f64).partial_cmp(right),
        (Value::Float(left), Value::Integer(right)) => left.partial_cmp(&(*right as f64)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Symbol(left), Value::Symbol(right)) => Some(left.cmp(right)),
        (Value::Time(left), Value::Time(right)) => Some(left.cmp(right)),
        (Value::Array(left), Value::Array(right)) => {
            for (left, right) in left.iter().zip(right) {
                match compare(left, right)? {
                    Ordering::Equal => {}
                    order => return Some(order),
                }
            }
            Some(left.len().cmp(&right.len()))
        }
        _ => None,
    }
}
