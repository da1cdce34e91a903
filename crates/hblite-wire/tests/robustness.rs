//! Damaged messages: each is decoded or refused, and none causes a panic.

use bytes::Bytes;
use hblite_wire::cell_block::{CellReader, Codec};
use hblite_wire::convert;
use hblite_wire::frame::{Request, decode};
use hblite_wire::pb;
use hblite_wire::pb::mutation_proto::column_value::QualifierValue;
use proptest::prelude::*;
use prost::Message;

fn filter(name: &str, message: &impl Message) -> pb::Filter {
    pb::Filter {
        name: format!("org.apache.hadoop.hbase.filter.{name}"),
        serialized_filter: Some(message.encode_to_vec().into()),
    }
}

/// A filter that has others and comparators in it.
fn nested_filter() -> pb::Filter {
    let regex = pb::RegexStringComparator {
        pattern: "a.*b".to_owned(),
        pattern_flags: 32,
        charset: "UTF-8".to_owned(),
        engine: Some("JAVA".to_owned()),
    };
    let comparator = pb::Comparator {
        name: "org.apache.hadoop.hbase.filter.RegexStringComparator".to_owned(),
        serialized_comparator: Some(regex.encode_to_vec().into()),
    };
    let row = pb::WrappedCompareFilter {
        compare_filter: pb::CompareFilter { compare_op: 2, comparator: Some(comparator) },
    };
    let fuzzy = pb::BytesBytesPairOfFuzzyRow { key: "ab".into(), mask: vec![0, 1].into() };
    let fuzzy = pb::FuzzyRowFilter { fuzzy_keys_data: vec![fuzzy], is_mask_v2: None };
    let stamps = pb::TimestampsFilter { timestamps: vec![1, 2, 300], can_hint: Some(true) };
    let filters = vec![
        filter("RowFilter", &row),
        filter("FuzzyRowFilter", &fuzzy),
        filter("TimestampsFilter", &stamps),
        filter("PageFilter", &pb::PageFilter { page_size: 7 }),
    ];
    filter("FilterList", &pb::FilterList { operator: 1, filters })
}

fn scan() -> pb::Scan {
    pb::Scan {
        column: vec![pb::Column { family: "f".into(), qualifier: vec!["q".into()] }],
        start_row: Some("a".into()),
        stop_row: Some("z".into()),
        filter: Some(nested_filter()),
        time_range: Some(pb::TimeRange { from: Some(3), to: Some(9) }),
        max_versions: Some(3),
        batch_size: Some(10),
        ..pb::Scan::default()
    }
}

fn mutation() -> pb::MutationProto {
    let value = QualifierValue {
        qualifier: Some("q".into()),
        value: Some("v".into()),
        timestamp: Some(7),
        delete_type: Some(1),
        tags: None,
    };
    let column =
        pb::mutation_proto::ColumnValue { family: "f".into(), qualifier_value: vec![value] };
    pb::MutationProto {
        row: Some("r".into()),
        mutate_type: Some(3),
        column_value: vec![column],
        attribute: vec![pb::NameBytesPair {
            name: "_ttl".to_owned(),
            value: Some(vec![0; 8].into()),
        }],
        ..pb::MutationProto::default()
    }
}

/// All but a few bytes are unchanged.
fn damaged(mut bytes: Vec<u8>, damage: &[(usize, u8)]) -> Bytes {
    for (at, byte) in damage {
        let at = at % bytes.len();
        bytes[at] = *byte;
    }
    bytes.into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_reads(damage: Vec<(usize, u8)>) {
        if let Ok(message) = decode::<pb::Scan>(damaged(scan().encode_to_vec(), &damage)) {
            let _ = convert::scan(&message);
        }
        let get = pb::Get { row: "r".into(), filter: Some(nested_filter()), ..pb::Get::default() };
        if let Ok(message) = decode::<pb::Get>(damaged(get.encode_to_vec(), &damage)) {
            let _ = convert::get(&message);
        }
    }

    #[test]
    fn damaged_writes(damage: Vec<(usize, u8)>, block: Vec<u8>, count: Option<i32>) {
        let sent = pb::MutationProto { associated_cell_count: count, ..mutation() };
        if let Ok(message) = decode::<pb::MutationProto>(damaged(sent.encode_to_vec(), &damage)) {
            let _ = convert::mutation(&message, &mut CellReader::new(&block));
        }
        let mut cells = hblite_model::CellBuffer::new();
        cells.push_parts(b"r", b"f", b"q", 7, 4, b"v");
        let mut block = Vec::new();
        cells.iter().for_each(|cell| Codec::KeyValue.push(&mut block, &cell));
        let block = damaged(block, &damage);
        let sent = pb::MutationProto { associated_cell_count: Some(1), ..mutation() };
        let _ = convert::mutation(&sent, &mut CellReader::new(&block));
    }

    #[test]
    fn damaged_schemas(damage: Vec<(usize, u8)>) {
        let table = hblite_model::TableDescriptor::new("n:t".parse().unwrap())
            .with_family(hblite_model::ColumnFamilyDescriptor::new("f"));
        let bytes = convert::table_schema(&table).encode_to_vec();
        if let Ok(message) = decode::<pb::TableSchema>(damaged(bytes, &damage)) {
            let _ = convert::table_schema_from(&message);
        }
        let region = hblite_model::RegionInfo::new("n:t".parse().unwrap(), b"a", b"b", 7);
        let bytes = convert::region_info(&region).encode_to_vec();
        if let Ok(message) = decode::<pb::RegionInfo>(damaged(bytes, &damage)) {
            let _ = convert::region_info_from(&message);
        }
    }

    #[test]
    fn any_bytes_are_messages_or_refused(bytes: Vec<u8>) {
        let bytes = Bytes::from(bytes);
        let _ = Request::parse(bytes.clone());
        let _ = decode::<pb::MultiRequest>(bytes.clone());
        let _ = decode::<pb::ScanRequest>(bytes.clone());
        let _ = decode::<pb::CreateTableRequest>(bytes.clone());
        let _ = decode::<pb::ConnectionHeader>(bytes.clone());
        let name = "org.apache.hadoop.hbase.filter.FilterList".to_owned();
        let _ = convert::filter(&pb::Filter { name, serialized_filter: Some(bytes) });
    }
}
