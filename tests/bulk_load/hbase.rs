//! Files that a real HBase wrote.

use std::path::Path;
use std::sync::Arc;

use hblite::{
    BloomType, Cell, ColumnFamilyDescriptor, Compression, Connection, DataBlockEncoding, Env, Scan,
    TableDescriptor,
};
use hblite_engine::BulkLoadRequest;
use hblite_env::{FileSystem, MemFileSystem};
use hblite_hfile::{HFileReader, HFileScanner};

use super::{FOLDER, engine, name, open};

/// Every file that a real HBase wrote is loaded, whole and in parts, and read back.
#[test]
fn files_of_a_real_hbase_are_loaded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/hfile");
    let system = Env::system().fs;
    let mut count = 0;
    for entry in system.list_dir(&folder).expect("recorded files") {
        let path = folder.join(&entry.name);
        if path.extension().is_none_or(|extension| extension != "hfile")
            || entry.name.starts_with("comparator-meta")
        {
            continue;
        }
        let cells = cells_of_file(system.as_ref(), &path);
        let Some(first) = cells.first() else { continue };
        let family = String::from_utf8(first.as_ref().family().to_vec()).expect("a text");
        let middle = cells[cells.len() / 2].as_ref().row().to_vec();
        for splits in [vec![], vec![middle]] {
            let source = MemFileSystem::new();
            let target = Path::new(FOLDER).join(&family).join("00");
            source.create_dir_all(target.parent().expect("a folder")).expect("room");
            let content = system.read(&path).expect("it is there");
            source.create(&target).and_then(|mut f| f.write_all(&content)).expect("room");
            let connection = open(MemFileSystem::new()).expect("an empty store");
            let descriptor = ColumnFamilyDescriptor::new(family.as_str())
                .with_versions(i32::MAX as u32)
                .with_bloom(BloomType::RowCol)
                .with_compression(Compression::Zstd)
                .with_data_block_encoding(DataBlockEncoding::FastDiff);
            let table = TableDescriptor::new(name("t")).with_family(descriptor);
            connection.admin().create_table_with_splits(&table, &splits).expect("a new table");
            let request = BulkLoadRequest { source: Some(Arc::new(source)), ..Default::default() };
            let loaded =
                engine(&connection).procedures().bulk_load(&name("t"), Path::new(FOLDER), &request);
            loaded.unwrap_or_else(|error| panic!("{}: {error}", entry.name));
            assert!(raw_cells(&connection) == expected_raw(&cells), "{}", entry.name);
        }
        count += 1;
    }
    assert!(count > 80, "{count} files");
}

fn cells_of_file(fs: &dyn FileSystem, path: &Path) -> Vec<Cell> {
    let reader = Arc::new(HFileReader::open(fs, path, None).expect("a sound file"));
    let mut scanner = HFileScanner::new(reader);
    let mut cells = Vec::new();
    let mut is_at_cell = scanner.seek_first().expect("a sound file");
    while is_at_cell {
        cells.extend(scanner.current().map(|cell| cell.to_cell()));
        is_at_cell = scanner.next().expect("a sound file");
    }
    cells
}

fn shown(cell: &hblite::CellRef<'_>) -> (Vec<u8>, i64, Vec<u8>) {
    (cell.key().to_vec(), cell.timestamp(), cell.value().to_vec())
}

fn raw_cells(connection: &Connection) -> Vec<(Vec<u8>, i64, Vec<u8>)> {
    let scan = Scan::new().with_raw(true).with_all_versions();
    let rows = connection.table("t").and_then(|table| table.scan(&scan)).expect("a table");
    let mut cells = Vec::new();
    for row in rows {
        cells.extend(row.expect("nothing is damaged").cells().map(|cell| shown(&cell)));
    }
    cells
}

/// What a raw scan gives: no times before 0, and of equal keys the first.
fn expected_raw(cells: &[Cell]) -> Vec<(Vec<u8>, i64, Vec<u8>)> {
    let mut expected: Vec<(Vec<u8>, i64, Vec<u8>)> = Vec::new();
    for cell in cells.iter().map(|cell| shown(&cell.as_ref())) {
        let is_known = expected.last().is_some_and(|last| last.0 == cell.0);
        if cell.1 >= 0 && !is_known {
            expected.push(cell);
        }
    }
    expected
}
