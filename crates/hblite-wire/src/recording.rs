//! A file of calls and their answers: JSON, one object in each line.
//!
//! ```text
//! {"hblite-recording":1,"began_ms":1700000000000}                         always the first line
//! {"connection":1,"server":"master","service":"MasterService","peer":"127.0.0.1:40000",
//!  "header":"…"}                                                          before its first call
//! {"call":1,"connection":1,"at_ms":1700000000010,"took_us":250,"method":"CreateTable",…,
//!  "request":{…},"response":{…},"request_bytes":"…","response_bytes":"…"}
//! {"dropped":3}                                                          calls that are missing
//! {"calls":120,"dropped":3}                                              the last line
//! ```
//!
//! A call's line is written when it is answered. Its bytes are in base64, as they were sent: the
//! message, and next to it the cell block (`request_cells`, `response_cells`), whose codec and
//! compressor are in the connection's `header`. That is what a replay sends and compares.
//! `request` and `response` show the messages by the names of their fields, `table` and `region`
//! say what the call was about: they are for readers, long values are cut, and a replay ignores
//! them. A call that was answered with an exception has `exception` (`class`, `message`) instead of
//! a response. One that was not answered has neither.
//!
//! Version 1. A reader ignores members that it does not know. Threads: any.

use std::fmt;
use std::io::{BufRead, Read as _};

use bytes::Bytes;
use hblite_model::bytes::to_string_binary;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::cell_block::CellReader;
use crate::tree::{Reading, Tree, Value};

/// The version of the format.
pub const VERSION: u32 = 1;
/// Longest line that is read.
pub const LINE_MAX_BYTES: usize = 512 << 20;
/// Bytes of a value that are shown.
const SHOWN_BYTES: usize = 256;
/// Elements of a repeated field, and cells, that are shown.
const SHOWN_ELEMENTS: usize = 100;
/// Messages within messages that are shown.
const SHOWN_DEPTH: usize = 16;

/// A line of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The first line.
    Begin {
        /// The time of the server's clock, in milliseconds since 1970-01-01 UTC.
        began_ms: i64,
    },
    /// A connection, before its first call.
    Connection(Connection),
    /// A call.
    Call(Box<Call>),
    /// Calls that the recorder had no room for.
    Dropped {
        /// How many.
        calls: u64,
    },
    /// The last line.
    End {
        /// Calls in the recording.
        calls: u64,
        /// Calls that are missing.
        dropped: u64,
    },
}

/// A connection of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// Its number in the recording.
    #[serde(rename = "connection")]
    pub number: u64,
    /// The server that it went to: `master` or `region server 1`.
    pub server: String,
    /// The service that it asked for, such as `ClientService`.
    pub service: String,
    /// The client's address.
    #[serde(default)]
    pub peer: String,
    /// The connection header, without its length.
    #[serde(with = "base64_bytes")]
    pub header: Bytes,
}

/// A call and its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Its number in the recording, from 1, in the order of the requests.
    #[serde(rename = "call")]
    pub number: u64,
    /// The number of its connection.
    pub connection: u64,
    /// When it came, by the server's clock.
    #[serde(default)]
    pub at_ms: i64,
    /// Microseconds until it was answered.
    #[serde(default)]
    pub took_us: u64,
    /// The method.
    pub method: String,
    /// The table that it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The region that it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The request for readers.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub request: Json,
    /// The answer for readers.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub response: Json,
    /// The exception that it was answered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<RecordedException>,
    /// The request's message.
    #[serde(default, with = "base64_bytes")]
    pub request_bytes: Bytes,
    /// The request's cell block.
    #[serde(default, with = "base64_bytes", skip_serializing_if = "Bytes::is_empty")]
    pub request_cells: Bytes,
    /// The answer's message; `None` if there is none.
    #[serde(default, with = "base64_option", skip_serializing_if = "Option::is_none")]
    pub response_bytes: Option<Bytes>,
    /// The answer's cell block.
    #[serde(default, with = "base64_bytes", skip_serializing_if = "Bytes::is_empty")]
    pub response_cells: Bytes,
}

