//! The web table of the data model: what is shown as one table is stored family by family, and
//! empty cells are not there.

use hblite::{ColumnFamilyDescriptor, Get, Put, Scan, Table, TableDescriptor, TimeRange};
use hblite_rowkey::{Design, Query};

fn web_table() -> Table {
    let connection = hblite::open_in_memory().expect("a store");
    let table = TableDescriptor::new("webtable".parse().expect("a name"))
        .with_family(ColumnFamilyDescriptor::new("contents").with_versions(3))
        .with_family(ColumnFamilyDescriptor::new("anchor").with_versions(3))
        .with_family(ColumnFamilyDescriptor::new("people").with_versions(3));
    connection.admin().create_table(&table).expect("a table");
    let table = connection.table("webtable").expect("a table");
    let row = |domain: &str| {
        let key = Design::parse("domain:domain").expect("a design");
        key.encode(&[domain.into()]).expect("a row")
    };
    let (cnn, example) = (row("www.cnn.com"), row("www.example.com"));
    for put in [
        Put::new(&cnn).add_at("anchor", "cnnsi.com", 9, "CNN"),
        Put::new(&cnn).add_at("anchor", "my.look.ca", 8, "CNN.com"),
        Put::new(&cnn).add_at("contents", "html", 6, "<html>6"),
        Put::new(&cnn).add_at("contents", "html", 5, "<html>5"),
        Put::new(&cnn).add_at("contents", "html", 3, "<html>3"),
        Put::new(&example)
            .add_at("contents", "html", 5, "<html>e")
            .add_at("people", "author", 5, "John Doe"),
    ] {
        table.put(&put).expect("a put");
    }
    table
}

fn cells(table: &Table, get: &Get) -> Vec<String> {
    let row = table.get(get).expect("a row");
    let cell = |cell: hblite::CellRef<'_>| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let column = format!("{}:{}", text(cell.family()), text(cell.qualifier()));
        format!("{column} t{} {}", cell.timestamp(), text(cell.value()))
    };
    row.cells().map(cell).collect()
}

#[test]
fn the_newest_of_each_column_is_read() {
    let table = web_table();
    assert_eq!(
        cells(&table, &Get::new("com.cnn.www")),
        ["anchor:cnnsi.com t9 CNN", "anchor:my.look.ca t8 CNN.com", "contents:html t6 <html>6"]
    );
    assert_eq!(cells(&table, &Get::new("com.cnn.www").with_all_versions()).len(), 5);
}

#[test]
fn empty_cells_are_not_there() {
    let table = web_table();
    let at = |family: &str, qualifier: &str, time: i64| {
        let range = TimeRange::new(time, time + 1).expect("a range");
        cells(
            &table,
            &Get::new("com.cnn.www").with_column(family, qualifier).with_time_range(range),
        )
    };
    assert!(at("contents", "html", 8).is_empty());
    assert!(at("anchor", "my.look.ca", 9).is_empty());
    assert_eq!(at("contents", "html", 5), ["contents:html t5 <html>5"]);
    let people = Scan::new().with_family("people");
    let rows: Vec<_> =
        table.scan(&people).expect("a scan").collect::<Result<_, _>>().expect("rows");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].row(), b"com.example.www");
}

#[test]
fn sites_of_a_domain_are_neighbours() {
    let table = web_table();
    let key = Design::parse("domain:domain").expect("a design");
    let plan = key.plan(&Query::new().suffix("domain", ".cnn.com")).expect("a plan");
    let range = &plan.ranges[0];
    let scan = Scan::new().with_start_row(&range.start).with_stop_row(&range.stop);
    let rows: Vec<_> = table.scan(&scan).expect("a scan").collect::<Result<_, _>>().expect("rows");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].row(), b"com.cnn.www");
}
