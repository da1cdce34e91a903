//! A port with only pages: the console of a store or a cluster that this process does not serve.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use hblite_env::runtime;
use hblite_env::thread::check_startable;
use hblite_model::{Error, Result};
use hblite_wire::memory::MemoryBudget;
use tokio::runtime::Runtime;

use super::listener::{self, Answers, Terms};
use super::message::{Refused, Request, Response, redirect};
use super::pages::{self, PAGE_SIZE_MAX_BYTES, Pages};
use crate::options::Limits;

/// Number of threads that answer.
const THREADS: usize = 8;
/// Memory for requests and answers.
const MEMORY_BYTES: usize = 128 * 1024 * 1024;

/// Answers requests for pages until it is dropped.
#[derive(Debug)]
pub struct PageServer {
    runtime: Option<Runtime>,
    port: u16,
}

impl PageServer {
    /// Opens a port, 0 for any free one, and serves `pages` on it.
    ///
    /// # Errors
    /// `Io` if the port cannot be opened; the message names it.
    pub fn start(bind: IpAddr, port: u16, pages: Arc<dyn Pages>) -> Result<Self> {
        // One reads, one answers.
        check_startable(2).map_err(Error::no_thread)?;
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("hblite-pages").max_blocking_threads(THREADS);
        let runtime =
            runtime::build(builder).map_err(|error| Error::io_of("cannot start threads", error))?;
        let address = SocketAddr::new(bind, port);
        let failed = |error: io::Error| Error::io_of(&format!("cannot listen on {address}"), error);
        let listener = runtime.block_on(tokio::net::TcpListener::bind(address)).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let limits = Limits::default();
        let terms = Terms {
            hello_timeout: limits.hello_timeout,
            stall_timeout: limits.stall_timeout,
            memory: Arc::new(MemoryBudget::new(MEMORY_BYTES)),
            memory_share_bytes: MEMORY_BYTES,
            answer_bytes: Arc::new(|_| 2 * PAGE_SIZE_MAX_BYTES),
        };
        runtime.spawn(listener::serve(listener, Arc::new(PagesOnly(pages)), terms));
        Ok(Self { runtime: Some(runtime), port })
    }

    /// The port that is open.
    pub fn port(&self) -> u16 {
        self.port
    }
}

struct PagesOnly(Arc<dyn Pages>);

impl Answers for PagesOnly {
    async fn answer(self: Arc<Self>, request: Request) -> Response {
        let answered = match request.uri().path() {
            "/" => Ok(redirect("/console/")),
            path if pages::has(path) => pages::answer(Arc::clone(&self.0), request).await,
            _ => Err(Refused::not_found("no such path; see /")),
        };
        answered.unwrap_or_else(Response::from)
    }
}

impl Drop for PageServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
