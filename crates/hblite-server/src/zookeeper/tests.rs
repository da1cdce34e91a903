//! The shim over sockets, with the bytes that real clients send and real HBase answers.
//!
//! Method: a cluster that the test changes, a client that writes bytes. What HBase's own ZooKeeper
//! client makes of it is tried by `tools/conformance`.

use hblite_wire::jute;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hblite_env::Env;
use hblite_wire::memory::MemoryBudget;
use parking_lot::Mutex;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::conversation::Conversation;
use super::*;

/// A cluster like the one whose bytes were captured.
pub(super) fn cluster_state() -> ClusterState {
    let server =
        ServerName { host: "localhost".to_owned(), port: 16020, start_code: 1_795_257_995_467 };
    ClusterState {
        cluster_id: "ca9fced8-4350-477d-9b81-eaf32ebf7024".to_owned(),
        start_date: "Sat Nov 21 19:32:00 UTC 2026".to_owned(),
        master: Some(ServerName { port: 16000, ..server.clone() }),
        meta: Some(server.clone()),
        region_servers: vec![server],
        namespaces: vec!["default".to_owned(), "hbase".to_owned()],
        tables: vec![
            ("n:t2".to_owned(), TableState::Disabled),
            ("t1".to_owned(), TableState::Enabled),
        ],
        switches: Switches::default(),
    }
}

#[derive(Debug, Clone)]
struct TestCluster {
    state: Arc<Mutex<ClusterState>>,
    changes: watch::Sender<u64>,
}

impl TestCluster {
    fn new() -> Self {
        Self { state: Arc::new(Mutex::new(cluster_state())), changes: watch::channel(0).0 }
    }

    fn change(&self, change: impl FnOnce(&mut ClusterState)) {
        change(&mut self.state.lock());
        self.changes.send_modify(|number| *number += 1);
    }
}

