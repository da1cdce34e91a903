//! Directories that a file system refuses to rename or to sync.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::fs::FileSystem;

/// What is refused, for as long as the file system exists.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    /// Directories of a lower layer.
    layer: BTreeSet<PathBuf>,
    mounts: BTreeSet<PathBuf>,
}

impl Refusals {
    /// Adds `dir` and all directories below it.
    pub(super) fn add_layer(&mut self, fs: &dyn FileSystem, dir: &Path) -> io::Result<()> {
        for entry in fs.list_dir(dir)?.iter().filter(|entry| entry.is_dir) {
            self.add_layer(fs, &dir.join(&entry.name))?;
        }
        self.layer.insert(dir.to_path_buf());
        Ok(())
    }

    pub(super) fn add_mount(&mut self, dir: &Path) {
        self.mounts.insert(dir.to_path_buf());
    }

    /// The device of a path: the mount point above it.
    fn device(&self, path: &Path) -> Option<&PathBuf> {
        self.mounts
            .iter()
            .filter(|mount| path.starts_with(mount))
            .max_by_key(|m| m.as_os_str().len())
    }

    pub(super) fn check_rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if self.mounts.contains(from) || self.mounts.contains(to) {
            return Err(ErrorKind::ResourceBusy.into());
        }
        if self.layer.contains(from) {
            return Err(ErrorKind::CrossesDevices.into());
        }
        self.check_device(from, to)
    }

    /// For a rename or a link.
    pub(super) fn check_device(&self, from: &Path, to: &Path) -> io::Result<()> {
        match self.device(from) == self.device(to) {
            true => Ok(()),
            false => Err(ErrorKind::CrossesDevices.into()),
        }
    }

    /// The mount points in a directory that is being removed.
    pub(super) fn mounts_below(&self, dir: &Path) -> bool {
        self.mounts.iter().any(|mount| mount.starts_with(dir))
    }

    /// A directory is gone; one of the same name is another.
    pub(super) fn removed(&mut self, dir: &Path) {
        self.layer.retain(|path| !path.starts_with(dir));
    }
}

/// Removes what is in a directory, except for mount points.
pub(super) fn empty(fs: &dyn FileSystem, refusals: &Refusals, dir: &Path) -> io::Result<()> {
    for entry in fs.list_dir(dir)? {
        let path = dir.join(&entry.name);
        match entry.is_dir {
            true if refusals.mounts_below(&path) => empty(fs, refusals, &path)?,
            true => fs.remove_dir_all(&path)?,
            false => fs.remove_file(&path)?,
        }
    }
    Err(ErrorKind::ResourceBusy.into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{FaultFileSystem, MemFileSystem};

    fn with_dirs(dirs: &[&str]) -> FaultFileSystem {
        let fs = FaultFileSystem::new(Arc::new(MemFileSystem::new()));
        for dir in dirs {
            fs.create_dir_all(Path::new(dir)).unwrap();
            drop(fs.create(&Path::new(dir).join("file")).unwrap());
        }
        fs
    }

    #[test]
    fn directories_of_a_lower_layer_cannot_be_renamed_and_others_can() {
        let fs = with_dirs(&["/s/a/b"]);
        fs.put_in_lower_layer(Path::new("/s")).unwrap();
        for dir in ["/s/a", "/s/a/b"] {
            let refused = fs.rename(Path::new(dir), Path::new("/s/x")).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::CrossesDevices);
        }
        fs.rename(Path::new("/s/a/b/file"), Path::new("/s/file")).unwrap();
        fs.create_dir_all(Path::new("/s/new")).unwrap();
        fs.rename(Path::new("/s/new"), Path::new("/s/newer")).unwrap();
        fs.remove_dir_all(Path::new("/s/a")).unwrap();
        fs.rename(Path::new("/s/newer"), Path::new("/s/a")).unwrap();
        fs.rename(Path::new("/s/a"), Path::new("/s/b")).unwrap();
    }

    #[test]
    fn a_mount_point_stays_where_it_is_and_nothing_crosses_it() {
        let fs = with_dirs(&["/s/m/d", "/s/o"]);
        fs.mount(Path::new("/s/m"));
        let renamed = |from: &str, to: &str| {
            fs.rename(Path::new(from), Path::new(to)).map_err(|error| error.kind())
        };
        assert_eq!(renamed("/s/m", "/s/x"), Err(ErrorKind::ResourceBusy));
        assert_eq!(renamed("/s/o", "/s/m"), Err(ErrorKind::ResourceBusy));
        for [from, to] in [["/s/m/d", "/s/d"], ["/s/o/file", "/s/m/file"]] {
            assert_eq!(renamed(from, to), Err(ErrorKind::CrossesDevices));
            let linked = fs.hard_link(Path::new(from), Path::new(to));
            assert_eq!(linked.unwrap_err().kind(), ErrorKind::CrossesDevices);
        }
        renamed("/s/m/d", "/s/m/e").unwrap();
        let removed = fs.remove_dir_all(Path::new("/s/m")).unwrap_err();
        assert_eq!(removed.kind(), ErrorKind::ResourceBusy);
        assert_eq!(fs.list_dir(Path::new("/s/m")).unwrap(), []);
    }
}
