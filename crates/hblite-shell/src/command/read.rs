//! Gets and scans from the hashes that commands take (`Table._hash_to_scan`, `_get_internal`).

use hblite::filter::{Filter, parse_filter};
use hblite::{Consistency, Get, Scan, TimeRange};

use super::columns::{Column, Converters, converters, parse_columns};
use super::{Failure, integer, small_integer};
use crate::value::{Hash, Value};

/// Options whose values HBase's client checks. Of these, only `CONSISTENCY` has an effect here, and
/// only on a cluster.
const NAMES: [(&str, &str, &[&str]); 3] = [
    ("CONSISTENCY", "org.apache.hadoop.hbase.client.Consistency", &["STRONG", "TIMELINE"]),
    (
        "ISOLATION_LEVEL",
        "org.apache.hadoop.hbase.client.IsolationLevel",
        &["READ_COMMITTED", "READ_UNCOMMITTED"],
    ),
    ("READ_TYPE", "org.apache.hadoop.hbase.client.Scan.ReadType", &["DEFAULT", "STREAM", "PREAD"]),
];

/// Refuses a name that HBase does not know, in Java's words.
fn check_names(options: &Hash) -> Result<(), Failure> {
    for (key, class, names) in NAMES {
        if let Some(value) = options.truthy(key)
            && !names.contains(&value.to_text().as_str())
        {
            let value = value.to_text();
            return Err(Failure::refused(format!("No enum constant {class}.{value}")));
        }
    }
    match options.get("CACHE_BLOCKS") {
        None | Some(Value::Nil | Value::Bool(_)) => Ok(()),
        Some(other) => {
            let class = other.class_name();
            Err(Failure::refused(format!(
                "cannot convert instance of class org.jruby.Ruby{class} to boolean"
            )))
        }
    }
}

/// Which copy of a region may answer: `CONSISTENCY`, and the one replica of `REGION_REPLICA_ID`.
fn replicas(options: &Hash) -> Result<(Consistency, Option<u16>), Failure> {
    let consistency = match options.truthy("CONSISTENCY") {
        Some(name) if name.to_text() == "TIMELINE" => Consistency::Timeline,
        _ => Consistency::Strong,
    };
    let Some(id) = options.truthy("REGION_REPLICA_ID") else { return Ok((consistency, None)) };
    // HBase's client takes a negative number for none.
    let id = match small_integer(id, "REGION_REPLICA_ID")? {
        ..0 => None,
        id => Some(u16::try_from(id).map_err(|_| {
            Failure::refused(format!("REGION_REPLICA_ID must be at most {}, not {id}", u16::MAX))
        })?),
    };
    Ok((consistency, id))
}

/// A scan and how to print columns that name a converter.
pub(super) fn scan_from_hash(options: &Hash) -> Result<(Scan, Converters), Failure> {
    check_names(options)?;
    let columns = parse_columns(options.truthy("COLUMNS").or_else(|| options.truthy("COLUMN")))?;
    let (consistency, replica) = replicas(options)?;
    let scan = columns.iter().fold(Scan::new(), Read::select).with_replicas(consistency, replica);
    let mut scan = with_attributes(scan, options)?;
    if let Some(row) = options.truthy("STARTROW") {
        scan = scan.with_start_row(row.to_bytes());
    }
    if let Some(row) = options.truthy("STOPROW") {
        // HBase's shell keeps an old meaning: a scan from a row to itself reads that row.
        let row = row.to_bytes();
        let is_one_row = !row.is_empty() && row == scan.start_row();
        scan = scan.with_stop_bound(hblite::row_bound(row, is_one_row));
    }
    // Replaces the start and stop rows, as in HBase's shell: a reversed scan finds nothing.
    if let Some(prefix) = options.truthy("ROWPREFIXFILTER") {
        let prefix = prefix.to_bytes();
        let stop = hblite::bytes::next_after_prefix(&prefix);
        scan = scan.with_start_row(prefix).with_stop_row(stop);
    }
    if let Some(filter) = filter(options)? {
        scan = scan.with_filter(filter);
    }
    if let Some(time_range) = time_range(options)? {
        scan = scan.with_time_range(time_range);
    }
    let positive = |key: &str| -> Result<Option<u32>, Failure> {
        let number = options.truthy(key).map(|value| small_integer(value, key)).transpose()?;
        Ok(number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0))
    };
    if let Some(versions) = positive("VERSIONS")? {
        scan = scan.with_versions(versions);
    }
    if let Some(limit) = positive("LIMIT")? {
        scan = scan.with_limit(limit);
    }
    if let Some(batch) = positive("BATCH")? {
        scan = scan.with_batch(batch);
    }
    if let Some(caching) = positive("CACHE")? {
        scan = scan.with_caching(caching);
    }
    if let Some(bytes) = options.truthy("MAX_RESULT_SIZE") {
        let bytes = u64::try_from(integer(bytes, "MAX_RESULT_SIZE")?);
        scan = scan.with_size_max_bytes(bytes.unwrap_or(0));
    }
    scan = scan
        .with_reversed(options.truthy("REVERSED").is_some())
        .with_raw(options.truthy("RAW").is_some())
        .with_metrics(options.truthy("ALL_METRICS").or(options.truthy("METRICS")).is_some())
        .with_cache_blocks(!matches!(options.get("CACHE_BLOCKS"), Some(Value::Bool(false))))
        .with_partial_results(options.truthy("ALLOW_PARTIAL_RESULTS").is_some());
    Ok((scan, converters(&columns)))
}

