//! Loads with a known answer.

use hblite::{HeavyRows, RegionRows, RowCounts, RowWaits, SampledRow, WaitedRow};

use super::*;
use crate::mix::mixed;

const SECONDS: f64 = 5.0;

/// What is found for these requests, in their order, of a table with four regions: from the first
/// key, from "g", from "n" and from "t". Each request is a row and whether it is a write.
fn of_requests(requests: &[(String, bool)]) -> Vec<Finding> {
    let bounds: [&[u8]; 5] = [b"", b"g", b"n", b"t", b""];
    let mut regions: Vec<RegionSeen> = (0..4)
        .map(|at| RegionSeen {
            name: at.to_string(),
            keys: Some((bounds[at].to_vec(), bounds[at + 1].to_vec())),
            ..RegionSeen::default()
        })
        .collect();
    let mut rows = RowCounts::default();
    for at in 0..4 {
        rows.regions.push(RegionRows {
            waits: Default::default(),
            table: "t".parse().unwrap(),
            region: at.to_string(),
            reads: HeavyRows::default(),
            writes: HeavyRows::default(),
        });
    }
    for (row, is_write) in requests {
        let row = row.as_bytes();
        let at = (1..4).rev().find(|at| row >= bounds[*at]).unwrap_or(0);
        let (count, heavy) = match is_write {
            true => (&mut regions[at].writes, &mut rows.regions[at].writes),
            false => (&mut regions[at].reads, &mut rows.regions[at].reads),
        };
        *count += 1;
        heavy.requests += 1;
        match heavy.rows.iter_mut().find(|(known, _)| known == row) {
            Some((_, count)) => *count += 1,
            None => heavy.rows.push((row.to_vec(), 1)),
        }
        let (region, row) = (at as u32, row.to_vec());
        rows.sample.push(SampledRow { region, is_write: *is_write, row });
    }
    let motion = (Motion::default(), Motion::default());
    let (rows, method) = (Some(&rows), Method::Counted);
    findings(&Observed { regions, seconds: SECONDS, rows, method, motion })
}

fn of_writes(count: u64, row: impl Fn(u64) -> String) -> Vec<Finding> {
    of_requests(&(0..count).map(|at| (row(at), true)).collect::<Vec<_>>())
}

fn kinds(found: &[Finding]) -> Vec<&'static str> {
    found.iter().map(|finding| finding.kind).collect()
}

/// The row for which writes wait, not the one that waits; plain writes do not say their row.
#[test]
fn waits_are_of_the_row_that_is_held() {
    let waited = |row: &str, micros| WaitedRow { row: row.into(), micros, waits: 7 };
    let of = |micros: u64| {
        let rows = vec![waited("", 9_000_000), waited("total", micros), waited("other", 1)];
        let waits = RowWaits { waits: 21, micros: 2 * micros, error_micros: micros, rows };
        let region = |name: &str, waits: &RowWaits| RegionRows {
            table: "t".parse().unwrap(),
            region: name.to_owned(),
            reads: HeavyRows::default(),
            writes: HeavyRows::default(),
            waits: waits.clone(),
        };
        let elsewhere = RowWaits { rows: vec![waited("elsewhere", 1 << 40)], ..waits.clone() };
        let regions = vec![region("0", &waits), region("of another table", &elsewhere)];
        let rows = RowCounts { regions, ..RowCounts::default() };
        let regions = vec![RegionSeen { name: "0".to_owned(), ..RegionSeen::default() }];
        let motion = (Motion::default(), Motion::default());
        let (rows, method) = (Some(&rows), Method::Counted);
        findings(&Observed { regions, seconds: 10.0, rows, method, motion })
    };
    let found = of(3_000_000);
    assert_eq!(kinds(&found), ["waits"]);
    let expected =
        "Writes waited 3 s for the row \"total\", 7 times: at any moment, 0.3 of them wait.";
    assert_eq!(found[0].text, expected);
    assert_eq!((found[0].share, found[0].low, found[0].high), (0.5, 0.5, 1.0));
    assert_eq!(kinds(&of(900_000)), [""; 0]);
}

/// A row anywhere in the table.
fn even(at: u64) -> String {
    let first = char::from(b"abhjopuv"[(mixed(at) >> 8) as usize % 8]);
    format!("{first}{:06}", mixed(at) % 1_000_000)
}

