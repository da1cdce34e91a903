//! Finds the log files among the files of a directory. See [`super::replay`].
//!
//! The log's head names the newest log file, each log file its predecessor, back to the oldest that
//! is needed. Number and salt must match the file, and the store must be the one that is opened.
//!
//! A file outside this chain is a leftover if it can be one: a log file that was no longer needed
//! when its removal was interrupted, or one whose first record was never written. Anything else is
//! damage. A salvage sets such files aside (see [`Chain::strays`]).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{io, iter};

use hblite_env::Env;
use hblite_model::{Error, Exception, Result};

use super::entry::{self, Mark, Payload};
use super::head::{Head, HeadState, head_path};
use super::log_file::{
    HEADER_SIZE, LogFileHeader, LogPosition, is_unfinished, log_file_number, log_file_path,
};
use super::reader::{LogFileReader, Step};
use super::report::{ReplayOptions, Salvaged};
use crate::layout::StoreId;

/// A log file.
#[derive(Debug, Clone)]
pub(super) struct LogFile {
    pub(super) path: PathBuf,
    pub(super) length: u64,
    pub(super) header: LogFileHeader,
    /// Where it ends according to the next log file or to the head.
    pub(super) told_end: Option<u64>,
}

impl LogFile {
    /// The content of the file. It is not mapped, so whatever happens to the file cannot kill the
    /// process.
    pub(super) fn read(&self, env: &Env) -> Result<Vec<u8>> {
        env.fs.read_large(&self.path).map_err(|error| Error::io("read", &self.path, error))
    }

    /// The oldest log file that is needed, according to the last mark in this one.
    fn oldest_live(&self, env: &Env) -> Result<u64> {
        let content = self.read(env)?;
        let mut reader = LogFileReader::new(&content, &self.header, self.told_end);
        let mut oldest = self.header.oldest_live;
        while let Some(step) = reader.next() {
            if let Step::Record { position, payload } = step
                && let Ok(Payload::Mark(Mark { oldest_live, .. })) =
                    entry::decode(position, payload)
            {
                oldest = oldest.max(oldest_live);
            }
        }
        Ok(oldest)
    }
}

/// The log's files, oldest first.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pub(super) log_files: Vec<LogFile>,
    /// Numbers of files that are no longer part of the log.
    pub(super) left_over: Vec<u64>,
    /// Numbers of files that are damaged, or have records that do not belong to the log; a salvage
    /// sets them aside.
    pub(super) strays: Vec<u64>,
    pub(super) highest_number: u64,
    /// What the head says; `None` if there is none.
    pub(super) head: Option<Head>,
}

impl Chain {
    /// Finds the log in `dir`; with `head`, the log as it was when that head was current.
    pub(super) fn find(
        env: &Env,
        dir: &Path,
        options: ReplayOptions,
        head: Option<Head>,
        salvaged: &mut Vec<Salvaged>,
    ) -> Result<Self> {
        let is_present = head.is_none();
        let mut finder = Finder { env, dir, options, salvaged, files: BTreeMap::new(), head };
        if is_present {
            finder.head = finder.read_head()?;
        }
        finder.files = list_log_files(env, dir)?;
        finder.check_head()?;
        let (log_files, oldest_needed) = finder.walk_back()?;
        let highest_file = finder.files.keys().next_back().copied().unwrap_or(0);
        let highest_number = finder.head.map_or(0, |head| head.newest).max(highest_file);
        let head = finder.head;
        let mut chain =
            Self { log_files, left_over: Vec::new(), strays: Vec::new(), highest_number, head };
        if is_present {
            finder.sort_out_rest(&mut chain, oldest_needed)?;
        }
        let numbers = chain.log_files.windows(2).map(|pair| (&pair[0].header, &pair[1].header));
        assert!(
            numbers.into_iter().all(|(older, newer)| older.number < newer.number),
            "files of a log ascend"
        );
        Ok(chain)
    }
}

