//! What all file systems have in common: links, copies, and what a rename may replace.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use hblite_env::{
    CrashFileSystem, Fault, FaultFileSystem, FileSystem, MemFileSystem, Operation, StdFileSystem,
};

/// Runs `test` on each kind, in an existing empty directory.
fn on_each(test: impl Fn(&dyn FileSystem, &Path)) {
    let dir = tempfile::tempdir().unwrap();
    test(&StdFileSystem, dir.path());
    let others: [Arc<dyn FileSystem>; 3] = [
        Arc::new(MemFileSystem::new()),
        Arc::new(CrashFileSystem::new()),
        Arc::new(FaultFileSystem::new(Arc::new(MemFileSystem::new()))),
    ];
    for fs in others {
        fs.create_dir_all(Path::new("/d")).unwrap();
        test(fs.as_ref(), Path::new("/d"));
    }
}

fn write(fs: &dyn FileSystem, path: &Path, content: &[u8]) {
    fs.create(path).unwrap().write_all(content).unwrap();
}

fn kind<T>(result: std::io::Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

#[test]
fn a_link_outlives_the_first_name_and_takes_no_name_that_is_there() {
    on_each(|fs, dir| {
        let (a, b) = (dir.join("a"), dir.join("b"));
        write(fs, &a, b"content");
        fs.hard_link(&a, &b).unwrap();
        assert_eq!(kind(fs.hard_link(&a, &b)), Some(ErrorKind::AlreadyExists), "{fs:?}");
        fs.remove_file(&a).unwrap();
        assert_eq!(fs.read(&b).unwrap(), b"content");
        assert_eq!(kind(fs.hard_link(&a, &dir.join("c"))), Some(ErrorKind::NotFound));
        assert_eq!(kind(fs.hard_link(&b, &dir.join("x/c"))), Some(ErrorKind::NotFound));
    });
}

#[test]
fn a_lock_names_its_holder_and_nobody_else() {
    on_each(|fs, dir| {
        let path = dir.join("LOCK");
        for holder in ["process 1234567", "process 8", "process 90"] {
            let lock = fs.lock(&path, holder).unwrap();
            let refused = fs.lock(&path, "another").unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::WouldBlock, "{fs:?}");
            assert_eq!(refused.to_string(), holder, "{fs:?}");
            drop(lock);
        }
    });
}

#[test]
fn a_file_is_in_place_until_its_path_leads_elsewhere() {
    on_each(|fs, dir| {
        let store = dir.join("store");
        let open = |name: &str| {
            fs.create_dir_all(&store).unwrap();
            let lock = fs.lock(&store.join("LOCK"), "me").unwrap();
            let mut file = fs.create(&store.join(name)).unwrap();
            file.write_all(b"x").unwrap();
            let is_in_place = move || (lock.is_in_place().unwrap(), file.is_in_place().unwrap());
            assert_eq!(is_in_place(), (true, true), "{fs:?}");
            is_in_place
        };
        let removed = open("a");
        fs.hard_link(&store.join("a"), &dir.join("link")).unwrap();
        fs.remove_file(&store.join("a")).unwrap();
        assert_eq!(removed(), (true, false), "{fs:?}");
        fs.remove_dir_all(&store).unwrap();
        assert_eq!(removed(), (false, false), "{fs:?}");
        drop(removed);

        let moved = open("b");
        let elsewhere = dir.join("elsewhere");
        fs.rename(&store, &elsewhere).unwrap();
        assert_eq!(moved(), (false, false), "{fs:?}");
        fs.create_dir_all(&store).unwrap();
        write(fs, &store.join("LOCK"), b"another");
        write(fs, &store.join("b"), b"x");
        assert_eq!(moved(), (false, false), "{fs:?}");
        fs.remove_dir_all(&store).unwrap();
        fs.rename(&elsewhere, &store).unwrap();
        assert_eq!(moved(), (true, true), "{fs:?}");
    });
}

#[test]
fn a_rewritten_file_is_what_it_was() {
    on_each(|fs, dir| {
        let path = dir.join("a");
        let content: Vec<u8> = (0..(2_u32 << 20) + 77).map(|number| (number / 7) as u8).collect();
        write(fs, &path, &content);
        for from in [0, 1, 1 << 20, content.len() as u64, content.len() as u64 + 1] {
            fs.rewrite(&path, from).unwrap();
            assert!(fs.read(&path).unwrap() == content, "{fs:?}");
        }
        assert_eq!(kind(fs.rewrite(&dir.join("x"), 0)), Some(ErrorKind::NotFound), "{fs:?}");
    });
}

