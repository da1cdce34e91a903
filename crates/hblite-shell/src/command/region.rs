//! Regions: where they are, and flushing, compacting, splitting, merging and emptying them.

use hblite::bytes::to_string_binary;
use hblite::{
    CompactRequest, Exception, FlushRequest, MergeKind, RegionInfo, RegionLocation, TableName,
};

use super::key::key_of;
use super::{Arguments, CommandResult, Context, Failure, MANY};
use crate::format::Format;
use crate::object::Object;
use crate::value::{Hash, Value};

commands! {
    "compact" 1 3, "\
Merges files of a table or region that the compaction policy selects, and returns when that is done.
With a family, only its files are merged.

  hbase> compact 't1'
  hbase> compact 'REGION_NAME'
  hbase> compact 't1', 'f1'" => |context, arguments| compact(context, &arguments, false);

    method "flush" 1 2, "\
Writes the memory of a table or region to files. With a family, only its memory is written.

  hbase> flush 't1'
  hbase> flush 't1', 'f1'
  hbase> flush 'REGION_NAME'
  hbase> flush 'ENCODED_REGION_NAME'
  hbase> t.flush" => flush;

    "major_compact" 1 3, "\
Merges all files of each family of a table or region into one, without deleted and expired cells,
and returns when that is done. With a family, only its files are merged.

  hbase> major_compact 't1'
  hbase> major_compact 't1', 'f1'
  hbase> major_compact 'REGION_NAME'" => |context, arguments| compact(context, &arguments, true);

    "merge_region" 0 MANY, "\
Merges two or more adjacent regions, given by their full or encoded names. With true as the last
argument, regions that are not adjacent are accepted, too.

  hbase> merge_region 'REGION_NAME', 'REGION_NAME'
  hbase> merge_region ['ENCODED_REGION_NAME', 'ENCODED_REGION_NAME', 'ENCODED_REGION_NAME']
  hbase> merge_region 'REGION_NAME', 'REGION_NAME', true" => merge_region;

    "split" 1 2, "\
Splits every region of a table at its middle, a table at a key, or a region.

  hbase> split 't1'
  hbase> split 't1', 'splitKey'
  hbase> split 'REGION_NAME'
  hbase> split 'ENCODED_REGION_NAME', 'splitKey'" => split;

    "truncate_region" 1 1, "\
Removes all cells of a region; the region and its table stay in service.

  hbase> truncate_region 'REGION_NAME'
  hbase> truncate_region 'ENCODED_REGION_NAME'" => truncate_region;
}

/// What a command on tables and regions applies to.
enum Target {
    Table(TableName),
    /// A full or encoded name.
    Region(String),
}

/// A text with a comma is a region's full name; one of 32 hexadecimal digits is an encoded name
/// unless a table has that name.
fn target(context: &Context<'_>, arguments: &Arguments) -> Result<Target, Failure> {
    let Some(Value::String(_) | Value::Symbol(_)) = arguments.get(0) else {
        return Ok(Target::Table(arguments.table_name(0)?));
    };
    let text = arguments.name(0, "A table or region name")?;
    if text.contains(',') {
        return Ok(Target::Region(text));
    }
    let table: TableName = text.parse()?;
    let may_be_encoded = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if may_be_encoded && !context.connection.admin().table_exists(&table)? {
        return Ok(Target::Region(text));
    }
    Ok(Target::Table(table))
}

fn flush(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let mut request = match target(context, &arguments)? {
        Target::Table(table) => FlushRequest::table(table),
        Target::Region(region) => FlushRequest::region(region),
    };
    if let Some(family) = arguments.get(1) {
        request = request.with_family(family.to_bytes());
    }
    match context.connection.admin().flush(&request) {
        // The flush has begun, so HBase's shell gets the message alone.
        Err(error) if error.exception() == Exception::NoSuchColumnFamily => {
            Err(Failure::refused(error.message()))
        }
        done => done.map(|()| Value::Nil).map_err(Failure::Store),
    }
}

fn compact(context: &mut Context<'_>, arguments: &Arguments, is_major: bool) -> CommandResult {
    let is_mob = match arguments.get(2).map(Value::to_text).as_deref() {
        None | Some("NORMAL") => false,
        Some("MOB") => true,
        Some(_) => return Err(Failure::refused("only NORMAL or MOB accepted for type!")),
    };
    let mut request = match target(context, arguments)? {
        Target::Table(table) if is_mob => CompactRequest::mob(table),
        Target::Table(table) => CompactRequest::table(table),
        Target::Region(region) => CompactRequest::region(region),
    };
    if let Some(family) = arguments.get(1).filter(|family| !matches!(family, Value::Nil)) {
        request = request.with_family(family.to_bytes());
    }
    if is_major {
        request = request.major();
    }
    context.connection.admin().compact(&request)?;
    Ok(Value::Nil)
}