/// Number and length of each log file in `dir`.
fn list_log_files(env: &Env, dir: &Path) -> Result<BTreeMap<u64, u64>> {
    let entries = match env.fs.list_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::io("list", dir, error)),
    };
    let numbers = entries.iter().filter(|entry| !entry.is_dir);
    numbers
        .filter_map(|entry| log_file_number(&entry.name))
        .map(|number| {
            let path = log_file_path(dir, number);
            let length =
                env.fs.file_length(&path).map_err(|error| Error::io("read", &path, error))?;
            Ok((number, length))
        })
        .collect()
}

/// What is known about a log file before it is read.
#[derive(Debug, Clone, Copy)]
struct Link {
    number: u64,
    /// The salt that it must have, and where it ends, if known.
    salt: Option<u32>,
    end: Option<u64>,
}

/// What a file turned out to be.
enum Found {
    LogFile(Box<LogFile>),
    /// The file ends within its header, as after an interrupted creation.
    Unfinished,
    Missing,
    /// Something else; the text says what is wrong.
    Damaged(String),
}

struct Finder<'a> {
    env: &'a Env,
    dir: &'a Path,
    options: ReplayOptions,
    salvaged: &'a mut Vec<Salvaged>,
    /// Lengths of the files by number.
    files: BTreeMap<u64, u64>,
    head: Option<Head>,
}

