//! Region replicas in hbase:meta.

use std::path::Path;
use std::sync::Arc;

use hblite_env::{FileSystem, MemFileSystem};
use hblite_model::Get;

use super::{DIR, name, open, rows, table};
use crate::catalog::descriptor_file::{self, Safety};

/// A crash between the two writes of a change of `REGION_REPLICATION`: the next open brings the
/// rows of hbase:meta in line with the descriptor.
#[test]
fn hbase_meta_names_the_replicas_that_the_descriptor_asks_for() {
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    let engine = open(&fs).unwrap();
    engine.procedures().create_table(&table("t", &["f"]), &[]).unwrap();
    engine.close().unwrap();
    let dir = Path::new(DIR).join("data/default/t/.tabledesc");
    for (count, expected) in [("3", 3), ("2", 2), ("1", 1)] {
        let mut settings = table("t", &["f"]);
        settings.set_attribute("REGION_REPLICATION", count).unwrap();
        descriptor_file::write(fs.as_ref(), &dir, &settings, Safety::Durable).unwrap();
        let engine = open(&fs).unwrap();
        let info = engine.catalog().region_infos(&name("t")).remove(0);
        let row = engine.table(name("hbase:meta")).get(&Get::new(info.region_name())).unwrap();
        for column in ["state", "server", "sn", "serverstartcode", "seqnumDuringOpen"] {
            let named = row.cells().map(|cell| cell.qualifier().to_vec());
            let of_column = |name: &Vec<u8>| {
                let rest = name.strip_prefix(column.as_bytes());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"_"))
            };
            assert_eq!(named.filter(of_column).count(), expected, "{column} {count}");
        }
        assert!(rows(&engine, "t").unwrap().is_empty());
        engine.close().unwrap();
    }
}