#[test]
fn a_copy_is_a_file_of_its_own() {
    on_each(|fs, dir| {
        let (a, b) = (dir.join("a"), dir.join("b"));
        let content: Vec<u8> = (0..(2_u32 << 20) + 77).map(|number| (number / 7) as u8).collect();
        let mut file = fs.create(&a).unwrap();
        file.write_all(&content).unwrap();
        fs.copy(&a, &b).unwrap();
        file.write_all(b"more").unwrap();
        assert!(fs.read(&b).unwrap() == content, "{fs:?}");
        assert_eq!(fs.file_length(&a).unwrap(), content.len() as u64 + 4);
        assert_eq!(kind(fs.copy(&a, &b)), Some(ErrorKind::AlreadyExists), "{fs:?}");
        assert_eq!(kind(fs.copy(&dir.join("x"), &dir.join("y"))), Some(ErrorKind::NotFound));
        assert!(!fs.exists(&dir.join("y")).unwrap());
        write(fs, &dir.join("empty"), b"");
        fs.copy(&dir.join("empty"), &dir.join("copy")).unwrap();
        assert_eq!(fs.read(&dir.join("copy")).unwrap(), b"");
    });
}

#[test]
fn a_directory_takes_the_place_of_an_empty_one_only() {
    on_each(|fs, dir| {
        let (from, to) = (dir.join("from"), dir.join("to"));
        fs.create_dir_all(&from).unwrap();
        write(fs, &from.join("a"), b"x");
        fs.create_dir_all(&to).unwrap();
        write(fs, &to.join("old"), b"y");
        assert!(fs.rename(&from, &to).is_err(), "{fs:?}");
        assert_eq!(fs.read(&to.join("old")).unwrap(), b"y");
        fs.remove_file(&to.join("old")).unwrap();
        fs.rename(&from, &to).unwrap();
        assert_eq!(fs.read(&to.join("a")).unwrap(), b"x");
        assert!(!fs.exists(&from).unwrap());
        write(fs, &dir.join("file"), b"z");
        assert!(fs.rename(&to, &dir.join("file")).is_err(), "{fs:?}");
    });
}

#[test]
fn a_copy_is_durable_before_its_name_is_and_a_link_as_its_file() {
    let fs = CrashFileSystem::new();
    write(&fs, Path::new("a"), b"content");
    fs.copy(Path::new("a"), Path::new("b")).unwrap();
    fs.hard_link(Path::new("a"), Path::new("c")).unwrap();
    fs.sync_dir(Path::new("")).unwrap();
    let cut = fs.after_power_cut(0);
    assert_eq!(cut.read(Path::new("b")).unwrap(), b"content");
    assert_eq!(cut.read(Path::new("c")).unwrap(), b"");
    fs.sync_file(Path::new("a")).unwrap();
    assert_eq!(fs.after_power_cut(0).read(Path::new("c")).unwrap(), b"content");
}

#[test]
fn links_and_copies_fail_when_told_to() {
    let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
    write(&fs, Path::new("a"), b"content");
    fs.inject(Fault::on(Operation::Create).with_kind(ErrorKind::CrossesDevices));
    let linked = fs.hard_link(Path::new("a"), Path::new("b"));
    assert_eq!(kind(linked), Some(ErrorKind::CrossesDevices));
    fs.limit_space(3);
    assert_eq!(kind(fs.copy(Path::new("a"), Path::new("b"))), Some(ErrorKind::StorageFull));
    fs.heal();
    fs.inject(Fault::on(Operation::Sync).in_path("c"));
    assert!(fs.copy(Path::new("a"), Path::new("c")).is_err());
}

