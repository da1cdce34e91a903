//! The gateways without ports: for clients in this process, tests and fuzzers.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use hblite::Connection;
use hblite_wire::memory::MemoryBudget;
use hblite_wire::site::Site;

use crate::gateway::{ThriftVersion, new_service};
use crate::memory::Allowance;
use crate::options::{Terms, ThriftOptions};
use crate::requests::Requests;
use crate::store::Store;
use crate::transport;

/// Answers Thrift clients of HBase in this process, without a socket: the same answers, exceptions
/// and limits as those of a [`crate::ThriftGateway`].
///
/// ```
/// use hblite_thrift::{InProcess, ThriftVersion};
/// let store = hblite::open_in_memory()?;
/// let gateway = InProcess::new(&store, ThriftVersion::One);
/// // A call of getTableNames in the binary protocol.
/// let call = b"\x80\x01\0\x01\0\0\0\x0dgetTableNames\0\0\0\x07\0";
/// assert!(gateway.answer(call).starts_with(b"\x80\x01\0\x02"));
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug)]
pub struct InProcess {
    store: Arc<Store>,
    version: ThriftVersion,
    options: ThriftOptions,
    site: Site,
}

impl InProcess {
    /// A gateway with the default limits. Closing the store remains the caller's task.
    pub fn new(connection: &Connection, version: ThriftVersion) -> Self {
        let options = ThriftOptions::default();
        let memory = Arc::new(MemoryBudget::new(options.limits.memory_max_bytes));
        let store = Arc::new(Store::new(connection.clone(), options.clone(), memory));
        let site = Site::listening_on(options.bind, options.advertise.clone());
        Self { store, version, options, site }
    }

    /// Answers the calls in `bytes` like those of a connection that sends them and then ends.
    /// Scanners stay open, as they do between connections. Threads: any.
    pub fn answer(&self, bytes: &[u8]) -> Vec<u8> {
        self.store.scanners.expire();
        let allowance = Rc::new(Allowance::of(self.store.memory()));
        let (store, protocol) = (Arc::clone(&self.store), self.version.protocol());
        let requests = Requests::new(store, protocol, None, 0, &allowance);
        let service = new_service(requests, self.version);
        let (input, mut output) = (Box::new(io::Cursor::new(bytes.to_vec())), Vec::new());
        let terms = Terms { limits: &self.options.limits, site: &self.site };
        // An error that would end a connection ends the answers.
        let _ = transport::serve_messages(input, &mut output, service.as_ref(), terms, allowance);
        output
    }
}

/// Answers the calls in `bytes` from a new [`InProcess`]: for tests and fuzzers.
pub fn answer_bytes(connection: &Connection, version: ThriftVersion, bytes: &[u8]) -> Vec<u8> {
    InProcess::new(connection, version).answer(bytes)
}
