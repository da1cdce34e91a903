//! How much memory the process may use on this machine.

use std::fs;

/// The file with the memory of the machine.
const MEMORY_INFO: &str = "/proc/meminfo";
/// The files with a container's limit, in either version of control groups.
const GROUP_LIMITS: [&str; 2] =
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// The machine's memory in bytes, or the container's limit if that is lower; `None` if the system
/// reports neither.
pub(crate) fn memory_bytes() -> Option<usize> {
    let of_machine = fs::read_to_string(MEMORY_INFO).ok().and_then(|text| total_of(&text));
    let limits = GROUP_LIMITS.iter().filter_map(|path| fs::read_to_string(path).ok());
    let of_group = limits.filter_map(|text| text.trim().parse().ok()).min();
    [of_machine, of_group].into_iter().flatten().min()
}

fn total_of(text: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_machine_is_read() {
        let text = "MemTotal:       24683536 kB\nMemFree:        19085000 kB\n";
        assert_eq!(total_of(text), Some(24_683_536 * 1024));
        assert_eq!(total_of("MemTotal: some"), None);
        #[cfg(target_os = "linux")]
        assert!(memory_bytes() > Some(1 << 20));
    }
}
