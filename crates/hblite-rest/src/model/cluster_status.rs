//! The servers and regions of the store: `ClusterStatus`.

use std::fmt::Write as _;

use hblite::RegionStatus;
use prost::Message as _;

use super::{Model, json_string, stargate};
use crate::java;
use crate::xml;

const MIB: u64 = 1024 * 1024;

/// The status of the store, as that of a cluster.
#[derive(Debug)]
pub(crate) struct ClusterStatus {
    /// When its servers were started, in milliseconds since 1970-01-01 UTC.
    pub(crate) start_code: i64,
    /// The servers that have regions.
    pub(crate) servers: Vec<Server>,
}

/// A server and its regions.
#[derive(Debug)]
pub(crate) struct Server {
    /// `host:port`.
    pub(crate) name: String,
    /// In the order of their names.
    pub(crate) regions: Vec<RegionStatus>,
    /// Bytes that it may take.
    pub(crate) memory_max_bytes: u64,
}

/// The figures of a region: names, values and order as in its JSON, after the name.
fn figures(region: &RegionStatus) -> [(&'static str, u64); 12] {
    [
        ("stores", region.store_count),
        ("storefiles", region.store_file_count),
        ("storefileSizeMB", region.store_file_size_bytes / MIB),
        ("storefileIndexSizeKB", 0),
        ("readRequestsCount", region.load.read_requests),
        ("writeRequestsCount", region.load.write_requests),
        ("rootIndexSizeKB", 0),
        ("totalStaticIndexSizeKB", 0),
        ("totalStaticBloomSizeKB", 0),
        ("totalCompactingKVs", 0),
        ("currentCompactedKVs", 0),
        ("memStoreSizeMB", region.memstore_size_bytes / MIB),
    ]
}

impl Server {
    fn requests(&self) -> u64 {
        let requests = |region: &RegionStatus| {
            region.load.read_requests.saturating_add(region.load.write_requests)
        };
        self.regions.iter().map(requests).fold(0, u64::saturating_add)
    }

    /// The memory of its memstores.
    fn heap_size_mb(&self) -> u64 {
        let bytes: u64 = self.regions.iter().map(|region| region.memstore_size_bytes).sum();
        bytes / MIB
    }

    fn max_heap_size_mb(&self) -> u64 {
        self.memory_max_bytes / MIB
    }

    fn write_text(&self, start_code: i64, out: &mut String) {
        let _ = write!(
            out,
            "    {} {start_code}\n        requests={}, regions={}\n        heapSizeMB={}\n        \
             maxHeapSizeMB={}\n\n",
            self.name,
            self.requests(),
            self.regions.len(),
            self.heap_size_mb(),
            self.max_heap_size_mb()
        );
        for region in &self.regions {
            let name = region.region.region_name();
            let _ = write!(out, "        {}", String::from_utf8_lossy(&name));
            let figures = figures(region);
            let memstore = figures[figures.len() - 1].1;
            for (name, value) in &figures[..figures.len() - 1] {
                let name = if *name == "storefiles" { "storefiless" } else { name };
                let _ = write!(out, "\n            {name}={value}");
                if name == "storefileSizeMB" {
                    let _ = write!(out, "\n            memstoreSizeMB={memstore}");
                }
            }
            out.push('\n');
        }
        out.push('\n');
    }

    fn write_xml(&self, start_code: i64, out: &mut String) {
        out.push_str("<Node");
        xml::attribute(out, "heapSizeMB", &self.heap_size_mb().to_string());
        xml::attribute(out, "maxHeapSizeMB", &self.max_heap_size_mb().to_string());
        xml::attribute(out, "name", &self.name);
        xml::attribute(out, "requests", &self.requests().to_string());
        xml::attribute(out, "startCode", &start_code.to_string());
        out.push('>');
        for region in &self.regions {
            out.push_str("<Region");
            let name = java::encode_base64(&region.region.region_name());
            let figures = figures(region).map(|(name, value)| (name, value.to_string()));
            let mut attributes = figures.to_vec();
            attributes.push(("name", name));
            // JAXB's order.
            attributes.sort_unstable();
            for (name, value) in attributes {
                xml::attribute(out, name, &value);
            }
            out.push_str("/>");
        }
        out.push_str("</Node>");
    }

    fn write_json(&self, start_code: i64, out: &mut String) {
        out.push_str("{\"name\":");
        json_string(out, &self.name);
        let requests = self.requests();
        let (heap, max_heap) = (self.heap_size_mb(), self.max_heap_size_mb());
        let _ = write!(
            out,
            ",\"startCode\":{start_code},\"requests\":{requests},\"heapSizeMB\":{heap},\
             \"maxHeapSizeMB\":{max_heap},\"Region\":["
        );
        for (index, region) in self.regions.iter().enumerate() {
            let name = java::encode_base64(&region.region.region_name());
            let _ = write!(out, "{}{{\"name\":\"{name}\"", if index == 0 { "" } else { "," });
            for (name, value) in figures(region) {
                let _ = write!(out, ",\"{name}\":{value}");
            }
            out.push('}');
        }
        out.push_str("]}");
    }

    fn to_message(&self, start_code: i64) -> stargate::Node {
        stargate::Node {
            name: self.name.clone(),
            start_code: Some(start_code),
            requests: long(self.requests()),
            heap_size_mb: int(self.heap_size_mb()),
            max_heap_size_mb: int(self.max_heap_size_mb()),
            regions: self.regions.iter().map(region_message).collect(),
        }
    }
}

fn int(value: u64) -> Option<i32> {
    Some(i32::try_from(value).unwrap_or(i32::MAX))
}

fn long(value: u64) -> Option<i64> {
    Some(i64::try_from(value).unwrap_or(i64::MAX))
}

fn region_message(region: &RegionStatus) -> stargate::RegionLoad {
    let figure = |name| {
        let found = figures(region).into_iter().find(|(known, _)| *known == name);
        found.map_or(0, |(_, value)| value)
    };
    stargate::RegionLoad {
        name: region.region.region_name(),
        stores: int(figure("stores")),
        storefiles: int(figure("storefiles")),
        storefile_size_mb: int(figure("storefileSizeMB")),
        mem_store_size_mb: int(figure("memStoreSizeMB")),
        storefile_index_size_kb: Some(0),
        read_requests_count: long(figure("readRequestsCount")),
        write_requests_count: long(figure("writeRequestsCount")),
        root_index_size_kb: Some(0),
        total_static_index_size_kb: Some(0),
        total_static_bloom_size_kb: Some(0),
        total_compacting_kvs: Some(0),
        current_compacted_kvs: Some(0),
    }
}

impl ClusterStatus {
    fn regions(&self) -> usize {
        self.servers.iter().map(|server| server.regions.len()).sum()
    }

    fn requests(&self) -> u64 {
        self.servers.iter().map(Server::requests).fold(0, u64::saturating_add)
    }

    /// Regions of each server.
    fn average_load(&self) -> f64 {
        // There are far fewer of both than an f64 can count.
        self.regions() as f64 / self.servers.len().max(1) as f64
    }
}

impl Model for ClusterStatus {
    fn to_text(&self) -> String {
        let (load, count) = (self.average_load(), self.servers.len());
        let mut out = format!(
            "{count} live servers, 0 dead servers, {load:.4} average load\n\n{count} live servers\n"
        );
        for server in &self.servers {
            server.write_text(self.start_code, &mut out);
        }
        out
    }

    fn to_xml(&self) -> String {
        let mut out = String::from(xml::DECLARATION);
        let _ = write!(
            out,
            "<ClusterStatus averageLoad=\"{:?}\" regions=\"{}\" requests=\"{}\">\
             <DeadNodes/><LiveNodes>",
            self.average_load(),
            self.regions(),
            self.requests()
        );
        for server in &self.servers {
            server.write_xml(self.start_code, &mut out);
        }
        out.push_str("</LiveNodes></ClusterStatus>");
        out
    }

    fn to_json(&self) -> String {
        let mut out = String::from("{\"LiveNodes\":[");
        for (index, server) in self.servers.iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            server.write_json(self.start_code, &mut out);
        }
        let _ = write!(
            out,
            "],\"DeadNodes\":[],\"regions\":{},\"requests\":{},\"averageLoad\":{:?}}}",
            self.regions(),
            self.requests(),
            self.average_load()
        );
        out
    }

    fn to_protobuf(&self) -> Vec<u8> {
        let live_nodes = self.servers.iter().map(|server| server.to_message(self.start_code));
        let message = stargate::StorageClusterStatus {
            live_nodes: live_nodes.collect(),
            dead_nodes: Vec::new(),
            regions: int(self.regions() as u64),
            requests: long(self.requests()),
            average_load: Some(self.average_load()),
        };
        message.encode_to_vec()
    }
}
