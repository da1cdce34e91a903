//! Any bytes as an HFile: an error, or a file on which every operation of a reader can be tried.
//!
//! Files without checksums lead deepest: `tests/golden/hfile/checksum-null.hfile` is a good seed.

#![no_main]

use std::path::Path;
use std::sync::Arc;

use hblite_env::{FileSystem as _, MemFileSystem};
use hblite_hfile::{HFileReader, HFileScanner, verify::verify_reader};
use hblite_model::Result;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let fs = MemFileSystem::new();
    let path = Path::new("input");
    let mut file = fs.create(path).expect("a file in memory");
    file.write_all(bytes).expect("a write to memory");
    let _ = read(&fs, path);
});

fn read(fs: &MemFileSystem, path: &Path) -> Result<()> {
    let reader = Arc::new(HFileReader::open(fs, path, None)?);
    let _ = verify_reader(&reader);
    let mut scanner = HFileScanner::new(reader.clone());
    let mut keys = Vec::new();
    let mut more = scanner.seek_first()?;
    while more {
        let cell = scanner.current().expect("a cell where the scanner stands").to_cell();
        keys.push(cell.as_ref().key().to_vec());
        more = scanner.next()?;
    }
    more = scanner.seek_last()?;
    while more {
        more = scanner.prev()?;
    }
    reader.mid_key()?;
    for key in keys.iter().step_by(7) {
        scanner.seek(key)?;
        scanner.seek_before(key)?;
        scanner.reseek(key)?;
    }
    for row in [b"".as_slice(), b"row", &[0xff; 40]] {
        reader.may_contain_row(row)?;
        reader.may_contain_column(row, b"q")?;
        reader.may_contain_delete_family(row)?;
    }
    Ok(())
}
