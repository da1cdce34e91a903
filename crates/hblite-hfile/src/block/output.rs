//! Writes a file in large pieces; a long file is written by a thread of its own.
//!
//! Order: pieces go through one channel to one thread, so they are in the file as they came.
//! Durability: only [`Output::finish`] makes the file durable. Earlier syncs let the disk begin
//! early, so that the last one is short. If one of them fails, the file fails.
//! Memory: at most [`PIECES_MAX`] pieces of a file.
//! Threads: one owner. The thread starts with the second piece and ends before the output is gone.

use std::io;
use std::path::{Path, PathBuf};

use hblite_env::WritableFile;
use hblite_env::sync::mpsc::{Receiver, Sender, channel};
use hblite_env::thread::{Builder, JoinHandle};
use hblite_model::{Error, Result};

/// A file is written in pieces of at least this size.
pub(super) const PIECE_SIZE: usize = 1 << 20;
/// How many pieces there are at a time: enough for the owner to continue while the thread syncs.
const PIECES_MAX: usize = 8;
/// How many bytes the thread writes between two syncs.
const SYNC_SIZE: usize = 8 << 20;

/// A file that is being written. Useless after an error.
#[derive(Debug)]
pub(super) struct Output {
    /// `None` while the thread has it, and after an error.
    file: Option<Box<dyn WritableFile>>,
    path: PathBuf,
    pieces: usize,
    writing: Option<Writing>,
}

/// The thread, and the channels to and from it.
#[derive(Debug)]
struct Writing {
    full: Sender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<Result<Box<dyn WritableFile>>>,
}

impl Output {
    pub(super) fn new(file: Box<dyn WritableFile>, path: &Path) -> Self {
        Self { file: Some(file), path: path.to_path_buf(), pieces: 0, writing: None }
    }

    /// Writes what is in `piece`, and leaves an empty buffer.
    pub(super) fn write(&mut self, piece: &mut Vec<u8>) -> Result<()> {
        self.pieces += 1;
        if self.pieces == 2 {
            self.start()?;
        }
        let Some(writing) = &self.writing else {
            let file = self.file.as_mut().ok_or_else(|| failed(&self.path))?;
            write(file, &self.path, piece)?;
            piece.clear();
            return Ok(());
        };
        // Two are with the owner: the one that is full and the one that is filled next.
        let next = if self.pieces < PIECES_MAX {
            Vec::with_capacity(piece.capacity())
        } else {
            writing.empty.recv().unwrap_or_default()
        };
        let full = std::mem::replace(piece, next);
        if writing.full.send(full).is_ok() {
            return Ok(());
        }
        // The thread ended early.
        self.end()?;
        Err(failed(&self.path))
    }

    /// Writes the last piece and makes the file durable.
    pub(super) fn finish(mut self, piece: &[u8]) -> Result<()> {
        self.end()?;
        let file = self.file.as_mut().ok_or_else(|| failed(&self.path))?;
        write(file, &self.path, piece)?;
        sync(file, &self.path)
    }

    /// Hands the file over to a thread, if one can be started.
    fn start(&mut self) -> Result<()> {
        let (full, pieces) = channel();
        let (done, empty) = channel();
        let (give, take) = channel();
        let path = self.path.clone();
        let work = move || {
            let file = take.recv().map_err(|_| failed(&path))?;
            write_all(file, &path, &pieces, &done)
        };
        if let Ok(thread) = Builder::new().name("hblite-hfile".to_owned()).spawn(work) {
            self.writing = Some(Writing { full, empty, thread });
            let file = self.file.take().ok_or_else(|| failed(&self.path))?;
            give.send(file).map_err(|_| failed(&self.path))?;
        }
        Ok(())
    }

    /// Waits until all pieces are written, and takes the file back.
    fn end(&mut self) -> Result<()> {
        if let Some(Writing { full, empty: _, thread }) = self.writing.take() {
            drop(full);
            let written = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.file = Some(written?);
        }
        Ok(())
    }
}

