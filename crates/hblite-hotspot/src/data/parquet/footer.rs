//! The footer: which columns a file has, and where their chunks are.

use super::thrift::{Kind, Reader};
use super::{Bad, Result};

/// Columns, nested ones included.
const COLUMNS_MAX: usize = 10_000;
/// Groups within groups.
const DEPTH_MAX: usize = 64;

/// What a file contains.
#[derive(Debug)]
pub(super) struct Footer {
    /// The columns that are not nested.
    pub(super) columns: Vec<Column>,
    pub(super) row_groups: Vec<RowGroup>,
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) physical: Physical,
    pub(super) logical: Logical,
    /// Whether values may be missing.
    pub(super) is_optional: bool,
}

/// How values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Physical {
    Boolean,
    Int32,
    Int64,
    /// Nanoseconds of a day and a Julian day.
    Int96,
    Float,
    Double,
    Bytes,
    /// Bytes of this length.
    FixedBytes(usize),
}

/// What values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Logical {
    Plain,
    Text,
    Unsigned,
    Date,
    /// Since 1970.
    Time(TimeUnit),
    /// With this many digits after the point.
    Decimal(u32),
    Uuid,
    Half,
}

/// The unit of a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Millis,
    Micros,
    Nanos,
}

/// Rows that are stored together.
#[derive(Debug)]
pub(super) struct RowGroup {
    pub(super) rows: usize,
    /// In the order of the footer's columns.
    pub(super) chunks: Vec<Chunk>,
}

/// The values of a column in a row group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    pub(super) codec: i64,
    pub(super) start: usize,
    pub(super) length: usize,
}

/// An element of the schema, which is a tree in preorder.
#[derive(Debug, Default)]
struct Element {
    kind: Option<i64>,
    length: usize,
    repetition: i64,
    name: String,
    children: usize,
    converted: Option<i64>,
    scale: u32,
    logical: Option<Logical>,
}

