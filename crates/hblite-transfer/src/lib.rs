//! Imports and exports: CSV, TSV and JSON lines in both directions, HFiles for a bulk load; copies
//! and comparisons of tables.
//!
//! Everything here uses the public API of `hblite`, so it runs wherever that runs.
//!
//! ```text
//!  import   bytes → RowReader (DelimitedReader, JsonLinesReader) → mutations → import() → table
//!  export   table → Scan → export() → RowWriter (DelimitedWriter, JsonLinesWriter) → bytes
//!                        → export_hfiles() → folder/<family>/<hfile>
//!  copy     table → raw scans of ranges → mutations → copy() → table of another connection
//!                                                    (Rekey: under another key)
//!  compare  table → scans of ranges → digest(), compare()
//! ```
//!
//! Memory is bounded whatever the input or the table: lines have a maximum length, batches a
//! maximum size, and a row wider than [`PIECE_SIZE`] is processed in pieces.
//!
//! ```
//! use std::ops::ControlFlow;
//! use hblite_transfer::{ImportOptions, JsonLinesReader, JsonLinesWriter, export, import};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let connection = hblite::open_in_memory()?;
//! # connection.admin().create_table(&hblite::TableDescriptor::new("t".parse()?)
//! #     .with_family(hblite::ColumnFamilyDescriptor::new("f")))?;
//! let table = connection.table("t")?;
//! let line = r#"{"row":"r1","cells":[{"column":"f:q","timestamp":7,"value":"\\x00v"}]}"#;
//! let options = ImportOptions::at(connection.now_millis());
//! let mut reader = JsonLinesReader::new(line.as_bytes(), &options);
//! let report = import(&table, &mut reader, &options, &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!((report.lines, report.cells), (1, 1));
//!
//! let mut writer = JsonLinesWriter::new(Vec::new());
//! export(&table, &hblite::Scan::new(), &mut writer, &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!(writer.into_inner(), format!("{line}\n").as_bytes());
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod columns;
mod compare;
mod copy;
mod copy_progress;
mod delimited;
mod digest;
mod error;
mod export;
mod hfiles;
mod import;
mod input;
mod json_line;
mod json_lines;
mod pace;
mod records;
mod rekey;
mod row_builder;
mod row_range;

pub use columns::{Column, Columns, HeaderNames};
pub use compare::{CompareOptions, Comparison, DifferenceKind, RowDifference, compare};
pub use copy::{Coprocessors, CopyCount, CopyOptions, copy, create_like};
pub use copy_progress::{CopyProgress, RangeProgress};
pub use delimited::{DelimitedFormat, DelimitedReader, DelimitedWriter};
pub use digest::{CellView, TableDigest, digest, digest_of_fields};
pub use error::{BadLine, BadRow, TransferError};
pub use export::{ExportReport, PIECE_SIZE, RowWriter, export};
pub use hfiles::{HFilesOptions, HFilesProgress, HFilesReport, export_hfiles};
pub use import::{
    FIELD_LINES_MAX, ImportError, ImportOptions, ImportProgress, ImportReport, LINE_SIZE_MAX,
    RowRead, RowReader, import,
};
pub use json_lines::{JsonLinesReader, JsonLinesWriter};
pub use rekey::{KeyFields, Rekey};
pub use row_range::RowRange;
