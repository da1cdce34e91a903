//! Goal: logs that an earlier version wrote are read, continued and removed. Method: the files of
//! two logs of forty writes, of a process that was killed and closed, kept under `fixtures/`.

use super::*;

fn version_1(name: &str) -> Env {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/wal/tests/fixtures/version-1");
    let env = Env::in_memory();
    env.fs.create_dir_all(Path::new(DIR)).unwrap();
    for entry in std::fs::read_dir(source.join(name)).unwrap() {
        let path = entry.unwrap().path();
        let copy = Path::new(DIR).join(path.file_name().unwrap());
        put_file(&env, &copy, &std::fs::read(&path).unwrap());
    }
    env
}

/// What is in both.
fn written() -> Vec<Write> {
    random_writes(1001, 40)
}

#[test]
fn a_log_of_version_1_is_read_continued_and_removed() {
    for name in ["killed", "closed"] {
        let env = version_1(name);
        let (wal, replayed, report) = open_with(&env, small());
        assert_eq!(replayed, written());
        assert_eq!((report.segments, &report.torn_tail, &report.unclosed), (6, &None, &None));
        let next = Write { sequence_id: 41, ..written()[0].clone() };
        write(&wal, &next, Durability::SyncWal).unwrap();
        drop(wal);
        let (wal, replayed, report) = open_with(&env, small());
        assert_eq!((replayed.len(), &replayed[..40]), (41, &written()[..]));
        assert_eq!(replayed[40], next);
        assert_eq!((report.segments, report.torn_tail), (7, None));
        for region in ["1588230740", "aa", "bb"] {
            wal.region_flushed(region, 41).unwrap();
        }
        wal.close().unwrap();
        assert!(segment_names(&env).is_empty());
    }
}

#[test]
fn damage_in_version_1_is_what_it_was() {
    let last = segment_path(Path::new(DIR), 6);
    for at in 0..6 {
        let env = version_1("killed");
        let path = segment_path(Path::new(DIR), at + 1);
        let mut content = env.fs.read(&path).unwrap();
        content[900] ^= 1;
        put_file(&env, &path, &content);
        assert_corrupt(&replay_with(&env, false).unwrap_err(), &path);
        let (kept, report) = replay_with(&env, true).unwrap();
        // Byte 900 is in a write, or in a mark.
        assert!(kept.len() >= 39 && kept.iter().all(|each| written().contains(each)));
        assert_eq!(report.salvaged.len(), 1, "segment {}", at + 1);
    }
    // A torn tail, and a segment whose creation was interrupted.
    let env = version_1("killed");
    let content = env.fs.read(&last).unwrap();
    put_file(&env, &last, &content[..content.len() - 5]);
    put_file(&env, &segment_path(Path::new(DIR), 7), b"hblit");
    let (wal, replayed, report) = open_with(&env, small());
    assert_eq!((replayed.len(), report.torn_tail.unwrap().file), (39, last.clone()));
    write(&wal, &written()[39], Durability::SyncWal).unwrap();
    drop(wal);
    assert_eq!(replay_all(&env).0, written());
    // The segment after it was synced later, so this is damage now.
    put_file(&env, &last, &content[..1000]);
    assert_corrupt(&replay_with(&env, false).unwrap_err(), &last);
}
