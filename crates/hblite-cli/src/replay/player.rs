//! Processes a recording: sends each call, records the ids in its answer, and compares the answers.
//!
//! A call that waits for a procedure is repeated until the procedure is done, and a call to a
//! region that is not open yet is repeated for a while, as clients do.
//!
//! Threads: one.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hblite_client::ServerAddress;
use hblite_model::{CellBuffer, counted};
use hblite_wire::cell_block::{CellReader, Codec, Compressor};
use hblite_wire::client_frame::Reply;
use hblite_wire::frame::decode_connection_header;
use hblite_wire::memory::{MemoryBudget, Room};
use hblite_wire::pb;
use hblite_wire::recording::{Call, Connection, Line, Reader};
use hblite_wire::tree::{Tree, messages_of};

use super::compare::Comparison;
use super::ids::{Ids, Scanner, names_meta};
use super::target::Target;
use crate::output::print;

/// How long a call is repeated that cannot be answered yet.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);
/// Plain bytes of a cell block.
const CELLS_MAX_BYTES: usize = 1 << 30;

/// Methods whose answers are about servers and loads. Only exceptions are compared.
const NOT_COMPARED: &[&str] = &[
    "GetClusterStatus",
    "GetClusterId",
    "GetActiveMaster",
    "GetMasters",
    "GetMetaRegionLocations",
    "GetBootstrapNodes",
    "GetAllBootstrapNodes",
    "GetServerInfo",
    "GetRegionLoad",
    "GetStoreFile",
    "GetLogEntries",
    "GetProcedures",
    "GetLocks",
    "ListDecommissionedRegionServers",
    "ClearRegionBlockCache",
    "CleanupBulkLoad",
];
/// Methods that ask whether something is done: how often they are called depends on timing.
const POLLING: &[&str] =
    &["GetProcedureResult", "IsProcedureDone", "IsSnapshotDone", "GetSchemaAlterStatus"];
/// Temporary exceptions: the simple names of their classes.
const PASSING: &[&str] = &[
    "NotServingRegionException",
    "RegionOpeningException",
    "RegionServerStoppedException",
    "ServerNotRunningYetException",
    "PleaseHoldException",
    "CallQueueTooBigException",
    "RegionTooBusyException",
];

/// The result of a replay.
#[derive(Debug, Default)]
pub(super) struct Summary {
    calls: u64,
    pub(super) differing: u64,
    not_compared: u64,
    dropped: u64,
    is_cut: bool,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, differing, not_compared, dropped, is_cut } = self;
        let calls = counted(*calls, "call");
        writeln!(f, "{calls} replayed, {differing} different, {not_compared} not compared")?;
        if *dropped > 0 {
            writeln!(f, "missing from the recording: {}", counted(*dropped, "call"))?;
        }
        if *is_cut {
            writeln!(f, "the recording has no end: its server was killed, or is running")?;
        }
        Ok(())
    }
}

/// Replays a recording.
pub(super) struct Player {
    target: Target,
    ids: Ids,
    connections: HashMap<u64, Client>,
    began_ms: i64,
    summary: Summary,
    /// Differences that may still be printed.
    shows: u64,
}

/// A recorded connection.
struct Client {
    service: String,
    is_master: bool,
    /// The header for the target: cell blocks are not compressed there.
    header: pb::ConnectionHeader,
    codec: Codec,
    compressor: Option<Compressor>,
}

/// The target's answer.
enum Answer {
    Message {
        tree: Option<Tree>,
        cells: Bytes,
    },
    Exception(String),
    /// No answer came.
    Failed(String),
}

impl Player {
    pub(super) fn new(target: Target, shows: u64) -> Self {
        let (connections, summary) = (HashMap::new(), Summary::default());
        Self { target, ids: Ids::new(), connections, began_ms: 0, summary, shows }
    }