#[test]
fn an_even_load_has_no_findings() {
    for seed in 0..50 {
        let found = of_writes(400, |at| even(seed * 1_000 + at));
        assert_eq!(found, [], "{seed}");
    }
    // Little load is not judged at all.
    assert_eq!(of_writes(4, |_| "a".to_owned()), []);
}

#[test]
fn a_hot_row_is_named_with_its_share() {
    let found = of_writes(400, |at| if at % 4 == 1 { "popular".to_owned() } else { even(at) });
    assert_eq!(found[0].text, "The row \"popular\" has 25 % of the writes.");
    assert_eq!((kinds(&found), found[0].share), (vec!["row"], 0.25));
    let found = of_writes(400, |at| if at % 10 < 7 { "popular".to_owned() } else { even(at) });
    assert_eq!(kinds(&found), ["region", "row"]);
    assert!(found[0].help.contains("one row"), "{}", found[0].help);
}

#[test]
fn reads_are_judged_like_writes() {
    let reads: Vec<_> =
        (0..400).map(|at| (if at % 2 == 0 { "b".to_owned() } else { even(at) }, false)).collect();
    let found = of_requests(&reads);
    assert!(found.iter().all(|finding| finding.metric == Metric::Reads), "{found:?}");
    let row = found.iter().find(|finding| finding.kind == "row").unwrap();
    assert_eq!(row.text, "The row \"b\" has 50 % of the reads.");
}

#[test]
fn a_hot_prefix_is_named_with_its_share() {
    let found = of_writes(500, |at| match at % 5 {
        0..3 => format!("user7-{}", even(at)),
        _ => even(at),
    });
    let prefix = found.iter().find(|finding| finding.kind == "prefix").unwrap();
    assert!(prefix.text.starts_with("Rows that begin with \"user7-\" have 60 %"), "{prefix:?}");
    assert!(!kinds(&found).contains(&"forward"), "{found:?}");
}

/// The first, a middle and the last region, and both directions.
#[test]
fn a_front_is_found_wherever_it_is() {
    for (first, region) in [("a", "the first key"), ("h", "\"g\""), ("z", "\"t\"")] {
        for is_backward in [false, true] {
            let found = of_writes(200, |at| {
                let at = if is_backward { 999 - at } else { at };
                format!("{first}{at:06}")
            });
            assert_eq!(kinds(&found), ["region", "forward"], "{found:?}");
            assert!(found[0].text.contains(&format!("from {region}")), "{found:?}");
            assert!(found[0].help.contains("does not help"), "{found:?}");
            let direction = if is_backward { "backward" } else { "forward" };
            let text = format!("100 % of the writes move {direction} through the keys, now at");
            assert!(found[1].text.starts_with(&text), "{found:?}");
        }
    }
}

/// Next to an even load, and in the order in which several clients write.
#[test]
fn a_front_within_a_prefix_is_found() {
    let found = of_writes(600, |at| match at % 2 {
        0 => format!("user7-{:08}", at + mixed(at) % 30),
        _ => even(at),
    });
    let front = found.iter().find(|finding| finding.kind == "forward").unwrap();
    assert!(front.text.contains("50 % of the writes move forward"), "{front:?}");
    assert!(front.text.contains("keys that begin with \"user7-\", now"), "{front:?}");
    assert!(front.help.contains("behind the prefix"), "{front:?}");
    assert!(!kinds(&found).contains(&"prefix"), "{found:?}");
}

