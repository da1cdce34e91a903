//! The work of `overhead.c` through the API for Rust.

use std::hint::black_box;

use hblite::{ColumnFamilyDescriptor, Get, Put, Scan, TableDescriptor};

const ROWS: usize = 20_000;

fn main() -> hblite::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let count = arguments.get(2).and_then(|count| count.parse().ok());
    let (Some(operation), Some(count)) = (arguments.get(1), count) else {
        println!("usage: overhead put|get|scan COUNT");
        return Ok(());
    };
    let db = hblite::open_in_memory()?;
    let family = ColumnFamilyDescriptor::new("f");
    db.admin().create_table(&TableDescriptor::new("t".parse()?).with_family(family))?;
    let table = db.table("t")?;
    let keys: Vec<String> = (0..ROWS).map(|row| format!("row{row:09}")).collect();
    let value = [b'x'; 100];
    for key in &keys {
        table.put(&Put::new(key).add("f", "q", &value[..]))?;
    }
    let mut done = 0_usize;
    while done < count {
        match operation.as_str() {
            "put" => table.put(&Put::new(&keys[done % ROWS]).add("f", "q", &value[..]))?,
            "get" => {
                let row = table.get(&Get::new(&keys[done % ROWS]))?;
                assert_eq!(black_box(row.value("f", "q")).map(<[u8]>::len), Some(value.len()));
            }
            _ => {
                // The rows of a scan are counted.
                for row in table.scan(&Scan::new())? {
                    assert_eq!(black_box(row?.len()), 1);
                    done += 1;
                }
                continue;
            }
        }
        done += 1;
    }
    Ok(())
}
