//! This process as the operating system sees it: `/proc/self`, on Linux only.

use std::fs;

use crate::Result;

const KIB: u64 = 1024;

/// Memory of this process in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Allocated memory: what `malloc` returned (`RssAnon`).
    pub(crate) own: u64,
    /// Pages of mapped files that are in memory (`RssFile`); the system reclaims them when other
    /// processes need the memory.
    pub(crate) mapped: u64,
}

/// Memory now.
pub(crate) fn memory() -> Result<Memory> {
    let status = fs::read_to_string("/proc/self/status")?;
    let field = |name| number(&status, name).ok_or_else(|| format!("no {name} in /proc"));
    Ok(Memory { own: field("RssAnon:")? * KIB, mapped: field("RssFile:")? * KIB })
}

/// Bytes passed to `write` so far.
pub(crate) fn bytes_written() -> Result<u64> {
    let io = fs::read_to_string("/proc/self/io")?;
    Ok(number(&io, "wchar:").ok_or("no wchar in /proc/self/io")?)
}

/// Open descriptors, and mapped ranges of the files below `dir`.
pub(crate) fn descriptors_and_maps(dir: &str) -> Result<(usize, usize)> {
    let descriptors = fs::read_dir("/proc/self/fd")?.count();
    let maps = fs::read_to_string("/proc/self/maps")?;
    Ok((descriptors, maps.lines().filter(|line| line.contains(dir)).count()))
}

fn number(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
