//! What is sent and received, in each of its forms.
//!
//! - `cell_set`: rows and their cells
//! - `table_list`, `table_info`, `table_schema`, `namespace`: tables and their parts
//! - `version`, `cluster_status`: the gateway and the store
//! - `scanner`, `filter`: what a scanner selects
//! - `scalar`: numbers, texts and truth values in JSON
//! - `decoded_size`: the memory for decoding a body
//! - `stargate`: the messages of HBase's protobuf form

pub(crate) mod cell_set;
pub(crate) mod cluster_status;
mod decoded_size;
pub(crate) mod filter;
pub(crate) mod namespace;
mod scalar;
pub(crate) mod scanner;
pub(crate) mod stargate;
pub(crate) mod table_info;
pub(crate) mod table_list;
pub(crate) mod table_schema;
pub(crate) mod version;

use hyper::StatusCode;

use self::decoded_size::decoded_bytes;
use crate::failure::Failure;
use crate::media::Format;
use crate::request::Request;
use crate::response::Response;

/// A model that an answer contains.
pub(crate) trait Model {
    /// As HBase's class prints it.
    fn to_text(&self) -> String;
    fn to_xml(&self) -> String;
    fn to_json(&self) -> String;
    /// Empty for a model that has no message.
    fn to_protobuf(&self) -> Vec<u8>;
}

/// 200 with `model` in the requested form.
pub(crate) fn answer(model: &impl Model, format: Format) -> Response {
    let bytes = match format {
        Format::Text => model.to_text().into_bytes(),
        Format::Xml => model.to_xml().into_bytes(),
        Format::Json => model.to_json().into_bytes(),
        Format::Protobuf | Format::ProtobufIetf | Format::Binary => model.to_protobuf(),
    };
    Response::ok().with_body(format.media_type(), bytes)
}

/// A model that the body of a request contains.
pub(crate) trait FromBody: Sized {
    /// # Errors
    /// 400 if the document is not this model's, 500 for a value that HBase does not expect.
    fn from_xml(bytes: &[u8]) -> Result<Self, StatusCode>;
    /// `None` for null where the model is required. The bytes are an object.
    fn from_json(bytes: &[u8]) -> serde_json::Result<Option<Self>>;
    fn from_protobuf(bytes: &[u8]) -> Result<Self, prost::DecodeError>;

    /// Reads the body of a request; `None` for an empty one, or null, in JSON.
    ///
    /// # Errors
    /// 415 for a media type without a model, 503 without memory for it. A body that is not the
    /// model's is 400 in XML, and 500 in the other forms: HBase does not expect it.
    fn read(request: &Request) -> Result<Option<Self>, Failure> {
        let body = &request.body;
        let format = Format::of_body(request, Format::STRUCTURED)?;
        if !request.memory.try_take(decoded_bytes(format, body)) {
            return Err(Failure::out_of_memory());
        }
        match format {
            Format::Xml => Self::from_xml(body).map(Some).map_err(Failure::Page),
            Format::Json => match body.trim_ascii() {
                b"" | b"null" => Ok(None),
                // serde would accept an array.
                object @ [b'{', ..] => Self::from_json(object).map_err(|_| Failure::UNEXPECTED),
                _ => Err(Failure::UNEXPECTED),
            },
            _ => Self::from_protobuf(body).map(Some).map_err(|_| Failure::UNEXPECTED),
        }
    }

    /// As [`FromBody::read`], of a request that needs a body.
    ///
    /// # Errors
    /// 400 without one.
    fn read_needed(request: &Request) -> Result<Self, Failure> {
        Self::read(request)?.ok_or_else(|| {
            let text = "Bad request\r\njava.lang.NullPointerException\n\r\n";
            Failure::text(StatusCode::BAD_REQUEST, text)
        })
    }
}

/// Appends `text` as a JSON string.
fn json_string(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}
