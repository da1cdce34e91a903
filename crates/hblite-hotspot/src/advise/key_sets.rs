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
        assert!(advice.paths().is_none(), "one key is enough: {}\n{advice}", set.name);
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

/// Orders of customers in no order, found by either: keys of 7 and 10 bytes.
fn order_of(index: u64) -> (String, String) {
    let order = mixed(index ^ 0x0a0b) % 10_000_000_000;
    (format!("C{:06}", mixed(index) % 400), format!("{order:010}"))
}

fn two_path_advice(queries: &str, weight: f64) -> Advice {
    let present = Design::parse("customer:str|order:str").expect("a design");
    let record = |index| {
        let (customer, order) = order_of(index);
        vec![customer.into(), order.into()]
    };
    let records: Vec<Record> = (0..PERIOD).map(record).collect();
    let sample = Sample::of_records(present, &records).expect("a sample");
    let wanted = Wanted::parse(queries).expect("queries");
    // As many rows as the sample: what a query reads can be counted in it.
    let options = AdviceOptions {
        regions: REGIONS,
        rows: PERIOD,
        write_weight: weight,
        ..AdviceOptions::default()
    };
    advise(&sample, &wanted, &options).expect("advice")
}

/// The price of two paths, from the bytes of both keys, which are built here.
#[test]
fn two_paths_cost_what_the_keys_say() {
    let advice = two_path_advice("customer = ?\norder = ?", 0.3);
    let paths = advice.paths().unwrap_or_else(|| panic!("{advice}"));
    assert_eq!(paths.table.design.to_string(), "customer:str|order:str", "{advice}");
    assert_eq!(paths.index.design.to_string(), "order:str|customer:str", "{advice}");
    let all: Vec<(String, String)> = (0..PERIOD).map(order_of).collect();
    let key = |first: &str, second: &str| format!("{first}\0{second}").into_bytes();
    // 7 and 10 bytes with a zero between them, in both tables; 24 more bytes of a cell.
    assert!((paths.row_bytes - (18.0 + 18.0 + 24.0)).abs() < 1e-9, "{advice}");
    // What 20 of the records ask for.
    let asked: Vec<&(String, String)> = (0..20).map(|at| &all[at * all.len() / 20]).collect();
    let regions = |splits: &[Vec<u8>], from: &[u8], to: &[u8]| {
        1 + splits.iter().filter(|split| split.as_slice() > from && split.as_slice() < to).count()
    };
    let (mut rows, mut opened) = (0, 0);
    for (customer, _) in &asked {
        rows += all.iter().filter(|(other, _)| other == customer).count();
        let to = format!("{customer}\x01").into_bytes();
        opened += regions(&paths.table.splits, &key(customer, ""), &to);
    }
    let (rows, opened) = (rows as f64 / 20.0, opened as f64 / 20.0);
    let [by_customer, by_order] = &paths.queries[..] else { panic!("{advice}") };
    assert_eq!(by_customer.gets, None);
    assert!((by_customer.cost - (opened + rows / 100.0)).abs() < 1e-9, "{advice}");
    // One row of the index, and a get: a call, and the work of ten rows.
    assert_eq!(by_order.gets, Some(1.0));
    assert!((by_order.cost - (1.01 + 1.0 + 0.1)).abs() < 1e-9, "{advice}");
    // Alone, the table reads all 2,000 rows in 8 regions for an order.
    let alone = advice.present().expect("it is a candidate");
    assert!((alone.queries[1].cost() - (8.0 + 20.0)).abs() < 1e-9, "{advice}");
    // The reads of both against the cheapest of each, and the writes of both.
    let best: [f64; 2] = [0, 1].map(|query| {
        let costs = advice.scores().iter().map(|score| score.queries[query].cost());
        costs.fold(f64::INFINITY, f64::min)
    });
    let reads = ((by_customer.cost / best[0]) * (by_order.cost / best[1])).sqrt();
    assert!((paths.reads - reads).abs() < 1e-9, "{advice}");
    let total = paths.writes.powf(0.3) * reads.powf(0.7);
    assert!((paths.total - total).abs() < 1e-9, "{advice}");
    assert!(paths.total * 1.25 < advice.best().total, "{advice}");
    // The next period, which the adviser does not see: the load of the busiest server of eight,
    // relative to that of one even table.
    let mut loads = [[0_u64; REGIONS]; 2];
    for (customer, order) in (PERIOD..2 * PERIOD).map(order_of) {
        let place = |splits: &[Vec<u8>], key: Vec<u8>| splits.iter().filter(|s| **s <= key).count();
        loads[0][place(&paths.table.splits, key(&customer, &order))] += 1;
        loads[1][place(&paths.index.splits, key(&order, &customer))] += 1;
    }
    let most = loads.iter().map(|loads| *loads.iter().max().expect("regions")).sum::<u64>();
    let truth = most as f64 / (PERIOD as f64 / REGIONS as f64);
    assert!(
        (2.0..2.6).contains(&truth) && (paths.max_over_mean - truth).abs() < 0.6,
        "{truth}\n{advice}"
    );
    // Both are shown with the front, and can be made.
    let text = advice.to_string();
    assert!(text.contains(&format!("{}: writes ", paths.name())), "{text}");
    let last: Vec<&str> = text.lines().rev().take(6).collect();
    let is_create =
        |line: &str, table: &str| line.starts_with(&format!("create '{table}', 'd', S"));
    assert!(is_create(last[0], "t_index") && is_create(last[1], "t"), "{text}");
    assert_eq!(last[3], "Or the table and its index:", "{text}");
    assert!(is_create(last[5], "t"), "{text}");
    // Each splits its table as the candidate was counted.
    assert_eq!(last[1], super::create_command("t", &paths.table.splits));
    assert_eq!(last[0], super::create_command("t_index", &paths.index.splits));
}

/// However many designs there are, few are paired: the best, and the cheapest for each query.
#[test]
fn the_number_of_pairs_is_bounded() {
    let advice = two_path_advice("customer = ?\norder = ?", 0.3);
    let of = |number: u64| {
        let mut score = advice.scores()[number as usize % advice.scores().len()].clone();
        score.queries[0].rows = (mixed(number) % 100_000) as f64;
        score.queries[1].rows = (mixed(number + 1_000) % 100_000) as f64;
        score
    };
    let scores: Vec<_> = (0..500).map(of).collect();
    let paired = super::paths::paired(scores.iter().collect(), 2);
    assert_eq!(paired.len(), super::paths::PAIRED_MAX);
    let has = |wanted: &super::Score| paired.iter().any(|score| std::ptr::eq(*score, wanted));
    assert!(scores[..32].iter().all(has));
    for query in [0, 1] {
        let mut by_cost: Vec<_> = scores.iter().collect();
        by_cost.sort_by(|one, other| {
            one.queries[query].cost().total_cmp(&other.queries[query].cost())
        });
        assert!(by_cost[..8].iter().all(|score| has(score)), "query {query}");
    }
    // With fewer designs than these, all are.
    assert_eq!(super::paths::paired(scores[..40].iter().collect(), 2).len(), 40);
}

/// One key is enough if writes are all that matters, or if the second query is rare.
#[test]
fn two_paths_are_proposed_only_where_they_pay() {
    for (queries, weight) in [
        ("customer = ?\norder = ?", 1.0),
        ("1000: customer = ?\n1: order = ?", 0.5),
        ("customer = ?\ncustomer = ? and order = ?", 0.3),
        ("order = ?", 0.3),
    ] {
        let advice = two_path_advice(queries, weight);
        assert!(advice.paths().is_none(), "{queries}\n{advice}");
    }
}
