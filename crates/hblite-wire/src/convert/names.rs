//! Names of tables and regions.

use hblite_model::{Error, RegionInfo, Result, TableName};

use crate::pb;

/// The name in a message.
///
/// # Errors
/// `IllegalArgument` if it is not legal.
pub fn table_name_from(name: &pb::TableName) -> Result<TableName> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    TableName::new(&text(&name.namespace), &text(&name.qualifier))
}

/// The name as a message.
pub fn table_name(name: &TableName) -> pb::TableName {
    pb::TableName {
        namespace: name.namespace().to_owned().into_bytes().into(),
        qualifier: name.qualifier().to_owned().into_bytes().into(),
    }
}

/// The region as a message.
pub fn region_info(info: &RegionInfo) -> pb::RegionInfo {
    pb::RegionInfo {
        region_id: info.region_id(),
        table_name: table_name(info.table()),
        start_key: Some(info.start_key().to_vec().into()),
        end_key: Some(info.end_key().to_vec().into()),
        offline: Some(info.is_offline),
        split: Some(info.is_split),
        replica_id: Some(info.replica_id().into()),
    }
}

/// The region in a message.
///
/// # Errors
/// `IllegalArgument` if its table's name or its replica id is not legal.
pub fn region_info_from(info: &pb::RegionInfo) -> Result<RegionInfo> {
    let replica = info.replica_id.unwrap_or(0);
    let replica = u16::try_from(replica)
        .map_err(|_| Error::illegal_argument(format!("{replica} is not the id of a replica")))?;
    let table = table_name_from(&info.table_name)?;
    if table.is_meta() {
        return Ok(RegionInfo::meta());
    }
    let key = |bytes: &Option<bytes::Bytes>| bytes.clone().unwrap_or_default();
    let mut region =
        RegionInfo::new(table, &key(&info.start_key), &key(&info.end_key), info.region_id);
    if replica > 0 {
        region = region.replica(replica);
    }
    region.is_offline = info.offline.unwrap_or(false);
    region.is_split = info.split.unwrap_or(false);
    Ok(region)
}
