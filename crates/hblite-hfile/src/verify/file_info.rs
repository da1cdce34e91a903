//! What the file info says about the cells, recomputed.

use super::cells::Seen;
use super::{Checked, DefectKind};
use crate::file_info::{self, FileInfo};
use crate::reader::HFileReader;

/// Compares what is present: other writers omit some of it.
pub(super) fn check(reader: &HFileReader, seen: &Seen) -> Checked<()> {
    let (has_tags, has_mvcc) = reader.has_tags_and_mvcc();
    let at = reader.trailer().file_info_offset;
    let mut expected = FileInfo::default();
    seen.statistics.describe(&mut expected, has_tags, has_mvcc);
    if seen.cells > 0 {
        expected.insert(file_info::LAST_KEY, seen.last_key.as_slice());
    }
    let differs = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        format!("{name} does not match the cells")
    };
    for (name, value) in expected.iter() {
        // It also has an old form, so its value is compared below.
        if name == file_info::TIME_RANGE {
            continue;
        }
        let fits = reader.file_info(name).is_none_or(|found| found == value);
        super::check(reader, fits, DefectKind::FileInfo, at, || differs(name))?;
    }
    let is_there = reader.file_info(file_info::TIME_RANGE).is_some();
    let fits = !is_there || reader.time_range() == seen.statistics.time_range();
    super::check(reader, fits, DefectKind::FileInfo, at, || differs(file_info::TIME_RANGE))
}
