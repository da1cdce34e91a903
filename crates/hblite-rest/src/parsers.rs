//! The parsers of clients' input, for the fuzzers. Not part of the API.

use hblite_wire::memory::Room;

use crate::media;
use crate::model::FromBody;
use crate::model::cell_set::CellSet;
use crate::model::filter;
use crate::model::namespace::Properties;
use crate::model::scanner::ScannerModel;
use crate::model::table_schema::TableSchema;
use crate::packing;
use crate::row_spec::RowSpec;

/// The maximum size of a decompressed body here, in bytes.
const UNPACKED_MAX: usize = 1024 * 1024;

/// Passes `bytes` to the parser that `choice` selects.
pub fn parse(choice: u8, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match choice % 9 {
        0 => drop(RowSpec::parse(&text, None)),
        1 => drop(RowSpec::parse(&text, Some("b64"))),
        2 => drop(filter::build(&text)),
        3 => drop(media::choose(&text, &["text/xml", "application/json"])),
        4 => drop(packing::unpack(bytes, UNPACKED_MAX, &mut Room::of(UNPACKED_MAX))),
        5 => body::<CellSet>(bytes),
        6 => body::<TableSchema>(bytes),
        7 => body::<Properties>(bytes),
        _ => {
            if let Ok(Some(model)) = ScannerModel::from_json(bytes) {
                drop(model.scan());
            }
            body::<ScannerModel>(bytes);
        }
    }
}

fn body<M: FromBody>(bytes: &[u8]) {
    drop(M::from_xml(bytes));
    drop(M::from_json(bytes));
    drop(M::from_protobuf(bytes));
}