    /// Replays all of it.
    ///
    /// # Errors
    /// The error in the recording, and its line.
    pub(super) fn play(mut self, mut reader: Reader<impl BufRead>) -> Result<Summary, String> {
        self.summary.is_cut = true;
        while let Some(line) = reader.next_line().map_err(|error| error.to_string())? {
            let number = reader.line_number();
            match line {
                Line::Begin { began_ms } => self.began_ms = began_ms,
                Line::Connection(connection) => {
                    let opened = self.open(&connection);
                    opened.map_err(|message| format!("line {number}: {message}"))?;
                }
                Line::Call(call) => {
                    let played = self.play_call(number, &call);
                    played.map_err(|message| format!("line {number}: {message}"))?;
                }
                Line::Dropped { calls } => self.summary.dropped += calls,
                Line::End { .. } => self.summary.is_cut = false,
            }
        }
        Ok(self.summary)
    }

    fn open(&mut self, connection: &Connection) -> Result<(), String> {
        let header = decode_connection_header(&connection.header);
        let mut header = header.map_err(|error| error.message().to_owned())?;
        let compressor = header.cell_block_compressor_class.take();
        header.rpc_crypto_cipher_transformation = None;
        let codec = header.cell_block_codec_class.as_deref().and_then(Codec::from_class_name);
        let client = Client {
            service: connection.service.clone(),
            is_master: connection.server == "master",
            header,
            codec: codec.unwrap_or(Codec::KeyValue),
            compressor: compressor.as_deref().and_then(Compressor::from_class_name),
        };
        self.connections.insert(connection.number, client);
        Ok(())
    }

    fn play_call(&mut self, line: u64, call: &Call) -> Result<(), String> {
        let client = self.connections.get(&call.connection);
        let client = client.ok_or_else(|| format!("connection {} is missing", call.connection))?;
        let (request_type, response_type) = messages_of(&client.service, &call.method);
        let compressor = client.compressor;
        let recorded_cells = plain(&call.response_cells, compressor)?;
        let recorded = call.response_bytes.clone().map(|bytes| Tree::parse(&response_type, bytes));
        let recorded = recorded.flatten();
        if POLLING.contains(&call.method.as_str()) && !recorded.as_ref().is_some_and(is_done) {
            self.summary.calls += 1;
            self.summary.not_compared += 1;
            return Ok(());
        }
        if let Some(recorded) = &recorded {
            self.learn_names(recorded, &recorded_cells);
        }
        let request = Tree::parse(&request_type, call.request_bytes.clone());
        let begin = Instant::now();
        let answer = loop {
            let answer = self.send(call, request.clone(), &response_type)?;
            if begin.elapsed() > PATIENCE || !self.is_passing(call, recorded.as_ref(), &answer) {
                break answer;
            }
            self.target.forget_regions();
            std::thread::sleep(PAUSE);
        };
        self.summary.calls += 1;
        let reads_meta = self.reads_meta(request.as_ref());
        if let (Some(recorded), Answer::Message { tree: Some(tree), .. }) = (&recorded, &answer) {
            self.learn(call, request.as_ref(), recorded, tree, reads_meta);
        }
        let is_compared = !reads_meta && !NOT_COMPARED.contains(&call.method.as_str());
        let found = self.compare(call, (recorded, recorded_cells), answer, is_compared);
        if found.is_empty() {
            self.summary.not_compared += u64::from(!is_compared);
            return Ok(());
        }
        self.summary.differing += 1;
        if self.shows > 0 {
            self.shows -= 1;
            let about = call.table.as_ref().map(|table| format!(" of {table}")).unwrap_or_default();
            let mut text = format!("line {line}: {}{about}\n", call.method);
            found.iter().for_each(|difference| text += &format!("  {difference}\n"));
            print(&text);
        }
        Ok(())
    }

