//! The tests of the case studies, one module each.

mod ids;
mod lists;
mod studies;
mod web_table;
