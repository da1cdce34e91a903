//! `memcpy`, `memmove` and `memcmp` for static binaries on musl.
//!
//! musl copies with `rep movsq`, which takes dozens of cycles to begin, and compares byte by byte.
//! A store copies and compares cells and keys of a hundred bytes all the time. In a release build
//! for x86-64 and musl, the linker finds the functions of this crate before the C library's. They
//! use SSE2, which every such processor has.
//!
//! For other targets, and in builds with debug assertions, the crate defines no symbols.
//!
//! Without `no_builtins`, the compiler would take these loops for the functions that they are, and
//! call them.

#![no_std]
#![no_builtins]
#![cfg(target_arch = "x86_64")]

#[cfg(test)]
extern crate std;

#[cfg(any(test, all(target_env = "musl", not(debug_assertions))))]
mod compare;
#[cfg(any(test, all(target_env = "musl", not(debug_assertions))))]
mod copy;
#[cfg(all(target_env = "musl", not(debug_assertions)))]
mod symbols;
