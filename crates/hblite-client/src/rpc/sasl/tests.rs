//! Goal: the exchange ends authenticated, unprotected, or with the reason, whatever the server
//! sends; what is written after it arrives as it was, wrapped as agreed.
//! Method: both sides over a pipe, with a security context that only marks what it wraps.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

use super::*;
use crate::kerberos_settings::RpcProtection::{self, Authentication, Integrity, Privacy};

/// Wraps by a first byte, `E` or `S`, and by adding the same number to each byte if encrypted.
#[derive(Debug, Clone, Default)]
struct Marks {
    /// Tokens after which the context is established.
    tokens: Vec<&'static [u8]>,
}

impl SecurityContext for Marks {
    fn step(&mut self, token: &[u8]) -> Result<Step, Failure> {
        let expected = self.tokens.remove(0);
        if token != expected {
            return Err(Failure::Refused(format!("a token {token:?}, not {expected:?}")));
        }
        let is_established = self.tokens.is_empty();
        let token = if is_established { Vec::new() } else { b"client".to_vec() };
        Ok(Step { token, is_established })
    }

    fn wrap(&mut self, plain: &[u8], encrypts: bool) -> Result<Vec<u8>, Failure> {
        let (mark, added) = if encrypts { (b'E', 1_u8) } else { (b'S', 0) };
        let bytes = plain.iter().map(|byte| byte.wrapping_add(added));
        Ok(std::iter::once(mark).chain(bytes).collect())
    }

    fn unwrap(&mut self, wrapped: &[u8]) -> Result<(Vec<u8>, bool), Failure> {
        let subtracted = match wrapped.first() {
            Some(b'E') => 1,
            Some(b'S') => 0,
            _ => return Err(Failure::Refused("this is not wrapped".to_owned())),
        };
        let plain = wrapped[1..].iter().map(|byte| byte.wrapping_sub(subtracted));
        Ok((plain.collect(), subtracted == 1))
    }

    fn plain_size_max(&mut self, wrapped_max: u32, _: bool) -> Result<u32, Failure> {
        Ok(wrapped_max.saturating_sub(1))
    }

    fn refused_by_server(&self, class: &str, message: &str) -> String {
        format!("{class}: {message}")
    }
}

fn answer(token: &[u8]) -> Vec<u8> {
    [&[0; 4][..], &(token.len() as u32).to_be_bytes(), token].concat()
}

/// The client's side with these answers of the server, and what the client has sent.
async fn exchange(
    wanted: &[RpcProtection],
    answers: &[&[u8]],
) -> (Result<Negotiated<Marks>, Failure>, Vec<u8>) {
    let (mut client, mut server) = duplex(1 << 16);
    server.write_all(&answers.concat()).await.unwrap();
    let context = Marks { tokens: vec![b"", b"server"] };
    let done = negotiate(&mut client, Gssapi::new(context, wanted)).await;
    drop(client);
    let mut sent = Vec::new();
    server.read_to_end(&mut sent).await.unwrap();
    (done, sent)
}

/// The whole exchange with a server that offers protections and a maximum size.
async fn agreed(
    wanted: &[RpcProtection],
    offer: &[u8],
) -> (Result<Option<Layer<Marks>>, Failure>, Vec<u8>) {
    let (done, sent) = exchange(wanted, &[&answer(b"server"), &answer(offer)]).await;
    let layer = done.map(|done| match done {
        Negotiated::Sasl(layer) => layer,
        Negotiated::Simple => panic!("the server has authenticated"),
    });
    (layer, sent)
}

#[tokio::test]
async fn both_sides_agree_on_the_preferred_protection() {
    let before = b"\0\0\0\x06client\0\0\0\0\0\0\0\x05S";
    let all = [Privacy, Integrity, Authentication];
    for (wanted, offer, selected) in [
        (&[Authentication][..], b"S\x07\x01\0\0", b"\x01\0\0\0"),
        (&all, b"S\x07\x01\0\0", b"\x04\xff\xff\xff"),
        (&all, b"S\x03\x01\0\0", b"\x02\xff\xff\xff"),
        (&all, b"S\x01\0\0\0", b"\x01\0\0\0"),
        (&[Integrity, Privacy], b"S\x06\x01\0\0", b"\x02\xff\xff\xff"),
    ] {
        let (layer, sent) = agreed(wanted, offer).await;
        assert_eq!(sent, [&before[..], selected].concat(), "{wanted:?} {offer:?}");
        let is_wrapped = selected[0] != 1;
        assert_eq!(layer.unwrap().map(|layer| layer.chunk_max()), is_wrapped.then_some(65_535));
    }
}

#[tokio::test]
async fn what_the_server_does_not_offer_is_an_error() {
    let (layer, _) = agreed(&[Privacy, Integrity], b"S\x01\0\0\0").await;
    let Err(Failure::Refused(why)) = layer else { panic!("there is nothing in common") };
    assert_eq!(
        why,
        "hbase.rpc.protection is integrity,privacy here, but authentication on the server; it \
         needs a value in common"
    );
    for (offer, reason) in [
        (&b"S\x04\0\0\x01"[..], "at most 1 bytes"),
        (b"S\x04", "hbase.rpc.protection"),
        (b"?\x04\x01\0\0", "not wrapped"),
    ] {
        let (layer, _) = agreed(&[Privacy], offer).await;
        assert!(matches!(&layer, Err(Failure::Refused(why)) if why.contains(reason)), "{layer:?}");
    }
}

