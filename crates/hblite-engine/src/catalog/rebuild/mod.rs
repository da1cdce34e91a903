//! Rebuilds hbase:meta from the directories of tables and regions when its rows are lost.
//!
//! Only an open with salvage does this. In each table with readable settings, every region
//! directory with a readable `.regioninfo` is a candidate; `chain` chooses those that hold the
//! table's rows. What hbase:meta still names stays as it is, and what it is known to have removed
//! stays removed.
//!
//! The rows are written to memory and flushed, so they are durable before any region opens. Until
//! then, only files that an open rewrites anyway are changed: after an interruption, the next open
//! is refused, or salvages, like this one.
//!
//! Some things cannot be known. A table that was disabled is enabled. A split, merge or truncation
//! that left only empty regions or references may or may not have happened; it counts as not
//! happened, which loses no cell.

mod chain;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hblite_env::FileSystem;
use hblite_model::{Durability, Mutation, RegionInfo, Result, TableName, TableState};

use self::chain::{Candidate, Chain};
use super::meta::{self, MetaRow, RegionRow, ServerName};
use super::open_report::CatalogRebuild;
use super::survey::CatalogSurvey;
use super::table_rows::{group_rows, namespace_row};
use super::{descriptor_file, loss, orphans, region_info_file};
use crate::files::{exists, list};
use crate::layout::{Layout, REGION_INFO_FILE, UNCLAIMED_FILE};
use crate::region::Region;
use crate::store::store_file::split_reference;
use crate::wal::ReplayReport;

/// The rows that hbase:meta is to get, and the report.
pub(crate) struct Plan {
    rows: Vec<RegionRow>,
    /// Parents of splits, each with its daughters.
    split_parents: Vec<(RegionInfo, [RegionInfo; 2])>,
    /// Tables whose state is lost.
    without_state: Vec<TableName>,
    /// Files of hbase:meta that cannot be read, each with what is wrong.
    pub(crate) damaged: Vec<(PathBuf, String)>,
    pub(crate) report: CatalogRebuild,
}