impl Drop for Output {
    /// An owner that gives up removes the file next.
    fn drop(&mut self) {
        if let Some(Writing { full, empty: _, thread }) = self.writing.take() {
            drop(full);
            // Whether it was written is of no interest.
            let _ = thread.join();
        }
    }
}

fn write_all(
    mut file: Box<dyn WritableFile>,
    path: &Path,
    pieces: &Receiver<Vec<u8>>,
    done: &Sender<Vec<u8>>,
) -> Result<Box<dyn WritableFile>> {
    let mut unsynced = 0;
    while let Ok(mut piece) = pieces.recv() {
        write(&mut file, path, &piece)?;
        unsynced += piece.len();
        piece.clear();
        // The owner may not need another one.
        let _ = done.send(piece);
        if unsynced >= SYNC_SIZE {
            sync(&mut file, path)?;
            unsynced = 0;
        }
    }
    Ok(file)
}

fn write(file: &mut Box<dyn WritableFile>, path: &Path, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes).map_err(|error| Error::io("writing", path, error))
}

fn sync(file: &mut Box<dyn WritableFile>, path: &Path) -> Result<()> {
    file.sync().map_err(|error| Error::io("syncing", path, error))
}

fn failed(path: &Path) -> Error {
    Error::io("writing", path, io::Error::other("it failed before"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hblite_env::{
        CrashFileSystem, Fault, FaultFileSystem, FileSystem, MemFileSystem, Operation,
    };

    use super::*;

    fn path() -> &'static Path {
        Path::new("/file")
    }

    fn piece(number: usize) -> Vec<u8> {
        (0..PIECE_SIZE + number).map(|at| (at * 7 + number) as u8).collect()
    }

    fn write_pieces(fs: &dyn FileSystem, count: usize) -> Result<Vec<u8>> {
        let mut output = Output::new(fs.create(path()).unwrap(), path());
        let mut expected = Vec::new();
        for number in 0..count {
            let mut piece = piece(number);
            expected.extend_from_slice(&piece);
            output.write(&mut piece)?;
            assert!(piece.is_empty());
        }
        expected.extend_from_slice(b"end");
        output.finish(b"end")?;
        Ok(expected)
    }

    #[test]
    fn pieces_are_in_their_order_and_survive_a_power_cut() {
        for count in [0, 1, 2, 3, PIECES_MAX, 3 * PIECES_MAX] {
            let fs = CrashFileSystem::new();
            let expected = write_pieces(&fs, count).unwrap();
            fs.sync_dir(Path::new("/")).unwrap();
            for seed in 0..3 {
                assert!(fs.after_power_cut(seed).read(path()).unwrap() == expected, "{count}");
            }
        }
    }

    #[test]
    fn any_failed_write_or_sync_fails_the_file() {
        let fs_with = |fault| {
            let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
            fs.inject(fault);
            fs
        };
        const PIECES: usize = 2 * PIECES_MAX + 2;
        for nth in 1..=PIECES as u64 + 1 {
            let error = write_pieces(&fs_with(Fault::on(Operation::Write).nth(nth)), PIECES);
            assert!(error.unwrap_err().message().starts_with("writing"), "{nth}");
        }
        let syncs = (PIECES * PIECE_SIZE / SYNC_SIZE) as u64 + 1;
        for nth in 1..=syncs {
            let error = write_pieces(&fs_with(Fault::on(Operation::Sync).nth(nth)), PIECES);
            assert!(error.unwrap_err().message().starts_with("syncing"), "{nth}");
        }
        let unharmed = fs_with(Fault::on(Operation::Sync).nth(syncs + 1));
        write_pieces(&unharmed, PIECES).unwrap();
    }

    #[test]
    fn nothing_is_written_after_the_output_is_gone() {
        let fs = MemFileSystem::new();
        let mut output = Output::new(fs.create(path()).unwrap(), path());
        for number in 0..PIECES_MAX {
            output.write(&mut piece(number)).unwrap();
        }
        drop(output);
        let expected: usize = (0..PIECES_MAX).map(|number| piece(number).len()).sum();
        assert_eq!(fs.file_length(path()).unwrap(), expected as u64);
    }
}
