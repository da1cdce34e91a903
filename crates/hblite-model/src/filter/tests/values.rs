//! Comparators, and filters on values.

use std::cmp::Ordering;

use super::region::Region;
use super::*;
use crate::direction::Direction::Forward;

#[test]
fn comparators_compare_themselves_with_bytes() {
    let component = Comparator::BinaryComponent { value: b"an".to_vec(), offset: 1 };
    let bit = |operator| Comparator::Bit { value: vec![0b0110, 0], operator };
    let decimal = Comparator::BigDecimal("1.5".parse().unwrap());
    let cases: &[(&Comparator, &[u8], Ordering)] = &[
        (&Comparator::binary("b"), b"a", Ordering::Greater),
        (&Comparator::binary("b"), b"b\0", Ordering::Less),
        (&Comparator::binary_prefix("b"), b"b\0", Ordering::Equal),
        (&Comparator::binary_prefix("bc"), b"b", Ordering::Greater),
        (&component, b"banana", Ordering::Equal),
        (&component, b"apple", Ordering::Less),
        (&bit(BitwiseOperator::And), &[0b0100, 0], Ordering::Equal),
        (&bit(BitwiseOperator::And), &[0b1001, 1], Ordering::Greater),
        (&bit(BitwiseOperator::And), &[0b0100], Ordering::Greater),
        (&bit(BitwiseOperator::Or), &[0, 0], Ordering::Equal),
        (&bit(BitwiseOperator::Xor), &[0b0110, 0], Ordering::Greater),
        (&Comparator::Long(-5), &[0; 8], Ordering::Less),
        (&Comparator::Long(5), b"1234", Ordering::Less),
        (&decimal, b"\0\0\0\x02\0\x96", Ordering::Equal),
        (&decimal, b"\0\0\0\0\xfd", Ordering::Greater),
        (&Comparator::Null, b"", Ordering::Greater),
        (&Comparator::regex("^a").unwrap(), b"apple", Ordering::Equal),
        (&Comparator::regex("^a").unwrap(), b"Apple", Ordering::Greater),
        (&Comparator::substring("PP"), b"apple", Ordering::Equal),
        (&Comparator::substring("PP"), b"APpLE", Ordering::Equal),
        (&Comparator::substring("pP"), b"p", Ordering::Greater),
        (&Comparator::substring(""), b"", Ordering::Equal),
        (&Comparator::substring("\u{c4}"), "a\u{e4}".as_bytes(), Ordering::Equal),
        (&Comparator::substring("a"), b"\xffA", Ordering::Equal),
    ];
    for (comparator, bytes, expected) in cases {
        assert_eq!(comparator.compare(bytes).unwrap(), *expected, "{comparator:?}, {bytes:?}");
    }
    assert!(component.compare(b"an").is_err() && decimal.compare(b"\0\0\0\0").is_err());
}

#[test]
fn operators_say_how_stored_compares_with_given() {
    let given = Comparator::binary("m");
    let passing = |operator| -> String {
        let passes = |value: &&str| given.passes(operator, value.as_bytes()).unwrap();
        ["a", "m", "z"].into_iter().filter(passes).collect()
    };
    let all: Vec<String> = CompareOperator::ALL.iter().map(|operator| passing(*operator)).collect();
    assert_eq!(all, ["a", "am", "m", "az", "mz", "z", ""]);
    let error = CompareOperator::NoOp.accepts(Ordering::Equal).unwrap_err();
    assert_eq!(error.message(), "Unknown Compare op NO_OP");
    for operator in CompareOperator::ALL {
        assert_eq!(CompareOperator::from_name(operator.name()), Some(*operator));
    }
}

fn region() -> Region {
    let mut region = Region::of(&[
        "r1 f:a 1 apple",
        "r1 f:b 1 banana",
        "r1 g:a 1 1",
        "r2 f:a 4 Apple",
        "r2 f:a 1 apple",
        "r2 f:c 3 cherry",
        "r3 f:b 1 ",
        "r4 g:a 1 zebra",
    ]);
    region.versions_max = 3;
    region
}

fn apple() -> (CompareOperator, Comparator) {
    (CompareOperator::Equal, Comparator::binary("apple"))
}

fn check(filter: Filter, expected: &[&str]) {
    assert_eq!(region().scan(&filter, Forward), expected, "{filter}");
}

#[test]
fn values_are_filtered_before_versions_are_counted() {
    let (operator, comparator) = apple();
    check(Filter::value(operator, comparator.clone()), &["r1/f:a", "r2/f:a"]);
    check(Filter::column_value("f", "a", operator, comparator), &["r1/f:a", "r2/f:a"]);
    let missing = Filter::column_value("f", "x", operator, Comparator::binary(""));
    check(missing, &[]);
}

#[test]
fn rows_are_judged_by_one_column() {
    let (operator, comparator) = apple();
    let test = SingleColumnTest::new("f", "a", operator, comparator);
    let row_1 = ["r1/f:a", "r1/f:b", "r1/g:a"];
    let others = ["r3/f:b", "r4/g:a"];
    check(Filter::single_column_value(test.clone()), &[&row_1[..], &others].concat());
    let strict = test.clone().with_filter_if_missing(true);
    check(Filter::single_column_value(strict.clone()), &row_1);
    check(Filter::single_column_value_exclude(strict), &row_1[1..]);
    let any_version = test.clone().with_filter_if_missing(true).with_latest_version_only(false);
    check(
        Filter::single_column_value(any_version),
        &["r1/f:a", "r1/f:b", "r1/g:a", "r2/f:a@4", "r2/f:c@3"],
    );
    let no_operator = SingleColumnTest { operator: CompareOperator::NoOp, ..test };
    let error = region().rows(&Filter::single_column_value(no_operator), Forward).unwrap_err();
    assert_eq!(error.message(), "Unknown Compare op NO_OP");
}

#[test]
fn cells_depend_on_the_timestamps_of_a_column() {
    check(Filter::dependent_column("f", "b", false), &["r1/f:a", "r1/f:b", "r1/g:a", "r3/f:b"]);
    check(Filter::dependent_column("f", "b", true), &["r1/f:a", "r1/g:a"]);
    let (operator, comparator) = apple();
    let tested = Filter::dependent_column_value("f", "a", false, operator, comparator);
    check(tested, &["r1/f:a", "r1/f:b", "r1/g:a", "r2/f:a"]);
}
