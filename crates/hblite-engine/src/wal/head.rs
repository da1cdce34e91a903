//! The head of a log: a small file that names the newest log file.
//!
//! ```text
//! WALs.head, next to the directory of the log
//! ┌────────────┬─────────┬────────────┬──────────┬────────────┬─────────┬────────────┬───┬───────┐
//! │ "hbliteWH" │ u32     │ u32 state: │ 16 bytes │ u64 number │ u32     │ u64 end,   │ 0 │ u32   │
//! │            │ version │ 1 running  │ id of    │ of the     │ salt of │ if closed: │   │ crc32 │
//! │            │ 1       │ 2 closed   │ the      │ newest     │ the     │ its length │   │       │
//! │            │         │ 3 empty    │ store    │ file       │ newest  │            │   │       │
//! │ 8          │ 4       │ 4          │ 16       │ 8          │ 4       │ 8          │ 8 │ 4     │
//! └────────────┴─────────┴────────────┴──────────┴────────────┴─────────┴────────────┴───┴───────┘
//! ```
//!
//! Each log file names its predecessor, so all but the newest one are verified. The head verifies
//! the newest: without it, a missing or replaced end of the log could not be detected. A log begins
//! with a head that names log file 0, of which there is none; it only shows that the log was not
//! lost.
//!
//! Invariants:
//! 1. The head names a log file, durably, before its first record is written. So a log file newer
//!    than the one in the head has no records.
//! 2. The head says that the log is closed only when all of it is durable, and that it is empty
//!    only when no log file is needed, before the first is removed.
//! 3. It is replaced by a rename, so it is complete or missing; no number is ever reused.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use hblite_env::{FileSystem, WritableFile};
use hblite_model::{Error, Exception, Result};

use super::log_file::NUMBER_MAX;
use crate::layout::StoreId;

/// Bytes of a head.
const HEAD_SIZE: usize = 64;
const MAGIC: [u8; 8] = *b"hbliteWH";
const VERSION: u32 = 1;
const CHECKSUM_OFFSET: usize = HEAD_SIZE - 4;

const _: () = assert!(8 + 4 + 4 + StoreId::SIZE + 8 + 4 + 8 + 8 == CHECKSUM_OFFSET);

/// How the log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadState {
    /// In the newest log file, at an offset that only the log file shows.
    Running,
    /// At this offset of the newest log file. All of it is durable.
    Closed { end: u64 },
    /// No log file is needed any longer.
    Empty,
}

/// What the head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) store: StoreId,
    /// Number and salt of the newest log file.
    pub(super) newest: u64,
    pub(super) salt: u32,
    pub(super) state: HeadState,
}

impl Head {
    /// The head of a log without a file.
    pub(super) fn first(store: StoreId) -> Self {
        Self { store, newest: 0, salt: 0, state: HeadState::Empty }
    }

    pub(super) fn encode(&self) -> [u8; HEAD_SIZE] {
        let (state, end) = match self.state {
            HeadState::Running => (1_u32, 0),
            HeadState::Closed { end } => (2, end),
            HeadState::Empty => (3, 0),
        };
        let mut bytes = [0; HEAD_SIZE];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC);
        put(&VERSION.to_be_bytes());
        put(&state.to_be_bytes());
        put(self.store.as_bytes());
        put(&self.newest.to_be_bytes());
        put(&self.salt.to_be_bytes());
        put(&end.to_be_bytes());
        let checksum = crc32fast::hash(&bytes[..CHECKSUM_OFFSET]);
        bytes[CHECKSUM_OFFSET..].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    fn decode(file: &[u8]) -> std::result::Result<Self, String> {
        let bytes: &[u8; HEAD_SIZE] = file
            .try_into()
            .map_err(|_| format!("the file has {} bytes, expected {HEAD_SIZE}", file.len()))?;
        if bytes[..MAGIC.len()] != MAGIC {
            return Err("not the head of a write-ahead log: wrong magic".to_owned());
        }
        let stored = u32::from_be_bytes(field(bytes, CHECKSUM_OFFSET));
        let computed = crc32fast::hash(&bytes[..CHECKSUM_OFFSET]);
        if stored != computed {
            return Err(format!("checksum is {computed:#010x}, expected {stored:#010x}"));
        }
        let version = u32::from_be_bytes(field(bytes, 8));
        if version != VERSION {
            return Err(format!("version {version} of the log's head, expected {VERSION}"));
        }
        let end = u64::from_be_bytes(field(bytes, 44));
        let state = match u32::from_be_bytes(field(bytes, 12)) {
            1 => HeadState::Running,
            2 => HeadState::Closed { end },
            3 => HeadState::Empty,
            state => return Err(format!("unknown state {state}")),
        };
        let newest = u64::from_be_bytes(field(bytes, 32));
        if newest > NUMBER_MAX {
            return Err(format!("the number of the newest log file is too large: {newest}"));
        }
        Ok(Self {
            store: StoreId::from_bytes(field(bytes, 16)),
            newest,
            salt: u32::from_be_bytes(field(bytes, 40)),
            state,
        })
    }

