//! Arguments of recorded operations as hblite's values.

use hblite::bytes::from_string_binary;
use hblite::{
    Append, CheckAndMutate, ColumnFamilyDescriptor, Delete, Durability, Error, Get, Increment,
    Mutation, Put, Result, RowMutations, Scan, TableDescriptor, TableName, TimeRange,
    filter::CompareOperator,
};
use serde_json::Value;

use super::filters;

pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => from_string_binary(text),
        Value::Object(long) => {
            let times = long["times"].as_u64().unwrap_or(0) as usize;
            bytes(&long["repeat"]).repeat(times)
        }
        _ => Vec::new(),
    }
}

pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

pub(crate) fn table_name(op: &Value) -> Result<TableName> {
    text(&op["t"]).parse()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The number, 0 if it is negative.
fn natural(value: &Value) -> u32 {
    u32::try_from(int(value)).unwrap_or(0)
}

fn int(value: &Value) -> i32 {
    match value.as_i64() {
        Some(number) => i32::try_from(number).unwrap_or(i32::MAX),
        None if value == "all" => i32::MAX,
        None => 0,
    }
}

fn range(value: &Value) -> Result<TimeRange> {
    TimeRange::new(value[0].as_i64().unwrap_or(0), value[1].as_i64().unwrap_or(i64::MAX))
}

fn time_range(op: &Value) -> Result<Option<TimeRange>> {
    if let Some(timestamp) = op.get("ts").and_then(Value::as_i64) {
        return TimeRange::at(timestamp).map(Some);
    }
    op.get("range").map(range).transpose()
}

macro_rules! read_options {
    ($read:ident, $op:ident) => {{
        for column in list(&$op["cols"]) {
            let family = bytes(&column[0]);
            $read = match column.get(1) {
                Some(qualifier) => $read.with_column(family, bytes(qualifier)),
                None => $read.with_family(family),
            };
        }
        if let Some(versions) = $op.get("versions") {
            $read = $read.with_versions(u32::try_from(int(versions)).unwrap_or(0));
        }
        if let Some(range) = time_range($op)? {
            $read = $read.with_time_range(range);
        }
        if let Some(ranges) = $op.get("family_range").and_then(Value::as_object) {
            for (family, bounds) in ranges {
                $read = $read.with_family_time_range(from_string_binary(family), range(bounds)?);
            }
        }
        if let Some(limit) = $op.get("family_limit").and_then(|v| u32::try_from(int(v)).ok()) {
            $read = $read.with_family_limit(limit);
        }
        if let Some(offset) = $op.get("family_offset") {
            $read = $read.with_family_offset(natural(offset));
        }
        if let Some(filter) = $op.get("filter").filter(|filter| !filter.is_null()) {
            $read = $read.with_filter(filters::filter(filter)?);
        }
        $read
    }};
}

pub(crate) fn get(op: &Value) -> Result<Get> {
    let mut get = Get::new(bytes(&op["row"]));
    Ok(read_options!(get, op))
}

pub(crate) fn scan(op: &Value) -> Result<Scan> {
    let mut scan = Scan::new();
    if let Some(prefix) = op.get("prefix") {
        // `setStartStopRowForPrefixScan` of HBase's client.
        let prefix = bytes(prefix);
        let stop = hblite::bytes::next_after_prefix(&prefix);
        scan = scan.with_start_row(prefix).with_stop_row(stop);
    }
    let flag = |name: &str, default: bool| op.get(name).map_or(default, |v| v == true);
    if let Some(start) = op.get("start") {
        scan =
            scan.with_start_bound(hblite::row_bound(bytes(start), flag("start_inclusive", true)));
    }
    if let Some(stop) = op.get("stop") {
        scan = scan.with_stop_bound(hblite::row_bound(bytes(stop), flag("stop_inclusive", false)));
    }
    scan = scan.with_reversed(flag("reversed", false)).with_raw(flag("raw", false));
    if let Some(limit) = op.get("limit").and_then(|limit| u32::try_from(int(limit)).ok()) {
        scan = scan.with_limit(limit);
    }
    if flag("one_row", false) {
        scan = scan.with_limit(1);
    }
    if let Some(batch) = op.get("batch") {
        scan = scan.with_batch(natural(batch));
    }
    if let Some(caching) = op.get("caching") {
        scan = scan.with_caching(natural(caching));
    }
    scan = scan.with_families_on_demand(flag("load_on_demand", true));
    Ok(read_options!(scan, op))
}

pub(crate) fn put(op: &Value) -> Put {
    let row = bytes(&op["row"]);
    let mut put = match op.get("ts").and_then(Value::as_i64) {
        Some(timestamp) => Put::new(row).with_timestamp(timestamp),
        None => Put::new(row),
    };
    for cell in list(&op["cells"]) {
        let (family, qualifier, value) = (bytes(&cell[0]), bytes(&cell[1]), bytes(&cell[3]));
        put = match cell[2].as_i64() {
            Some(timestamp) => put.add_at(family, qualifier, timestamp, value),
            None => put.add(family, qualifier, value),
        };
    }
    if let Some(millis) = op.get("ttl").and_then(Value::as_i64) {
        put = put.with_time_to_live_ms(millis);
    }
    if let Some(durability) = op.get("durability").and_then(Value::as_str) {
        put =
            put.with_durability(Durability::from_name(durability).expect("a durability of HBase"));
    }
    put
}

pub(crate) fn delete(op: &Value) -> Delete {
    let row = bytes(&op["row"]);
    let mut delete = match op.get("ts").and_then(Value::as_i64) {
        Some(timestamp) => Delete::new(row).with_timestamp(timestamp),
        None => Delete::new(row),
    };
    for marker in list(&op["del"]) {
        let (family, qualifier) = (bytes(&marker["f"]), bytes(&marker["q"]));
        delete = match (marker["kind"].as_str().unwrap_or(""), marker["ts"].as_i64()) {
            ("column", Some(timestamp)) => delete.column_at(family, qualifier, timestamp),
            ("column", None) => delete.column(family, qualifier),
            ("columns", Some(timestamp)) => delete.columns_at(family, qualifier, timestamp),
            ("columns", None) => delete.columns(family, qualifier),
            ("family", Some(timestamp)) => delete.family_at(family, timestamp),
            ("family", None) => delete.family(family),
            ("family_version", timestamp) => {
                delete.family_version(family, timestamp.unwrap_or(i64::MAX))
            }
            (kind, _) => panic!("unknown kind of delete {kind}"),
        };
    }
    delete
}

macro_rules! read_modify_write {
    ($op:ident, $mutation:ident) => {{
        if let Some(timestamp) = $op.get("ts").and_then(Value::as_i64) {
            $mutation = $mutation.with_timestamp(timestamp);
        }
        if let Some(bounds) = $op.get("range") {
            $mutation = $mutation.with_time_range(range(bounds)?);
        }
        if let Some(millis) = $op.get("ttl").and_then(Value::as_i64) {
            $mutation = $mutation.with_time_to_live_ms(millis);
        }
        if let Some(wanted) = $op.get("return").and_then(Value::as_bool) {
            $mutation = $mutation.with_returned_results(wanted);
        }
        $mutation
    }};
}

pub(crate) fn increment(op: &Value) -> Result<Increment> {
    let mut increment = Increment::new(bytes(&op["row"]));
    for cell in list(&op["cells"]) {
        let amount = cell[2].as_i64().unwrap_or(0);
        increment = increment.add(bytes(&cell[0]), bytes(&cell[1]), amount);
    }
    Ok(read_modify_write!(op, increment))
}

pub(crate) fn append(op: &Value) -> Result<Append> {
    let mut append = Append::new(bytes(&op["row"]));
    for cell in list(&op["cells"]) {
        append = append.add(bytes(&cell[0]), bytes(&cell[1]), bytes(&cell[2]));
    }
    Ok(read_modify_write!(op, append))
}

pub(crate) fn mutation(op: &Value) -> Result<Mutation> {
    Ok(match op["op"].as_str().unwrap_or("") {
        "put" => put(op).into(),
        "delete" => delete(op).into(),
        "increment" => increment(op)?.into(),
        "append" => append(op)?.into(),
        other => panic!("unknown mutation {other}"),
    })
}

pub(crate) fn row_mutations(op: &Value) -> Result<RowMutations> {
    let mut mutations = RowMutations::new(bytes(&op["row"]));
    for one in list(&op["mutations"]) {
        mutations = mutations.add(mutation(one)?);
    }
    Ok(mutations)
}

pub(crate) fn check_and_mutate(op: &Value) -> Result<CheckAndMutate> {
    let mut check = CheckAndMutate::new(bytes(&op["row"]));
    let condition = &op["if"];
    let column = || (bytes(&condition["f"]), bytes(&condition["q"]));
    if let Some(filter) = condition.get("filter") {
        check = check.if_filter(filters::filter(filter)?);
    } else if condition["not_exists"] == true {
        let (family, qualifier) = column();
        check = check.if_not_exists(family, qualifier);
    } else {
        let (family, qualifier) = column();
        let operator = compare_operator(&condition["cmp"])?;
        check = check.if_matches(family, qualifier, operator, bytes(&condition["value"]));
    }
    if let Some(bounds) = condition.get("range") {
        check = check.with_time_range(range(bounds)?);
    }
    let action = &op["then"];
    Ok(if action["op"] == "mutate_row" {
        check.then_mutate_row(row_mutations(action)?)
    } else {
        check.then(mutation(action)?)
    })
}

pub(crate) fn compare_operator(value: &Value) -> Result<CompareOperator> {
    CompareOperator::from_name(value.as_str().unwrap_or(""))
        .ok_or_else(|| Error::illegal_argument(format!("no such operator: {value}")))
}

/// Settings of a family applied to `base`.
pub(crate) fn family(
    value: &Value,
    base: Option<ColumnFamilyDescriptor>,
) -> Result<ColumnFamilyDescriptor> {
    let mut family = match base {
        Some(base) => base,
        None => ColumnFamilyDescriptor::new(bytes(&value["name"])),
    };
    // The recorder sets VERSIONS first, and the Java client compares it with the existing value.
    if let Some(versions) = value.get("VERSIONS") {
        family.set_attribute("VERSIONS", &text(versions))?;
    }
    for (name, setting) in value.as_object().into_iter().flatten() {
        match name.as_str() {
            "name" | "VERSIONS" => {}
            "CONFIGURATION" => {
                for (key, value) in setting.as_object().into_iter().flatten() {
                    family.set_configuration(key, &text(value));
                }
            }
            "SCOPE" => family.set_attribute("REPLICATION_SCOPE", &text(setting))?,
            _ => family.set_attribute(name, &text(setting))?,
        }
    }
    Ok(family)
}

pub(crate) fn table(op: &Value) -> Result<TableDescriptor> {
    let mut table = TableDescriptor::new(table_name(op)?);
    for one in list(&op["families"]) {
        table.add_family(family(one, None)?)?;
    }
    for (name, value) in op["attributes"].as_object().into_iter().flatten() {
        table.set_attribute(name, &text(value))?;
    }
    Ok(table)
}

/// The descriptor that an `alter` makes of the present one.
pub(crate) fn altered(op: &Value, mut table: TableDescriptor) -> Result<TableDescriptor> {
    for one in list(&op["add"]) {
        table.add_family(family(one, None)?)?;
    }
    for one in list(&op["modify"]) {
        let name = bytes(&one["name"]);
        let Some(present) = table.family(&name).cloned() else {
            return Err(Error::illegal_argument(format!(
                "Column family '{}' does not exist",
                String::from_utf8_lossy(&name)
            )));
        };
        table.set_family(family(one, Some(present))?);
    }
    for name in list(&op["remove"]) {
        table.remove_family(&bytes(name));
    }
    for name in list(&op["unset"]) {
        table.remove_attribute(&text(name));
    }
    for (name, value) in op["attributes"].as_object().into_iter().flatten() {
        table.set_attribute(name, &text(value))?;
    }
    Ok(table)
}

pub(crate) fn byte_lists(value: &Value) -> Vec<Vec<u8>> {
    list(value).iter().map(bytes).collect()
}