/// An exception that a call was answered with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedException {
    /// The name of the Java class.
    pub class: String,
    /// The message, without the class.
    pub message: String,
}

#[derive(Serialize, Deserialize)]
struct Begin {
    #[serde(rename = "hblite-recording")]
    version: u32,
    #[serde(default)]
    began_ms: i64,
}

#[derive(Serialize, Deserialize)]
struct Counts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    dropped: u64,
}

impl Line {
    /// The line as text, with its end.
    pub fn to_text(&self) -> String {
        let text = match self {
            Self::Begin { began_ms } => {
                serde_json::to_string(&Begin { version: VERSION, began_ms: *began_ms })
            }
            Self::Connection(connection) => serde_json::to_string(connection),
            Self::Call(call) => serde_json::to_string(call),
            Self::Dropped { calls } => {
                serde_json::to_string(&Counts { calls: None, dropped: *calls })
            }
            Self::End { calls, dropped } => {
                serde_json::to_string(&Counts { calls: Some(*calls), dropped: *dropped })
            }
        };
        let mut text = text.expect("these types are text as JSON, and their keys are names");
        text.push('\n');
        text
    }

    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Members {
            #[serde(rename = "hblite-recording")]
            begin: Option<serde::de::IgnoredAny>,
            call: Option<serde::de::IgnoredAny>,
            connection: Option<serde::de::IgnoredAny>,
        }
        fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, String> {
            serde_json::from_str(text).map_err(|error| error.to_string())
        }
        let members: Members = read(text)?;
        if members.begin.is_some() {
            let begin: Begin = read(text)?;
            if begin.version != VERSION {
                let version = begin.version;
                return Err(format!("the recording has version {version}; this hblite reads 1"));
            }
            return Ok(Self::Begin { began_ms: begin.began_ms });
        }
        if members.call.is_some() {
            return Ok(Self::Call(Box::new(read(text)?)));
        }
        if members.connection.is_some() {
            return Ok(Self::Connection(read(text)?));
        }
        Ok(match read::<Counts>(text)? {
            Counts { calls: Some(calls), dropped } => Self::End { calls, dropped },
            Counts { calls: None, dropped } => Self::Dropped { calls: dropped },
        })
    }
}

/// The member that names the format, in the first line of a recording.
const FORMAT: &[u8] = b"\"hblite-recording\"";
const NO_RECORDING: &str = "this is not a recording: 'hblite serve --record FILE' writes one";

/// A recording that cannot be read.
#[derive(Debug)]
pub struct ReadError {
    /// The number of the line, from 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Reads a recording line by line.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    line: u64,
    is_over: bool,
}

impl<R: BufRead> Reader<R> {
    /// A reader of this file.
    pub fn new(input: R) -> Self {
        Self { input, line: 0, is_over: false }
    }

    /// The number of the line that was read last.
    pub fn line_number(&self) -> u64 {
        self.line
    }

    /// The next line; `None` at the end. A last line without its end was cut off when the server
    /// was killed, and is left out.
    ///
    /// # Errors
    /// If the first line is not that of a recording, a line is not one of a recording, or the file
    /// cannot be read.
    pub fn next_line(&mut self) -> Result<Option<Line>, ReadError> {
        if self.is_over {
            return Ok(None);
        }
        let line = self.line + 1;
        let failed = |message: String| ReadError { line, message };
        let mut bytes = Vec::new();
        let limited = &mut (&mut self.input).take(LINE_MAX_BYTES as u64);
        limited.read_until(b'\n', &mut bytes).map_err(|error| failed(error.to_string()))?;
        if bytes.last() != Some(&b'\n') {
            self.is_over = true;
            return match bytes.len() {
                LINE_MAX_BYTES => Err(failed(format!("it has more than {LINE_MAX_BYTES} bytes"))),
                _ if line == 1 => Err(failed(NO_RECORDING.to_owned())),
                _ => Ok(None),
            };
        }
        if line == 1 && !bytes.windows(FORMAT.len()).any(|window| window == FORMAT) {
            return Err(failed(NO_RECORDING.to_owned()));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| failed(error.to_string()))?;
        let parsed = Line::parse(text).map_err(failed)?;
        if matches!(parsed, Line::Begin { .. }) != (line == 1) {
            return Err(failed("the first line, and no other, names the format".to_owned()));
        }
        self.line = line;
        Ok(Some(parsed))
    }
}

