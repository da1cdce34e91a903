//! Goal: every operation on rows works through the client, on regions of several servers.
//! Method: a server in this process with three region servers. What the client writes is read there
//! without the network.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_client::Client;
use hblite_model::{
    Action, Append, CheckAndMutate, Delete, Exception, Get, Increment, Put, RowMutations, Scan,
    TableDescriptor,
};

use crate::support::{Cluster, rows_of};

#[tokio::test]
async fn rows_are_written_read_and_deleted() {
    let cluster = Cluster::start(3);
    let table = cluster.table("t", &["g", "p"]).await;
    for row in ["a", "g", "z"] {
        let put = Put::new(row).add("f", "q", row).add("f", "n", 1i64);
        table.mutate(put.as_mutation()).await.unwrap();
    }
    let row = table.get(&Get::new("g").with_column("f", "q")).await.unwrap();
    assert_eq!((row.len(), row.value("f", "q")), (1, Some(&b"g"[..])));
    assert!(table.exists(&Get::new("a")).await.unwrap());
    assert!(table.get(&Get::new("b")).await.unwrap().is_empty());
    let direct = cluster.direct("t");
    assert_eq!(direct.get(&Get::new("z")).unwrap().value("f", "q"), Some(&b"z"[..]));

    let one = Increment::new("g").add("f", "n", 41);
    let row = table.read_modify_write(one.as_mutation(), None).await.unwrap();
    assert_eq!(row.value_as::<i64>("f", "n").unwrap(), Some(42));
    assert_eq!(table.increment_column(b"g", b"f", b"n", 1).await.unwrap(), 43);
    let more = Append::new("g").add("f", "q", "!");
    let row = table.read_modify_write(more.as_mutation(), None).await.unwrap();
    assert_eq!(row.value("f", "q"), Some(&b"g!"[..]));

    table.mutate(Delete::new("g").as_mutation()).await.unwrap();
    assert!(direct.get(&Get::new("g")).unwrap().is_empty());
}

#[tokio::test]
async fn several_writes_and_conditions_are_one_step() {
    let cluster = Cluster::start(2);
    let table = cluster.table("t", &["m"]).await;
    let both = RowMutations::new("r")
        .add(Put::new("r").add("f", "a", "1"))
        .add(Increment::new("r").add("f", "n", 5));
    let row = table.mutate_row(&both, None).await.unwrap();
    assert_eq!(row.value_as::<i64>("f", "n").unwrap(), Some(5));
    let claim = CheckAndMutate::new("r")
        .if_not_exists("f", "owner")
        .then(Put::new("r").add("f", "owner", "me"));
    assert!(table.check_and_mutate(&claim, None).await.unwrap().is_success);
    assert!(!table.check_and_mutate(&claim, None).await.unwrap().is_success);
    let swap = CheckAndMutate::new("r").if_equals("f", "owner", "me").then_mutate_row(
        RowMutations::new("r")
            .add(Put::new("r").add("f", "owner", "you"))
            .add(Delete::new("r").columns("f", "a")),
    );
    assert!(table.check_and_mutate(&swap, None).await.unwrap().is_success);
    let row = cluster.direct("t").get(&Get::new("r")).unwrap();
    assert_eq!((row.value("f", "owner"), row.value("f", "a")), (Some(&b"you"[..]), None));
}

#[tokio::test]
async fn a_batch_has_a_result_for_each_action() {
    let cluster = Cluster::start(3);
    let table = cluster.table("t", &["g", "p"]).await;
    let mut actions: Vec<Action> =
        ["z", "a", "h"].iter().map(|row| Action::from(Put::new(row).add("f", "q", *row))).collect();
    actions.push(Action::from(Put::new("b").add("nowhere", "q", "v")));
    actions.push(Action::from(Increment::new("n").add("f", "n", 7)));
    actions.push(Action::from(Get::new("z")));
    actions.push(Action::from(RowMutations::new("c").add(Put::new("c").add("f", "q", "c"))));
    let results = table.batch(&actions).await.unwrap();
    assert_eq!(results.len(), actions.len());
    let errors: Vec<usize> =
        results.iter().enumerate().filter(|(_, one)| one.is_err()).map(|(at, _)| at).collect();
    assert_eq!(errors, [3]);
    let error = results[3].as_ref().unwrap_err();
    assert_eq!(error.exception(), Exception::NoSuchColumnFamily);
    let row = |at: usize| results[at].as_ref().unwrap().row().unwrap();
    assert_eq!(row(4).value_as::<i64>("f", "n").unwrap(), Some(7));
    assert_eq!(row(5).value("f", "q"), Some(&b"z"[..]));
    assert_eq!(cluster.direct("t").scan(&Scan::new()).unwrap().count(), 5);
}

