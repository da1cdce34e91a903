//! Predicts the next period of a workload.
//!
//! A field grows if its values keep rising in write order: a time, a counter, a number in text, or
//! in steps, such as a day. The
//! next period has the records of the sample with these fields advanced by the length of the
//! sample. All other fields are distributed as before.
//!
//! A split inside the values of a growing field is useless, because no later write goes there. So a
//! split may use only a key's *stable prefix*: what precedes its first growing part.

use hblite_rowkey::{Design, Encoding, Part, Text, Turn, Value};

/// The share of records that must exceed those a tenth of the sample earlier.
const RISING: f64 = 0.95;
/// The share of records that must differ from those before, of a number that rises in steps.
const STEPS: f64 = 0.05;

/// How a field changes from one period to the next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Motion {
    /// Its values recur.
    Still,
    /// A number increases by this much.
    Number(i128),
    /// The digits of a text, read as one number, increase by this much.
    Digits {
        /// By how much.
        by: u128,
        /// Whether all texts have the same length, so that greater numbers get no more digits.
        is_padded: bool,
    },
    /// A text grows in a way that cannot be extrapolated.
    Text,
}

/// How the field at `index` changes.
pub(super) fn motion(records: &[Vec<Value<'static>>], index: usize) -> Motion {
    let value = |record: usize| &records[record][index];
    let lag = (records.len() / 10).max(1);
    let pairs = records.len().saturating_sub(lag);
    let rising = (0..pairs).filter(|&first| is_greater(value(first + lag), value(first))).count();
    let different = (0..pairs).filter(|&first| value(first + lag) != value(first)).count();
    let is_share = |of: usize, share: f64| rising as f64 >= share * of as f64;
    let is_steady = is_share(pairs, RISING);
    let is_stepwise = is_share(different, RISING) && is_share(pairs, STEPS);
    if pairs == 0 || !(is_steady || is_stepwise) {
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
            let by = most - least + (most - least) / records.len() as u128 + 1;
            let mut lengths = values().filter_map(Value::as_text).map(str::len);
            let first = lengths.next();
            Motion::Digits { by, is_padded: lengths.all(|length| Some(length) == first) }
        }
        _ if is_steady => Motion::Text,
        _ => Motion::Still,
    }
}

/// Whether a value is greater: texts with the same letters around their digits by the number that
/// the digits are, so that 10 comes after 9.
fn is_greater(value: &Value<'_>, than: &Value<'_>) -> bool {
    let letters = |text: &str| -> String { text.chars().filter(|c| !c.is_ascii_digit()).collect() };
    if let (Some(one), Some(other)) = (value.as_text(), than.as_text())
        && let (Some(number), Some(than)) = (digits(one), digits(other))
        && letters(one) == letters(other)
    {
        return number > than;
    }
    value > than
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
        (Motion::Digits { by, is_padded }, Value::Text(text)) => {
            Value::from(moved_text(text, *by, *is_padded))
        }
        _ => value.clone(),
    }
}

/// A text whose digits are those of a greater number. If that has more digits than the text, the
/// additional ones go to the front; a padded text gets all nines instead.
fn moved_text(text: &str, by: u128, is_padded: bool) -> String {
    let places = text.chars().filter(char::is_ascii_digit).count();
    let sum = digits(text).and_then(|number| number.checked_add(by));
    let sum = sum.map(|sum| format!("{sum:0places$}"));
    let sum = sum.filter(|sum| sum.len() == places || !is_padded);
    let sum = sum.unwrap_or_else(|| "9".repeat(places));
    let (additional, own) = sum.split_at(sum.len() - places);
    let mut next = own.chars();
    let mut moved = String::with_capacity(text.len() + additional.len());
    let mut additional = Some(additional);
    for c in text.chars() {
        if c.is_ascii_digit() {
            moved.push_str(additional.take().unwrap_or_default());
            moved.push(next.next().unwrap_or(c));
        } else {
            moved.push(c);
        }
    }
    moved
}

/// The number of parts before the first one that grows; all parts if none does.
pub(super) fn stable_parts(design: &Design, is_growing: impl Fn(&str) -> bool) -> usize {
    let grows = |part: &Part| match part {
        Part::Field(field) => {
            let keeps_order = match field.encoding {
                Encoding::Number(number) => number.is_ordered(),
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
    fn numbers_in_text_grow_by_their_value_and_get_more_digits() {
        let records = column(|index| format!("n{}", 500 + index).into());
        let by = motion(&records, 0);
        assert_eq!(by, Motion::Digits { by: 1000, is_padded: false });
        assert_eq!(moved(&records[499][0], &by), Value::from("n1999"));
        assert_eq!(moved(&records[9][0], &by), Value::from("n1509"));
        let shuffled = column(|index| format!("n{}", crate::mix::mixed(index) % 900).into());
        assert_eq!(motion(&shuffled, 0), Motion::Still);
    }

    #[test]
    fn days_grow_in_steps() {
        let days = column(|index| (20_260_130 + index / 500).into());
        assert_eq!(motion(&days, 0), Motion::Number(2));
        let is_rare = |index| crate::mix::mixed(index).is_multiple_of(20);
        let rare = column(|index| u64::from(is_rare(index)).into());
        assert_eq!(motion(&rare, 0), Motion::Still);
        let states = column(|index| if index < 500 { "old" } else { "young" }.into());
        assert_eq!(motion(&states, 0), Motion::Still);
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
