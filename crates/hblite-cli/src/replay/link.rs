//! A connection to a server that sends recorded bytes, one call at a time.
//!
//! Threads: one.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use bytes::{BufMut as _, Bytes, BytesMut};
use hblite_client::ServerAddress;
use hblite_wire::client_frame::{Reply, hello};
use hblite_wire::frame::LENGTH_SIZE;
use hblite_wire::pb;
use prost::Message as _;

/// How long to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Longest answer.
const ANSWER_MAX_BYTES: u64 = 1 << 30;

/// An open connection.
pub(super) struct Link {
    stream: TcpStream,
    last_id: u32,
}

impl Link {
    /// Connects and sends the recorded header.
    ///
    /// # Errors
    /// Those of the socket.
    pub(super) fn open(server: &ServerAddress, header: &pb::ConnectionHeader) -> io::Result<Self> {
        let address = (server.host.as_str(), server.port).to_socket_addrs()?.next();
        let address = address.ok_or_else(|| io::Error::other("the host has no address"))?;
        let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        stream.write_all(&hello(header))?;
        Ok(Self { stream, last_id: 0 })
    }

    /// Sends a call and waits for its answer.
    ///
    /// # Errors
    /// Those of the socket; `InvalidData` if the bytes are not an answer.
    pub(super) fn call(&mut self, method: &str, message: &[u8], cells: &[u8]) -> io::Result<Reply> {
        self.last_id += 1;
        let length = u32::try_from(cells.len()).ok().filter(|length| *length > 0);
        let header = pb::RequestHeader {
            call_id: Some(self.last_id),
            method_name: Some(method.to_owned()),
            request_param: Some(true),
            cell_block_meta: length.map(|length| pb::CellBlockMeta { length: Some(length) }),
            ..pb::RequestHeader::default()
        };
        let mut frame = BytesMut::new();
        frame.put_u32(0);
        frame.put_slice(&header.encode_length_delimited_to_vec());
        prost::encode_length_delimiter(message.len(), &mut frame).map_err(io::Error::other)?;
        frame.put_slice(message);
        frame.put_slice(cells);
        let length = frame.len() - LENGTH_SIZE;
        let length = i32::try_from(length).map_err(|_| io::Error::other("the call is too long"))?;
        frame[..LENGTH_SIZE].copy_from_slice(&length.to_be_bytes());
        self.stream.write_all(&frame)?;
        loop {
            let reply = self.read()?;
            if reply.call_id() == self.last_id {
                return Ok(reply);
            }
        }
    }

    fn read(&mut self) -> io::Result<Reply> {
        let mut length = [0; LENGTH_SIZE];
        self.stream.read_exact(&mut length)?;
        let length = u64::from(u32::from_be_bytes(length));
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        if length > ANSWER_MAX_BYTES {
            return Err(invalid(format!("an answer of {length} bytes is too long")));
        }
        // What the length announces is not allocated at once.
        let mut frame = Vec::new();
        let read = (&mut self.stream).take(length).read_to_end(&mut frame)?;
        if read as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Reply::parse(Bytes::from(frame)).map_err(|error| invalid(error.message().to_owned()))
    }
}
