//! `create` and `alter`: table and family settings from the hashes that they take.

use std::{fs, io};

use hblite::region_split::SplitAlgorithm;
use hblite::{ColumnFamilyDescriptor, TableDescriptor};

use super::key::{key_from_text, key_of};
use super::{Arguments, CommandResult, Context, Failure, integer, not_of};
use crate::value::{Hash, Value};

/// Settings of a family in the order in which HBase's shell applies them: `MIN_VERSIONS` is
/// checked against `VERSIONS` when the latter is set.
const FAMILY_ATTRIBUTES: [&str; 26] = [
    "BLOCKCACHE",
    "REPLICATION_SCOPE",
    "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE",
    "CACHE_BLOOMS_ON_WRITE",
    "EVICT_BLOCKS_ON_CLOSE",
    "IN_MEMORY",
    "IN_MEMORY_COMPACTION",
    "TTL",
    "DATA_BLOCK_ENCODING",
    "INDEX_BLOCK_ENCODING",
    "BLOCKSIZE",
    "VERSIONS",
    "MIN_VERSIONS",
    "KEEP_DELETED_CELLS",
    "COMPRESS_TAGS",
    "PREFETCH_BLOCKS_ON_OPEN",
    "IS_MOB",
    "MOB_THRESHOLD",
    "NEW_VERSION_BEHAVIOR",
    "BLOOMFILTER",
    "COMPRESSION",
    "MOB_COMPACT_PARTITION_POLICY",
    "STORAGE_POLICY",
    "DFS_REPLICATION",
    "ENCRYPTION",
];

/// Settings of a table.
const TABLE_ATTRIBUTES: [&str; 16] = [
    "OWNER",
    "MAX_FILESIZE",
    "READONLY",
    "COMPACTION_ENABLED",
    "SPLIT_ENABLED",
    "MERGE_ENABLED",
    "NORMALIZATION_ENABLED",
    "NORMALIZER_TARGET_REGION_COUNT",
    "NORMALIZER_TARGET_REGION_SIZE",
    "MEMSTORE_FLUSHSIZE",
    "DURABILITY",
    "PRIORITY",
    "FLUSH_POLICY",
    "REGION_MEMSTORE_REPLICATION",
    "SPLIT_POLICY",
    "REGION_REPLICATION",
];

pub(super) fn create(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let name = arguments.table_name(0)?;
    let mut table = TableDescriptor::new(name.clone());
    let mut splits = Vec::new();
    for argument in arguments.rest(1) {
        let mut settings = match argument {
            Value::Hash(settings) => settings.clone(),
            Value::String(_) | Value::Symbol(_) => {
                add_family(context, &mut table, argument)?;
                continue;
            }
            other => return Err(not_of(other, "Hash or String")),
        };
        if settings.contains("NAME") {
            add_family(context, &mut table, argument)?;
            continue;
        }
        if settings.remove("METHOD").is_some_and(|method| method.to_text() != "table_att") {
            return Err(Failure::refused("table_att is currently the only supported method"));
        }
        if let Some(keys) = split_keys(&mut settings)? {
            splits = keys;
        }
        set_table_attributes(&mut table, &mut settings)?;
        for (key, _) in settings.iter() {
            let key = key.to_text();
            context.out.line(&format!("An argument ignored (unknown or overridden): {key}"))?;
        }
    }
    if table.families().len() == 0 {
        return Err(Failure::refused("Table must have at least one column family"));
    }
    context.connection.admin().create_table_with_splits(&table, &splits)?;
    context.out.line(&format!("Created table {name}"))?;
    Ok(Value::Table(name))
}

/// Adds a family. It replaces an earlier one with the same name.
fn add_family(
    context: &mut Context<'_>,
    table: &mut TableDescriptor,
    argument: &Value,
) -> Result<(), Failure> {
    let family = family(argument, table, context)?;
    if table.has_family(family.name()) {
        let name = family.name_as_string();
        let line = format!("Family '{name}' already exists, the old one will be replaced");
        context.out.line(&line)?;
    }
    table.set_family(family);
    Ok(())
}

pub(super) fn alter(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    if !change(context, &arguments)? {
        return Ok(Value::Nil);
    }
    context.out.line("Updating all regions with the new schema...")?;
    print_updated(context, &arguments)
}

pub(super) fn alter_async(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    change(context, &arguments)?;
    Ok(Value::Nil)
}

