//! The store's own work while histories are made: flush, compaction, split, merge, alter, snapshot,
//! and bulk loads that change nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hblite::{Admin, Cell, CellType, Connection, MergeKind, Result, SnapshotOptions, TableName};
use hblite_engine::BulkLoadRequest;
use hblite_env::{FileSystem as _, MemFileSystem, Random as _, SeededRandom};
use hblite_hfile::{HFileWriter, HFileWriterOptions, StoreFileInfo};

use super::atomic_row::FAMILIES;

/// How often each kind of work was done.
pub(crate) type Work = BTreeMap<&'static str, usize>;

const REGIONS_MAX: usize = 4;

/// Works until `is_over`. Work that the table's state does not allow (a split of a region with
/// references) is refused and not counted.
///
/// # Errors
/// What a flush, compaction or alter fails with.
pub(crate) fn stir(
    connection: &Connection,
    table: &TableName,
    rows: &[String],
    seed: u64,
    is_over: &AtomicBool,
) -> Result<Work> {
    let admin = &connection.admin();
    let random = SeededRandom::new(seed);
    let mut work = Work::new();
    // Dealt like cards, so that no seed leaves one kind out.
    let mut deck: Vec<u32> = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        if deck.is_empty() {
            deck.extend(0..12);
        }
        let kind = match deck.swap_remove(random.next_u64() as usize % deck.len()) {
            10.. => {
                let name = format!("stirred-{}", random.next_u64());
                admin.snapshot(&name, table, &SnapshotOptions::default())?;
                admin.delete_snapshot(&name)?;
                *work.entry("snapshot").or_default() += 1;
                load_what_changes_nothing(connection, table, rows)?;
                "bulk load"
            }
            7.. => {
                admin.flush_table(table)?;
                "flush"
            }
            0 | 1 => {
                admin.compact_table(table)?;
                "minor compaction"
            }
            2 => {
                admin.major_compact_table(table)?;
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

/// Loads markers that delete versions that were never written, over all rows and families.
fn load_what_changes_nothing(
    connection: &Connection,
    table: &TableName,
    rows: &[String],
) -> Result<()> {
    let (source, folder) = (MemFileSystem::new(), Path::new("/hfiles"));
    let mut rows: Vec<&String> = rows.iter().collect();
    rows.sort();
    for family in FAMILIES {
        let dir = folder.join(family);
        source.create_dir_all(&dir).expect("there is room");
        let options = HFileWriterOptions::default();
        let mut writer = HFileWriter::create(&source, &dir.join("00"), options)?;
        for row in &rows {
            let (row, family) = (row.as_bytes(), family.as_bytes());
            let marker = Cell::new(row, family, b"stirred", 1, CellType::Delete, b"");
            writer.append(&marker.as_ref())?;
        }
        writer.finish(&StoreFileInfo::default())?;
    }
    let request = BulkLoadRequest { source: Some(Arc::new(source)), ..Default::default() };
    let engine = connection
        .backend_as::<hblite_engine::Timeline>()
        .map(|timeline| timeline.engine())
        .expect("an embedded store");
    engine.procedures().bulk_load(table, folder, &request).map(drop)
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
    Ok(admin.merge_regions(&pair, MergeKind::Adjacent).is_ok().then_some("merge"))
}
