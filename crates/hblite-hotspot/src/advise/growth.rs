//! What the next period of a workload looks like.
//!
//! A field grows if its values keep rising in write order: a time, a counter, a number in text.
//! The next period has the records of the sample with these fields moved on by the length of the
//! sample. All other fields are distributed as before.
//!
//! A split inside the values of a growing field is useless, because no write returns there. So a
//! key's prefix before its first growing part, its *stable prefix*, is all that a split may use.

use hblite_rowkey::{Design, Encoding, Part, Text, Turn, Value};

/// The share of records that must exceed those a tenth of the sample earlier.
const RISING: f64 = 0.95;

/// How a field changes from one period to the next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Motion {
    /// Its values return.
    Still,
    /// A number increases by this much.
    Number(i128),
    /// The digits of a text, read as one number, increase by this much.
    Digits(u128),
    /// A text grows in a way that cannot be continued.
    Text,
}

/// How the field at `index` moves.
pub(super) fn motion(records: &[Vec<Value<'static>>], index: usize) -> Motion {
    let value = |record: usize| &records[record][index];
    let lag = (records.len() / 10).max(1);
    let pairs = records.len().saturating_sub(lag);
    let rising = (0..pairs).filter(|&first| value(first + lag) > value(first)).count();
    if pairs == 0 || (rising as f64) < RISING * pairs as f64 {
        return Motion::Still;
    }
    let values = || records.iter().map(|record| &record[index]);
    if let (Some(least), Some(most)) =
        (values().filter_map(Value::as_number).min(), values().filter_map(Value::as_number).max())
    {
        let span = most - least;
        return Motion::Number(span + span / records.len() as i128 + 1);
    }
    let digits = || values().filter_map(|value| value.as_text().and_then(digits));
    match (digits().min(), digits().max()) {
        (Some(least), Some(most)) if most > least => {
            Motion::Digits(most - least + (most - least) / records.len() as u128 + 1)
        }
        _ => Motion::Text,
    }
}

/// The digits of a text as one number.
fn digits(text: &str) -> Option<u128> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// A value in the next period.
pub(super) fn moved(value: &Value<'static>, motion: &Motion) -> Value<'static> {
    match (motion, value) {
        (Motion::Number(by), Value::Unsigned(number)) => {
            let sum = i128::from(*number) + by;
            Value::Unsigned(u64::try_from(sum).unwrap_or(*number))
        }
        (Motion::Number(by), Value::Signed(number)) => {
            let sum = i128::from(*number) + by;
            Value::Signed(i64::try_from(sum).unwrap_or(*number))
        }
        (Motion::Digits(by), Value::Text(text)) => Value::from(moved_text(text, *by)),
        _ => value.clone(),
    }
}

/// A text whose digits are those of a greater number; all nines if that has too many digits.
fn moved_text(text: &str, by: u128) -> String {
    let places = text.chars().filter(char::is_ascii_digit).count();
    let sum = digits(text).and_then(|number| number.checked_add(by));
    let sum = sum.map(|sum| format!("{sum:0places$}")).filter(|sum| sum.len() == places);
    let sum = sum.unwrap_or_else(|| "9".repeat(places));
    let mut next = sum.chars();
    text.chars().map(|c| if c.is_ascii_digit() { next.next().unwrap_or(c) } else { c }).collect()
}

/// The number of parts before the first one that grows; all parts if none does.
pub(super) fn stable_parts(design: &Design, is_growing: impl Fn(&str) -> bool) -> usize {
    let grows = |part: &Part| match part {
        Part::Field(field) => {
            let keeps_order = match field.encoding {
                Encoding::Number(_) => true,
                Encoding::Text(Text { turn, .. }) => turn == Turn::Plain,
                Encoding::Md5 | Encoding::Md5Hex(_) => false,
            };
            keeps_order && is_growing(&field.name)
        }
        _ => false,
    };
    design.parts().iter().position(grows).unwrap_or(design.parts().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(value: impl Fn(u64) -> Value<'static>) -> Vec<Vec<Value<'static>>> {
        (0..1000).map(|index| vec![value(index)]).collect()
    }

    #[test]
    fn what_grows_is_moved_on_by_one_period() {
        let records = column(|index| (5000 + index * 10).into());
        let by = motion(&records, 0);
        assert_eq!(by, Motion::Number(9990 + 9 + 1));
        assert_eq!(moved(&records[0][0], &by), Value::from(15_000_u64));

        let records = column(|index| format!("foo{index:010}").into());
        let by = motion(&records, 0);
        assert_eq!(moved(&records[7][0], &by), Value::from("foo0000001007"));

        let records = column(|index| format!("ord-{index:03}").into());
        let by = motion(&records, 0);
        assert_eq!(moved(&records[999][0], &by), Value::from("ord-999"), "no more digits");
    }

    #[test]
    fn entities_return_even_if_time_is_jittered() {
        let random = |index: u64| crate::mix::mixed(index);
        let records = column(|index| format!("user{:04}", random(index) % 300).into());
        assert_eq!(motion(&records, 0), Motion::Still);
        let records = column(|index| (index * 100 + random(index) % 900).into());
        assert!(matches!(motion(&records, 0), Motion::Number(_)), "late records still rise");
    }
}
