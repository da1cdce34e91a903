//! The versions of the gateway (`Version`) and of the store (`ClusterVersion`).

use hblite_model::HBASE_VERSION;
use prost::Message as _;

use super::{Model, json_string, stargate};
use crate::xml;

/// The version of the interface.
const REST_VERSION: &str = "0.0.3";

/// The gateway's version. Where HBase names its JVM and its libraries, hblite names itself.
#[derive(Debug)]
pub(crate) struct Version;

/// Names and values, in the order of the JSON.
fn fields() -> [(&'static str, String); 7] {
    let own = format!("hblite {}", env!("CARGO_PKG_VERSION"));
    [
        ("Server", own.clone()),
        ("Jersey", String::new()),
        ("Version", HBASE_VERSION.to_owned()),
        ("Revision", own),
        ("REST", REST_VERSION.to_owned()),
        ("JVM", "none".to_owned()),
        ("OS", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
    ]
}

fn field(name: &str) -> String {
    fields().into_iter().find(|(known, _)| *known == name).map_or_else(String::new, |(_, v)| v)
}

impl Model for Version {
    fn to_text(&self) -> String {
        let mut out = format!("rest {REST_VERSION}");
        for name in ["JVM", "OS", "Server", "Jersey", "Version", "Revision"] {
            out.push_str(&format!(" [{name}: {}]", field(name)));
        }
        out.push('\n');
        out
    }

    fn to_xml(&self) -> String {
        let mut out = String::from(xml::DECLARATION);
        out.push_str("<Version");
        for name in ["JVM", "Jersey", "OS", "REST", "Revision", "Server", "Version"] {
            xml::attribute(&mut out, name, &field(name));
        }
        out.push_str("/>");
        out
    }

    fn to_json(&self) -> String {
        let mut out = String::new();
        for (name, value) in fields() {
            out.push(if out.is_empty() { '{' } else { ',' });
            json_string(&mut out, name);
            out.push(':');
            json_string(&mut out, &value);
        }
        out.push('}');
        out
    }

    fn to_protobuf(&self) -> Vec<u8> {
        let message = stargate::Version {
            rest_version: Some(field("REST")),
            jvm_version: Some(field("JVM")),
            os_version: Some(field("OS")),
            server_version: Some(field("Server")),
            jersey_version: Some(field("Jersey")),
            version: Some(field("Version")),
            revision: Some(field("Revision")),
        };
        message.encode_to_vec()
    }
}

/// The version of the store.
#[derive(Debug)]
pub(crate) struct ClusterVersion;

impl Model for ClusterVersion {
    fn to_text(&self) -> String {
        HBASE_VERSION.to_owned()
    }

    fn to_xml(&self) -> String {
        format!("{}<ClusterVersion Version=\"{HBASE_VERSION}\"/>", xml::DECLARATION)
    }

    fn to_json(&self) -> String {
        format!("{{\"Version\":\"{HBASE_VERSION}\"}}")
    }

    fn to_protobuf(&self) -> Vec<u8> {
        Vec::new()
    }
}