#[test]
fn a_directory_is_listed_moved_and_removed_with_what_is_below_it_and_nothing_else() {
    on_each(|fs, dir| {
        // Names that begin alike, around the directory in every order of bytes.
        for name in ["a", "a b", "a!", "a-", "a.b", "a0", "ab"] {
            fs.create_dir_all(&dir.join(name).join("x/y")).unwrap();
            write(fs, &dir.join(name).join("x/y/file"), name.as_bytes());
            write(fs, &dir.join(name).join("file"), name.as_bytes());
        }
        write(fs, &dir.join("a~"), b"file");
        let list = |path: &Path| -> Vec<(String, bool)> {
            let entries = fs.list_dir(path).unwrap().into_iter();
            entries.map(|entry| (entry.name, entry.is_dir)).collect()
        };
        let names = |path: &Path| list(path).into_iter().map(|entry| entry.0).collect::<Vec<_>>();
        assert_eq!(names(dir), ["a", "a b", "a!", "a-", "a.b", "a0", "ab", "a~"], "{fs:?}");
        assert_eq!(list(&dir.join("a")), [("file".to_owned(), false), ("x".to_owned(), true)]);
        assert_eq!(list(&dir.join("a/x")), [("y".to_owned(), true)]);
        fs.remove_dir_all(&dir.join("a")).unwrap();
        assert_eq!(names(dir), ["a b", "a!", "a-", "a.b", "a0", "ab", "a~"], "{fs:?}");
        fs.rename(&dir.join("ab"), &dir.join("a")).unwrap();
        assert_eq!(names(dir), ["a", "a b", "a!", "a-", "a.b", "a0", "a~"], "{fs:?}");
        assert_eq!(fs.read(&dir.join("a/x/y/file")).unwrap(), b"ab");
        assert_eq!(fs.read(&dir.join("a0/x/y/file")).unwrap(), b"a0");
        assert!(!fs.exists(&dir.join("ab/x")).unwrap());
    });
}

#[test]
fn the_root_is_there_and_has_what_is_in_it() {
    let fs = MemFileSystem::new();
    let root = Path::new("/");
    assert!(fs.exists(root).unwrap());
    assert_eq!(fs.list_dir(root).unwrap(), []);
    fs.create_dir_all(Path::new("/a/b")).unwrap();
    write(&fs, Path::new("/file"), b"content");
    let names: Vec<String> = fs.list_dir(root).unwrap().into_iter().map(|e| e.name).collect();
    assert_eq!(names, ["a", "file"]);
    assert_eq!(kind(fs.create(root)), Some(ErrorKind::AlreadyExists));
    assert_eq!(kind(fs.create(Path::new("/x/file"))), Some(ErrorKind::NotFound));
    // A path with its separators doubled, or with a `.`, is the same.
    assert_eq!(fs.read(Path::new("//./file")).unwrap(), b"content");
    fs.remove_dir_all(root).unwrap();
    assert!(!fs.exists(Path::new("/a")).unwrap() && fs.list_dir(root).unwrap().is_empty());
}

/// Tests of the real file system.
#[cfg(unix)]
mod real {
    use super::*;

    /// A pipe would wait for its other end, and a device may be anything.
    #[test]
    fn only_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            let fs = StdFileSystem;
            let errors = [
                fs.open(path).map(drop).unwrap_err(),
                fs.read(path).map(drop).unwrap_err(),
                fs.sync_file(path).unwrap_err(),
                fs.rewrite(path, 0).unwrap_err(),
                fs.lock(path, "process 1").map(drop).unwrap_err(),
                fs.lock_existing(path).map(drop).unwrap_err(),
            ];
            for error in errors {
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
                assert!(error.to_string().contains(&path.display().to_string()), "{error}");
            }
        }
    }

    #[test]
    fn a_symbolic_link_to_a_directory_above_it_is_no_directory() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        StdFileSystem.create_dir_all(&a).unwrap();
        StdFileSystem.create_dir_all(&b).unwrap();
        for (target, link) in [(&b, a.join("to-b")), (&a, b.join("to-a")), (&b, b.join("self"))] {
            std::os::unix::fs::symlink(target, link).unwrap();
        }
        let dirs = |dir: &Path| {
            let entries = StdFileSystem.list_dir(dir).unwrap().into_iter();
            entries.map(|entry| (entry.name, entry.is_dir)).collect::<Vec<_>>()
        };
        assert_eq!(dirs(&a), [("to-b".to_owned(), true)]);
        assert_eq!(dirs(&b), [("self".to_owned(), false), ("to-a".to_owned(), true)]);
        let both = [("self".to_owned(), false), ("to-a".to_owned(), false)];
        assert_eq!(dirs(&a.join("to-b")), both);
        // Everything below has an end.
        assert_eq!(hblite_env::files_below(&StdFileSystem, &a).unwrap().len(), 2);
    }
}
