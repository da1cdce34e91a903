//! The tests of the shell, one module each.

mod commands;
mod data_model;
mod golden;
mod mutations;
mod operations;
mod scripts;
mod support;
