//! The files of the log while they are written: the active log file, its successors, the head.
//!
//! Failure: a write that failed is undone. The log file is cut back to the last record that was
//!          written whole, and synced, so that its content is known. A log file whose creation
//!          failed is removed: nothing relies on it or on the head that was to name it, so a failed
//!          sync of one of these two files does no harm. If the rename of the head failed, the log
//!          file stays, since the head may name it. In all these cases the log can continue: see
//!          [`super::Tail::take_back`]. After any other failed sync, including that of a cut, it is
//!          unknown what is on the disk, and nothing can be undone.
//! Threads: the leader of a group uses it, see [`super::syncer`].

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use hblite_env::{Env, WritableFile};

use super::head::{Head, HeadState};
use super::log_file::{HEADER_SIZE, LogFileHeader, LogPosition, log_file_path};
use super::writer::{Previous, Roll, Unwritten};
use crate::layout::RootFiles;

/// What failed.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    pub(super) what: String,
    /// Whether the files are unchanged.
    pub(super) is_undone: bool,
    /// Whether there was no space.
    pub(super) is_full: bool,
    /// Whether nothing failed, but the files are no longer the store's.
    is_displaced: bool,
}

pub(super) type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// The contents of the disk are unknown.
    pub(super) fn unknown(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self { is_undone: false, ..Self::undone(doing, path, error) }
    }

    /// The file at `path` is not the one that is open.
    pub(super) fn displaced(path: &Path) -> Self {
        let what = format!(
            "{} is not the file that this store opened: the directory was removed, moved or \
             replaced, and writes are refused. Restore the directory, then reopen the store",
            path.display()
        );
        Self { what, is_undone: false, is_full: false, is_displaced: true }
    }

    /// A thread panicked, which is a bug: what it was doing was not done, or not all of it.
    pub(super) fn panicked() -> Self {
        let what = "a thread panicked during a write".to_owned();
        Self { what, is_undone: false, is_full: false, is_displaced: false }
    }

    /// The error that the log returns from now on.
    pub(super) fn message(&self) -> String {
        match self.is_displaced {
            true => self.what.clone(),
            false => format!("the write-ahead log failed ({}); reopen the store", self.what),
        }
    }

    fn undone(doing: &str, path: &Path, error: &io::Error) -> Self {
        let what = format!("{doing} {}: {error}", path.display());
        Self { what, is_undone: true, is_full: is_full(error), is_displaced: false }
    }

    /// A sync of a directory with a new name on which nothing relies yet. If it fails for lack of
    /// space, nothing has changed.
    fn new_name(path: &Path, error: &io::Error) -> Self {
        Self { is_undone: is_full(error), ..Self::undone("create", path, error) }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    )
}

/// The log file that gets the records.
#[derive(Debug)]
#[repr(C)]
struct OpenLogFile {
    file: Box<dyn WritableFile>,
    end: LogPosition,
    path: PathBuf,
    salt: u32,
    /// Up to here it survives a power cut.
    synced_offset: u64,
}

impl OpenLogFile {
    /// Writes the bytes, or cuts the file back to what it was.
    fn write(&mut self, bytes: &[u8]) -> Outcome<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        if let Err(error) = self.file.write_all(bytes) {
            let failed = |doing, error| Failure::unknown(doing, &self.path, &error);
            self.file.truncate(self.end.offset).map_err(|error| failed("cut back", error))?;
            // Bytes that reappeared after a power cut would be in the place of later records.
            self.file.sync().map_err(|error| failed("sync", error))?;
            self.synced_offset = self.end.offset;
            return Err(Failure::undone("write", &self.path, &error));
        }
        self.end.offset += bytes.len() as u64;
        Ok(())
    }

    /// See [`WritableFile::write_in_place`].
    #[inline]
    fn write_in_place(&mut self, length: usize, write: &mut dyn FnMut(&mut [u8])) -> bool {
        let is_written = self.file.write_in_place(length, write);
        if is_written {
            self.end.offset += length as u64;
        }
        is_written
    }

    /// Removes the zeros after the end. If that fails, they are not read: the next log file or the
    /// head says where this one ends, or a replay finds only zeros.
    fn trim(&mut self) {
        let _ = self.file.trim();
    }

    fn sync(&mut self) -> Outcome<()> {
        self.file.sync().map_err(|error| Failure::unknown("sync", &self.path, &error))?;
        self.synced_offset = self.end.offset;
        Ok(())
    }
}

