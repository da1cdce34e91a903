//! What a server answers the native client: a proxy changes the answers of a real server, in bytes
//! or in length, on their way. Whatever comes, each operation ends before its deadline.
//!
//! Five bytes are a change: the number of the answer, what is done, a place (two bytes), a byte.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hblite_client::{Client, Table};
use hblite_model::{
    Action, CheckAndMutate, ColumnFamilyDescriptor, Get, Put, Scan, TableDescriptor, TableName,
};
use hblite_server::{ServerOptions, TestServer};
use tokio::runtime::{Builder, Runtime};

/// Longer than all operations with their retries take.
const AT_LATEST: Duration = Duration::from_secs(60);
const SETTINGS: &str = "hbase.rpc.timeout=200&hbase.client.pause=2&hbase.client.retries.number=2";
const CHANGES_MAX: usize = 6;
const ROWS: usize = 6;

/// What happens to one answer.
#[derive(Debug, Clone, Copy)]
struct Change {
    answer: u8,
    kind: u8,
    place: u16,
    byte: u8,
}

impl Change {
    fn of(bytes: &[u8]) -> Self {
        let place = u16::from_be_bytes([bytes[2], bytes[3]]);
        Self { answer: bytes[0] % 16, kind: bytes[1], place, byte: bytes[4] }
    }

    fn apply(self, answer: &mut Vec<u8>) {
        let Some(at) = usize::from(self.place).checked_rem(answer.len()) else { return };
        match self.kind % 8 {
            0 => answer.truncate(at),
            1 => answer.insert(at, self.byte),
            2 => drop(answer.remove(at)),
            3 => answer[at] ^= 1 << (self.byte % 8),
            _ => answer[at] = self.byte,
        }
    }
}

/// The answers so far, and what happens to the next.
#[derive(Default)]
struct Plan {
    answers: u8,
    changes: Vec<Change>,
}

static PLAN: Mutex<Plan> = Mutex::new(Plan { answers: 0, changes: Vec::new() });

struct Proxied {
    _server: TestServer,
    url: String,
}

static PROXIED: LazyLock<Proxied> = LazyLock::new(|| {
    let server = TestServer::start_with(hblite::Options::new(), ServerOptions::on_free_ports());
    let server = server.expect("a server");
    let connection = server.connection();
    let name: TableName = "t".parse().expect("a name");
    let table = TableDescriptor::new(name).with_family(ColumnFamilyDescriptor::new("f"));
    connection.admin().create_table(&table).expect("a table");
    let table = connection.table("t").expect("the table");
    for row in 0..ROWS {
        table.put(&Put::new(format!("r{row}")).add("f", "q", "value")).expect("a put");
    }
    let listen = || TcpListener::bind("127.0.0.1:0").expect("a port");
    let (master, region_server) = (listen(), listen());
    let url = format!("hbase+rpc://{}?{SETTINGS}", master.local_addr().expect("bound"));
    let port = server.ports().region_servers[0];
    let moved = Moved { from: port, to: region_server.local_addr().expect("bound").port() };
    let to_master = server.ports().master;
    thread::spawn(move || forward(&master, to_master, moved));
    thread::spawn(move || forward(&region_server, port, moved));
    Proxied { _server: server, url }
});

/// The port in answers that becomes that of the proxy.
#[derive(Clone, Copy)]
struct Moved {
    from: u16,
    to: u16,
}

impl Moved {
    /// In text, and as a number of a message. Ports from 16,384 on have as many bytes.
    fn apply(self, answer: &mut [u8]) {
        let number = |port: u16| [port as u8 | 0x80, (port >> 7) as u8 | 0x80, (port >> 14) as u8];
        replace(answer, self.from.to_string().as_bytes(), self.to.to_string().as_bytes());
        replace(answer, &number(self.from), &number(self.to));
    }
}

fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len(), "ports have five digits");
    for at in 0..bytes.len().saturating_sub(from.len() - 1) {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
}

fn forward(listener: &TcpListener, port: u16, moved: Moved) {
    for client in listener.incoming().flatten() {
        let Ok(server) = TcpStream::connect(("127.0.0.1", port)) else { continue };
        let (Ok(requests), Ok(to)) = (client.try_clone(), server.try_clone()) else { continue };
        thread::spawn(move || {
            let _ = io::copy(&mut &requests, &mut &to);
            let _ = to.shutdown(Shutdown::Both);
        });
        thread::spawn(move || {
            let _ = answers(&server, &client, moved);
            let _ = client.shutdown(Shutdown::Both);
        });
    }
}

fn answers(mut server: &TcpStream, mut client: &TcpStream, moved: Moved) -> io::Result<()> {
    loop {
        let mut length = [0; 4];
        server.read_exact(&mut length)?;
        let mut answer = vec![0; u32::from_be_bytes(length) as usize];
        server.read_exact(&mut answer)?;
        moved.apply(&mut answer);
        let mut plan = PLAN.lock().unwrap_or_else(PoisonError::into_inner);
        let number = plan.answers;
        plan.answers = number.saturating_add(1);
        let mine = plan.changes.iter().filter(|change| change.answer == number);
        mine.for_each(|change| change.apply(&mut answer));
        drop(plan);
        client.write_all(&(answer.len() as u32).to_be_bytes())?;
        client.write_all(&answer)?;
    }
}

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_current_thread().enable_all().build().expect("a runtime"));

/// Runs some operations while the answers are changed; returns how many rows a scan found.
pub(crate) fn run(bytes: &[u8]) -> usize {
    let url = &PROXIED.url;
    let changes = bytes.chunks_exact(5).take(CHANGES_MAX).map(Change::of).collect();
    *PLAN.lock().unwrap_or_else(PoisonError::into_inner) = Plan { answers: 0, changes };
    let began = Instant::now();
    let mut rows = 0;
    if let Ok(client) = RUNTIME.block_on(Client::connect(url)) {
        rows = operate(&client.table("t".parse().expect("a name")));
        client.close();
    }
    assert!(began.elapsed() < AT_LATEST, "it took {:?}", began.elapsed());
    rows
}

fn operate(table: &Table) -> usize {
    let _ = RUNTIME.block_on(table.get(&Get::new("r1")));
    let mut rows = 0;
    if let Ok(mut scanner) = RUNTIME.block_on(table.scan(&Scan::new().with_caching(2))) {
        while let Ok(Some(row)) = RUNTIME.block_on(scanner.next_row()) {
            rows += usize::from(!row.is_empty());
            assert!(rows <= 10 * ROWS, "a scan of {ROWS} rows has no end");
        }
    }
    let put = Put::new("r0").add("f", "q", "value");
    let check = CheckAndMutate::new("r0").if_not_exists("f", "q").then(put.clone());
    let actions: [Action; 3] = [Get::new("r2").into(), put.into(), check.into()];
    if let Ok(results) = RUNTIME.block_on(table.batch(&actions)) {
        assert_eq!(results.len(), actions.len(), "each action has a result");
    }
    let _ = RUNTIME.block_on(table.increment_column(b"n", b"f", b"q", 1));
    rows
}
