//! A table and its families: `TableSchema`.

use hblite::{ColumnFamilyDescriptor, Result, TableDescriptor, TableName};
use hyper::StatusCode;
use prost::Message as _;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::{FromBody, Model, json_string, stargate};
use crate::java;
use crate::xml;

/// HBase's client adds this attribute to every table that it reads.
const IS_META: &str = "IS_META";

/// A family in a body or an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ColumnSchema {
    pub(crate) name: String,
    /// Attributes in their order.
    pub(crate) attributes: Vec<(String, String)>,
}

/// A table in a body or an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TableSchema {
    pub(crate) name: String,
    /// Attributes in their order.
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) columns: Vec<ColumnSchema>,
}

impl TableSchema {
    /// The schema of a table.
    pub(crate) fn of(table: &TableDescriptor) -> Self {
        let mut attributes: Vec<_> = pairs(table.attributes());
        if !table.attributes().contains_key(IS_META) {
            attributes.push((IS_META.to_owned(), table.name().is_meta().to_string()));
        }
        java::sort_as_bytes_map(&mut attributes);
        let columns = table.families().map(|family| {
            let mut attributes = pairs(family.attributes());
            java::sort_as_bytes_map(&mut attributes);
            ColumnSchema { name: family.name_as_string(), attributes }
        });
        Self { name: table.name().to_string(), attributes, columns: columns.collect() }
    }

    /// The table that this describes, under `name`.
    ///
    /// # Errors
    /// `IllegalArgument` for an invalid family or attribute.
    pub(crate) fn descriptor(&self, name: TableName) -> Result<TableDescriptor> {
        let mut table = TableDescriptor::new(name);
        for (name, value) in self.attributes.iter().filter(|(name, _)| name != IS_META) {
            table.set_attribute(name, value)?;
        }
        for column in &self.columns {
            table.add_family(column.descriptor()?)?;
        }
        Ok(table)
    }

    /// An attribute of the table.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl ColumnSchema {
    /// The family that this describes.
    ///
    /// # Errors
    /// `IllegalArgument` for an invalid name or attribute.
    pub(crate) fn descriptor(&self) -> Result<ColumnFamilyDescriptor> {
        let mut family = ColumnFamilyDescriptor::new(&self.name);
        family.check_name()?;
        for (name, value) in &self.attributes {
            family.set_attribute(name, value)?;
        }
        Ok(family)
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn to_message(&self) -> stargate::ColumnSchema {
        stargate::ColumnSchema {
            name: Some(self.name.clone()),
            attrs: messages(&self.attributes),
            ttl: self.attribute("TTL").and_then(|value| value.parse().ok()),
            max_versions: self.attribute("VERSIONS").and_then(|value| value.parse().ok()),
            compression: self.attribute("COMPRESSION").map(str::to_owned),
        }
    }

    fn from_message(message: stargate::ColumnSchema) -> Self {
        let mut family = Self {
            name: message.name.unwrap_or_default(),
            attributes: message.attrs.into_iter().map(|each| (each.name, each.value)).collect(),
        };
        let number = |number: Option<i32>| number.map(|number| number.to_string());
        let helpful = [
            ("TTL", number(message.ttl)),
            ("VERSIONS", number(message.max_versions)),
            ("COMPRESSION", message.compression),
        ];
        for (name, value) in helpful {
            let value = value.map(|value| (name.to_owned(), value));
            family.attributes.extend(value);
        }
        family
    }
}

fn pairs(attributes: &std::collections::BTreeMap<String, String>) -> Vec<(String, String)> {
    attributes.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn messages(attributes: &[(String, String)]) -> Vec<stargate::Attribute> {
    let message = |(name, value): &(String, String)| stargate::Attribute {
        name: name.clone(),
        value: value.clone(),
    };
    attributes.iter().map(message).collect()
}

impl Model for TableSchema {
    fn to_text(&self) -> String {
        let mut out = format!("{{ NAME=> '{}'", self.name);
        let push = |out: &mut String, attributes: &[(String, String)]| {
            for (name, value) in attributes {
                out.push_str(&format!(", {name} => '{value}'"));
            }
        };
        push(&mut out, &self.attributes);
        out.push_str(", COLUMNS => [ ");
        for (index, column) in self.columns.iter().enumerate() {
            out.push_str(if index == 0 { "" } else { ", " });
            out.push_str(&format!("{{ NAME => '{}'", column.name));
            push(&mut out, &column.attributes);
            out.push_str(" }");
        }
        out.push_str(if self.columns.is_empty() { "] }" } else { " ] }" });
        out
    }

    fn to_xml(&self) -> String {
        let mut out = String::from(xml::DECLARATION);
        let push = |out: &mut String, name: &str, attributes: &[(String, String)]| {
            xml::attribute(out, "name", name);
            for (name, value) in attributes.iter().filter(|(name, _)| xml::is_name(name)) {
                xml::attribute(out, name, value);
            }
        };
        out.push_str("<TableSchema");
        push(&mut out, &self.name, &self.attributes);
        out.push_str(if self.columns.is_empty() { "/>" } else { ">" });
        for column in &self.columns {
            out.push_str("<ColumnSchema");
            push(&mut out, &column.name, &column.attributes);
            out.push_str("/>");
        }
        out.push_str(if self.columns.is_empty() { "" } else { "</TableSchema>" });
        out
    }

    fn to_json(&self) -> String {
        let mut out = String::from("{\"name\":");
        let push = |out: &mut String, attributes: &[(String, String)]| {
            for (name, value) in attributes {
                out.push(',');
                json_string(out, name);
                out.push(':');
                json_string(out, value);
            }
        };
        json_string(&mut out, &self.name);
        out.push_str(",\"ColumnSchema\":[");
        for (index, column) in self.columns.iter().enumerate() {
            out.push_str(if index == 0 { "{\"name\":" } else { ",{\"name\":" });
            json_string(&mut out, &column.name);
            push(&mut out, &column.attributes);
            out.push('}');
        }
        out.push(']');
        push(&mut out, &self.attributes);
        out.push('}');
        out
    }

    fn to_protobuf(&self) -> Vec<u8> {
        let message = stargate::TableSchema {
            name: Some(self.name.clone()),
            attrs: messages(&self.attributes),
            columns: self.columns.iter().map(ColumnSchema::to_message).collect(),
            in_memory: None,
            read_only: self.attribute("READONLY").map(|value| value.eq_ignore_ascii_case("true")),
        };
        message.encode_to_vec()
    }
}

/// A JSON object whose fields may have any name: those of the schema, and attributes.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Fields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// A value of an attribute, which HBase keeps as its text.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        value => value.to_string(),
    }
}

