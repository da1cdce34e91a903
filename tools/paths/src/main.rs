//! The operations whose paths through the code `tools/paths/run` lists.
//!
//! ```text
//! hblite-paths OPERATION COUNT DIR
//! ```
//!
//! performs one operation `COUNT` times on a new store in `DIR`. Half of the rows are in a file and
//! half in memory; the preparation is the same for each count.

use std::error::Error;

use hblite::{ColumnFamilyDescriptor, Connection, Get, Put, Scan, Table, TableDescriptor};

const ROWS: usize = 200;
const COLUMNS: [&str; 4] = ["a", "b", "c", "d"];
const ROWS_OF_SCAN: usize = 20;
const COUNT_MAX: usize = 4000;

fn row(index: usize) -> String {
    format!("row{:06}", index % ROWS)
}

/// A row with all columns; each call has another value.
fn put(index: usize) -> Put {
    let value = format!("value {index}");
    COLUMNS.iter().fold(Put::new(row(index)), |put, column| put.add("f", column, &value))
}

fn prepare(connection: &Connection) -> hblite::Result<Table> {
    let family = ColumnFamilyDescriptor::new("f");
    let descriptor = TableDescriptor::new("t".parse()?).with_family(family);
    connection.admin().create_table(&descriptor)?;
    let table = connection.table("t")?;
    (0..ROWS).step_by(2).try_for_each(|index| table.put(&put(index)))?;
    connection.admin().flush_table("t")?;
    (1..ROWS).step_by(2).try_for_each(|index| table.put(&put(index)))?;
    Ok(table)
}

/// All that any count performs: what an operation is made of is not part of its path.
struct Operations {
    puts: Vec<Put>,
    columns: Vec<Get>,
    rows: Vec<Get>,
    scans: Vec<Scan>,
}

impl Operations {
    fn new() -> Self {
        let indices = || 0..COUNT_MAX;
        let scan = |index| Scan::new().with_start_row(row(index % (ROWS / 2)));
        Self {
            puts: indices().map(put).collect(),
            columns: indices().map(|at| Get::new(row(at)).with_column("f", "b")).collect(),
            rows: indices().map(|at| Get::new(row(at))).collect(),
            scans: indices().map(|at| scan(at).with_limit(ROWS_OF_SCAN as u32)).collect(),
        }
    }

    /// Performs one; returns how many rows it read or wrote.
    fn perform(
        &self,
        table: &Table,
        operation: &str,
        index: usize,
    ) -> Result<usize, Box<dyn Error>> {
        let is_found = |get: &Get| table.get(get).map(|row| usize::from(!row.is_empty()));
        Ok(match operation {
            "put" => table.put(&self.puts[index]).map(|()| 1)?,
            "column" => is_found(&self.columns[index])?,
            "row" => is_found(&self.rows[index])?,
            "scan" => {
                let mut scanner = table.scan(&self.scans[index])?;
                let mut rows = 0;
                while scanner.next_row()?.is_some() {
                    rows += 1;
                }
                rows
            }
            _ => return Err(format!("no operation {operation}").into()),
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("usage: hblite-paths OPERATION COUNT DIR");
    let (operation, count, dir) = (next()?, next()?.parse()?, next()?);
    let connection = hblite::open(&dir)?;
    let table = prepare(&connection)?;
    let operations = Operations::new();
    let rows = if operation == "scan" { ROWS_OF_SCAN } else { 1 };
    for index in 0..count {
        assert_eq!(operations.perform(&table, &operation, index)?, rows);
    }
    // What a close does depends on how many cells there are.
    std::mem::forget(connection);
    Ok(())
}
