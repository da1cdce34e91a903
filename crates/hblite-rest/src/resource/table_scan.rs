//! `/TABLE/PREFIX*`: a scan in one answer, which is sent while it is read.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hblite::filter::{Filter, ListOperator, parse_filter};
use hblite::{Error, Exception, Operation, ResultScanner, Scan, TimeRange};
use hyper::header::{ACCEPT, CONTENT_ENCODING};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::multi_row::filter_text;
use crate::cell_stream::CellStream;
use crate::failure::{Answer, Failure};
use crate::gateway::Gateway;
use crate::java;
use crate::media::Format;
use crate::memory::Allowance;
use crate::packing::{self, Packer};
use crate::request::Request;
use crate::response::Response;

/// Bytes of a piece. A shorter answer is sent in one piece.
const PIECE_SIZE: usize = 64 * 1024;
/// Pieces waiting to be sent.
const PIECES_WAITING: usize = 1;
const OUT_OF_MEMORY: &str = "the gateway has no memory left for the rest of the answer";

/// A scan that has begun.
pub(crate) struct Resource<'a> {
    request: &'a Request,
    scanner: ResultScanner,
    /// The maximum number of rows in the answer.
    limit: i32,
    stall_timeout: Duration,
}

impl<'a> Resource<'a> {
    pub(crate) fn locate(
        gateway: &Gateway,
        request: &'a Request,
        table: &str,
        path: &str,
    ) -> Result<Self, Failure> {
        let limit = number(request, "limit", i32::MAX)?;
        let scan = scan(request, path, limit)?;
        // HBase detects these errors only after it has begun to answer.
        let table = gateway.requested(request, Operation::Scan, table);
        let scanner = table.and_then(|table| table.scan(&scan));
        let scanner = scanner.map_err(|_| Failure::UNEXPECTED)?;
        let stall_timeout = gateway.options.limits.idle_timeout;
        Ok(Self { request, scanner, limit, stall_timeout })
    }

    pub(crate) fn answer(self) -> Answer {
        let format = Format::accepted(self.request, Format::STRUCTURED)?;
        let is_protobuf = matches!(format, Format::Protobuf | Format::ProtobufIetf);
        if is_protobuf && self.limit < 0 {
            return Err(Failure::UNEXPECTED);
        }
        let media_type = match format {
            // HBase repeats the requested value.
            _ if is_protobuf => self.request.header(ACCEPT).unwrap_or(format.media_type()),
            _ => format.media_type(),
        }
        .to_owned();
        let stream = CellStream::new(format, self.limit);
        let left = u32::try_from(self.limit).unwrap_or(0);
        let mut rows = Rows { scanner: self.scanner, stream, left, is_ended: false };
        let memory = Arc::clone(&self.request.memory);
        let Some(piece) = rows.piece(&memory).map_err(|_| Failure::UNEXPECTED)? else {
            return Err(Failure::out_of_memory());
        };
        if rows.is_ended {
            return Ok(Response::ok().with_body(&media_type, piece));
        }
        let (sender, receiver) = mpsc::channel(PIECES_WAITING);
        let is_packed = packing::is_wanted(self.request);
        let work = self.request.work.clone();
        let stall_timeout = self.stall_timeout;
        Handle::current().spawn(async move {
            let mut packer = Packer::new(is_packed);
            let account = memory.account();
            let mut next = Ok((memory, piece));
            loop {
                let is_last = rows.is_ended || next.is_err();
                // After an error, the client receives a truncated answer.
                let bytes = next.map(|(memory, piece)| memory.hold(packer.pack(piece, is_last)));
                let room = async {
                    sender.send(bytes).await.ok()?;
                    // The next piece takes memory only when the last one is on its way.
                    sender.reserve().await.ok().map(drop)
                };
                let room = tokio::time::timeout(stall_timeout, room).await;
                if !matches!(room, Ok(Some(()))) || is_last {
                    return;
                }
                let memory = Arc::new(Allowance::new(account.charge()));
                let turn = work.turn().await;
                let read = tokio::task::spawn_blocking(move || {
                    let _turn = turn;
                    let piece = rows.piece(&memory);
                    (rows, memory, piece)
                });
                let Ok((returned, memory, piece)) = read.await else { return };
                rows = returned;
                next = piece.and_then(|piece| {
                    let piece = piece.ok_or_else(|| Error::new(Exception::Io, OUT_OF_MEMORY))?;
                    Ok((memory, piece))
                });
            }
        });
        let response = Response::ok().with_pieces(&media_type, receiver);
        Ok(match is_packed {
            true => response.with_header(CONTENT_ENCODING, "gzip"),
            false => response,
        })
    }
}

