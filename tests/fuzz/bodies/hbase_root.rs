//! Changes to the logs, settings and procedures that HBase left in a root directory, which is then
//! adopted in memory: it is refused with an error, or opens.
//!
//! The input is a list of changes of four bytes: which file, two bytes for a position, and the byte
//! to write there. With the highest bit of the first byte set, the file ends at that position.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use hblite::{Env, Options};
use hblite_env::{FileSystem, MemFileSystem};

const ROOT: &str = "/hbase";

/// Paths below the root with their contents.
type Files = Vec<(PathBuf, Vec<u8>)>;

/// What HBase left, and how many of these files are changed: the first ones.
static FILES: LazyLock<(Files, usize)> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find_map(|dir| {
        ["tests/fixtures/hbase-root", "fixtures/hbase-root"]
            .map(|path| dir.join(path).join("compressed"))
            .into_iter()
            .find(|path| path.is_dir())
    });
    let root = root.expect("the fixture is in the repository");
    let (mut files, mut pending) = (Vec::new(), vec![root.clone()]);
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("readable");
            pending.extend(entries.map(|entry| entry.expect("readable").path()));
        } else {
            let below = path.strip_prefix(&root).expect("it is below").to_path_buf();
            files.push((below, std::fs::read(&path).expect("readable")));
        }
    }
    let is_changed = |path: &Path| {
        let text = path.to_string_lossy();
        ["WALs", ".tableinfo", ".regioninfo", "hbase."].iter().any(|part| text.contains(part))
    };
    files.sort_by_key(|(path, _)| (!is_changed(path), path.clone()));
    let count = files.iter().filter(|(path, _)| is_changed(path)).count();
    (files, count)
});

/// Adopts the directory with these changes.
pub(crate) fn run(data: &[u8]) {
    let (files, count) = &*FILES;
    let mut files = files.clone();
    for change in data.chunks_exact(4).take(8) {
        let content = &mut files[usize::from(change[0] & 0x7f) % count].1;
        let place = usize::from(u16::from_be_bytes([change[1], change[2]]));
        let Some(at) = place.checked_rem(content.len()) else { continue };
        if change[0] & 0x80 != 0 {
            content.truncate(at);
        } else {
            content[at] = change[3];
        }
    }
    let fs = MemFileSystem::new();
    for (below, content) in files {
        let path = Path::new(ROOT).join(below);
        fs.create_dir_all(path.parent().expect("a file")).expect("memory");
        fs.create(&path).and_then(|mut file| file.write_all(&content)).expect("memory");
    }
    let engine = Options::new()
        .with_compaction_enabled(false)
        .with_split_enabled(false)
        .with_scrub_period(None);
    let env = Env::in_memory().with_fs(Arc::new(fs));
    let options = engine.with_env(env).with_hbase_adopted(true).with_read_only(true);
    if let Ok(connection) = options.open(ROOT) {
        let _ = connection.close();
    }
}