/// Changes a table. Returns whether its regions have the new settings.
fn change(context: &mut Context<'_>, arguments: &Arguments) -> Result<bool, Failure> {
    let name = arguments.table_name(0)?;
    let admin = context.connection.admin();
    if !admin.table_exists(&name)? {
        return Err(Failure::refused(format!("Can't find a table: {name}")));
    }
    if arguments.len() < 2 {
        let message = "There should be at least one argument but the table name";
        return Err(Failure::refused(message));
    }
    let mut table = admin.describe_table(&name)?;
    let mut reopens = true;
    for argument in arguments.rest(1) {
        let mut settings = match argument {
            Value::Hash(settings) => settings.clone(),
            family_name @ (Value::String(_) | Value::Symbol(_)) => {
                table.set_family(family(family_name, &table, context)?);
                continue;
            }
            other => return Err(not_of(other, "Hash or String")),
        };
        if let Some(value) = settings.remove("REOPEN_REGIONS") {
            reopens = match value.to_text().to_ascii_lowercase().as_str() {
                "true" => true,
                "false" => false,
                _ => {
                    let message = "Invalid 'REOPEN_REGIONS' for non-boolean value.";
                    return Err(Failure::refused(message));
                }
            };
        }
        apply(context, &mut table, settings)?;
    }
    if reopens {
        admin.modify_table(&table)?;
    } else {
        context.out.line(NOT_REOPENED)?;
        admin.modify_table_lazily(&table)?;
    }
    Ok(reopens)
}

const NOT_REOPENED: &str =
    "WARNING: You are using REOPEN_REGIONS => 'false' to modify a table, which will
          result in inconsistencies in the configuration of online regions and other risks. If you
          encounter any issues, use the original 'alter' command to make the modification again!";

pub(super) fn alter_status(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let name = arguments.table_name(0)?;
    if !context.connection.admin().table_exists(&name)? {
        return Err(Failure::refused(format!("Can't find a table: {name}")));
    }
    print_updated(context, &arguments)
}

fn print_updated(context: &mut Context<'_>, arguments: &Arguments) -> CommandResult {
    let (admin, name) = (context.connection.admin(), arguments.table_name(0)?);
    let regions = match admin.is_table_enabled(&name)? {
        true => {
            admin.regions(&name)?.len()
                * usize::from(admin.describe_table(&name)?.region_replication())
        }
        false => 0,
    };
    match regions {
        0 => context.out.line("All regions updated.")?,
        count => context.out.line(&format!("{count}/{count} regions updated."))?,
    }
    context.out.line("Done.")?;
    Ok(Value::Nil)
}

/// One alteration: a family, a method, or attributes of the table.
fn apply(
    context: &mut Context<'_>,
    table: &mut TableDescriptor,
    mut settings: Hash,
) -> Result<(), Failure> {
    if let Some(doomed) = settings.remove("delete") {
        settings = Hash::default();
        settings.insert(Value::from("METHOD"), Value::from("delete"));
        settings.insert(Value::from("NAME"), doomed);
    }
    let method = settings.remove("METHOD").map(|method| method.to_text());
    if method.is_none() && settings.contains("NAME") {
        let changed = family(&Value::Hash(settings), table, context)?;
        table.set_family(changed);
        return Ok(());
    }
    let name = settings.remove("NAME");
    match method.as_deref() {
        None | Some("table_att") => {
            set_table_attributes(table, &mut settings)?;
            add_coprocessors(table, &mut settings)?;
        }
        Some(method @ ("delete" | "table_att_unset" | "table_conf_unset")) => {
            let Some(name) = name else {
                let message = format!("NAME parameter missing for {method} method");
                return Err(Failure::refused(message));
            };
            match method {
                "delete" => {
                    table.remove_family(&name.to_bytes());
                }
                "table_att_unset" => unset(table, &name, "attribute")?,
                _ => unset(table, &name, "configuration")?,
            }
        }
        Some("table_remove_coprocessor") => {
            let classes = match settings.remove("CLASSNAME") {
                Some(Value::Array(classes)) => classes,
                Some(class) => vec![class],
                None => {
                    let message = "CLASSNAME parameter missing for table_remove_coprocessor method";
                    return Err(Failure::refused(message));
                }
            };
            classes.iter().for_each(|class| table.remove_coprocessor(&class.to_text()));
        }
        Some(unknown) => return Err(Failure::refused(format!("Unknown method: {unknown}"))),
    }
    for (key, _) in settings.iter() {
        context.out.line(&format!("Unknown argument ignored: {}", key.to_text()))?;
    }
    Ok(())
}

/// Takes coprocessors out of `settings`: every key with that word in it, as in HBase's shell.
fn add_coprocessors(table: &mut TableDescriptor, settings: &mut Hash) -> Result<(), Failure> {
    let is_one = |key: &String| key.to_ascii_lowercase().contains("coprocessor");
    let keys: Vec<String> = settings.iter().map(|(key, _)| key.to_text()).filter(is_one).collect();
    for key in keys {
        match settings.remove(&key) {
            Some(Value::String(spec)) => {
                table.add_coprocessor(String::from_utf8_lossy(&spec).trim())?;
            }
            Some(other) => {
                let class = match other {
                    Value::Nil => "nil",
                    Value::Bool(true) => "true",
                    Value::Bool(false) => "false",
                    _ => other.class_name(),
                };
                let message = format!("no implicit conversion of {class} into String");
                return Err(Failure::refused(message));
            }
            None => {}
        }
    }
    Ok(())
}

