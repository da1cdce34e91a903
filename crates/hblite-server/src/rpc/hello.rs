//! How a connection begins: the preamble, and the header with the user and the service.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use hblite_model::Protocol;
use hblite_wire::cell_block::{Codec, Compressor};
use hblite_wire::exception::class;
use hblite_wire::frame::{NO_CALL_ID, Response, decode_connection_header};
use hblite_wire::greeting::other_protocol;
use hblite_wire::memory::MemoryCharge;
use hblite_wire::preamble::{MAGIC, PREAMBLE_SIZE, Preamble, SWITCH_TO_SIMPLE, parse};
use hblite_wire::{RemoteException, pb};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::peer::{Client, Service};
use crate::cluster::{Role, Shared};

/// Maximum size of a connection header.
const HEADER_SIZE_MAX: usize = 1024 * 1024;
/// The memory of a connection that has sent nothing yet: its task and the system's buffers.
const CONNECTION_BYTES: usize = 4 * 1024;

/// Reads what a client sends first. `None` if it has been answered already, or gets no answer.
///
/// # Errors
/// Those of the socket.
pub(super) async fn shake_hands(
    stream: &mut TcpStream,
    cluster: &Shared,
    role: Role,
    charge: &mut MemoryCharge,
    now_ms: i64,
) -> std::io::Result<Option<Client>> {
    if !charge.try_resize(CONNECTION_BYTES) {
        return Ok(None);
    }
    let from = stream.peer_addr()?;
    let peer = from.to_string();
    let mut has_asked_for_principal = false;
    loop {
        let mut bytes = [0; PREAMBLE_SIZE];
        stream.read_exact(&mut bytes).await?;
        match parse(bytes, &peer) {
            Err(exception) => {
                let other = other_protocol(&bytes).filter(|_| !bytes.starts_with(MAGIC));
                refuse(cluster, stream, other.unwrap_or(&exception.message));
                let response = Response::of_exception(NO_CALL_ID, &exception);
                stream.write_all(&response.head).await?;
                return Ok(None);
            }
            Ok(Preamble::ConnectionRegistry) => {
                let answer = pb::GetConnectionRegistryResponse { cluster_id: cluster.id.clone() };
                let response = Response::new(NO_CALL_ID, &answer, Bytes::new());
                stream.write_all(&response.head).await?;
                return Ok(None);
            }
            Ok(Preamble::SecurityPreamble) if !has_asked_for_principal => {
                has_asked_for_principal = true;
                let exception =
                    RemoteException::new(class::SECURITY_NOT_ENABLED, "security is not enabled");
                let response = Response::of_exception(NO_CALL_ID, &exception);
                stream.write_all(&response.head).await?;
            }
            Ok(Preamble::SecurityPreamble) => return Ok(None),
            Ok(Preamble::Simple) => break,
            Ok(Preamble::Sasl) => {
                stream.write_all(&SWITCH_TO_SIMPLE).await?;
                // The client's first SASL message.
                if read_block(stream, charge).await?.is_none() {
                    return Ok(None);
                }
                break;
            }
        }
    }
    let Some(block) = read_block(stream, charge).await? else {
        return Ok(None);
    };
    let Ok(header) = decode_connection_header(&block) else {
        return Ok(None);
    };
    let mut client = match client_of(&header, cluster, role, stream.local_addr()?, Some(from.ip()))
    {
        Ok(client) => client,
        Err(why) => {
            refuse(cluster, stream, &why);
            return Ok(None);
        }
    };
    client.recorded = cluster.options.recorder.as_ref().map(|recorder| {
        let service = header.service_name.clone().unwrap_or_default();
        recorder.connection(role.to_string(), service, peer, Bytes::from(block), now_ms)
    });
    Ok(Some(client))
}

/// Logs why a connection is closed, of which the client may not hear.
fn refuse(cluster: &Shared, stream: &TcpStream, why: &str) {
    if let Some(log) = &cluster.options.log {
        log.refuse("RPC", stream.peer_addr().ok(), &why);
    }
}

/// Reads a length and that many bytes; `None` if they are too many, or there is no memory for them.
async fn read_block(
    stream: &mut TcpStream,
    charge: &mut MemoryCharge,
) -> std::io::Result<Option<Vec<u8>>> {
    let length = stream.read_u32().await? as usize;
    // Decoded, it takes the same size again.
    if length > HEADER_SIZE_MAX || !charge.try_resize(CONNECTION_BYTES + 2 * length) {
        return Ok(None);
    }
    let mut block = Vec::new();
    if block.try_reserve_exact(length).is_err() {
        return Ok(None);
    }
    block.resize(length, 0);
    stream.read_exact(&mut block).await?;
    Ok(Some(block))
}

/// The client with this header, at the address `from` unless it is in this process.
///
/// # Errors
/// What it requests that hblite does not support. As HBase does, the server then closes the
/// connection without a message.
pub(super) fn client_of(
    header: &pb::ConnectionHeader,
    cluster: &Shared,
    role: Role,
    reached: SocketAddr,
    from: Option<IpAddr>,
) -> Result<Client, String> {
    let named = |name: &Option<String>| name.clone().filter(|name| !name.is_empty());
    let service = header.service_name.as_deref().unwrap_or_default();
    let service = Service::of_name(service, role)
        .ok_or_else(|| format!("the port of the {role} has no service {service:?}"))?;
    let codec = named(&header.cell_block_codec_class).map(|name| {
        Codec::from_class_name(&name).ok_or_else(|| format!("the codec {name} is not supported"))
    });
    let compressor = named(&header.cell_block_compressor_class).map(|name| {
        Compressor::from_class_name(&name)
            .ok_or_else(|| format!("the compression {name} is not supported"))
    });
    let version = header
        .version_info
        .as_ref()
        .map(|version| (version.version_major.unwrap_or(0), version.version_minor.unwrap_or(0)));
    let user = header.user_info.as_ref().map(|user| user.effective_user.as_str());
    let host = cluster.host_for(reached);
    let server = cluster.identity(role).text(&host);
    Ok(Client {
        role,
        service,
        codec: codec.transpose()?,
        compressor: compressor.transpose()?,
        version,
        host,
        server,
        counted: cluster.callers.client(Protocol::Rpc, from, user),
        recorded: None,
    })
}