/// How much of the active log file may not survive a power cut.
#[derive(Debug)]
pub(super) struct Unsynced {
    pub(super) path: PathBuf,
    pub(super) end: LogPosition,
    pub(super) bytes: u64,
}

/// The files that receive the records.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Output {
    log_file: Option<OpenLogFile>,
    /// Files of an earlier process that may not be durable, with the offset from which; they must
    /// be durable before the next log file is. That process may have failed to sync them, so they
    /// are written again.
    pub(super) found: Vec<(PathBuf, u64)>,
    /// Whether the name of the log's directory is durable.
    pub(super) is_dir_durable: bool,
    /// See [`hblite_env::FileSystem::create_log`].
    pub(super) are_files_mapped: bool,
    /// What must be durable before there is a log file of this process.
    pub(super) root: Option<RootFiles>,
}

impl Output {
    /// Writes the bytes, each part into its log file. Returns how many were written; an undone
    /// failure leaves nothing of the others.
    pub(super) fn write(
        &mut self,
        env: &Env,
        dir: &Path,
        unwritten: &Unwritten,
    ) -> (usize, Outcome<()>) {
        let mut written = 0;
        let outcome = self.write_pieces(env, dir, unwritten, &mut written);
        (written, outcome)
    }

    /// See [`WritableFile::write_in_place`]: for the active log file.
    #[inline]
    pub(super) fn write_in_place(
        &mut self,
        length: usize,
        write: &mut dyn FnMut(&mut [u8]),
    ) -> bool {
        self.log_file.as_mut().is_some_and(|log_file| log_file.write_in_place(length, write))
    }

    fn write_pieces(
        &mut self,
        env: &Env,
        dir: &Path,
        unwritten: &Unwritten,
        written: &mut usize,
    ) -> Outcome<()> {
        for Roll { buffer_index, header } in &unwritten.rolls {
            let piece = &unwritten.bytes[*written..*buffer_index];
            if let Some(full) = &mut self.log_file {
                full.write(piece)?;
                *written = *buffer_index;
                full.trim();
                full.sync()?;
                assert_eq!(full.end, header.previous_end, "a log file follows the end of the log");
            }
            assert_eq!(*written, *buffer_index, "each record has a log file");
            self.sync_found(env)?;
            self.begin_use(env)?;
            self.log_file = Some(self.create(env, dir, header)?);
            self.is_dir_durable = true;
        }
        let rest = &unwritten.bytes[*written..];
        match &mut self.log_file {
            Some(log_file) => log_file.write(rest)?,
            None => assert!(rest.is_empty(), "each record has a log file"),
        }
        *written = unwritten.bytes.len();
        Ok(())
    }

    fn begin_use(&mut self, env: &Env) -> Outcome<()> {
        if let Some(root) = &self.root {
            let begun = root.begin_use(env.fs.as_ref());
            begun.map_err(|(path, error)| Failure::undone("write", &path, &error))?;
            // The log was opened, and its directory created, before that.
            self.is_dir_durable = true;
            self.root = None;
        }
        Ok(())
    }