/// A get and how to print columns that name a converter. `arguments` are those after the row.
pub(super) fn get_from_arguments(
    row: &[u8],
    arguments: &[&Value],
    options: &Hash,
) -> Result<(Get, Converters), Failure> {
    check_names(options)?;
    let (consistency, replica) = replicas(options)?;
    let get = Get::new(row).with_replicas(consistency, replica);
    let get = with_attributes(get, options)?;
    if !matches!(arguments.first(), Some(Value::Hash(_))) {
        let columns = arguments.iter().map(|value| Column::parse(value));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let get = columns.iter().fold(get, Read::select);
        return Ok((get, converters(&columns)));
    }
    let get = match filter(options)? {
        Some(filter) => get.with_filter(filter),
        None => get,
    };
    let is_only_filter = options.iter().all(|(key, _)| {
        matches!(key.to_bytes().as_slice(), b"FILTER" | b"CONSISTENCY" | b"REGION_REPLICA_ID")
    });
    if is_only_filter {
        return Ok((get, converters(&[])));
    }
    let wanted = options.truthy("COLUMN").or_else(|| options.truthy("COLUMNS"));
    let has_time = options.truthy("TIMESTAMP").or_else(|| options.truthy("TIMERANGE")).is_some();
    let has_attributes = ["ATTRIBUTES", "AUTHORIZATIONS"].iter().any(|key| options.contains(key));
    if wanted.is_none() && !has_time && !has_attributes {
        let given = Value::Hash(options.clone()).inspect();
        return Err(Failure::refused(format!("Failed parse of {given}, Hash")));
    }
    let columns = parse_columns(wanted)?;
    let mut get = columns.iter().fold(get, Read::select);
    if let Some(versions) = options.truthy("VERSIONS") {
        let versions = small_integer(versions, "VERSIONS")?;
        get = get.with_versions(u32::try_from(versions).unwrap_or(0));
    }
    if let Some(time_range) = time_range(options)? {
        get = get.with_time_range(time_range);
    }
    Ok((get, converters(&columns)))
}

/// What gets and scans have in common.
trait Read: Sized {
    /// Adds a column or family to those that are read.
    fn select(self, column: &Column) -> Self;

    /// Lets replicas answer.
    fn with_replicas(self, consistency: Consistency, id: Option<u16>) -> Self;

    /// Sets an attribute.
    fn with(self, name: &str, value: Vec<u8>) -> Self;

    /// Reads as one who has these visibility labels.
    fn with_labels(self, labels: &[String]) -> Self;
}

macro_rules! read {
    ($read:ty) => {
        impl Read for $read {
            fn select(self, column: &Column) -> Self {
                match &column.qualifier {
                    Some(qualifier) => self.with_column(&column.family, qualifier),
                    None => self.with_family(&column.family),
                }
            }

            fn with_replicas(self, consistency: Consistency, id: Option<u16>) -> Self {
                let read = self.with_consistency(consistency);
                match id {
                    Some(id) => read.with_replica_id(id),
                    None => read,
                }
            }

            fn with(self, name: &str, value: Vec<u8>) -> Self {
                self.with_attribute(name, value)
            }

            fn with_labels(self, labels: &[String]) -> Self {
                self.with_authorizations(labels.iter().map(String::as_str))
            }
        }
    };
}

read!(Get);
read!(Scan);

