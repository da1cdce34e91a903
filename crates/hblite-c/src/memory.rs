//! What C and Rust lend each other, and how C forks. All unsafe code of this crate is here.
//!
//! A parameter of a type of this file holds what C promises in the header: that its memory can be
//! read until the function returns. No safe code makes one that does not.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use hblite::RowResult;

use crate::error::Failure;

/// Bytes in memory that is not the library's or, in a result, belongs to the named handle.
///
/// `data` may be NULL if `size` is 0. A function reads the bytes that it is given until it returns,
/// and keeps copies.
///
/// Names and filters are UTF-8, paths what the system has; keys, qualifiers and values are any
/// bytes. `hblite_text` makes one of a string.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Bytes<'a> {
    /// The first byte.
    data: *const c_void,
    /// The number of bytes.
    size: usize,
    lent: PhantomData<&'a [u8]>,
}

impl<'a> Bytes<'a> {
    /// No bytes at all, as opposed to an empty value.
    pub(crate) const NONE: Self = Self { data: std::ptr::null(), size: 0, lent: PhantomData };

    /// These bytes.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), size: bytes.len(), lent: PhantomData }
    }

    /// Passes the bytes to C, which the header says how long it may read them.
    ///
    /// # Errors
    /// If there is no place for them.
    pub(crate) fn give(
        self,
        place: &mut Option<&mut MaybeUninit<Bytes<'static>>>,
    ) -> Result<(), Failure> {
        // The lifetime ends here: Rust code cannot read what it has written there.
        let outliving = Bytes { data: self.data, size: self.size, lent: PhantomData };
        give(place.as_deref_mut(), outliving).map(drop)
    }

    /// The bytes.
    ///
    /// # Errors
    /// If C passed NULL with a size, or a size that no memory has.
    pub(crate) fn get(self) -> Result<&'a [u8], Failure> {
        if self.size == 0 {
            return Ok(&[]);
        }
        if self.data.is_null() {
            return Err(Failure::argument(format!("NULL has no {} bytes", self.size)));
        }
        if isize::try_from(self.size).is_err() {
            let message = format!("{} is not the size of bytes in memory", self.size);
            return Err(Failure::argument(message));
        }
        // SAFETY: `new` made the value of a slice that lives for `'a`, or it is a parameter, and C
        // promises that `size` bytes can be read there until the function returns. Rust code has no
        // other way to make one, and a parameter does not outlive its function.
        Ok(unsafe { std::slice::from_raw_parts(self.data.cast(), self.size) })
    }

    /// The text.
    ///
    /// # Errors
    /// As [`Bytes::get`], or if it is not UTF-8.
    pub(crate) fn text(self) -> Result<&'a str, Failure> {
        std::str::from_utf8(self.get()?).map_err(|_| {
            let shown = String::from_utf8_lossy(self.get().unwrap_or_default()).into_owned();
            Failure::argument(format!("{shown} is not UTF-8"))
        })
    }
}

/// How many forks are between the process that loaded the library and this one. Those before the
/// first call do not count.
#[cfg(unix)]
pub(crate) fn forks() -> usize {
    use std::ffi::c_int;
    use std::sync::Once;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static FORKS: AtomicUsize = AtomicUsize::new(0);
    static WATCHED: Once = Once::new();
    type Handler = Option<extern "C" fn()>;
    unsafe extern "C" {
        fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    }
    extern "C" fn count() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }
    WATCHED.call_once(|| {
        // SAFETY: the function is POSIX's, and the handler, which may run in any process that
        // forked, only adds to a number. The C library forgets it when it unloads this library.
        let result = unsafe { pthread_atfork(None, None, Some(count)) };
        assert_eq!(result, 0, "there is no memory to watch for forks");
    });
    FORKS.load(Ordering::Relaxed)
}

/// As on Unix; other systems have no forks.
#[cfg(not(unix))]
pub(crate) fn forks() -> usize {
    0
}

/// Sets what a pointer to a result points to.
///
/// # Errors
/// If it is NULL.
pub(crate) fn give<T>(place: Option<&mut MaybeUninit<T>>, value: T) -> Result<&mut T, Failure> {
    match place {
        Some(place) => Ok(place.write(value)),
        None => Err(Failure::argument("the pointer to a result is NULL")),
    }
}

/// What a cell is: a value, or a marker that deletes others. Only raw scans read markers.
#[repr(i32)]
#[derive(Debug, Clone, Copy)]
pub enum CellType {
    /// A value.
    Put = 4,
    /// Deletes the version of its column that has its timestamp.
    Delete = 8,
    /// Deletes the cells of its family that have its timestamp.
    DeleteFamilyVersion = 10,
    /// Deletes the versions of its column that are not newer.
    DeleteColumn = 12,
    /// Deletes the cells of its family that are not newer.
    DeleteFamily = 14,
}

/// A cell. Its memory belongs to the row that it was read from.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// The row.
    pub row: Bytes<'a>,
    /// The family.
    pub family: Bytes<'a>,
    /// The qualifier.
    pub qualifier: Bytes<'a>,
    /// The value.
    pub value: Bytes<'a>,
    /// In milliseconds since 1970-01-01 UTC, unless the writer gave it another meaning.
    pub timestamp: i64,
    /// A `hblite_cell_type`.
    pub cell_type: i32,
}

/// A row that was read: its cells in the order of families, qualifiers and descending timestamps.
/// `hblite_free` ends it.
#[derive(Debug)]
pub struct Row {
    /// Points into the memory of `result`.
    cells: Box<[Cell<'static>]>,
    result: RowResult,
}

// SAFETY: the pointers in `cells` are to memory of `result`, which is freed with them and never
// changed: this type lends both only for reading.
unsafe impl Send for Row {}
// SAFETY: as above.
unsafe impl Sync for Row {}

impl Row {
    pub(crate) fn new(result: RowResult) -> Self {
        // SAFETY: the bytes of a row are on the heap, where they stay when `result` is moved into
        // the value below; they are freed with it, and no cell leaves the value for longer.
        let outliving = |bytes: &[u8]| unsafe {
            Bytes::new(std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()))
        };
        let cells = result.cells().map(|cell| Cell {
            row: outliving(cell.row()),
            family: outliving(cell.family()),
            qualifier: outliving(cell.qualifier()),
            value: outliving(cell.value()),
            timestamp: cell.timestamp(),
            cell_type: i32::from(cell.type_code()),
        });
        Self { cells: cells.collect(), result }
    }

    pub(crate) fn cells(&self) -> &[Cell<'_>] {
        &self.cells
    }

    pub(crate) fn result(&self) -> &RowResult {
        &self.result
    }
}
