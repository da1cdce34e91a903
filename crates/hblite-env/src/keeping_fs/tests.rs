//! Tests of what is kept for readers, on the real file system.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::image::{LargeFiles, image, pinned};
use crate::{MemFileSystem, StdFileSystem};

fn part(path: &Path) -> ImagePart {
    let has = |name| path.components().any(|part| part.as_os_str() == name);
    match (has("kept"), has("log")) {
        (true, _) => ImagePart::Skipped,
        (_, true) => ImagePart::Growing,
        _ => ImagePart::Whole,
    }
}

fn keeping(dir: &Path, session: u64) -> KeepingFileSystem {
    let inner: Arc<dyn FileSystem> = Arc::new(StdFileSystem);
    let kept = dir.join("kept");
    KeepingFileSystem::new(&inner, dir, kept, || session, Box::new(part)).unwrap()
}

fn write(fs: &dyn FileSystem, path: &Path, content: &[u8]) {
    fs.create(path).unwrap().write_all(content).unwrap();
}

fn image_of(dir: &Path) -> MemFileSystem {
    image(&StdFileSystem, dir, &part, LargeFiles::Open, Some(&dir.join("kept"))).unwrap()
}

fn kept_files(dir: &Path) -> usize {
    crate::files_below(&StdFileSystem, &dir.join("kept")).map_or(0, |files| files.len())
}

#[test]
fn nothing_is_kept_without_a_reader_and_nothing_is_left_after_the_last() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, fs) = (dir.path(), keeping(dir.path(), 1));
    write(&fs, &dir.join("a"), b"a");
    fs.remove_file(&dir.join("a")).unwrap();
    assert!(!dir.join("kept").exists());
    let reader = StdFileSystem.announce_reader(dir);
    write(&fs, &dir.join("a"), b"a");
    fs.remove_file(&dir.join("a")).unwrap();
    assert_eq!(kept_files(dir), 2, "the journal and the file");
    drop(reader);
    write(&fs, &dir.join("b"), b"b");
    fs.end();
    assert!(!dir.join("kept").exists());
}

