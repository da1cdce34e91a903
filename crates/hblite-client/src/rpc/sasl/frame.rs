//! The frames of HBase's SASL exchange.
//!
//! Invariant: an announced length over the limit is an error; nothing is allocated for it.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Maximum size of a token or a text, as in HBase's client.
const SIZE_MAX: usize = 1 << 20;
/// The statuses of an answer (`SaslStatus`).
const SUCCESS: u32 = 0;
const ERROR: u32 = 1;
/// In place of a token's length (`SaslUtil.SWITCH_TO_SIMPLE_AUTH`).
const SWITCH_TO_SIMPLE: i32 = -88;

/// An answer of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// The next token.
    Token(Vec<u8>),
    /// The server does not authenticate its clients.
    SwitchToSimple,
    /// The exchange has failed on the server.
    Refused { class: String, message: String },
}

/// Sends a token, which may be empty.
pub(super) async fn write_token(
    stream: &mut (impl AsyncWrite + Unpin),
    token: &[u8],
) -> io::Result<()> {
    let length = u32::try_from(token.len()).map_err(io::Error::other)?;
    stream.write_all(&[&length.to_be_bytes()[..], token].concat()).await?;
    stream.flush().await
}

/// Reads an answer.
///
/// # Errors
/// `InvalidData` if it is not one.
pub(super) async fn read_reply(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Reply> {
    match stream.read_u32().await? {
        SUCCESS => match stream.read_i32().await? {
            SWITCH_TO_SIMPLE => Ok(Reply::SwitchToSimple),
            length => {
                let length = usize::try_from(length).map_err(|_| malformed(length))?;
                Ok(Reply::Token(read_exact(stream, length).await?))
            }
        },
        ERROR => {
            let class = read_text(stream).await?;
            let message = read_text(stream).await?;
            Ok(Reply::Refused { class, message })
        }
        status => Err(malformed(status)),
    }
}

/// A text of Java, which may be null: its length is negative then.
async fn read_text(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let length = stream.read_i32().await?;
    let bytes = read_exact(stream, usize::try_from(length).unwrap_or(0)).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn read_exact(stream: &mut (impl AsyncRead + Unpin), length: usize) -> io::Result<Vec<u8>> {
    if length > SIZE_MAX {
        return Err(malformed(length));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}

fn malformed(found: impl std::fmt::Display) -> io::Error {
    let message = format!("its answer is not one of HBase's SASL: {found} is no status or length");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Reply> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(read_reply(&mut &bytes[..]))
    }

    #[test]
    fn answers_are_told_apart() {
        assert_eq!(read(b"\0\0\0\0\0\0\0\x03abc").unwrap(), Reply::Token(b"abc".to_vec()));
        assert_eq!(read(b"\0\0\0\0\0\0\0\0").unwrap(), Reply::Token(Vec::new()));
        let simple = hblite_wire::preamble::SWITCH_TO_SIMPLE;
        assert_eq!(read(&simple).unwrap(), Reply::SwitchToSimple);
        let refused = |class: &str, message: &str| Reply::Refused {
            class: class.to_owned(),
            message: message.to_owned(),
        };
        let answer = b"\0\0\0\x01\0\0\0\x01C\0\0\0\x02no";
        assert_eq!(read(answer).unwrap(), refused("C", "no"));
        let null = b"\0\0\0\x01\0\0\0\x01C\xff\xff\xff\xff";
        assert_eq!(read(null).unwrap(), refused("C", ""));
    }

    #[test]
    fn other_answers_are_errors() {
        for (bytes, kind) in [
            (&b"\0\0\0\0\0\0\0\x03ab"[..], io::ErrorKind::UnexpectedEof),
            (b"\0\0\0", io::ErrorKind::UnexpectedEof),
            (b"\0\0\0\x02\0\0\0\0", io::ErrorKind::InvalidData),
            (b"HTTP/1.1 400", io::ErrorKind::InvalidData),
            (b"\0\0\0\0\xff\xff\xff\xff", io::ErrorKind::InvalidData),
            (b"\0\0\0\0\x7f\xff\xff\xff", io::ErrorKind::InvalidData),
            (b"\0\0\0\x01\x7f\xff\xff\xff", io::ErrorKind::InvalidData),
        ] {
            assert_eq!(read(bytes).unwrap_err().kind(), kind, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes: Vec<u8>) {
            let _ = read(&bytes);
        }
    }
}
