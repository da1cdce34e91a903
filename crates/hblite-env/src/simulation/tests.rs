//! The scheduler itself: determinism, deadlocks, time, and the bugs that it must find.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Options, Policy, Report, run};
use crate::sync::{Condvar, Mutex, RwLock, mpsc};
use crate::thread;
use crate::time::Instant;

fn options(seed: u64) -> Options {
    let policy = match seed % 3 {
        0 => Policy::Random { switch_one_in: 1 },
        1 => Policy::Random { switch_one_in: 4 },
        _ => Policy::Priorities { changes: 3, steps: 100 },
    };
    Options { seed, policy, steps_max: 100_000, keeps_trace: false }
}

/// Two threads that read a counter under a lock and write it back under a separate acquisition.
fn lost_update() -> u64 {
    let counter = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let seen = *counter.lock();
                *counter.lock() = seen + 1;
            });
        }
    });
    counter.into_inner()
}

#[test]
fn every_outcome_of_a_race_is_found() {
    let found: BTreeSet<u64> =
        (0..60).map(|seed| run(options(seed), lost_update).0.unwrap()).collect();
    assert_eq!(found, BTreeSet::from([1, 2]));
}

#[test]
fn the_same_seed_gives_the_same_trace_and_others_do_not() {
    let report = |seed| -> Report { run(options(seed), lost_update).1 };
    let hashes: BTreeSet<u64> = (0..60).map(|seed| report(seed).trace_hash).collect();
    assert!(hashes.len() > 20, "{} different traces", hashes.len());
    for seed in 0..60 {
        assert_eq!(report(seed), report(seed), "seed {seed}");
    }
}

#[test]
fn two_locks_in_both_orders_deadlock_and_are_named() {
    let work = || {
        let (one, other) = (Mutex::new(()), Mutex::new(()));
        thread::scope(|scope| {
            scope.spawn(|| {
                let _one = one.lock();
                let _other = other.lock();
            });
            scope.spawn(|| {
                let _other = other.lock();
                let _one = one.lock();
            });
        });
    };
    let failures: Vec<String> =
        (0..60).filter_map(|seed| run(options(seed), work).0.err()).collect();
    assert!(!failures.is_empty() && failures.len() < 60, "{} deadlocks", failures.len());
    assert!(failures[0].contains("deadlock") && failures[0].contains("wait for a mutex"));
}

#[test]
fn a_second_read_behind_a_waiting_writer_deadlocks() {
    let work = || {
        let lock = RwLock::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                let _first = lock.read();
                let _second = lock.read();
            });
            scope.spawn(|| *lock.write() += 1);
        });
    };
    assert!((0..60).any(|seed| run(options(seed), work).0.is_err()));
}

#[test]
fn time_is_virtual_and_jumps_when_everybody_waits() {
    let real = std::time::Instant::now();
    let (waited, report) = run(options(1), || {
        let (began, lock, bell) = (Instant::now(), Mutex::new(()), Condvar::new());
        thread::sleep(Duration::from_secs(3600));
        let is_timed_out = bell.wait_for(&mut lock.lock(), Duration::from_secs(60)).timed_out();
        assert!(is_timed_out);
        began.elapsed()
    });
    let waited = waited.unwrap();
    assert!(waited >= Duration::from_secs(3660) && waited < Duration::from_secs(3661));
    assert!(report.elapsed >= waited && real.elapsed() < Duration::from_secs(60));
}

#[test]
fn channels_deliver_in_order_and_tell_of_their_end() {
    for seed in 0..20 {
        let (result, _) = run(options(seed), || {
            let (sender, receiver) = mpsc::channel();
            let work = move || (0..5).for_each(|n| sender.send(n).unwrap());
            let thread = thread::Builder::new().name("sender".to_owned()).spawn(work).unwrap();
            let received: Vec<i32> = std::iter::from_fn(|| receiver.recv().ok()).collect();
            thread.join().unwrap();
            assert_eq!(received, [0, 1, 2, 3, 4]);
            let late = receiver.recv_timeout(Duration::from_secs(1));
            assert_eq!(late, Err(mpsc::RecvTimeoutError::Disconnected));
        });
        result.unwrap();
    }
}

#[test]
fn a_panic_of_any_thread_ends_the_run() {
    let (result, _) = run(options(0), || {
        let lock = Arc::new(Mutex::new(()));
        let other = Arc::clone(&lock);
        let work = move || {
            let _guard = other.lock();
            panic!("on purpose");
        };
        let thread = thread::Builder::new().spawn(work).unwrap();
        assert!(thread.join().is_err());
    });
    assert!(result.unwrap_err().contains("on purpose"));
}

#[test]
fn a_loop_that_waits_for_nothing_is_found() {
    let limits = Options { steps_max: 1_000, ..options(0) };
    let (result, _) = run(limits, || {
        loop {
            thread::yield_now();
        }
    });
    assert!(result.is_err_and(|failure: String| failure.contains("no end after")));
}

#[test]
fn outside_of_a_simulation_everything_is_real() {
    let (count, lock, bell) = (AtomicU64::new(0), Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut is_rung = lock.lock();
            while !*is_rung {
                bell.wait(&mut is_rung);
            }
            count.fetch_add(1, Ordering::SeqCst);
        });
        *lock.lock() = true;
        bell.notify_all();
    });
    assert_eq!(count.into_inner(), 1);
}
