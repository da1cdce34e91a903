//! Goal: the client encrypts its connections as the settings of HBase 2.6 say, and an error about
//! certificates names the cause and the setting.
//!
//! The servers listen on 127.0.0.1 and advertise another address. There, a listener for each server
//! decrypts connections and forwards them. Only Linux has such addresses by default.

#![cfg(all(feature = "tls", target_os = "linux"))]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use hblite_client::{Client, TlsSettings};
use hblite_model::{ColumnFamilyDescriptor, Error, Get, Put, Scan, SystemTables, TableDescriptor};
use hblite_server::{ServerOptions, TestServer};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::support;

/// An address of its own for each cluster: a port that the servers of one have given back may still
/// be taken on the address of another.
fn new_host() -> String {
    static HOSTS: AtomicU8 = AtomicU8::new(2);
    format!("127.0.0.{}", HOSTS.fetch_add(1, Ordering::Relaxed))
}

/// Certificates of an authority, as files.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    dir: TempDir,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        Self { issuer, dir: TempDir::new().unwrap() }
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn truststore(&self) -> PathBuf {
        self.file("ca.pem", &self.issuer.pem())
    }

    /// A certificate for this host, and its key.
    fn sign(&self, host: &str, adapt: impl FnOnce(&mut CertificateParams)) -> String {
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        adapt(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        format!("{}{}", certificate.pem(), key.serialize_pem())
    }

    fn keystore(&self) -> PathBuf {
        let pem = self.sign("client", |params| {
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        });
        self.file("client.pem", &pem)
    }
}

/// What a server does in a handshake: shows this certificate, and asks for one of this authority.
fn server_config(pem: &str, asks_for: Option<&Authority>) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match asks_for {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(authority.issuer.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let chain = CertificateDer::pem_slice_iter(pem.as_bytes()).map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).unwrap();
    Arc::new(builder.with_single_cert(chain, key).unwrap())
}

/// A cluster whose servers speak only TLS.
struct Cluster {
    server: TestServer,
    host: String,
}

impl Cluster {
    async fn start(host: &str, config: Arc<ServerConfig>) -> Self {
        let options =
            ServerOptions::on_free_ports().with_region_servers(2).with_advertise(host.to_owned());
        let server = TestServer::start_with(hblite::Options::new(), options).unwrap();
        let ports = server.ports();
        for port in ports.region_servers.iter().copied().chain([ports.master]) {
            let listener = TcpListener::bind((host, port)).await.unwrap();
            tokio::spawn(decrypt(listener, port, TlsAcceptor::from(Arc::clone(&config))));
        }
        Self { server, host: host.to_owned() }
    }

    fn url(&self) -> String {
        format!("hbase+rpc://{}:{}", self.host, self.server.ports().master)
    }

    /// Where the servers speak without TLS.
    fn plain_url(&self) -> String {
        format!("hbase+rpc://127.0.0.1:{}", self.server.ports().master)
    }
}

async fn decrypt(listener: TcpListener, port: u16, acceptor: TlsAcceptor) {
    while let Ok((stream, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
        });
    }
}

async fn connect(url: &str, tls: &TlsSettings) -> Result<Client, Error> {
    let truststore =
        tls.truststore.as_ref().map_or_else(String::new, |path| path.display().to_string());
    let keystore =
        tls.keystore.as_ref().map_or_else(String::new, |path| path.display().to_string());
    let settings = "hbase.rpc.timeout=5000&hbase.client.pause=20&hbase.client.retries.number=3";
    Client::connect(&format!(
        "{url}?{settings}&hbase.client.netty.tls.enabled={}&hbase.rpc.tls.truststore.location={}&\
         hbase.rpc.tls.keystore.location={}&hbase.client.netty.tls.verify.server.hostname={}",
        tls.is_enabled, truststore, keystore, tls.verifies_host
    ))
    .await
}

/// Connects and asks for the tables.
async fn use_cluster(url: &str, tls: &TlsSettings) -> Result<(), Error> {
    let client = connect(url, tls).await?;
    client.admin().list_tables(SystemTables::Include).await.map(drop)
}

