//! Sequences as bytes: made at random, shrunk when they fail, kept as files.
//!
//! A file has the bytes of the settings in its first line, in hexadecimal, and those of an
//! operation in every other one. Lines that begin with `#` are for people. The generator decides
//! which operation the bytes mean: when it changes, a kept sequence becomes another one, so a bug
//! worth remembering needs its own test.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::runner;

const OPERATIONS: usize = 200;
const SETTINGS_WORDS: usize = 3;
const OPERATION_WORDS: usize = 4;
const FOLDER: &str = "tests/model/regressions";

/// The bytes from which settings and operations are drawn.
#[derive(Debug, Clone)]
pub(crate) struct Sequence {
    settings: Vec<u8>,
    operations: Vec<Vec<u8>>,
}

impl Sequence {
    /// Sequences of 200 operations. They shrink to some of these: words that shrink would take many
    /// runs for each operation, also for those that no longer exist.
    pub(crate) fn any() -> impl Strategy<Value = Self> {
        let settings = any::<[u64; SETTINGS_WORDS]>().no_shrink();
        // All are present at first; the first step of shrinking an operation removes it.
        let words = any::<[u64; OPERATION_WORDS]>().no_shrink();
        let operation = (proptest::bool::weighted(1.0), words);
        let operations = proptest::collection::vec(operation, OPERATIONS);
        (settings, operations).prop_map(|(settings, operations)| Self {
            settings: bytes(&settings),
            operations: operations
                .iter()
                .filter(|(is_there, _)| *is_there)
                .map(|(_, words)| bytes(words))
                .collect(),
        })
    }

    /// Runs it.
    ///
    /// # Errors
    /// The difference that was found.
    pub(crate) fn run(&self, crashes: bool) -> Result<(), String> {
        runner::run(&self.settings, &self.operations, crashes)
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

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
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
