//! Goal: what a client sends is what a server reads, and the reverse, for every filter, operation
//! and result.
//! Method: encode, decode with the server's direction, and compare; random operations, and at least
//! one sample of every filter in the registry.

use std::collections::BTreeSet;

use bytes::{Bytes, BytesMut};
use hblite_model::filter::{
    BigDecimal, BitwiseOperator, Comparator, CompareOperator, Filter, FuzzyKey, ListOperator,
    RegexEngine, RegexFlags, RegexString, RowRange, SingleColumnTest,
};
use hblite_model::{
    Action, Append, CellBuffer, CheckAndMutate, ColumnFamilyDescriptor, Consistency, Delete,
    Durability, Error, Exception, Get, Increment, Mutation, Put, RegionInfo, RowMutations,
    RowResult, Scan, TableDescriptor, TimeRange, row_bound,
};
use hblite_wire::cell_block::{CellReader, Codec};
use hblite_wire::client_frame::Body as _;
use hblite_wire::memory::Room;
use hblite_wire::{RemoteException, convert, pb};
use proptest::prelude::*;
use prost::Message as _;

fn comparators() -> Vec<Comparator> {
    let regex = |engine| RegexString::new("a.*b", RegexFlags::DOTALL, engine).expect("it is valid");
    vec![
        Comparator::binary("v"),
        Comparator::binary_prefix("v"),
        Comparator::BinaryComponent { value: b"v".to_vec(), offset: 3 },
        Comparator::Bit { value: vec![1, 2], operator: BitwiseOperator::And },
        Comparator::Bit { value: vec![1, 2], operator: BitwiseOperator::Or },
        Comparator::Bit { value: vec![1, 2], operator: BitwiseOperator::Xor },
        Comparator::Long(-7),
        Comparator::BigDecimal(
            BigDecimal::from_bytes(&[0, 0, 0, 2, 0x30, 0x39]).expect("it is valid"),
        ),
        Comparator::Null,
        Comparator::Regex(regex(RegexEngine::Java)),
        Comparator::Regex(regex(RegexEngine::Joni).over_latin1()),
        Comparator::substring("Text"),
    ]
}

fn filters() -> Vec<Filter> {
    let equal = CompareOperator::Equal;
    let test = || {
        SingleColumnTest::new("f", "q", CompareOperator::Less, Comparator::binary("v"))
            .with_filter_if_missing(true)
            .with_latest_version_only(false)
    };
    let mut filters = vec![
        Filter::column_count_get(3).expect("it is valid"),
        Filter::column_pagination(3, 7).expect("it is valid"),
        Filter::column_pagination_from(3, "q").expect("it is valid"),
        Filter::column_prefix("q"),
        Filter::column_range(Some(b"a".to_vec()), true, None, false),
        Filter::column_value("f", "q", equal, Comparator::Null),
        Filter::dependent_column("f", "q", true),
        Filter::dependent_column_value("f", "q", false, equal, Comparator::binary("v")),
        Filter::family(equal, Comparator::binary("f")),
        Filter::first_key_only(),
        Filter::first_key_value_matching_qualifiers(vec![b"a".to_vec(), b"b".to_vec()]),
        Filter::fuzzy_row(vec![FuzzyKey { key: b"a?c".to_vec(), mask: vec![0, 1, 0] }])
            .expect("it is valid"),
        Filter::inclusive_stop("z"),
        Filter::key_only(true),
        Filter::multi_row_range(vec![RowRange::new("a", true, "c", false)]).expect("it is valid"),
        Filter::multiple_column_prefix(vec![b"a".to_vec(), b"b".to_vec()]).expect("it is valid"),
        Filter::page(9).expect("it is valid"),
        Filter::prefix("row"),
        Filter::random_row(0.25),
        Filter::row(CompareOperator::GreaterOrEqual, Comparator::binary("r")),
        Filter::single_column_value(test()),
        Filter::single_column_value_exclude(test()),
        Filter::skip(Filter::prefix("p")),
        Filter::timestamps(vec![1, 2, 3], true).expect("it is valid"),
        Filter::while_match(Filter::prefix("p")),
    ];
    for comparator in comparators() {
        filters.push(Filter::value(equal, comparator.clone()));
        filters.push(Filter::qualifier(CompareOperator::NotEqual, comparator));
    }
    let all = filters.clone();
    filters.push(Filter::list(ListOperator::MustPassOne, all.clone()));
    filters.push(Filter::list(ListOperator::MustPassAll, all));
    filters
}

