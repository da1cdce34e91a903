//! Moves files and directories, also where the file system refuses to rename a directory.
//!
//! overlayfs, the file system of containers, renames no directory of a lower layer (EXDEV). A mount
//! point cannot be renamed (EBUSY), and nothing can be renamed to another file system (EXDEV).
//! Windows renames no directory with an open file in it. The files of such a directory are moved
//! one by one instead, and copied if need be. An interruption then leaves a part of them in each
//! place, so this is for moves that can be repeated, and never for a commit.
//!
//! Threads: one, which owns what is moved.

use std::io::{self, ErrorKind};
use std::path::Path;

use hblite_env::FileSystem;

/// Whether the file system refuses this rename as such, so that another way may work.
pub(super) fn is_refused(fs: &dyn FileSystem, error: &io::Error) -> bool {
    let kind = error.kind();
    matches!(kind, ErrorKind::CrossesDevices | ErrorKind::ResourceBusy | ErrorKind::Unsupported)
        || !fs.renames_dirs_in_use()
}

/// Moves a file or a directory. A directory that is already at `to` gets the files of `from` in
/// addition to its own, and a file there is replaced. The new name is durable after a sync of the
/// directory that has it.
///
/// # Errors
/// `NotFound` if there is nothing to move. After any other error, a part may be in either place.
pub(super) fn move_all(fs: &dyn FileSystem, from: &Path, to: &Path) -> io::Result<()> {
    match fs.rename(from, to) {
        Err(error) if is_in_pieces(fs, &error) => match is_dir(fs, from) {
            true => move_dir(fs, from, to, error),
            false => {
                copy_file(fs, from, to)?;
                to.parent().map_or(Ok(()), |dir| fs.sync_dir(dir))?;
                fs.remove_file(from)
            }
        },
        renamed => renamed,
    }
}

/// Copies a directory, durably except for its own name. What is already there is replaced.
///
/// # Errors
/// Those of the file system; a part may be copied.
pub(super) fn copy_all(fs: &dyn FileSystem, from: &Path, to: &Path) -> io::Result<()> {
    if !is_dir(fs, from) {
        return copy_file(fs, from, to);
    }
    fs.create_dir_all(to)?;
    for entry in fs.list_dir(from)? {
        copy_all(fs, &from.join(&entry.name), &to.join(&entry.name))?;
    }
    fs.sync_dir(to)
}

/// Removes a directory with everything in it. A mount point stays, empty.
///
/// # Errors
/// Those of the file system; a part may be left.
pub(super) fn remove_all(fs: &dyn FileSystem, dir: &Path) -> io::Result<()> {
    match fs.remove_dir_all(dir) {
        Err(error) if error.kind() == ErrorKind::ResourceBusy && is_empty(fs, dir)? => Ok(()),
        removed => removed,
    }
}

fn is_empty(fs: &dyn FileSystem, dir: &Path) -> io::Result<bool> {
    Ok(fs.list_dir(dir)?.is_empty())
}

/// Whether the entries are moved one by one after this error.
fn is_in_pieces(fs: &dyn FileSystem, error: &io::Error) -> bool {
    // An interrupted move has left a part of the directory there.
    is_refused(fs, error) || error.kind() == ErrorKind::DirectoryNotEmpty
}

fn move_dir(fs: &dyn FileSystem, from: &Path, to: &Path, refusal: io::Error) -> io::Result<()> {
    // What a symbolic link points to is not moved.
    let parent = fs.real_path(from.parent().unwrap_or(from))?;
    if from.file_name().is_none_or(|name| fs.real_path(from).ok() != Some(parent.join(name))) {
        return Err(refusal);
    }
    fs.create_dir_all(to)?;
    let mut copied = Vec::new();
    for entry in fs.list_dir(from)? {
        let (from, to) = (from.join(&entry.name), to.join(&entry.name));
        match fs.rename(&from, &to) {
            Err(error) if is_in_pieces(fs, &error) && entry.is_dir => {
                move_dir(fs, &from, &to, error)?;
            }
            Err(error) if is_in_pieces(fs, &error) => {
                copy_file(fs, &from, &to)?;
                copied.push(from);
            }
            renamed => renamed?,
        }
    }
    fs.sync_dir(to)?;
    copied.iter().try_for_each(|file| fs.remove_file(file))?;
    match is_empty(fs, from)? {
        true => remove_all(fs, from),
        false => Err(ErrorKind::DirectoryNotEmpty.into()),
    }
}

fn copy_file(fs: &dyn FileSystem, from: &Path, to: &Path) -> io::Result<()> {
    if fs.exists(to)? {
        fs.remove_file(to)?;
    }
    fs.copy(from, to)
}

fn is_dir(fs: &dyn FileSystem, path: &Path) -> bool {
    fs.list_dir(path).is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hblite_env::{FaultFileSystem, MemFileSystem, files_below};

    use super::*;

    fn tree() -> FaultFileSystem {
        let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
        for file in ["/s/a/1", "/s/a/b/2", "/s/a/b/3", "/s/m/4"] {
            let path = Path::new(file);
            fs.create_dir_all(path.parent().unwrap()).unwrap();
            fs.create(path).unwrap().write_all(file.as_bytes()).unwrap();
        }
        fs
    }

    fn files(fs: &FaultFileSystem) -> Vec<String> {
        let found = files_below(fs, Path::new("/s")).unwrap();
        found.iter().map(|path| path.to_string_lossy().replace('\\', "/")).collect()
    }

    #[test]
    fn a_directory_that_cannot_be_renamed_is_moved_in_pieces() {
        let lower = tree();
        lower.put_in_lower_layer(Path::new("/s")).unwrap();
        let target = tree();
        target.mount(Path::new("/s/m"));
        let source = tree();
        source.mount(Path::new("/s/a"));
        for (index, fs) in [tree(), lower, target, source].iter().enumerate() {
            move_all(fs, Path::new("/s/a"), Path::new("/s/m/n")).unwrap();
            assert_eq!(files(fs), ["/s/m/4", "/s/m/n/1", "/s/m/n/b/2", "/s/m/n/b/3"]);
            assert_eq!(fs.read(Path::new("/s/m/n/b/2")).unwrap(), b"/s/a/b/2");
            // Only a mount point stays.
            assert_eq!(fs.exists(Path::new("/s/a")).unwrap(), index == 3);
        }
    }

    #[test]
    fn an_interrupted_move_is_repeated() {
        let fs = tree();
        fs.create_dir_all(Path::new("/s/n/b")).unwrap();
        fs.rename(Path::new("/s/a/b/3"), Path::new("/s/n/b/3")).unwrap();
        fs.create(Path::new("/s/n/1")).unwrap().write_all(b"a part").unwrap();
        fs.mount(Path::new("/s/n"));
        move_all(&fs, Path::new("/s/a"), Path::new("/s/n")).unwrap();
        assert_eq!(files(&fs), ["/s/m/4", "/s/n/1", "/s/n/b/2", "/s/n/b/3"]);
        assert_eq!(fs.read(Path::new("/s/n/1")).unwrap(), b"/s/a/1");
    }

    #[test]
    fn nothing_to_move_is_not_found() {
        let fs = tree();
        fs.mount(Path::new("/s/m"));
        for to in ["/s/n", "/s/m/n"] {
            let error = move_all(&fs, Path::new("/s/none"), Path::new(to)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
        }
    }
}
