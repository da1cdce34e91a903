//! Goal: what a durability level promises survives a kill and a power cut, and nothing else
//! appears. Method: a workload over a file system that forgets what was not synced, cut after every
//! operation; the log is then replayed, continued, and cut again.

use super::*;

/// The durability of write `index`.
fn durability_of(index: usize) -> Durability {
    match index % 5 {
        0 => Durability::FsyncWal,
        1 => Durability::AsyncWal,
        _ => Durability::SyncWal,
    }
}

/// How many writes, counted from the first.
#[derive(Debug, Default)]
struct Run {
    attempted: usize,
    /// Acknowledged as written.
    written: usize,
    /// Acknowledged as synced.
    synced: usize,
}

/// Writes until the power is off.
fn run(wal: &Wal, writes: &[Write], flush: bool) -> Run {
    let mut run = Run::default();
    for (index, each) in writes.iter().enumerate() {
        let durability = durability_of(index);
        run.attempted = index + 1;
        if write(wal, each, durability).is_err() {
            break;
        }
        match durability {
            Durability::FsyncWal => (run.written, run.synced) = (index + 1, index + 1),
            Durability::SyncWal => run.written = index + 1,
            _ => {}
        }
        // Regions flush everything now and then.
        if flush && index % 7 == 6 && wal.region_flushed(&each.region, each.sequence_id).is_err() {
            break;
        }
    }
    run
}

/// The same, and the power may go off while the log is being opened.
fn open_and_run(env: &Env, report: &ReplayReport, writes: &[Write], flush: bool) -> Run {
    match Wal::open(env, Path::new(DIR), small(), report) {
        Ok(wal) => run(&wal, writes, flush),
        Err(_) => Run::default(),
    }
}

fn assert_prefix(replayed: &[Write], writes: &[Write], at_least: usize, when: &str) {
    let prefix = replayed.len() <= writes.len() && replayed == &writes[..replayed.len()];
    assert!(prefix, "{when}: not a prefix");
    assert!(replayed.len() >= at_least, "{when}: {} of {at_least}", replayed.len());
}

#[test]
fn every_cut_leaves_a_prefix_with_all_that_was_promised() {
    let writes = random_writes(11, 60);
    let mut point = 0;
    loop {
        let (fs, env) = crash_env();
        let (wal, _, _) = open_with(&env, small());
        fs.power_off_after(point);
        let Run { written, synced, .. } = run(&wal, &writes, false);
        let (killed, _) = replay_all(&env_on(fs.after_kill()));
        assert_prefix(&killed, &writes, written, &format!("kill at {point}"));
        for seed in 0..12 {
            let (cut, _) = replay_all(&env_on(fs.after_power_cut(seed)));
            let when = format!("power cut at {point}, seed {seed}");
            assert_prefix(&cut, &writes, synced, &when);
        }
        if written == writes.len() {
            break;
        }
        point += 1;
    }
    assert!(point > 100);
}

#[test]
fn a_log_is_continued_after_one_crash_after_another() {
    for seed in 1..150 {
        let random = SeededRandom::new(seed);
        let (mut fs, mut env) = crash_env();
        let mut kept: Vec<Write> = Vec::new();
        let mut promised = 0;
        for round in 0..6 {
            let (replayed, report) = replay_all(&env);
            let when = format!("seed {seed}, round {round}");
            assert_prefix(&replayed, &kept, promised, &when);
            // What a replay returned is only in memory: it must be returned again until it is
            // flushed.
            kept.truncate(replayed.len());
            let next = random_writes(random.next_u64(), 10);
            fs.power_off_after(random.next_u64() % 60);
            let Run { written, synced, .. } = open_and_run(&env, &report, &next, false);
            let before = kept.len();
            kept.extend(next);
            if random.next_u64().is_multiple_of(2) {
                fs = fs.after_kill();
                promised = if written > 0 { before + written } else { promised.min(before) };
            } else {
                fs = fs.after_power_cut(random.next_u64());
                promised = if synced > 0 { before + synced } else { 0 };
            }
            env = env_on(fs.clone());
        }
    }
}

/// What a store would hold: promised writes that no flush has covered.
#[derive(Debug, Default, Clone)]
struct Promised {
    after_kill: Vec<Write>,
    after_power_cut: Vec<Write>,
}

#[test]
fn flushed_log_files_may_go_or_come_back_and_the_rest_stays() {
    for seed in 1..150 {
        let random = SeededRandom::new(seed);
        let (mut fs, mut env) = crash_env();
        let mut known: Vec<Write> = Vec::new();
        let mut promised = Promised::default();
        let mut flushes: Vec<Write> = Vec::new();
        for round in 0..5 {
            let (replayed, report) = replay_all(&env);
            for each in &promised.after_kill {
                assert!(replayed.contains(each), "seed {seed}, round {round}, {each:?}");
            }
            assert!(replayed.iter().all(|each| known.contains(each)));
            let mut next = random_writes(random.next_u64(), 30);
            next.iter_mut().for_each(|each| each.sequence_id += known.len() as u64);
            fs.power_off_after(random.next_u64() % 150);
            let Run { attempted, written, synced } = open_and_run(&env, &report, &next, true);
            promised.after_kill.extend_from_slice(&next[..written]);
            if synced > 0 {
                promised.after_power_cut = replayed;
                promised.after_power_cut.extend_from_slice(&next[..synced]);
            }
            flushes.extend(next[..attempted].iter().skip(6).step_by(7).cloned());
            for flushed in &flushes {
                let is_left = |each: &Write| {
                    each.region != flushed.region || each.sequence_id > flushed.sequence_id
                };
                promised.after_kill.retain(is_left);
                promised.after_power_cut.retain(is_left);
            }
            if random.next_u64().is_multiple_of(2) {
                fs = fs.after_kill();
            } else {
                fs = fs.after_power_cut(random.next_u64());
                promised.after_kill = promised.after_power_cut.clone();
            }
            env = env_on(fs.clone());
            known.extend(next);
        }
    }
}