#[tokio::test]
async fn a_batch_may_have_conditions() {
    let cluster = Cluster::start(3);
    let table = cluster.table("t", &["g", "p"]).await;
    let if_empty = |row: &str| CheckAndMutate::new(row).if_not_exists("f", "q");
    let put = |row: &str| Put::new(row).add("f", "q", "v");
    let both =
        |row: &str| RowMutations::new(row).add(put(row)).add(Increment::new(row).add("f", "n", 5));
    let actions: Vec<Action> = vec![
        if_empty("z").then(put("z")).into(),
        put("a").into(),
        if_empty("a").then(Delete::new("a")).into(),
        if_empty("n").then_mutate_row(both("n")).into(),
        if_empty("n").then_mutate_row(both("n")).into(),
        if_empty("c").then(Increment::new("c").add("f", "n", 3)).into(),
        if_empty("b").then(Put::new("b").add("nowhere", "q", "v")).into(),
        RowMutations::new("h").add(put("h")).into(),
    ];
    let results = table.batch(&actions).await.unwrap();
    let result = |at: usize| results[at].as_ref().unwrap();
    assert_eq!([0, 2, 3, 4, 5].map(|at| result(at).is_success()), [true, false, true, false, true]);
    assert_eq!((result(0).row(), result(4).row()), (None, None));
    let counter = |at: usize| result(at).row().unwrap().value_as::<i64>("f", "n").unwrap();
    assert_eq!((counter(3), counter(5)), (Some(5), Some(3)));
    let error = results[6].as_ref().unwrap_err();
    assert_eq!(error.exception(), Exception::NoSuchColumnFamily);
    let rows = cluster.direct("t").scan(&Scan::new()).unwrap();
    let rows: Vec<String> =
        rows.map(|row| String::from_utf8_lossy(row.unwrap().row()).into_owned()).collect();
    assert_eq!(rows, ["a", "c", "h", "n", "z"]);
}

#[tokio::test]
async fn scans_cross_regions_in_both_directions() {
    let cluster = Cluster::start(3);
    let table = cluster.table("t", &["row03", "row05", "row08"]).await;
    let names: Vec<String> = (0..10).map(|n| format!("row{n:02}")).collect();
    for name in &names {
        let put = Put::new(name).add("f", "a", "1").add("f", "b", "2").add("f", "c", "3");
        table.mutate(put.as_mutation()).await.unwrap();
    }
    let reversed: Vec<String> = names.iter().rev().cloned().collect();
    for caching in [1, 2, 100] {
        let scan = Scan::new().with_caching(caching);
        assert_eq!(rows_of(&table, &scan).await, names);
        assert_eq!(rows_of(&table, &scan.clone().with_reversed(true)).await, reversed);
        let middle = scan.clone().with_start_row("row03").with_stop_row_inclusive("row08");
        assert_eq!(rows_of(&table, &middle).await, names[3..9]);
        let back = scan.clone().with_reversed(true).with_start_row("row07").with_stop_row("row03");
        assert_eq!(rows_of(&table, &back).await, reversed[2..6]);
        let after = scan.clone().with_start_row_exclusive("row04").with_limit(4);
        assert_eq!(rows_of(&table, &after).await, names[5..9]);
    }
    // With few results per fetch, HBase counts rows in batches differently: see tests/golden.rs.
    let batches = rows_of(&table, &Scan::new().with_batch(2).with_limit(3)).await;
    assert_eq!(batches, ["row00", "row00", "row01", "row01", "row02", "row02"]);
    // A row that does not fit into one answer is still returned whole.
    let scan = Scan::new().with_size_max_bytes(1);
    assert_eq!(rows_of(&table, &scan).await, names);
    let parts = rows_of(&table, &scan.with_partial_results(true)).await;
    assert_eq!(parts.len(), 30);
}

#[tokio::test]
async fn all_registries_find_the_cluster() {
    let cluster = Cluster::start(2);
    cluster.table("t", &[]).await;
    for url in [cluster.url(), cluster.zookeeper_url(), cluster.region_server_url()] {
        let client = Client::connect(&url).await.unwrap();
        assert!(client.admin().table_exists(&"t".parse().unwrap()).await.unwrap(), "{url}");
        let none = client.table("none".parse().unwrap()).get(&Get::new("r")).await.unwrap_err();
        assert_eq!((none.exception(), none.message()), (Exception::TableNotFound, "none"));
        let descriptor = TableDescriptor::new("u".parse().unwrap())
            .with_family(hblite_model::ColumnFamilyDescriptor::new("f"));
        client.admin().create_table(&descriptor, &[]).await.unwrap();
        client.admin().disable_table(descriptor.name()).await.unwrap();
        let table = client.table(descriptor.name().clone());
        let disabled = table.get(&Get::new("r")).await.unwrap_err();
        assert_eq!(disabled.message(), "u is disabled.");
        client.admin().delete_table(descriptor.name()).await.unwrap();
    }
}

#[tokio::test]
async fn cell_blocks_may_be_compressed() {
    let cluster = Cluster::start(1);
    cluster.table("t", &[]).await;
    for codec in ["GzipCodec", "SnappyCodec", "Lz4Codec"] {
        let setting = "hbase.client.rpc.compressor=org.apache.hadoop.io.compress";
        let client =
            Client::connect(&format!("{}?{setting}.{codec}", cluster.url())).await.unwrap();
        let table = client.table("t".parse().unwrap());
        let value = codec.repeat(1_000);
        let put = Put::new(codec).add("f", "q", value.as_str());
        table.mutate(put.as_mutation()).await.unwrap();
        let row = table.get(&Get::new(codec)).await.unwrap();
        assert_eq!(row.text("f", "q").unwrap(), Some(value.as_str()));
    }
}
