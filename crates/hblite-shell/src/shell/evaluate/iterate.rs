//! Methods that take a block.

use super::Passed;
use crate::error::Failure;
use crate::lines::Lines;
use crate::method::iterate::{Kept, collect, items, texts};
use crate::method::{self, compare, missing, no_order, sum, unique};
use crate::shell::Shell;
use crate::value::{Hash, Value};

impl Shell {
    /// Calls a method with a block.
    pub(super) fn iterate(
        &mut self,
        receiver: Value,
        name: &str,
        arguments: &[Value],
        block: &Passed,
        answers: &mut dyn Lines,
    ) -> Result<Value, Failure> {
        let mut call = BlockCall { shell: self, block, answers };
        let result = match &receiver {
            Value::Integer(_) | Value::Float(_) => call.count(&receiver, name, arguments),
            Value::String(bytes) => call.text(bytes, name, arguments),
            Value::Array(_) | Value::Hash(_) | Value::Range(..) => {
                call.list(&receiver, name, arguments)
            }
            other => Err(missing(other, name, arguments)),
        };
        match result {
            Err(Failure::Break(value)) => Ok(value),
            result => result.and_then(method::sized),
        }
    }
}

/// A block that a method calls.
struct BlockCall<'a> {
    shell: &'a mut Shell,
    block: &'a Passed,
    answers: &'a mut dyn Lines,
}

