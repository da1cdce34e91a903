//! Goal: the parts of the API that no other suite uses: many gets, buffered writes, batches by
//! region, cell visits that stop early, typed values, options that keep each other.
//! Method: small programs on stores in memory, through the public API only.

use std::ops::ControlFlow;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hblite::{
    Action, Append, BufferedMutator, CheckAndMutate, ColumnFamilyDescriptor, Connection, Error,
    ErrorKind, Exception, FailedMutations, Get, Increment, Options, Put, RowMutations, Scan, Table,
    TableDescriptor,
};

fn table_with(connection: &Connection, splits: &[&str]) -> Table {
    let family = ColumnFamilyDescriptor::new("f").with_versions(3);
    let descriptor =
        TableDescriptor::new("t".parse().expect("a store in memory")).with_family(family);
    let splits: Vec<Vec<u8>> = splits.iter().map(|row| row.as_bytes().to_vec()).collect();
    connection.admin().create_table_with_splits(&descriptor, &splits).expect("a store in memory");
    connection.table("t").expect("a store in memory")
}

fn put(row: &str, value: &str) -> Put {
    Put::new(row).add("f", "q", value)
}

fn rows(table: &Table) -> Vec<String> {
    let rows = table.scan(&Scan::new()).expect("a store in memory");
    rows.map(|row| {
        String::from_utf8(row.expect("a store in memory").row().to_vec())
            .expect("a store in memory")
    })
    .collect()
}

#[test]
fn many_gets_give_their_rows_in_order() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &["m"]);
    table.put_all(&[put("a", "1"), put("z", "2")]).unwrap();
    let found = table.get_all(&[Get::new("z"), Get::new("no"), Get::new("a")]).unwrap();
    let values: Vec<Option<&[u8]>> = found.iter().map(|row| row.value("f", "q")).collect();
    assert_eq!(values, [Some(&b"2"[..]), None, Some(&b"1"[..])]);
    let missing = Get::new("a").with_family("none");
    let error = table.get_all(&[Get::new("a"), missing]).unwrap_err();
    assert_eq!(error.exception(), Exception::NoSuchColumnFamily);
    // The table's settings, which are in HBase's message, are left out.
    let class = error.exception().class_name();
    let shown = format!("not found: table t has no column family none ({class})");
    assert_eq!(error.to_string(), shown);
    assert!(error.message().contains("VERSIONS => '3'"), "{}", error.message());
}

/// Pages of two rows, each beginning after the last row of the page before.
fn pages(table: &Table, scan: &Scan) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    loop {
        let page = match found.last() {
            Some(last) => scan.clone().with_start_row_exclusive(last),
            None => scan.clone(),
        };
        let page = table.scan(&page.with_limit(2)).expect("a scan");
        let before = found.len();
        let text = |row: &[u8]| String::from_utf8_lossy(row).into_owned();
        found.extend(page.map(|row| text(row.expect("a row").row())));
        if found.len() == before {
            return found;
        }
    }
}

#[test]
fn rows_with_a_prefix_come_in_both_directions_over_regions() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &["b3", "b5", "c"]);
    let all = ["a", "b", "b1", "b3", "b4", "b5", "b9", "c", "c1"];
    table.put_all(&all.map(|row| put(row, "v"))).unwrap();
    let there = &all[1..7];
    let back: Vec<&str> = there.iter().rev().copied().collect();
    let scan = Scan::new().with_prefix("b");
    assert_eq!(pages(&table, &scan), there);
    assert_eq!(pages(&table, &scan.clone().with_reversed(true)), back);
    let from = Scan::new().with_reversed(true).with_start_row("b4").with_prefix("b");
    assert_eq!(pages(&table, &from), back[2..]);
    let until = scan.clone().with_reversed(true).with_stop_row("b3");
    assert_eq!(pages(&table, &until), back[..3]);
    let error = table.scan(&scan.with_start_row("c")).map(drop).unwrap_err();
    assert_eq!(error.exception(), Exception::IllegalArgument);
    assert_eq!(pages(&table, &Scan::new().with_prefix("d").with_reversed(true)), [""; 0]);
}

