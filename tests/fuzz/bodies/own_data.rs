//! Any bytes as data of the user's own, as `hblite hotspot run` takes it: CSV, TSV, JSON lines, or
//! keys one per line. Whatever is read is typed, and becomes keys of a design.
//!
//! The first byte selects the form.

use hblite_hotspot::data::{Format, Table};
use hblite_rowkey::Design;

const DESIGN: &str = "salt(4)|host:str|ts:reverse_timestamp";

/// Returns how many records there are.
pub(crate) fn run(bytes: &[u8]) -> usize {
    let Some((choice, bytes)) = bytes.split_first() else { return 0 };
    let design = Design::parse(DESIGN).expect("a design");
    let table = match choice % 4 {
        0 => Table::read(bytes, Format::Csv),
        1 => Table::read(bytes, Format::Tsv),
        2 => Table::read(bytes, Format::JsonLines),
        _ => Table::read_keys(bytes, &design),
    };
    let Ok(table) = table else { return 0 };
    assert!(!table.fields().is_empty(), "records have fields");
    for designs in [&[][..], std::slice::from_ref(&design)] {
        let Ok(records) = table.typed(designs, None, None) else { continue };
        let fields = records.key_fields(&[]);
        let _ = table.plain_design(&records, &fields.chosen);
    }
    table.len()
}