fn family_from_fields(fields: Fields) -> ColumnSchema {
    let mut family = ColumnSchema::default();
    for (name, value) in fields.0 {
        match name.as_str() {
            "name" => family.name = text(value),
            _ => family.attributes.push((name, text(value))),
        }
    }
    family
}

impl FromBody for TableSchema {
    fn from_xml(bytes: &[u8]) -> std::result::Result<Self, StatusCode> {
        let attributes = |node: roxmltree::Node<'_, '_>| {
            let all = node.attributes().filter(|attribute| attribute.name() != "name");
            all.map(|attribute| (attribute.name().to_owned(), attribute.value().to_owned()))
                .collect()
        };
        let name = |node: roxmltree::Node<'_, '_>| node.attribute("name").unwrap_or("").to_owned();
        xml::read(bytes, "TableSchema", |table| Self {
            name: name(table),
            attributes: attributes(table),
            columns: xml::children(table, "ColumnSchema")
                .map(|family| ColumnSchema { name: name(family), attributes: attributes(family) })
                .collect(),
        })
        .ok_or(StatusCode::BAD_REQUEST)
    }

    fn from_json(bytes: &[u8]) -> serde_json::Result<Option<Self>> {
        let fields: Fields = serde_json::from_slice(bytes)?;
        let mut schema = Self::default();
        for (name, value) in fields.0 {
            match name.as_str() {
                "name" => schema.name = text(value),
                "ColumnSchema" if value.is_null() => {}
                "ColumnSchema" => {
                    let families: Vec<Fields> = serde_json::from_value(value)?;
                    schema.columns = families.into_iter().map(family_from_fields).collect();
                }
                _ => schema.attributes.push((name, text(value))),
            }
        }
        Ok(Some(schema))
    }

    fn from_protobuf(bytes: &[u8]) -> std::result::Result<Self, prost::DecodeError> {
        let message = stargate::TableSchema::decode(bytes)?;
        let mut attributes: Vec<(String, String)> =
            message.attrs.into_iter().map(|each| (each.name, each.value)).collect();
        let read_only = message.read_only.map(|is| ("READONLY".to_owned(), is.to_string()));
        attributes.extend(read_only);
        Ok(Self {
            name: message.name.unwrap_or_default(),
            attributes,
            columns: message.columns.into_iter().map(ColumnSchema::from_message).collect(),
        })
    }
}
