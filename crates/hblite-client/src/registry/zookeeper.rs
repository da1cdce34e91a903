//! The registry in ZooKeeper: two nodes, read over a connection per lookup.
//!
//! ```text
//! <parent>/meta-region-server   FF, u32 length, id, "PBUF", MetaRegionServer { server }
//! <parent>/master               FF, u32 length, id, "PBUF", Master { master }
//! ```
//!
//! A session per lookup needs no watches and cannot be lost: the result is kept until a server
//! contradicts it.

use bytes::Bytes;
use hblite_wire::greeting::other_protocol;
use hblite_wire::jute::{Decoder, Encoder, Malformed};
use hblite_wire::pb;
use prost::Message;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::{Wanted, address, none_answered, shuffled};
use crate::error::CallError;
use crate::settings::ClientSettings;
use crate::url::ServerAddress;
use crate::waiting;

/// Maximum size of an answer (`jute.maxbuffer`).
const FRAME_SIZE_MAX: usize = 0xf_ffff;
const SESSION_TIMEOUT_MS: i32 = 30_000;
const PASSWORD: [u8; 16] = [0; 16];
const GET_DATA: i32 = 4;
const CLOSE_SESSION: i32 = -11;
const NO_NODE: i32 = -101;
const FATAL: &[u8] = b"FatalConnectionException";
/// The magic of the data of HBase's nodes.
const MAGIC: u8 = 0xff;
const PROTOBUF_MAGIC: &[u8] = b"PBUF";

/// `MetaRegionServer` and `Master`: both have the server in field 1.
#[derive(Clone, PartialEq, Message)]
struct ServerNode {
    #[prost(message, optional, tag = "1")]
    server: Option<pb::ServerName>,
}

/// The server that is wanted.
pub(super) async fn find(
    quorum: &[ServerAddress],
    parent: &str,
    wanted: Wanted,
    settings: &ClientSettings,
    deadline: Instant,
) -> Result<ServerAddress, CallError> {
    let node = match wanted {
        Wanted::Meta => "meta-region-server",
        Wanted::Master => "master",
    };
    let (path, mut tried) = (format!("{parent}/{node}"), Vec::new());
    for server in shuffled(quorum) {
        let deadline = deadline.min(Instant::now() + settings.zookeeper_timeout);
        let read = timeout_at(deadline, read_node(&server, &path)).await;
        let late = || Wanted::unanswered(format!("ZooKeeper at {server} did not answer in time"));
        match read.unwrap_or_else(|_| Err(late())) {
            Ok(Some(data)) => match server_of(&data) {
                Some(found) => return Ok(found),
                None => {
                    let why = format!("{path} does not contain what HBase writes there");
                    let error = CallError::Malformed { server: server.clone(), why };
                    tried.push((server, error));
                }
            },
            Ok(None) => {
                let why = format!(
                    "ZooKeeper at {server} has no {path}: HBase is starting, or \
                     uses another zookeeper.znode.parent"
                );
                tried.push((server, wanted.absent(why)));
            }
            Err(error) => tried.push((server, error)),
        }
    }
    Err(none_answered(wanted, &path, tried))
}

