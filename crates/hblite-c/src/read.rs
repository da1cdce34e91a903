//! What a get or a scan reads.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

use hblite::filter::{Filter, parse_filter};
use hblite::{Get, Scan, TimeRange, row_bound};
use parking_lot::Mutex;

use crate::error::{Code, Error, Failure, run};
use crate::memory::{Bytes, give};
use crate::registry::{self, Object};

/// The range of a scan begins after its start, instead of with it.
pub const HBLITE_EXCLUDE_START: u32 = 1;
/// The range of a scan ends with its stop, instead of before it.
pub const HBLITE_INCLUDE_STOP: u32 = 2;

/// What a get or a scan reads. NULL in its place, and a new one, stand for everything: all columns,
/// the newest version of each, all rows. `hblite_free` ends it; until then, it may be used for many
/// calls.
#[derive(Debug)]
pub struct Read {
    settings: Mutex<Settings>,
}

impl Object for Read {
    const NAME: &'static str = "hblite_read";
}

#[derive(Debug, Clone, Default)]
struct Settings {
    /// Families and columns in the order given: in HBase, the last one of a family decides.
    names: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    versions: Option<u32>,
    time_range: Option<TimeRange>,
    filter: Option<Filter>,
    rows: Rows,
}

/// What only scans have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Rows {
    prefix: Option<Vec<u8>>,
    start: Option<(Vec<u8>, bool)>,
    stop: Option<(Vec<u8>, bool)>,
    reversed: bool,
    limit: Option<u32>,
    is_raw: bool,
}

/// Applies the settings to a get or a scan.
macro_rules! apply {
    ($settings:expr, $read:expr) => {{
        let mut read = $read;
        for (family, qualifier) in &$settings.names {
            read = match qualifier {
                Some(qualifier) => read.with_column(family, qualifier),
                None => read.with_family(family),
            };
        }
        if let Some(versions) = $settings.versions {
            read = read.with_versions(versions);
        }
        if let Some(time_range) = $settings.time_range {
            read = read.with_time_range(time_range);
        }
        match &$settings.filter {
            Some(filter) => read.with_filter(filter.clone()),
            None => read,
        }
    }};
}

impl Read {
    /// A get of this row.
    ///
    /// # Errors
    /// If the settings have a range of rows.
    pub(crate) fn get(read: *mut Self, row: &[u8]) -> Result<Get, Failure> {
        let Some(read) = registry::get_if_any(read)? else { return Ok(Get::new(row)) };
        let settings = read.settings.lock();
        if settings.rows != Rows::default() {
            let message = "this hblite_read chooses rows or is raw, which is for scans";
            return Err(Failure::argument(message));
        }
        Ok(apply!(settings, Get::new(row)))
    }

    /// A scan.
    pub(crate) fn scan(read: *mut Self) -> Result<Scan, Failure> {
        let Some(read) = registry::get_if_any(read)? else { return Ok(Scan::new()) };
        let settings = read.settings.lock();
        let rows = &settings.rows;
        let mut scan = Scan::new().with_reversed(rows.reversed).with_raw(rows.is_raw);
        if let Some(prefix) = &rows.prefix {
            scan = scan.with_prefix(prefix);
        }
        if let Some((row, is_inclusive)) = &rows.start {
            scan = scan.with_start_bound(row_bound(row, *is_inclusive));
        }
        if let Some((row, is_inclusive)) = &rows.stop {
            scan = scan.with_stop_bound(row_bound(row, *is_inclusive));
        }
        if let Some(limit) = rows.limit {
            scan = scan.with_limit(limit);
        }
        Ok(apply!(settings, scan))
    }
}

fn change(
    read: *mut Read,
    error: Option<&mut MaybeUninit<Error>>,
    change: impl FnOnce(&mut Settings) -> Result<(), Failure>,
) -> Code {
    run(error, || change(&mut registry::get(read)?.settings.lock()))
}