/// Removes one attribute or several; each must exist.
fn unset(table: &mut TableDescriptor, names: &Value, what: &str) -> Result<(), Failure> {
    let names = match names {
        Value::Array(names) => names.as_slice(),
        name => std::slice::from_ref(name),
    };
    for name in names.iter().map(Value::to_text) {
        if !table.attributes().contains_key(&name) {
            return Err(Failure::refused(format!("Could not find {what}: {name}")));
        }
        table.remove_attribute(&name);
    }
    Ok(())
}

/// The family that `argument` describes: its name alone, or a hash; settings that it does not
/// name are those of the table's family of that name, or the defaults.
fn family(
    argument: &Value,
    table: &TableDescriptor,
    context: &mut Context<'_>,
) -> Result<ColumnFamilyDescriptor, Failure> {
    let mut settings = match argument {
        Value::Hash(settings) => settings.clone(),
        name => {
            let family = context.connection.new_family(name.to_bytes());
            family.check_name()?;
            return Ok(family);
        }
    };
    let name = settings.remove("NAME").unwrap_or(Value::Nil).to_bytes();
    let mut family = match table.family(&name) {
        Some(family) => family.clone(),
        None => context.connection.new_family(&name),
    };
    family.check_name()?;
    if settings.contains("ENCRYPTION_KEY") {
        let message = "ENCRYPTION_KEY must be wrapped with the cluster's master key, which this \
                       shell does not have; leave it out, and HBase generates a key";
        return Err(Failure::refused(message));
    }
    for key in FAMILY_ATTRIBUTES {
        if let Some(value) = settings.remove(key) {
            family.set_attribute(key, &setting_text(&value))?;
        }
    }
    for (key, value) in pairs(&mut settings, "METADATA")? {
        family.set_attribute(&key, &value)?;
    }
    for (key, value) in pairs(&mut settings, "CONFIGURATION")? {
        family.set_configuration(&key, &value);
    }
    for (key, _) in settings.iter() {
        let (name, key) = (family.name_as_string(), key.to_text());
        let line = format!("Unknown argument ignored for column family {name}: {key}");
        context.out.line(&line)?;
    }
    Ok(family)
}

/// A setting as text. `nil` is not text, and the error should name the setting.
fn setting_text(value: &Value) -> String {
    match value {
        Value::Nil => value.inspect(),
        value => value.to_text(),
    }
}

/// Takes attributes of the table out of `settings` and sets them.
fn set_table_attributes(table: &mut TableDescriptor, settings: &mut Hash) -> Result<(), Failure> {
    for key in TABLE_ATTRIBUTES {
        if let Some(value) = settings.remove(key) {
            table.set_attribute(key, &setting_text(&value))?;
        }
    }
    for group in ["METADATA", "CONFIGURATION"] {
        for (key, value) in pairs(settings, group)? {
            table.set_attribute(&key, &value)?;
        }
    }
    Ok(())
}

/// Takes a hash of texts out of `settings`.
fn pairs(settings: &mut Hash, key: &str) -> Result<Vec<(String, String)>, Failure> {
    match settings.remove(key) {
        None | Some(Value::Nil) => Ok(Vec::new()),
        Some(Value::Hash(hash)) => {
            Ok(hash.iter().map(|(key, value)| (key.to_text(), value.to_text())).collect())
        }
        Some(_) => Err(Failure::refused(format!("{key} must be a Hash type"))),
    }
}

fn splits_file_error(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("Splits file {path} doesn't exist"),
        _ => format!("Splits file {path}: {error}"),
    }
}

/// Takes the split points out of `settings`; `None` if there are none.
fn split_keys(settings: &mut Hash) -> Result<Option<Vec<Vec<u8>>>, Failure> {
    if let Some(path) = settings.remove("SPLITS_FILE") {
        let path = path.to_text();
        let text = fs::read_to_string(&path)
            .map_err(|error| Failure::refused(splits_file_error(&path, &error)))?;
        settings.remove("SPLITS");
        let keys = text.lines().map(|line| key_from_text(line.as_bytes()));
        return keys.collect::<Result<_, _>>().map(Some);
    }
    if let Some(keys) = settings.remove("SPLITS") {
        let Value::Array(keys) = keys else {
            return Err(Failure::refused("SPLITS must be an array of keys"));
        };
        return keys.iter().map(key_of).collect::<Result<_, _>>().map(Some);
    }
    match (settings.remove("NUMREGIONS"), settings.remove("SPLITALGO")) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Failure::refused("Number of regions must be specified")),
        (Some(_), None) => Err(Failure::refused("Split algorithm must be specified")),
        (Some(regions), Some(algorithm)) => {
            let regions = usize::try_from(integer(&regions, "NUMREGIONS")?).unwrap_or(0);
            if regions < 2 {
                return Err(Failure::refused("Number of regions must be greater than 1"));
            }
            let name = algorithm.to_text();
            let algorithm = SplitAlgorithm::from_name(&name)
                .map_err(|_| Failure::refused(format!("Class {name} not found")))?;
            Ok(Some(algorithm.split(regions)?))
        }
    }
}