/// The rows still to be sent in an answer.
struct Rows {
    scanner: ResultScanner,
    stream: CellStream,
    /// The maximum number of them.
    left: u32,
    is_ended: bool,
}

impl Rows {
    /// The next piece of the answer, charged to `memory`; `None` if there is no memory for it.
    fn piece(&mut self, memory: &Allowance) -> hblite::Result<Option<Bytes>> {
        let mut piece = Vec::new();
        while piece.len() < PIECE_SIZE {
            let row = if self.left > 0 { self.scanner.next_row()? } else { None };
            let Some(row) = row else {
                self.stream.end(&mut piece);
                self.is_ended = true;
                break;
            };
            if !memory.try_hold(row) {
                return Ok(None);
            }
            self.stream.row(row, &mut piece);
            self.left -= 1;
        }
        Ok(Some(piece.into()))
    }
}

fn scan(request: &Request, path: &str, limit: i32) -> Result<Scan, Failure> {
    let text = |name| request.parameter(name).unwrap_or_default();
    let is = |name, default: bool| {
        request.parameter(name).map_or(default, |value| value.eq_ignore_ascii_case("true"))
    };
    let versions = number(request, "maxversions", 1_i32)?;
    let batch = number(request, "batchsize", -1)?;
    let (start, end) = (number(request, "starttime", 0)?, number(request, "endtime", i64::MAX)?);
    let times = TimeRange::new(start, end).map_err(|_| Failure::UNEXPECTED)?;
    let prefix = path.split('*').next().unwrap_or_default();
    let start_row = if text("startrow").is_empty() { prefix } else { text("startrow") };
    let scan = Scan::new()
        .with_start_row(start_row)
        .with_reversed(is("reversed", false))
        .with_cache_blocks(is("cacheblocks", true))
        .with_versions(u32::try_from(versions).unwrap_or(0))
        .with_time_range(times)
        .with_batch(u32::try_from(batch).unwrap_or(0))
        .with_limit(u32::try_from(limit).unwrap_or(0).max(1));
    // If both rows are equal, HBase's client scans that row.
    let scan = match start_row == text("endrow") {
        true => scan.with_stop_row_inclusive(text("endrow")),
        false => scan.with_stop_row(text("endrow")),
    };
    let columns: Vec<Vec<u8>> =
        request.parameters_called("column").map(|column| column.trim().into()).collect();
    let scan = java::add_columns(scan, &columns, Scan::with_family, Scan::with_column);
    let mut filters = Vec::new();
    if let Some(text) = filter_text(request)? {
        filters.push(parse_filter(text).map_err(|_| Failure::UNEXPECTED)?);
    }
    if !prefix.is_empty() {
        filters.push(Filter::prefix(prefix));
    }
    Ok(match filters.is_empty() {
        true => scan,
        false => scan.with_filter(Filter::list(ListOperator::MustPassAll, filters)),
    })
}

/// A number of the query.
///
/// # Errors
/// 404 for a text that is not a number, as in JAX-RS.
pub(super) fn number<T: std::str::FromStr>(
    request: &Request,
    name: &str,
    default: T,
) -> Result<T, Failure> {
    let text = request.parameter(name);
    text.map_or(Ok(default), |text| text.parse().map_err(|_| Failure::NO_RESOURCE))
}
