//! Tests with hblite. They share a server, and each runs on its own fork, so they may run at the
//! same time. A client of another kind connects to the fork's `ports()`.

use std::sync::OnceLock;
use std::time::Duration;

use hblite::{ClockMode, ColumnFamilyDescriptor, Result, TableDescriptor};
use hblite_server::TestServer;
use orders::Orders;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Starts the server and prepares what every test begins with.
fn prepare() -> Result<TestServer> {
    let server = TestServer::start()?;
    let day = Duration::from_secs(24 * 60 * 60);
    let family = ColumnFamilyDescriptor::new("o").with_time_to_live(day);
    let table = TableDescriptor::new("orders".parse()?).with_family(family);
    server.connection().admin().create_table(&table)?;
    Orders::open(server.connection())?.place("1", "lamp")?;
    server.state().checkpoint("prepared")?;
    Ok(server)
}

fn fork() -> TestServer {
    static SERVER: OnceLock<TestServer> = OnceLock::new();
    SERVER.get_or_init(|| prepare().unwrap()).fork("prepared").unwrap()
}

#[test]
fn an_order_is_replaced() -> Result<()> {
    let server = fork();
    let orders = Orders::open(server.connection())?;
    orders.place("1", "chair")?;
    assert_eq!(orders.item("1")?.as_deref(), Some("chair"));
    Ok(())
}

#[test]
fn other_tests_change_nothing() -> Result<()> {
    let server = fork();
    let orders = Orders::open(server.connection())?;
    assert_eq!(orders.item("1")?.as_deref(), Some("lamp"));
    assert_eq!(orders.item("2")?, None);
    orders.place("2", "desk")?;
    Ok(())
}

#[test]
fn an_order_is_kept_for_a_day() -> Result<()> {
    let server = fork();
    let now = server.state().now_millis();
    server.state().set_clock(ClockMode::Manual(now))?;
    let orders = Orders::open(server.connection())?;
    orders.place("2", "desk")?;
    server.state().advance_clock(DAY_MS - 1)?;
    assert_eq!(orders.item("2")?.as_deref(), Some("desk"));
    server.state().advance_clock(2)?;
    assert_eq!(orders.item("2")?, None);
    Ok(())
}
