//! An independent client, so that each byte is known: what it sends is built here, not by the
//! client code of the project.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use bytes::Bytes;
use hblite_server::TestServer;
use hblite_wire::pb;
use prost::Message;

pub(crate) const META: &[u8] = b"hbase:meta,,1";
pub(crate) const KEY_VALUE_CODEC: &str = "org.apache.hadoop.hbase.codec.KeyValueCodec";

/// A connection to one service.
pub(crate) struct Client {
    stream: TcpStream,
    last_id: u32,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) header: pb::ResponseHeader,
    pub(crate) message: Vec<u8>,
    pub(crate) cells: Vec<u8>,
}

impl Answer {
    /// The answer in a frame without its length.
    pub(crate) fn parse(frame: Vec<u8>) -> Self {
        let mut frame = Bytes::from(frame);
        let header = pb::ResponseHeader::decode_length_delimited(&mut frame).expect("a header");
        let length = header.cell_block_meta.and_then(|meta| meta.length).unwrap_or(0) as usize;
        let cells = frame.split_off(frame.len() - length).to_vec();
        let mut message = Vec::new();
        if header.exception.is_none() {
            let size = prost::decode_length_delimiter(&mut frame).expect("a length");
            assert_eq!(size, frame.len(), "the message fills what the cell block leaves");
            message = frame.to_vec();
        }
        Self { header, message, cells }
    }

    pub(crate) fn decode<M: Message + Default>(&self) -> M {
        assert_eq!(self.header.exception, None);
        M::decode(self.message.as_slice()).expect("a message of the method")
    }

    /// Class and do-not-retry flag of the exception.
    pub(crate) fn exception(&self) -> (&str, bool) {
        let exception = self.header.exception.as_ref().expect("an exception");
        let class = exception.exception_class_name.as_deref().expect("a class");
        let text = exception.stack_trace.as_deref().expect("a text");
        assert!(text.starts_with(class), "{text}");
        (class.rsplit('.').next().expect("a name"), exception.do_not_retry == Some(true))
    }

    pub(crate) fn exception_text(&self) -> &str {
        self.header.exception.as_ref().and_then(|e| e.stack_trace.as_deref()).expect("an exception")
    }
}

/// The frame of a call, without its length.
pub(crate) fn frame(
    id: u32,
    method: &str,
    message: &impl Message,
    cells: &[u8],
    timeout: Option<u32>,
) -> Vec<u8> {
    let header = pb::RequestHeader {
        call_id: Some(id),
        method_name: Some(method.to_owned()),
        request_param: Some(true),
        cell_block_meta: (!cells.is_empty())
            .then_some(pb::CellBlockMeta { length: Some(cells.len() as u32) }),
        timeout,
        ..pb::RequestHeader::default()
    };
    let mut frame = header.encode_length_delimited_to_vec();
    frame.extend_from_slice(&message.encode_length_delimited_to_vec());
    frame.extend_from_slice(cells);
    frame
}

/// How clients begin.
pub(crate) fn header(service: &str, codec: Option<&str>, version: Option<(u32, u32)>) -> Vec<u8> {
    let header = connection_header(service, codec, version);
    let mut bytes = b"HBas\0P".to_vec();
    bytes.extend_from_slice(&(header.encoded_len() as u32).to_be_bytes());
    bytes.extend_from_slice(&header.encode_to_vec());
    bytes
}

/// The connection header of a client.
pub(crate) fn connection_header(
    service: &str,
    codec: Option<&str>,
    version: Option<(u32, u32)>,
) -> pb::ConnectionHeader {
    pb::ConnectionHeader {
        user_info: Some(pb::UserInformation { effective_user: "me".into(), real_user: None }),
        service_name: Some(service.to_owned()),
        cell_block_codec_class: codec.map(str::to_owned),
        version_info: version.map(|(major, minor)| pb::VersionInfo {
            version: Some(format!("{major}.{minor}.1")),
            version_major: Some(major),
            version_minor: Some(minor),
            ..pb::VersionInfo::default()
        }),
        ..pb::ConnectionHeader::default()
    }
}

/// Opens a connection that has sent nothing yet.
pub(crate) fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the port is open");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    stream.set_nodelay(true).expect("no delay");
    stream
}

/// Everything until the server closes the connection.
pub(crate) fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => bytes,
    }
}

impl Client {
    /// As Java's client of HBase 2.6.
    pub(crate) fn java(port: u16, service: &str) -> Self {
        Self::with(port, &header(service, Some(KEY_VALUE_CODEC), Some((2, 6))))
    }

    pub(crate) fn with(port: u16, hello: &[u8]) -> Self {
        let mut stream = connect(port);
        stream.write_all(hello).expect("sent");
        Self { stream, last_id: 0 }
    }

