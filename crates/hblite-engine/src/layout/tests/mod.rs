//! Paths, names that survive power cuts, interrupted first opens; `recognition`: which directories
//! are stores.

mod recognition;

use hblite_env::{CrashFileSystem, Env, MemFileSystem};
use hblite_model::Exception;

use super::*;

fn region() -> RegionInfo {
    RegionInfo::new("ns:t".parse().unwrap(), b"", b"", 7)
}

fn store_layout() -> Layout {
    Layout::new(Path::new("/d")).with_store_id(StoreId::from_bytes([7; 16]))
}

#[test]
fn paths_are_hbases() {
    let layout = Layout::new(Path::new("/d"));
    let region = region();
    let dir = format!("/d/data/ns/t/{}", region.encoded_name());
    assert_eq!(layout.region_dir(&region), Path::new(&dir));
    assert_eq!(layout.region_info_file(&region), Path::new(&dir).join(".regioninfo"));
    assert_eq!(layout.family_dir(&region, b"f"), Path::new(&dir).join("f"));
    assert_eq!(layout.temporary_dir(Path::new(&dir), b"f"), Path::new(&dir).join(".tmp/f"));
    assert_eq!(
        layout.referred_file(&Path::new(&dir).join("f/abc.def"), "abc", "def"),
        Path::new("/d/data/ns/t/def/f/abc")
    );
    assert_eq!(layout.region_dir(&RegionInfo::meta()), Path::new("/d/data/hbase/meta/1588230740"));
    assert_eq!(
        layout.table_descriptor_dir(&"t".parse().unwrap()),
        Path::new("/d/data/default/t/.tabledesc")
    );
}

#[test]
fn families_of_any_bytes_have_directories_of_their_own() {
    assert_eq!(family_dir_name(b"a b"), "a b");
    assert_eq!(family_dir_name("中".as_bytes()), "中");
    assert_eq!(family_dir_name(b"\xff"), "\\ff");
    assert_ne!(family_dir_name(b"\xff"), family_dir_name(b"\xfe"));
    // The longest family still has a name that file systems accept.
    assert_eq!(family_dir_name(&[0xff; 127]).len(), 255);
}

/// Creates the directory, and a store in it if it is free.
fn enter(env: &Env, layout: &Layout) -> Result<StoreId> {
    let place = recognize(env.fs.as_ref(), layout, Tolerance::default())?;
    layout.create_root(env.fs.as_ref())?;
    let id = place.store_id(env.random.as_ref());
    Layout::new(layout.root()).with_store_id(id).prepare(env.fs.as_ref(), place)?;
    Ok(id)
}

#[test]
fn a_new_store_has_id_version_and_marker() {
    let env = Env::in_memory();
    let layout = Layout::new(Path::new("/d"));
    let id = enter(&env, &layout).unwrap();
    assert_eq!(env.fs.read(&layout.version_file()).unwrap(), b"PBUF\x0a\x018");
    let content = env.fs.read(&layout.cluster_id_file()).unwrap();
    assert_eq!(content, format!("PBUF\x0a\x24{id}").as_bytes());
    let marker = Marker::new(id);
    assert_eq!(
        recognize(env.fs.as_ref(), &layout, Tolerance::default()).unwrap(),
        Place::Store(marker)
    );
    assert_eq!(enter(&env, &layout).unwrap(), id);
}

