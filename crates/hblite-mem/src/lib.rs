//! What the C library does with memory: `memcpy`, `memmove` and `memcmp` for static binaries on
//! musl, and, on glibc, the return of free memory to the system.
//!
//! musl copies with `rep movsq`, which takes dozens of cycles to begin, and compares byte by byte.
//! A store copies and compares cells and keys of a hundred bytes all the time. In a release build
//! for x86-64 and musl, the linker finds the functions of this crate before the C library's. They
//! use SSE2, which every such processor has.
//!
//! For other targets, for libraries, whose programs have functions of their own, and in builds with
//! debug assertions, the crate defines no symbols.
//! [`release_free_memory`] does nothing without glibc.
//!
//! Without `no_builtins`, the compiler would recognize these loops and replace them with calls of
//! the very functions that they implement.

#![no_std]
#![no_builtins]

#[cfg(test)]
extern crate std;

#[cfg(all(
    target_arch = "x86_64",
    any(test, all(target_env = "musl", target_feature = "crt-static", not(debug_assertions)))
))]
mod compare;
#[cfg(all(
    target_arch = "x86_64",
    any(test, all(target_env = "musl", target_feature = "crt-static", not(debug_assertions)))
))]
mod copy;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heap;
#[cfg(all(
    target_arch = "x86_64",
    target_env = "musl",
    target_feature = "crt-static",
    not(debug_assertions)
))]
mod symbols;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub use heap::{release_free_memory, share_one_heap};

/// Returns free memory to the system, where the allocator does not.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn release_free_memory() {}

/// Makes threads share one heap, where the allocator gives them their own.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn share_one_heap() {}
