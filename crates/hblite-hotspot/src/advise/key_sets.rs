//! Sixteen key sets with a known best design. The splits are judged by the real next period, which
//! the adviser does not see.

use hblite_rowkey::{Design, Value};

use super::*;
use crate::mix::mixed;

/// Records of the sample, and of the period after it.
const PERIOD: u64 = 2_000;
const REGIONS: usize = 8;

type Record = Vec<Value<'static>>;

struct KeySet {
    name: &'static str,
    present: &'static str,
    queries: &'static str,
    write_weight: f64,
    record: fn(u64) -> Record,
    /// The best design.
    best: &'static str,
}

const KEY_SETS: [KeySet; 16] = [
    KeySet {
        name: "monotonic numbers, looked up one by one",
        present: "id:u64",
        queries: "id = ?",
        write_weight: 0.5,
        record: |i| vec![(1_000_000 + i).into()],
        best: "id:bit_reversed_u64",
    },
    KeySet {
        name: "monotonic numbers, read in ranges",
        present: "id:u64",
        queries: "id in 1 %",
        write_weight: 0.9,
        record: |i| vec![(1_000_000 + i).into()],
        best: "bucket(id, 8)|id:u64",
    },
    KeySet {
        name: "monotonic numbers in decimal text, looked up one by one",
        present: "id:str",
        queries: "id = ?",
        write_weight: 0.5,
        record: |i| vec![(9_000 + i).to_string().into()],
        best: "id:reversed_str",
    },
    KeySet {
        name: "numbered invoices whose lines are read together",
        present: "invoice:u64|line:u16",
        queries: "invoice = ?",
        write_weight: 0.5,
        record: |i| vec![(7_000_000 + i / 3).into(), (i % 3).into()],
        best: "invoice:bit_reversed_u64|line:u16",
    },
    KeySet {
        name: "uuids",
        present: "id:str",
        queries: "id = ?",
        write_weight: 0.5,
        record: |i| vec![format!("{:016x}{:016x}", mixed(i), mixed(!i)).into()],
        best: "id:str",
    },
    KeySet {
        name: "users with a power law, newest first",
        present: "ts:timestamp|user:str",
        queries: "user = ? newest ts limit 30",
        write_weight: 0.5,
        record: |i| vec![time(i), format!("user{:05}", power_law(i, 0.4)).into()],
        best: "user:str|ts:reverse_timestamp",
    },
    KeySet {
        name: "users, one of them hot",
        present: "user:str|ts:timestamp",
        queries: "user = ? and ts in 1 %",
        write_weight: 0.8,
        record: |i| vec![format!("user{:05}", hot_user(i)).into(), time(i)],
        best: "salt(4, *)|user:str|ts:timestamp",
    },
    KeySet {
        name: "phone numbers, assigned one after the other",
        present: "phone:str",
        queries: "phone = ?",
        write_weight: 0.5,
        record: |i| vec![format!("138{:08}", 10_000_000 + i).into()],
        best: "phone:reversed_str",
    },
    KeySet {
        name: "domains, by their parent domain",
        present: "domain:str|page:str",
        queries: "domain ends 12",
        write_weight: 0.5,
        record: |i| {
            let site = mixed(i) % 700;
            let domain = format!("www{}.site{site:03}.com", mixed(i) % 3);
            vec![domain.into(), format!("/p{i}").into()]
        },
        best: "domain:domain|page:str",
    },
    KeySet {
        name: "user names without a hot one, in keys of at most 18 bytes",
        present: "ts:timestamp|user:str",
        queries: "user = ? newest ts limit 5",
        write_weight: 0.5,
        record: |i| vec![time(i), format!("u{:09}", mixed(i) % 900).into()],
        best: "user:str(10)|ts:reverse_timestamp",
    },
    KeySet {
        name: "sensors",
        present: "ts:timestamp|sensor:str",
        queries: "sensor = ? and ts in 5 %",
        write_weight: 0.5,
        record: |i| vec![time(i), format!("sensor-{:04}", mixed(i) % 500).into()],
        best: "sensor:str|ts:timestamp",
    },
    KeySet {
        name: "orders of customers",
        present: "order:str|customer:str",
        queries: "5: customer = ?\n1: customer = ? and order = ?",
        write_weight: 0.5,
        record: |i| vec![format!("O{i:09}").into(), format!("C{:06}", mixed(i) % 900).into()],
        best: "customer:str|order:str",
    },
    KeySet {
        name: "urls, by their beginning",
        present: "url:str",
        queries: "url begins 24",
        write_weight: 0.5,
        record: |i| vec![format!("http://site{:04}.example/p{i}", mixed(i) % 800).into()],
        best: "url:str",
    },
    KeySet {
        name: "periods across everything",
        present: "ts:timestamp|host:str",
        queries: "ts in 1 %",
        write_weight: 0.9,
        record: |i| vec![time(i), format!("host{:03}", mixed(i) % 300).into()],
        best: "bucket(ts, 8)|ts:timestamp|host:str",
    },
    KeySet {
        name: "few writes, periods across everything",
        present: "ts:timestamp|host:str",
        queries: "ts in 1 %",
        write_weight: 0.0,
        record: |i| vec![time(i), format!("host{:03}", mixed(i) % 300).into()],
        best: "ts:timestamp|host:str",
    },
    KeySet {
        name: "a mix of queries about accounts and transfers",
        present: "id:u64|account:str|ts:timestamp",
        queries: "10: account = ? newest ts limit 20\n1: account = ? and ts in 10 %",
        write_weight: 0.5,
        record: |i| vec![i.into(), format!("AC{:07}", mixed(i) % 1200).into(), time(i)],
        best: "account:str|ts:reverse_timestamp|id:u64",
    },
];

