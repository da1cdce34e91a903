//! Random designs over random records: keys read back, keep the order of values, and plans hold
//! exactly the rows asked for, in the order asked for.

use hblite_rowkey::{
    Access, Bucket, Design, Encoding, End, Field, FieldCondition, HashForm, HashPrefix, Labels,
    Merge, Number, Order, Part, Plan, Query, Salt, SaltBy, Text, Turn, Value,
};
use proptest::prelude::*;

const NAMES: [&str; 3] = ["a", "b", "c"];

fn encoding() -> impl Strategy<Value = Encoding> {
    let end = prop_oneof![
        Just(End::Fixed(4)),
        Just(End::Delimiter(0)),
        Just(End::Delimiter(b'!')),
        Just(End::Escaped),
        Just(End::Rest),
    ];
    let turn =
        prop_oneof![3 => Just(Turn::Plain), 1 => Just(Turn::Reversed), 1 => Just(Turn::Domain)];
    prop_oneof![
        3 => proptest::sample::select(Number::ALL.to_vec()).prop_map(Encoding::Number),
        4 => (end, turn).prop_map(|(end, turn)| {
            Encoding::Text(Text { is_text: true, turn, end })
        }),
        1 => Just(Encoding::Md5),
        1 => Just(Encoding::Md5Hex(2)),
    ]
}

fn computed() -> impl Strategy<Value = Part> {
    let names = || {
        proptest::sample::subsequence(NAMES.to_vec(), 1..=2)
            .prop_map(|names| names.into_iter().map(str::to_owned).collect::<Vec<_>>())
    };
    let labels = prop_oneof![
        (1..5_u32).prop_map(Labels::Numbered),
        Just(Labels::Numbered(300)),
        Just(Labels::Texts(vec![b"b-".to_vec(), b"a-".to_vec()])),
    ];
    let by =
        prop_oneof![Just(SaltBy::Random), Just(SaltBy::Rest), names().prop_map(SaltBy::Fields),];
    let form = prop_oneof![(1..4_u8).prop_map(HashForm::Hex), (1..4_u8).prop_map(HashForm::Bytes)];
    prop_oneof![
        (labels, by).prop_map(|(labels, by)| Part::Salt(Salt { labels, by })),
        (proptest::sample::select(NAMES.to_vec()), 1..6_u32)
            .prop_map(|(field, count)| Part::Bucket(Bucket { field: field.to_owned(), count })),
        (names(), form).prop_map(|(fields, form)| Part::Hash(HashPrefix { fields, form })),
        Just(Part::Literal(b"\xFFx".to_vec())),
    ]
}

/// Three fields of random encodings, with computed parts among them.
fn design() -> impl Strategy<Value = Design> {
    design_of(encoding(), computed())
}

/// Three fields that keep order, with nothing among them that could change it.
fn ordered_design() -> impl Strategy<Value = Design> {
    let end = proptest::sample::select(vec![End::Fixed(4), End::Delimiter(0), End::Escaped]);
    let text = |end| Encoding::Text(Text { is_text: true, turn: Turn::Plain, end });
    let numbers: Vec<Number> = Number::ALL.into_iter().filter(|kind| kind.is_ordered()).collect();
    let encoding = prop_oneof![
        proptest::sample::select(numbers).prop_map(Encoding::Number),
        end.prop_map(text),
    ];
    design_of(encoding, Just(Part::Literal(b"-".to_vec())))
}

fn design_of(
    encoding: impl Strategy<Value = Encoding>,
    computed: impl Strategy<Value = Part>,
) -> impl Strategy<Value = Design> {
    let fields = proptest::array::uniform3(encoding);
    let computed = proptest::collection::vec((computed, 0..4_usize), 0..3);
    (fields, computed).prop_filter_map("a design that is refused", |(encodings, computed)| {
        let fields = NAMES.iter().zip(encodings);
        let mut parts: Vec<Part> =
            fields.map(|(name, encoding)| Part::Field(Field::new(*name, encoding))).collect();
        for (part, at) in computed {
            parts.insert(at.min(parts.len()), part);
        }
        Design::new(parts).ok()
    })
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        proptest::sample::select(vec!['a', 'b', '.', '"', 'é', '\u{10FFFF}']),
        0..3,
    )
    .prop_map(|characters| characters.into_iter().collect())
}