#[test]
fn a_batch_does_each_action_and_reports_each() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &["m"]);
    let actions: Vec<Action> = vec![
        put("a", "1").into(),
        put("z", "2").into(),
        Put::new("b").add("none", "q", "v").into(),
        Get::new("a").into(),
        put("a", "3").into(),
        Append::new("a").add("f", "q", "4").into(),
        Increment::new("n").add("f", "count", 5).into(),
        Get::new("a").into(),
    ];
    let results = table.batch(&actions).unwrap();
    let value = |index: usize| {
        let row = results[index].as_ref().unwrap().row().unwrap();
        row.value("f", "q").map(<[u8]>::to_vec)
    };
    assert_eq!(results[2].as_ref().unwrap_err().exception(), Exception::NoSuchColumnFamily);
    assert!([0, 1].iter().all(|at| results[*at].clone().unwrap().into_row().is_empty()));
    // Of one row, each action sees those before it.
    assert_eq!(value(3), Some(b"1".to_vec()));
    assert_eq!(value(5), Some(b"34".to_vec()));
    assert_eq!(value(7), Some(b"34".to_vec()));
    assert_eq!(rows(&table), ["a", "n", "z"]);
}

#[test]
fn a_batch_may_have_conditions() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &["m"]);
    let if_empty = |row: &str| CheckAndMutate::new(row).if_not_exists("f", "q");
    let both = |row: &str| {
        RowMutations::new(row).add(put(row, "1")).add(Increment::new(row).add("f", "n", 5))
    };
    let actions: Vec<Action> = vec![
        if_empty("a").then(put("a", "1")).into(),
        if_empty("a").then(put("a", "2")).into(),
        put("z", "1").into(),
        if_empty("z").then(put("z", "2")).into(),
        if_empty("n").then_mutate_row(both("n")).into(),
        if_empty("b").then(Put::new("b").add("none", "q", "v")).into(),
        Get::new("a").into(),
    ];
    let results = table.batch(&actions).unwrap();
    let told = |at: usize| results[at].as_ref().unwrap();
    let held = [0, 1, 3, 4].map(|at| told(at).is_success());
    assert_eq!(held, [true, false, false, true]);
    assert_eq!(told(0).row(), None);
    assert_eq!(told(4).row().unwrap().value("f", "n"), Some(5_i64.to_be_bytes().as_slice()));
    assert_eq!(results[5].as_ref().unwrap_err().exception(), Exception::NoSuchColumnFamily);
    assert_eq!(told(6).row().unwrap().value("f", "q"), Some(&b"1"[..]));
    assert_eq!(rows(&table), ["a", "n", "z"]);
    // What can never succeed is refused before anything is done.
    let refused = CheckAndMutate::new("c").then(put("c", "1"));
    table.batch(&[put("c", "1").into(), refused.into()]).unwrap_err();
    assert_eq!(rows(&table), ["a", "n", "z"]);
}

#[test]
fn buffered_writes_arrive_when_the_buffer_is_full_or_dropped() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &["m"]);
    let mut writes = table.buffered_mutator().with_count_max(2);
    writes.mutate(put("a", "1")).unwrap();
    assert!(rows(&table).is_empty() && writes.len() == 1);
    writes.mutate(put("z", "1")).unwrap();
    assert_eq!(rows(&table), ["a", "z"]);
    assert!(writes.is_empty());
    writes.mutate(put("b", "1")).unwrap();
    drop(writes);
    assert_eq!(rows(&table), ["a", "b", "z"]);

    let mut by_size: BufferedMutator = table.buffered_mutator().with_size_max_bytes(1_000);
    by_size.mutate(put("c", &"x".repeat(2_000))).unwrap();
    assert!(by_size.is_empty(), "one write reaches the limit");
    assert_eq!((by_size.count_max(), by_size.size_max_bytes()), (10_000, 1_000));
    by_size.close().unwrap();
}

#[test]
fn writes_of_a_buffer_that_fail_come_back_with_their_errors() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &[]);
    let mut writes = table.buffered_mutator();
    writes.mutate(put("a", "1")).unwrap();
    writes.mutate(Put::new("b").add("none", "q", "v")).unwrap();
    // A put without cells is refused by the client, which refuses whole batches.
    writes.mutate(Put::new("c")).unwrap();
    writes.mutate(put("d", "1")).unwrap();
    let failures = writes.flush().unwrap_err();
    let failed: Vec<(&[u8], Exception)> = failures
        .failed()
        .iter()
        .map(|failed| (failed.mutation.row(), failed.error.exception()))
        .collect();
    let expected =
        [(&b"b"[..], Exception::NoSuchColumnFamily), (&b"c"[..], Exception::IllegalArgument)];
    assert_eq!(failed, expected);
    assert!(failures.to_string().starts_with("2 of 4 writes failed; the first one: "));
    assert_eq!(rows(&table), ["a", "d"]);
    assert!(writes.is_empty());
    writes.flush().unwrap();
    assert_eq!(Error::from(failures).exception(), Exception::NoSuchColumnFamily);
}

