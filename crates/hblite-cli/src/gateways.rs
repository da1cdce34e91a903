//! The gateways of `hblite serve`: their ports and their start.

use std::net::IpAddr;
use std::sync::Arc;

use clap::Args;
use hblite::Connection;
use hblite_rest::{RestOptions, RestServer};
use hblite_server::Server;
use hblite_thrift::{Complaints, ThriftGateway, ThriftOptions, ThriftPorts};

/// The ports of gateways; a gateway without a port is not started.
#[derive(Debug, Args)]
pub(crate) struct GatewayArguments {
    /// Port of the Thrift 1 gateway, like HBase's `thrift` server; 0 for any free port.
    #[arg(long, value_name = "PORT")]
    thrift_port: Option<u16>,
    /// Port of the Thrift 2 gateway, like HBase's `thrift2` server; 0 for any free port.
    #[arg(long, value_name = "PORT")]
    thrift2_port: Option<u16>,
    /// Port of the REST gateway, like HBase's `rest` server; 0 for any free port.
    #[arg(long, value_name = "PORT")]
    rest_port: Option<u16>,
}

/// Settings of the gateways, apart from where they listen.
pub(crate) struct GatewayOptions {
    pub(crate) thrift: ThriftOptions,
    pub(crate) rest: RestOptions,
    pub(crate) bind: IpAddr,
    /// The host name given to clients.
    pub(crate) advertise: Option<String>,
    /// Where lines about malformed input go.
    pub(crate) complaints: Option<Complaints>,
}

/// The gateways that are open.
#[derive(Debug)]
pub(crate) struct Gateways {
    thrift: ThriftGateway,
    rest: Option<RestServer>,
}

impl Gateways {
    /// Opens the requested ports.
    ///
    /// # Errors
    /// `Io` if a port cannot be opened; the message names it.
    pub(crate) fn start(
        arguments: &GatewayArguments,
        options: GatewayOptions,
        connection: &Connection,
        server: &Server,
    ) -> hblite::Result<Self> {
        let GatewayOptions { thrift, rest, bind, advertise, complaints } = options;
        if arguments.thrift2_port.is_some() {
            server.attach_gateway("thrift2", thrift.read_only.clone());
        }
        let thrift = thrift
            .with_bind(bind)
            .with_thrift_port(arguments.thrift_port)
            .with_thrift2_port(arguments.thrift2_port)
            .with_cluster_id(server.cluster_id())
            .with_advertise(advertise.clone())
            .with_locate(server.locator())
            .with_memory(Arc::clone(server.memory()))
            .with_callers(Arc::clone(server.callers()))
            .with_complaints(complaints.clone());
        let rest = arguments.rest_port.map(|port| {
            server.attach_gateway("rest", rest.read_only.clone());
            let options = rest
                .with_bind(bind)
                .with_port(port)
                .with_advertise(advertise)
                .with_locate(server.locator())
                .with_memory(Arc::clone(server.memory()))
                .with_callers(Arc::clone(server.callers()))
                .with_complaints(complaints);
            RestServer::start(connection, options)
        });
        let rest = rest.transpose()?;
        Ok(Self { thrift: ThriftGateway::start(connection, thrift)?, rest })
    }

    /// The ports that are open.
    pub(crate) fn thrift_ports(&self) -> ThriftPorts {
        self.thrift.ports()
    }

    /// The port of the REST gateway, if it is open.
    pub(crate) fn rest_port(&self) -> Option<u16> {
        self.rest.as_ref().map(RestServer::port)
    }

    /// Closes the ports.
    pub(crate) fn stop(self) {
        if let Some(rest) = self.rest {
            rest.stop();
        }
        self.thrift.stop();
    }
}
