//! Store file trackers: how HBase finds the files of a store.
//!
//! hblite always finds them in the same way, whatever the tracker. The settings are kept for HBase,
//! which opens the same directories, and change only in HBase's steps: from one tracker to
//! `MIGRATION` with that tracker as the source, and from there to the destination.
//!
//! Source: `StoreFileTrackerValidationUtils` and `ModifyStoreFileTrackerProcedure` of HBase 2.6.

use hblite_model::{
    ColumnFamilyDescriptor, Error, Exception, Result, TableDescriptor, TableName, TableState,
};

use super::Procedures;

/// The setting of a table or family that names its store file tracker.
pub(super) const TRACKER: &str = "hbase.store.file-tracker.impl";
const SOURCE: &str = "hbase.store.file-tracker.migration.src.impl";
const DESTINATION: &str = "hbase.store.file-tracker.migration.dst.impl";
const PACKAGE: &str = "org.apache.hadoop.hbase.regionserver.storefiletracker.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tracker {
    Default,
    File,
    Migration,
}

impl Tracker {
    /// The tracker with this name or class.
    fn named(name: &str) -> Result<Self> {
        let class = name.strip_prefix(PACKAGE).unwrap_or_default();
        Ok(match (name.to_uppercase().as_str(), class) {
            ("DEFAULT", _) | (_, "DefaultStoreFileTracker") => Self::Default,
            ("FILE", _) | (_, "FileBasedStoreFileTracker") => Self::File,
            ("MIGRATION", _) | (_, "MigrationStoreFileTracker") => Self::Migration,
            _ => {
                let message = format!("Unable to find store file tracker {name}");
                return Err(Error::do_not_retry(message));
            }
        })
    }

    fn of(table: &TableDescriptor, family: &ColumnFamilyDescriptor) -> Result<Self> {
        table.setting_of_family(family, TRACKER).map_or(Ok(Self::Default), Self::named)
    }

    /// One end of a migration; migrations cannot be nested.
    fn of_migration(
        table: &TableDescriptor,
        family: &ColumnFamilyDescriptor,
        end: &str,
    ) -> Result<Self> {
        let name = table
            .setting_of_family(family, end)
            .ok_or_else(|| Error::do_not_retry(format!("config {end} is not set")))?;
        match Self::named(name)? {
            Self::Migration => Err(Error::do_not_retry(format!(
                "Should not specify {end} as MIGRATION because it can not be nested"
            ))),
            tracker => Ok(tracker),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Default => "DEFAULT",
            Self::File => "FILE",
            Self::Migration => "MIGRATION",
        }
    }
}

/// Refuses the trackers that a new table cannot have.
///
/// # Errors
/// `DoNotRetryIo` with HBase's message.
pub(super) fn check_new_table(table: &TableDescriptor) -> Result<()> {
    table.families().try_for_each(|family| check_new_family(table, family))
}

fn check_new_family(table: &TableDescriptor, family: &ColumnFamilyDescriptor) -> Result<()> {
    match Tracker::of(table, family)? {
        Tracker::Migration => Err(Error::do_not_retry(format!(
            "Should not use MIGRATION as store file tracker for new {}",
            place(table, family)
        ))),
        _ => Ok(()),
    }
}

fn place(table: &TableDescriptor, family: &ColumnFamilyDescriptor) -> String {
    format!("family {} of table {}", family.name_as_string(), table.name())
}

/// Refuses changes of trackers that HBase refuses.
///
/// # Errors
/// `DoNotRetryIo`, `TableNotEnabled` with HBase's message.
pub(super) fn check_change(
    before: &TableDescriptor,
    after: &TableDescriptor,
    state: TableState,
) -> Result<()> {
    for family in after.families() {
        match before.family(family.name()) {
            None => check_new_family(after, family)?,
            Some(old) => check_family((before, old), (after, family), state)?,
        }
    }
    Ok(())
}

type FamilyOf<'t> = (&'t TableDescriptor, &'t ColumnFamilyDescriptor);