/// Makes one that reads everything. `*read` is the caller's, who ends it with `hblite_free`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_new(
    read: Option<&mut MaybeUninit<*mut Read>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    run(error, || {
        let read = give(read, null_mut())?;
        *read = registry::add(Read { settings: Mutex::default() })?;
        Ok(())
    })
}

/// Reads this family, and no others that are not added too.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_add_family(
    read: *mut Read,
    family: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        settings.names.push((family.get()?.to_vec(), None));
        Ok(())
    })
}

/// Reads this column, and no others that are not added too.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_add_column(
    read: *mut Read,
    family: Bytes<'_>,
    qualifier: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        settings.names.push((family.get()?.to_vec(), Some(qualifier.get()?.to_vec())));
        Ok(())
    })
}

/// Reads up to so many versions of each column, the newest first.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_set_versions(
    read: *mut Read,
    versions: u32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        if versions == 0 {
            return Err(Failure::argument("the number of versions must be at least 1"));
        }
        settings.versions = Some(versions);
        Ok(())
    })
}

/// Reads cells whose timestamp is at least `min` and less than `max`.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_set_time_range(
    read: *mut Read,
    min: i64,
    max: i64,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        settings.time_range = Some(TimeRange::new(min, max)?);
        Ok(())
    })
}

/// Reads what a filter in HBase's filter language passes, such as "PrefixFilter('u')".
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_set_filter(
    read: *mut Read,
    filter: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        let filter = parse_filter(filter.get()?).map_err(hblite::Error::from)?;
        settings.filter = Some(filter);
        Ok(())
    })
}

/// Scans from `start` to before `stop`, each without a limit if it is empty. `flags` is 0 or some
/// of HBLITE_EXCLUDE_START and HBLITE_INCLUDE_STOP. In a reversed scan, `start` is the greater one.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_set_range(
    read: *mut Read,
    start: Bytes<'_>,
    stop: Bytes<'_>,
    flags: u32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        if flags & !(HBLITE_EXCLUDE_START | HBLITE_INCLUDE_STOP) != 0 {
            let message = format!("{flags:#x} has flags that a range does not know");
            return Err(Failure::argument(message));
        }
        let bound =
            |row: &[u8], is_inclusive| (!row.is_empty()).then(|| (row.to_vec(), is_inclusive));
        let (start, stop) = (start.get()?, stop.get()?);
        settings.rows.start = bound(start, flags & HBLITE_EXCLUDE_START == 0);
        settings.rows.stop = bound(stop, flags & HBLITE_INCLUDE_STOP != 0);
        Ok(())
    })
}

/// Scans the rows that begin with these bytes. A range applies in addition.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_set_prefix(
    read: *mut Read,
    prefix: Bytes<'_>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        settings.rows.prefix = Some(prefix.get()?.to_vec());
        Ok(())
    })
}

/// Scans in descending order if `reversed` is not 0.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_set_reversed(
    read: *mut Read,
    reversed: i32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        settings.rows.reversed = reversed != 0;
        Ok(())
    })
}

/// Scans at most so many rows.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_set_limit(
    read: *mut Read,
    rows: u32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        if rows == 0 {
            return Err(Failure::argument("the limit must be at least 1"));
        }
        settings.rows.limit = Some(rows);
        Ok(())
    })
}

/// Scans delete markers too, and the cells that they delete while files still have them, if `raw`
/// is not 0: `cell_type` tells which. It reads one version of a column unless
/// `hblite_read_set_versions` asks for more. HBase lets a raw scan choose families, but no columns.
#[unsafe(no_mangle)]
pub extern "C" fn hblite_read_set_raw(
    read: *mut Read,
    raw: i32,
    error: Option<&mut MaybeUninit<Error>>,
) -> Code {
    change(read, error, |settings| {
        settings.rows.is_raw = raw != 0;
        Ok(())
    })
}