    /// Sends the call with the target's ids.
    fn send(
        &mut self,
        call: &Call,
        request: Option<Tree>,
        response_type: &str,
    ) -> Result<Answer, String> {
        let client = &self.connections[&call.connection];
        let scanner = request.as_ref().and_then(|request| request.number("scanner_id"));
        let scanner = scanner.and_then(|id| self.ids.scanners.get(&id)).cloned();
        let region = request.as_ref().and_then(|request| self.first_region(request));
        let server = match (scanner, &client.service) {
            (Some(scanner), _) => Ok(scanner.server),
            (None, service) if service == "ClientService" || service == "AdminService" => {
                match client.is_master && region.is_none() {
                    true => self.target.master(),
                    false => self.target.server_of(region.as_ref()),
                }
            }
            _ => self.target.master(),
        };
        let server: ServerAddress = server.map_err(|error| error.message().to_owned())?;
        let cells = plain(&call.request_cells, client.compressor)?;
        let (message, cells) = match request {
            Some(mut request) => {
                let target = &mut self.target;
                self.ids.rewrite(&mut request, &mut |key| target.region_name(key));
                (request.encode(), rewritten(&cells, client.codec, &mut self.ids))
            }
            None => (call.request_bytes.clone(), cells),
        };
        let sent = (call.method.as_str(), message.as_ref(), cells.as_ref());
        let reply = self.target.call((call.connection, &client.header), &server, sent);
        if client.service == "MasterService" {
            self.target.forget_regions();
        }
        Ok(match reply {
            Ok(reply) => answer_of(reply, response_type),
            Err(error) => Answer::Failed(format!("{server}: {error}")),
        })
    }

    fn first_region(&self, request: &Tree) -> Option<super::target::RegionKey> {
        let mut region = None;
        request.for_each(&mut |message| {
            if message.message_type() == "RegionSpecifier" && region.is_none() {
                region = self.ids.region(message);
            }
        });
        region
    }

    fn reads_meta(&self, request: Option<&Tree>) -> bool {
        let Some(request) = request else { return false };
        let scanner = request.number("scanner_id").and_then(|id| self.ids.scanners.get(&id));
        names_meta(request) || scanner.is_some_and(|scanner| scanner.reads_meta)
    }

    /// Whether a repetition may give the recorded answer.
    fn is_passing(&self, call: &Call, recorded: Option<&Tree>, answer: &Answer) -> bool {
        match answer {
            Answer::Exception(class) => {
                let was = call.exception.as_ref().map(|exception| exception.class.as_str());
                was != Some(class) && PASSING.iter().any(|name| class.ends_with(name))
            }
            Answer::Message { tree: Some(tree), .. } => {
                let polls = POLLING.contains(&call.method.as_str());
                polls && recorded.is_some_and(is_done) && !is_done(tree)
            }
            _ => false,
        }
    }

    /// Region names in a recorded answer: as messages, and as rows of hbase:meta.
    fn learn_names(&mut self, recorded: &Tree, cells: &Bytes) {
        recorded.for_each(&mut |message| {
            for name in ["value", "row"] {
                if let Some(name) = message.bytes(name) {
                    self.ids.learn_region(name);
                }
            }
        });
        let mut reader = CellReader::new(cells);
        while let Ok(cell) = reader.next_cell() {
            self.ids.learn_region(cell.row());
        }
    }

    /// Ids in an answer.
    fn learn(
        &mut self,
        call: &Call,
        request: Option<&Tree>,
        recorded: &Tree,
        replayed: &Tree,
        reads_meta: bool,
    ) {
        let pair = |name| recorded.number(name).zip(replayed.number(name));
        if let Some((then, id)) = pair("scanner_id") {
            let client = &self.connections[&call.connection];
            let region = request.and_then(|request| self.first_region(request));
            let known = self.ids.scanners.get(&then).map(|scanner| scanner.server.clone());
            let server = match (known, region) {
                (Some(server), None) => Ok(server),
                (_, None) if client.is_master => self.target.master(),
                (_, region) => self.target.server_of(region.as_ref()),
            };
            if let Ok(server) = server {
                self.ids.scanners.insert(then, Scanner { id, server, reads_meta });
            }
        }
        if let Some((then, now)) = pair("proc_id") {
            self.ids.procedures.insert(then, now);
        }
    }