impl Finder<'_> {
    fn read_head(&mut self) -> Result<Option<Head>> {
        match Head::read(self.env.fs.as_ref(), self.dir) {
            Err(error) if self.options.salvage && error.file().is_some() => {
                self.damaged(head_path(self.dir), 0, error.message().to_owned())?;
                Ok(None)
            }
            other => other,
        }
    }

    /// Refuses a head of another store, and records without a head.
    fn check_head(&mut self) -> Result<()> {
        let expected = self.options.store;
        if let Some(head) = self.head {
            if is_foreign(expected, head.store) {
                let what = format!("the log is that of store {}, not of {expected}", head.store);
                self.damaged(head_path(self.dir), 0, what)?;
                self.head = None;
            } else if self.options.salvage
                && (self.is_outdated(head)? || self.is_of_another_time(head)?)
            {
                let what = "the head does not fit the log files".to_owned();
                self.damaged(head_path(self.dir), 0, what)?;
                self.head = None;
            }
            return Ok(());
        }
        let files: Vec<(u64, u64)> = self.files.iter().map(|(n, length)| (*n, *length)).collect();
        for (number, length) in files {
            if length > HEADER_SIZE as u64 && self.header(number)?.is_ok() {
                let path = head_path(self.dir);
                if self.salvaged.iter().all(|salvaged| salvaged.file != path) {
                    let what = "the head of the log is missing: put it back".to_owned();
                    self.damaged(path, 0, what)?;
                }
                break;
            }
        }
        Ok(())
    }

    /// Whether log files with records follow the end of the log that the head names.
    fn is_outdated(&self, head: Head) -> Result<bool> {
        let mut end = Some(head.salt).filter(|_| head.state != HeadState::Empty);
        let newer: Vec<(u64, u64)> =
            self.files.range(head.newest + 1..).map(|(n, length)| (*n, *length)).collect();
        for (number, length) in newer {
            let Ok(header) = self.header(number)? else { continue };
            let follows = match end {
                Some(salt) => previous(&header).is_some_and(|link| link.salt == Some(salt)),
                None => previous(&header).is_none(),
            };
            if follows && length > HEADER_SIZE as u64 {
                return Ok(true);
            }
            if follows {
                end = Some(header.salt);
            }
        }
        Ok(false)
    }

    /// Whether the log file that the head names was replaced by another that fits its predecessor.
    fn is_of_another_time(&self, head: Head) -> Result<bool> {
        let Some(newest) = self.known_header(head.newest)? else { return Ok(false) };
        let Some(Link { number, salt, .. }) = previous(&newest) else { return Ok(false) };
        let before = self.known_header(number)?;
        Ok(newest.salt != head.salt && before.is_some_and(|before| Some(before.salt) == salt))
    }

    /// The header of an existing file, if it is a log file of this store.
    fn known_header(&self, number: u64) -> Result<Option<LogFileHeader>> {
        let is_there = self.files.contains_key(&number);
        if is_there { Ok(self.header(number)?.ok()) } else { Ok(None) }
    }

    /// Collects the log files, from the newest back to the oldest that is needed. Returns them, the
    /// oldest first, and the number of the oldest that is needed.
    fn walk_back(&mut self) -> Result<(Vec<LogFile>, u64)> {
        let mut log_files: Vec<LogFile> = Vec::new();
        let mut oldest_needed = 1;
        let mut next = match self.head {
            Some(Head { state: HeadState::Empty, newest, .. }) => {
                oldest_needed = newest + 1;
                None
            }
            Some(Head { state: HeadState::Closed { end }, newest, salt, .. }) => {
                Some(Link { number: newest, salt: Some(salt), end: Some(end) })
            }
            Some(Head { newest, salt, .. }) => {
                Some(Link { number: newest, salt: Some(salt), end: None })
            }
            None => self.newest_with_records()?,
        };
        while let Some(link) = next.take().filter(|link| link.number >= oldest_needed) {
            let what = match self.open(link)? {
                Found::LogFile(log_file) => {
                    oldest_needed = oldest_needed.max(log_file.header.oldest_live);
                    next = previous(&log_file.header);
                    log_files.push(*log_file);
                    continue;
                }
                // Without a head, a kill during the creation of a log file leaves this.
                Found::Unfinished if log_files.is_empty() && self.head.is_none() => {
                    next = self.before(link.number);
                    continue;
                }
                Found::Unfinished | Found::Missing => {
                    "the log file is missing or was cut off".to_owned()
                }
                Found::Damaged(what) => what,
            };
            oldest_needed = oldest_needed.max(self.oldest_marked(&log_files)?);
            if link.number >= oldest_needed {
                let rebuilt = self.give_up(link, what)?;
                next = self.before(link.number);
                log_files.extend(rebuilt);
            }
        }
        log_files.retain(|log_file| log_file.header.number >= oldest_needed);
        log_files.reverse();
        Ok((log_files, oldest_needed))
    }

    /// Where to begin without a head: after a salvage.
    fn newest_with_records(&self) -> Result<Option<Link>> {
        for (number, length) in self.files.iter().rev() {
            let has_no_record = *length <= HEADER_SIZE as u64;
            if has_no_record && self.header(*number)?.is_ok() {
                continue;
            }
            return Ok(Some(Link { number: *number, salt: None, end: None }));
        }
        Ok(None)
    }

    fn before(&self, number: u64) -> Option<Link> {
        let (number, _) = self.files.range(..number).next_back()?;
        Some(Link { number: *number, salt: None, end: None })
    }

    /// The oldest log file that is needed, according to marks in `log_files`.
    fn oldest_marked(&self, log_files: &[LogFile]) -> Result<u64> {
        log_files
            .iter()
            .try_fold(1, |oldest, log_file| Ok(oldest.max(log_file.oldest_live(self.env)?)))
    }

    /// The first bytes of a file.
    fn start(&self, number: u64) -> Result<Vec<u8>> {
        let path = log_file_path(self.dir, number);
        let length = self.files.get(&number).copied().unwrap_or(0).min(HEADER_SIZE as u64 + 1);
        let mut bytes = vec![0; length as usize];
        let mut read = || self.env.fs.open(&path)?.read_exact_at(&mut bytes, 0);
        read().map_err(|error| Error::io("read", &path, error))?;
        Ok(bytes)
    }

    /// The header of a file; the inner error says why it is not one of this store's.
    fn header(&self, number: u64) -> Result<std::result::Result<LogFileHeader, String>> {
        let header = LogFileHeader::decode(&self.start(number)?);
        Ok(header.and_then(|header| {
            let expected = self.options.store;
            if header.number != number {
                return Err(format!("this is log file {}", header.number));
            }
            if header.previous_end.log_file >= number || header.oldest_live > number {
                return Err("the header is invalid".to_owned());
            }
            if is_foreign(expected, header.store) {
                let store = header.store;
                return Err(format!("the log file belongs to store {store}, not to {expected}"));
            }
            Ok(header)
        }))
    }

    fn open(&self, link: Link) -> Result<Found> {
        let Some(length) = self.files.get(&link.number).copied() else {
            return Ok(Found::Missing);
        };
        let path = log_file_path(self.dir, link.number);
        Ok(match self.header(link.number)? {
            Ok(header) if link.salt.is_some_and(|salt| salt != header.salt) => {
                Found::Damaged("this is another log file with the same number".to_owned())
            }
            Ok(header) => {
                let log_file = LogFile { path, length, header, told_end: link.end };
                Found::LogFile(Box::new(log_file))
            }
            Err(_) if is_unfinished(&self.start(link.number)?) => Found::Unfinished,
            Err(what) => Found::Damaged(what),
        })
    }

    /// Reports that a needed log file is missing or damaged. A salvage still reads its records if
    /// they can be identified, that is, if the salt is known.
    fn give_up(&mut self, link: Link, what: String) -> Result<Option<LogFile>> {
        let path = log_file_path(self.dir, link.number);
        let length = self.files.get(&link.number).copied().unwrap_or(0);
        let rebuilt = match link.salt.filter(|_| self.options.salvage && length > 0) {
            Some(salt) => self.rebuild(link, salt, length)?,
            None => None,
        };
        let lost = if rebuilt.is_some() { HEADER_SIZE as u64 } else { length };
        self.damaged(path, lost, what)?;
        Ok(rebuilt)
    }

    /// A log file with records of this salt, whatever its header says.
    fn rebuild(&self, link: Link, salt: u32, length: u64) -> Result<Option<LogFile>> {
        let header = LogFileHeader {
            number: link.number,
            salt,
            store: self.options.store,
            previous_end: LogPosition::default(),
            previous_salt: 0,
            oldest_live: 0,
            created: 0,
        };
        let path = log_file_path(self.dir, link.number);
        let log_file = LogFile { path, length, header, told_end: link.end };
        let content = log_file.read(self.env)?;
        let mut reader = LogFileReader::new(&content, &header, link.end);
        let has_records = iter::from_fn(|| reader.next()).any(|s| matches!(s, Step::Record { .. }));
        Ok(has_records.then_some(LogFile { header, ..log_file }))
    }

    /// Sorts the files outside the log into leftovers and strays.
    fn sort_out_rest(&mut self, chain: &mut Chain, oldest_needed: u64) -> Result<()> {
        let listed: Vec<PathBuf> = self.salvaged.iter().map(|s| s.file.clone()).collect();
        let is_used = |number: u64| chain.log_files.iter().any(|s| s.header.number == number);
        let rest: Vec<(u64, u64)> =
            self.files.iter().map(|(n, length)| (*n, *length)).filter(|f| !is_used(f.0)).collect();
        for (number, length) in rest {
            if listed.contains(&log_file_path(self.dir, number)) {
                chain.strays.push(number);
                continue;
            }
            let what = match self.header(number)? {
                Ok(_) if number < oldest_needed => None,
                Ok(_) if length <= HEADER_SIZE as u64 => None,
                Ok(_) => Some("the log file has records but does not belong to the log".to_owned()),
                Err(_) if is_unfinished(&self.start(number)?) => None,
                Err(what) => Some(what),
            };
            match what {
                None => chain.left_over.push(number),
                Some(what) => {
                    self.damaged(log_file_path(self.dir, number), length, what)?;
                    chain.strays.push(number);
                }
            }
        }
        Ok(())
    }

    fn damaged(&mut self, file: PathBuf, bytes_lost: u64, what: String) -> Result<()> {
        if !self.options.salvage {
            return Err(Error::corrupt(Exception::CorruptWal, &file, 0, what));
        }
        self.salvaged.push(Salvaged { file, offset: 0, bytes_lost, what });
        Ok(())
    }
}

/// Whether `store` is not the expected one, if one is expected.
fn is_foreign(expected: StoreId, store: StoreId) -> bool {
    expected != StoreId::NIL && store != expected
}

/// The log file before the one with this header.
fn previous(header: &LogFileHeader) -> Option<Link> {
    let LogPosition { log_file, offset } = header.previous_end;
    let salt = Some(header.previous_salt);
    (log_file > 0).then_some(Link { number: log_file, salt, end: Some(offset) })
}
