//! The gateway: a port and its threads, until it is stopped.

use std::net::SocketAddr;
use std::num::NonZero;
use std::sync::Arc;
use std::time::Duration;

use hblite::{ClientScanners as _, Connection, Error, Result};
use hblite_env::runtime;
use hblite_env::thread::check_startable;
use hblite_wire::memory::MemoryBudget;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::gateway::Gateway;
use crate::listener;
use crate::options::RestOptions;

/// How often expired scanners are closed.
const EXPIRE_PERIOD: Duration = Duration::from_secs(1);
/// How long requests in progress may take when the gateway is stopped.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Answers HBase's REST requests for a store.
///
/// ```
/// use hblite_rest::{RestOptions, RestServer};
/// let connection = hblite::open_in_memory()?;
/// let options = RestOptions::default().with_port(0);
/// let server = RestServer::start(&connection, options)?;
/// println!("http://localhost:{}/version", server.port());
/// server.stop();
/// # Ok::<(), hblite::Error>(())
/// ```
#[derive(Debug)]
pub struct RestServer {
    runtime: Option<Runtime>,
    port: u16,
    memory: Arc<MemoryBudget>,
}

impl RestServer {
    /// Opens the port and serves it with its own threads. Closing the store remains the caller's
    /// task.
    ///
    /// # Errors
    /// `Io` if the port cannot be opened (the message names it), `IllegalArgument` for limits out
    /// of range.
    pub fn start(connection: &Connection, options: RestOptions) -> Result<Self> {
        options.limits.check()?;
        let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
        // One more answers requests.
        check_startable(workers + 1).map_err(Error::no_thread)?;
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(workers).thread_name("hblite-rest");
        builder.max_blocking_threads(options.limits.threads_max);
        let runtime =
            runtime::build(builder).map_err(|error| Error::io_of("cannot start threads", error))?;
        let address = SocketAddr::new(options.bind, options.port);
        let failed = |error| Error::io_of(&format!("cannot listen on {address}"), error);
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let gateway = Arc::new(Gateway::new(connection.clone(), options)?);
        let memory = Arc::clone(&gateway.memory);
        runtime.spawn(expire(Arc::clone(&gateway)));
        runtime.spawn(listener::serve(listener, gateway));
        Ok(Self { runtime: Some(runtime), port, memory })
    }

    /// The port that is open.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Bytes of memory that requests, answers and scanners take; with those of the other servers
    /// that share the memory.
    pub fn memory_used_bytes(&self) -> usize {
        self.memory.used_bytes()
    }

    /// Closes the port and waits a few seconds for requests in progress.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // On a separate thread: a task of one runtime must not wait for another runtime.
            let runtime = Arc::new(Mutex::new(Some(runtime)));
            let taken = Arc::clone(&runtime);
            let end = std::thread::Builder::new().name("hblite-end".to_owned()).spawn(move || {
                let runtime = taken.lock().take();
                runtime.into_iter().for_each(|runtime| runtime.shutdown_timeout(STOP_TIMEOUT));
            });
            match end {
                // What panicked there has ended.
                Ok(end) => drop(end.join()),
                // No thread can be started: what is in progress is not waited for.
                Err(_) => runtime.lock().take().into_iter().for_each(Runtime::shutdown_background),
            }
        }
    }
}

impl Drop for RestServer {
    fn drop(&mut self) {
        self.end();
    }
}

async fn expire(gateway: Arc<Gateway>) {
    let mut period = tokio::time::interval(EXPIRE_PERIOD);
    loop {
        period.tick().await;
        gateway.scanners.close_expired(gateway.connection.now_millis());
    }
}