fn value_for(encoding: Encoding) -> BoxedStrategy<Value<'static>> {
    match encoding {
        Encoding::Number(number) => {
            let edges = prop_oneof![
                4 => 0..9_i128,
                1 => Just(number.least()),
                1 => Just(number.greatest()),
                1 => 254..258_i128,
            ];
            edges
                .prop_map(move |value| {
                    let value = value.clamp(number.least(), number.greatest());
                    match u64::try_from(value) {
                        Ok(value) if number != Number::I64 => Value::Unsigned(value),
                        _ => Value::Signed(i64::try_from(value).unwrap_or(i64::MAX)),
                    }
                })
                .boxed()
        }
        Encoding::Text(Text { end: End::Escaped, .. }) => {
            let zeros = proptest::collection::vec(
                proptest::sample::select(vec!['a', '\0', '\u{1}', '.']),
                0..4,
            );
            zeros.prop_map(|text| Value::from(text.into_iter().collect::<String>())).boxed()
        }
        _ => text().prop_map(Value::from).boxed(),
    }
}

fn record(design: &Design) -> impl Strategy<Value = Vec<Value<'static>>> + use<> {
    let fields = design.fields();
    (value_for(fields[0].encoding), value_for(fields[1].encoding), value_for(fields[2].encoding))
        .prop_map(|(a, b, c)| vec![a, b, c])
}

fn condition(encoding: Encoding) -> BoxedStrategy<Option<FieldCondition>> {
    let value = || value_for(encoding);
    let equals = value().prop_map(|value| Some(FieldCondition::Equals(value)));
    let range = (proptest::option::of(value()), proptest::option::of(value()))
        .prop_map(|(from, to)| Some(FieldCondition::Range { from, to }));
    match encoding {
        Encoding::Number(_) => prop_oneof![Just(None), equals, range].boxed(),
        _ => {
            let prefix = value().prop_map(|value| Some(FieldCondition::Prefix(value)));
            let suffix = value().prop_map(|value| Some(FieldCondition::Suffix(value)));
            prop_oneof![2 => Just(None), 2 => equals, 1 => range, 1 => prefix, 1 => suffix].boxed()
        }
    }
}

fn query(design: &Design) -> impl Strategy<Value = Query> + use<> {
    let fields: Vec<Encoding> = design.fields().iter().map(|field| field.encoding).collect();
    let order = prop_oneof![
        Just(Order::Any),
        proptest::sample::select(NAMES.to_vec()).prop_map(|name| Order::Ascending(name.to_owned())),
        proptest::sample::select(NAMES.to_vec())
            .prop_map(|name| Order::Descending(name.to_owned())),
    ];
    (condition(fields[0]), condition(fields[1]), condition(fields[2]), order).prop_map(
        |(a, b, c, order)| {
            let mut query = Query::new();
            for (name, condition) in NAMES.iter().zip([a, b, c]) {
                if let Some(condition) = condition {
                    query = query.condition(name, condition);
                }
            }
            match order {
                Order::Any => query,
                Order::Ascending(name) => query.ascending(&name),
                Order::Descending(name) => query.descending(&name),
            }
        },
    )
}

/// A value as its field orders it, if it does.
fn order(design: &Design, left: &[Value<'_>], right: &[Value<'_>]) -> std::cmp::Ordering {
    for (field, (left, right)) in design.fields().iter().zip(left.iter().zip(right)) {
        let order = match (left.as_number(), right.as_number()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => left.as_bytes().cmp(&right.as_bytes()),
        };
        let order = if field.encoding.is_descending() { order.reverse() } else { order };
        if order.is_ne() {
            return order;
        }
    }
    std::cmp::Ordering::Equal
}