impl Cluster for TestCluster {
    fn state(&self, _: SocketAddr) -> ClusterState {
        self.state.lock().clone()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

struct Served {
    cluster: TestCluster,
    address: SocketAddr,
    task: AbortHandle,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve() -> Served {
    let cluster = TestCluster::new();
    let shim = Shim::new(cluster.clone(), Env::in_memory());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let memory = Arc::new(MemoryBudget::new(1 << 26));
    let task = tokio::spawn(shim.serve(listener, memory, None)).abort_handle();
    Served { cluster, address, task }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| std::str::from_utf8(pair).ok().map(|pair| pair.to_owned());
    let parse = |pair: String| u8::from_str_radix(&pair, 16).expect("hexadecimal digits");
    digits.chunks(2).filter_map(pair).map(parse).collect()
}

/// Java's client: asks for 90 s, and says that it also writes.
const JAVA_CONNECT: &str = "0000002d 00000000 0000000000000000 00015f90 0000000000000000 00000010
    00000000000000000000000000000000 00";
/// Go's client: asks for 30 s, and says nothing more.
const GO_CONNECT: &str = "0000002c 00000000 0000000000000000 00007530 0000000000000000 00000010
    00000000000000000000000000000000";

struct Client {
    stream: TcpStream,
}

impl Client {
    async fn open(served: &Served) -> Self {
        Self { stream: TcpStream::connect(served.address).await.expect("it listens") }
    }

    async fn connected(served: &Served) -> Self {
        let mut client = Self::open(served).await;
        client.send(&bytes(JAVA_CONNECT)).await;
        client.receive().await;
        client
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("it reads");
    }

    async fn receive(&mut self) -> Vec<u8> {
        let length = self.stream.read_u32().await.expect("an answer");
        let mut frame = vec![0; length as usize];
        self.stream.read_exact(&mut frame).await.expect("a whole answer");
        frame
    }

    /// Sends a request, and returns error and body.
    async fn ask(&mut self, operation: i32, body: impl FnOnce(&mut Encoder)) -> (i32, Vec<u8>) {
        let mut request = Encoder::default();
        request.frame(|out| {
            out.int(7).int(operation);
            body(out);
        });
        self.send(request.as_slice()).await;
        let answer = self.receive().await;
        assert_eq!(answer[..4], 7_i32.to_be_bytes());
        (error_of(&answer), answer[16..].to_vec())
    }

    async fn get_data(&mut self, path: &str, watches: bool) -> (i32, Vec<u8>) {
        self.ask(4, |out| {
            out.string(path).boolean(watches);
        })
        .await
    }

    /// Type and path of the next event.
    async fn event(&mut self) -> (i32, String) {
        let event = self.receive().await;
        let mut event = jute::Decoder::new(&event);
        assert_eq!((event.int(), event.long(), event.int()), (Ok(-1), Ok(-1), Ok(0)));
        let kind = event.int().expect("a type");
        assert_eq!(event.int(), Ok(3), "the client is connected");
        (kind, event.string().expect("a path").to_owned())
    }

    async fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        let read = self.stream.read(&mut byte);
        let read = tokio::time::timeout(Duration::from_secs(20), read).await;
        matches!(read, Ok(Ok(0) | Err(_)))
    }
}

fn error_of(answer: &[u8]) -> i32 {
    answer[12..].first_chunk().map(|error| i32::from_be_bytes(*error)).expect("a header")
}

#[tokio::test]
async fn captured_requests_of_java_get_the_captured_answers() {
    let served = serve().await;
    let mut client = Client::open(&served).await;
    client.send(&bytes(JAVA_CONNECT)).await;
    let connected = client.receive().await;
    assert_eq!(connected.len(), 0x25);
    assert_eq!(connected[4..8], bytes("00009c40"), "40 s are granted");
    client
        .send(&bytes(
            "00000026 00000003 00000004 00000019
             2f68626173652f6d6574612d726567696f6e2d736572766572 00",
        ))
        .await;
    let answer = client.receive().await;
    assert_eq!(answer[..4], bytes("00000003"));
    assert_eq!(error_of(&answer), 0);
    let data_length = u32::from_be_bytes(answer[16..20].try_into().expect("four bytes")) as usize;
    let data = &answer[20..20 + data_length];
    let expected = bytes("50425546 0a150a096c6f63616c686f737410947d18cba1dced9f34 1000 1803");
    assert!(data.ends_with(&expected));
    assert_eq!(answer.len(), 20 + data_length + 68, "a Stat follows");
}

#[tokio::test]
async fn the_shorter_hello_of_go_gets_the_shorter_answer() {
    let served = serve().await;
    let mut client = Client::open(&served).await;
    client.send(&bytes(GO_CONNECT)).await;
    let connected = client.receive().await;
    assert_eq!(connected.len(), 0x24);
    assert_eq!(connected[4..8], bytes("00007530"), "30 s are granted");
    let (error, _) = client.get_data("/hbase/master", false).await;
    assert_eq!(error, 0);
}

#[tokio::test]
async fn pipelined_requests_of_asynchbase_are_answered_in_order() {
    let served = serve().await;
    let mut client = Client::connected(&served).await;
    let mut requests = Encoder::default();
    for (xid, path) in [(1, "/hbase/root-region-server"), (2, "/hbase/meta-region-server")] {
        requests.frame(|out| {
            out.int(xid).int(4).string(path).boolean(true);
        });
    }
    requests.frame(|out| {
        out.int(3).int(-11);
    });
    client.send(requests.as_slice()).await;
    let errors = [client.receive().await, client.receive().await, client.receive().await];
    assert_eq!(errors.map(|answer| (answer[3], error_of(&answer))), [(1, -101), (2, 0), (3, 0)]);
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn watches_fire_when_the_cluster_changes() {
    let served = serve().await;
    let mut client = Client::connected(&served).await;
    assert_eq!(client.get_data("/hbase/meta-region-server", true).await.0, 0);
    served.cluster.change(|state| state.meta = None);
    assert_eq!(client.event().await, (2, "/hbase/meta-region-server".to_owned()));
    let waits = |out: &mut Encoder| {
        out.string("/hbase/meta-region-server").boolean(true);
    };
    assert_eq!(client.ask(3, waits).await.0, -101, "it can be waited for");
    served.cluster.change(|state| state.meta = state.master.clone());
    assert_eq!(client.event().await, (1, "/hbase/meta-region-server".to_owned()));
    let (error, _) = client
        .ask(8, |out| {
            out.string("/hbase/rs").boolean(true);
        })
        .await;
    assert_eq!(error, 0);
    served.cluster.change(|state| state.region_servers.clear());
    assert_eq!(client.event().await, (4, "/hbase/rs".to_owned()));
}

#[tokio::test]
async fn a_client_that_comes_back_hears_what_it_missed() {
    let served = serve().await;
    let mut first = Client::open(&served).await;
    first.send(&bytes(JAVA_CONNECT)).await;
    let connected = first.receive().await;
    let (error, answer) = first.get_data("/hbase/meta-region-server", true).await;
    assert_eq!(error, 0);
    let stat = &answer[answer.len() - 68..];
    let modified_zxid = i64::from_be_bytes(stat[8..16].try_into().expect("eight bytes"));

    // The same session on another connection, which the first one loses.
    let mut again = bytes(JAVA_CONNECT);
    again[20..28].copy_from_slice(&connected[8..16]);
    again[32..48].copy_from_slice(&connected[20..36]);
    let mut second = Client::open(&served).await;
    second.send(&again).await;
    assert_eq!(second.receive().await[8..16], connected[8..16]);
    assert!(first.is_closed().await);

    served.cluster.change(|state| state.meta = state.master.clone());
    let set_watches = |out: &mut Encoder| {
        out.long(modified_zxid);
        out.strings(["/hbase/meta-region-server"].into_iter());
        out.strings(["/hbase/master"].into_iter());
        out.strings(["/hbase/nowhere"].into_iter());
    };
    let mut request = Encoder::default();
    request.frame(|out| {
        out.int(-8).int(101);
        set_watches(out);
    });
    second.send(request.as_slice()).await;
    assert_eq!(second.event().await, (3, "/hbase/meta-region-server".to_owned()));
    assert_eq!(second.event().await, (1, "/hbase/master".to_owned()));
    assert_eq!(second.event().await, (2, "/hbase/nowhere".to_owned()));
    assert_eq!(error_of(&second.receive().await), 0);

    // A wrong password or an unknown session counts as expired.
    again[32] ^= 1;
    let mut third = Client::open(&served).await;
    third.send(&again).await;
    assert_eq!(third.receive().await[4..16], [0; 12]);
}

#[tokio::test]
async fn writes_are_refused_with_the_code_that_says_why() {
    let served = serve().await;
    let mut client = Client::connected(&served).await;
    let create = |path: &'static str| {
        move |out: &mut Encoder| {
            out.string(path).buffer(b"x").int(1).int(31).string("world").string("anyone").int(0);
        }
    };
    assert_eq!(client.ask(1, create("/hbase/mine")).await.0, -102, "NoAuth");
    assert_eq!(client.ask(15, create("/nowhere/mine")).await.0, -101, "NoNode");
    assert_eq!(client.ask(1, create("no path")).await.0, -8, "BadArguments");
    let delete = |path: &'static str| {
        move |out: &mut Encoder| {
            out.string(path).int(-1);
        }
    };
    assert_eq!(client.ask(2, delete("/hbase/master")).await.0, -102);
    assert_eq!(client.ask(2, delete("/hbase/nothing")).await.0, -101);
    let (error, acl) = client
        .ask(6, |out| {
            out.string("/hbase");
        })
        .await;
    assert_eq!((error, &acl[4..8]), (0, &[0, 0, 0, 1][..]), "everybody reads, nobody writes");
    assert_eq!(client.ask(9999, |_| {}).await.0, -6, "Unimplemented");
    // A multi of a check that holds and a write that is refused.
    let (error, results) = client
        .ask(14, |out| {
            out.int(13).boolean(false).int(-1).string("/hbase").int(-1);
            out.int(2).boolean(false).int(-1).string("/hbase/master").int(-1);
            out.int(-1).boolean(true).int(-1);
        })
        .await;
    assert_eq!(error, 0);
    let expected =
        "ffffffff 00 00000000 00000000 ffffffff 00 ffffff9a ffffff9a ffffffff 01 ffffffff";
    assert_eq!(results, bytes(expected));
    let (error, _) = client
        .ask(100, |out| {
            out.int(0).string("digest").buffer(b"me:secret");
        })
        .await;
    assert_eq!(error, 0);
    let (error, _) = client
        .ask(100, |out| {
            out.int(0).string("sasl").buffer(b"");
        })
        .await;
    assert_eq!(error, -115, "AuthFailed");
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn words_are_answered_and_frames_that_are_too_long_close() {
    let served = serve().await;
    for (word, expected) in [
        ("ruok", "imok"),
        ("stat", "Zookeeper version:"),
        ("srvr", "Zookeeper version:"),
        ("wchs", "wchs is not executed because it is not in the whitelist."),
    ] {
        let mut client = Client::open(&served).await;
        client.send(word.as_bytes()).await;
        let mut text = String::new();
        client.stream.read_to_string(&mut text).await.expect("text");
        assert!(text.starts_with(expected), "{text}");
    }
    let mut client = Client::connected(&served).await;
    client.send(&[0x7f, 0xff, 0xff, 0xff]).await;
    assert!(client.is_closed().await);
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_loses_its_connection() {
    let served = serve().await;
    let mut client = Client::connected(&served).await;
    tokio::time::advance(Duration::from_secs(39)).await;
    assert_eq!(client.ask(11, |_| {}).await.0, 0, "a ping");
    tokio::time::advance(Duration::from_secs(41)).await;
    assert!(client.is_closed().await);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        operation in prop_oneof![-12..=30_i32, 99..=108_i32],
        body in proptest::collection::vec(any::<u8>(), 0..200),
        path in "(/hbase|/hbase/rs|/|x)",
        has_path: bool,
    ) {
        let shim = Shim::new(TestCluster::new(), Env::in_memory());
        let reached = SocketAddr::from(([127, 0, 0, 1], 2181));
        let mut conversation = Conversation::new(shim, reached, 1);
        let mut request = Encoder::default();
        request.int(1).int(operation);
        if has_path {
            request.string(&path);
        }
        request.raw(&body);
        let _ = conversation.answer(request.as_slice());
        let _ = conversation.answer(&body);
    }
}

fn creates(path: &'static str, data: &'static [u8], mode: i32) -> impl FnOnce(&mut Encoder) {
    move |out| {
        out.string(path).buffer(data).int(1).int(31).string("world").string("anyone").int(mode);
    }
}

fn deletes(path: &'static str, version: i32) -> impl FnOnce(&mut Encoder) {
    move |out| {
        out.string(path).int(version);
    }
}

fn reads(path: &'static str, watches: bool) -> impl FnOnce(&mut Encoder) {
    move |out| {
        out.string(path).boolean(watches);
    }
}

/// The text that an answer consists of.
fn text_of(body: &[u8]) -> &str {
    std::str::from_utf8(&body[4..]).expect("text")
}

#[tokio::test]
async fn programs_have_nodes_of_their_own_beside_hbases() {
    let served = serve().await;
    let mut one = Client::connected(&served).await;
    let mut two = Client::connected(&served).await;
    assert_eq!(two.ask(3, reads("/own", true)).await.0, -101);
    let (error, body) = one.ask(1, creates("/own", b"a", 0)).await;
    assert_eq!((error, text_of(&body)), (0, "/own"));
    assert_eq!(two.event().await, (1, "/own".to_owned()));
    assert_eq!(one.ask(1, creates("/own", b"", 0)).await.0, -110, "NodeExists");
    assert_eq!(one.ask(1, creates("/hbase", b"", 0)).await.0, -110, "NodeExists");

    let (error, body) = two.get_data("/own", true).await;
    assert_eq!((error, &body[..5]), (0, &[0, 0, 0, 1, b'a'][..]));
    let sets = |version| {
        move |out: &mut Encoder| {
            out.string("/own").buffer(b"bc").int(version);
        }
    };
    assert_eq!(one.ask(5, sets(1)).await.0, -103, "BadVersion");
    let (error, stat) = one.ask(5, sets(0)).await;
    assert_eq!((error, stat.len(), &stat[32..36]), (0, 68, &[0, 0, 0, 1][..]), "version 1");
    assert_eq!(two.event().await, (3, "/own".to_owned()));

    for expected in ["/own/n-0000000000", "/own/n-0000000001"] {
        let (error, body) = one.ask(1, creates("/own/n-", b"", 2)).await;
        assert_eq!((error, text_of(&body)), (0, expected));
    }
    assert_eq!(one.ask(2, deletes("/own", -1)).await.0, -111, "NotEmpty");
    assert_eq!(two.ask(8, reads("/own", true)).await.0, 0);
    assert_eq!(one.ask(2, deletes("/own/n-0000000001", 0)).await.0, 0);
    assert_eq!(two.event().await, (4, "/own".to_owned()));

    // All of a multi or nothing.
    let multi = |last: &'static str| {
        move |out: &mut Encoder| {
            out.int(1).boolean(false).int(-1);
            creates("/own/m", b"", 0)(out);
            out.int(2).boolean(false).int(-1);
            deletes(last, -1)(out);
            out.int(-1).boolean(true).int(-1);
        }
    };
    assert_eq!(one.ask(14, multi("/own/missing")).await.0, 0);
    assert_eq!(two.ask(3, reads("/own/m", false)).await.0, -101, "nothing was created");
    let (error, body) = one.ask(14, multi("/own/n-0000000000")).await;
    assert_eq!((error, &body[..9]), (0, &[0, 0, 0, 1, 0, 0, 0, 0, 0][..]));
    assert_eq!(two.ask(3, reads("/own/m", false)).await.0, 0);
}

#[tokio::test]
async fn an_ephemeral_node_ends_with_its_session() {
    let served = serve().await;
    let mut one = Client::connected(&served).await;
    let mut two = Client::connected(&served).await;
    assert_eq!(one.ask(1, creates("/leader", b"one", 1)).await.0, 0);
    assert_eq!(one.ask(1, creates("/leader/child", b"", 0)).await.0, -108);
    assert_eq!(two.ask(1, creates("/leader", b"two", 1)).await.0, -110);
    assert_eq!(two.ask(3, reads("/leader", true)).await.0, 0);
    assert_eq!(one.ask(-11, |_| {}).await.0, 0);
    assert_eq!(two.event().await, (2, "/leader".to_owned()));
    assert_eq!(two.ask(1, creates("/leader", b"two", 1)).await.0, 0);
}

#[tokio::test(start_paused = true)]
async fn an_ephemeral_node_ends_when_its_session_expires() {
    let served = serve().await;
    let mut one = Client::connected(&served).await;
    let mut two = Client::connected(&served).await;
    assert_eq!(one.ask(1, creates("/leader", b"one", 1)).await.0, 0);
    drop(one);
    for _ in 0..3 {
        assert_eq!(two.ask(3, reads("/leader", true)).await.0, 0, "it may come back");
        tokio::time::advance(Duration::from_secs(13)).await;
    }
    assert_eq!(two.event().await, (2, "/leader".to_owned()));
}

#[tokio::test]
async fn the_nodes_of_programs_are_limited() {
    let served = serve().await;
    let mut client = Client::connected(&served).await;
    for _ in 0..made::NODES_MAX {
        assert_eq!(client.ask(1, creates("/n-", b"", 2)).await.0, 0);
    }
    assert_eq!(client.ask(1, creates("/n-", b"", 2)).await.0, -125, "QuotaExceeded");
    assert_eq!(client.ask(2, deletes("/n-0000000000", -1)).await.0, 0);
    assert_eq!(client.ask(1, creates("/n-", b"", 2)).await.0, 0);
}

#[tokio::test]
async fn a_multi_whose_answer_is_too_long_changes_nothing() {
    let served = serve().await;
    let mut one = Client::connected(&served).await;
    let mut two = Client::connected(&served).await;
    let path = "/a-name-of-thirty-two-characters";
    assert_eq!(one.ask(1, creates(path, b"", 0)).await.0, 0);
    let mut request = Encoder::default();
    request.frame(|out| {
        out.int(7).int(14);
        for _ in 0..9_000 {
            out.int(5).boolean(false).int(-1).string(path).buffer(b"").int(-1);
        }
        out.int(-1).boolean(true).int(-1);
    });
    one.send(request.as_slice()).await;
    assert!(one.is_closed().await);
    let (error, stat) = two.ask(3, reads(path, false)).await;
    assert_eq!((error, &stat[32..36]), (0, &[0; 4][..]), "version 0");
}
