//! What a client of HBase sends, without sockets: the preamble, the connection's header, a
//! request's frame, and the messages and cells in it as the server makes operations of them.

#![no_main]

use bytes::Bytes;
use hblite_wire::cell_block::{CellReader, Codec};
use hblite_wire::frame::{Request, decode, decode_connection_header};
use hblite_wire::{convert, pb, preamble};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let message = Bytes::copy_from_slice(bytes);
    match choice % 12 {
        0 => {
            if let Some(first) = bytes.first_chunk() {
                let _ = preamble::parse(*first, "peer");
            }
            let _ = decode_connection_header(bytes);
        }
        1 => frame(message),
        2 | 3 => cells(bytes),
        4 => drop(decode::<pb::Scan>(message).map(|scan| convert::scan(&scan))),
        5 => drop(decode::<pb::Get>(message).map(|get| convert::get(&get))),
        6 => drop(decode::<pb::Filter>(message).map(|filter| convert::filter(&filter))),
        7 => drop(decode::<pb::Condition>(message).map(|condition| convert::condition(&condition))),
        8 => {
            // The message; after a quarter of the bytes, its cells.
            let (message, block) = bytes.split_at(bytes.len() / 4 * 3);
            if let Ok(message) = decode::<pb::MutationProto>(Bytes::copy_from_slice(message)) {
                let _ = convert::mutation(&message, &mut CellReader::new(block));
            }
        }
        9 => schema(message),
        10 => {
            if let Ok(info) = decode::<pb::RegionInfo>(message)
                && let Ok(info) = convert::region_info_from(&info)
            {
                let again = convert::region_info_from(&convert::region_info(&info));
                assert_eq!(again.expect("its own"), info);
            }
        }
        _ => {
            let _ = decode::<pb::MultiRequest>(message.clone());
            let _ = decode::<pb::AggregateRequest>(message.clone());
            let _ = decode::<pb::MutateRowsRequest>(message);
        }
    }
});

fn frame(bytes: Bytes) {
    let length = bytes.len();
    if let Ok(request) = Request::parse(bytes) {
        assert!(request.message.len() + request.cells.len() <= length);
        let _ = (request.call_id(), request.method());
        cells(&request.cells);
    }
}

/// What is read from a block, written again, is what was read.
fn cells(block: &[u8]) {
    let mut reader = CellReader::new(block);
    let mut again = Vec::new();
    while let Ok(cell) = reader.next_cell() {
        let _ = (cell.row(), cell.family(), cell.qualifier(), cell.value(), cell.timestamp());
        Codec::KeyValue.push(&mut again, &cell);
    }
    assert!(block.starts_with(&again) || again.len() <= block.len());
    let _ = CellReader::new(block).skip(block.len());
}

fn schema(message: Bytes) {
    let Ok(message) = decode::<pb::TableSchema>(message) else { return };
    if let Ok(table) = convert::table_schema_from(&message) {
        let again = convert::table_schema_from(&convert::table_schema(&table));
        assert_eq!(again.expect("its own"), table);
    }
}
