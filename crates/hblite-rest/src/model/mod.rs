//! What is sent and received, in each of its forms.
//!
//! - `cell_set`: rows and their cells
//! - `table_list`, `table_info`, `table_schema`, `namespace`: tables and what they are made of
//! - `version`, `cluster_status`: the gateway and the store
//! - `scanner`, `filter`: what a scanner looks for
//! - `stargate`: the messages of HBase's protobuf form

pub(crate) mod cell_set;
pub(crate) mod cluster_status;
pub(crate) mod filter;
pub(crate) mod namespace;
pub(crate) mod scanner;
pub(crate) mod stargate;
pub(crate) mod table_info;
pub(crate) mod table_list;
pub(crate) mod table_schema;
pub(crate) mod version;

use hyper::StatusCode;

use crate::failure::Failure;
use crate::media::Format;
use crate::request::Request;

/// Something that an answer describes.
pub(crate) trait Model {
    /// As HBase's class prints it.
    fn to_text(&self) -> String;
    fn to_xml(&self) -> String;
    fn to_json(&self) -> String;
    /// Empty for a model that has no message.
    fn to_protobuf(&self) -> Vec<u8>;
}

/// Something that the body of a request describes.
pub(crate) trait FromBody: Sized {
    /// `None` if the document is not this model's.
    fn from_xml(bytes: &[u8]) -> Option<Self>;
    fn from_json(bytes: &[u8]) -> serde_json::Result<Self>;
    fn from_protobuf(bytes: &[u8]) -> Result<Self, prost::DecodeError>;

    /// Reads the body of a request.
    ///
    /// # Errors
    /// 415 for a media type without a model. A body that is not the model's is 400 in XML, and 500
    /// in the other forms: HBase does not expect it.
    fn read(request: &Request) -> Result<Self, Failure> {
        let body = &request.body;
        match Format::of_body(request, Format::STRUCTURED)? {
            Format::Xml => Self::from_xml(body).ok_or(Failure::Page(StatusCode::BAD_REQUEST)),
            Format::Json if body.is_empty() => Err(Failure::Page(StatusCode::BAD_REQUEST)),
            Format::Json => Self::from_json(body).map_err(|_| Failure::UNEXPECTED),
            _ => Self::from_protobuf(body).map_err(|_| Failure::UNEXPECTED),
        }
    }
}

/// Appends `text` as a JSON string.
fn json_string(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}
