//! An image of a directory: its contents at one moment, readable while other processes change it.
//!
//! The image is a file system in memory. Its names are those of the directory. Large files are
//! mapped, or kept open and read when they are needed ([`LargeFiles`]), so that an image costs
//! little and stays readable when the files are removed. Writes to the image stay in memory. The
//! directory itself is only read: no file is created, so it may be on read-only media.
//!
//! Files are created and removed but not changed in place, except for *growing* ones, to which
//! bytes are appended. In one that ends with zeros they may take the place of these
//! ([`FileSystem::create_log`]), so it is copied.
//!
//! There are two ways to choose the moment. The caller announces itself as a reader. If there is a
//! writer that notices this ([`crate::KeepingFileSystem`]), it writes its next changes to a journal
//! and keeps what they replace. Then the image is that of a position in the journal (`pinned`), and
//! one attempt is enough, whatever changes.
//!
//! Otherwise an attempt
//!
//! 1. lists all names
//! 2. takes the content of all files, growing ones last, with their length at that time
//! 3. lists all names again, and reads the small files again
//!
//! If nothing differs, every name existed from the end of 1 to the beginning of 3. The image is
//! then the directory at the moment when the last growing file was taken: what a kill at that
//! moment would have left. Otherwise another attempt is made. Small files are compared by content,
//! since they may be replaced under the same name.
//!
//! One case goes unnoticed: a file that is created after 1 and removed before 3 is not in the
//! image, although another file there may refer to it. A reader that misses a file takes another
//! image.
//!
//! Threads: any.

pub(crate) mod pinned;

use crate::time::Duration;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::fs::{FileBytes, FileSystem, ReadableFile, read_all};
use crate::kept;
use crate::mem_fs::{Content, MemFileSystem};

/// Maximum number of attempts for a directory that keeps changing.
const ATTEMPTS: u32 = 100;
/// The pause after an attempt, times its number.
const PAUSE: Duration = Duration::from_millis(1);
/// Files up to this size are held in memory and compared.
pub(crate) const SMALL: u64 = 1 << 16;

/// How to treat a path below the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImagePart {
    /// A directory, or a file that is never changed in place.
    Whole,
    /// A file that grows, or a directory of such files.
    Growing,
    /// Not in the image, nor is anything below it.
    Skipped,
}

/// How an image keeps a file that is not held in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargeFiles {
    /// A mapping: fast, but if the file is truncated, reading the missing part kills the process.
    Mapped,
    /// The open file, which takes a descriptor: reading a missing part is an error.
    Open,
}

/// Takes an image of `dir`, with the parts chosen by `part`. Its paths are those on disk. A writer
/// keeps what it replaces in `kept`.
///
/// # Errors
/// Those of the file system; `ResourceBusy` if the directory changed during every attempt.
pub fn image(
    fs: &dyn FileSystem,
    dir: &Path,
    part: &dyn Fn(&Path) -> ImagePart,
    large: LargeFiles,
    kept: Option<&Path>,
) -> io::Result<MemFileSystem> {
    let _announcement = fs.announce_reader(dir);
    for attempt in 1..=ATTEMPTS {
        let position = kept.map_or(Ok(None), |kept| kept::end_of_journal(fs, kept))?;
        let taken = match &position {
            Some(position) => pinned::image(fs, dir, part, large, position),
            None => attempt_image(fs, dir, part, large, kept),
        };
        match taken {
            Ok(Some(image)) => return Ok(image),
            // A listed name no longer exists.
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs.exists(dir)? => {}
            Err(error) => return Err(error),
            Ok(None) => {}
        }
        if !has_journal(fs, kept)? {
            crate::thread::sleep(PAUSE * attempt);
        }
    }
    let message = format!(
        "{}: files came and went during each of {ATTEMPTS} attempts to read them: try again later",
        dir.display()
    );
    Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
}

/// Whether a writer keeps what it replaces.
fn has_journal(fs: &dyn FileSystem, kept: Option<&Path>) -> io::Result<bool> {
    kept.map_or(Ok(false), |kept| kept::has_journal(fs, kept))
}

/// Names, and whether they are directories.
type Names = BTreeMap<PathBuf, bool>;

