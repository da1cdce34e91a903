//! The tests of row keys, one module each.

mod damaged_text;
mod documents;
mod mutations;
mod programs;
mod properties;