#[test]
fn hbase_is_kept_away_durably_with_one_sync_of_the_directory() {
    let fs = CrashFileSystem::new();
    let env = Env::in_memory().with_fs(std::sync::Arc::new(fs.clone()));
    let layout = Layout::new(Path::new("/d"));
    let id = enter(&env, &layout).unwrap();
    let count = fs.operation_count();
    layout.begin_use(&fs).unwrap();
    // A new file, its content, sync and name; the marker; the directory.
    assert_eq!(fs.operation_count(), count + 6);
    layout.begin_use(&fs).unwrap();
    layout.root_files().begin_use(&fs).unwrap();
    assert_eq!(fs.operation_count(), count + 6);
    let after = fs.after_power_cut(0);
    assert_eq!(layout.read_version(&after).unwrap(), RootFile::Whole(root::Usage::InUse));
    assert_eq!(layout.read_marker(&after).unwrap().whole().map(|m| m.store_id), Some(id));
    // Both directories have names that survive.
    assert!([layout.data_dir(), layout.wal_dir()].iter().all(|dir| after.exists(dir).unwrap()));
    layout.make_durable(&fs, &layout.data_dir()).unwrap();
    assert_eq!(fs.operation_count(), count + 6);
    // A power cut may leave any part of it, which is not taken for the version of another program.
    let content = fs.read(&layout.version_file()).unwrap();
    for length in 0..content.len() {
        for left in [content[..length].to_vec(), vec![0; length]] {
            fs.write_atomically(&layout.version_file(), &left).unwrap();
            let found = layout.read_version(&fs).unwrap();
            assert!(matches!(found, RootFile::Unfinished | RootFile::Whole(_)), "{left:?}");
        }
    }
}

#[test]
fn other_versions_are_refused() {
    let env = Env::in_memory();
    let layout = Layout::new(Path::new("/d"));
    enter(&env, &layout).unwrap();
    for (content, exception) in [
        (&b"PBUF\x0a\x017"[..], Exception::UnsupportedOperation),
        (b"PBUF\xff", Exception::CorruptHFile),
    ] {
        env.fs.write_atomically(&layout.version_file(), content).unwrap();
        assert_eq!(enter(&env, &layout).unwrap_err().exception(), exception);
    }
}

/// Whatever a power cut leaves of a first open, the next one succeeds, and keeps a complete id.
#[test]
fn an_interrupted_first_open_is_repeated() {
    for operations in 0.. {
        let fs = CrashFileSystem::new();
        let layout = Layout::new(Path::new("/new/d"));
        fs.power_off_after(operations);
        let env = Env::in_memory().with_fs(std::sync::Arc::new(fs.clone()));
        let is_done = enter(&env, &layout).is_ok();
        let left = (0..16).map(|seed| fs.after_power_cut(seed)).chain([fs.after_kill()]);
        for after in left {
            let env = Env::in_memory().with_fs(std::sync::Arc::new(after.clone()));
            let layout = Layout::new(Path::new("/new/d"));
            let id = layout.read_id(&after).unwrap().whole();
            let marker = layout.read_marker(&after).unwrap().whole();
            let now = enter(&env, &layout).unwrap();
            assert!(id.is_none_or(|id| id == now), "{operations}");
            assert!(marker.is_none_or(|marker| marker.store_id == now), "{operations}");
            let marker = Marker::new(now);
            assert_eq!(
                recognize(&after, &layout, Tolerance::default()).unwrap(),
                Place::Store(marker)
            );
        }
        if is_done {
            assert!(fs.after_kill().exists(&layout.wal_dir()).unwrap());
            return;
        }
    }
}

/// A file in a directory that was made durable is there after a power cut; without that, a
/// synced file is lost with its directory.
#[test]
fn durable_directories_survive_a_power_cut() {
    for is_durable in [false, true] {
        let fs = CrashFileSystem::new();
        fs.create_dir_all(Path::new("/d")).unwrap();
        fs.sync_everything();
        let layout = Layout::new(Path::new("/d"));
        let dir = layout.family_dir(&region(), b"f");
        fs.create_dir_all(&dir).unwrap();
        if is_durable {
            layout.make_durable(&fs, &dir).unwrap();
        }
        fs.write_atomically(&dir.join("file"), b"content").unwrap();
        let after = fs.after_power_cut(0);
        assert_eq!(after.exists(&dir.join("file")).unwrap(), is_durable);
    }
}