#[test]
fn every_filter_of_the_registry_comes_back() {
    let mut seen = BTreeSet::new();
    for filter in filters() {
        let message = convert::filter_message(&filter).expect("it is valid");
        assert_eq!(convert::filter(&message).expect("it is valid"), filter);
        seen.insert(filter.class_name());
    }
    let known: BTreeSet<&str> = Filter::CLASS_NAMES.iter().copied().collect();
    assert_eq!(seen, known, "a filter without a sample here, or without a form on the wire");
}

fn time_range() -> impl Strategy<Value = TimeRange> {
    prop_oneof![
        Just(TimeRange::ALL),
        (0..1_000_i64, 1..1_000_i64)
            .prop_map(|(min, more)| TimeRange::new(min, min + more).expect("it is valid")),
    ]
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 1..20)
}

fn filter() -> impl Strategy<Value = Option<Filter>> {
    let one = (0..filters().len()).prop_map(|index| filters().swap_remove(index));
    prop_oneof![Just(None), one.prop_map(Some)]
}

fn columns() -> impl Strategy<Value = Vec<(Vec<u8>, Option<Vec<u8>>)>> {
    prop::collection::vec((name(), prop::option::of(name())), 0..4)
}

fn consistency() -> impl Strategy<Value = Consistency> {
    prop_oneof![Just(Consistency::Strong), Just(Consistency::Timeline)]
}

fn get() -> impl Strategy<Value = Get> {
    let limits = (prop::option::of(0..100_u32), 0..100_u32, 1..i32::MAX as u32, consistency());
    let ranges = (time_range(), prop::option::of((name(), time_range())));
    (name(), columns(), limits, ranges, filter()).prop_map(
        |(row, columns, (limit, offset, versions, consistency), (range, of_family), filter)| {
            let mut get = Get::new(row).with_versions(versions).with_time_range(range);
            get = get.with_family_offset(offset).with_consistency(consistency);
            for (family, qualifier) in &columns {
                get = match qualifier {
                    Some(qualifier) => get.with_column(family, qualifier),
                    None => get.with_family(family),
                };
            }
            if let Some(limit) = limit {
                get = get.with_family_limit(limit);
            }
            if let Some((family, range)) = of_family {
                get = get.with_family_time_range(family, range);
            }
            match filter {
                Some(filter) => get.with_filter(filter),
                None => get,
            }
        },
    )
}

fn scan() -> impl Strategy<Value = Scan> {
    let rows = (name(), any::<bool>(), name(), any::<bool>());
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (rows, flags, columns(), (time_range(), consistency()), filter()).prop_map(
        |(rows, (reversed, raw, on_demand, cached), columns, (range, consistency), filter)| {
            let (start, from, stop, to) = rows;
            let mut scan = Scan::new()
                .with_start_bound(row_bound(start, from))
                .with_stop_bound(row_bound(stop, to))
                .with_reversed(reversed)
                .with_raw(raw)
                .with_families_on_demand(on_demand)
                .with_cache_blocks(cached)
                .with_consistency(consistency)
                .with_time_range(range)
                .with_versions(5)
                .with_family_offset(2);
            for (family, qualifier) in &columns {
                scan = match qualifier {
                    Some(qualifier) => scan.with_column(family, qualifier),
                    None => scan.with_family(family),
                };
            }
            match filter {
                Some(filter) => scan.with_filter(filter),
                None => scan.with_batch(7),
            }
        },
    )
}

