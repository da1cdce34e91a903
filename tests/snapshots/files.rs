//! The files of snapshots: foreign ones are kept, and a check names the damaged ones.

use std::path::Path;
use std::time::Duration;

use hblite::SnapshotOptions;
use hblite_env::{FileSystem, MemFileSystem};

use super::testkit::files_below;
use super::{check, clock, create, name, names, open, open_at, put, snapshot, testkit};

/// Whatever removes a snapshot, a foreign file in it is kept and reported.
#[test]
fn a_snapshot_with_foreign_files_goes_to_the_archive() {
    let below = |region: &str| {
        ["notes.txt", "photos/a.jpg", &format!("{region}/notes.txt"), &format!("{region}/a/mine")]
            .map(str::to_owned)
    };
    for is_expired in [false, true] {
        for number in 0..4 {
            let (fs, clock) = (MemFileSystem::new(), clock());
            let connection = open_at(fs.clone(), clock.clone()).expect("an empty store");
            create(&connection, "t").expect("a new table");
            put(&connection, "t", "c", "1").expect("it takes it");
            let options = SnapshotOptions::default().with_time_to_live(Duration::from_secs(60));
            let admin = connection.admin();
            admin.snapshot("s", name("t"), &options).expect("a snapshot");
            let dir = Path::new("/store/.hbase-snapshot/s");
            let region = admin.regions(name("t")).expect("a table").remove(0);
            let mine = below(region.encoded_name()).into_iter().nth(number).expect("four");
            let path = dir.join(&mine);
            fs.create_dir_all(path.parent().expect("a directory")).expect("room");
            fs.create(&path).and_then(|mut file| file.write_all(b"mine")).expect("room");
            if is_expired {
                clock.advance(60_001);
            } else {
                admin.delete_snapshot("s").expect("it is there");
            }
            assert_eq!(names(&connection), Vec::<String>::new());
            assert!(!fs.exists(dir).expect("an answer"));
            let root = Path::new("/store");
            let kept: Vec<_> = files_below(&fs, root)
                .into_iter()
                .filter(|file| file.ends_with(Path::new(".hbase-snapshot/s").join(&mine)))
                .collect();
            assert_eq!(kept.len(), 1, "{mine}: {:?}", files_below(&fs, root));
            assert_eq!(fs.read(&kept[0]).expect("it is there"), b"mine");
            let notes = connection.file_notes();
            assert_eq!(notes.len(), 1, "{notes:?}");
            assert_eq!(notes[0].path, dir);
            let expected = format!("because hblite did not write {}", dir.join(&mine).display());
            let directory = expected.replace("/a.jpg", "");
            assert!(notes[0].what.ends_with(&expected) || notes[0].what.ends_with(&directory));
            snapshot(&connection, "s", "t").expect("the name is free");
            admin.delete_snapshot("s").expect("it is there");
            assert_eq!(connection.file_notes().len(), 1);
            connection.close().expect("nothing fails");
            check(&fs, &mine);
        }
    }
}

#[test]
fn a_check_names_what_a_snapshot_lacks() {
    let fs = MemFileSystem::new();
    let connection = open(fs.clone()).expect("an empty store");
    create(&connection, "t").expect("a new table");
    put(&connection, "t", "c", "1").expect("it takes it");
    snapshot(&connection, "s", "t").expect("a snapshot");
    connection.close().expect("nothing fails");
    check(&fs, "a sound one");
    let dir = Path::new("/store/.hbase-snapshot/s");
    for path in files_below(&fs, dir) {
        let content = fs.read(&path).expect("it is there");
        let is_store_file = !path.to_string_lossy().contains("/.");
        let mut damaged = content.clone();
        if is_store_file {
            damaged[40] ^= 1;
        } else {
            damaged.clear();
        }
        fs.remove_file(&path).expect("it is there");
        fs.create(&path).and_then(|mut file| file.write_all(&damaged)).expect("room");
        let report = testkit::check(&fs);
        assert_eq!(report.defects.len(), 1, "{}: {:?}", path.display(), report.defects);
        fs.remove_file(&path).expect("it is there");
        fs.create(&path).and_then(|mut file| file.write_all(&content)).expect("room");
    }
    check(&fs, "mended");
}
