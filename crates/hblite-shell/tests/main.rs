//! The tests of the shell, one module each.

mod commands;
mod data_model;
mod formats;
mod golden;
mod language;
mod mutations;
mod operations;
mod scripts;
mod support;