impl BlockCall<'_> {
    fn run(&mut self, values: Vec<Value>) -> Result<Value, Failure> {
        self.shell.run_block(self.block, values, false, self.answers)
    }

    /// Calls the block for what it does, not for its value.
    fn effect(&mut self, values: Vec<Value>) -> Result<(), Failure> {
        self.shell.run_block(self.block, values, true, self.answers).map(drop)
    }

    fn one(&mut self, value: &Value) -> Result<Value, Failure> {
        self.run(vec![value.clone()])
    }

    /// `times`, `upto` and their relatives.
    fn count(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        let whole = |value: &Value| method::integer(value);
        let start = whole(receiver)?;
        let (from, to, step) = match (name, arguments) {
            ("times", []) => (0, start.saturating_sub(1), 1),
            ("upto", [last]) => (start, whole(last)?, 1),
            ("downto", [last]) => (start, whole(last)?, -1),
            ("step", [last, step]) => (start, whole(last)?, whole(step)?),
            ("step", [last]) => (start, whole(last)?, 1),
            _ => return Err(missing(receiver, name, arguments)),
        };
        if step == 0 {
            return Err(Failure::ruby("ArgumentError", "step can't be 0".to_owned()));
        }
        let mut at = from;
        while if step > 0 { at <= to } else { at >= to } {
            self.effect(vec![Value::Integer(at)])?;
            let Some(next) = at.checked_add(step) else { break };
            at = next;
        }
        Ok(receiver.clone())
    }

    fn text(&mut self, bytes: &[u8], name: &str, arguments: &[Value]) -> Result<Value, Failure> {
        let receiver = Value::String(bytes.to_vec());
        let parts = match (name, arguments) {
            ("upto", [Value::String(last)]) => {
                for item in texts(bytes, last, false) {
                    self.effect(vec![item?])?;
                }
                return Ok(receiver);
            }
            ("each_char", []) => "chars",
            ("each_byte", []) => "bytes",
            ("each_line", []) => "lines",
            _ => return Err(missing(&receiver, name, arguments)),
        };
        for part in items(&method::call(&receiver, parts, &[])?)? {
            self.effect(vec![part?])?;
        }
        Ok(receiver)
    }

    fn list(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        match (name, arguments, receiver) {
            ("each" | "each_pair" | "each_entry", [], _) => {
                for item in items(receiver)? {
                    let item = item?;
                    self.effect(vec![item])?;
                }
                Ok(receiver.clone())
            }
            ("each_with_index" | "each_with_object" | "each_slice" | "each_cons", ..) => {
                self.each_with(receiver, name, arguments)
            }
            ("step" | "%", [step], Value::Range(ends, is_open)) => {
                let last = method::integer(&ends.1)?;
                let last = Value::Integer(if *is_open { last - 1 } else { last });
                self.count(&ends.0, "step", &[last, step.clone()])
            }
            ("with_index", [] | [_], _) => {
                let first = arguments.first().map_or(Ok(0), method::integer)?;
                let mut answers = Kept::default();
                for (at, item) in (first..).zip(items(receiver)?) {
                    answers.push(self.run(vec![item?, Value::Integer(at)])?)?;
                }
                Ok(Value::Array(answers.into_values()))
            }
            ("reverse_each", [], _) => {
                let mut all = collect(items(receiver)?)?;
                all.reverse();
                all.iter().try_for_each(|item| self.one(item).map(drop))?;
                Ok(receiver.clone())
            }
            ("inject" | "reduce", ..) => {
                let mut items = items(receiver)?;
                let mut sum = match arguments.first() {
                    Some(start) => start.clone(),
                    None => items.next().unwrap_or(Ok(Value::Nil))?,
                };
                for item in items {
                    sum = self.run(vec![sum, item?])?;
                }
                Ok(sum)
            }
            (_, [], Value::Hash(hash)) if HASH_ONLY.contains(&name) => self.of_hash(hash, name),
            (_, [], _) => self.of_items(receiver, name),
            _ => Err(missing(receiver, name, arguments)),
        }
    }

    fn each_with(
        &mut self,
        receiver: &Value,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        let size = |value: &Value| -> Result<usize, Failure> {
            Ok(usize::try_from(method::integer(value)?).unwrap_or(1).max(1))
        };
        match (name, arguments) {
            ("each_with_index", []) => {
                for (at, item) in items(receiver)?.enumerate() {
                    self.effect(vec![item?, Value::Integer(at as i64)])?;
                }
                Ok(receiver.clone())
            }
            ("each_with_object", [_]) => {
                let message = "each_with_object is not supported: values are copied. Use inject, \
                               or a variable outside the block";
                Err(Failure::no_method(message.to_owned()))
            }
            ("each_slice", [count]) => {
                let all = collect(items(receiver)?)?;
                for part in all.chunks(size(count)?) {
                    self.effect(vec![Value::Array(part.to_vec())])?;
                }
                Ok(receiver.clone())
            }
            ("each_cons", [count]) => {
                let all = collect(items(receiver)?)?;
                for part in all.windows(size(count)?) {
                    self.effect(vec![Value::Array(part.to_vec())])?;
                }
                Ok(receiver.clone())
            }
            _ => Err(missing(receiver, name, arguments)),
        }
    }

    fn of_hash(&mut self, hash: &Hash, name: &str) -> Result<Value, Failure> {
        let mut made = Hash::default();
        for (key, value) in hash.iter() {
            let answer = match name {
                "each_key" => self.one(key)?,
                "each_value" | "transform_values" => self.one(value)?,
                "transform_keys" => self.one(key)?,
                _ => self.run(vec![key.clone(), value.clone()])?,
            };
            match name {
                "transform_values" => made.insert(key.clone(), answer),
                "transform_keys" => made.insert(answer, value.clone()),
                "select" | "filter" if answer.is_truthy() => {
                    made.insert(key.clone(), value.clone());
                }
                "reject" if !answer.is_truthy() => made.insert(key.clone(), value.clone()),
                _ => {}
            }
        }
        Ok(Value::Hash(if name.starts_with("each") { hash.clone() } else { made }))
    }

    /// Methods that ask the block about every item.
    fn of_items(&mut self, receiver: &Value, name: &str) -> Result<Value, Failure> {
        let all = collect(items(receiver)?)?;
        let mut answers = Kept::default();
        if ASKS_ALL.contains(&name) {
            for item in &all {
                answers.push(self.one(item)?)?;
            }
        }
        let answers = answers.into_values();
        let keep = |is_kept: bool| {
            let pairs = all.iter().zip(&answers);
            pairs
                .filter(move |(_, answer)| answer.is_truthy() == is_kept)
                .map(|(item, _)| item.clone())
        };
        Ok(match name {
            "map" | "collect" => Value::Array(answers),
            "filter_map" => Value::Array(answers.into_iter().filter(Value::is_truthy).collect()),
            "flat_map" => {
                let open = |answer: Value| match answer {
                    Value::Array(items) => items,
                    other => vec![other],
                };
                Value::Array(answers.into_iter().flat_map(open).collect())
            }
            "select" | "filter" => Value::Array(keep(true).collect()),
            "reject" => Value::Array(keep(false).collect()),
            "partition" => Value::Array(vec![
                Value::Array(keep(true).collect()),
                Value::Array(keep(false).collect()),
            ]),
            "count" => Value::Integer(keep(true).count() as i64),
            "to_h" => return method::call(&Value::Array(answers), "to_h", &[]),
            "sum" => return sum(&answers, Value::Integer(0)),
            "sort_by" | "min_by" | "max_by" => return by(name, all, answers),
            "uniq" => {
                let first = unique(answers.clone());
                let place = |value: &Value| answers.iter().position(|answer| answer.equals(value));
                Value::Array(first.iter().filter_map(place).map(|at| all[at].clone()).collect())
            }
            "group_by" => Value::Hash(groups(&all, answers)),
            _ => return self.search(receiver, &all, name),
        })
    }

    /// Methods that may not need every item.
    fn search(&mut self, receiver: &Value, all: &[Value], name: &str) -> Result<Value, Failure> {
        let (wanted, none) = match name {
            "find" | "detect" | "index" | "find_index" => (true, Value::Nil),
            "any?" => (true, Value::Bool(false)),
            "none?" => (true, Value::Bool(true)),
            "all?" => (false, Value::Bool(true)),
            "sort" | "min" | "max" => return self.sort(all.to_vec(), name),
            "each_index" => {
                for at in 0..all.len() {
                    self.run(vec![Value::Integer(at as i64)])?;
                }
                return Ok(receiver.clone());
            }
            "take_while" | "drop_while" => {
                let mut count = 0;
                while count < all.len() && self.one(&all[count])?.is_truthy() {
                    count += 1;
                }
                let part = if name == "take_while" { &all[..count] } else { &all[count..] };
                return Ok(Value::Array(part.to_vec()));
            }
            _ => return Err(missing(receiver, name, &[])),
        };
        for (at, item) in all.iter().enumerate() {
            if self.one(item)?.is_truthy() != wanted {
                continue;
            }
            return Ok(match name {
                "find" | "detect" => item.clone(),
                "index" | "find_index" => Value::Integer(at as i64),
                "any?" => Value::Bool(true),
                _ => Value::Bool(false),
            });
        }
        Ok(none)
    }

    /// Sorts by a block that compares, by insertion: its answers need not be consistent.
    fn sort(&mut self, all: Vec<Value>, name: &str) -> Result<Value, Failure> {
        let mut sorted: Vec<Value> = Vec::with_capacity(all.len());
        for item in all {
            let (mut low, mut high) = (0, sorted.len());
            while low < high {
                let middle = (low + high) / 2;
                let order = self.run(vec![item.clone(), sorted[middle].clone()])?;
                if method::integer(&order)? < 0 { high = middle } else { low = middle + 1 }
            }
            sorted.insert(low, item);
        }
        Ok(match name {
            "sort" => Value::Array(sorted),
            "min" => sorted.first().cloned().unwrap_or(Value::Nil),
            _ => sorted.last().cloned().unwrap_or(Value::Nil),
        })
    }
}