/// What a server of ZooKeeper says of itself, or why it says nothing.
pub(super) async fn statistics(server: &ServerAddress, settings: &ClientSettings) -> String {
    let asked = async {
        let mut stream = waiting::connect(server).await?;
        stream.write_all(b"stat").await?;
        let mut text = Vec::new();
        stream.take(FRAME_SIZE_MAX as u64).read_to_end(&mut text).await?;
        std::io::Result::Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let deadline = Instant::now() + settings.zookeeper_timeout;
    match timeout_at(deadline, asked).await {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it did not answer in time".to_owned(),
    }
}

fn server_of(data: &[u8]) -> Option<ServerAddress> {
    let data = match data.strip_prefix(&[MAGIC]) {
        Some(rest) => {
            let (length, rest) = rest.split_first_chunk::<4>()?;
            rest.get(u32::from_be_bytes(*length) as usize..)?
        }
        None => data,
    };
    address(ServerNode::decode(data.strip_prefix(PROTOBUF_MAGIC)?).ok()?.server)
}

/// The data of a node; `None` if there is no such node.
async fn read_node(server: &ServerAddress, path: &str) -> Result<Option<Bytes>, CallError> {
    let mut stream = waiting::connect(server).await.map_err(|error| CallError::Unreachable {
        server: server.clone(),
        why: error.to_string(),
    })?;
    let mut conversation = Conversation { server, stream: &mut stream };
    conversation
        .send(|frame| {
            frame.int(0).long(0).int(SESSION_TIMEOUT_MS).long(0).buffer(&PASSWORD).boolean(false);
        })
        .await?;
    let welcome = conversation.receive().await?;
    let mut fields = Decoder::new(&welcome);
    let (_, granted) = (conversation.read(fields.int())?, conversation.read(fields.int())?);
    if granted <= 0 {
        return Err(conversation.malformed("it refuses a session"));
    }
    conversation
        .send(|frame| {
            frame.int(1).int(GET_DATA).string(path).boolean(false);
        })
        .await?;
    let answer = conversation.receive().await?;
    let mut fields = Decoder::new(&answer);
    let (_, _) = (conversation.read(fields.int())?, conversation.read(fields.long())?);
    let found = match conversation.read(fields.int())? {
        0 => Some(Bytes::copy_from_slice(conversation.read(fields.buffer())?)),
        NO_NODE => None,
        other => return Err(conversation.malformed(&format!("error {other} for {path}"))),
    };
    // If this request is lost, the session expires by itself.
    let _ = conversation
        .send(|frame| {
            frame.int(2).int(CLOSE_SESSION);
        })
        .await;
    Ok(found)
}

struct Conversation<'c> {
    server: &'c ServerAddress,
    stream: &'c mut TcpStream,
}

impl Conversation<'_> {
    fn malformed(&self, why: &str) -> CallError {
        let why = format!("{why} (a ZooKeeper was expected)");
        CallError::Malformed { server: self.server.clone(), why }
    }

    fn read<T>(&self, field: Result<T, Malformed>) -> Result<T, CallError> {
        field.map_err(|malformed| self.malformed(&malformed.to_string()))
    }

    fn disconnected(&self, error: &std::io::Error) -> CallError {
        CallError::Disconnected { server: self.server.clone(), why: error.to_string() }
    }

    async fn send(&mut self, body: impl FnOnce(&mut Encoder)) -> Result<(), CallError> {
        let mut frame = Encoder::default();
        frame.frame(body);
        let sent = self.stream.write_all(frame.as_slice()).await;
        sent.map_err(|error| self.disconnected(&error))
    }

    async fn receive(&mut self) -> Result<Vec<u8>, CallError> {
        let length = self.stream.read_u32().await;
        let length = length.map_err(|error| self.disconnected(&error))? as usize;
        if length > FRAME_SIZE_MAX {
            let known = other_protocol(&(length as u32).to_be_bytes()).map(str::to_owned);
            let why = known.unwrap_or_else(|| format!("an answer of {length} bytes"));
            return Err(self.malformed(&why));
        }
        let mut frame = vec![0; length];
        let read = self.stream.read_exact(&mut frame).await;
        read.map_err(|error| self.disconnected(&error))?;
        // HBase's answer to what it cannot read.
        if frame.windows(FATAL.len()).any(|part| part == FATAL) {
            return Err(self.malformed("it speaks HBase's RPC; use hbase+rpc://"));
        }
        Ok(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_hold_servers() {
        let data = b"\xff\0\0\0\x02idPBUF\x0a\x06\x0a\x01h\x10\x94\x7d";
        let found = ServerAddress { host: "h".to_owned(), port: 16020 };
        assert_eq!(server_of(data), Some(found.clone()));
        assert_eq!(server_of(&data[7..]), Some(found));
        for broken in [&b""[..], b"\xff", b"\xff\xff\xff\xff\xff", b"PBUF", b"PBUF\x0a\xff"] {
            assert_eq!(server_of(broken), None, "{broken:?}");
        }
    }
}
