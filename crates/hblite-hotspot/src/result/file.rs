//! Reading and writing results.

use std::fmt;
use std::fs;
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{RunResult, Settings, VERSION};

/// Why results cannot be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum ResultError {
    /// The file system.
    Io(PathBuf, io::Error),
    /// The file is not a result.
    NoResult(PathBuf, String),
    /// The file has another version of the format.
    Version(PathBuf, u32),
    /// The directory has no results.
    None(PathBuf),
    /// The directory has results of another study or of other settings.
    OtherRun(PathBuf),
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::NoResult(path, reason) => {
                write!(f, "{} is not a result of hblite hotspot run: {reason}", path.display())
            }
            Self::Version(path, version) => write!(
                f,
                "{} has version {version} of the format; this hblite reads version {VERSION}: run \
                 it again",
                path.display()
            ),
            Self::OtherRun(path) => write!(
                f,
                "{} is of a run with another study or other settings, which cannot be compared: \
                 take another --out, or remove it",
                path.display()
            ),
            Self::None(path) => write!(
                f,
                "{} has no results: create some with hblite hotspot run --out {0}",
                path.display()
            ),
        }
    }
}

impl std::error::Error for ResultError {}

/// Only the version; other members are ignored.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Writes a result as `dir/<design>.json` and creates the directory. Returns the file.
///
/// # Errors
/// [`ResultError::Io`].
pub fn write(dir: &Path, result: &RunResult) -> Result<PathBuf, ResultError> {
    let path = dir.join(format!("{}.json", file_name(&result.design)));
    let io_error = |error| ResultError::Io(path.clone(), error);
    fs::create_dir_all(dir).map_err(io_error)?;
    let mut file = BufWriter::new(fs::File::create(&path).map_err(io_error)?);
    serde_json::to_writer(&mut file, result).map_err(|error| io_error(error.into()))?;
    file.write_all(b"\n").and_then(|()| file.flush()).map_err(io_error)?;
    Ok(path)
}

/// A name as a file name: other characters become dashes.
pub(crate) fn file_name(design: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = design.chars().map(plain).take(100).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "design".to_owned() } else { name.to_owned() }
}

/// Reads a result.
///
/// # Errors
/// [`ResultError`] with the file and the reason.
pub fn read(path: &Path) -> Result<RunResult, ResultError> {
    let no_result = |reason: String| ResultError::NoResult(path.to_path_buf(), reason);
    let io_error = |error| ResultError::Io(path.to_path_buf(), error);
    let text = io::read_to_string(BufReader::new(fs::File::open(path).map_err(io_error)?));
    let text = text.map_err(io_error)?;
    let versioned: Versioned =
        serde_json::from_str(&text).map_err(|error| no_result(error.to_string()))?;
    if versioned.version != VERSION {
        return Err(ResultError::Version(path.to_path_buf(), versioned.version));
    }
    let result: RunResult =
        serde_json::from_str(&text).map_err(|error| no_result(error.to_string()))?;
    result.counts.check().map_err(no_result)?;
    Ok(result)
}

/// Checks that existing results in a directory are of runs like this one.
///
/// # Errors
/// [`ResultError::OtherRun`] if not, and those of [`read`].
pub fn check_same_run(dir: &Path, study: &str, settings: &Settings) -> Result<(), ResultError> {
    if !dir.exists() {
        return Ok(());
    }
    for path in files(dir)? {
        let other = read(&path)?;
        if other.study != study || other.settings != *settings {
            return Err(ResultError::OtherRun(path));
        }
    }
    Ok(())
}

/// Reads all results of a directory, in the order in which they were written.
///
/// # Errors
/// [`ResultError`]; also if there are none.
pub fn read_all(dir: &Path) -> Result<Vec<RunResult>, ResultError> {
    let results: Vec<RunResult> =
        files(dir)?.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
    if results.is_empty() { Err(ResultError::None(dir.to_path_buf())) } else { Ok(results) }
}

/// The result files, in the order in which they were written.
fn files(dir: &Path) -> Result<Vec<PathBuf>, ResultError> {
    let io_error = |error| ResultError::Io(dir.to_path_buf(), error);
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(io_error)? {
        let path = entry.map_err(io_error)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let written = fs::metadata(&path).and_then(|data| data.modified()).map_err(io_error)?;
            files.push((written, path));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_result_is_refused_with_the_reason() {
        let dir = tempfile::tempdir().expect("a directory");
        let error = read_all(dir.path()).expect_err("empty").to_string();
        assert!(error.contains("has no results"), "{error}");
        let path = dir.path().join("a.json");
        for (text, reason) in [
            ("", "is not a result of hblite hotspot run"),
            ("[1,2]", "is not a result"),
            (r#"{"version":99}"#, "has version 99 of the format"),
            (r#"{"version":1}"#, "missing field"),
        ] {
            fs::write(&path, text).expect("written");
            let error = read(&path).expect_err(text).to_string();
            assert!(error.contains(reason), "{error}");
        }
        let error = read(&dir.path().join("none.json")).expect_err("none").to_string();
        assert!(error.contains("none.json"), "{error}");
    }

    #[test]
    fn names_of_designs_become_names_of_files() {
        assert_eq!(file_name("host-lead"), "host-lead");
        assert_eq!(file_name("bucket(ts, 4)|ts:timestamp"), "bucket-ts--4--ts-timestamp");
        assert_eq!(file_name("../.."), "design");
        assert_eq!(file_name("é"), "design");
    }
}
