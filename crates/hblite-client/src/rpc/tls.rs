//! TLS on a connection: the handshake, and what its errors mean.
//!
//! HBase's servers begin with the handshake; everything after it is as without TLS. Files are read
//! for each connection, so that renewed certificates are used.

use std::path::Path;
use std::sync::Arc;

use hblite_model::{Error, Result};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore,
    SignatureScheme,
};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::CallError;
use crate::tls_settings::TlsSettings;
use crate::url::ServerAddress;
use crate::waiting;

/// Maximum size of a file with certificates.
const FILE_SIZE_MAX: u64 = 16 << 20;
const TRUSTSTORE: &str = "hbase.rpc.tls.truststore.location";
const KEYSTORE: &str = "hbase.rpc.tls.keystore.location";

/// Encrypts a connection that has just been opened.
pub(super) async fn handshake(
    stream: TcpStream,
    server: &ServerAddress,
    settings: &TlsSettings,
    limit: std::time::Duration,
) -> std::result::Result<TlsStream<TcpStream>, CallError> {
    let name = ServerName::try_from(server.host.clone()).map_err(|_| {
        insecure(server, "this is not a name that a certificate can have".to_owned())
    })?;
    let config = {
        let settings = settings.clone();
        // It reads files.
        waiting::on_thread(move || config(&settings)).await??
    };
    let limit = settings.handshake_timeout.min(limit);
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
    match timeout(limit, connecting).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(match refusal(&error) {
            Some(why) => insecure(server, why),
            None => CallError::Unreachable {
                server: server.clone(),
                why: format!("it ended the TLS handshake: {error}"),
            },
        }),
        Err(_) => Err(CallError::Unreachable {
            server: server.clone(),
            why: format!("no TLS handshake within {} ms", limit.as_millis()),
        }),
    }
}

/// The error to report if TLS refuses the connection; `None` if a new attempt may succeed.
pub(super) fn of_connection(server: &ServerAddress, error: &std::io::Error) -> Option<CallError> {
    refusal(error).map(|why| insecure(server, why))
}

fn insecure(server: &ServerAddress, why: String) -> CallError {
    CallError::Insecure { server: server.clone(), why }
}

/// Why TLS refuses the connection; `None` if the connection ended for another reason.
fn refusal(error: &std::io::Error) -> Option<String> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(match error {
        rustls::Error::InvalidCertificate(error) => of_certificate(error),
        rustls::Error::AlertReceived(alert) if is_about_certificate(*alert) => {
            format!(
                "it refuses the client's certificate ({alert:?}); {KEYSTORE} must name one that it \
                 trusts"
            )
        }
        rustls::Error::AlertReceived(alert) => format!("it refuses ({alert:?})"),
        rustls::Error::InvalidMessage(_) => {
            "it does not answer in TLS: hbase.server.netty.tls.enabled is false there, or it is \
             not an HBase server"
                .to_owned()
        }
        other => other.to_string(),
    })
}

/// Whether a server sends the alert when it does not accept the client's certificate.
fn is_about_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
    )
}

fn of_certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::Expired => "its certificate has expired".to_owned(),
        CertificateError::ExpiredContext { time, not_after } => {
            let hours = time.as_secs().saturating_sub(not_after.as_secs()) / 3600;
            format!("its certificate expired {} days and {} hours ago", hours / 24, hours % 24)
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet".to_owned()
        }
        // The signature is bad if the issuer has the name of a trusted one, but another key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            format!("no certificate of {TRUSTSTORE} has signed its certificate")
        }
        CertificateError::NotValidForName => "its certificate is for another name; a client with \
             hbase.client.netty.tls.verify.server.hostname=false accepts it"
            .to_owned(),
        CertificateError::NotValidForNameContext { presented, .. } => format!(
            "its certificate is for {}; a client with \
             hbase.client.netty.tls.verify.server.hostname=false accepts it",
            if presented.is_empty() { "no name".to_owned() } else { presented.join(", ") }
        ),
        other => format!("its certificate is not valid: {other}"),
    }
}

fn config(settings: &TlsSettings) -> Result<ClientConfig> {
    let Some(truststore) = &settings.truststore else {
        return Err(Error::illegal_argument(format!(
            "hbase.client.netty.tls.enabled needs {TRUSTSTORE}: a PEM file with the certificate \
             that signs those of the servers"
        )));
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(TRUSTSTORE, truststore, &read(TRUSTSTORE, truststore)?)? {
        roots.add(certificate).map_err(|error| refused(TRUSTSTORE, truststore, &error))?;
    }
    let roots = Arc::new(roots);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |error: &dyn std::fmt::Display| Error::do_not_retry(format!("TLS: {error}"));
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?;
    let builder = if settings.verifies_host {
        let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
        builder.with_webpki_verifier(verifier.map_err(|error| failed(&error))?)
    } else {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyHost { roots, provider }))
    };
    let Some(keystore) = &settings.keystore else { return Ok(builder.with_no_client_auth()) };
    let pem = read(KEYSTORE, keystore)?;
    let chain = certificates(KEYSTORE, keystore, &pem)?;
    let key = private_key(keystore, &pem)?;
    builder.with_client_auth_cert(chain, key).map_err(|error| refused(KEYSTORE, keystore, &error))
}

fn read(setting: &str, file: &Path) -> Result<Vec<u8>> {
    let failed = |error| Error::io("reading the certificates", file, error);
    let size = std::fs::metadata(file).map_err(failed)?.len();
    if size > FILE_SIZE_MAX {
        return Err(refused(setting, file, &format!("{size} bytes are too many")));
    }
    let bytes = std::fs::read(file).map_err(failed)?;
    if bytes.windows(11).any(|window| window == b"-----BEGIN ") {
        return Ok(bytes);
    }
    let why = "it is not PEM; keytool -importkeystore -deststoretype pkcs12 and then openssl \
               pkcs12 -noenc convert a Java keystore";
    Err(refused(setting, file, &why))
}

fn certificates(setting: &str, file: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>> {
    let found: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| refused(setting, file, &error))?;
    if found.is_empty() {
        return Err(refused(setting, file, &"it has no certificate"));
    }
    Ok(found)
}

fn private_key(file: &Path, pem: &[u8]) -> Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| match error {
        _ if pem.windows(9).any(|window| window == b"ENCRYPTED") => {
            refused(KEYSTORE, file, &"its key is encrypted; openssl pkey decrypts it")
        }
        rustls::pki_types::pem::Error::NoItemsFound => {
            refused(KEYSTORE, file, &"it has no private key after the certificate")
        }
        error => refused(KEYSTORE, file, &error),
    })
}

fn refused(setting: &str, file: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::illegal_argument(format!("{setting}, {}: {why}", file.display()))
}

/// Accepts every certificate that a trusted one has signed, whatever its name.
#[derive(Debug)]
struct AnyHost {
    roots: Arc<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        rustls::client::verify_server_cert_signed_by_trust_anchor(
            &ParsedCertificate::try_from(end_entity)?,
            &self.roots,
            intermediates,
            now,
            self.provider.signature_verification_algorithms.all,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
