//! Writes and their conditions.

use hblite_model::cell::{CELL_SIZE_MAX, key};
use hblite_model::{
    CellBuffer, CellRef, CellType, CheckAndMutate, Durability, Error, LATEST_TIMESTAMP, Mutation,
    MutationKind, Result, TimeRange,
};

use super::comparator::{comparator, compare_operator};
use super::read::is_true;
use super::{attribute, filter, no_such, time_range};
use crate::cell_block::CellReader;
use crate::pb;
use crate::pb::mutation_proto::column_value::QualifierValue;

/// The write in a message, with its cells from the message or from the cell block.
///
/// # Errors
/// `DoNotRetryIo` for cells that are missing, malformed or of another row; `IllegalArgument` for
/// what HBase's constructors refuse.
pub fn mutation(message: &pb::MutationProto, cells: &mut CellReader<'_>) -> Result<Mutation> {
    let kind = kind(message.mutate_type.unwrap_or(0))?;
    let count = usize::try_from(message.associated_cell_count.unwrap_or(0)).unwrap_or(0);
    let timestamp = message.timestamp.map_or(LATEST_TIMESTAMP, |timestamp| timestamp as i64);
    let mut buffer = CellBuffer::new();
    let mut row = message.row.clone().unwrap_or_default();
    for index in 0..count {
        let cell = cells.next_cell()?;
        if index == 0 && row.is_empty() {
            row = cell.row().to_vec().into();
        }
        push_cell(&mut buffer, kind, &row, &cell)?;
    }
    if count == 0 {
        for column in &message.column_value {
            for value in &column.qualifier_value {
                push_value(&mut buffer, kind, &row, &column.family, value, timestamp)?;
            }
        }
    }
    let ttl = attribute(&message.attribute, "_ttl").and_then(|value| value.try_into().ok());
    let returns_results = attribute(&message.attribute, "_rr_")
        .is_none_or(|value| value.is_empty() || is_true(value));
    let mutation = Mutation::from_cells(kind, &row, buffer)
        .with_timestamp(timestamp)
        .with_durability(durability(message.durability.unwrap_or(0)))
        .with_time_to_live_ms(ttl.map(i64::from_be_bytes))
        .with_time_range(time_range(message.time_range.as_ref())?)
        .with_returned_results(returns_results);
    match kind {
        // A server accepts an empty put, and does nothing.
        MutationKind::Put if mutation.cells().is_empty() => Ok(mutation),
        _ => mutation.check().map(|()| mutation),
    }
}

/// The type and durability of the write in a message, without its cells.
///
/// # Errors
/// `DoNotRetryIo` for an unknown kind.
pub fn kind_and_durability(message: &pb::MutationProto) -> Result<(MutationKind, Durability)> {
    let kind = kind(message.mutate_type.unwrap_or(0))?;
    Ok((kind, durability(message.durability.unwrap_or(0))))
}

fn kind(number: i32) -> Result<MutationKind> {
    match number {
        0 => Ok(MutationKind::Append),
        1 => Ok(MutationKind::Increment),
        2 => Ok(MutationKind::Put),
        3 => Ok(MutationKind::Delete),
        other => Err(no_such("type of a mutation", other)),
    }
}

fn durability(number: i32) -> Durability {
    match number {
        1 => Durability::SkipWal,
        2 => Durability::AsyncWal,
        3 => Durability::SyncWal,
        4 => Durability::FsyncWal,
        _ => Durability::UseDefault,
    }
}

fn push_cell(
    buffer: &mut CellBuffer,
    kind: MutationKind,
    row: &[u8],
    cell: &CellRef<'_>,
) -> Result<()> {
    if cell.row() != row {
        let printable = hblite_model::bytes::to_string_binary;
        return Err(Error::do_not_retry(format!(
            "The row in {cell} doesn't match the original one {}",
            printable(row)
        )));
    }
    check_type(kind, cell.type_code())?;
    // Only the server sets tags.
    buffer.push(&cell.with_tags(b""));
    Ok(())
}

fn check_type(kind: MutationKind, type_code: u8) -> Result<()> {
    let fits = match CellType::from_code(type_code) {
        Some(CellType::Put) => kind != MutationKind::Delete,
        // A put may have markers among its values.
        Some(_) => matches!(kind, MutationKind::Delete | MutationKind::Put),
        None => false,
    };
    if fits {
        return Ok(());
    }
    Err(Error::do_not_retry(format!("a cell of type {type_code} in a mutation of kind {kind:?}")))
}

