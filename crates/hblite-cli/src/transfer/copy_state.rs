//! The file from which `hblite copy --resume FILE` continues.
//!
//! ```text
//! {"format":"hblite copy 1","from":"A","to":"B","tables":[…]}
//! ```
//!
//! `keys` has the designs of a copy to another key. `tables` holds a [`CopyProgress`] for each
//! table begun. The file is replaced as a whole, and
//! holds only what the target has acknowledged.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hblite_transfer::{CopyProgress, RowRange, TransferError};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::named;

/// The format of the file.
const FORMAT: &str = "hblite copy 1";
/// A larger file is not a copy state: 64 MiB hold the ranges of about 300,000 regions.
const SIZE_MAX: u64 = 64 << 20;
/// Time between two writes of the file.
const PERIOD: Duration = Duration::from_secs(1);

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    format: String,
    from: String,
    to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keys: Option<[String; 2]>,
    tables: Vec<CopyProgress>,
}

/// The progress of all tables, and its file.
#[derive(Debug)]
pub(super) struct CopyState {
    file: Option<PathBuf>,
    content: Content,
    saved: Instant,
}

impl CopyState {
    /// The state in `file`, or that of a new copy.
    ///
    /// # Errors
    /// `Invalid` if the file is not such a state, or belongs to another copy.
    pub(super) fn load(
        file: Option<&Path>,
        (from, to): (&str, &str),
        keys: [Option<&str>; 2],
    ) -> Result<Self, TransferError> {
        let keys = match keys {
            [Some(from), Some(to)] => Some([from, to].map(str::to_owned)),
            _ => None,
        };
        let content = match file {
            Some(path) => read(path)?,
            None => None,
        };
        if let (Some(content), Some(path)) = (&content, file)
            && (content.from != from || content.to != to)
        {
            let message = format!(
                "{}: belongs to the copy from {} to {}; remove it or give another file",
                path.display(),
                content.from,
                content.to
            );
            return Err(TransferError::Invalid(message));
        }
        if let (Some(content), Some(path)) = (&content, file)
            && content.keys != keys
        {
            let message = format!(
                "{}: belongs to a copy with other keys; remove it or give another file",
                path.display()
            );
            return Err(TransferError::Invalid(message));
        }
        let content = content.unwrap_or_else(|| Content {
            format: FORMAT.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            keys,
            tables: Vec::new(),
        });
        Ok(Self { file: file.map(Path::to_path_buf), content, saved: Instant::now() })
    }

    /// The progress of a table; if it was not begun, its ranges come from `ranges`.
    pub(super) fn table(
        &self,
        name: &str,
        ranges: impl FnOnce() -> hblite::Result<Vec<RowRange>>,
    ) -> hblite::Result<CopyProgress> {
        match self.content.tables.iter().find(|table| table.table == name) {
            Some(progress) => Ok(progress.clone()),
            None => Ok(CopyProgress::new(name, &ranges()?)),
        }
    }

    /// Records the progress of a table, and writes the file if the last write was long ago.
    pub(super) fn note(&mut self, progress: &CopyProgress) -> Result<(), TransferError> {
        if self.file.is_none() || self.saved.elapsed() < PERIOD {
            return Ok(());
        }
        self.save(progress)
    }

    /// Records the progress of a table, and writes the file.
    pub(super) fn save(&mut self, progress: &CopyProgress) -> Result<(), TransferError> {
        match self.content.tables.iter_mut().find(|table| table.table == progress.table) {
            Some(old) => old.clone_from(progress),
            None => self.content.tables.push(progress.clone()),
        }
        let Some(path) = &self.file else { return Ok(()) };
        let failed = |error: io::Error| TransferError::Write(named(path, &error));
        write(path, &self.content).map_err(failed)?;
        self.saved = Instant::now();
        Ok(())
    }
}

fn read(path: &Path) -> Result<Option<Content>, TransferError> {
    let failed = |error: io::Error| TransferError::Read(named(path, &error));
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if metadata.len() > SIZE_MAX => {
            let message = format!("{}: is too large to be the state of a copy", path.display());
            return Err(TransferError::Invalid(message));
        }
        Ok(_) => {}
    }
    let bytes = fs::read(path).map_err(failed)?;
    match serde_json::from_slice::<Content>(&bytes) {
        Ok(content)
            if content.format == FORMAT && content.tables.iter().all(CopyProgress::is_whole) =>
        {
            Ok(Some(content))
        }
        _ => {
            let message = format!("{}: is not the state of a copy", path.display());
            Err(TransferError::Invalid(message))
        }
    }
}

/// Replaces the file: after a crash it is the old one or the new one.
fn write(path: &Path, content: &Content) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(directory.unwrap_or(Path::new(".")))?;
    serde_json::to_writer(&mut file, content)?;
    file.flush()?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
