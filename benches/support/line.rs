//! How long a line of memory takes from one processor to another.
//!
//! How fast several threads are depends on it: 40 ns where processors have a cache in common, and
//! 200 ns where they do not. A virtual machine may change between the two while it runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Round trips in a measurement.
const TURNS: u64 = 10_000;
/// The limit where both threads have the same processor, and hardly get anywhere.
const PATIENCE: Duration = Duration::from_millis(100);

/// A number on a line of its own. Some processors load two lines together.
#[repr(align(128))]
struct Line(AtomicU64);

/// Nanoseconds for one way: two threads write the same number in turn. `None` if they do not run at
/// the same time.
pub(crate) fn nanoseconds() -> Option<f64> {
    let (line, is_over) = (Line(AtomicU64::new(0)), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let number = line.0.load(Ordering::Acquire);
                if number % 2 == 1 {
                    line.0.store(number + 1, Ordering::Release);
                }
            }
        });
        let go = |turns: std::ops::Range<u64>| {
            let began = Instant::now();
            for turn in turns {
                line.0.store(2 * turn + 1, Ordering::Release);
                let mut polls = 0_u32;
                while line.0.load(Ordering::Acquire) != 2 * turn + 2 {
                    polls += 1;
                    // Reading the clock takes as long as the line does.
                    if polls.is_multiple_of(1 << 12) && began.elapsed() > PATIENCE {
                        return None;
                    }
                }
            }
            Some(began.elapsed())
        };
        // Not counted: the first round trips include the start of the other thread.
        let elapsed = go(0..TURNS / 10).and_then(|_| go(TURNS / 10..TURNS + TURNS / 10));
        is_over.store(true, Ordering::Relaxed);
        elapsed.map(|elapsed| elapsed.as_secs_f64() * 1e9 / (2 * TURNS) as f64)
    })
}
