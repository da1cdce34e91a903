//! The regions of a table: `TableInfo`.

use std::fmt::Write as _;

use hblite::RegionInfo;
use prost::Message as _;

use super::{Model, json_string, stargate};
use crate::java;
use crate::xml;

/// The regions of a table, and where they are.
#[derive(Debug)]
pub(crate) struct TableInfo {
    pub(crate) name: String,
    /// Each with the `host:port` of its server.
    pub(crate) regions: Vec<(RegionInfo, String)>,
}

impl Model for TableInfo {
    fn to_text(&self) -> String {
        let mut out = String::new();
        for (region, location) in &self.regions {
            let key = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
            let _ = writeln!(
                out,
                "{} [\n  id={}\n  startKey='{}'\n  endKey='{}'\n  location='{location}'\n]\n",
                key(&region.region_name()),
                region.region_id(),
                key(region.start_key()),
                key(region.end_key()),
            );
        }
        out
    }

    fn to_xml(&self) -> String {
        let mut out = String::from(xml::DECLARATION);
        out.push_str("<TableInfo");
        xml::attribute(&mut out, "name", &self.name);
        out.push('>');
        for (region, location) in &self.regions {
            out.push_str("<Region");
            xml::attribute(&mut out, "endKey", &java::encode_base64(region.end_key()));
            xml::attribute(&mut out, "id", &region.region_id().to_string());
            xml::attribute(&mut out, "location", location);
            let name = String::from_utf8_lossy(&region.region_name()).into_owned();
            xml::attribute(&mut out, "name", &name);
            xml::attribute(&mut out, "startKey", &java::encode_base64(region.start_key()));
            out.push_str("/>");
        }
        out.push_str("</TableInfo>");
        out
    }

    fn to_json(&self) -> String {
        let mut out = String::from("{\"name\":");
        json_string(&mut out, &self.name);
        out.push_str(",\"Region\":[");
        for (index, (region, location)) in self.regions.iter().enumerate() {
            let _ = write!(
                out,
                "{}{{\"id\":{},\"startKey\":\"{}\",\"endKey\":\"{}\",\"location\":",
                if index == 0 { "" } else { "," },
                region.region_id(),
                java::encode_base64(region.start_key()),
                java::encode_base64(region.end_key()),
            );
            json_string(&mut out, location);
            out.push_str(",\"name\":");
            json_string(&mut out, &String::from_utf8_lossy(&region.region_name()));
            out.push('}');
        }
        out.push_str("]}");
        out
    }

    fn to_protobuf(&self) -> Vec<u8> {
        let regions = self.regions.iter().map(|(region, location)| stargate::TableRegion {
            name: String::from_utf8_lossy(&region.region_name()).into_owned(),
            start_key: Some(region.start_key().to_vec()),
            end_key: Some(region.end_key().to_vec()),
            id: i64::try_from(region.region_id()).ok(),
            location: Some(location.clone()),
        });
        let (name, regions) = (self.name.clone(), regions.collect());
        stargate::TableInfo { name, regions }.encode_to_vec()
    }
}
