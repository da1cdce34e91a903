//! A log whose files were removed, moved or replaced while it was open.

use hblite_env::time::{Duration, Instant};
use hblite_env::{FileLock, MemFileSystem};
use hblite_model::Exception;

use super::*;

struct Open {
    env: Env,
    wal: Wal,
    _lock: Arc<dyn FileLock>,
    writes: std::vec::IntoIter<Write>,
}

impl Open {
    fn new(fs: impl FileSystem + 'static) -> Self {
        let env = env_on(fs);
        env.fs.create_dir_all(Path::new("/db")).unwrap();
        let path = Path::new("/db/LOCK");
        let lock: Arc<dyn FileLock> = Arc::from(env.fs.lock(path, "a test").unwrap());
        let (wal, _, _) = open_with(&env, WalOptions::default());
        wal.watch(Arc::downgrade(&lock), path.to_path_buf());
        let writes = random_writes(3, 100_000).into_iter();
        Self { env, wal, _lock: lock, writes }
    }

    fn write(&mut self, durability: Durability) -> Result<()> {
        write(&self.wal, &self.writes.next().unwrap(), durability)
    }

    /// Writes until a write is refused.
    fn write_until_refused(&mut self, durability: Durability) -> Error {
        let began = Instant::now();
        loop {
            if let Err(error) = self.write(durability) {
                return error;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "no write was refused");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn assert_refused(error: &Error, file: &str) {
    assert_eq!(error.exception(), Exception::RegionServerStopped, "{error}");
    let expected = format!("{file} is not the file that this store opened");
    let shown = error.to_string();
    let shown = if cfg!(windows) { shown.replace('\\', "/") } else { shown };
    assert!(shown.contains(&expected), "{error}");
    assert!(!error.to_string().contains("log failed"), "{error}");
}

#[test]
fn no_synced_write_is_acknowledged_after_the_directory_is_removed() {
    for is_on_crash_fs in [false, true] {
        let mut open = match is_on_crash_fs {
            true => Open::new(CrashFileSystem::new()),
            false => Open::new(MemFileSystem::new()),
        };
        open.write(Durability::FsyncWal).unwrap();
        open.env.fs.remove_dir_all(Path::new("/db")).unwrap();
        assert_refused(&open.write(Durability::FsyncWal).unwrap_err(), "/db/LOCK");
        let durabilities = [Durability::AsyncWal, Durability::SyncWal, Durability::FsyncWal];
        for durability in durabilities {
            assert_refused(&open.write(durability).unwrap_err(), "/db/LOCK");
        }
        assert_refused(&open.wal.admit_unlogged().unwrap_err(), "/db/LOCK");
        assert_refused(&open.wal.close().unwrap_err(), "/db/LOCK");
    }
}

#[test]
fn other_writes_are_refused_a_tenth_of_a_second_later() {
    for durability in [Durability::SyncWal, Durability::AsyncWal, Durability::UseDefault] {
        let mut open = Open::new(MemFileSystem::new());
        open.write(durability).unwrap();
        open.wal.sync_all().unwrap();
        open.env.fs.remove_dir_all(Path::new("/db")).unwrap();
        assert_refused(&open.write_until_refused(durability), "/db/LOCK");
    }
}

#[test]
fn an_unlogged_write_is_refused_too() {
    let open = Open::new(MemFileSystem::new());
    open.env.fs.remove_dir_all(Path::new("/db")).unwrap();
    let began = Instant::now();
    let error = loop {
        if let Err(error) = open.wal.admit_unlogged() {
            break error;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "no write was refused");
    };
    assert_refused(&error, "/db/LOCK");
}

#[test]
fn a_removed_or_replaced_log_file_is_noticed_though_the_lock_is_there() {
    for is_replaced in [false, true] {
        let mut open = Open::new(MemFileSystem::new());
        open.write(Durability::FsyncWal).unwrap();
        let log_file = Path::new(DIR).join("hblite-wal.0000000001");
        open.env.fs.remove_file(&log_file).unwrap();
        if is_replaced {
            open.env.fs.create(&log_file).unwrap();
        }
        let error = open.write(Durability::FsyncWal).unwrap_err();
        assert_refused(&error, "/db/WALs/hblite-wal.0000000001");
    }
}

/// Another store in the same place loses nothing because of this one.
#[test]
fn a_closed_log_touches_no_file_of_a_store_that_took_its_place() {
    let mut open = Open::new(MemFileSystem::new());
    open.write(Durability::FsyncWal).unwrap();
    let (root, moved) = (Path::new("/db"), Path::new("/moved"));
    open.env.fs.rename(root, moved).unwrap();
    let env = open.env.clone();
    env.fs.create_dir_all(root).unwrap();
    let (other, _, _) = open_with(&env, WalOptions::default());
    for number in 1..=3 {
        let region = other.region("aa").unwrap();
        let cells = random_cells(&SeededRandom::new(number), 1);
        let origin = EditOrigin { write_time: 7, nonce: None };
        let ticket = other
            .append(&region, origin, &(&cells).into(), Durability::FsyncWal, || number)
            .unwrap();
        other.sync(ticket, Durability::FsyncWal).unwrap();
    }
    drop(other);
    let files = || {
        let content = |name: String| (env.fs.read(&Path::new(DIR).join(&name)).unwrap(), name);
        log_file_names(&env).into_iter().map(content).collect::<Vec<_>>()
    };
    let before = files();
    open.wal.region_removed("aa").unwrap();
    assert!(open.wal.roll().is_err() && open.wal.close().is_err());
    drop(open);
    assert!(files() == before, "{:?}", log_file_names(&env));
}
