//! How the commands open stores: files are read, never mapped.
//!
//! If a mapped file is truncated, accessing the missing part kills the process. A file that is read
//! returns an error instead. It takes a descriptor, so the limit on descriptors is raised.

use hblite::Options;

/// Blocks come from this cache; with a mapping, the operating system would cache them.
const BLOCK_CACHE_SIZE_BYTES: u64 = 256 << 20;

/// A smaller address space has no room for the default sizes.
const SMALL_ADDRESS_SPACE: u64 = 2 << 30;
/// The smallest size at which a region may be flushed.
const FLUSH_SIZE_MIN: u64 = 64 << 10;

/// How a command opens a store, if it has no settings of its own.
pub(crate) fn options() -> Options {
    unmapped(Options::new())
}

/// The same settings for a store whose files are not mapped.
pub(crate) fn unmapped(engine: Options) -> Options {
    raise_descriptor_limit();
    let engine =
        engine.with_files_mapped(false).with_block_cache_size_bytes(BLOCK_CACHE_SIZE_BYTES);
    match address_space() {
        // Beyond its address space, a process ends wherever it asks for memory.
        Some(size) if size < SMALL_ADDRESS_SPACE => engine
            .with_block_cache_size_bytes(size / 8)
            .with_memstore_total_size_bytes(size / 8)
            .with_memstore_flush_size_bytes((size / 32).max(FLUSH_SIZE_MIN)),
        _ => engine,
    }
}

/// Makes the most of a small address space. Called before threads are started.
pub(crate) fn fit_into_address_space() {
    if address_space().is_some_and(|size| size < SMALL_ADDRESS_SPACE) {
        hblite_mem::share_one_heap();
    }
}

/// The limit on the process's memory (`ulimit -v`).
#[cfg(unix)]
fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

/// Windows has no such limit.
#[cfg(not(unix))]
fn address_space() -> Option<u64> {
    None
}

/// Leaves half of the descriptors to the store: connections, each of which takes one, get the rest.
pub(crate) fn limit_connections() {
    raise_descriptor_limit();
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        hblite_wire::permits::limit_process((limit / 2).max(1));
    }
}

#[cfg(unix)]
fn raise_descriptor_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With the lower limit, a store of many files does not open, and the error says why.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Windows has no such limit.
#[cfg(not(unix))]
fn raise_descriptor_limit() {}
