//! The counters of all regions at one moment, from every form in which servers give them.
//!
//! | document | where | keys of regions |
//! |---|---|---|
//! | JMX, bean `…name=RegionServer,sub=Regions` | `http://regionserver:16030/jmx` | no |
//! | REST, `StorageClusterStatus` | `http://rest:8080/status/cluster` | first keys |
//! | `/status` of `hblite serve` | `http://127.0.0.1:16010/status` | yes |
//! | a reading, as [`Reading::to_line`] writes it | a recording | as recorded |
//!
//! A line of a recording is a reading, or `{"time_ms": …, "documents": […]}` with any of these
//! documents, one per region server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hblite::bytes::{from_string_binary, to_string_binary};
use hblite::{RowCounts, StoreStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A region's counters since it was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionReading {
    /// The table, with its namespace if that is not `default`.
    pub table: String,
    /// The encoded name.
    pub name: String,
    /// First key, as `Bytes.toStringBinary` prints it; `None` if the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The first key after it; empty for the last region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Gets, and rows of scans.
    pub reads: u64,
    /// Rows written.
    pub writes: u64,
    /// Bytes read and written; 0 if the source does not say.
    #[serde(default)]
    pub bytes: u64,
}

/// The counters of all regions at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// Milliseconds since 1970-01-01 UTC.
    pub time_ms: i64,
    /// The regions, in no order.
    pub regions: Vec<RegionReading>,
    /// The rows of requests since the reading before, if the source counts them.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "super::rows")]
    pub rows: Option<RowCounts>,
}

impl Reading {
    /// The counters of a store or cluster.
    pub fn of_status(time_ms: i64, status: &StoreStatus) -> Self {
        let regions = status.regions.iter().map(|status| {
            let (info, load) = (&status.region, &status.load);
            RegionReading {
                table: info.table().to_string(),
                name: info.encoded_name().to_owned(),
                start: Some(to_string_binary(info.start_key())),
                end: Some(to_string_binary(info.end_key())),
                reads: load.read_requests,
                writes: load.write_requests,
                bytes: load.bytes_read.saturating_add(load.bytes_written),
            }
        });
        Self { time_ms, regions: regions.collect(), rows: None }
    }

    /// The counters in documents of one moment.
    ///
    /// # Errors
    /// The reason why a document is of no known form.
    pub fn of_documents(time_ms: i64, documents: &[Value]) -> Result<Self, String> {
        let mut regions = Vec::new();
        for document in documents {
            regions.append(&mut regions_of(document)?);
        }
        fill_ends(&mut regions);
        Ok(Self { time_ms, regions, rows: None })
    }

    /// Reads a line of a recording.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn parse(line: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        match (value["time_ms"].as_i64(), value["documents"].as_array()) {
            (Some(time_ms), Some(documents)) => Self::of_documents(time_ms, documents),
            (Some(_), None) => serde_json::from_value(value).map_err(|error| error.to_string()),
            (None, _) => Err("it has no time_ms".to_owned()),
        }
    }

    /// A line for a recording, without its end.
    pub fn to_line(&self) -> String {
        json!(self).to_string()
    }
}

fn regions_of(document: &Value) -> Result<Vec<RegionReading>, String> {
    if let Some(beans) = document["beans"].as_array() {
        return of_jmx(beans);
    }
    if let Some(nodes) = document["LiveNodes"].as_array() {
        return nodes.iter().flat_map(|node| array(&node["Region"])).map(of_rest).collect();
    }
    if let Some(regions) = document["regions"].as_array() {
        return regions.iter().map(of_serve).collect();
    }
    Err("neither JMX of a region server, nor a REST status, nor /status of hblite".to_owned())
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value, name: &str) -> Result<u64, String> {
    value[name].as_u64().ok_or_else(|| format!("a region has no {name}"))
}

/// The attributes are called `Namespace_<ns>_table_<table>_region_<name>_metric_<metric>`.
fn of_jmx(beans: &[Value]) -> Result<Vec<RegionReading>, String> {
    let is_it = |bean: &&Value| {
        bean["name"].as_str().is_some_and(|name| name.ends_with("name=RegionServer,sub=Regions"))
    };
    let bean = beans.iter().find(is_it).and_then(Value::as_object);
    let Some(bean) = bean else {
        let is_master =
            |bean: &Value| bean["name"].as_str().is_some_and(|name| name.contains("name=Master,"));
        return Err(match beans.iter().any(is_master) {
            true => "the JMX is that of a master: give the URL of a region server",
            false => "the JMX has no bean name=RegionServer,sub=Regions",
        }
        .to_owned());
    };
    let mut regions: Vec<RegionReading> = Vec::new();
    for (attribute, value) in bean {
        let Some((region, metric)) = attribute.rsplit_once("_metric_") else { continue };
        let parts = || {
            let (namespace, rest) = region.strip_prefix("Namespace_")?.split_once("_table_")?;
            let (table, name) = rest.rsplit_once("_region_")?;
            Some((namespace, table, name))
        };
        let (Some((namespace, table, name)), Some(count)) = (parts(), value.as_u64()) else {
            continue;
        };
        let table = match namespace {
            "default" => table.to_owned(),
            _ => format!("{namespace}:{table}"),
        };
        let place = regions.iter().position(|region| region.name == name).unwrap_or_else(|| {
            let (name, start, end) = (name.to_owned(), None, None);
            regions.push(RegionReading { table, name, start, end, reads: 0, writes: 0, bytes: 0 });
            regions.len() - 1
        });
        match metric {
            "readRequestCount" => regions[place].reads = count,
            "writeRequestCount" => regions[place].writes = count,
            _ => {}
        }
    }
    Ok(regions)
}

