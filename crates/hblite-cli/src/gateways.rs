//! The gateways of `hblite serve`: which ports are wanted, and their start.

use std::net::IpAddr;
use std::sync::Arc;

use clap::Args;
use hblite::Connection;
use hblite_server::Server;
use hblite_thrift::{Locate, ThriftGateway, ThriftOptions, ThriftPorts};

/// The ports of gateways; without a port there is no such gateway.
#[derive(Debug, Args)]
pub(crate) struct GatewayArguments {
    /// Port of the Thrift 1 gateway, as of HBase's `thrift` server; 0 for any free port.
    #[arg(long, value_name = "PORT")]
    thrift_port: Option<u16>,
}

/// The gateways that are open.
#[derive(Debug)]
pub(crate) struct Gateways {
    thrift: ThriftGateway,
}

impl Gateways {
    /// Opens the ports that are wanted.
    ///
    /// # Errors
    /// `Io` if a port cannot be opened; the message names it.
    pub(crate) fn start(
        arguments: &GatewayArguments,
        bind: IpAddr,
        connection: &Connection,
        server: &Server,
    ) -> hblite::Result<Self> {
        let thrift = ThriftOptions {
            bind,
            thrift_port: arguments.thrift_port,
            cluster_id: server.cluster_id().to_owned(),
            locate: Some(Locate(Arc::new(server.locator()))),
            ..ThriftOptions::default()
        };
        Ok(Self { thrift: ThriftGateway::start(connection, thrift)? })
    }

    /// The ports that are open.
    pub(crate) fn thrift_ports(&self) -> ThriftPorts {
        self.thrift.ports()
    }

    /// Closes the ports.
    pub(crate) fn stop(self) {
        self.thrift.stop();
    }
}
