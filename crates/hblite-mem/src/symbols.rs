//! The functions under the names that the linker looks for.
//!
//! Every function that is in the same object file of the C library as one of them is here, because
//! the linker takes such a file whole or not at all.
//!
//! Invariant: C's contracts are those of [`copy`] and [`compare`].

#![allow(unsafe_code, reason = "symbols of the C library have its contracts")]

use core::ffi::{c_int, c_void};

use crate::compare::compare;
use crate::copy::copy;

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut c_void, from: *const c_void, count: usize) -> *mut c_void {
    // SAFETY: the caller's.
    unsafe { copy(to.cast(), from.cast(), count) };
    to
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut c_void, from: *const c_void, count: usize) -> *mut c_void {
    // SAFETY: the caller's.
    unsafe { copy(to.cast(), from.cast(), count) };
    to
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const c_void, right: *const c_void, count: usize) -> c_int {
    // SAFETY: the caller's.
    unsafe { compare(left.cast(), right.cast(), count) }
}

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const c_void, right: *const c_void, count: usize) -> c_int {
    // SAFETY: the caller's.
    unsafe { compare(left.cast(), right.cast(), count) }
}