/// Shows a message by the names of its fields. Long values and lists are cut.
pub fn to_json(tree: &Tree) -> Json {
    message_json(tree, 0)
}

fn message_json(tree: &Tree, depth: usize) -> Json {
    let mut object = Map::new();
    for field in &tree.fields {
        let reading = tree.reading(field.number);
        let name = tree.field_name(field.number);
        let name = name.map_or_else(|| field.number.to_string(), str::to_owned);
        if tree.is_repeated(field.number) {
            let list = object.entry(name).or_insert_with(|| Json::Array(Vec::new()));
            if let Json::Array(list) = list
                && list.len() <= SHOWN_ELEMENTS
            {
                let is_room = list.len() < SHOWN_ELEMENTS;
                list.push(if is_room {
                    value_json(&field.value, reading, depth)
                } else {
                    json!("…")
                });
            }
        } else {
            object.insert(name, value_json(&field.value, reading, depth));
        }
    }
    Json::Object(object)
}

fn value_json(value: &Value, reading: Option<Reading>, depth: usize) -> Json {
    match (value, reading) {
        (Value::Varint(number), Some(Reading::Bool)) => json!(*number != 0),
        (Value::Varint(number), Some(Reading::Signed)) => json!(*number as i64),
        (Value::Varint(number) | Value::Fixed64(number), None | Some(_)) => json!(number),
        (Value::Fixed32(number), Some(Reading::Float)) => json!(f32::from_bits(*number)),
        (Value::Fixed32(number), _) => json!(number),
        (Value::Bytes(bytes), _) => json!(shown(bytes)),
        (Value::Message(_), _) if depth == SHOWN_DEPTH => json!("…"),
        (Value::Message(tree), _) => message_json(tree, depth + 1),
    }
}

/// Bytes as HBase's `Bytes.toStringBinary` prints them, cut if they are long.
pub fn shown(bytes: &[u8]) -> String {
    let mut text = to_string_binary(&bytes[..bytes.len().min(SHOWN_BYTES)]);
    if bytes.len() > SHOWN_BYTES {
        text += &format!("… ({} bytes)", bytes.len());
    }
    text
}

/// Shows the cells of a block that is not compressed; nothing if it cannot be read.
pub fn cells_to_json(block: &[u8]) -> Json {
    let (mut reader, mut cells) = (CellReader::new(block), Vec::new());
    while let Ok(cell) = reader.next_cell() {
        if cells.len() == SHOWN_ELEMENTS {
            cells.push(json!("…"));
            break;
        }
        let column = [cell.family(), b":", cell.qualifier()].concat();
        let (row, column, value) = (shown(cell.row()), shown(&column), shown(cell.value()));
        let kind = type_name(&cell);
        cells.push(json!(format!("{row}/{column}/{}/{kind} = {value}", cell.timestamp())));
    }
    Json::Array(cells)
}

/// The name of a cell's type, as in `Put`; its code if HBase has no such type.
pub fn type_name(cell: &hblite_model::CellRef<'_>) -> String {
    cell.cell_type().map_or_else(|| cell.type_code().to_string(), |known| known.to_string())
}

mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Bytes;

    pub(super) fn serialize<S: Serializer>(bytes: &Bytes, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Bytes, D::Error> {
        let text = std::borrow::Cow::<'d, str>::deserialize(from)?;
        let bytes = STANDARD.decode(text.as_bytes()).map_err(serde::de::Error::custom)?;
        Ok(Bytes::from(bytes))
    }
}

mod base64_option {
    use serde::{Deserializer, Serializer};

    use super::{Bytes, base64_bytes};

