//! Sequences as bytes: made at random, shrunk when they fail, kept as files.
//!
//! A file has the bytes of the settings in its first line, in hexadecimal, and those of an
//! operation in every other one. Lines that begin with `#` are for people. Which operation bytes
//! are depends on the generator: when that changes, a kept sequence becomes another one, and a bug
//! worth remembering needs a test of its own.

use std::path::{Path, PathBuf};

use hblite_env::{Random, SeededRandom};

use crate::runner;

const OPERATIONS: usize = 200;
const SETTINGS_BYTES: usize = 24;
const OPERATION_BYTES: usize = 32;
const FOLDER: &str = "tests/model/regressions";

/// What settings and operations are drawn from.
#[derive(Clone)]
pub(crate) struct Sequence {
    settings: Vec<u8>,
    operations: Vec<Vec<u8>>,
}

impl Sequence {
    pub(crate) fn random(random: &SeededRandom) -> Self {
        let bytes = |count: usize| -> Vec<u8> {
            let words = (0..count.div_ceil(8)).flat_map(|_| random.next_u64().to_le_bytes());
            words.take(count).collect()
        };
        let settings = bytes(SETTINGS_BYTES);
        let operations = (0..OPERATIONS).map(|_| bytes(OPERATION_BYTES)).collect();
        Self { settings, operations }
    }

    /// Runs it.
    ///
    /// # Errors
    /// The difference that was found.
    pub(crate) fn run(&self, crashes: bool) -> Result<(), String> {
        runner::run(&self.settings, &self.operations, crashes)
    }

    /// A sequence that fails as well, without what it does not need for that, and its difference.
    pub(crate) fn shrunk(mut self, mut difference: String, crashes: bool) -> (Self, String) {
        let mut try_instead = |sequence: &mut Self, other: Self| match other.run(crashes) {
            Ok(()) => false,
            Err(found) => {
                (*sequence, difference) = (other, found);
                true
            }
        };
        let mut size = self.operations.len().div_ceil(2);
        while size > 0 {
            let mut start = self.operations.len();
            while start > 0 {
                let end = start.min(self.operations.len());
                start = end.saturating_sub(size);
                let mut other = self.clone();
                other.operations.drain(start..end);
                try_instead(&mut self, other);
            }
            size /= 2;
        }
        let zeroed = |bytes: &[u8], place: usize| -> Option<Vec<u8>> {
            let mut bytes = bytes.to_vec();
            let byte = bytes.get_mut(place).filter(|byte| **byte > 0)?;
            *byte = 0;
            Some(bytes)
        };
        for index in 0..self.operations.len() {
            for place in 0..OPERATION_BYTES {
                if let Some(bytes) = zeroed(&self.operations[index], place) {
                    let mut other = self.clone();
                    other.operations[index] = bytes;
                    try_instead(&mut self, other);
                }
            }
        }
        for place in 0..SETTINGS_BYTES {
            if let Some(settings) = zeroed(&self.settings, place) {
                let other = Self { settings, ..self.clone() };
                try_instead(&mut self, other);
            }
        }
        (self, difference)
    }

    /// Keeps it for every later run.
    pub(crate) fn keep(&self, difference: &str, crashes: bool) -> std::io::Result<PathBuf> {
        let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
        let mut text: String = difference.lines().map(|line| format!("# {line}\n")).collect();
        for bytes in std::iter::once(&self.settings).chain(&self.operations) {
            text.push_str(&format!("{}\n", hex(bytes)));
        }
        let prefix = kind(crashes);
        let name = self
            .operations
            .iter()
            .flatten()
            .fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(*byte)));
        let path = folder().join(format!("{prefix}_{name:08x}.txt"));
        std::fs::create_dir_all(folder())?;
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

fn kind(crashes: bool) -> &'static str {
    if crashes { "crashing" } else { "closing" }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)
}

/// The sequences that were kept, with their files.
pub(crate) fn kept(crashes: bool) -> Vec<(PathBuf, Sequence)> {
    let entries = std::fs::read_dir(folder()).into_iter().flatten().flatten();
    let is_of_kind = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with(kind(crashes)))
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_of_kind).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), parse(&path))).collect()
}

fn parse(path: &Path) -> Sequence {
    let text = std::fs::read_to_string(path).expect("a listed file can be read");
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let digits: Vec<char> = line.chars().collect();
        let byte = |pair: &[char]| {
            let pair: String = pair.iter().collect();
            u8::from_str_radix(&pair, 16).unwrap_or_else(|_| panic!("{}: {line}", path.display()))
        };
        digits.chunks(2).map(byte).collect()
    });
    Sequence { settings: lines.next().unwrap_or_default(), operations: lines.collect() }
}
