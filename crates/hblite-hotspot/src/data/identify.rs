//! Which fields of recorded data belong in a key.

use std::cmp::Reverse;
use std::hash::{BuildHasher as _, RandomState};

use super::{Records, is_time};

/// Characters beyond which texts are long, and beyond which they are if most contain spaces.
const LONG: (usize, usize) = (64, 20);

/// The fields for keys, as positions in the order of the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFields {
    /// Those that queries name, and those that tell records apart.
    pub chosen: Vec<usize>,
    /// The others.
    pub left_out: Vec<usize>,
    /// Records that have the values of another one in all chosen fields.
    pub repeated: usize,
}

impl Records {
    /// Chooses the fields with these names. If that does not tell records apart, a time is added,
    /// and then the fields that tell most of them apart; but not fractions and long texts.
    pub fn key_fields(&self, named: &[&str]) -> KeyFields {
        let all = 0..self.fields.len();
        let is_named = |at: &usize| named.contains(&self.fields[*at].name.as_str());
        let mut chosen: Vec<usize> = all.clone().filter(is_named).collect();
        let state = RandomState::new();
        let with = |hashes: &[u64], at: usize| -> Vec<u64> {
            let rows = hashes.iter().zip(&self.rows);
            rows.map(|(hash, row)| state.hash_one((hash, &row[at]))).collect()
        };
        let mut hashes = vec![0; self.rows.len()];
        for at in &chosen {
            hashes = with(&hashes, *at);
        }
        let mut distinct = count_distinct(&hashes);
        while distinct < self.rows.len() {
            let others = all.clone().filter(|at| !chosen.contains(at) && self.is_key_like(*at));
            // Of equals, the one with the most values, then the first.
            let best = others
                .map(|at| (with(&hashes, at), at))
                .map(|(hashes, at)| (count_distinct(&hashes), at, hashes))
                .filter(|(count, ..)| *count > distinct)
                .max_by_key(|(count, at, _)| {
                    let own = count_distinct(&with(&vec![0; hashes.len()], *at));
                    (is_time(self.fields[*at].encoding), *count, own, Reverse(*at))
                });
            let Some((count, at, with)) = best else { break };
            (distinct, hashes) = (count, with);
            chosen.push(at);
        }
        chosen.sort_unstable();
        let left_out = all.filter(|at| !chosen.contains(at)).collect();
        KeyFields { chosen, left_out, repeated: self.rows.len() - distinct }
    }

    /// Whether a field may tell records apart: an amount or a free text does so by chance.
    fn is_key_like(&self, at: usize) -> bool {
        let texts = || self.rows.iter().filter_map(|row| row[at].as_text());
        let count = texts().count();
        if count == 0 {
            return true;
        }
        let is_fraction = |text: &str| text.is_empty() || text.parse::<f64>().is_ok();
        let mean = texts().map(str::len).sum::<usize>() / count;
        let with_spaces = texts().filter(|text| text.contains(' ')).count();
        let is_long = mean > LONG.0 || (mean > LONG.1 && 2 * with_spaces > count);
        let is_amount = texts().all(is_fraction) && texts().any(|text| text.contains('.'));
        !is_long && !is_amount
    }
}

fn count_distinct(hashes: &[u64]) -> usize {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

#[cfg(test)]
mod tests {
    use crate::data::{Format, Table};

    fn fields(csv: &str, named: &[&str]) -> (Vec<usize>, usize) {
        let table = Table::read(csv.as_bytes(), Format::Csv).expect("records");
        let records = table.typed(&[], None, None).expect("records");
        let fields = records.key_fields(named);
        (fields.chosen, fields.repeated)
    }

    #[test]
    fn what_queries_name_and_what_identifies_a_record_is_in_the_key() {
        let mut csv = String::from("amount,note,customer,order,price,when\n");
        for index in 0..200_u64 {
            let amount = crate::mix::mixed(index) % 90;
            let note = format!("please leave parcel {index} at the door");
            let (customer, order) = (index % 20, 7_000 + index);
            csv += &format!(
                "{amount},{note},c{customer},o{order},{amount}.{index},2026-01-31 12:00:{:02}\n",
                index % 50
            );
        }
        // An order is one record.
        assert_eq!(fields(&csv, &["order"]), (vec![3], 0));
        // A customer has several, at several times; two at a time differ in their orders.
        assert_eq!(fields(&csv, &["customer"]), (vec![2, 3, 5], 0));
        let without_orders = csv.replace(",o7", ",o7,").replace("order,", "order,digits,");
        let (chosen, repeated) = fields(&without_orders, &["customer", "order"]);
        assert!(!chosen.contains(&1) && repeated == 0, "{chosen:?}");
        // Nothing but prices and texts would tell these apart.
        let sold = "shop,price,note\na,1.5,one line of a long text\na,2.5,another line of a text\n";
        assert_eq!(fields(sold, &["shop"]), (vec![0], 1));
    }
}
