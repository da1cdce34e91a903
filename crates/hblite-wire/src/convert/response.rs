//! Answers as a client reads them: results of gets, scans and batches, and errors.

use bytes::Bytes;
use hblite_model::cell::{CELL_SIZE_MAX, SharedBlock, SharedCells, key};
use hblite_model::{CellBuffer, Error, Exception, Result, RowResult};

use crate::cell_block::CellReader;
use crate::pb;

/// The row in an answer, with its cells from the message or from the cell block. Those in the cell
/// block of a [`CellReader::sharing`] stay there.
///
/// # Errors
/// `DoNotRetryIo` for cells that are missing or malformed.
pub fn result_from(message: &pb::Result, cells: &mut CellReader<'_>) -> Result<RowResult> {
    let count = usize::try_from(message.associated_cell_count.unwrap_or(0)).unwrap_or(0);
    let shared = cells.shared().filter(|_| message.cell.is_empty() && count > 0).cloned();
    let row = match shared {
        Some(block) => RowResult::sharing(shared_cells(block, count, cells)?),
        None => {
            let mut buffer = CellBuffer::new();
            for cell in &message.cell {
                push_cell(&mut buffer, cell)?;
            }
            push_cells(&mut buffer, count, cells)?;
            RowResult::new(buffer)
        }
    };
    let row = row.with_more_cells(message.partial.unwrap_or(false));
    Ok(row.with_stale(message.stale.unwrap_or(false)))
}

/// The rows in an answer to a scan, in order. Those in `block`, its cell block, share its memory.
///
/// # Errors
/// As [`result_from`].
pub fn rows_from(message: &pb::ScanResponse, block: &Bytes) -> Result<Vec<RowResult>> {
    let is_stale = message.stale.unwrap_or(false);
    if message.cells_per_result.is_empty() {
        let mut reader = CellReader::new(block);
        let row = |result| Ok(result_from(result, &mut reader)?.with_stale(is_stale));
        return message.results.iter().map(row).collect();
    }
    let (mut reader, shared) = (CellReader::new(block), SharedBlock::new(block.clone()));
    let partial = |index: usize| message.partial_flag_per_result.get(index).copied();
    let rows = message.cells_per_result.iter().enumerate().map(|(index, count)| {
        let cells = shared_cells(shared.clone(), *count as usize, &mut reader)?;
        Ok(RowResult::sharing(cells)
            .with_more_cells(partial(index).unwrap_or(false))
            .with_stale(is_stale))
    });
    rows.collect()
}

/// The error in an answer: class and stack trace. A class that hblite does not know is an
/// `IOException`, whose message names it.
pub fn error_from(pair: &pb::NameBytesPair) -> Error {
    let text = String::from_utf8_lossy(pair.value.as_deref().unwrap_or_default());
    error_of_class(&pair.name, &text)
}

/// The error with this class and this stack trace, which begins with class and message.
pub fn error_of_class(class: &str, trace: &str) -> Error {
    // A message may have several lines, such as that of a regular expression.
    let is_message = |line: &&str| !line.starts_with('\t') && !line.starts_with("Caused by: ");
    let text = trace.lines().take_while(is_message).collect::<Vec<_>>().join("\n");
    let message = text.strip_prefix(class).map_or(&*text, |rest| rest.trim_start_matches(": "));
    match Exception::ALL.iter().find(|known| known.class_name() == class) {
        Some(exception) => Error::new(*exception, message),
        None => Error::new(Exception::Io, format!("{class}: {message}")),
    }
}

fn shared_cells(
    block: SharedBlock,
    count: usize,
    cells: &mut CellReader<'_>,
) -> Result<SharedCells> {
    let mut shared = SharedCells::new(block);
    for _ in 0..count {
        let (start, cell) = cells.next_cell_and_offset()?;
        shared.push(start, &cell);
    }
    Ok(shared)
}

fn push_cells(buffer: &mut CellBuffer, count: usize, cells: &mut CellReader<'_>) -> Result<()> {
    for _ in 0..count {
        buffer.push(&cells.next_cell()?);
    }
    Ok(())
}

fn push_cell(buffer: &mut CellBuffer, cell: &pb::Cell) -> Result<()> {
    let part = |part: &Option<bytes::Bytes>| part.clone().unwrap_or_default();
    let (row, family) = (part(&cell.row), part(&cell.family));
    let (qualifier, value) = (part(&cell.qualifier), part(&cell.value));
    let is_too_long = row.len() > key::ROW_LENGTH_MAX || family.len() > key::FAMILY_LENGTH_MAX;
    let size = row.len().saturating_add(qualifier.len()).saturating_add(value.len());
    if is_too_long || size > CELL_SIZE_MAX / 2 {
        return Err(Error::do_not_retry("a row, a family or a cell is too long"));
    }
    let code = u8::try_from(cell.cell_type.unwrap_or(0))
        .map_err(|_| Error::do_not_retry("a cell of an unknown type"))?;
    let timestamp = cell.timestamp.unwrap_or(0) as i64;
    buffer.push_parts(&row, &family, &qualifier, timestamp, code, &value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_replicas_are_stale() {
        let result = pb::Result { stale: Some(true), ..pb::Result::default() };
        assert!(result_from(&result, &mut CellReader::new(&[])).unwrap().is_stale());
        let fresh = pb::Result::default();
        assert!(!result_from(&fresh, &mut CellReader::new(&[])).unwrap().is_stale());
        // Scans say it once for all rows, in whichever form these are.
        let in_message = pb::ScanResponse { results: vec![fresh.clone()], ..Default::default() };
        let in_block = pb::ScanResponse { cells_per_result: vec![0], ..Default::default() };
        for message in [in_message, in_block] {
            for stale in [None, Some(false), Some(true)] {
                let message = pb::ScanResponse { stale, ..message.clone() };
                let rows = rows_from(&message, &Bytes::new()).unwrap();
                assert_eq!(rows[0].is_stale(), stale.unwrap_or(false));
            }
        }
    }
}