    /// The master of a server.
    pub(crate) fn master(server: &TestServer) -> Self {
        Self::java(server.ports().master, "MasterService")
    }

    /// The data of its first region server.
    pub(crate) fn data(server: &TestServer) -> Self {
        Self::java(server.ports().region_servers[0], "ClientService")
    }

    pub(crate) fn send(&mut self, method: &str, message: &impl Message) -> u32 {
        self.send_with(method, message, b"", None)
    }

    pub(crate) fn send_with(
        &mut self,
        method: &str,
        message: &impl Message,
        cells: &[u8],
        timeout: Option<u32>,
    ) -> u32 {
        self.last_id += 1;
        let frame = frame(self.last_id, method, message, cells, timeout);
        // In one write: a pause after the length would count as one within the frame.
        self.send_bytes(&[&(frame.len() as u32).to_be_bytes()[..], &frame].concat());
        self.last_id
    }

    /// Sends the same call repeatedly, in one write.
    pub(crate) fn send_many(&mut self, method: &str, message: &impl Message, count: usize) {
        let mut bytes = Vec::new();
        for _ in 0..count {
            self.last_id += 1;
            let header = pb::RequestHeader {
                call_id: Some(self.last_id),
                method_name: Some(method.to_owned()),
                request_param: Some(true),
                ..pb::RequestHeader::default()
            };
            let mut frame = header.encode_length_delimited_to_vec();
            frame.extend_from_slice(&message.encode_length_delimited_to_vec());
            bytes.extend_from_slice(&(frame.len() as u32).to_be_bytes());
            bytes.append(&mut frame);
        }
        self.send_bytes(&bytes);
    }

    /// Whether there are received bytes that were not read.
    pub(crate) fn has_answer(&mut self) -> bool {
        self.stream.set_nonblocking(true).expect("a socket");
        let has_answer = self.stream.peek(&mut [0]).is_ok();
        self.stream.set_nonblocking(false).expect("a socket");
        has_answer
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("sent");
    }

    pub(crate) fn read_frame(&mut self) -> Vec<u8> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).expect("a frame");
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut frame).expect("a whole frame");
        frame
    }

    pub(crate) fn receive(&mut self) -> Answer {
        Answer::parse(self.read_frame())
    }

    pub(crate) fn call(&mut self, method: &str, message: &impl Message) -> Answer {
        let id = self.send(method, message);
        let answer = self.receive();
        assert_eq!(answer.header.call_id, Some(id));
        answer
    }

    /// Whether the server has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

pub(crate) fn region(name: &[u8]) -> pb::RegionSpecifier {
    pb::RegionSpecifier { r#type: 1, value: name.to_vec().into() }
}

pub(crate) fn get(name: &[u8], row: &str) -> pb::GetRequest {
    let get = pb::Get { row: row.to_owned().into(), ..pb::Get::default() };
    pb::GetRequest { region: region(name), get }
}

/// Creates a table with the family `f` through the master, split at these keys; returns the names
/// of its regions.
pub(crate) fn create_table(server: &TestServer, name: &str, splits: &[&str]) -> Vec<Vec<u8>> {
    let request = pb::CreateTableRequest {
        table_schema: pb::TableSchema {
            table_name: Some(table_name(name)),
            column_families: vec![pb::ColumnFamilySchema {
                name: "f".into(),
                ..Default::default()
            }],
            ..pb::TableSchema::default()
        },
        split_keys: splits.iter().map(|key| key.to_string().into()).collect(),
        nonce_group: None,
        nonce: None,
    };
    let answer = Client::master(server).call("CreateTable", &request);
    assert!(answer.decode::<pb::ProcedureResponse>().proc_id.is_some());
    let table = server.connection().table(name).expect("a name");
    table.regions().expect("regions").iter().map(|info| info.region_name()).collect()
}

pub(crate) fn table_name(name: &str) -> pb::TableName {
    pb::TableName { namespace: "default".into(), qualifier: name.to_owned().into() }
}

/// A put of one cell, in the message.
pub(crate) fn put(row: &str, qualifier: &str, value: &str) -> pb::MutationProto {
    let qualifier_value = pb::mutation_proto::column_value::QualifierValue {
        qualifier: Some(qualifier.to_owned().into()),
        value: Some(value.to_owned().into()),
        ..Default::default()
    };
    pb::MutationProto {
        row: Some(row.to_owned().into()),
        mutate_type: Some(2),
        column_value: vec![pb::mutation_proto::ColumnValue {
            family: "f".into(),
            qualifier_value: vec![qualifier_value],
        }],
        ..pb::MutationProto::default()
    }
}
