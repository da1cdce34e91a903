//! The properties of a namespace: `NamespaceProperties`.

use std::collections::BTreeMap;

use hblite::NamespaceDescriptor;
use hyper::StatusCode;
use prost::Message as _;
use serde::Deserialize;

use super::{FromBody, Model, json_string, stargate};
use crate::java;
use crate::xml;

/// A namespace and its properties.
#[derive(Debug)]
pub(crate) struct NamespaceModel(pub(crate) NamespaceDescriptor);

impl NamespaceModel {
    /// The properties in the order in which HBase writes them.
    fn properties(&self) -> Vec<(String, &String)> {
        let entries = self.0.properties.iter().map(|(name, value)| (name.clone(), value));
        let mut entries: Vec<_> = entries.collect();
        java::sort_as_string_map(&mut entries);
        entries
    }
}

impl Model for NamespaceModel {
    fn to_text(&self) -> String {
        let mut out = format!("{{NAME => '{}'", self.0.name);
        for (name, value) in self.properties() {
            out.push_str(&format!(", {name} => '{value}'"));
        }
        out.push('}');
        out
    }

    fn to_xml(&self) -> String {
        let mut out = String::from(xml::DECLARATION);
        let properties = self.properties();
        if properties.is_empty() {
            out.push_str("<NamespaceProperties/>");
            return out;
        }
        out.push_str("<NamespaceProperties><properties>");
        for (name, value) in properties {
            out.push_str("<entry><key>");
            xml::text(&mut out, &name);
            out.push_str("</key><value>");
            xml::text(&mut out, value);
            out.push_str("</value></entry>");
        }
        out.push_str("</properties></NamespaceProperties>");
        out
    }

    fn to_json(&self) -> String {
        let properties = self.properties();
        if properties.is_empty() {
            return "{\"properties\":null}".to_owned();
        }
        let mut out = String::from("{\"properties\":{");
        for (index, (name, value)) in properties.into_iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            json_string(&mut out, &name);
            out.push(':');
            json_string(&mut out, value);
        }
        out.push_str("}}");
        out
    }

    fn to_protobuf(&self) -> Vec<u8> {
        let properties = self.properties().into_iter();
        let property = |(key, value): (String, &String)| {
            let value = value.clone();
            stargate::Property { key, value }
        };
        let props = properties.map(property).collect();
        stargate::NamespaceProperties { props }.encode_to_vec()
    }
}

/// Properties in a body.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Properties {
    #[serde(default)]
    pub(crate) properties: Option<BTreeMap<String, String>>,
}

impl FromBody for Properties {
    fn from_xml(bytes: &[u8]) -> std::result::Result<Self, StatusCode> {
        xml::read(bytes, "NamespaceProperties", |root| {
            let entries = xml::children(root, "properties")
                .flat_map(|properties| xml::children(properties, "entry"));
            let pairs = entries.filter_map(|entry| {
                let part = |name| xml::children(entry, name).next().map(xml::content);
                Some((part("key")?, part("value").unwrap_or_default()))
            });
            Self { properties: Some(pairs.collect()) }
        })
        .ok_or(StatusCode::BAD_REQUEST)
    }

    fn from_json(bytes: &[u8]) -> serde_json::Result<Option<Self>> {
        serde_json::from_slice(bytes).map(Some)
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, prost::DecodeError> {
        let message = stargate::NamespaceProperties::decode(bytes)?;
        let pairs = message.props.into_iter().map(|property| (property.key, property.value));
        Ok(Self { properties: Some(pairs.collect()) })
    }
}