/// Of many busy regions, a minute has hundreds of thousands of sampled rows.
#[test]
fn a_part_of_a_large_sample_is_judged() {
    let count = 20 * observed::JUDGED_MAX as u64;
    let row = |at: u64| match at % 2 {
        0 => format!("user7-{at:08}"),
        _ => even(at),
    };
    let sampled = |at| SampledRow { region: 0, is_write: true, row: row(at).into_bytes() };
    let region = RegionRows {
        waits: Default::default(),
        table: "t".parse().unwrap(),
        region: "0".to_owned(),
        reads: HeavyRows::default(),
        writes: HeavyRows { requests: count, ..HeavyRows::default() },
    };
    let sample = (0..count).map(sampled).collect();
    let rows = RowCounts { regions: vec![region], sample, ..RowCounts::default() };
    let regions =
        vec![RegionSeen { name: "0".to_owned(), writes: 7 * count, ..RegionSeen::default() }];
    let motion = (Motion::default(), Motion::default());
    let (rows, method) = (Some(&rows), Method::Counted);
    let observed = Observed { regions, seconds: SECONDS, rows, method, motion };
    let seen = observed.seen(Metric::Writes);
    let judged = observed::JUDGED_MAX * 99 / 100..=observed::JUDGED_MAX * 101 / 100;
    assert!(judged.contains(&seen.sample.len()), "{}", seen.sample.len());
    let weight = prefix::weight(&seen.sample) / 7.0 / count as f64;
    assert!((weight - 1.0).abs() < 1e-9, "they stand for all requests: {weight}");
    let found = findings(&observed);
    let front = found.iter().find(|finding| finding.kind == "forward").unwrap();
    assert!(front.text.contains("50 % of the writes move forward"), "{front:?}");
    assert!(front.text.contains("begin with \"user7-\""), "{front:?}");
}

/// A region that takes an even load and a front, whose keys have no prefix in common.
#[test]
fn a_front_within_a_region_is_found() {
    let found = of_writes(600, |at| match at % 4 {
        0..3 => format!("{}{:05}", ["h", "i", "j", "k", "l", "m"][at as usize / 100], at),
        _ => even(at),
    });
    assert!(kinds(&found).contains(&"forward"), "{found:?}");
}

/// Rows in no order are not a front, however few there are.
#[test]
fn chance_makes_no_front() {
    for seed in 0..3_000 {
        let rows: Vec<Vec<u8>> = (0..SAMPLE_MIN as u64)
            .map(|at| mixed(seed * 100 + at).to_be_bytes().to_vec())
            .collect();
        let rows: Vec<(&[u8], f64)> = rows.iter().map(|row| (&row[..], 1.0)).collect();
        assert_eq!(front::is_front(&rows), None, "{seed}");
    }
}

/// What was not found may belong to any row.
#[test]
fn missing_writes_widen_the_share() {
    assert_eq!(share_text(0.33, 0.33, 0.78), "33 to 78 %");
    assert_eq!(share_text(0.7, 0.68, 0.72), "70 % (± 2)");
    assert_eq!(share_text(0.7, 0.7, 0.7), "70 %");
}

#[test]
fn the_latest_load_is_five_seconds_long() {
    assert_eq!(latest(&[]), 0);
    assert_eq!(latest(&[(1_000, 5.0), (1_000, 5.0), (0, 5.0)]), 2);
    assert_eq!(latest(&[(1_000, 2.0), (1_000, 2.0), (1_000, 2.0), (1_000, 2.0)]), 3);
    // Too few requests: older ones are added.
    assert_eq!(latest(&[(60, 5.0), (60, 5.0), (60, 5.0)]), 2);
}

#[test]
fn thinned_items_are_chosen_by_their_weights() {
    let weights: Vec<f64> = (0..3_000).map(|at| if at % 3 == 0 { 2.0 } else { 1.0 }).collect();
    let kept: Vec<usize> = thinned(&weights, 400).collect();
    let heavy = kept.iter().filter(|at| *at % 3 == 0).count();
    assert!((390..=410).contains(&kept.len()) && (190..=210).contains(&heavy), "{heavy}");
    assert_eq!(thinned(&[1.0; 10], 100).count(), 10);
    assert_eq!(thinned(&[], 100).count(), 0);
}

/// Keys by the multiplicative hash that many programs have, which is by the golden ratio: what is
/// left of them is spread as they are.
#[test]
fn what_is_thinned_keeps_the_shares_of_hashed_keys() {
    let key = |number: usize| (number as u32).wrapping_mul(2_654_435_761);
    for (count, max) in [(1_600, 200), (10_000, 700), (400, 50)] {
        let mut eighths = [0_usize; 8];
        for at in thinned(&vec![1.0; count], max) {
            eighths[(key(at) >> 29) as usize] += 1;
        }
        let even = max / 8;
        let is_even = |found: &usize| (even / 2..=2 * even).contains(found);
        assert!(eighths.iter().all(is_even), "{count}: {eighths:?}");
    }
}
