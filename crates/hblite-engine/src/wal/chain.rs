//! Finds the segments that are the log among the files of a directory. See [`super::replay`].

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use hblite_env::{Env, FileBytes};
use hblite_model::{Error, Exception, Result};

use super::entry::{self, Mark, Payload};
use super::reader::{SegmentReader, Step};
use super::replay::Salvaged;
use super::segment::{HEADER_SIZE, SegmentHeader, segment_number, segment_path};

/// A segment with a valid header.
#[derive(Debug, Clone)]
pub(super) struct SegmentFile {
    pub(super) path: PathBuf,
    pub(super) length: u64,
    pub(super) header: SegmentHeader,
    /// Where it ends according to the next segment.
    pub(super) told_end: Option<u64>,
}

impl SegmentFile {
    /// The content of the file.
    pub(super) fn map(&self, env: &Env) -> Result<FileBytes> {
        let map = || -> io::Result<FileBytes> { env.fs.open(&self.path)?.map() };
        map().map_err(|error| Error::io("read", &self.path, error))
    }

    /// The oldest segment that is needed, according to the last mark in this one.
    fn oldest_live(&self, env: &Env) -> Result<u64> {
        let content = self.map(env)?;
        let mut reader = SegmentReader::new(&content, &self.header, self.told_end);
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

/// The log's segments, oldest first.
#[derive(Debug, Default)]
pub(super) struct Chain {
    pub(super) segments: Vec<SegmentFile>,
    /// Numbers of the other files.
    pub(super) left_over: Vec<u64>,
    pub(super) highest_number: u64,
}

/// What a file turned out to be.
enum Found {
    Segment(Box<SegmentFile>),
    /// The file ends within its header: nothing was written to it.
    Unfinished,
}

struct Finder<'a> {
    env: &'a Env,
    dir: &'a Path,
    salvage: bool,
    salvaged: &'a mut Vec<Salvaged>,
    /// Length of the files by number.
    files: BTreeMap<u64, u64>,
}

impl Chain {
    /// Finds the log in `dir`.
    pub(super) fn find(
        env: &Env,
        dir: &Path,
        salvage: bool,
        salvaged: &mut Vec<Salvaged>,
    ) -> Result<Self> {
        let files = list_segments(env, dir)?;
        let mut left_over: Vec<u64> = files.keys().copied().collect();
        let highest_number = left_over.last().copied().unwrap_or(0);
        let mut finder = Finder { env, dir, salvage, salvaged, files };
        let segments = finder.walk_back()?;
        left_over.retain(|number| segments.iter().all(|s| s.header.number != *number));
        Ok(Self { segments, left_over, highest_number })
    }
}

/// Number and length of each segment in `dir`.
fn list_segments(env: &Env, dir: &Path) -> Result<BTreeMap<u64, u64>> {
    let entries = match env.fs.list_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::io("list", dir, error)),
    };
    let numbers = entries.iter().filter(|entry| !entry.is_dir);
    numbers
        .filter_map(|entry| segment_number(&entry.name))
        .map(|number| {
            let path = segment_path(dir, number);
            let length =
                env.fs.file_length(&path).map_err(|error| Error::io("read", &path, error))?;
            Ok((number, length))
        })
        .collect()
}

impl Finder<'_> {
    /// From the newest segment back to the oldest that is needed; the result is oldest first.
    fn walk_back(&mut self) -> Result<Vec<SegmentFile>> {
        let mut segments: Vec<SegmentFile> = Vec::new();
        let mut oldest_needed = 1;
        let mut next = self.files.keys().next_back().copied();
        while let Some(number) = next.take().filter(|number| *number >= oldest_needed) {
            let newer = segments.last().map(|newer| newer.header.previous_end);
            let told_end = newer.filter(|end| end.segment == number).map(|end| end.offset);
            let found = match self.files.get(&number).copied() {
                Some(length) => self.open(number, length)?,
                None => None,
            };
            match found {
                Some(Found::Segment(mut segment)) => {
                    oldest_needed = oldest_needed.max(segment.header.oldest_live);
                    next = Some(segment.header.previous_end.segment).filter(|number| *number > 0);
                    segment.told_end = told_end;
                    segments.push(*segment);
                }
                Some(Found::Unfinished) if segments.is_empty() => next = self.before(number),
                _ => {
                    oldest_needed = oldest_needed.max(self.oldest_marked(&segments)?);
                    if number >= oldest_needed {
                        self.missing(number)?;
                        next = self.before(number);
                    }
                }
            }
        }
        segments.retain(|segment| segment.header.number >= oldest_needed);
        segments.reverse();
        Ok(segments)
    }

    fn before(&self, number: u64) -> Option<u64> {
        self.files.range(..number).next_back().map(|(number, _)| *number)
    }

    /// The oldest segment that is needed, according to marks in `segments`.
    fn oldest_marked(&self, segments: &[SegmentFile]) -> Result<u64> {
        segments
            .iter()
            .try_fold(1, |oldest, segment| Ok(oldest.max(segment.oldest_live(self.env)?)))
    }

    /// The file of this number; nothing if its header is damaged and may be skipped.
    fn open(&mut self, number: u64, length: u64) -> Result<Option<Found>> {
        let path = segment_path(self.dir, number);
        let mut bytes = [0; HEADER_SIZE];
        if length < HEADER_SIZE as u64 {
            return Ok(Some(Found::Unfinished));
        }
        let mut read = || self.env.fs.open(&path)?.read_exact_at(&mut bytes, 0);
        read().map_err(|error| Error::io("read", &path, error))?;
        let header = SegmentHeader::decode(&bytes).and_then(|header| {
            let previous = header.previous_end.segment;
            if header.number != number || previous >= number || header.oldest_live > number {
                return Err(format!("the header is that of segment {}", header.number));
            }
            Ok(header)
        });
        match header {
            Ok(header) => {
                let segment = SegmentFile { path, length, header, told_end: None };
                Ok(Some(Found::Segment(Box::new(segment))))
            }
            Err(_) if length == HEADER_SIZE as u64 => Ok(Some(Found::Unfinished)),
            Err(what) => {
                self.damaged(path, length, what)?;
                Ok(None)
            }
        }
    }

    fn missing(&mut self, number: u64) -> Result<()> {
        let path = segment_path(self.dir, number);
        let is_listed = self.salvaged.iter().any(|salvaged| salvaged.file == path);
        if is_listed {
            return Ok(());
        }
        self.damaged(path, 0, "the segment is missing or empty".to_owned())
    }

    fn damaged(&mut self, file: PathBuf, bytes_lost: u64, what: String) -> Result<()> {
        if !self.salvage {
            return Err(Error::corrupt(Exception::CorruptWal, &file, 0, what));
        }
        self.salvaged.push(Salvaged { file, offset: 0, bytes_lost, what });
        Ok(())
    }
}