/// Polls until the condition holds; fails if it does not within 30 seconds.
fn wait_until(is_met: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_met() {
        assert!(began.elapsed() < Duration::from_secs(30), "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn buffered_writes_are_sent_at_their_age() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &[]);
    let age = Duration::from_millis(5);
    let mut writes = table.buffered_mutator().with_age_max(age);
    assert_eq!(writes.age_max(), Some(age));
    for row in ["a", "b"] {
        writes.mutate(put(row, "1")).unwrap();
        wait_until(|| writes.is_empty());
        assert!(table.exists(&Get::new(row)).unwrap(), "{row}");
    }
    // What fails in the background is reported by the next call, unless this one was slower.
    let failures = writes.mutate(Put::new("c").add("none", "q", "v")).err();
    wait_until(|| writes.is_empty());
    let failures = failures.or_else(|| writes.flush().err()).unwrap();
    assert_eq!(failures.failed()[0].mutation.row(), b"c");
    writes.close().unwrap();
    // The thread ends with the buffer; what was too young is sent.
    let mut writes = table.buffered_mutator().with_age_max(Duration::from_secs(3_600));
    writes.mutate(put("d", "1")).unwrap();
    drop(writes);
    assert_eq!(rows(&table), ["a", "b", "d"]);
}

#[test]
fn a_listener_gets_the_writes_that_fail() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &[]);
    let (sender, failed) = mpsc::channel();
    let listener = move |failures: FailedMutations| {
        let is_for_caller = failures.failed().len() > 1;
        for one in failures.failed() {
            sender.send(one.mutation.row().to_vec()).unwrap();
        }
        if is_for_caller { Err(failures) } else { Ok(()) }
    };
    let bad = |row: &str| Put::new(row).add("none", "q", "v");
    let mut writes = table.buffered_mutator().with_error_listener(listener);
    writes.mutate(bad("a")).unwrap();
    writes.mutate(put("b", "1")).unwrap();
    writes.flush().unwrap();
    assert_eq!(failed.try_recv().unwrap(), b"a");
    writes.mutate(bad("c")).unwrap();
    writes.mutate(bad("d")).unwrap();
    assert_eq!(writes.flush().unwrap_err().failed().len(), 2);
    writes.mutate(bad("e")).unwrap();
    drop(writes);
    assert_eq!(failed.iter().collect::<Vec<_>>(), [b"c", b"d", b"e"]);
    assert_eq!(rows(&table), ["b"]);
}

#[test]
fn a_scan_of_cells_stops_where_it_is_told_and_goes_on() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &["c"]);
    table.put_all(&["a", "b", "c", "d"].map(|row| put(row, row))).unwrap();
    let mut scanner = table.scan(&Scan::new()).unwrap();
    let mut seen = Vec::new();
    let found = scanner
        .try_for_each_cell(|cell| {
            seen.push(cell.row().to_vec());
            if cell.row() == b"c" {
                ControlFlow::Break(seen.len())
            } else {
                ControlFlow::Continue(())
            }
        })
        .unwrap();
    assert_eq!(found, ControlFlow::Break(3));
    let mut rest = 0;
    scanner
        .for_each_cell(|cell| {
            assert_eq!(cell.row(), b"d");
            rest += 1;
        })
        .unwrap();
    assert_eq!(rest, 1);
}

#[test]
fn exists_reads_no_more_of_a_row_than_its_first_cell() {
    let connection = hblite::open_in_memory().unwrap();
    let table = table_with(&connection, &[]);
    let wide = (0..1_000).fold(Put::new("wide"), |put, n| put.add("f", format!("{n:04}"), "v"));
    table.put(&wide).unwrap();
    let examined = || {
        let regions = connection.admin().status().unwrap().regions;
        regions.iter().map(|region| region.load.cells_examined).sum::<u64>()
    };
    let before = examined();
    assert!(table.exists(&Get::new("wide")).unwrap());
    assert!(examined() - before < 10, "{} cells for an answer of one bit", examined() - before);
    assert!(!table.exists(&Get::new("other")).unwrap());
    assert!(table.exists(&Get::new("wide").with_column("f", "0999")).unwrap());
    assert!(!table.exists(&Get::new("wide").with_column("f", "1000")).unwrap());
}

#[test]
fn a_store_that_is_missing_or_only_read_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let options = Options::new().with_create_if_missing(false);
    let error = options.open(&missing).unwrap_err();
    assert!(error.message().ends_with("missing: no store is there"), "{error}");
    assert!(!missing.exists());

    hblite::open(dir.path()).unwrap().close().unwrap();
    let options = Options::new().with_read_only(true);
    let reader = options.open(dir.path()).unwrap();
    let table =
        TableDescriptor::new("t".parse().unwrap()).with_family(ColumnFamilyDescriptor::new("f"));
    let error = reader.admin().create_table(&table).unwrap_err();
    assert_eq!(error.exception(), Exception::DoNotRetryIo);
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
}
