//! Goal: texts mean what they mean to HBase's `ParseFilter`. Method: texts recorded with Apache
//! HBase 2.6.1, and texts for the quirks of its parser.

use super::super::{Comparator, CompareOperator, SingleColumnTest};
use super::*;

fn parse(text: &str) -> Filter {
    parse_filter(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn prefix(prefix: &str) -> Filter {
    Filter::prefix(prefix)
}

fn all(filters: impl Into<Vec<Filter>>) -> Filter {
    Filter::list(ListOperator::MustPassAll, filters.into())
}

fn one(filters: impl Into<Vec<Filter>>) -> Filter {
    Filter::list(ListOperator::MustPassOne, filters.into())
}

#[test]
fn filters_and_their_arguments() {
    let equal = CompareOperator::Equal;
    let apple = || Comparator::binary("apple");
    let test = || SingleColumnTest::new("f", "a", equal, apple());
    let strict = || test().with_filter_if_missing(true);
    let range = |max: Option<&str>| {
        Filter::column_range(Some(b"a".to_vec()), true, max.map(Into::into), false)
    };
    let cases = [
        ("PrefixFilter ('r5')", prefix("r5")),
        ("  PrefixFilter ( 'r5' )  ", prefix("r5")),
        ("KeyOnlyFilter()", Filter::key_only(false)),
        ("KeyOnlyFilter (TRUE)", Filter::key_only(true)),
        ("FirstKeyOnlyFilter()", Filter::first_key_only()),
        ("ColumnPrefixFilter('a')", Filter::column_prefix("a")),
        (
            "MultipleColumnPrefixFilter('b','a')",
            Filter::multiple_column_prefix(["a", "b"]).unwrap(),
        ),
        ("ColumnCountGetFilter(2)", Filter::column_count_get(2).unwrap()),
        ("PageFilter(2)", Filter::page(2).unwrap()),
        ("ColumnPaginationFilter(1,2)", Filter::column_pagination(1, 2).unwrap()),
        ("InclusiveStopFilter('r3')", Filter::inclusive_stop("r3")),
        ("TimestampsFilter(1, 2 8)", Filter::timestamps([1, 2, 8], false).unwrap()),
        ("TimestampsFilter()", Filter::timestamps([], false).unwrap()),
        ("RowFilter(=,'binary:r2')", Filter::row(equal, Comparator::binary("r2"))),
        (
            "FamilyFilter(>=,'binaryprefix:f')",
            Filter::family(CompareOperator::GreaterOrEqual, Comparator::binary_prefix("f")),
        ),
        (
            "QualifierFilter(!=,'substring:A')",
            Filter::qualifier(CompareOperator::NotEqual, Comparator::substring("a")),
        ),
        (
            "ValueFilter(=,'regexstring:^a:.*e$')",
            Filter::value(equal, Comparator::regex("^a:.*e$").unwrap()),
        ),
        ("ValueFilter(=,'binary:it''s')", Filter::value(equal, Comparator::binary("it's"))),
        ("ValueFilter(=,'binary:)(')", Filter::value(equal, Comparator::binary(")("))),
        ("PrefixFilter('''')", prefix("'")),
        ("PrefixFilter('')", prefix("")),
        ("DependentColumnFilter('f','a')", Filter::dependent_column("f", "a", false)),
        ("DependentColumnFilter('f','a',true)", Filter::dependent_column("f", "a", true)),
        (
            "DependentColumnFilter('f','a',false,=,'binary:apple')",
            Filter::dependent_column_value("f", "a", false, equal, apple()),
        ),
        ("SingleColumnValueFilter('f','a',=,'binary:apple')", Filter::single_column_value(test())),
        (
            "SingleColumnValueFilter('f','a',=,'binary:apple',true,false)",
            Filter::single_column_value(strict().with_latest_version_only(false)),
        ),
        (
            "SingleColumnValueExcludeFilter('f','a',=,'binary:apple',true,true)",
            Filter::single_column_value_exclude(strict()),
        ),
        (
            "ColumnValueFilter('f','a',=,'binary:apple')",
            Filter::column_value("f", "a", equal, apple()),
        ),
        ("ColumnRangeFilter('a',true,'b',false)", range(Some("b"))),
        ("ColumnRangeFilter('a',true,'',false)", range(None)),
    ];
    for (text, filter) in cases {
        assert_eq!(parse(text), filter, "{text}");
    }
    let names: Vec<_> = supported_filters().collect();
    assert!(names.len() == 19 && names.is_sorted());
}

#[test]
fn operators_and_what_they_bind() {
    let (a, b, c) = ("PrefixFilter('a')", "PrefixFilter('b')", "PrefixFilter('c')");
    let filters = || ["a", "b", "c"].map(prefix);
    let [p, q, r] = filters();
    let cases = [
        (format!("{a} AND {b} AND {c}"), all(filters())),
        (format!("{a} OR {b} AND {c}"), one([p.clone(), all([q.clone(), r.clone()])])),
        (format!("({a} OR {b}) AND {c}"), all([one([p.clone(), q.clone()]), r.clone()])),
        (format!("({a})AND({b})"), all([p.clone(), q.clone()])),
        (format!("SKIP {a} AND {b}"), all([Filter::skip(p.clone()), q.clone()])),
        (format!("SKIP ({a} AND {b})"), Filter::skip(all([p.clone(), q.clone()]))),
        (format!("WHILE SKIP {a}"), Filter::while_match(Filter::skip(p.clone()))),
        (format!("{a} AND SKIP {b} OR {c}"), {
            one([all([p.clone(), Filter::skip(q.clone())]), r.clone()])
        }),
        (format!("(({a}))"), p.clone()),
        (format!("({a}"), p.clone()),
    ];
    for (text, filter) in cases {
        assert_eq!(parse(&text), filter, "{text}");
    }
}

#[test]
fn what_is_wrong_and_where() {
    let long = |name: &str| format!("Filter Name {name} not supported");
    let incorrect = "Incorrect Filter String".to_owned();
    let mismatched = "Mismatched parenthesis".to_owned();
    let cases = [
        ("FuzzyRowFilter('r?','00')", long("FuzzyRowFilter"), 0),
        ("prefixFilter('r')", long("prefixFilter"), 0),
        ("PrefixFilter('a') and PrefixFilter('r')", long("and"), 18),
        ("PrefixFilter\t('a')", long("PrefixFilter\t"), 0),
        ("PrefixFilter('r'", incorrect.clone(), 0),
        ("", incorrect.clone(), 0),
        ("AND", incorrect.clone(), 0),
        ("SKIP", incorrect.clone(), 0),
        ("PrefixFilter('a') AND", incorrect.clone(), 18),
        ("PrefixFilter('a') PrefixFilter('b')", incorrect.clone(), 35),
        ("PrefixFilter('a') AND ", "Incorrect input string - an AND needs two filters".into(), 22),
        ("PrefixFilter('a') OR (", "Incorrect input string - an OR needs two filters".into(), 22),
        ("(", incorrect, 1),
        ("SKIP ", "Incorrect input string - a SKIP wraps a filter".into(), 5),
        ("WHILE ()", "Incorrect input string - a WHILE wraps a filter".into(), 8),
        ("PrefixFilter('a'))", mismatched.clone(), 17),
        ("(PrefixFilter('a') OR PrefixFilter('b') AND PrefixFilter('c'))", mismatched, 61),
        ("'x')", "Incorrect Filter Name".into(), 0),
        ("x )", "Incorrect argument list".into(), 0),
    ];
    for (text, message, position) in cases {
        let error = parse_filter(text).unwrap_err();
        assert_eq!((error.error.message(), error.position), (message.as_str(), position), "{text}");
    }
}

#[test]
fn arguments_that_a_filter_does_not_take() {
    let texts = [
        "PrefixFilter()",
        "PrefixFilter(r)",
        "PrefixFilter('a','b')",
        "PageFilter('2')",
        "PageFilter(-1)",
        "PageFilter(99999999999999999999)",
        "ColumnCountGetFilter(3000000000)",
        "RowFilter(=,'r1')",
        "RowFilter(==,'binary:r1')",
        "RowFilter(=,'nope:r1')",
        "RowFilter(<,'substring:r1')",
        "RowFilter(=,'regexstring:[')",
        "ValueFilter(=,'null')",
        "ColumnRangeFilter('a',true,null,false)",
        "ColumnRangeFilter('a',maybe,'b',false)",
        "SingleColumnValueFilter('f','a',=)",
        "TimestampsFilter(-1)",
        "FirstKeyOnlyFilter(1)",
        "MultipleColumnPrefixFilter('a','a')",
    ];
    for text in texts {
        let error = parse_filter(format!("  {text}")).unwrap_err();
        assert_eq!(error.error.message(), format!("Incorrect filter string {text}"));
        assert_eq!(error.error.exception(), crate::Exception::IllegalArgument);
        assert_eq!(error.position, 2);
    }
}

#[test]
fn deep_nesting_is_refused() {
    let skips = |count: usize| format!("{}PrefixFilter('a')", "SKIP ".repeat(count));
    assert!(parse_filter(skips(Filter::DEPTH_MAX - 1)).is_ok());
    assert!(parse_filter(skips(Filter::DEPTH_MAX)).is_err());
    assert!(parse_filter(skips(100_000)).is_err());
    let parentheses = format!("{}PrefixFilter('a')", "(".repeat(100_000));
    assert_eq!(parse(&parentheses), prefix("a"));
}