#[tokio::test]
async fn a_server_without_sasl_says_so_first() {
    let simple = hblite_wire::preamble::SWITCH_TO_SIMPLE;
    let (done, sent) = exchange(&[Authentication], &[&simple]).await;
    assert!(matches!(done, Ok(Negotiated::Simple)), "{done:?}");
    assert_eq!(sent, b"\0\0\0\x06client");
    let (done, _) = exchange(&[Authentication], &[&answer(b"server"), &simple]).await;
    assert!(matches!(&done, Err(Failure::Refused(why)) if why.contains("SIMPLE")), "{done:?}");
}

#[tokio::test]
async fn a_servers_refusal_is_reported() {
    let refusal = b"\0\0\0\x01\0\0\0\x02x.\0\0\0\x02no";
    for answers in [&[&refusal[..]][..], &[&answer(b"server"), refusal]] {
        let (done, _) = exchange(&[Authentication], answers).await;
        assert_eq!(done.unwrap_err(), Failure::Refused("x.: no".to_owned()));
    }
    let (done, _) = exchange(&[Authentication], &[&answer(b"another")]).await;
    assert!(matches!(done, Err(Failure::Refused(_))), "{done:?}");
}

#[tokio::test]
async fn a_connection_that_ends_can_be_tried_again() {
    let (mut client, mut server) = duplex(1 << 16);
    server.write_all(&answer(b"server")[..5]).await.unwrap();
    drop(server);
    let context = Marks { tokens: vec![b"", b"server"] };
    let done = negotiate(&mut client, Gssapi::new(context, &[Authentication])).await;
    assert!(matches!(done, Err(Failure::Interrupted(_))), "{done:?}");
}

/// A protected stream and its peer.
async fn protected(
    protection: RpcProtection,
    size_max: u8,
) -> (Protected<DuplexStream, Marks>, DuplexStream) {
    let offer = [b'S', 7, 0, 0, size_max];
    let (layer, _) = agreed(&[protection], &offer).await;
    let (client, server) = duplex(1 << 16);
    (Protected::new(client, layer.unwrap(), 1000), server)
}

#[tokio::test]
async fn written_bytes_are_wrapped_in_messages_of_the_servers_size() {
    let (mut stream, mut server) = protected(Privacy, 4).await;
    stream.write_all(b"abcdefg").await.unwrap();
    stream.flush().await.unwrap();
    drop(stream);
    let mut sent = Vec::new();
    server.read_to_end(&mut sent).await.unwrap();
    assert_eq!(sent, b"\0\0\0\x04Ebcd\0\0\0\x04Eefg\0\0\0\x02Eh");
    let (mut stream, mut server) = protected(Authentication, 4).await;
    stream.write_all(b"abcdefg").await.unwrap();
    drop(stream);
    sent.clear();
    server.read_to_end(&mut sent).await.unwrap();
    assert_eq!(sent, b"abcdefg");
}

#[tokio::test]
async fn messages_are_unwrapped_wherever_they_are_cut() {
    let messages = b"\0\0\0\x04Ebcd\0\0\0\x01E\0\0\0\x03Eef";
    for cut in 0..messages.len() {
        let (mut stream, mut server) = protected(Privacy, 9).await;
        let (first, rest) = messages.split_at(cut);
        server.write_all(first).await.unwrap();
        let read = tokio::spawn(async move {
            let mut read = Vec::new();
            stream.read_to_end(&mut read).await.map(|_| read)
        });
        tokio::task::yield_now().await;
        server.write_all(rest).await.unwrap();
        drop(server);
        assert_eq!(read.await.unwrap().unwrap(), b"abcde");
    }
}

#[tokio::test]
async fn messages_that_are_not_as_agreed_end_the_stream() {
    for (protection, message, reason) in [
        (Privacy, &b"\0\0\0\x02Sa"[..], "not encrypted"),
        (Integrity, b"\0\0\0\x02?a", "not wrapped"),
        (Integrity, b"\0\0\x04\0a", "hbase.ipc.max.response.size"),
        (Integrity, b"\xff\xff\xff\xffa", "hbase.ipc.max.response.size"),
        (Integrity, b"\0\0\0\x02S", "unexpected end"),
    ] {
        let (mut stream, mut server) = protected(protection, 9).await;
        server.write_all(message).await.unwrap();
        drop(server);
        let error = stream.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert!(error.to_string().contains(reason), "{message:?}: {error}");
    }
}

#[tokio::test]
async fn many_bytes_pass_in_both_directions() {
    let (stream, mut server) = protected(Integrity, 200).await;
    let bytes: Vec<u8> = (0..600_000_u32).map(|number| number as u8).collect();
    let echo = tokio::spawn(async move {
        let mut count = 0;
        let mut buffer = vec![0; 10_000];
        while let Ok(read @ 1..) = server.read(&mut buffer).await {
            server.write_all(&buffer[..read]).await.unwrap();
            count += read;
        }
        count
    });
    let (mut reader, mut writer) = tokio::io::split(stream);
    let expected = bytes.clone();
    let written = tokio::spawn(async move {
        writer.write_all(&bytes).await.unwrap();
        writer.flush().await.unwrap();
        writer
    });
    let mut read = vec![0; expected.len()];
    reader.read_exact(&mut read).await.unwrap();
    assert!(read == expected, "the bytes come back as they were");
    drop((reader, written.await.unwrap()));
    assert!(echo.await.unwrap() > expected.len());
}