/// Methods that a hash has instead of an array's, or besides them.
const HASH_ONLY: [&str; 7] =
    ["select", "filter", "reject", "each_key", "each_value", "transform_values", "transform_keys"];

/// Sorts items by what the block said about them.
fn by(name: &str, all: Vec<Value>, keys: Vec<Value>) -> Result<Value, Failure> {
    let mut pairs: Vec<(Value, Value)> = keys.into_iter().zip(all).collect();
    let mut failure = None;
    pairs.sort_by(|(left, _), (right, _)| {
        compare(left, right).unwrap_or_else(|| {
            failure.get_or_insert_with(|| no_order(left, right));
            std::cmp::Ordering::Equal
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let mut sorted = pairs.into_iter().map(|(_, item)| item);
    Ok(match name {
        "sort_by" => Value::Array(sorted.collect()),
        "min_by" => sorted.next().unwrap_or(Value::Nil),
        _ => sorted.next_back().unwrap_or(Value::Nil),
    })
}

/// Items by what the block said about them.
fn groups(all: &[Value], answers: Vec<Value>) -> Hash {
    let mut groups = Hash::default();
    for (item, answer) in all.iter().zip(answers) {
        match groups.get_mut(&answer) {
            Some(Value::Array(group)) => group.push(item.clone()),
            _ => groups.insert(answer, Value::Array(vec![item.clone()])),
        }
    }
    groups
}

/// Methods that ask the block about every item first.
const ASKS_ALL: [&str; 16] = [
    "map",
    "collect",
    "flat_map",
    "sum",
    "sort_by",
    "min_by",
    "max_by",
    "group_by",
    "partition",
    "uniq",
    "select",
    "filter",
    "reject",
    "count",
    "to_h",
    "filter_map",
];