    /// Reads the head of the log in `dir`; `None` if it has none, or names no log file.
    ///
    /// # Errors
    /// `CorruptWal` if the file is damaged; `Io`.
    pub(super) fn read(fs: &dyn FileSystem, dir: &Path) -> Result<Option<Self>> {
        let path = head_path(dir);
        let read = || fs.open(&path).and_then(|file| Ok((file.length()?, file)));
        let (length, file) = match read() {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        // One byte more shows that the file is too long, whatever its length.
        let mut content = vec![0; length.min(HEAD_SIZE as u64 + 1) as usize];
        let read = file.read_exact_at(&mut content, 0);
        read.map_err(|error| Error::io("read", &path, error))?;
        match Self::decode(&content) {
            Ok(head) => Ok(Some(head).filter(|head| head.newest > 0)),
            Err(what) => Err(Error::corrupt(Exception::CorruptWal, &path, 0, what)),
        }
    }

    /// Writes the new head of the log in `dir` next to the old one; when it is synced,
    /// [`Head::put_in_place`] replaces the old one with it. A failure changes nothing.
    pub(super) fn prepare(
        &self,
        fs: &dyn FileSystem,
        dir: &Path,
    ) -> io::Result<Box<dyn WritableFile>> {
        let temporary = temporary_path(dir);
        if fs.exists(&temporary)? {
            fs.remove_file(&temporary)?;
        }
        let mut file = fs.create(&temporary)?;
        file.write_all(&self.encode())?;
        Ok(file)
    }

    /// Moves the prepared head into place. After a failure, either the old one or the new one is in
    /// place.
    pub(super) fn put_in_place(fs: &dyn FileSystem, dir: &Path) -> io::Result<()> {
        fs.rename(&temporary_path(dir), &head_path(dir))
    }

    /// Makes durable which head is in place.
    pub(super) fn make_durable(fs: &dyn FileSystem, dir: &Path) -> io::Result<()> {
        dir.parent().map_or(Ok(()), |parent| fs.sync_dir(parent))
    }

    /// Replaces the head of the log in `dir` durably.
    pub(super) fn write(&self, fs: &dyn FileSystem, dir: &Path) -> Result<()> {
        let prepared = self.prepare(fs, dir).and_then(|mut file| file.sync());
        let written = prepared
            .and_then(|()| Self::put_in_place(fs, dir))
            .and_then(|()| Self::make_durable(fs, dir));
        written.map_err(|error| Error::io("write", &head_path(dir), error))
    }
}

/// The path of the head of the log in `dir`.
pub(super) fn head_path(dir: &Path) -> PathBuf {
    with_ending(dir, ".head")
}

fn temporary_path(dir: &Path) -> PathBuf {
    with_ending(dir, ".head.tmp")
}

fn with_ending(dir: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = dir.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    dir.with_file_name(name)
}

fn field<const N: usize>(bytes: &[u8; HEAD_SIZE], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_comes_back_and_any_flipped_byte_is_noticed() {
        let store = StoreId::from_bytes(*b"0123456789abcdef");
        for state in [HeadState::Running, HeadState::Closed { end: 1 << 40 }, HeadState::Empty] {
            let head = Head { store, newest: 12, salt: 0xdead_beef, state };
            let bytes = head.encode();
            assert_eq!(Head::decode(&bytes), Ok(head));
            for at in 0..HEAD_SIZE {
                let mut damaged = bytes;
                damaged[at] ^= 0x10;
                assert!(Head::decode(&damaged).is_err(), "byte {at}");
                assert!(Head::decode(&bytes[..at]).is_err(), "{at} bytes");
            }
        }
    }

    #[test]
    fn a_number_that_no_log_gets_to_is_refused() {
        let (store, state) = (StoreId::from_bytes(*b"0123456789abcdef"), HeadState::Running);
        let head = |newest| Head { store, newest, salt: 7, state };
        assert_eq!(Head::decode(&head(NUMBER_MAX).encode()), Ok(head(NUMBER_MAX)));
        let error = Head::decode(&head(u64::MAX).encode()).unwrap_err();
        assert!(error.contains("too large"), "{error}");
    }

    #[test]
    fn a_head_is_next_to_the_directory_of_its_log() {
        assert_eq!(head_path(Path::new("/d/WALs")), Path::new("/d/WALs.head"));
        assert_eq!(temporary_path(Path::new("/d/WALs")), Path::new("/d/WALs.head.tmp"));
    }
}
