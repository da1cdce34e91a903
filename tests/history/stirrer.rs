//! The store's own work while histories are made: flush, compaction, split, merge, alter.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use hblite::{Admin, Result, TableName};
use hblite_env::{Random as _, SeededRandom};

/// How often each kind of work was done.
pub(crate) type Work = BTreeMap<&'static str, usize>;

const REGIONS_MAX: usize = 4;

/// Works until `is_over`. What needs a state that the table is not in (a split of a region with
/// references) is refused and not counted.
///
/// # Errors
/// What a flush, compaction or alter fails with.
pub(crate) fn stir(
    admin: &Admin,
    table: &TableName,
    rows: &[String],
    seed: u64,
    is_over: &AtomicBool,
) -> Result<Work> {
    let random = SeededRandom::new(seed);
    let mut work = Work::new();
    while !is_over.load(Ordering::Relaxed) {
        let kind = match random.next_u64() % 10 {
            7.. => {
                admin.flush_table(table)?;
                "flush"
            }
            0 | 1 => {
                admin.compact_table(table, false)?;
                "minor compaction"
            }
            2 => {
                admin.compact_table(table, true)?;
                "major compaction"
            }
            3 => {
                let mut descriptor = admin.describe_table(table)?;
                descriptor.set_attribute("stirred", &random.next_u64().to_string())?;
                admin.modify_table(&descriptor)?;
                "alter"
            }
            _ => {
                let Some(kind) = change_regions(admin, table, rows, &random)? else { continue };
                kind
            }
        };
        *work.entry(kind).or_default() += 1;
    }
    Ok(work)
}

fn change_regions(
    admin: &Admin,
    table: &TableName,
    rows: &[String],
    random: &SeededRandom,
) -> Result<Option<&'static str>> {
    let regions = admin.regions(table)?;
    let number = random.next_u64() as usize;
    if regions.len() < REGIONS_MAX && number.is_multiple_of(2) {
        let key = rows[number / 2 % rows.len()].as_bytes();
        return Ok(admin.split_table(table, Some(key)).is_ok().then_some("split"));
    }
    if regions.len() < 2 {
        return Ok(None);
    }
    let first = number / 2 % (regions.len() - 1);
    let pair = [regions[first].encoded_name(), regions[first + 1].encoded_name()];
    Ok(admin.merge_regions(&pair, false).is_ok().then_some("merge"))
}