fn split(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let key = arguments.get(1).map(Value::to_bytes);
    let admin = context.connection.admin();
    match target(context, &arguments)? {
        Target::Table(table) => admin.split_table(&table, key.as_deref())?,
        Target::Region(region) => admin.split_region(&region, key.as_deref())?,
    }
    Ok(Value::Nil)
}

fn truncate_region(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let region = arguments.name(0, "A region name")?;
    context.connection.admin().truncate_region(&region)?;
    Ok(Value::Nil)
}

fn merge_region(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let mut values = arguments.rest(0);
    if values.len() < 2 {
        return Err(Failure::refused("Must pass at least 2 regions to merge"));
    }
    let kind = match values.last() {
        Some(Value::Bool(is_forced)) if values.len() > 2 => {
            let kind = if *is_forced { MergeKind::Forced } else { MergeKind::Adjacent };
            values.pop();
            kind
        }
        _ => MergeKind::Adjacent,
    };
    let mut names = Vec::with_capacity(values.len());
    for value in values {
        let Value::String(_) = value else {
            let (shown, class) = (value.inspect(), value.class_name());
            let message = format!("Type of {shown} is {class}, but expected String");
            return Err(Failure::refused(message));
        };
        names.push(value.to_text());
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    context.connection.admin().merge_regions(&names, kind)?;
    Ok(Value::Nil)
}

pub(super) fn locate_region(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = arguments.table_name(0)?;
    let row = key_of(arguments.get(1).unwrap_or(&Value::Nil))?;
    let location = context.connection.admin().locate_region(&table, &row)?;
    context.out.header(&["HOST", "REGION"])?;
    context.out.row_of_two(&location.server, &location.region.to_string())?;
    context.out.footer(1)?;
    Ok(Value::Location(Box::new(location)))
}

/// Columns of `list_regions` and their minimum widths.
const REGION_COLUMNS: [(&str, usize); 7] = [
    ("SERVER_NAME", 12),
    ("REGION_NAME", 12),
    ("START_KEY", 10),
    ("END_KEY", 10),
    ("SIZE", 5),
    ("REQ", 5),
    ("LOCALITY", 10),
];

pub(super) fn list_regions(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let table = arguments.table_name(0)?;
    let options = match arguments.get(1) {
        None => Hash::default(),
        Some(Value::Hash(options)) => options.clone(),
        Some(server) => {
            let mut options = Hash::default();
            options.insert(Value::from("SERVER_NAME"), server.clone());
            options
        }
    };
    let admin = context.connection.admin();
    if !admin.is_table_enabled(&table)? {
        return Err(Failure::refused(format!("Table {table} must be enabled.")));
    }
    let columns = chosen_columns(arguments.get(2))?;
    let server_prefix = options.truthy("SERVER_NAME").map(Value::to_text).unwrap_or_default();
    let locality_max = locality_threshold(&options)?;
    let rows = region_rows(context, &table)?;
    let rows: Vec<&RegionRow> = rows
        .iter()
        .filter(|row| row.cells[0].starts_with(&server_prefix) && row.locality <= locality_max)
        .collect();
    if context.out.format() == Format::Json {
        for row in rows {
            context.out.object(row.object(&table))?;
        }
        return Ok(Value::Nil);
    }
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| {
            let longest = rows.iter().map(|row| row.cells[*column].len()).max().unwrap_or(0);
            longest.max(REGION_COLUMNS[*column].1)
        })
        .collect();
    let mut print = |texts: &dyn Fn(usize, usize) -> String| -> Result<(), Failure> {
        let cells = columns.iter().zip(&widths);
        let line: String =
            cells.map(|(column, width)| format!(" {:>width$} |", texts(*column, *width))).collect();
        Ok(context.out.line(&line)?)
    };
    print(&|column, _| REGION_COLUMNS[column].0.to_owned())?;
    print(&|_, width| "-".repeat(width))?;
    for row in &rows {
        print(&|column, _| row.cells[column].clone())?;
    }
    context.out.line(&format!(" {} rows", rows.len()))?;
    Ok(Value::Nil)
}

