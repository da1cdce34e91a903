//! The structs of Thrift 1, and rows as it returns them.

use hblite_model::{CellRef, RowResult};

use crate::protocol::error::{ProtocolError, Result};
use crate::protocol::reader::Reader;
use crate::protocol::types;
use crate::protocol::wire::{List, ShortBytes, Wire, thrift_struct};
use crate::protocol::writer::Writer;

/// Values of the type `Text`, which HBase defines as bytes.
pub(crate) type Texts = List<Vec<u8>>;

thrift_struct! {
    /// A family of a table.
    ColumnDescriptor {
        1 name: Option<Vec<u8>>,
        2 max_versions: i32 = 3,
        3 compression: String = "NONE".to_owned(),
        4 in_memory: bool,
        5 bloom_filter_type: String = "NONE".to_owned(),
        6 bloom_filter_vector_size: i32,
        7 bloom_filter_nb_hashes: i32,
        8 block_cache_enabled: bool,
        9 time_to_live: i32 = i32::MAX,
    }

    /// A region and its server.
    TRegionInfo {
        1 start_key: Vec<u8>,
        2 end_key: Vec<u8>,
        3 id: i64,
        4 name: Vec<u8>,
        5 version: i8,
        6 server_name: Option<Vec<u8>>,
        7 port: i32,
    }

    /// A change of one column, or with `is_delete` of a family.
    Mutation {
        1 is_delete: bool,
        2 column: ShortBytes,
        3 value: Option<Vec<u8>>,
        4 write_to_wal: bool = true,
    }

    /// Changes of one row.
    BatchMutation {
        1 row: ShortBytes,
        2 mutations: List<Mutation>,
    }

    /// An increment of one column.
    TIncrement {
        1 table: Vec<u8>,
        2 row: Vec<u8>,
        3 column: Vec<u8>,
        4 amount: i64,
    }

    /// What to scan.
    TScan {
        1 start_row: Option<Vec<u8>>,
        2 stop_row: Option<Vec<u8>>,
        3 timestamp: Option<i64>,
        4 columns: Option<Texts>,
        5 caching: Option<i32>,
        6 filter_string: Option<Vec<u8>>,
        7 batch_size: Option<i32>,
        8 sort_columns: Option<bool>,
        9 reversed: Option<bool>,
        10 cache_blocks: Option<bool>,
    }

    /// An append to columns of one row.
    TAppend {
        1 table: Vec<u8>,
        2 row: Vec<u8>,
        3 columns: Texts,
        4 values: Texts,
    }
}

/// An answer that is written from the cells of the store without copying them into structs.
macro_rules! answer_only {
    () => {
        fn read(_: &mut Reader<'_>) -> Result<Self> {
            Err(ProtocolError::malformed("an answer in place of a request"))
        }
    };
}

fn write_cell(cell: &CellRef<'_>, writer: &mut Writer) {
    writer.struct_begin();
    writer.field(types::STRING, 1);
    writer.bytes(cell.value());
    writer.field(types::I64, 2);
    writer.i64(cell.timestamp());
    writer.struct_end();
}

fn write_column(cell: &CellRef<'_>, writer: &mut Writer) {
    writer.bytes_of(&[cell.family(), b":", cell.qualifier()]);
}

/// `list<TCell>`: the cells of one row.
pub(crate) struct Cells(pub(crate) RowResult);

impl Wire for Cells {
    const TYPE: u8 = types::LIST;

    answer_only!();

    fn write(&self, writer: &mut Writer) {
        writer.list_begin(types::STRUCT, self.0.len());
        for cell in self.0.cells() {
            write_cell(&cell, writer);
        }
    }
}

/// `list<TRowResult>`. Rows without cells are left out.
pub(crate) struct Rows {
    pub(crate) rows: Vec<RowResult>,
    /// Whether the columns are a list, and not a map.
    pub(crate) are_sorted: bool,
}

impl Rows {
    /// Rows with their columns as maps.
    pub(crate) fn new(rows: Vec<RowResult>) -> Self {
        Self { rows, are_sorted: false }
    }
}

impl Wire for Rows {
    const TYPE: u8 = types::LIST;

    answer_only!();

    fn write(&self, writer: &mut Writer) {
        let count = self.rows.iter().filter(|row| !row.is_empty()).count();
        writer.list_begin(types::STRUCT, count);
        for row in self.rows.iter().filter(|row| !row.is_empty()) {
            writer.struct_begin();
            writer.field(types::STRING, 1);
            writer.bytes(row.row());
            match self.are_sorted {
                true => write_list(row, writer),
                false => write_map(row, writer),
            }
            writer.struct_end();
        }
    }
}

fn write_list(row: &RowResult, writer: &mut Writer) {
    writer.field(types::LIST, 3);
    writer.list_begin(types::STRUCT, row.len());
    for cell in row.cells() {
        writer.struct_begin();
        writer.field(types::STRING, 1);
        write_column(&cell, writer);
        writer.field(types::STRUCT, 2);
        write_cell(&cell, writer);
        writer.struct_end();
    }
}

/// Of several versions of a column the last one is in the map, as with HBase.
fn write_map(row: &RowResult, writer: &mut Writer) {
    let is_same = |left: &CellRef<'_>, right: &CellRef<'_>| {
        left.family() == right.family() && left.qualifier() == right.qualifier()
    };
    let followers = || row.cells().skip(1).map(Some).chain([None]);
    let is_last = |cell: &CellRef<'_>, next: &Option<CellRef<'_>>| {
        next.as_ref().is_none_or(|next| !is_same(cell, next))
    };
    let last = || row.cells().zip(followers()).filter(|(cell, next)| is_last(cell, next));
    writer.field(types::MAP, 2);
    writer.map_begin(types::STRING, types::STRUCT, last().count());
    for (cell, _) in last() {
        write_column(&cell, writer);
        write_cell(&cell, writer);
    }
}