impl Footer {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut elements = Vec::new();
        let mut groups: Vec<(usize, Vec<Chunk>)> = Vec::new();
        Reader::new(bytes).fields(|reader, id, kind| {
            match (id, kind) {
                (2, Kind::List) => reader.structs(|reader| {
                    elements.push(element(reader)?);
                    match elements.len() <= COLUMNS_MAX {
                        true => Ok(()),
                        false => Err(Bad::new(format!("more than {COLUMNS_MAX} columns"))),
                    }
                })?,
                (4, Kind::List) => reader.structs(|reader| {
                    groups.push(row_group(reader)?);
                    Ok(())
                })?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        let (leaves, columns) = columns(&elements)?;
        let row_groups = groups.into_iter().map(|(rows, chunks)| {
            if chunks.len() != leaves {
                let count = chunks.len();
                return Err(Bad::new(format!("a row group has {count} columns, not {leaves}")));
            }
            let chunks = columns.iter().map(|(leaf, _)| chunks[*leaf]).collect();
            Ok(RowGroup { rows, chunks })
        });
        let row_groups = row_groups.collect::<Result<_>>()?;
        Ok(Self { columns: columns.into_iter().map(|(_, column)| column).collect(), row_groups })
    }
}

/// The number of columns, and those that are not nested, with their positions.
fn columns(elements: &[Element]) -> Result<(usize, Vec<(usize, Column)>)> {
    let mut elements = elements.iter();
    let root = elements.next().ok_or_else(|| Bad::new("it has no schema"))?;
    let mut columns = Vec::new();
    let mut leaves = 0;
    // The number of children still to come of each group that is open.
    let mut open = vec![root.children];
    for element in elements {
        let Some(left) = open.last_mut().filter(|left| **left > 0) else {
            return Err(Bad::new("the schema has elements that belong to no group"));
        };
        *left -= 1;
        if element.children > 0 {
            if open.len() > DEPTH_MAX {
                return Err(Bad::new("the schema is nested too deeply"));
            }
            open.push(element.children);
        } else {
            if open.len() == 1 && element.repetition != REPEATED {
                columns.push((leaves, column(element)?));
            }
            leaves += 1;
        }
        while open.len() > 1 && open.last() == Some(&0) {
            open.pop();
        }
    }
    if open != [0] {
        return Err(Bad::new("the schema ends early"));
    }
    if columns.is_empty() {
        return Err(Bad::new("all columns are nested: a record needs plain ones"));
    }
    Ok((leaves, columns))
}

const OPTIONAL: i64 = 1;
const REPEATED: i64 = 2;
/// Longest value of a type with a fixed length.
const FIXED_MAX: usize = 1 << 20;

fn column(element: &Element) -> Result<Column> {
    let physical = match element.kind {
        Some(0) => Physical::Boolean,
        Some(1) => Physical::Int32,
        Some(2) => Physical::Int64,
        Some(3) => Physical::Int96,
        Some(4) => Physical::Float,
        Some(5) => Physical::Double,
        Some(6) => Physical::Bytes,
        Some(7) if (1..=FIXED_MAX).contains(&element.length) => {
            Physical::FixedBytes(element.length)
        }
        kind => {
            let name = &element.name;
            return Err(Bad::new(format!("column {name} has an unknown type, {kind:?}")));
        }
    };
    let converted = match element.converted {
        Some(0 | 4 | 19) => Logical::Text,
        Some(5) => Logical::Decimal(element.scale),
        Some(6) => Logical::Date,
        Some(9) => Logical::Time(TimeUnit::Millis),
        Some(10) => Logical::Time(TimeUnit::Micros),
        Some(11..=14) => Logical::Unsigned,
        _ => Logical::Plain,
    };
    Ok(Column {
        name: element.name.clone(),
        physical,
        logical: element.logical.unwrap_or(converted),
        is_optional: element.repetition == OPTIONAL,
    })
}

fn element(reader: &mut Reader<'_>) -> Result<Element> {
    let mut element = Element::default();
    reader.fields(|reader, id, kind| {
        match (id, kind) {
            (1, Kind::Int) => element.kind = Some(reader.int()?),
            (2, Kind::Int) => element.length = reader.size()?,
            (3, Kind::Int) => element.repetition = reader.int()?,
            (4, Kind::Binary) => {
                let name = std::str::from_utf8(reader.binary()?);
                element.name = name.map_err(|_| Bad::new("a name is not UTF-8"))?.to_owned();
            }
            (5, Kind::Int) => element.children = reader.size()?,
            (6, Kind::Int) => element.converted = Some(reader.int()?),
            (7, Kind::Int) => element.scale = u32::try_from(reader.int()?).unwrap_or(u32::MAX),
            (10, Kind::Struct) => element.logical = logical(reader)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(element)
}

/// The logical type, a union: a struct with one field.
fn logical(reader: &mut Reader<'_>) -> Result<Option<Logical>> {
    let mut logical = None;
    reader.fields(|reader, id, kind| {
        logical = match id {
            1 | 4 | 12 => Some(Logical::Text),
            5 if kind == Kind::Struct => Some(Logical::Decimal(decimal(reader)?)),
            6 => Some(Logical::Date),
            8 if kind == Kind::Struct => Some(Logical::Time(time_unit(reader)?)),
            10 if kind == Kind::Struct => Some(integer(reader)?),
            14 => Some(Logical::Uuid),
            15 => Some(Logical::Half),
            _ => None,
        };
        Ok(kind == Kind::Struct && matches!(id, 5 | 8 | 10))
    })?;
    Ok(logical)
}

fn decimal(reader: &mut Reader<'_>) -> Result<u32> {
    let mut scale = 0;
    reader.fields(|reader, id, kind| match (id, kind) {
        (1, Kind::Int) => {
            scale = u32::try_from(reader.int()?).unwrap_or(u32::MAX);
            Ok(true)
        }
        _ => Ok(false),
    })?;
    Ok(scale)
}

fn time_unit(reader: &mut Reader<'_>) -> Result<TimeUnit> {
    let mut unit = None;
    reader.fields(|reader, id, kind| {
        if (id, kind) != (2, Kind::Struct) {
            return Ok(false);
        }
        reader.fields(|_, id, _| {
            unit = match id {
                1 => Some(TimeUnit::Millis),
                2 => Some(TimeUnit::Micros),
                3 => Some(TimeUnit::Nanos),
                _ => None,
            };
            Ok(false)
        })?;
        Ok(true)
    })?;
    unit.ok_or_else(|| Bad::new("a timestamp has no unit"))
}

fn integer(reader: &mut Reader<'_>) -> Result<Logical> {
    let mut logical = Logical::Plain;
    reader.fields(|_, id, kind| {
        if (id, kind) == (2, Kind::False) {
            logical = Logical::Unsigned;
        }
        Ok(false)
    })?;
    Ok(logical)
}

fn row_group(reader: &mut Reader<'_>) -> Result<(usize, Vec<Chunk>)> {
    let (mut rows, mut chunks) = (0, Vec::new());
    reader.fields(|reader, id, kind| {
        match (id, kind) {
            (1, Kind::List) => reader.structs(|reader| {
                chunks.push(chunk(reader)?);
                Ok(())
            })?,
            (3, Kind::Int) => rows = reader.size()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok((rows, chunks))
}

fn chunk(reader: &mut Reader<'_>) -> Result<Chunk> {
    let mut chunk = None;
    reader.fields(|reader, id, kind| match (id, kind) {
        (1, Kind::Binary) => Err(Bad::new("a column is in another file")),
        (3, Kind::Struct) => {
            chunk = Some(chunk_meta(reader)?);
            Ok(true)
        }
        _ => Ok(false),
    })?;
    chunk.ok_or_else(|| Bad::new("a column has no metadata, or they are encrypted"))
}

fn chunk_meta(reader: &mut Reader<'_>) -> Result<Chunk> {
    let mut chunk = Chunk { codec: 0, start: 0, length: 0 };
    let mut dictionary = 0;
    reader.fields(|reader, id, kind| {
        match (id, kind) {
            (4, Kind::Int) => chunk.codec = reader.int()?,
            (7, Kind::Int) => chunk.length = reader.size()?,
            (9, Kind::Int) => chunk.start = reader.size()?,
            (11, Kind::Int) => dictionary = reader.size()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if dictionary > 0 {
        chunk.start = chunk.start.min(dictionary);
    }
    Ok(chunk)
}