async fn check(url: &str, tls: &TlsSettings, reasons: &[&str]) {
    let error = use_cluster(url, tls).await.unwrap_err();
    for reason in reasons {
        assert!(error.message().contains(reason), "{url}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_written_and_read() {
    let host = new_host();
    let authority = Authority::new("ours");
    let cluster =
        Cluster::start(&host, server_config(&authority.sign(&host, |_| {}), Some(&authority)))
            .await;
    let tls = TlsSettings::new(authority.truststore()).with_keystore(authority.keystore());
    let client = connect(&cluster.url(), &tls).await.unwrap();
    let descriptor =
        TableDescriptor::new("t".parse().unwrap()).with_family(ColumnFamilyDescriptor::new("f"));
    let splits = [b"row4".to_vec(), b"row7".to_vec()];
    client.admin().create_table(&descriptor, &splits).await.unwrap();
    let table = client.table(descriptor.name().clone());
    let value = |row: usize| vec![b'0' + row as u8; row * 300_000];
    for row in 0..10 {
        let put = Put::new(format!("row{row}")).add("f", "q", value(row));
        table.mutate(put.as_mutation()).await.unwrap();
    }
    let row = table.get(&Get::new("row9")).await.unwrap();
    assert_eq!(row.value("f", "q"), Some(&value(9)[..]));
    let rows = support::rows_of(&table, &Scan::new()).await;
    assert_eq!(rows.len(), 10, "{rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_is_not_trusted_is_an_error_that_says_why() {
    let host = new_host();
    let (authority, other) = (Authority::new("ours"), Authority::new("another"));
    let trusting = TlsSettings::new(authority.truststore());

    let cluster = Cluster::start(&host, server_config(&other.sign(&host, |_| {}), None)).await;
    let reasons = ["no certificate of hbase.rpc.tls.truststore.location", &*host];
    check(&cluster.url(), &trusting, &reasons).await;
    check(&cluster.url(), &trusting.clone().without_host_verification(), &reasons).await;
    let namesake = Authority::new("another");
    check(&cluster.url(), &TlsSettings::new(namesake.truststore()), &reasons).await;

    let expired =
        authority.sign(&host, |params| params.not_after = rcgen::date_time_ymd(2020, 2, 1));
    let cluster = Cluster::start(&host, server_config(&expired, None)).await;
    check(&cluster.url(), &trusting, &["its certificate expired", "days"]).await;

    let cluster =
        Cluster::start(&host, server_config(&authority.sign("elsewhere.example", |_| {}), None))
            .await;
    let reasons = ["elsewhere.example", "hbase.client.netty.tls.verify.server.hostname=false"];
    check(&cluster.url(), &trusting, &reasons).await;
    use_cluster(&cluster.url(), &trusting.without_host_verification()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_without_the_certificate_that_a_server_asks_for_learns_why() {
    let host = new_host();
    let (authority, other) = (Authority::new("ours"), Authority::new("another"));
    let config = server_config(&authority.sign(&host, |_| {}), Some(&authority));
    let cluster = Cluster::start(&host, config).await;
    let trusting = TlsSettings::new(authority.truststore());
    let reason = ["it refuses the client's certificate", "hbase.rpc.tls.keystore.location"];
    check(&cluster.url(), &trusting, &reason).await;
    check(&cluster.url(), &trusting.clone().with_keystore(other.keystore()), &reason).await;
    use_cluster(&cluster.url(), &trusting.with_keystore(authority.keystore())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_side_without_tls_is_an_error_that_says_which() {
    let host = new_host();
    let authority = Authority::new("ours");
    let cluster = Cluster::start(&host, server_config(&authority.sign(&host, |_| {}), None)).await;
    let trusting = TlsSettings::new(authority.truststore());
    let reason = "hbase.server.netty.tls.enabled is false there";
    check(&cluster.plain_url(), &trusting, &[reason]).await;
    let reason = "it speaks TLS; set hbase.client.netty.tls.enabled=true";
    check(&cluster.url(), &TlsSettings::default(), &[reason]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_used_are_named() {
    let host = new_host();
    let authority = Authority::new("ours");
    let cluster = Cluster::start(&host, server_config(&authority.sign(&host, |_| {}), None)).await;
    let url = cluster.url();
    let mut without = TlsSettings::new("");
    without.truststore = None;
    check(&url, &without, &["needs hbase.rpc.tls.truststore.location"]).await;
    let missing = TlsSettings::new("/none/ca.pem");
    check(&url, &missing, &["/none/ca.pem"]).await;
    let keystore = authority.file("store.jks", "\u{7f}\u{1}binary");
    check(&url, &TlsSettings::new(keystore), &["store.jks", "it is not PEM", "openssl"]).await;
    let trusting = TlsSettings::new(authority.truststore());
    let empty = authority.file("empty.pem", "-----BEGIN X-----\nAAAA\n-----END X-----\n");
    check(&url, &TlsSettings::new(&empty), &["empty.pem", "it has no certificate"]).await;
    let keyless = authority.truststore();
    check(&url, &trusting.clone().with_keystore(keyless), &["ca.pem", "no private key"]).await;
    let encrypted = format!(
        "{}-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        authority.issuer.pem()
    );
    let encrypted = authority.file("locked.pem", &encrypted);
    check(&url, &trusting.with_keystore(encrypted), &["locked.pem", "its key is encrypted"]).await;
}