/// A region of HBase's REST server; its name is `<table>,<first key>,<id>.<encoded name>.`
fn of_rest(region: &Value) -> Result<RegionReading, String> {
    let name = region["name"].as_str().and_then(|name| STANDARD.decode(name).ok());
    let name = name.ok_or("a region of the REST status has no name in base64")?;
    let split = || {
        let table_end = name.iter().position(|byte| *byte == b',')?;
        let key_end = name.iter().rposition(|byte| *byte == b',')?;
        let id = String::from_utf8(name.get(key_end + 1..)?.to_vec()).ok()?;
        let encoded = match id.strip_suffix('.') {
            Some(id) => id.split_once('.')?.1.to_owned(),
            // hbase:meta has a short name.
            None => id,
        };
        let table = String::from_utf8(name[..table_end].to_vec()).ok()?;
        Some((table, to_string_binary(name.get(table_end + 1..key_end)?), encoded))
    };
    let (table, start, encoded) =
        split().ok_or_else(|| format!("{}: not the name of a region", to_string_binary(&name)))?;
    Ok(RegionReading {
        table,
        name: encoded,
        start: Some(start),
        end: None,
        reads: number(region, "readRequestsCount")?,
        writes: number(region, "writeRequestsCount")?,
        bytes: 0,
    })
}

fn of_serve(region: &Value) -> Result<RegionReading, String> {
    let text = |name: &str| {
        let text = region[name].as_str().map(str::to_owned);
        text.ok_or_else(|| format!("a region has no {name}"))
    };
    let bytes = |name: &str| region[name].as_u64().unwrap_or(0);
    Ok(RegionReading {
        table: text("table")?,
        name: text("encoded_name")?,
        start: Some(text("start_key")?),
        end: Some(text("end_key")?),
        reads: number(region, "read_requests")?,
        writes: number(region, "write_requests")?,
        bytes: bytes("bytes_read").saturating_add(bytes("bytes_written")),
    })
}

/// If the source gives only first keys, a region ends where the next one of its table begins.
fn fill_ends(regions: &mut [RegionReading]) {
    let key = |region: &RegionReading| {
        let start = region.start.as_deref().map(from_string_binary);
        (region.table.clone(), start)
    };
    regions.sort_by_key(key);
    for index in 0..regions.len() {
        if regions[index].end.is_some() || regions[index].start.is_none() {
            continue;
        }
        let next = regions.get(index + 1).filter(|next| next.table == regions[index].table);
        regions[index].end = Some(next.and_then(|next| next.start.clone()).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_gives_the_same_counters() {
        let jmx = json!({ "beans": [{
            "name": "Hadoop:service=HBase,name=RegionServer,sub=Regions",
            "Namespace_default_table_my_table_region_0123_metric_readRequestCount": 7,
            "Namespace_default_table_my_table_region_0123_metric_writeRequestCount": 9,
            "Namespace_default_table_my_table_region_0123_metric_storeCount": 1,
            "numRegions": 1,
        }] });
        let name = STANDARD.encode("my_table,a\x01,b,17.0123.");
        let rest = json!({ "LiveNodes": [{ "name": "h:1", "Region": [
            { "name": name, "readRequestsCount": 7, "writeRequestsCount": 9 },
        ] }] });
        let serve = json!({ "regions": [{
            "table": "my_table", "encoded_name": "0123", "start_key": "a\\x01,b", "end_key": "",
            "read_requests": 7, "write_requests": 9, "bytes_read": 1, "bytes_written": 2,
        }] });
        let of = |document: Value| Reading::of_documents(5, &[document]).unwrap().regions;
        let expected = RegionReading {
            table: "my_table".to_owned(),
            name: "0123".to_owned(),
            start: Some("a\\x01,b".to_owned()),
            end: Some(String::new()),
            reads: 7,
            writes: 9,
            bytes: 3,
        };
        assert_eq!(of(serve), std::slice::from_ref(&expected));
        let without_bytes = RegionReading { bytes: 0, ..expected };
        assert_eq!(of(rest), std::slice::from_ref(&without_bytes));
        assert_eq!(of(jmx), [RegionReading { start: None, end: None, ..without_bytes }]);
    }

    #[test]
    fn lines_of_recordings_are_read_back_and_others_are_refused() {
        let serve = r#"{"regions":[{"table":"t","encoded_name":"0","start_key":"","end_key":"m",
            "read_requests":1,"write_requests":2}]}"#;
        let line = format!(r#"{{"time_ms":5,"documents":[{serve}]}}"#);
        let reading = Reading::parse(&line).unwrap();
        assert_eq!(Reading::parse(&reading.to_line()), Ok(reading));
        for (line, reason) in [
            ("{", "EOF"),
            ("{}", "time_ms"),
            (r#"{"time_ms":1}"#, "regions"),
            (r#"{"time_ms":1,"documents":[{}]}"#, "neither JMX"),
            (r#"{"time_ms":1,"documents":[{"beans":[]}]}"#, "no bean"),
            (r#"{"time_ms":1,"documents":[{"regions":[{}]}]}"#, "no table"),
            (r#"{"time_ms":1,"documents":[{"LiveNodes":[{"Region":[{"name":"%"}]}]}]}"#, "base64"),
        ] {
            let error = Reading::parse(line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }
}
