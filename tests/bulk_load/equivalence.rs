//! The meaning of a load: that of the same puts and deletes, whatever else happens.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hblite::{Cell, CellType, Connection, Delete, Put, Result};
use hblite_engine::BulkLoadRequest;
use hblite_env::{CrashFileSystem, MemFileSystem};
use proptest::prelude::*;

use super::{FAMILIES, FOLDER, cells_of, check, create, engine, in_folder, name, open, write_file};

/// The steps that a table goes through.
#[derive(Debug, Clone)]
enum Step {
    Put(u8, u8, i64),
    Delete(u8, u8, i64),
    Load(Vec<(u8, u8, i64, bool)>),
    Flush,
    Compact,
    Split(u8),
    Reopen,
}

fn row_of(number: u8) -> String {
    format!("row-{number}")
}

fn family_of(number: u8) -> &'static str {
    FAMILIES[usize::from(number) % 2]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (row, column, time) = (0..6_u8, 0..4_u8, 1..4_i64);
    let cell = (row.clone(), column.clone(), time.clone(), prop::bool::weighted(0.8));
    let step = prop_oneof![
        6 => (row.clone(), column.clone(), time.clone()).prop_map(|(r, c, t)| Step::Put(r, c, t)),
        2 => (row.clone(), column, time).prop_map(|(r, c, t)| Step::Delete(r, c, t)),
        4 => prop::collection::vec(cell, 1..8).prop_map(Step::Load),
        2 => Just(Step::Flush),
        1 => Just(Step::Compact),
        1 => row.prop_map(Step::Split),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..25)
}

/// Applies a step to the loaded table, and the same with puts and deletes to the other.
fn take(step: &Step, number: usize, loaded: &Connection, plain: &Connection) -> Result<()> {
    let both = [loaded, plain];
    match step {
        Step::Put(row, column, time) => {
            let value = format!("{number}");
            let put = Put::new(row_of(*row));
            let put = put.add_at(family_of(*column), format!("q{column}"), *time, value);
            both.iter().try_for_each(|c| c.table("t")?.put(&put))
        }
        Step::Delete(row, column, time) => {
            let delete = Delete::new(row_of(*row));
            let delete = delete.columns_at(family_of(*column), format!("q{column}"), *time);
            both.iter().try_for_each(|c| c.table("t")?.delete(&delete))
        }
        Step::Load(cells) => load_both(cells, number, loaded, plain),
        Step::Flush => both.iter().try_for_each(|c| c.admin().flush_table(name("t"))),
        // A minor one drops deletes if it happens to include all files.
        Step::Compact => {
            both.iter().try_for_each(|c| c.admin().flush_table(name("t")))?;
            both.iter().try_for_each(|c| c.admin().major_compact_table(name("t")))
        }
        Step::Split(row) => {
            // A region that cannot be split now is left alone.
            let _ = loaded.admin().split_table(name("t"), Some(row_of(*row).as_bytes()));
            Ok(())
        }
        Step::Reopen => Ok(()),
    }
}

fn load_both(
    cells: &[(u8, u8, i64, bool)],
    number: usize,
    loaded: &Connection,
    plain: &Connection,
) -> Result<()> {
    let unique: BTreeMap<(u8, u8, i64), bool> =
        cells.iter().map(|(row, column, time, is_put)| ((*row, *column, *time), *is_put)).collect();
    let source = MemFileSystem::new();
    for family in FAMILIES {
        let mut written = Vec::new();
        for ((row, column, time), is_put) in &unique {
            if family_of(*column) != family {
                continue;
            }
            let (row, qualifier) = (row_of(*row), format!("q{column}"));
            let cell_type = if *is_put { CellType::Put } else { CellType::DeleteColumn };
            let value = if *is_put { format!("loaded {number}") } else { String::new() };
            let parts = (row.as_bytes(), family.as_bytes(), qualifier.as_bytes());
            let cell = Cell::new(parts.0, parts.1, parts.2, *time, cell_type, value.as_bytes());
            written.push(cell);
            let table = plain.table("t")?;
            match is_put {
                true => table.put(&Put::new(&row).add_at(family, &qualifier, *time, value))?,
                false => table.delete(&Delete::new(&row).columns_at(family, &qualifier, *time))?,
            }
        }
        if !written.is_empty() {
            write_file(&source, &in_folder(family, &format!("{number:04x}")), &written);
        }
    }
    // One flushed before the load, the other flushes after it: now both have the same files.
    plain.admin().flush_table(name("t"))?;
    let request = BulkLoadRequest { source: Some(Arc::new(source)), ..Default::default() };
    engine(loaded).procedures().bulk_load(&name("t"), Path::new(FOLDER), &request).map(drop)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_load_means_what_the_same_puts_mean(steps in steps(), splits in prop::bool::ANY) {
        let (fs, plain_fs) = (CrashFileSystem::new(), CrashFileSystem::new());
        let mut loaded = open(fs.clone()).unwrap();
        let plain = open(plain_fs).unwrap();
        create(&loaded, if splits { &["row-2", "row-4"] } else { &[] }).unwrap();
        create(&plain, &[]).unwrap();
        let mut fs = fs;
        for (number, step) in steps.iter().enumerate() {
            take(step, number, &loaded, &plain).unwrap();
            if matches!(step, Step::Reopen) {
                drop(loaded);
                fs = fs.after_kill();
                loaded = open(fs.clone()).unwrap();
            }
            prop_assert_eq!(
                cells_of(&loaded, &name("t")),
                cells_of(&plain, &name("t")),
                "after step {}: {:?}", number, step
            );
        }
        drop(loaded);
        let report = check(&fs.after_kill());
        prop_assert!(report.defects.is_empty(), "{:?}", report.defects);
    }
}
