//! Any bytes as the description of a table, region or row, from hbase:meta or from a user: refused,
//! or unchanged when it is written and read again.

#![no_main]

use hblite_model::bytes::{from_string_binary, to_string_binary};
use hblite_model::{RegionInfo, TableName};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    assert_eq!(from_string_binary(&to_string_binary(bytes)), bytes);
    if let Some(region) = RegionInfo::from_bytes(bytes) {
        let name = region.region_name();
        assert!(name.starts_with(region.table().to_string().as_bytes()));
    }
    if let Ok(name) = TableName::from_protobuf(bytes) {
        assert_eq!(name.to_string().parse::<TableName>().expect("an accepted name"), name);
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(name) = text.parse::<TableName>()
    {
        assert_eq!(name.to_string().parse::<TableName>().expect("an accepted name"), name);
    }
});