fn time(index: u64) -> Value<'static> {
    (1_700_000_000_000 + index * 1_000 + mixed(index) % 900).into()
}

/// A user whose share falls with this power of its rank; ranks are shuffled over the names.
fn power_law(index: u64, exponent: f64) -> u64 {
    let unit = (mixed(index ^ 0x5eed) >> 11) as f64 / (1u64 << 53) as f64;
    let rank = (2000.0 * unit.powf(1.0 / (1.0 - exponent))) as u64;
    mixed(rank) % 100_000
}

fn hot_user(index: u64) -> u64 {
    if mixed(index).is_multiple_of(2) { 77 } else { mixed(!index) % 1000 }
}

/// Loads of the regions when the records of the next period arrive.
fn next_loads(set: &KeySet, present: &Design, best: &Score) -> Vec<u64> {
    let places: Vec<usize> = best
        .design
        .fields()
        .iter()
        .map(|field| present.field_index(&field.name).expect("a field"))
        .collect();
    let mut loads = vec![0; best.splits.len() + 1];
    let mut key = Vec::new();
    for index in PERIOD..2 * PERIOD {
        let record = (set.record)(index);
        let values: Vec<_> = places.iter().map(|place| record[*place].clone()).collect();
        best.design.encode_into(&values, mixed(index), &mut key).expect("it fits");
        loads[best.splits.partition_point(|split| *split <= key)] += 1;
    }
    loads
}

#[test]
fn the_best_design_is_found_and_its_splits_hold_in_the_next_period() {
    let mut wrong = Vec::new();
    for set in &KEY_SETS {
        let present = Design::parse(set.present).expect("a design");
        let records: Vec<Record> = (0..PERIOD).map(set.record).collect();
        let sample = Sample::of_records(present.clone(), &records).expect("a sample");
        let wanted = Wanted::parse(set.queries).expect("queries");
        let write_weight = set.write_weight;
        let key_bytes_max = set.name.contains("at most 18 bytes").then_some(18);
        let options = AdviceOptions {
            regions: REGIONS,
            write_weight,
            key_bytes_max,
            ..AdviceOptions::default()
        };
        let advice = advise(&sample, &wanted, &options).expect("advice");
        let best = advice.best();
        if best.design.to_string() != set.best {
            wrong.push(format!("{}: {} is the best\n{advice}", set.name, set.best));
            continue;
        }
        if write_weight == 0.0 {
            // If a hot region is acceptable, one is proposed.
            assert!(best.max_over_mean > 7.0, "{}\n{advice}", set.name);
            continue;
        }
        let loads = next_loads(set, &present, best);
        let figures = crate::figures::Figures::of(&loads).expect("writes");
        assert_eq!(loads.len(), REGIONS, "{}\n{advice}", set.name);
        assert!(figures.max_over_mean < 1.5, "{}: {loads:?}\n{advice}", set.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
