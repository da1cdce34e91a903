//! The tests of transfers, one module each.

mod bad_lines;
mod copy;
mod fuzz;
mod hfiles;
mod mutations;
mod rekey;
mod round_trip;
