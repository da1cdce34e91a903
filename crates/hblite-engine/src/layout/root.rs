//! The root of a store: its lock, and the files with the layout's version and the store's id.

use std::path::Path;

use hblite_env::{Env, FileLock, FileSystem};
use hblite_model::protobuf::{self, MessageWriter};
use hblite_model::{Error, Exception, Result};

use super::{Layout, StoreId};

/// The version of HBase's layout.
const VERSION: &str = "8";

/// What there is of a file that every open makes again if it must.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RootFile {
    Missing,
    /// What a power cut may have left of it.
    Unfinished,
    Whole,
}

impl Layout {
    /// The id in `hbase.id`; nothing if the file is missing or unfinished.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn read_store_id(&self, fs: &dyn FileSystem) -> Result<Option<StoreId>> {
        let path = self.cluster_id_file();
        match fs.read(&path) {
            Ok(content) => Ok(cluster_id(&content)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("cannot read", &path, error)),
        }
    }

    /// Refuses a directory that has nothing of a store, before anything is made there.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn require(&self, fs: &dyn FileSystem) -> Result<()> {
        let parts = [self.version_file(), self.cluster_id_file(), self.data_dir(), self.wal_dir()];
        for part in parts {
            if fs.exists(&part).map_err(|error| Error::io("cannot look for", &part, error))? {
                return Ok(());
            }
        }
        Err(Error::new(Exception::Io, format!("{}: no store is there", self.root.display())))
    }

    /// Makes the store's own directory, durably, if it is not there.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn create_root(&self, fs: &dyn FileSystem) -> Result<()> {
        let io = |error| Error::io("cannot create directory", &self.root, error);
        let mut parents = Vec::new();
        // Without a version, nobody may have got as far as to make the directory's name durable.
        if !fs.exists(&self.version_file()).map_err(io)? {
            parents.extend(self.root.parent());
        }
        for dir in self.root.ancestors().skip(1) {
            if dir.as_os_str().is_empty() || fs.exists(dir).map_err(io)? {
                break;
            }
            parents.extend(dir.parent());
        }
        if parents.is_empty() {
            return Ok(());
        }
        fs.create_dir_all(&self.root).map_err(io)?;
        for parent in parents.into_iter().rev() {
            let is_here = parent.as_os_str().is_empty();
            match fs.sync_dir(if is_here { Path::new(".") } else { parent }) {
                // Whoever may not even list a directory did not make a name in it.
                Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
                synced => synced.map_err(io)?,
            }
        }
        Ok(())
    }

    /// Takes the store's lock, which its directory is there for.
    ///
    /// # Errors
    /// `Io`; if somebody else holds the lock, the message says who.
    pub(crate) fn lock(&self, env: &Env) -> Result<Box<dyn FileLock>> {
        let holder = format!("process {}", std::process::id());
        self.or_holder(env.fs.lock(&self.lock_file(), &holder))
    }

    /// Takes the store's lock for reading, if its file is there. Nothing is written.
    ///
    /// # Errors
    /// As [`Layout::lock`].
    pub(crate) fn lock_existing(&self, env: &Env) -> Result<Option<Box<dyn FileLock>>> {
        self.or_holder(env.fs.lock_existing(&self.lock_file()))
    }

    fn or_holder<T>(&self, locked: std::io::Result<T>) -> Result<T> {
        locked.map_err(|error| {
            let path = self.lock_file();
            if error.kind() == std::io::ErrorKind::WouldBlock {
                let message = format!(
                    "{} is open in another process or handle ({error}): a store has one at a time; \
                     meanwhile it can be opened read-only (hblite shell --read-only)",
                    self.root.display()
                );
                return Error::new(Exception::Io, message).with_source(error);
            }
            Error::io("lock", &path, error)
        })
    }

    /// Makes what a new store has, as far as it is not there, finishes removals, and gives the
    /// store's id.
    ///
    /// Nothing is waited for: the names beside the log become durable with its first file, other
    /// directories when something relies on them, and what a power cut takes before that is made
    /// again.
    ///
    /// # Errors
    /// `Io`; `UnsupportedOperation` if the directory has another version of HBase's layout.
    pub(crate) fn prepare(&self, env: &Env) -> Result<StoreId> {
        let fs = env.fs.as_ref();
        self.prepare_version(fs)?;
        self.empty_trash(fs)?;
        let path = self.cluster_id_file();
        let io = |error| Error::io("cannot use", &path, error);
        if let Some(id) = self.read_store_id(fs)? {
            return Ok(id);
        }
        if fs.exists(&path).map_err(io)? {
            fs.remove_file(&path).map_err(io)?;
        }
        for dir in [self.data_dir(), self.wal_dir()] {
            fs.create_dir_all(&dir).map_err(|e| Error::io("cannot create directory", &dir, e))?;
        }
        let id = StoreId::random(env.random.as_ref());
        let content = MessageWriter::new().bytes(1, id.to_string()).finish_with_magic();
        fs.create(&path).and_then(|mut file| file.write_all(&content)).map_err(io)?;
        Ok(id)
    }

    fn prepare_version(&self, fs: &dyn FileSystem) -> Result<()> {
        let path = self.version_file();
        let io = |error| Error::io("cannot use", &path, error);
        match self.version_state(fs)? {
            RootFile::Whole => return Ok(()),
            RootFile::Unfinished => fs.remove_file(&path).map_err(io)?,
            RootFile::Missing => {}
        }
        let content = version_content();
        fs.create(&path).and_then(|mut file| file.write_all(&content)).map_err(io)
    }

    /// What there is of the file with the version of the layout.
    ///
    /// # Errors
    /// `Io`; `UnsupportedOperation` for another version, `CorruptHFile` for what is none.
    pub(crate) fn version_state(&self, fs: &dyn FileSystem) -> Result<RootFile> {
        let path = self.version_file();
        let io = |error| Error::io("cannot use", &path, error);
        if !fs.exists(&path).map_err(io)? {
            return Ok(RootFile::Missing);
        }
        let (content, expected) = (fs.read(&path).map_err(io)?, version_content());
        if content == expected {
            return Ok(RootFile::Whole);
        }
        // Nobody waited for it to be safe: a power cut may have left a part of it, or zeros.
        if expected.starts_with(&content) || content.iter().all(|byte| *byte == 0) {
            return Ok(RootFile::Unfinished);
        }
        Err(unknown_version(&path, &content))
    }

    /// What there is of the file with the store's id.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn cluster_id_state(&self, fs: &dyn FileSystem) -> Result<RootFile> {
        let path = self.cluster_id_file();
        let io = |error| Error::io("cannot use", &path, error);
        if !fs.exists(&path).map_err(io)? {
            return Ok(RootFile::Missing);
        }
        let id = self.read_store_id(fs)?;
        Ok(if id.is_some() { RootFile::Whole } else { RootFile::Unfinished })
    }
}

fn version_content() -> Vec<u8> {
    MessageWriter::new().bytes(1, VERSION).finish_with_magic()
}

/// The id that the content of a cluster's id file holds; nothing if it is not whole.
pub(super) fn cluster_id(content: &[u8]) -> Option<StoreId> {
    let mut id = None;
    let read = protobuf::read_message(protobuf::strip_magic(content), |field, value| {
        if field == 1 {
            id = value.as_text().parse().ok();
        }
        Ok(())
    });
    id.filter(|_| read.is_ok() && content.starts_with(protobuf::MAGIC))
}

fn unknown_version(path: &Path, content: &[u8]) -> Error {
    let mut version = String::new();
    let read = protobuf::read_message(protobuf::strip_magic(content), |field, value| {
        if field == 1 {
            version = value.as_text();
        }
        Ok(())
    });
    if read.is_err() || version.is_empty() {
        return Error::corrupt(Exception::CorruptHFile, path, 0, "no version of a store");
    }
    Error::new(
        Exception::UnsupportedOperation,
        format!("{} has version {version}, and only {VERSION} can be read", path.display()),
    )
}