#[test]
fn durable_names_are_synced_once() {
    let fs = CrashFileSystem::new();
    let layout = store_layout();
    let dir = layout.region_dir(&region());
    fs.create_dir_all(&dir).unwrap();
    layout.make_durable(&fs, &dir).unwrap();
    let count = fs.operation_count();
    layout.make_durable(&fs, &dir).unwrap();
    assert_eq!(fs.operation_count(), count);
    // Removed and created again, it has a new name to make durable.
    layout.retire_dir(&fs, &dir, Shape::Region).unwrap();
    fs.create_dir_all(&dir).unwrap();
    let count = fs.operation_count();
    layout.make_durable(&fs, &dir).unwrap();
    assert_eq!(fs.operation_count(), count + 1);
}

#[test]
fn directories_set_aside_never_overwrite_each_other() {
    let fs = MemFileSystem::new();
    let layout = store_layout();
    let dir = layout.region_dir(&region());
    let mut places = Vec::new();
    for _ in 0..3 {
        fs.create_dir_all(&dir).unwrap();
        places.push(layout.set_aside(&fs, &dir).unwrap().unwrap());
    }
    assert_eq!(layout.set_aside(&fs, &dir).unwrap(), None);
    assert!(places.iter().all(|place| fs.exists(place).unwrap()));
    assert_ne!(places[0], places[1]);
    assert_ne!(places[1], places[2]);
}

/// HBase's cleaner deletes files in the archive that no snapshot lists: what an earlier version set
/// aside there is taken out, next to what was set aside since.
#[test]
fn what_was_set_aside_in_the_archive_is_taken_out_of_it() {
    let fs = MemFileSystem::new();
    let layout = store_layout();
    let former = layout.archive_dir().join(layout.moved_dir().file_name().unwrap());
    layout.take_moved_out_of_archive(&fs).unwrap();
    assert!(!fs.exists(&former).unwrap() && !fs.exists(&layout.moved_dir()).unwrap());
    let write = |path: &Path, content: &[u8]| {
        fs.create_dir_all(path.parent().unwrap()).unwrap();
        fs.write_atomically(path, content).unwrap();
    };
    write(&layout.moved_dir().join("3/data/t/new"), b"new");
    write(&former.join("2/data/t/second"), b"second");
    write(&former.join("10/data/t/third"), b"third");
    write(&layout.archive_dir().join("data/default/t/f"), b"linked");
    layout.take_moved_out_of_archive(&fs).unwrap();
    assert!(!fs.exists(&former).unwrap());
    assert!(fs.exists(&layout.archive_dir().join("data/default/t/f")).unwrap());
    let moved = layout.moved_dirs(&fs).unwrap();
    let names = ["new", "second", "third"];
    assert_eq!(moved.len(), names.len());
    for (dir, name) in moved.iter().zip(names) {
        assert_eq!(fs.read(&dir.join("data/t").join(name)).unwrap(), name.as_bytes());
    }
}

/// Wherever the power fails, the directory set aside is in its old place or in the new one,
/// complete.
#[test]
fn a_directory_is_set_aside_durably() {
    for operations in 0.. {
        let fs = CrashFileSystem::new();
        let layout = store_layout();
        let dir = layout.region_dir(&region());
        fs.create_dir_all(&dir.join("f")).unwrap();
        fs.create(&dir.join("f/mine")).unwrap().write_all(b"mine").unwrap();
        fs.sync_everything();
        fs.power_off_after(operations);
        let retired = layout.retire_dir(&fs, &dir, Shape::Region);
        let target = layout.moved_dir().join("1").join(dir.strip_prefix("/d").unwrap());
        for after in (0..8).map(|seed| fs.after_power_cut(seed)).chain([fs.after_kill()]) {
            let found: Vec<_> =
                [&dir, &target].into_iter().filter(|place| after.exists(place).unwrap()).collect();
            assert_eq!(found.len(), 1, "{operations}: {found:?}");
            assert_eq!(after.read(&found[0].join("f/mine")).unwrap(), b"mine");
            assert!(retired.is_err() || found[0] == &target, "{operations}");
        }
        if let Ok(retired) = retired {
            assert_eq!(retired, Retired::SetAside(target));
            return;
        }
    }
}

