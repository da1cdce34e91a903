//! An image of a directory at a position in the journal of its writer ([`crate::kept`]).
//!
//! 1. everything is listed and opened, growing files last. Names may change in the middle of it:
//!    what is found is of many moments
//! 2. the changes after the position are read. What they say about a path replaces what was found
//!    there, and growing files are cut to the length that they had before the first change
//!
//! A path that is in no change was the same all the time. So the image is of the moment of the
//! first change or, if there is none, of the moment when the last growing file was taken.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{ImagePart, LargeFiles, take_growing, take_whole};
use crate::fs::{FileSystem, ReadableFile, read_all};
use crate::kept::{self, Before, Changes, Position};
use crate::mem_fs::{Content, MemFileSystem};

/// How often a growing file is taken: the zeros at its end are removed once, when it is finished.
const TAKES_MAX: u32 = 3;

/// What is at a path.
enum Found {
    Directory,
    File(Content),
    Growing(Arc<dyn ReadableFile>),
    /// It was listed, and is gone.
    Gone,
}

/// What is to be taken, and how.
struct Taking<'a> {
    fs: &'a dyn FileSystem,
    dir: &'a Path,
    part: &'a dyn Fn(&Path) -> ImagePart,
    large: LargeFiles,
}

/// The image at this position; `None` if what is needed is no longer kept.
pub(crate) fn image(
    fs: &dyn FileSystem,
    dir: &Path,
    part: &dyn Fn(&Path) -> ImagePart,
    large: LargeFiles,
    position: &Position,
) -> io::Result<Option<MemFileSystem>> {
    let taking = Taking { fs, dir, part, large };
    let mut found = BTreeMap::new();
    taking.take_below(dir, &mut found)?;
    let growing = taking.take_growing(&mut found)?;
    let Some(changes) = kept::changes_after(fs, position)? else { return Ok(None) };
    taking.put_together(found, growing, &changes)
}

impl Taking<'_> {
    /// Takes everything below a directory, but not the content of growing files.
    fn take_below(&self, dir: &Path, found: &mut BTreeMap<PathBuf, Found>) -> io::Result<()> {
        let entries = match self.fs.list_dir(dir) {
            Err(error) if is_gone(&error) && dir != self.dir => {
                found.insert(dir.to_path_buf(), Found::Gone);
                return Ok(());
            }
            entries => entries?,
        };
        for entry in entries {
            let path = dir.join(&entry.name);
            if (self.part)(&path) == ImagePart::Skipped {
                continue;
            }
            if entry.is_dir {
                found.insert(path.clone(), Found::Directory);
                self.take_below(&path, found)?;
            } else {
                let file = self.take_file(&path)?;
                found.insert(path, file);
            }
        }
        Ok(())
    }

    fn take_file(&self, path: &Path) -> io::Result<Found> {
        let taken = match (self.part)(path) {
            ImagePart::Growing => self.fs.open(path).map(Found::Growing),
            ImagePart::Whole | ImagePart::Skipped => {
                let file = self.fs.open_finished(path);
                file.and_then(|file| take_whole(&file, self.large)).map(Found::File)
            }
        };
        match taken {
            Err(error) if is_gone(&error) => Ok(Found::Gone),
            taken => taken,
        }
    }

    /// Takes the content of the growing files, in order.
    fn take_growing(
        &self,
        found: &mut BTreeMap<PathBuf, Found>,
    ) -> io::Result<BTreeMap<PathBuf, Arc<dyn ReadableFile>>> {
        let mut growing = BTreeMap::new();
        for (path, found) in found {
            if let Found::Growing(file) = found {
                let file = Arc::clone(file);
                *found = Found::File(self.take_one_growing(&file)?);
                growing.insert(path.clone(), file);
            }
        }
        Ok(growing)
    }

    fn take_one_growing(&self, file: &Arc<dyn ReadableFile>) -> io::Result<Content> {
        let mut takes = 1;
        loop {
            match take_growing(file, self.large) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && takes < TAKES_MAX => {
                    takes += 1;
                }
                taken => return taken,
            }
        }
    }

    /// The image of what was found, without the changes.
    fn put_together(
        &self,
        mut found: BTreeMap<PathBuf, Found>,
        mut growing: BTreeMap<PathBuf, Arc<dyn ReadableFile>>,
        changes: &Changes,
    ) -> io::Result<Option<MemFileSystem>> {
        for (path, (before, kept)) in &changes.before {
            let path = self.dir.join(path);
            if self.is_skipped(&path) {
                continue;
            }
            growing.remove(&path);
            match before {
                Before::Nothing => found.remove(&path),
                Before::Directory => found.insert(path, Found::Directory),
                Before::File(_) => {
                    let file = match self.fs.open(kept) {
                        Err(error) if is_gone(&error) => return Ok(None),
                        file => file?,
                    };
                    let content = if (self.part)(&path) == ImagePart::Growing {
                        growing.insert(path.clone(), Arc::clone(&file));
                        self.take_one_growing(&file)?
                    } else {
                        take_whole(&file, self.large)?
                    };
                    found.insert(path, Found::File(content))
                }
            };
        }
        let lengths = changes.logs.iter().flatten();
        for (path, length) in lengths.map(|(path, length)| (self.dir.join(path), *length)) {
            if let (Some(Found::File(content)), Some(file)) =
                (found.get_mut(&path), growing.get(&path))
                && content.length() > length
            {
                *content = Content::owned(read_all(file.as_ref(), length)?);
            }
        }
        let image = MemFileSystem::new();
        image.create_dir_all(self.dir)?;
        for (path, found) in found {
            match found {
                Found::Directory => image.create_dir_all(&path)?,
                Found::File(content) => {
                    path.parent().map_or(Ok(()), |above| image.create_dir_all(above))?;
                    image.insert(&path, content);
                }
                Found::Growing(_) | Found::Gone => return Ok(None),
            }
        }
        Ok(Some(image))
    }

    fn is_skipped(&self, path: &Path) -> bool {
        let mut above = path.ancestors().take_while(|path| *path != self.dir);
        above.any(|path| (self.part)(path) == ImagePart::Skipped)
    }
}

/// Whether the error says that something else is at this path, or nothing.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