fn push_value(
    buffer: &mut CellBuffer,
    kind: MutationKind,
    row: &[u8],
    family: &[u8],
    value: &QualifierValue,
    default_timestamp: i64,
) -> Result<()> {
    let qualifier = value.qualifier.as_deref().unwrap_or_default();
    let bytes = value.value.as_deref().unwrap_or_default();
    let timestamp = value.timestamp.map_or(default_timestamp, |timestamp| timestamp as i64);
    if timestamp < 0 {
        let message = format!("Timestamp cannot be negative. ts={timestamp}");
        return Err(Error::illegal_argument(message));
    }
    let is_too_long = row.len() > key::ROW_LENGTH_MAX || family.len() > key::FAMILY_LENGTH_MAX;
    let size = row.len().saturating_add(qualifier.len()).saturating_add(bytes.len());
    if is_too_long || size > CELL_SIZE_MAX / 2 {
        return Err(Error::do_not_retry("a row, a family or a cell is too long"));
    }
    let delete_type = match kind {
        MutationKind::Delete => Some(value.delete_type.unwrap_or(0)),
        // A put may have markers among its values.
        MutationKind::Put => value.delete_type,
        MutationKind::Increment | MutationKind::Append => None,
    };
    let cell_type = match delete_type {
        None => CellType::Put,
        Some(0) => CellType::Delete,
        Some(1) => CellType::DeleteColumn,
        Some(2) => CellType::DeleteFamily,
        Some(3) => CellType::DeleteFamilyVersion,
        Some(other) => return Err(no_such("type of a delete", other)),
    };
    // A marker has no value, whatever is sent.
    let bytes = if delete_type.is_some() { b"" } else { bytes };
    buffer.push_parts(row, family, qualifier, timestamp, cell_type.code(), bytes);
    Ok(())
}

/// The check in a message; its writes are added later.
///
/// # Errors
/// As [`filter()`]; `DoNotRetryIo` if it is incomplete, or uses a comparator other than
/// `BinaryComparator`.
pub fn condition(message: &pb::Condition) -> Result<CheckAndMutate> {
    let check = CheckAndMutate::new(&message.row).with_time_range(condition_time_range(message)?);
    if let Some(message) = &message.filter {
        return Ok(check.if_filter(filter(message)?));
    }
    let (Some(family), Some(operator), Some(message_comparator)) =
        (&message.family, message.compare_type, &message.comparator)
    else {
        return Err(Error::do_not_retry("a condition without family, operator or comparator"));
    };
    let operator = compare_operator(operator)?;
    let qualifier = message.qualifier.clone().unwrap_or_default();
    let comparator = comparator(message_comparator)?;
    Ok(check.if_compares(family, qualifier, operator, comparator))
}

/// The time range of a condition.
///
/// # Errors
/// As [`time_range`].
pub fn condition_time_range(message: &pb::Condition) -> Result<TimeRange> {
    time_range(message.time_range.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell_block::Codec;

    #[test]
    fn cells_come_from_the_block_or_from_the_message() {
        let mut cells = CellBuffer::new();
        cells.push_parts(b"r", b"f", b"q", 7, 4, b"v");
        let mut block = Vec::new();
        Codec::KeyValue.push(&mut block, &cells.get(0).unwrap());
        let message = pb::MutationProto {
            mutate_type: Some(2),
            associated_cell_count: Some(1),
            ..pb::MutationProto::default()
        };
        let from_block = mutation(&message, &mut CellReader::new(&block)).unwrap();
        assert_eq!((from_block.row(), from_block.cells()), (&b"r"[..], &cells));
        let value = QualifierValue {
            qualifier: Some("q".into()),
            value: Some("v".into()),
            timestamp: Some(7),
            ..QualifierValue::default()
        };
        let column =
            pb::mutation_proto::ColumnValue { family: "f".into(), qualifier_value: vec![value] };
        let message = pb::MutationProto {
            row: Some("r".into()),
            mutate_type: Some(2),
            column_value: vec![column],
            ..pb::MutationProto::default()
        };
        let from_message = mutation(&message, &mut CellReader::new(b"")).unwrap();
        assert_eq!(from_message.cells(), &cells);
    }

    #[test]
    fn a_block_that_is_too_short_is_refused() {
        let message = pb::MutationProto {
            row: Some("r".into()),
            mutate_type: Some(2),
            associated_cell_count: Some(i32::MAX),
            ..pb::MutationProto::default()
        };
        assert!(mutation(&message, &mut CellReader::new(b"")).is_err());
    }
}