/// A position in the journal is the moment, whatever happens to names afterwards.
#[test]
fn a_change_of_a_directory_is_a_change_of_all_below_it() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, fs) = (dir.path(), keeping(dir.path(), 1));
    fs.create_dir_all(&dir.join("old/below")).unwrap();
    write(&fs, &dir.join("old/below/file"), b"1");
    let _reader = StdFileSystem.announce_reader(dir);
    write(&fs, &dir.join("first"), b"");
    let position = crate::kept::end_of_journal(&StdFileSystem, &dir.join("kept")).unwrap().unwrap();
    fs.rename(&dir.join("old"), &dir.join("new")).unwrap();
    fs.replace_unsynced(&dir.join("new/below/file"), b"2").unwrap();
    write(&fs, &dir.join("second"), b"");
    let pinned = || pinned::image(&StdFileSystem, dir, &part, LargeFiles::Open, &position).unwrap();
    let names = |image: &MemFileSystem| {
        let files = crate::files_below(image, dir).unwrap().into_iter();
        files.map(|path| path.strip_prefix(dir).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let expected = ["first", "old/below/file"].map(PathBuf::from);
    assert_eq!(names(&pinned().unwrap()), expected);
    fs.remove_dir_all(&dir.join("new")).unwrap();
    let image = pinned().unwrap();
    assert_eq!(names(&image), expected);
    assert_eq!(image.read(&dir.join("old/below/file")).unwrap(), b"1");
    let changes = crate::kept::changes_after(&StdFileSystem, &position).unwrap().unwrap();
    let paths: BTreeSet<&str> = changes.before.keys().map(|path| path.to_str().unwrap()).collect();
    let expected = [
        "old",
        "old/below",
        "old/below/file",
        "new",
        "new/below",
        "new/below/file",
        "new/below/file.tmp",
        "second",
    ];
    assert_eq!(paths, BTreeSet::from(expected));
    let (before, kept) = &changes.before[Path::new("old/below/file")];
    assert!(matches!(before, Before::File(_)));
    assert_eq!(StdFileSystem.read(kept).unwrap(), b"1");
    let nothing = changes.before.values().filter(|(before, _)| *before == Before::Nothing);
    assert_eq!(nothing.count(), 5);
    // A later process removes what an earlier one kept: its positions mean nothing.
    fs.end();
    write(&keeping(dir, 2), &dir.join("other"), b"");
    assert!(pinned().is_none());
}

/// A writer that never rests: each generation is a directory with two files, made under another
/// name and renamed before the previous one goes, and the log gets each number first.
#[test]
fn an_image_is_of_one_moment_though_names_never_rest() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, fs) = (dir.path(), keeping(dir.path(), 1));
    let number_of = |content: &[u8]| content.iter().filter(|byte| **byte != 0).count();
    fs.create_dir_all(&dir.join("log")).unwrap();
    write(&fs, &dir.join("current"), b"");
    // So that names change many times while an image is taken.
    fs.create_dir_all(&dir.join("still")).unwrap();
    (0..300).for_each(|file| write(&fs, &dir.join(format!("still/{file}")), b""));
    let is_over = AtomicBool::new(false);
    let (first, is_begun) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let (fs, is_over) = (&fs, &is_over);
        scope.spawn(move || {
            let mut log = fs.create_log(&dir.join("log/0"), true).unwrap();
            for number in 1..u32::MAX {
                log.write_all(b"x").unwrap();
                let (new, name) = (dir.join("making"), dir.join(number.to_string()));
                fs.create_dir_all(&new).unwrap();
                ["a", "b"].iter().for_each(|file| write(fs, &new.join(file), b"content"));
                fs.rename(&new, &name).unwrap();
                fs.replace_unsynced(&dir.join("current"), &vec![b'x'; number as usize]).unwrap();
                if number > 1 {
                    fs.remove_dir_all(&dir.join((number - 1).to_string())).unwrap();
                }
                let _ = first.send(());
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        is_begun.recv().unwrap();
        // Ends the writer when it is dropped, also by a panic.
        struct End<'a>(&'a AtomicBool);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _end = End(is_over);
        for _ in 0..30 {
            let image = image_of(dir);
            let current = number_of(&image.read(&dir.join("current")).unwrap());
            let logged = number_of(&image.read(&dir.join("log/0")).unwrap());
            assert!((current..=current + 1).contains(&logged), "{current} {logged}");
            let generation = dir.join(current.to_string());
            let names: Vec<String> =
                image.list_dir(&generation).unwrap().into_iter().map(|entry| entry.name).collect();
            assert_eq!(names, ["a", "b"]);
            assert_eq!(image.read(&generation.join("b")).unwrap(), b"content");
            let names = image.list_dir(dir).unwrap();
            for number in names.iter().filter_map(|entry| entry.name.parse::<usize>().ok()) {
                assert!((current.max(1) - 1..=current + 1).contains(&number), "{current} {number}");
            }
        }
    });
    fs.end();
}

/// However long a reader stays, no more is kept than what was replaced since two generations ago.
#[test]
fn a_reader_that_never_ends_costs_two_generations() {
    let dir = tempfile::tempdir().unwrap();
    let mut fs = keeping(dir.path(), 1);
    // Each change begins a generation.
    Arc::get_mut(&mut fs.0).unwrap().period = Duration::ZERO;
    let dir = dir.path();
    let _reader = StdFileSystem.announce_reader(dir);
    for _ in 0..20 {
        write(&fs, &dir.join("a"), b"a");
        fs.remove_file(&dir.join("a")).unwrap();
        assert!(fs.0.state.read().generations.len() <= 2);
    }
    fs.0.tidy();
    assert_eq!(kept_files(dir), 0);
    // It may still begin again, and then nothing changes.
    assert!(image_of(dir).exists(dir).unwrap());
}