/// Positions in [`REGION_COLUMNS`].
fn chosen_columns(argument: Option<&Value>) -> Result<Vec<usize>, Failure> {
    let names = || REGION_COLUMNS.map(|(name, _)| name).join(", ");
    let wanted = match argument {
        None => return Ok((0..REGION_COLUMNS.len()).collect()),
        Some(Value::Array(wanted)) => wanted,
        Some(other) => {
            return Err(Failure::refused(format!(
                "{} must be an array of strings. Possible values are {}.",
                other.to_text(),
                names()
            )));
        }
    };
    let find = |value: &Value| {
        let text = value.to_text();
        let at = REGION_COLUMNS.iter().position(|(name, _)| name.eq_ignore_ascii_case(&text));
        at.ok_or_else(|| {
            let names = names();
            Failure::refused(format!("{text} is not a valid column. Possible values are {names}."))
        })
    };
    wanted.iter().map(find).collect()
}

fn locality_threshold(options: &Hash) -> Result<f64, Failure> {
    match options.get("LOCALITY_THRESHOLD") {
        None => Ok(1.0),
        Some(Value::Float(threshold)) if (0.0..=1.0).contains(threshold) => Ok(*threshold),
        Some(Value::Float(_)) => {
            Err(Failure::refused("LOCALITY_THRESHOLD must be between 0 and 1.0, inclusive"))
        }
        Some(_) => Err(Failure::refused("LOCALITY_THRESHOLD must be a float value")),
    }
}

/// A line of `list_regions`.
struct RegionRow {
    /// In the order of [`REGION_COLUMNS`].
    cells: [String; 7],
    /// The first key, and the one after the last.
    keys: [Vec<u8>; 2],
    locality: f64,
}

impl RegionRow {
    fn object(&self, table: &TableName) -> Object {
        let [server, region, _, _, size, requests, _] = &self.cells;
        let number = |text: &String| text.parse::<u64>().unwrap_or(0);
        Object::new("region")
            .with("table", table.to_string())
            .with("name", &**region)
            .with("server", &**server)
            .with("start_key", to_string_binary(&self.keys[0]))
            .with("end_key", to_string_binary(&self.keys[1]))
            .with("size_mb", number(size))
            .with("requests", number(requests))
            .with("locality", self.locality)
    }
}

fn region_rows(context: &Context<'_>, table: &TableName) -> Result<Vec<RegionRow>, Failure> {
    let admin = context.connection.admin();
    let servers = admin.server_statuses()?;
    let mut rows = Vec::new();
    let replicas = 0..admin.describe_table(table)?.region_replication();
    let regions = regions_of(context, table)?;
    for (region, replica) in
        regions.iter().flat_map(|one| replicas.clone().map(move |id| (one, id)))
    {
        let mut all = servers.iter().flat_map(|server| &server.regions);
        let known = all.find(|known| known.region == *region);
        let (size, requests) = known.map_or((0, 0), |known| {
            (known.store_file_size_bytes, known.load.read_requests + known.load.write_requests)
        });
        // Files are always local; without files HBase reports 0.
        let locality = if size > 0 { 1.0 } else { 0.0 };
        let RegionLocation { server, .. } = admin.locate_region(table, region.start_key())?;
        let address = format!("{},", server.replace(':', ","));
        let name = servers.iter().map(|server| &server.name);
        let name = name.clone().find(|name| name.starts_with(&address));
        let cells = [
            name.unwrap_or(&server).clone(),
            region.replica(replica).region_name_as_string(),
            to_string_binary(region.start_key()),
            to_string_binary(region.end_key()),
            megabytes(size).to_string(),
            requests.to_string(),
            format!("{locality:?}"),
        ];
        let keys = [region.start_key().to_vec(), region.end_key().to_vec()];
        rows.push(RegionRow { cells, keys, locality });
    }
    Ok(rows)
}

/// Whole megabytes; a part of the first one counts as one, as in HBase's region metrics.
pub(super) fn megabytes(bytes: u64) -> u64 {
    match bytes >> 20 {
        0 => u64::from(bytes > 0),
        whole => whole,
    }
}

/// The regions of a table that must exist.
pub(super) fn regions_of(
    context: &Context<'_>,
    table: &TableName,
) -> Result<Vec<RegionInfo>, Failure> {
    let admin = context.connection.admin();
    // Called for its error: a missing table would otherwise just have no regions.
    admin.describe_table(table)?;
    Ok(admin.regions(table)?)
}