/// The image, unless the directory changed meanwhile.
fn attempt_image(
    fs: &dyn FileSystem,
    dir: &Path,
    part: &dyn Fn(&Path) -> ImagePart,
    large: LargeFiles,
    kept: Option<&Path>,
) -> io::Result<Option<MemFileSystem>> {
    let mut names = Names::new();
    list(fs, dir, part, &mut names)?;
    if has_journal(fs, kept)? {
        return Ok(None);
    }
    let files = || names.iter().filter(|(_, is_dir)| !**is_dir).map(|(path, _)| path);
    let image = MemFileSystem::new();
    image.create_dir_all(dir)?;
    for (path, _) in names.iter().filter(|(_, is_dir)| **is_dir) {
        image.create_dir_all(path)?;
    }
    let mut small = Vec::new();
    for path in files().filter(|path| part(path) == ImagePart::Whole) {
        let content = take_whole(&fs.open_finished(path)?, large)?;
        if let Content::Bytes(FileBytes::Owned(bytes)) = &content {
            small.push((path, Arc::clone(bytes)));
        }
        image.insert(path, content);
    }
    for path in files().filter(|path| part(path) == ImagePart::Growing) {
        match take_growing(&fs.open(path)?, large) {
            Ok(content) => image.insert(path, content),
            // Its zeros were removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let mut names_after = Names::new();
    list(fs, dir, part, &mut names_after)?;
    if names != names_after {
        return Ok(None);
    }
    for (path, content) in small {
        if fs.read(path)? != *content {
            return Ok(None);
        }
    }
    Ok(Some(image))
}

/// The content of a file that is never changed in place. A small one is held in memory.
fn take_whole(file: &Arc<dyn ReadableFile>, large: LargeFiles) -> io::Result<Content> {
    match file.length()? {
        length if length > SMALL => take(file, large),
        length => Ok(Content::owned(read_all(file.as_ref(), length)?)),
    }
}

/// The content that a file has now.
fn take(file: &Arc<dyn ReadableFile>, large: LargeFiles) -> io::Result<Content> {
    Ok(match large {
        LargeFiles::Mapped => Content::Bytes(file.map()?),
        LargeFiles::Open => Content::Open { length: file.length()?, file: Arc::clone(file) },
    })
}

/// The content that a growing file has now.
fn take_growing(file: &Arc<dyn ReadableFile>, large: LargeFiles) -> io::Result<Content> {
    let content = take(file, large)?;
    let length = match &content {
        Content::Bytes(bytes) => bytes.len() as u64,
        Content::Open { length, .. } => *length,
    };
    let mut last = [0xff];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    if last == [0] { copy_before_zeros(file.as_ref(), length) } else { Ok(content) }
}

/// A copy of a file into whose zeros bytes are written in order meanwhile.
///
/// What comes before the last byte that is there at first is complete when it is read again. What
/// follows is left out: a part of it could be missing in the middle.
fn copy_before_zeros(file: &dyn ReadableFile, length: u64) -> io::Result<Content> {
    let last = read_all(file, length)?.iter().rposition(|byte| *byte != 0);
    let mut content = read_all(file, length)?;
    content[last.map_or(0, |last| last + 1)..].fill(0);
    Ok(Content::owned(content))
}

fn list(
    fs: &dyn FileSystem,
    dir: &Path,
    part: &dyn Fn(&Path) -> ImagePart,
    names: &mut Names,
) -> io::Result<()> {
    for entry in fs.list_dir(dir)? {
        let path = dir.join(&entry.name);
        if part(&path) == ImagePart::Skipped {
            continue;
        }
        if entry.is_dir {
            list(fs, &path, part, names)?;
        }
        names.insert(path, entry.is_dir);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc::{self, TryRecvError};

    use super::*;

    fn write(fs: &dyn FileSystem, path: &str, content: &[u8]) {
        let path = Path::new(path);
        fs.create_dir_all(path.parent().unwrap()).unwrap();
        fs.create(path).unwrap().write_all(content).unwrap();
    }

    fn part(path: &Path) -> ImagePart {
        match path {
            path if path.starts_with("/d/log") => ImagePart::Growing,
            path if path.ends_with("skipped") => ImagePart::Skipped,
            _ => ImagePart::Whole,
        }
    }

    #[test]
    fn an_image_keeps_what_was_there_and_takes_what_is_written_to_it() {
        let disk = MemFileSystem::new();
        let large = vec![7; SMALL as usize + 1];
        write(&disk, "/d/a/small", b"s");
        write(&disk, "/d/a/large", &large);
        write(&disk, "/d/skipped/x", b"x");
        disk.create_dir_all(Path::new("/d/empty")).unwrap();
        disk.create_dir_all(Path::new("/d/log")).unwrap();
        let mut log = disk.create(Path::new("/d/log/1")).unwrap();
        log.write_all(b"before").unwrap();
        let image = image(&disk, Path::new("/d"), &part, LargeFiles::Mapped, None).unwrap();

        log.write_all(b" and after").unwrap();
        disk.remove_dir_all(Path::new("/d/a")).unwrap();
        assert_eq!(image.read(Path::new("/d/log/1")).unwrap(), b"before");
        assert_eq!(image.read(Path::new("/d/a/large")).unwrap(), large);
        assert_eq!(image.read(Path::new("/d/a/small")).unwrap(), b"s");
        assert!(image.exists(Path::new("/d/empty")).unwrap());
        assert!(!image.exists(Path::new("/d/skipped")).unwrap());

        write(&image, "/d/a/new", b"n");
        image.rename(Path::new("/d/a/small"), Path::new("/d/a/renamed")).unwrap();
        let names: Vec<String> =
            image.list_dir(Path::new("/d/a")).unwrap().into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["large", "new", "renamed"]);
        assert!(!disk.exists(Path::new("/d/a")).unwrap());
    }

    #[test]
    fn files_that_are_kept_open_are_as_long_as_they_were_and_survive_their_removal() {
        let dir = tempfile::tempdir().unwrap();
        let (dir, fs) = (dir.path(), crate::StdFileSystem);
        let large = vec![7; SMALL as usize + 1];
        for name in ["whole", "cut"] {
            fs.create(&dir.join(name)).unwrap().write_all(&large).unwrap();
        }
        let mut log = fs.create(&dir.join("log")).unwrap();
        log.write_all(b"before").unwrap();
        let part = |path: &Path| match path.ends_with("log") {
            true => ImagePart::Growing,
            false => ImagePart::Whole,
        };
        let image = image(&fs, dir, &part, LargeFiles::Open, None).unwrap();
        log.write_all(b" and after").unwrap();
        std::fs::OpenOptions::new().write(true).open(dir.join("cut")).unwrap().set_len(10).unwrap();
        fs.remove_file(&dir.join("whole")).unwrap();
        assert_eq!(image.read(&dir.join("log")).unwrap(), b"before");
        assert_eq!(image.file_length(&dir.join("log")).unwrap(), 6);
        let log = image.open(&dir.join("log")).unwrap();
        let kind = log.read_exact_at(&mut [0; 4], 3).unwrap_err().kind();
        assert_eq!(kind, io::ErrorKind::UnexpectedEof);
        assert_eq!(image.read(&dir.join("whole")).unwrap(), large);
        let whole = image.open(&dir.join("whole")).unwrap();
        assert_eq!(whole.map().unwrap()[..], large[..]);
        let cut = image.read(&dir.join("cut")).unwrap_err();
        assert_eq!(cut.kind(), io::ErrorKind::UnexpectedEof);
        image.rename(&dir.join("whole"), &dir.join("moved")).unwrap();
        assert_eq!(image.read(&dir.join("moved")).unwrap(), large);
    }

    /// A file that gets ten more bytes in the middle of every read.
    #[derive(Debug, Default)]
    struct WrittenWhileRead(AtomicU64);

    impl ReadableFile for WrittenWhileRead {
        fn length(&self) -> io::Result<u64> {
            Ok(100)
        }

        fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
            assert_eq!((buffer.len(), offset), (100, 0));
            let written = self.0.fetch_add(10, Ordering::Relaxed) as usize;
            let middle = written + 5;
            buffer[..written].fill(1);
            buffer[middle..written + 10].fill(1);
            Ok(())
        }

        fn map(&self) -> io::Result<FileBytes> {
            unreachable!("it changes")
        }
    }

    #[test]
    fn a_copy_leaves_out_what_follows_a_gap() {
        let file = WrittenWhileRead::default();
        for complete in [10, 30] {
            let Content::Bytes(copy) = copy_before_zeros(&file, 100).unwrap() else { panic!() };
            assert_eq!(copy[..], [vec![1; complete], vec![0; 100 - complete]].concat());
        }
    }

    /// A writer gets turns. In each it fills a log with records while images are taken.
    #[test]
    fn an_image_has_no_gap_in_a_log_that_is_written_ahead() {
        const TURNS: u64 = 20;
        const RECORDS: u64 = 3_000;
        let dir = tempfile::tempdir().unwrap();
        let (dir, fs) = (dir.path(), crate::StdFileSystem);
        let written = AtomicU64::new(0);
        let (turns, next_turn) = mpsc::channel::<u64>();
        std::thread::scope(|scope| {
            let written = &written;
            scope.spawn(move || {
                for turn in next_turn {
                    let mut log = fs.create_log(&dir.join(format!("{turn:04}")), true).unwrap();
                    for record in turn * RECORDS..(turn + 1) * RECORDS {
                        log.write_all(&[record as u8 | 1; 100]).unwrap();
                        written.store(record + 1, Ordering::Release);
                    }
                    log.trim().unwrap();
                }
            });
            // They end the writer when they are dropped, also by a panic.
            let turns = turns;
            let mut images = 0;
            for turn in 0..TURNS {
                turns.send(turn).unwrap();
                let mut found = 0;
                while found < (turn + 1) * RECORDS {
                    let before = written.load(Ordering::Acquire);
                    let way = [LargeFiles::Mapped, LargeFiles::Open][images % 2];
                    let image = image(&fs, dir, &|_| ImagePart::Growing, way, None).unwrap();
                    let names = image.list_dir(dir).unwrap();
                    found = 0;
                    for (index, entry) in names.iter().enumerate() {
                        let content = image.read(&dir.join(&entry.name)).unwrap();
                        let zeros = content.iter().rev().take_while(|byte| **byte == 0).count();
                        let records = &content[..content.len() - zeros];
                        assert!(records.iter().all(|byte| *byte != 0), "a gap");
                        assert!(index + 1 == names.len() || records.len() as u64 == RECORDS * 100);
                        found += records.len() as u64 / 100;
                    }
                    assert!(found >= before, "{found} of {before}");
                    images += 1;
                }
            }
        });
    }

    /// A writer that maintains an invariant at every moment: each generation has two files with its
    /// number, created before those of the previous one are removed, and the log gets each number
    /// first.
    #[test]
    fn an_image_is_of_one_moment() {
        let disk = MemFileSystem::new();
        disk.create_dir_all(Path::new("/d/log")).unwrap();
        write(&disk, "/d/current", b"0");
        write(&disk, "/d/a/0", b"0");
        write(&disk, "/d/z/0", b"0");
        let mut log = disk.create(Path::new("/d/log/1")).unwrap();
        let (end, has_ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let disk = &disk;
            scope.spawn(move || {
                for number in 1_u64.. {
                    if has_ended.try_recv() == Err(TryRecvError::Disconnected) {
                        break;
                    }
                    log.write_all(&number.to_be_bytes()).unwrap();
                    for dir in ["a", "z"] {
                        write(disk, &format!("/d/{dir}/{number}"), b"");
                    }
                    let current = Path::new("/d/current");
                    disk.write_atomically(current, number.to_string().as_bytes()).unwrap();
                    for dir in ["a", "z"] {
                        let old = PathBuf::from(format!("/d/{dir}/{}", number - 1));
                        disk.remove_file(&old).unwrap();
                    }
                    // Like a store, it pauses now and then.
                    std::thread::sleep(Duration::from_micros(300));
                }
            });
            // It ends the writer when it is dropped, also by a panic.
            let _end = end;
            for index in 0..50 {
                let way = [LargeFiles::Mapped, LargeFiles::Open][index % 2];
                let image = image(disk, Path::new("/d"), &part, way, None).unwrap();
                let current = image.read(Path::new("/d/current")).unwrap();
                let current: u64 = String::from_utf8(current).unwrap().parse().unwrap();
                for dir in ["a", "z"] {
                    let path = PathBuf::from(format!("/d/{dir}/{current}"));
                    assert!(image.exists(&path).unwrap(), "{}", path.display());
                }
                let logged = image.file_length(Path::new("/d/log/1")).unwrap() / 8;
                assert!((current..=current + 1).contains(&logged), "{current} {logged}");
            }
        });
    }
}
