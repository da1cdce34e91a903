//! How the commands open stores: files are read, never mapped.
//!
//! If a mapped file is truncated, accessing the missing part kills the process. A file that is read
//! returns an error instead. It takes a descriptor, so the limit on descriptors is raised.

use hblite::Options;

/// Blocks come from this cache; with a mapping, the operating system would cache them.
const BLOCK_CACHE_SIZE_BYTES: u64 = 256 << 20;

/// How a command opens a store, if it has no settings of its own.
pub(crate) fn options() -> Options {
    unmapped(Options::new())
}

/// The same settings for a store whose files are not mapped.
pub(crate) fn unmapped(engine: Options) -> Options {
    raise_descriptor_limit();
    engine.with_files_mapped(false).with_block_cache_size_bytes(BLOCK_CACHE_SIZE_BYTES)
}

/// The same for files that only this process has, in memory: nothing can truncate them, so their
/// blocks are used in place. Otherwise each read that does not find its block in the cache copies
/// and verifies it, and families that Thrift 1 creates by default do not use the cache.
pub(crate) fn in_memory(engine: Options) -> Options {
    engine.with_files_mapped(true)
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
