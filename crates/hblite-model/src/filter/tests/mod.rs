//! Goal: every filter answers as HBase does. Method: filters run over a small region ([`region`])
//! and the resulting cells are compared; expected answers are from recorded scans of Apache HBase
//! 2.6.1 or follow from its source.

mod columns;
mod lists;
mod region;
mod rows;
mod values;

use super::*;
use crate::cell::key;

/// `bytes` with this class and message as the error.
fn assert_illegal(result: crate::Result<Filter>, message: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.exception(), crate::Exception::IllegalArgument);
    assert_eq!(error.message(), message);
}

#[test]
fn filters_print_as_in_java() {
    let equal = CompareOperator::Equal;
    let column_range = Filter::column_range(Some(b"a".to_vec()), true, None, false);
    let fuzzy = FuzzyKey { key: b"a?".to_vec(), mask: vec![0, 1] };
    let cases = [
        (Filter::row(equal, Comparator::binary("r\0")), r"RowFilter (EQUAL, r\x00)"),
        (
            Filter::column_value("f", "q", CompareOperator::LessOrEqual, Comparator::Long(1)),
            r"ColumnValueFilter (f, q, LESS_OR_EQUAL, \x00\x00\x00\x00\x00\x00\x00\x01)",
        ),
        (
            Filter::dependent_column("f", "q", true),
            "DependentColumnFilter (f, q, true, NO_OP, null)",
        ),
        (Filter::prefix("p"), "PrefixFilter p"),
        (
            Filter::multiple_column_prefix(["f", "e", "d", "c", "b", "a"]).unwrap(),
            "MultipleColumnPrefixFilter (5/6): [a, b, c, d, e]",
        ),
        (column_range, "ColumnRangeFilter [a, null)"),
        (Filter::column_pagination(1, 2).unwrap(), "ColumnPaginationFilter (1, 2)"),
        (Filter::column_pagination_from(1, "q").unwrap(), "ColumnPaginationFilter(1, q)"),
        (
            Filter::timestamps([2, 1], false).unwrap(),
            "TimestampsFilter (2/2): [1, 2] canHint: [false]",
        ),
        (
            Filter::fuzzy_row(vec![fuzzy]).unwrap(),
            r"FuzzyRowFilter{fuzzyKeysData={a\x00:\xFF\x02}}, ",
        ),
        (
            Filter::list(
                ListOperator::MustPassOne,
                vec![Filter::first_key_only(), Filter::skip(Filter::key_only(true))],
            ),
            "FilterList OR (2/2): [FirstKeyOnlyFilter, SkipFilter KeyOnlyFilter]",
        ),
    ];
    for (filter, text) in cases {
        assert_eq!(filter.to_string(), text);
        assert_eq!(filter, filter.clone());
    }
}

#[test]
fn what_java_refuses_is_refused() {
    assert_illegal(Filter::page(-1), "must be positive -1");
    assert_illegal(Filter::column_pagination(-1, 0), "limit must be positive -1");
    assert_illegal(Filter::column_pagination(1, -1), "offset must be positive -1");
    assert_illegal(Filter::column_pagination_from(-1, ""), "limit must be positive -1");
    assert_illegal(Filter::column_count_get(-1), "limit be positive -1");
    assert_illegal(Filter::timestamps([1, -2], false), "must be positive -2");
    assert_illegal(Filter::multiple_column_prefix(["b", "a", "a"]), "prefixes must be distinct");
    assert_illegal(Filter::fuzzy_row(Vec::new()), "");
    let fuzzy = FuzzyKey { key: b"a1".to_vec(), mask: vec![0; 3] };
    assert_illegal(
        Filter::fuzzy_row(vec![fuzzy]),
        r"Fuzzy pair lengths do not match: {a1,\x00\x00\x00}",
    );
    assert_illegal(Filter::multi_row_range(Vec::new()), "No ranges found.");
    assert_illegal(
        Filter::multi_row_range(vec![RowRange::new("c", true, "a", true)]),
        "1 invaild ranges.\nInvalid range: start row => c, stop row => a\n",
    );
}

#[test]
fn essential_families_and_whole_rows() {
    let test = SingleColumnTest::new("f", "q", CompareOperator::Equal, Comparator::binary("v"));
    let if_missing = Filter::single_column_value(test.clone().with_filter_if_missing(true));
    assert!(if_missing.is_family_essential(b"f") && !if_missing.is_family_essential(b"g"));
    assert!(Filter::single_column_value(test).is_family_essential(b"g"));
    let skip = Filter::skip(if_missing.clone());
    assert!(!skip.is_family_essential(b"g") && skip.has_filter_row());
    let list = |filters| Filter::list(ListOperator::MustPassAll, filters);
    assert!(list(vec![if_missing.clone(), Filter::prefix("r")]).is_family_essential(b"g"));
    assert!(!list(vec![if_missing]).is_family_essential(b"g"));
    assert!(list(Vec::new()).is_family_essential(b"g") && !list(Vec::new()).has_filter_row());
    assert!(list(vec![Filter::page(1).unwrap()]).has_filter_row());
}