fn check_family(before: FamilyOf<'_>, after: FamilyOf<'_>, state: TableState) -> Result<()> {
    let (old, new) = (Tracker::of(before.0, before.1)?, Tracker::of(after.0, after.1)?);
    let ends = |(table, family): FamilyOf<'_>| -> Result<[Tracker; 2]> {
        let [source, destination] =
            [SOURCE, DESTINATION].map(|end| Tracker::of_migration(table, family, end));
        Ok([source?, destination?])
    };
    let place = || place(after.0, after.1);
    let refused = |what: String| Err(Error::do_not_retry(format!("{what} for {}", place())));
    match (old, new) {
        (Tracker::Migration, Tracker::Migration) => {
            let names = ["src", "dst"];
            let changes = ends(before)?.into_iter().zip(ends(after)?).zip(names);
            for ((old, new), end) in changes {
                if old != new {
                    let (old, new) = (old.name(), new.name());
                    return refused(format!(
                        "The {end} tracker has been changed from {old} to {new}"
                    ));
                }
            }
            Ok(())
        }
        (Tracker::Migration, new) => {
            // Both trackers know the files only after the region has been open in between.
            if state != TableState::Enabled {
                let message = format!(
                    "Should not change store file tracker implementation from MIGRATION while \
                     table {} is disabled",
                    after.0.name()
                );
                return Err(Error::new(Exception::TableNotEnabled, message));
            }
            let [_, destination] = ends(before)?;
            if new == destination {
                return Ok(());
            }
            let (destination, new) = (destination.name(), new.name());
            refused(format!("Should migrate tracker to {destination} but got {new}"))
        }
        (old, Tracker::Migration) => {
            let [source, destination] = ends(after)?;
            if old != source {
                let (old, source) = (old.name(), source.name());
                return refused(format!(
                    "Should use src tracker {old} first but got {source} when migrating from {old}"
                ));
            }
            if source == destination {
                let source = source.name();
                return refused(format!("The src tracker and dst tracker are both {source}"));
            }
            Ok(())
        }
        (old, new) if old == new => Ok(()),
        (old, _) => {
            refused(format!("Should change to MIGRATION first when migrating from {}", old.name()))
        }
    }
}

impl Procedures<'_> {
    /// Changes the store file tracker of a table, or of one of its families, in as many steps as
    /// HBase does.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`, `DoNotRetryIo` for a tracker that
    /// does not exist or that no store can keep; and as [`Procedures::modify_table`]: a migration
    /// may have begun; the same call completes it.
    pub fn modify_file_tracker(
        &self,
        name: &TableName,
        family: Option<&[u8]>,
        tracker: &str,
    ) -> Result<()> {
        let catalog = self.0;
        let wanted = Tracker::named(tracker)?;
        if wanted == Tracker::Migration {
            return Err(Error::do_not_retry(format!("Do not need to transfer to {tracker}")));
        }
        catalog.entry(name)?.check_state(TableState::Enabled)?;
        loop {
            let table = catalog.descriptor(name)?.as_ref().clone();
            let Some(changes) = next_step(&table, family, wanted, tracker)? else {
                return Ok(());
            };
            self.modify_table(&changed(table, family, &changes)?)?;
        }
    }
}

/// A setting with its new value; `None` removes it.
type Change<'c> = (&'static str, Option<&'c str>);

/// The next changes on the way to a tracker; none when it is reached.
fn next_step<'c>(
    table: &TableDescriptor,
    family: Option<&[u8]>,
    wanted: Tracker,
    tracker: &'c str,
) -> Result<Option<Vec<Change<'c>>>> {
    let none =
        ColumnFamilyDescriptor::from_parts(Vec::new(), Default::default(), Default::default());
    let place = match family {
        None => &none,
        Some(family) => table.family(family).ok_or_else(|| {
            let family = String::from_utf8_lossy(family);
            let message = format!("{family} does not exist for table {}", table.name());
            Error::new(Exception::NoSuchColumnFamily, message)
        })?,
    };
    let present = Tracker::of(table, place)?;
    if present == wanted {
        return Ok(None);
    }
    if present != Tracker::Migration {
        return Ok(Some(vec![
            (TRACKER, Some(Tracker::Migration.name())),
            (SOURCE, Some(present.name())),
            (DESTINATION, Some(tracker)),
        ]));
    }
    let destination = Tracker::of_migration(table, place, DESTINATION)?;
    if destination == wanted {
        return Ok(Some(vec![(TRACKER, Some(tracker)), (SOURCE, None), (DESTINATION, None)]));
    }
    Ok(Some(vec![(TRACKER, Some(destination.name()))]))
}

fn changed(
    mut table: TableDescriptor,
    family: Option<&[u8]>,
    changes: &[Change<'_>],
) -> Result<TableDescriptor> {
    let Some(family) = family.and_then(|family| table.family(family)) else {
        for (key, value) in changes {
            match value {
                Some(value) => table.set_attribute(key, value)?,
                None => table.remove_attribute(key),
            }
        }
        return Ok(table);
    };
    let mut configuration = family.configuration().clone();
    for (key, value) in changes {
        match value {
            Some(value) => configuration.insert((*key).to_owned(), (*value).to_owned()),
            None => configuration.remove(*key),
        };
    }
    let (name, attributes) = (family.name().to_vec(), family.attributes().clone());
    Ok(table.with_family(ColumnFamilyDescriptor::from_parts(name, attributes, configuration)))
}
