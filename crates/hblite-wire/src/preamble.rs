//! The first six bytes of a connection.
//!
//! ```text
//! "HBas" │ version 0 │ how to authenticate      then the ConnectionHeader
//! "Regist"                                      asks for the cluster's id, and that is all
//! "Securi"                                      asks for the server's principal, then "HBas…"
//! ```

use crate::RemoteException;
use crate::exception::class;

/// Bytes of a preamble.
pub const PREAMBLE_SIZE: usize = 6;
/// How a connection that calls methods begins.
pub const MAGIC: &[u8] = b"HBas";
/// The only version.
pub const VERSION: u8 = 0;
/// Authentication by name.
pub const AUTH_SIMPLE: u8 = 80;
/// Authentication with Kerberos, through SASL.
pub const AUTH_KERBEROS: u8 = 81;
const AUTH_DIGEST: u8 = 82;

/// The answer to a client that wants to authenticate with SASL: a status of success, then "switch
/// to simple authentication".
pub const SWITCH_TO_SIMPLE: [u8; 8] = [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xa8];

/// What a client requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preamble {
    /// Calling methods; the connection header follows.
    Simple,
    /// Calling methods after SASL: the server answers [`SWITCH_TO_SIMPLE`] and skips the client's
    /// first SASL message; then the connection header follows.
    Sasl,
    /// The cluster's id.
    ConnectionRegistry,
    /// The server's principal, of which there is none.
    SecurityPreamble,
}

/// Reads a preamble from `peer`.
///
/// # Errors
/// HBase's message, to send before the connection is closed.
pub fn parse(bytes: [u8; PREAMBLE_SIZE], peer: &str) -> Result<Preamble, RemoteException> {
    match &bytes {
        b"Regist" => return Ok(Preamble::ConnectionRegistry),
        b"Securi" => return Ok(Preamble::SecurityPreamble),
        _ => {}
    }
    let [h, b, a, s, version, auth] = bytes;
    let magic = [h, b, a, s];
    if magic != MAGIC {
        let received = hblite_model::bytes::to_string_binary(&magic);
        let message = format!("Expected HEADER=HBas but received HEADER={received} from {peer}");
        return Err(RemoteException::new(class::FATAL_CONNECTION, message));
    }
    let versions = || {
        format!(
            "serverVersion={VERSION}, clientVersion={version}, authMethod={auth}, authName={} from \
             {peer}",
            if version == VERSION && auth == AUTH_SIMPLE { "SIMPLE" } else { "unknown" }
        )
    };
    if version != VERSION {
        return Err(RemoteException::new(class::WRONG_VERSION, versions()));
    }
    match auth {
        AUTH_SIMPLE => Ok(Preamble::Simple),
        AUTH_KERBEROS | AUTH_DIGEST => Ok(Preamble::Sasl),
        _ => Err(RemoteException::new(class::BAD_AUTH, versions())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preambles_are_told_apart() {
        assert_eq!(parse(*b"HBas\0P", "p").unwrap(), Preamble::Simple);
        assert_eq!(parse(*b"HBas\0Q", "p").unwrap(), Preamble::Sasl);
        assert_eq!(parse(*b"Regist", "p").unwrap(), Preamble::ConnectionRegistry);
        assert_eq!(parse(*b"Securi", "p").unwrap(), Preamble::SecurityPreamble);
        let error = parse(*b"GET / ", "1.2.3.4:5").unwrap_err();
        let expected = "Expected HEADER=HBas but received HEADER=GET  from 1.2.3.4:5";
        assert_eq!(error.message, expected);
        assert!(error.is_do_not_retry());
        let error = parse(*b"HBas\x09P", "p").unwrap_err();
        assert_eq!(error.class_name, class::WRONG_VERSION);
        let expected = "serverVersion=0, clientVersion=9, authMethod=80, authName=unknown from p";
        assert_eq!(error.message, expected);
        assert_eq!(parse(*b"HBas\0\x01", "p").unwrap_err().class_name, class::BAD_AUTH);
    }
}