/// A process is killed after it wrote, but did not sync, that log files are not needed. The next
/// open removes them; a power cut then must not remove the mark that explains why they are missing.
#[test]
fn what_an_open_removes_after_a_kill_is_not_missed_after_a_power_cut() {
    let writes = random_writes(15, 40);
    for is_closed in [false, true] {
        for point in 0.. {
            let (fs, env) = crash_env();
            let (wal, _, _) = open_with(&env, small());
            fs.power_off_after(point);
            let is_done = run(&wal, &writes, true).attempted == writes.len();
            let flushed = ["1588230740", "aa", "bb"].map(|region| wal.region_flushed(region, 40));
            let is_over =
                is_done && flushed.iter().all(Result::is_ok) && (!is_closed || wal.close().is_ok());
            let killed = fs.after_kill();
            let _wal = open_with(&env_on(killed.clone()), small());
            for seed in 0..8 {
                let left = env_on(killed.after_power_cut(seed));
                let replayed = replay_with(&left, false);
                replayed.unwrap_or_else(|error| panic!("kill at {point}, cut {seed}: {error}"));
            }
            if is_over {
                break;
            }
        }
    }
}

#[test]
fn synced_records_stay_synced_when_an_older_log_file_was_only_written() {
    let (fs, env) = crash_env();
    let writes = random_writes(3, 30);
    let (wal, _, _) = open_with(&env, small());
    writes[..29].iter().for_each(|each| write(&wal, each, Durability::SyncWal).unwrap());
    let killed = fs.after_kill();
    let (wal, replayed, _) = open_with(&env_on(killed.clone()), small());
    assert_eq!(replayed, writes[..29]);
    write(&wal, &writes[29], Durability::FsyncWal).unwrap();
    assert_eq!(replay_all(&env_on(killed.after_power_cut(0))).0, writes);
}

#[test]
fn lost_pages_before_a_mark_are_damage() {
    let (fs, env) = crash_env();
    let writes = random_writes(5, 40);
    let (wal, _, _) = open_with(&env, WalOptions::default());
    writes[..39].iter().for_each(|each| write(&wal, each, Durability::SyncWal).unwrap());
    let path = log_file_path(Path::new(DIR), 1);
    let lose = |fs: &CrashFileSystem| {
        let env = env_on(fs.after_kill());
        let mut content = env.fs.read(&path).unwrap();
        content[512..1024].fill(0);
        put_file(&env, &path, &content);
        env
    };
    // They were not promised to survive: a power cut may have done it.
    let (replayed, report) = replay_all(&lose(&fs));
    assert_prefix(&replayed, &writes, 1, "lost pages");
    assert!(report.torn_tail.unwrap().bytes_lost > 1000);
    // A sync and what follows it say that they were there.
    write(&wal, &writes[38], Durability::FsyncWal).unwrap();
    write(&wal, &writes[39], Durability::SyncWal).unwrap();
    let env = lose(&fs);
    assert_corrupt(&replay_with(&env, false).unwrap_err(), &path);
    let (salvaged, report) = replay_with(&env, true).unwrap();
    assert!(salvaged.len() > 30 && report.salvaged.len() == 1 && report.torn_tail.is_none());
}

/// A sync fails, and the operating system considers the bytes written: the process that opens the
/// log next writes them again. After a power cut, what that process relied on is there.
#[test]
fn a_log_whose_last_sync_failed_is_written_again_when_it_is_opened() {
    let mut lost_without = 0;
    for seed in 1..=60 {
        let (fs, env) = crash_env();
        let writes = random_writes(seed, 40);
        let (wal, _, _) = open_with(&env, WalOptions::default());
        write(&wal, &writes[0], Durability::FsyncWal).unwrap();
        for each in &writes[1..] {
            write(&wal, each, Durability::SyncWal).unwrap();
        }
        drop(wal);
        fs.fail_sync(&Path::new(DIR).join("hblite-wal.0000000001"));
        let fs = fs.after_kill();

        // What a plain sync guarantees.
        let synced = fs.after_kill();
        synced.sync_file(&Path::new(DIR).join("hblite-wal.0000000001")).unwrap();
        let cut = env_on(synced.after_power_cut(seed));
        let left = replay_with(&cut, false).map_or(0, |(writes, _)| writes.len());
        lost_without += usize::from(left < writes.len());

        let env = env_on(fs.clone());
        let (wal, found, _) = open_with(&env, WalOptions::default());
        assert_eq!(found, writes);
        wal.sync_all().unwrap();
        drop(wal);
        let (found, report) = replay_all(&env_on(fs.after_power_cut(seed)));
        assert_eq!(found, writes, "seed {seed}");
        assert_eq!(report.torn_tail, None, "seed {seed}");
    }
    assert!(lost_without > 10, "a plain sync loses writes: {lost_without} of 60");
}
