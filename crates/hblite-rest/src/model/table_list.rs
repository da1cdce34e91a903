//! Names: of tables (`TableList`) and of namespaces (`Namespaces`).

use prost::Message as _;

use super::{Model, json_string, stargate};
use crate::xml;

/// Names of tables.
#[derive(Debug)]
pub(crate) struct TableList(pub(crate) Vec<String>);

/// Names of namespaces.
#[derive(Debug)]
pub(crate) struct Namespaces(pub(crate) Vec<String>);

fn lines(names: &[String]) -> String {
    names.iter().flat_map(|name| [name, "\n"]).collect()
}

fn message(names: &[String]) -> Vec<u8> {
    stargate::Names { names: names.to_vec() }.encode_to_vec()
}

impl Model for TableList {
    fn to_text(&self) -> String {
        lines(&self.0)
    }

    fn to_xml(&self) -> String {
        let mut out = String::from(xml::DECLARATION);
        out.push_str(if self.0.is_empty() { "<TableList/>" } else { "<TableList>" });
        for name in &self.0 {
            out.push_str("<table");
            xml::attribute(&mut out, "name", name);
            out.push_str("/>");
        }
        out.push_str(if self.0.is_empty() { "" } else { "</TableList>" });
        out
    }

    fn to_json(&self) -> String {
        let mut out = String::from("{\"table\":[");
        for (index, name) in self.0.iter().enumerate() {
            out.push_str(if index == 0 { "{\"name\":" } else { ",{\"name\":" });
            json_string(&mut out, name);
            out.push('}');
        }
        out.push_str("]}");
        out
    }

    fn to_protobuf(&self) -> Vec<u8> {
        message(&self.0)
    }
}

impl Model for Namespaces {
    fn to_text(&self) -> String {
        lines(&self.0)
    }

    fn to_xml(&self) -> String {
        let mut out = String::from(xml::DECLARATION);
        out.push_str("<Namespaces>");
        for name in &self.0 {
            out.push_str("<Namespace>");
            xml::text(&mut out, name);
            out.push_str("</Namespace>");
        }
        out.push_str("</Namespaces>");
        out
    }

    fn to_json(&self) -> String {
        let mut out = String::from("{\"Namespace\":[");
        for (index, name) in self.0.iter().enumerate() {
            out.push_str(if index == 0 { "" } else { "," });
            json_string(&mut out, name);
        }
        out.push_str("]}");
        out
    }

    fn to_protobuf(&self) -> Vec<u8> {
        message(&self.0)
    }
}
