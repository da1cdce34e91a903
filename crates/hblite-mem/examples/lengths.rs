//! Measures how long it takes to copy and to compare bytes of short lengths.
//!
//!     cargo run --release -p hblite-mem --example lengths
//!     cargo run --release -p hblite-mem --example lengths --target x86_64-unknown-linux-musl
//!
//! The first runs the functions of this system's C library, the second those of this crate. With
//! `CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true`, the second runs musl's.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Instant;

use hblite_mem as _;

const ROUNDS: usize = 20_000_000;
/// They are as long as names, rows and small values.
const LENGTHS: [usize; 8] = [5, 17, 29, 41, 53, 65, 77, 89];

fn measure(what: &str, work: impl Fn(usize, usize)) {
    let began = Instant::now();
    for round in 0..ROUNDS {
        work(round, black_box(LENGTHS[round % LENGTHS.len()]));
    }
    println!("{what}: {:.1} ns", began.elapsed().as_nanos() as f64 / ROUNDS as f64);
}

fn main() {
    let from = vec![7_u8; 1 << 10];
    let to = RefCell::new(vec![7_u8; 1 << 16]);
    measure("copying", |round, length| {
        let at = round * 131 % (1 << 15);
        let mut to = to.borrow_mut();
        let to = &mut to[at..at + length];
        to.copy_from_slice(black_box(&from[..length]));
        black_box(to);
    });
    measure("comparing", |round, length| {
        let at = round % 512;
        black_box(black_box(&from[at..at + length]).cmp(black_box(&from[..length])));
    });
}