fn durability() -> impl Strategy<Value = Durability> {
    prop_oneof![
        Just(Durability::UseDefault),
        Just(Durability::SkipWal),
        Just(Durability::AsyncWal),
        Just(Durability::SyncWal),
        Just(Durability::FsyncWal),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let parts = (0..4_u8, name(), name(), name(), name());
    (parts, durability(), any::<bool>(), prop::option::of(0..i64::MAX), time_range()).prop_map(
        |((kind, row, family, qualifier, value), durability, returns, ttl, range)| {
            let family = &family[..family.len().min(100)];
            let mutation: Mutation = match kind {
                0 => Put::new(row).add(family, &qualifier, &value).into(),
                1 => Delete::new(row).columns_at(family, &qualifier, 7).into(),
                2 => Increment::new(row).add(family, &qualifier, 5).into(),
                _ => Append::new(row).add(family, &qualifier, &value).into(),
            };
            let mutation = mutation.with_durability(durability).with_time_range(range);
            mutation.with_time_to_live_ms(ttl).with_returned_results(returns)
        },
    )
}

fn same<T: std::fmt::Debug>(left: &T, right: &T) -> Result<(), TestCaseError> {
    prop_assert_eq!(format!("{left:?}"), format!("{right:?}"));
    Ok(())
}

proptest! {
    #[test]
    fn gets_come_back(get in get()) {
        let message = convert::get_message(&get).expect("it is valid");
        same(&convert::get(&message).expect("it is valid"), &get)?;
    }

    #[test]
    fn scans_come_back(scan in scan()) {
        let message = convert::scan_message(&scan).expect("it is valid");
        match convert::scan(&message) {
            Ok((again, _)) => same(&again, &scan)?,
            Err(error) => prop_assert_eq!(error.to_string(), scan.check().unwrap_err().to_string()),
        }
    }

    #[test]
    fn mutations_come_back(mutation in mutation(), with_tags: bool) {
        let codec = if with_tags { Codec::KeyValueWithTags } else { Codec::KeyValue };
        let mut block = Vec::new();
        let message = convert::mutation_message(&mutation, codec, &mut block);
        let again = convert::mutation(&message, &mut CellReader::new(&block)).expect("it is valid");
        same(&again, &mutation)?;
    }

    #[test]
    fn results_come_back_from_blocks_and_messages(
        values in prop::collection::vec((name(), 0..i64::MAX, name()), 0..5),
        in_block: bool,
    ) {
        let mut cells = CellBuffer::new();
        for (qualifier, timestamp, value) in &values {
            cells.push_parts(b"row", b"f", qualifier, *timestamp, 4, value);
        }
        let codec = in_block.then_some(Codec::KeyValue);
        let mut writer = convert::ResultWriter::new(codec, Room::of(1 << 20));
        cells.iter().for_each(|cell| writer.push(&cell));
        let message = writer.finish();
        let (block, _) = writer.into_block();
        let block = Bytes::from(block);
        for mut reader in [CellReader::new(&block), CellReader::sharing(&block)] {
            let again = convert::result_from(&message, &mut reader).expect("it is valid");
            prop_assert_eq!(&again, &RowResult::new(cells.clone()));
        }
    }

    #[test]
    fn damaged_answers_are_refused(bytes: Vec<u8>, counts: Vec<u32>, row: Vec<u8>, code: i32) {
        let message = pb::ScanResponse { cells_per_result: counts, ..Default::default() };
        if let Ok(rows) = convert::rows_from(&message, &bytes.clone().into()) {
            prop_assert!(rows.iter().map(RowResult::len).sum::<usize>() <= bytes.len());
        }
        let cell = pb::Cell { row: Some(row.into()), cell_type: Some(code), ..Default::default() };
        let message = pb::Result { cell: vec![cell], ..Default::default() };
        if let Ok(result) = convert::result_from(&message, &mut CellReader::new(b"")) {
            prop_assert_eq!(result.len(), 1);
        }
    }
}

#[test]
fn a_discarded_result_counts_for_nothing() {
    for codec in [None, Some(Codec::KeyValue)] {
        let mut writer = convert::ResultWriter::new(codec, Room::of(1 << 20));
        let mut cells = CellBuffer::new();
        cells.push_parts(b"row", b"f", b"q", 1, 4, b"value");
        let push = |writer: &mut convert::ResultWriter| cells.iter().for_each(|c| writer.push(&c));
        push(&mut writer);
        writer.finish();
        let sizes = (writer.size_bytes(), writer.messages_bytes());
        push(&mut writer);
        push(&mut writer);
        writer.discard();
        assert_eq!(
            (writer.size_bytes(), writer.messages_bytes(), writer.count()),
            (sizes.0, sizes.1, 0)
        );
    }
}

#[test]
fn conditions_come_back() {
    let put = || Put::new("r").add("f", "q", "v");
    let range = TimeRange::new(3, 9).expect("it is valid");
    let checks = [
        CheckAndMutate::new("r").if_equals("f", "q", "old").then(put()),
        CheckAndMutate::new("r").if_filter(Filter::prefix("p")).then(put()).with_time_range(range),
    ];
    for check in checks {
        let message = convert::condition_message(&check).expect("it is valid");
        let again = convert::condition(&message).expect("it is valid").then(put());
        assert_eq!(format!("{again:?}"), format!("{check:?}"));
    }
    assert!(convert::condition_message(&CheckAndMutate::new("r")).is_err());
}

#[test]
fn a_batch_is_encoded_as_its_message() {
    let put = |row: &str| Put::new(row).add("f", "q", row);
    let both = RowMutations::new("b").add(put("b")).add(Delete::new("b").column("f", "p"));
    let if_empty = || CheckAndMutate::new("b").if_not_exists("f", "q");
    let actions: Vec<Action> = vec![
        put("a").into(),
        both.clone().into(),
        Get::new("c").into(),
        put("d").into(),
        if_empty().then(put("b")).into(),
        if_empty().then_mutate_row(both).into(),
    ];
    let mut request = convert::MultiRequest::new(99, Codec::KeyValue);
    let nonce = |index| 1000 + u64::from(index);
    let parts = request.add_region(b"region", (300..).zip(&actions), nonce).expect("it is valid");
    let other = request.add_region(b"other", [(7, &actions[2])], nonce).expect("it is valid");
    assert!(request.add_region(b"none", [], nonce).expect("it is valid").is_empty());
    let part = |kind, indexes: &[u32]| convert::RequestPart { kind, indexes: indexes.to_vec() };
    use convert::PartKind::{Atomic, Conditional, Independent};
    let independent = part(Independent, &[300, 302, 303]);
    let conditional = [part(Conditional, &[304]), part(Conditional, &[305])];
    assert_eq!(parts, [&[independent, part(Atomic, &[301])], &conditional[..]].concat());
    assert_eq!(other, [part(Independent, &[7])]);

    let (body, block) = request.finish();
    let mut bytes = BytesMut::new();
    body.append_to(&mut bytes);
    assert_eq!(bytes.len(), body.size());
    let message = pb::MultiRequest::decode(bytes.freeze()).expect("it is a message");
    assert_eq!(message.nonce_group, Some(99));
    let region = |part: &pb::RegionAction| part.region.value.to_vec();
    let regions: Vec<_> = message.region_action.iter().map(region).collect();
    assert_eq!(regions, [&b"region"[..], b"region", b"region", b"region", b"other"]);
    let atomic: Vec<_> = message.region_action.iter().map(|part| part.atomic).collect();
    assert_eq!(atomic, [false, true, false, true, false].map(Some));
    let condition = Some(condition_of(&actions[4]));
    let conditions: Vec<_> = message.region_action.iter().map(|part| &part.condition).collect();
    assert_eq!(conditions, [&None, &None, &condition, &condition, &None]);
    let gets: Vec<_> = message.region_action.iter().flat_map(gets_of).collect();
    let get = convert::get_message(&Get::new("c")).expect("it is valid");
    assert_eq!(gets, [(302, &get), (7, &get)]);

    let (mut cells, mut rows) = (CellReader::new(&block), Vec::new());
    for action in message.region_action.iter().flat_map(|part| &part.action) {
        if let Some(message) = &action.mutation {
            let mutation = convert::mutation(message, &mut cells).expect("it is valid");
            let index = action.index.expect("it is valid");
            assert_eq!(message.nonce, Some(nonce(index)));
            rows.push((index, mutation.row().to_vec()));
        }
    }
    let expected =
        [(300, "a"), (303, "d"), (301, "b"), (301, "b"), (304, "b"), (305, "b"), (305, "b")]
            .map(|(index, row)| (index, row.as_bytes().to_vec()));
    assert_eq!(rows, expected);
    assert!(cells.next_cell().is_err(), "every cell was read");
}

fn condition_of(action: &Action) -> pb::Condition {
    let Action::CheckAndMutate(check) = action else { panic!("{action:?}") };
    convert::condition_message(check).expect("it is valid")
}

fn gets_of(part: &pb::RegionAction) -> impl Iterator<Item = (u32, &pb::Get)> {
    part.action.iter().filter_map(|action| Some((action.index?, action.get.as_deref()?)))
}

#[test]
fn errors_come_back_with_class_and_message() {
    for exception in [Exception::NoSuchColumnFamily, Exception::TableNotFound, Exception::Io] {
        let sent = RemoteException::from(&Error::new(exception, "what happened: here"));
        let received = convert::error_from(&sent.to_pair());
        assert_eq!((received.exception(), received.message()), (exception, "what happened: here"));
    }
    let trace = "java.io.IOException: Dangling\n+a\n^\n\tat my.Class\nCaused by: my.Failure: no";
    assert_eq!(convert::error_of_class("java.io.IOException", trace).message(), "Dangling\n+a\n^");
    let strange = convert::error_of_class("my.Failure", "my.Failure: no\n\tat my.Class");
    assert_eq!((strange.exception(), strange.message()), (Exception::Io, "my.Failure: no"));
}

#[test]
fn descriptors_and_regions_come_back() {
    let table = TableDescriptor::new("n:t".parse().expect("it is valid"))
        .with_family(ColumnFamilyDescriptor::new("f").with_versions(3));
    let message = convert::table_schema(&table);
    assert_eq!(convert::table_schema_from(&message).expect("it is valid"), table);
    let region = RegionInfo::new("n:t".parse().expect("it is valid"), b"a", b"m", 7);
    assert_eq!(
        convert::region_info_from(&convert::region_info(&region)).expect("it is valid"),
        region
    );
}