    pub(super) fn serialize<S: Serializer>(
        bytes: &Option<Bytes>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match bytes {
            Some(bytes) => base64_bytes::serialize(bytes, to),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Option<Bytes>, D::Error> {
        base64_bytes::deserialize(from).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message as _;

    use super::*;
    use crate::pb;

    fn lines() -> Vec<Line> {
        let get = pb::Get { row: Bytes::from_static(b"r\xff"), ..pb::Get::default() };
        let region = pb::RegionSpecifier { r#type: 1, value: Bytes::from_static(b"t,,1.e.") };
        let request: Bytes = pb::GetRequest { region, get }.encode_to_vec().into();
        let call = Call {
            number: 1,
            connection: 7,
            at_ms: 5,
            took_us: 6,
            method: "Get".to_owned(),
            table: Some("t".to_owned()),
            region: Some("t,,1.e.".to_owned()),
            request: to_json(&Tree::parse("GetRequest", request.clone()).unwrap()),
            request_bytes: request,
            response_bytes: Some(Bytes::new()),
            response_cells: Bytes::from_static(b"cells"),
            ..Call::default()
        };
        let exception = RecordedException { class: "C".to_owned(), message: "m\n".to_owned() };
        let failed = Call { response_bytes: None, exception: Some(exception), ..call.clone() };
        let connection = Connection {
            number: 7,
            server: "master".to_owned(),
            service: "ClientService".to_owned(),
            peer: "p".to_owned(),
            header: Bytes::from_static(b"h"),
        };
        vec![
            Line::Begin { began_ms: 3 },
            Line::Connection(connection),
            Line::Call(Box::new(call)),
            Line::Call(Box::new(failed)),
            Line::Dropped { calls: 2 },
            Line::End { calls: 2, dropped: 2 },
        ]
    }

    fn read(text: &[u8]) -> Result<Vec<Line>, ReadError> {
        let mut reader = Reader::new(text);
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line()? {
            lines.push(line);
        }
        Ok(lines)
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let text: String = lines().iter().map(Line::to_text).collect();
        assert!(text.contains(r#""request":{"get":{"row":"r\\xFF"},"region":{"#), "{text}");
        assert_eq!(read(text.as_bytes()).unwrap(), lines());
        // A last line that was cut off is left out.
        let end = text.len() - 1;
        assert_eq!(read(&text.as_bytes()[..end]).unwrap().len(), lines().len() - 1);
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let load = 1.700_055_555_555_500_1e97_f64;
        let call = Call { request: json!({ "load": load }), ..Call::default() };
        let text = Line::Call(Box::new(call.clone())).to_text();
        assert_eq!(Line::parse(&text), Ok(Line::Call(Box::new(call))), "{text}");
    }

    #[test]
    fn what_is_no_recording_is_refused_with_the_line() {
        for (text, line, part) in [
            ("", 1, "not a recording"),
            ("{}\n", 1, "not a recording"),
            ("{\"hblite-recording\":{}}\n", 1, "invalid type"),
            ("{\"hblite-recording\":2}\n", 1, "version 2"),
            ("{\"dropped\":1}\n", 1, "not a recording"),
            ("{\"hblite-recording\":1}\n{\"hblite-recording\":1}\n", 2, "first line"),
            ("{\"hblite-recording\":1}\n\u{1}\n", 2, "expected value"),
            (
                "{\"hblite-recording\":1}\n{\"call\":1,\"connection\":1,\"method\":\"m\",\
                 \"request_bytes\":\"%\"}\n",
                2,
                "symbol",
            ),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_recording_or_refused(bytes: Vec<u8>, at: usize, byte: u8) {
            let _ = read(&bytes);
            let mut text: Vec<u8> = lines().iter().flat_map(|l| l.to_text().into_bytes()).collect();
            let at = at % text.len();
            text[at] = byte;
            if let Ok(lines) = read(&text) {
                let again: String = lines.iter().map(Line::to_text).collect();
                prop_assert_eq!(read(again.as_bytes()).unwrap(), lines);
            }
        }
    }
}