fn read(plan: &Plan, keys: &[(Vec<u8>, usize)]) -> Vec<usize> {
    let mut scans: Vec<_> = plan
        .ranges
        .iter()
        .map(|range| {
            let inside = keys.iter().filter(|(key, _)| range.contains(key)).cloned();
            let mut inside: Vec<(Vec<u8>, usize)> = inside.collect();
            inside.sort();
            if plan.is_reversed {
                inside.reverse();
            }
            inside.into_iter().map(Ok::<_, std::convert::Infallible>)
        })
        .collect();
    match plan.merge_skip {
        Some(skip) => Merge::new(scans, skip, plan.is_reversed)
            .map(|item| item.map(|(_, index)| index).expect("no error"))
            .collect(),
        None => {
            if plan.is_reversed {
                scans.reverse();
            }
            scans.into_iter().flatten().map(|item| item.expect("no error").1).collect()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn keys_are_read_back(
        (design, values, random) in design()
            .prop_flat_map(|design| (Just(design.clone()), record(&design), any::<u64>()))
    ) {
        let mut key = Vec::new();
        if design.encode_into(&values, random, &mut key).is_ok() {
            let decoded = design.decode(&key).expect("an own key");
            for ((value, decoded), field) in values.iter().zip(&decoded).zip(design.fields()) {
                if field.encoding.is_reversible() {
                    prop_assert_eq!(value.as_number(), decoded.as_number());
                    prop_assert_eq!(value.as_bytes(), decoded.as_bytes());
                }
            }
            // Digests and all, it is the same key again.
            let mut again = Vec::new();
            design.encode_into(&decoded, random, &mut again).expect("values of a key");
            prop_assert_eq!(key, again);
        }
    }

    #[test]
    fn keys_have_the_order_of_their_values(
        (design, left, right) in ordered_design()
            .prop_flat_map(|design| (Just(design.clone()), record(&design), record(&design)))
    ) {
        if let (Ok(left_key), Ok(right_key)) = (design.encode(&left), design.encode(&right)) {
            prop_assert_eq!(left_key.cmp(&right_key), order(&design, &left, &right));
        }
    }

    #[test]
    fn designs_are_read_back_from_their_text(design in design()) {
        let text = design.to_string();
        let parsed = Design::parse(&text);
        prop_assert_eq!(parsed.expect("own text"), design);
    }

    #[test]
    fn any_text_is_a_design_or_refused_at_a_place(text in "[a-c:|(),*\"0-9\\\\ é]{0,24}") {
        if let Err(error) = Design::parse(&text) {
            let span = error.span().expect("a place");
            prop_assert!(text.get(span).is_some());
            error.pointing_into(&text);
        }
    }

    #[test]
    fn any_bytes_are_a_key_or_refused(
        design in design(),
        bytes in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        if let Ok(values) = design.decode(&bytes) {
            prop_assert_eq!(values.len(), 3);
        }
    }

    #[test]
    fn plans_hold_the_rows_asked_for(
        (design, query, records) in design().prop_flat_map(|design| {
            let records = proptest::collection::vec((record(&design), any::<u64>()), 1..30);
            (Just(design.clone()), query(&design), records)
        })
    ) {
        let mut keys = Vec::new();
        for (index, (values, random)) in records.iter().enumerate() {
            let mut key = Vec::new();
            if design.encode_into(values, *random, &mut key).is_ok() {
                keys.push((key, index));
            }
        }
        let plan = match design.plan(&query) {
            Ok(plan) => plan,
            Err(_) => return Ok(()),
        };
        let sorted = plan.ranges.windows(2).all(|pair| {
            !pair[0].stop.is_empty() && pair[0].stop <= pair[1].start
        });
        prop_assert!(sorted, "{plan:?}");
        let value = |index: usize, name: &str| {
            let field = design.field_index(name).expect("a field");
            Some(records[index].0[field].clone())
        };
        let found = read(&plan, &keys);
        let wanted: Vec<usize> = keys
            .iter()
            .map(|(_, index)| *index)
            .filter(|index| query.matches(|name| value(*index, name)))
            .collect();
        for index in &wanted {
            prop_assert!(found.contains(index), "{index} is missing: {plan:?}");
        }
        for (key, index) in &keys {
            let passes_key = design.matches(&query, key).expect("an own key");
            let is_wanted = wanted.contains(index);
            let is_left_to_a_column = plan.checks.iter().any(|check| !check.is_in_key);
            if found.contains(index) && !is_left_to_a_column {
                prop_assert_eq!(passes_key, is_wanted);
                if plan.checks.is_empty() {
                    prop_assert!(is_wanted, "too much: {:?}", plan);
                }
            }
        }
        if plan.access == Access::Rows {
            prop_assert!(plan.ranges.iter().all(|range| range.as_row().is_some()));
        }
        let passed: Vec<usize> =
            found.into_iter().filter(|index| wanted.contains(index)).collect();
        check_order(&query, &plan, &passed, value)?;
    }
}

fn check_order<'v>(
    query: &Query,
    plan: &Plan,
    found: &[usize],
    value: impl Fn(usize, &str) -> Option<Value<'v>>,
) -> Result<(), TestCaseError> {
    let (name, is_descending) = match query.order() {
        Order::Any => return Ok(()),
        Order::Ascending(name) => (name, false),
        Order::Descending(name) => (name, true),
    };
    if !plan.is_in_order {
        return Ok(());
    }
    for pair in found.windows(2) {
        let of = |index: usize| value(index, name).expect("a field");
        let (left, right) = (of(pair[0]), of(pair[1]));
        let order = match (left.as_number(), right.as_number()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => left.as_bytes().cmp(&right.as_bytes()),
        };
        let order = if is_descending { order.reverse() } else { order };
        prop_assert!(order.is_le(), "{left} before {right}: {plan:?}");
    }
    Ok(())
}

/// Counts what is read of each stream.
#[test]
fn a_merge_reads_no_further_than_asked() {
    for is_reversed in [false, true] {
        for (streams, limit) in [(1_usize, 5_usize), (4, 1), (16, 30), (100, 7)] {
            let reads = std::cell::Cell::new(0);
            let sources = (0..streams).map(|stream| {
                let reads = &reads;
                let numbers = (0..1_000_usize).map(move |row| {
                    let row = if is_reversed { 999 - row } else { row };
                    [&[stream as u8][..], &((row * streams + stream) as u64).to_be_bytes()].concat()
                });
                numbers.map(move |key| {
                    reads.set(reads.get() + 1);
                    Ok::<_, ()>(key)
                })
            });
            let merged: Vec<Vec<u8>> = Merge::new(sources, 1, is_reversed)
                .take(limit)
                .collect::<Result<_, _>>()
                .expect("no error");
            let wanted = (0..limit).map(|row| {
                let last = streams * 1_000 - 1;
                let row = if is_reversed { last - row } else { row };
                (row as u64).to_be_bytes()
            });
            let found: Vec<&[u8]> = merged.iter().map(|key| &key[1..]).collect();
            assert_eq!(found, wanted.collect::<Vec<_>>());
            assert!(reads.get() < limit + streams, "{} reads", reads.get());
        }
    }
}

#[test]
fn a_merge_ends_with_an_error() {
    let failing = vec![Ok(b"a1".to_vec()), Err("broken"), Ok(b"a3".to_vec())];
    let fine = vec![Ok(b"b2".to_vec()), Ok(b"b4".to_vec())];
    let mut merged = Merge::new([failing.into_iter(), fine.into_iter()], 1, false);
    assert_eq!(merged.next(), Some(Ok(b"a1".to_vec())));
    assert_eq!(merged.next(), Some(Err("broken")));
    assert_eq!(merged.next(), None);
}
