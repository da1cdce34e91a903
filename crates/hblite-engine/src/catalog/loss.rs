//! Detects whether hbase:meta has lost rows, before an open changes anything.
//!
//! | what is found | what was lost |
//! |---|---|
//! | a file of hbase:meta is damaged (only a salvage gets this far) | its rows |
//! | the marker says that hbase:meta has had files, and a family has none | its files |
//! | the marker says that hbase:meta has a manifest, and it has none | its files |
//! | hbase:meta names no table, but a table that it never knew has cells | its rows |
//! | the log has entries of a region that hbase:meta never knew, which has a directory | its rows |
//! | the same for any region, and hbase:meta names no table | its rows |
//!
//! No kill and no power cut leaves any of these: a table's cells, and its entries in the log, come
//! after the table's rows in hbase:meta are durable. What hbase:meta ever knew is read from deleted
//! cells too, so leftovers of a dropped table are not a loss. A major compaction of hbase:meta
//! drops those cells: after one, only the first row of the table is conclusive.

use hblite_env::FileSystem;
use hblite_model::{Error, Exception, RegionInfo, Result, TableName};

use super::orphans;
use super::survey::CatalogSurvey;
use crate::files::exists;
use crate::layout::{Layout, MANIFEST_FILE, Marker};
use crate::store::manifest::{self, Recorded};
use crate::wal::ReplayReport;

/// Descriptions of what hbase:meta has lost, one for each sign of it; none in a sound store.
///
/// # Errors
/// `Io`.
pub(crate) fn find(
    fs: &dyn FileSystem,
    layout: &Layout,
    marker: Marker,
    survey: &CatalogSurvey,
    log: &ReplayReport,
) -> Result<Vec<String>> {
    let damaged = survey.unreadable.iter();
    let mut losses: Vec<String> =
        damaged.map(|(path, what)| format!("{}: {what}", path.display())).collect();
    if marker.catalog_has_files
        && let Some(family) = survey.family_without_files
    {
        losses.push(format!("hbase:meta had store files, and its family {family} has none"));
    }
    let meta_dir = layout.region_dir(&RegionInfo::meta());
    let is_listed = marker.is_catalog_listed.then(Recorded::default);
    if manifest::is_lost(fs, &meta_dir, is_listed, None)? {
        losses.push(format!("{}: {}", meta_dir.join(MANIFEST_FILE).display(), manifest::LOST));
    }
    if survey.has_forgotten {
        return Ok(losses);
    }
    let namespace = meta_namespace();
    let names_tables = survey.names_tables();
    let unnamed = if names_tables { Vec::new() } else { tables_on_disk(fs, layout)? };
    for (table, dir) in unnamed {
        if !survey.knew_table(&table.to_string()) && orphans::table_has_data(fs, &dir)? {
            losses.push(format!("hbase:meta names no table, and table {table} has store files"));
        }
    }
    let unknown: Vec<(&str, u64)> = log
        .regions()
        .into_iter()
        .filter(|(region, _)| *region != namespace && *region != hblite_model::META_ENCODED_NAME)
        .filter(|(region, _)| !survey.knew_region(region))
        .collect();
    for (region, _) in unknown {
        if !names_tables || has_directory(fs, layout, region)? {
            losses.push(format!(
                "the log has writes to region {region}, which hbase:meta does not name"
            ));
        }
    }
    Ok(losses)
}

/// The error of an open that found these losses.
pub(crate) fn refusal(layout: &Layout, losses: &[String]) -> Error {
    let first = losses.first().map_or("", String::as_str);
    let more = match losses.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let what = format!(
        "{first}{more}. Nothing was changed. Restore the directory from a backup; without one, \
         open with --salvage (Options::with_salvage), which rebuilds hbase:meta from the files of \
         the tables"
    );
    Error::corrupt(Exception::CorruptHFile, &layout.table_dir(&TableName::meta()), 0, what)
}

/// Every table that has a directory, except the catalog's own.
///
/// # Errors
/// `Io`.
pub(super) fn tables_on_disk(
    fs: &dyn FileSystem,
    layout: &Layout,
) -> Result<Vec<(TableName, std::path::PathBuf)>> {
    let mut tables = Vec::new();
    for namespace in orphans::directories(fs, &layout.data_dir())? {
        let dir = layout.namespace_dir(&namespace);
        for qualifier in orphans::directories(fs, &dir)? {
            let table = TableName::new(&namespace, &qualifier).ok();
            let own = [TableName::meta(), TableName::namespace_table()];
            let table = table.filter(|table| !own.contains(table));
            tables.extend(table.map(|table| (table, dir.join(qualifier))));
        }
    }
    Ok(tables)
}

/// Whether a table has the directory of this region.
fn has_directory(fs: &dyn FileSystem, layout: &Layout, region: &str) -> Result<bool> {
    for (_, dir) in tables_on_disk(fs, layout)? {
        let dir = dir.join(region);
        if exists(fs, &dir)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The encoded name of the region of hbase:namespace, which needs no row.
fn meta_namespace() -> String {
    let row = super::table_rows::namespace_row();
    RegionInfo::encoded_name(&row.info).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::meta;

    #[test]
    fn rows_of_hbase_meta_are_known_by_their_short_names() {
        let info = RegionInfo::new("n:t".parse().unwrap(), b"a.\xff,", b"", 3);
        assert_eq!(meta::short_name(&info.region_name()), info.encoded_name().as_bytes());
        for table in ["t", "n:t.u", "t."] {
            assert_eq!(meta::short_name(table.as_bytes()), table.as_bytes());
        }
    }
}
