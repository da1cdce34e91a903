//! A file that appears when it is complete, and not before.
//!
//! The content goes to a temporary file next to the target, which is made durable and renamed at
//! the end. If the end is not reached, nothing is left.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use hblite_transfer::TransferError;
use tempfile::{Builder, NamedTempFile};

use super::{is_gzip, is_standard, named};

const BUFFER_SIZE: usize = 1 << 16;

/// The target of an export, or of another command that takes the name of a file.
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
        Ok(match Self::begin_file(path, overwrite)? {
            Self::Plain(file) if is_gzip(path) => {
                Self::Gzip(Box::new(GzEncoder::new(file, Compression::default())))
            }
            output => output,
        })
    }

    /// Like [`OutputFile::begin`], whatever the name says about standard output and compression.
    fn begin_file(path: &Path, overwrite: bool) -> Result<Self, TransferError> {
        let failed = |error: io::Error| TransferError::Write(named(path, &error));
        if is_special(path, overwrite)? {
            let file = File::options().write(true).open(path).map_err(failed)?;
            return Ok(Self::Special(BufWriter::with_capacity(BUFFER_SIZE, file)));
        }
        let file = temporary(path).map_err(failed)?;
        Ok(Self::Plain(BufWriter::with_capacity(BUFFER_SIZE, file)))
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

/// Refuses what [`write_file`] would refuse, for commands that work for a while before they write.
///
/// # Errors
/// The file with the reason.
pub(crate) fn check_file(path: &Path, overwrite: bool) -> Result<(), String> {
    let checked = is_special(path, overwrite).and_then(|is_special| match is_special {
        // Who reads a pipe would take this for its end.
        true => Ok(()),
        false => {
            temporary(path).map(drop).map_err(|error| TransferError::Write(named(path, &error)))
        }
    });
    checked.map_err(|error| error.to_string())
}

/// Creates a directory, and checks that files can be written to it.
///
/// # Errors
/// The directory with the reason.
pub(crate) fn check_directory(dir: &Path) -> Result<(), String> {
    let created = fs::create_dir_all(dir).and_then(|()| temporary(&dir.join("file")));
    created.map(drop).map_err(|error| named(dir, &error).to_string())
}

/// Writes a file as a whole or not at all.
///
/// # Errors
/// The file with the reason.
pub(crate) fn write_file<E: fmt::Display>(
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut OutputFile) -> Result<(), E>,
) -> Result<(), String> {
    let text = |error: TransferError| error.to_string();
    let mut output = OutputFile::begin_file(path, overwrite).map_err(text)?;
    write(&mut output).map_err(|error| format!("{}: {error}", path.display()))?;
    output.commit(path, overwrite).map_err(text)
}

/// Whether this is something other than a regular file, which exists or does not.
fn is_special(path: &Path, overwrite: bool) -> Result<bool, TransferError> {
    let refused = |why: &str| Err(TransferError::Invalid(format!("{}: {why}", path.display())));
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => refused("is a folder"),
        Ok(metadata) if !metadata.is_file() => Ok(true),
        Ok(_) if !overwrite => refused("exists; --overwrite replaces it"),
        _ => Ok(false),
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