#[test]
fn an_interrupted_removal_is_finished_by_the_next_open_and_nothing_else_goes() {
    let fs = MemFileSystem::new();
    let id = "ca9fced8-4350-477d-9b81-eaf32ebf7024".parse().unwrap();
    let layout = Layout::new(Path::new("/d")).with_store_id(id);
    let other = Layout::new(Path::new("/d")).with_store_id(StoreId::from_bytes([7; 16]));
    let own = [layout.scratch_dir("half"), layout.snapshot_working_dir("s")];
    let foreign = [
        layout.trash_dir().join("mine"),
        layout.snapshots_working_dir().join("mine"),
        other.scratch_dir("half"),
    ];
    for dir in own.iter().chain(&foreign) {
        fs.create_dir_all(dir).unwrap();
        fs.write_atomically(&dir.join(".manifest"), b"x").unwrap();
    }
    // Someone's file that got into a directory on its way out is kept, and all with it.
    let late = layout.scratch_dir("late");
    fs.create_dir_all(&late).unwrap();
    fs.write_atomically(&late.join("a.jpg"), b"mine").unwrap();
    layout.remove_own_leftovers(&fs).unwrap();
    assert!(own.iter().all(|dir| !fs.exists(dir).unwrap()));
    assert!(foreign.iter().all(|dir| fs.exists(&dir.join(".manifest")).unwrap()));
    let moved = layout.moved_dirs(&fs).unwrap();
    assert_eq!(moved.len(), 1);
    let kept = moved[0].join(late.strip_prefix(layout.root()).unwrap()).join("a.jpg");
    assert_eq!(fs.read(&kept).unwrap(), b"mine");
    layout.remove_own_leftovers(&fs).unwrap();
}

/// A process is killed after it moved a directory to the trash, and the next open removes what is
/// in it. A power cut that undoes the move must not leave half of the directory in its place.
#[test]
fn an_open_empties_the_trash_only_of_what_stays_there() {
    for operations in 0.. {
        let fs = CrashFileSystem::new();
        let layout = store_layout();
        let dir = layout.root().join("data/ns/t");
        for path in [&dir, &layout.trash_dir()] {
            fs.create_dir_all(path).unwrap();
        }
        for file in [".regioninfo", ".manifest"] {
            fs.write_atomically(&dir.join(file), b"x").unwrap();
        }
        fs.sync_everything();
        layout.move_to_trash(&fs, &dir).unwrap();
        let killed = fs.after_kill();
        killed.power_off_after(operations);
        let is_done = layout.remove_own_leftovers(&killed).is_ok();
        for seed in 0..16 {
            let left = killed.after_power_cut(seed);
            let names = left.list_dir(&dir).map_or(0, |names| names.len());
            assert!(names == 0 || names == 2, "cut after {operations}, seed {seed}: {names}");
            assert!(names == 2 || !left.exists(&dir).unwrap(), "cut after {operations}");
        }
        if is_done {
            return;
        }
    }
}

/// In a region's directory for files that are being written, only such files are removed.
#[test]
fn unfinished_files_go_and_others_stay() {
    let fs = MemFileSystem::new();
    let layout = Layout::new(Path::new("/d"));
    let dir = layout.region_dir(&region()).join(TEMPORARY_DIR);
    let name = "0123456789abcdef0123456789abcdef";
    let write = |file: &str| {
        let path = dir.join(file);
        fs.create_dir_all(path.parent().unwrap()).unwrap();
        fs.write_atomically(&path, b"x").unwrap();
    };
    write(&format!("f/{name}"));
    write(&format!("{name}/f/{name}"));
    layout.remove_unfinished_files(&fs, &region()).unwrap();
    assert!(!fs.exists(&dir).unwrap());
    for foreign in ["mine", "f/mine.txt", &format!("f/a/b/{name}")] {
        write(foreign);
        write(&format!("f/{name}"));
        layout.remove_unfinished_files(&fs, &region()).unwrap();
        assert!(fs.exists(&dir.join(foreign)).unwrap(), "{foreign}");
        fs.remove_dir_all(&dir).unwrap();
    }
}