    fn compare(
        &mut self,
        call: &Call,
        (recorded, recorded_cells): (Option<Tree>, Bytes),
        answer: Answer,
        is_compared: bool,
    ) -> Vec<String> {
        let answered_ms = call.at_ms.saturating_add_unsigned(call.took_us / 1000 + 1);
        let (ids, began_ms) = (&mut self.ids, self.began_ms);
        let mut comparison = Comparison { ids, began_ms, answered_ms, found: Vec::new() };
        let was = call.exception.as_ref().map(|exception| exception.class.clone());
        match (was, answer) {
            (None, _) if call.response_bytes.is_none() => {}
            (Some(was), Answer::Exception(class)) if was == class => {}
            (was, Answer::Exception(class)) => {
                let was = was.unwrap_or_else(|| "an answer".to_owned());
                comparison.differ("exception", was, class);
            }
            (was, Answer::Failed(message)) => {
                comparison.differ("", was.unwrap_or_else(|| "an answer".to_owned()), message);
            }
            (Some(was), Answer::Message { .. }) => {
                comparison.differ("exception", was, "an answer".to_owned());
            }
            (None, Answer::Message { tree, cells }) => match (recorded, tree) {
                _ if !is_compared => {}
                (Some(recorded), Some(replayed)) => {
                    comparison.compare("", &recorded, &replayed);
                    comparison.compare_cells(&recorded_cells, &cells);
                }
                _ => comparison.differ("", "a message".to_owned(), "no message".to_owned()),
            },
        }
        comparison.found
    }
}

fn answer_of(reply: Reply, response_type: &str) -> Answer {
    match reply.header.exception {
        Some(exception) => Answer::Exception(exception.exception_class_name.unwrap_or_default()),
        None => {
            Answer::Message { tree: Tree::parse(response_type, reply.message), cells: reply.cells }
        }
    }
}

/// Whether the answer to a poll reports the end of the operation.
fn is_done(answer: &Tree) -> bool {
    /// `GetProcedureResultResponse.State.RUNNING`.
    const RUNNING: u64 = 1;
    match answer.message_type() {
        "GetProcedureResultResponse" => answer.number("state") != Some(RUNNING),
        "GetSchemaAlterStatusResponse" => answer.number("yet_to_update_regions") == Some(0),
        _ => answer.number("done") == Some(1),
    }
}

/// The plain bytes of a recorded cell block.
fn plain(block: &Bytes, compressor: Option<Compressor>) -> Result<Bytes, String> {
    let Some(compressor) = compressor.filter(|_| !block.is_empty()) else {
        return Ok(block.clone());
    };
    let budget = std::sync::Arc::new(MemoryBudget::new(2 * CELLS_MAX_BYTES));
    let mut room = Room::new(budget.account(2 * CELLS_MAX_BYTES).charge(), 0);
    let plain = compressor.decompress(block, CELLS_MAX_BYTES, &mut room);
    let plain = plain.map_err(|error| error.message().to_owned())?;
    plain.map(Bytes::from).ok_or_else(|| "a cell block is too large".to_owned())
}

/// The cells with the target's timestamps.
fn rewritten(cells: &Bytes, codec: Codec, ids: &mut Ids) -> Bytes {
    let (mut reader, mut block) = (CellReader::new(cells), Vec::with_capacity(cells.len()));
    let mut one = CellBuffer::new();
    while let Ok(cell) = reader.next_cell() {
        let sent = ids.sent_timestamp(cell.timestamp() as u64);
        let timestamp = sent as i64;
        if timestamp == cell.timestamp() {
            codec.push(&mut block, &cell);
            continue;
        }
        one.clear();
        let (row, family, qualifier) = (cell.row(), cell.family(), cell.qualifier());
        one.push_parts(row, family, qualifier, timestamp, cell.type_code(), cell.value());
        if let Some(cell) = one.get(0) {
            codec.push(&mut block, &cell);
        }
    }
    Bytes::from(block)
}
