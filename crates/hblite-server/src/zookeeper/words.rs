//! Four-letter words: four bytes in place of the first frame, with which people and test setups
//! check whether a ZooKeeper runs. The answers have the form of ZooKeeper 3.8.

use std::fmt::Write as _;

/// The data for the answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) zxid: i64,
    pub(super) node_count: usize,
    pub(super) session_count: usize,
    pub(super) connection_count: usize,
    pub(super) received: u64,
    pub(super) sent: u64,
}

/// HBase's shell and its waiting helpers look for this text.
const VERSION: &str = concat!("3.8.4-hblite-", env!("CARGO_PKG_VERSION"));

/// The answer to a word; `None` if it is not a four-letter word.
pub(super) fn answer(word: [u8; 4], figures: &Figures) -> Option<String> {
    if !word.iter().all(u8::is_ascii_lowercase) {
        return None;
    }
    Some(match &word {
        b"ruok" => "imok".to_owned(),
        b"isro" => "rw".to_owned(),
        b"srvr" => server(figures, ""),
        b"stat" => server(figures, "Clients:\n\n"),
        b"envi" => format!("Environment:\nzookeeper.version={VERSION}\n"),
        b"mntr" => monitor(figures),
        _ => {
            let word = String::from_utf8_lossy(&word).into_owned();
            format!("{word} is not executed because it is not in the whitelist.\n")
        }
    })
}

fn server(figures: &Figures, clients: &str) -> String {
    let Figures { zxid, node_count, connection_count, received, sent, .. } = figures;
    format!(
        "Zookeeper version: {VERSION}\n{clients}Latency min/avg/max: 0/0.0/0\n\
         Received: {received}\nSent: {sent}\nConnections: {connection_count}\nOutstanding: 0\n\
         Zxid: 0x{zxid:x}\nMode: standalone\nNode count: {node_count}\n"
    )
}

fn monitor(figures: &Figures) -> String {
    let mut text = format!("zk_version\t{VERSION}\nzk_server_state\tstandalone\n");
    for (name, value) in [
        ("zk_packets_received", figures.received),
        ("zk_packets_sent", figures.sent),
        ("zk_num_alive_connections", figures.connection_count as u64),
        ("zk_outstanding_requests", 0),
        ("zk_znode_count", figures.node_count as u64),
        ("zk_global_sessions", figures.session_count as u64),
    ] {
        let _ = writeln!(text, "{name}\t{value}");
    }
    text
}