/// Determines what the rows of hbase:meta were. Changes nothing.
///
/// # Errors
/// `Io`; `CorruptHFile` that names regions which overlap without an explanation.
pub(crate) fn plan(
    fs: &dyn FileSystem,
    layout: &Layout,
    survey: &CatalogSurvey,
    log: &ReplayReport,
    losses: Vec<String>,
) -> Result<Plan> {
    let rows: Vec<_> = survey.rows.iter().map(meta::parse).collect::<Result<_>>()?;
    let stated: HashSet<TableName> = rows
        .iter()
        .filter_map(|row| match row {
            MetaRow::Table(name, _) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let named = group_rows(rows);
    let mut without_state = vec![TableName::namespace_table()];
    without_state.retain(|table| !stated.contains(table));
    let logged: HashSet<&str> = log.regions().into_iter().map(|(region, _)| region).collect();
    let report = CatalogRebuild { losses, ..CatalogRebuild::default() };
    let mut plan = Plan {
        rows: vec![namespace_row()],
        split_parents: Vec::new(),
        without_state,
        damaged: survey.unreadable.clone(),
        report,
    };
    let mut seen = HashSet::new();
    for (table, dir) in loss::tables_on_disk(fs, layout)? {
        let known: &[RegionRow] = named.get(&table).map_or(&[], |(_, rows)| rows);
        if !named.contains_key(&table) && survey.knew_table(&table.to_string()) {
            // It was dropped.
            continue;
        }
        match descriptor_file::read(fs, &layout.table_descriptor_dir(&table), &table) {
            Ok(Some(_)) => {}
            Ok(None) => {
                plan.note(format!("{} has no settings and is not a table", dir.display()));
                continue;
            }
            Err(error) => {
                plan.note(format!("table {table} is left out: {}", error.message()));
                continue;
            }
        }
        let candidates = candidates(fs, &table, &dir, survey, &logged, &mut plan)?;
        seen.extend(candidates.iter().map(|found| found.info.encoded_name().to_owned()));
        let chain = chain::choose(&table, known, candidates, &mut plan.report.ambiguities)?;
        let is_table = !known.is_empty() || !chain.rows.is_empty();
        if is_table && !stated.contains(&table) {
            plan.without_state.push(table.clone());
        }
        plan.add(&table, !known.is_empty(), chain);
    }
    for region in logged {
        let is_own = region == hblite_model::META_ENCODED_NAME || survey.knew_region(region);
        let is_namespace = namespace_row().info.encoded_name() == region;
        if !is_own && !is_namespace && !seen.contains(region) {
            plan.note(format!("writes to region {region} are lost: it has no directory"));
        }
    }
    Ok(plan)
}

/// The regions that a table's directory holds and hbase:meta never knew.
fn candidates(
    fs: &dyn FileSystem,
    table: &TableName,
    dir: &Path,
    survey: &CatalogSurvey,
    logged: &HashSet<&str>,
    plan: &mut Plan,
) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    for name in orphans::directories(fs, dir)? {
        if survey.knew_region(&name) {
            continue;
        }
        let region_dir = dir.join(&name);
        let path = region_dir.join(REGION_INFO_FILE);
        let content = fs.read(&path).unwrap_or_default();
        let info = region_info_file::decode_file(&content)
            .filter(|info| info.encoded_name() == name && info.table() == table);
        let has_own_files = orphans::region_has_data(fs, &region_dir)?;
        let has_log = logged.contains(name.as_str());
        let Some(info) = info else {
            if has_own_files || has_log {
                let path = path.display();
                plan.note(format!("{path} does not say which rows the region has: left out"));
            }
            continue;
        };
        let parents = referenced_regions(fs, &region_dir)?;
        let unclaimed = region_dir.join(UNCLAIMED_FILE);
        if exists(fs, &unclaimed)? {
            plan.note(format!("region {info} may be of a clone that was not finished"));
        }
        candidates.push(Candidate { info, is_proven: has_own_files || has_log, parents });
    }
    Ok(candidates)
}

/// The regions whose files a region refers to.
fn referenced_regions(fs: &dyn FileSystem, region_dir: &Path) -> Result<HashSet<String>> {
    let mut parents = HashSet::new();
    for family in orphans::directories(fs, region_dir)? {
        for entry in list(fs, &region_dir.join(&family))? {
            let path = PathBuf::from(&entry.name);
            if let Some((_, parent)) = split_reference(&path) {
                parents.insert(parent.to_owned());
            }
        }
    }
    Ok(parents)
}

impl Plan {
    fn note(&mut self, what: String) {
        self.report.ambiguities.push(what);
    }

    fn add(&mut self, table: &TableName, is_named: bool, chain: Chain) {
        if chain.rows.is_empty() {
            if !is_named {
                self.note(format!("table {table} has no region that could be used: left out"));
            }
            return;
        }
        self.report.tables.push(table.clone());
        self.report.regions += chain.rows.len();
        self.rows.extend(chain.rows);
        self.split_parents.extend(chain.split_parents);
    }

    /// Writes the rows to hbase:meta. Durable on return.
    ///
    /// # Errors
    /// `Io`: nothing was changed.
    pub(super) fn write(&self, region: &Region, server: &ServerName, timestamp: i64) -> Result<()> {
        let mut mutations: Vec<Mutation> = Vec::new();
        for RegionRow { info, open_sequence_number, merge_parents, .. } in &self.rows {
            let id = *open_sequence_number;
            mutations.push(match merge_parents.is_empty() {
                true => meta::put_open_region(info, server, id, timestamp),
                false => meta::put_merged_region(info, merge_parents, server, id, timestamp),
            });
        }
        for (parent, [low, high]) in &self.split_parents {
            mutations.push(meta::put_split_parent(parent, [low, high], timestamp));
        }
        for table in &self.without_state {
            mutations.push(meta::put_table_state(table, TableState::Enabled, timestamp));
        }
        let mutations: Vec<&Mutation> = mutations.iter().collect();
        region.mutate_rows(&mutations, Some(Durability::SkipWal))?;
        region.flush().map(drop)
    }
}