/// Adds what `ATTRIBUTES` and `AUTHORIZATIONS` say, which only servers of a cluster read.
fn with_attributes<R: Read>(mut read: R, options: &Hash) -> Result<R, Failure> {
    match options.truthy("ATTRIBUTES") {
        None => {}
        Some(Value::Hash(attributes)) => {
            for (name, value) in attributes.iter() {
                read = read.with(&name.to_text(), value.to_bytes());
            }
        }
        Some(_) => return Err(Failure::refused("Attributes must be a Hash type")),
    }
    let labels: Vec<String> = match options.truthy("AUTHORIZATIONS") {
        None => return Ok(read),
        Some(Value::Array(labels)) => labels.iter().map(Value::to_text).collect(),
        Some(_) => return Err(Failure::refused("Authorizations must be a Array type")),
    };
    Ok(read.with_labels(&labels))
}

fn filter(options: &Hash) -> Result<Option<Filter>, Failure> {
    match options.truthy("FILTER") {
        None => Ok(None),
        Some(Value::String(text) | Value::Java(_, text)) => {
            Ok(Some(parse_filter(text).map_err(hblite::Error::from)?))
        }
        Some(other) => Err(Failure::refused(format!(
            "FILTER must be a string in the filter language, not {}",
            other.inspect()
        ))),
    }
}

/// `TIMERANGE`, or the one timestamp of `TIMESTAMP`.
fn time_range(options: &Hash) -> Result<Option<TimeRange>, Failure> {
    let range = match (options.truthy("TIMERANGE"), options.truthy("TIMESTAMP")) {
        (Some(Value::Array(bounds)), _) if bounds.len() == 2 => {
            let (min, max) = (integer(&bounds[0], "TIMERANGE")?, integer(&bounds[1], "TIMERANGE")?);
            Some(TimeRange::new(min, max)?)
        }
        (Some(other), _) => {
            return Err(Failure::refused(format!(
                "TIMERANGE must be an array of two timestamps, not {}",
                other.inspect()
            )));
        }
        (None, Some(timestamp)) => Some(TimeRange::at(integer(timestamp, "TIMESTAMP")?)?),
        (None, None) => None,
    };
    Ok(range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(pairs: &[(&str, Value)]) -> Hash {
        let mut hash = Hash::default();
        for (key, value) in pairs {
            hash.insert(Value::from(*key), value.clone());
        }
        hash
    }

    #[test]
    fn a_prefix_replaces_start_and_stop_row() {
        let options = hash(&[
            ("STARTROW", Value::from("x")),
            ("ROWPREFIXFILTER", Value::from("a")),
            ("LIMIT", Value::Integer(3)),
            ("VERSIONS", Value::Integer(0)),
            ("REVERSED", Value::Bool(true)),
        ]);
        let (scan, _) = scan_from_hash(&options).unwrap();
        assert_eq!((scan.start_row(), scan.stop_row()), (&b"a"[..], &b"b"[..]));
        assert_eq!((scan.limit(), scan.versions()), (Some(3), 1));
        assert!(scan.direction().is_reverse());
    }

    #[test]
    fn replicas_are_those_of_the_options() {
        let read = |consistency: &str, id: i64| {
            let id = ("REGION_REPLICA_ID", Value::Integer(id));
            let options = hash(&[("CONSISTENCY", Value::from(consistency)), id]);
            let (get, _) =
                get_from_arguments(b"r", &[&Value::Hash(options.clone())], &options).unwrap();
            let (scan, _) = scan_from_hash(&options).unwrap();
            let of_scan = (scan.consistency(), scan.replica_id());
            assert_eq!((get.consistency(), get.replica_id()), of_scan);
            of_scan
        };
        assert_eq!(read("TIMELINE", 2), (Consistency::Timeline, Some(2)));
        assert_eq!(read("TIMELINE", -1), (Consistency::Timeline, None));
        assert_eq!(read("STRONG", 0), (Consistency::Strong, Some(0)));
        assert_eq!(scan_from_hash(&hash(&[])).unwrap().0.consistency(), Consistency::Strong);
        let refused = scan_from_hash(&hash(&[("REGION_REPLICA_ID", Value::Integer(65_536))]));
        assert!(matches!(refused, Err(Failure::Refused(message)) if message.contains("65535")));
    }

    #[test]
    fn hbases_refusals() {
        let message = |options: &Hash| {
            let arguments = [&Value::Hash(options.clone())];
            match get_from_arguments(b"r", &arguments, options) {
                Err(Failure::Refused(message)) => message,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            message(&hash(&[("VERSIONS", Value::Integer(3))])),
            "Failed parse of {\"VERSIONS\"=>3}, Hash"
        );
        let text = hash(&[("ATTRIBUTES", Value::from("a"))]);
        assert_eq!(message(&text), "Attributes must be a Hash type");
        let text = hash(&[("TIMERANGE", Value::from("soon"))]);
        assert!(message(&text).contains("two timestamps"));
    }
}