    /// Creates a log file, makes its name and its header durable, and makes the log's head name it.
    fn create(&self, env: &Env, dir: &Path, header: &LogFileHeader) -> Outcome<OpenLogFile> {
        let (fs, path) = (env.fs.as_ref(), log_file_path(dir, header.number));
        let prepared = self.prepare(env, dir, &path, header);
        if prepared.as_ref().is_err_and(|failure| failure.is_undone) {
            // Leftovers have no records, and their number is not reused.
            let _ = fs.remove_file(&path);
        }
        let file = prepared?;
        Head::put_in_place(fs, dir).map_err(|error| Failure::undone("create", &path, &error))?;
        Head::make_durable(fs, dir).map_err(|error| Failure::unknown("create", &path, &error))?;
        let end = LogPosition { log_file: header.number, offset: HEADER_SIZE as u64 };
        let (salt, synced_offset) = (header.salt, end.offset);
        Ok(OpenLogFile { file, path, salt, end, synced_offset })
    }

    /// Creates a log file and, next to the log's head, a new head that names it, durably.
    fn prepare(
        &self,
        env: &Env,
        dir: &Path,
        path: &Path,
        header: &LogFileHeader,
    ) -> Outcome<Box<dyn WritableFile>> {
        let fs = env.fs.as_ref();
        let LogFileHeader { store, number: newest, salt, .. } = *header;
        let head = Head { store, newest, salt, state: HeadState::Running };
        let undone = |error| Failure::undone("create", path, &error);
        let unnamed = |error| Failure::new_name(path, &error);

        let mut file = fs.create_log(path, self.are_files_mapped).map_err(undone)?;
        file.write_all(&header.encode()).map_err(undone)?;
        // Written before the first sync, so that a file system can commit everything at once.
        let mut head = head.prepare(fs, dir).map_err(undone)?;
        file.sync().and_then(|()| head.sync()).map_err(undone)?;
        fs.sync_dir(dir).map_err(unnamed)?;
        if let Some(parent) = dir.parent().filter(|_| !self.is_dir_durable) {
            fs.sync_dir(parent).map_err(unnamed)?;
        }
        Ok(file)
    }

    /// Where the log ends in the files, if there is an active log file.
    pub(super) fn end(&self) -> Option<Previous> {
        self.log_file.as_ref().map(|log_file| Previous { end: log_file.end, salt: log_file.salt })
    }

    /// Makes everything written durable. Returns where that ends, if there is an active log file.
    pub(super) fn sync(&mut self, env: &Env) -> Outcome<Option<LogPosition>> {
        self.sync_found(env)?;
        let Some(log_file) = &mut self.log_file else { return Ok(None) };
        log_file.sync()?;
        Ok(Some(log_file.end))
    }

    /// Removes the zeros after the end of the active log file.
    pub(super) fn trim(&mut self) {
        if let Some(log_file) = &mut self.log_file {
            log_file.trim();
        }
    }

    /// Makes the files of an earlier process durable.
    pub(super) fn sync_found(&mut self, env: &Env) -> Outcome<()> {
        while let Some((path, from)) = self.found.pop() {
            let written = env.fs.rewrite(&path, from);
            written.map_err(|error| Failure::unknown("sync", &path, &error))?;
        }
        Ok(())
    }

    /// The path of the active log file if another file is there. A check that fails proves nothing.
    pub(super) fn displaced_log_file(&self) -> Option<PathBuf> {
        let log_file = self.log_file.as_ref()?;
        let is_in_place = log_file.file.is_in_place().unwrap_or(true);
        (!is_in_place).then(|| log_file.path.clone())
    }

    /// The unsynced part of the active log file.
    pub(super) fn unsynced(&self) -> Option<Unsynced> {
        let log_file = self.log_file.as_ref()?;
        let bytes = log_file.end.offset - log_file.synced_offset;
        Some(Unsynced { path: log_file.path.clone(), end: log_file.end, bytes })
    }

    /// Records that the log is synced up to `end`.
    pub(super) fn note_synced(&mut self, end: LogPosition) {
        if let Some(log_file) = &mut self.log_file
            && log_file.end.log_file == end.log_file
        {
            log_file.synced_offset = log_file.synced_offset.max(end.offset);
        }
    }
}
