//! A file that appears when it is complete, and not before.
//!
//! The content goes to a temporary file next to the target, which is made durable and renamed at
//! the end. If the end is not reached, nothing is left.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use hblite_transfer::TransferError;
use tempfile::{Builder, NamedTempFile};

use super::{is_gzip, is_standard, named};

const BUFFER_SIZE: usize = 1 << 16;

/// The target of an export.
pub(crate) enum OutputFile {
    Standard(BufWriter<io::Stdout>),
    /// Something that is not a regular file, such as a pipe.
    Special(BufWriter<File>),
    Plain(BufWriter<NamedTempFile>),
    Gzip(Box<GzEncoder<BufWriter<NamedTempFile>>>),
}

impl OutputFile {
    /// Begins the output.
    ///
    /// # Errors
    /// `Invalid` if the file exists and must not be replaced; `Write`.
    pub(crate) fn begin(path: &Path, overwrite: bool) -> Result<Self, TransferError> {
        if is_standard(path) {
            return Ok(Self::Standard(BufWriter::with_capacity(BUFFER_SIZE, io::stdout())));
        }
        let failed = |error: io::Error| TransferError::Write(named(path, &error));
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                return Err(TransferError::Invalid(format!("{}: is a folder", path.display())));
            }
            Ok(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(path).map_err(failed)?;
                return Ok(Self::Special(BufWriter::with_capacity(BUFFER_SIZE, file)));
            }
            Ok(_) if !overwrite => {
                let message = format!("{}: exists; --overwrite replaces it", path.display());
                return Err(TransferError::Invalid(message));
            }
            _ => {}
        }
        let file = temporary(path).map_err(failed)?;
        let file = BufWriter::with_capacity(BUFFER_SIZE, file);
        Ok(if is_gzip(path) {
            Self::Gzip(Box::new(GzEncoder::new(file, Compression::default())))
        } else {
            Self::Plain(file)
        })
    }

    /// Ends the output and gives it its name.
    ///
    /// # Errors
    /// `Write`: an existing file is unchanged.
    pub(crate) fn commit(self, path: &Path, overwrite: bool) -> Result<(), TransferError> {
        let failed = |error: io::Error| TransferError::Write(named(path, &error));
        let file = match self {
            Self::Standard(mut output) => return output.flush().map_err(TransferError::Write),
            Self::Special(mut output) => return output.flush().map_err(TransferError::Write),
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish().map_err(failed)?,
        };
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        let persisted = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
        persisted.map_err(|error| failed(error.error))?;
        let directory = File::open(parent(path)).and_then(|directory| directory.sync_all());
        directory.map_err(failed)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(output) => output.write(bytes),
            Self::Special(output) => output.write(bytes),
            Self::Plain(output) => output.write(bytes),
            Self::Gzip(output) => output.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(output) => output.flush(),
            Self::Special(output) => output.flush(),
            Self::Plain(output) => output.flush(),
            // Its stream ends with the file; flushing in between would only make it longer.
            Self::Gzip(_) => Ok(()),
        }
    }
}

fn parent(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_path_buf()
}

/// A file next to `path`, with the permissions of any other new file.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(".hblite-export-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(parent(path))
}
