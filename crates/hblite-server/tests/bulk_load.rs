//! Bulk load as HBase's tool does it: prepare, load the files of each region, clean up.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use crate::support::{Client, create_table, region, table_name};
use hblite::{Cell, CellType, Get};
use hblite_env::StdFileSystem;
use hblite_hfile::{HFileWriter, HFileWriterOptions, StoreFileInfo};
use hblite_server::TestServer;
use hblite_wire::pb;

/// Writes a file with a cell of `f:q` in each of these rows.
fn write_file(path: &Path, rows: &[&str]) {
    let options = HFileWriterOptions::default();
    let mut writer = HFileWriter::create(&StdFileSystem, path, options).unwrap();
    for row in rows {
        let cell = Cell::new(row.as_bytes(), b"f", b"q", 7, CellType::Put, b"loaded");
        writer.append(&cell.as_ref()).unwrap();
    }
    writer.finish(&StoreFileInfo::default()).unwrap();
}

fn load(region_name: &[u8], family: &'static str, path: &str) -> pb::BulkLoadHFileRequest {
    pb::BulkLoadHFileRequest {
        region: region(region_name),
        family_path: vec![pb::BulkLoadFamilyPath { family: family.into(), path: path.to_owned() }],
        assign_seq_num: Some(true),
        bulk_token: Some("token".to_owned()),
        copy_file: Some(false),
        cluster_ids: Vec::new(),
    }
}

#[test]
fn each_region_takes_its_files_and_refuses_those_of_others() {
    let server = TestServer::start().unwrap();
    let names = create_table(&server, "t", &["m"]);
    let mut client = Client::data(&server);
    let folder = tempfile::tempdir().unwrap();
    let (low, both) = (folder.path().join("low"), folder.path().join("both"));
    write_file(&low, &["a", "b"]);
    write_file(&both, &["c", "x"]);
    let prepare =
        pb::PrepareBulkLoadRequest { table_name: table_name("t"), region: Some(region(&names[0])) };
    let token = client.call("PrepareBulkLoad", &prepare).decode::<pb::PrepareBulkLoadResponse>();
    assert!(!token.bulk_token.is_empty());

    // The tool then splits the file.
    let misfit = load(&names[0], "f", both.to_str().unwrap());
    let answer = client.call("BulkLoadHFile", &misfit).decode::<pb::BulkLoadHFileResponse>();
    assert!(!answer.loaded);
    let fits = load(&names[0], "f", &format!("file:{}", low.display()));
    let answer = client.call("BulkLoadHFile", &fits).decode::<pb::BulkLoadHFileResponse>();
    assert!(answer.loaded);
    let clean = pb::CleanupBulkLoadRequest {
        bulk_token: token.bulk_token,
        region: Some(region(&names[0])),
    };
    client.call("CleanupBulkLoad", &clean).decode::<pb::Empty>();

    let table = server.connection().table("t").unwrap();
    for (row, expected) in [("a", Some(&b"loaded"[..])), ("b", Some(b"loaded")), ("c", None)] {
        assert_eq!(table.get(&Get::new(row)).unwrap().value("f", "q"), expected, "{row}");
    }
    assert!(low.exists(), "files are copied");
}

#[test]
fn what_cannot_be_loaded_is_refused() {
    let server = TestServer::start().unwrap();
    let names = create_table(&server, "t", &[]);
    let mut client = Client::data(&server);
    let folder = tempfile::tempdir().unwrap();
    let (file, other) = (folder.path().join("file"), folder.path().join("other"));
    write_file(&file, &["a"]);
    std::fs::write(&other, "no HFile").unwrap();
    let (file, other) = (file.to_str().unwrap(), other.to_str().unwrap());
    let refusals = [
        (load(&names[0], "f", "/no/such/file"), "IOException"),
        (load(&names[0], "f", "/dev/zero"), "IOException"),
        (load(&names[0], "f", "hdfs://host/f"), "DoNotRetryIOException"),
        (load(&names[0], "f", other), "DoNotRetryIOException"),
        (load(&names[0], "g", file), "DoNotRetryIOException"),
        (load(b"t,,1.none.", "f", file), "NotServingRegionException"),
    ];
    for (request, class) in refusals {
        let answer = client.call("BulkLoadHFile", &request);
        assert_eq!(answer.exception().0, class, "{request:?}");
    }
}
