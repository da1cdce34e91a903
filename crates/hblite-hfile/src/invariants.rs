//! Which invariants are checked while the program runs.
//!
//! Cheap ones are always checked, with `assert!`. Those that walk over whole structures are checked
//! in builds with debug assertions (tests, simulation, fuzzing), and in any build with the feature
//! `invariants`.

/// Whether expensive invariants are checked.
pub(crate) const ARE_CHECKED: bool = cfg!(any(debug_assertions, feature = "invariants"));
