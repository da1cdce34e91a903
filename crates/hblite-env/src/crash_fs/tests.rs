//! What a power cut may take and what it must keep, for names, contents and failed syncs.

use std::collections::BTreeSet;

use super::*;

fn write(fs: &CrashFileSystem, path: &str, content: &[u8]) -> Box<dyn WritableFile> {
    let mut file = fs.create(Path::new(path)).unwrap();
    file.write_all(content).unwrap();
    file
}

fn names(fs: &CrashFileSystem, dir: &str) -> Vec<String> {
    fs.list_dir(Path::new(dir)).unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn a_kill_keeps_what_was_written_and_a_power_cut_what_was_synced() {
    let fs = CrashFileSystem::new();
    fs.create_dir_all(Path::new("/d")).unwrap();
    fs.sync_dir(Path::new("/")).unwrap();
    let mut file = write(&fs, "/d/a", b"synced ");
    file.sync().unwrap();
    fs.sync_dir(Path::new("/d")).unwrap();
    file.write_all(b"not").unwrap();
    write(&fs, "/d/b", b"x").sync().unwrap();
    let killed = fs.after_kill();
    assert_eq!(killed.read(Path::new("/d/a")).unwrap(), b"synced not");
    assert_eq!(names(&killed, "/d"), ["a", "b"]);
    let cut = fs.after_power_cut(0);
    assert_eq!(cut.read(Path::new("/d/a")).unwrap(), b"synced ");
    assert_eq!(names(&cut, "/d"), ["a"]);
    assert_eq!(fs.read(Path::new("/d/a")).unwrap(), b"synced not");
}

#[test]
fn a_name_needs_the_names_above_it() {
    let fs = CrashFileSystem::new();
    fs.create_dir_all(Path::new("/d/e")).unwrap();
    write(&fs, "/d/e/a", b"x").sync().unwrap();
    fs.sync_dir(Path::new("/d/e")).unwrap();
    fs.sync_dir(Path::new("/d")).unwrap();
    assert!(!fs.after_power_cut(0).exists(Path::new("/d")).unwrap());
    fs.sync_dir(Path::new("/")).unwrap();
    assert_eq!(fs.after_power_cut(0).read(Path::new("/d/e/a")).unwrap(), b"x");
}

#[test]
fn chance_decides_over_the_unsynced_and_never_touches_the_synced() {
    let fs = CrashFileSystem::new();
    let mut file = write(&fs, "a", &[7; 1000]);
    file.sync().unwrap();
    fs.sync_dir(Path::new("")).unwrap();
    file.write_all(&[9; 3000]).unwrap();
    write(&fs, "b", b"x");
    let (mut lengths, mut zeroed, mut kept_name) = (BTreeSet::new(), 0, 0);
    for seed in 1..=200 {
        let cut = fs.after_power_cut(seed);
        let content = cut.read(Path::new("a")).unwrap();
        assert_eq!(content[..1000], [7; 1000]);
        lengths.insert(content.len());
        zeroed += usize::from(content.contains(&0));
        kept_name += usize::from(cut.exists(Path::new("b")).unwrap());
    }
    assert!(lengths.len() > 50 && lengths.contains(&4000) && zeroed > 20);
    assert!((20..180).contains(&kept_name));
}

#[test]
fn a_rename_happens_wholly_or_not_at_all() {
    let fs = CrashFileSystem::new();
    write(&fs, "a.tmp", b"new").sync().unwrap();
    write(&fs, "a", b"old").sync().unwrap();
    fs.sync_dir(Path::new("")).unwrap();
    fs.rename(Path::new("a.tmp"), Path::new("a")).unwrap();
    for seed in 0..50 {
        let cut = fs.after_power_cut(seed);
        let new = cut.read(Path::new("a")).unwrap() == b"new";
        assert_eq!(new, !cut.exists(Path::new("a.tmp")).unwrap());
    }
    fs.sync_dir(Path::new("")).unwrap();
    assert_eq!(fs.after_power_cut(0).read(Path::new("a")).unwrap(), b"new");
}

#[test]
fn a_directory_moves_with_its_files_and_is_removed_file_by_file() {
    let fs = CrashFileSystem::new();
    fs.create_dir_all(Path::new("/d")).unwrap();
    write(&fs, "/d/a", b"x");
    write(&fs, "/d/b", b"y");
    fs.rename(Path::new("/d"), Path::new("/e")).unwrap();
    fs.sync_everything();
    assert_eq!(names(&fs.after_power_cut(0), "/e"), ["a", "b"]);
    fs.remove_dir_all(Path::new("/e")).unwrap();
    assert!(!fs.exists(Path::new("/e")).unwrap());
    let left: BTreeSet<usize> = (0..100)
        .map(|seed| fs.after_power_cut(seed).list_dir(Path::new("/e")).map_or(9, |l| l.len()))
        .collect();
    assert_eq!(left, BTreeSet::from([0, 1, 2, 9]));
}

#[test]
fn a_failed_sync_may_lose_what_a_later_sync_seems_to_cover() {
    let fs = CrashFileSystem::new();
    let mut file = write(&fs, "a", &[1; 2000]);
    fs.sync_dir(Path::new("")).unwrap();
    fs.fail_sync(Path::new("a"));
    file.write_all(&[2; 10]).unwrap();
    file.sync().unwrap();
    let is_whole = |seed: &u64| {
        let content = fs.after_power_cut(*seed).read(Path::new("a")).unwrap();
        assert!(content.len() == 2010 && content[2000..] == [2; 10], "synced after the failure");
        content[..2000] == [1; 2000]
    };
    let whole = (1..100).filter(is_whole).count();
    assert!((10..90).contains(&whole), "{whole} of 99 kept all");
}

#[test]
fn sectors_of_both_sizes_are_lost_and_counted() {
    let fs = CrashFileSystem::new();
    write(&fs, "a", &[1; 64 * 1024]);
    let mut total = Losses::default();
    for seed in 1..200 {
        let losses = fs.after_power_cut_with_losses(seed).1;
        total.sectors_lost[0] += losses.sectors_lost[0];
        total.sectors_lost[1] += losses.sectors_lost[1];
        total.tails_torn += losses.tails_torn;
        total.names_lost += losses.names_lost;
    }
    assert!(total.sectors_lost[0] > total.sectors_lost[1] && total.sectors_lost[1] > 0);
    assert!(total.tails_torn > 50 && (50..150).contains(&total.names_lost), "{total:?}");
}

#[test]
fn a_fork_goes_its_own_way_and_a_bit_flips_in_one_place() {
    let fs = CrashFileSystem::new();
    let mut file = write(&fs, "a", b"abc");
    let fork = fs.fork();
    file.write_all(b"d").unwrap();
    fork.flip_bit(Path::new("a"), 1, 8).unwrap();
    assert_eq!(fork.read(Path::new("a")).unwrap(), b"acc");
    assert_eq!(fs.read(Path::new("a")).unwrap(), b"abcd");
    assert!(fork.flip_bit(Path::new("a"), 3, 0).is_err());
}

#[test]
fn the_power_goes_off_at_the_asked_operation() {
    let fs = CrashFileSystem::new();
    let before = fs.operation_count();
    fs.power_off_after(2);
    let mut file = write(&fs, "a", b"1");
    assert_eq!(fs.operation_count() - before, 2);
    assert!(file.write_all(b"2").is_err() && file.sync().is_err());
    assert!(fs.open(Path::new("a")).is_err());
    assert_eq!(fs.after_kill().read(Path::new("a")).unwrap(), b"1");
}

#[test]
fn the_last_operation_before_the_power_goes_is_done() {
    let fs = CrashFileSystem::new();
    write(&fs, "/a", b"1");
    fs.power_off_after(1);
    fs.rename(Path::new("/a"), Path::new("/b")).unwrap();
    assert!(fs.exists(Path::new("/b")).is_err() && fs.list_dir(Path::new("/")).is_err());
    assert_eq!(names(&fs.after_kill(), "/"), ["b"]);
}

#[test]
fn a_lock_ends_with_its_holder_or_the_machine() {
    let fs = CrashFileSystem::new();
    let lock = fs.lock(Path::new("LOCK"), "me").unwrap();
    let refused = fs.lock(Path::new("LOCK"), "you").unwrap_err();
    assert_eq!((refused.kind(), refused.to_string().as_str()), (io::ErrorKind::WouldBlock, "me"));
    assert!(fs.after_power_cut(0).lock(Path::new("LOCK"), "you").is_ok());
    drop(lock);
    assert!(fs.lock(Path::new("LOCK"), "you").is_ok());
}
