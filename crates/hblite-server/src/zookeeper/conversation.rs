//! The requests of one session and their answers, as bytes.
//!
//! Order:     answers leave in the order of the requests, and the events of a change before the
//!            first answer that shows the change.
//! Invariant: whatever bytes arrive, there is an answer or [`Malformed`], and no more memory is
//!            used than the frame, the tree and the limits of [`Watches`] allow.
//! Threads:   owned by the task of its connection.

use std::net::SocketAddr;
use std::sync::Arc;

use super::history::{Change, changes};
use super::made::Done;
use super::operations::{ErrorCode, Write, code};
use super::watches::{EventType, WatchKind, Watches};
use super::znodes::Tree;
use super::{ChangeNumber, Shim};
use hblite_wire::jute::{Decoder, Encoder, Malformed};

/// `xid` of events, which belong to no request.
const EVENT_XID: i32 = -1;
/// `Watcher.Event.KeeperState.SyncConnected`.
const STATE_CONNECTED: i32 = 3;
/// Permission to read.
const PERMISSION_READ: i32 = 1;
/// All permissions.
const PERMISSION_ALL: i32 = 31;
/// A multi with more parts is refused.
const MULTI_PARTS_MAX: usize = 10_000;
/// The answer to a part of a multi, without the path: header, length, sequence number, stat.
const PART_ANSWER_MAX: usize = 9 + 4 + 10 + 68;

/// What happens to the connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// More requests may come.
    GoOn,
    /// The client ended its session.
    SessionEnds,
    /// The answer says why the connection closes.
    Disconnect,
}

/// One client and the answers to it.
#[derive(Debug)]
pub(super) struct Conversation {
    shim: Arc<Shim>,
    /// The address at which the client connected, which is also the one it gets.
    reached: SocketAddr,
    session: i64,
    seen: ChangeNumber,
    tree: Tree,
    watches: Watches,
    /// Answers and events that wait to be sent.
    pub(super) out: Encoder,
}

impl Conversation {
    pub(super) fn new(shim: Arc<Shim>, reached: SocketAddr, session: i64) -> Self {
        let (seen, tree) = shim.look(reached);
        let (watches, out) = (Watches::default(), Encoder::default());
        Self { shim, reached, session, seen, tree, watches, out }
    }

    /// Reloads the cluster if it has changed, and writes the events that the client waits for.
    pub(super) fn look_again(&mut self) {
        if self.shim.change_number() == self.seen {
            return;
        }
        let (seen, tree) = self.shim.look(self.reached);
        if !self.watches.is_empty() {
            let changes: Vec<Change<'_>> = changes(Some(&self.tree), &tree);
            for (event, path) in self.watches.fire(&changes) {
                write_event(&mut self.out, event, &path);
            }
        }
        self.seen = seen;
        self.tree = tree;
    }

    /// Number of nodes in the client's tree.
    pub(super) fn node_count(&self) -> usize {
        self.tree.len()
    }

    /// Answers one frame.
    ///
    /// # Errors
    /// [`Malformed`] if it is not a request; the connection cannot continue then.
    pub(super) fn answer(&mut self, frame: &[u8]) -> Result<Next, Malformed> {
        self.look_again();
        let mut body = Decoder::new(frame);
        let xid = body.int()?;
        let operation = body.int()?;
        let zxid = self.shim.zxid();
        let start = self.out.len();
        let mut out = std::mem::take(&mut self.out);
        let mut result = Ok(Ok(Next::GoOn));
        out.frame(|out| {
            out.int(xid).long(zxid).int(0);
            result = self.operate(operation, &mut body, out);
        });
        // Events that the request itself fires precede its answer.
        let events = std::mem::take(&mut self.out);
        if !events.as_slice().is_empty() {
            let answer = out.as_slice()[start..].to_vec();
            out.truncate(start);
            out.raw(events.as_slice()).raw(&answer);
        }
        self.out = out;
        match result? {
            Ok(next) => Ok(next),
            Err(error) => {
                self.out.truncate(start);
                self.out.frame(|out| {
                    out.int(xid).long(zxid).int(error as i32);
                });
                let is_over = error == ErrorCode::AuthFailed;
                Ok(if is_over { Next::Disconnect } else { Next::GoOn })
            }
        }
    }

    /// Runs one operation and writes the body of its answer.
    fn operate(
        &mut self,
        operation: i32,
        body: &mut Decoder<'_>,
        out: &mut Encoder,
    ) -> Result<Result<Next, ErrorCode>, Malformed> {
        let done = match operation {
            code::CLOSE_SESSION => return Ok(Ok(Next::SessionEnds)),
            code::PING => Ok(()),
            code::EXISTS | code::GET_DATA | code::GET_CHILDREN | code::GET_CHILDREN2 => {
                self.read_node(operation, body, out)?
            }
            code::GET_ACL => {
                let path = body.string()?;
                self.write_access(path, out)
            }
            code::SYNC => {
                out.string(body.string()?);
                Ok(())
            }
            code::GET_ALL_CHILDREN_NUMBER => self.count_descendants(body.string()?, out),
            code::GET_EPHEMERALS => {
                let prefix = body.string()?;
                let own = self.tree.nodes().filter(|(path, _)| {
                    let made = self.tree.made(path);
                    path.starts_with(prefix) && made.is_some_and(|node| node.owner == self.session)
                });
                let paths: Vec<&str> = own.map(|(path, _)| path).collect();
                out.strings(paths.into_iter());
                Ok(())
            }
            code::WHO_AM_I => {
                out.int(0);
                Ok(())
            }
            code::MULTI => self.multi(body, out)?,
            code::MULTI_READ => self.multi_read(body, out)?,
            code::AUTH => authenticate(body)?,
            code::SET_WATCHES | code::SET_WATCHES2 => self.set_watches(operation, body)?,
            code::ADD_WATCH => self.add_watch(body, out)?,
            code::CHECK_WATCHES | code::REMOVE_WATCHES => self.end_watches(operation, body)?,
            _ => match Write::read(operation, body)? {
                // Only a multi may check a version.
                Some(Write::Check { .. }) | None => Err(ErrorCode::Unimplemented),
                Some(write) => self.write(operation, write, out),
            },
        };
        Ok(done.map(|()| Next::GoOn))
    }

    /// One write, alone.
    fn write(
        &mut self,
        operation: i32,
        write: Write<'_>,
        out: &mut Encoder,
    ) -> Result<(), ErrorCode> {
        let done = self.shim.write(&[write], self.session).map_err(|(_, error)| error)?;
        self.look_again();
        done.iter().for_each(|done| self.write_done(operation, write.path(), done, out));
        Ok(())
    }

    /// What a write answers.
    fn write_done(&self, operation: i32, path: &str, done: &Done, out: &mut Encoder) {
        match done {
            Done::Created(path) => {
                out.string(path);
                if operation != code::CREATE {
                    self.shim.write_stat(path, &self.tree, out);
                }
            }
            Done::Set => self.shim.write_stat(path, &self.tree, out),
            Done::Deleted | Done::Checked => {}
        }
    }

    /// `exists`, `getData`, `getChildren` and `getChildren2`.
    fn read_node(
        &mut self,
        operation: i32,
        body: &mut Decoder<'_>,
        out: &mut Encoder,
    ) -> Result<Result<(), ErrorCode>, Malformed> {
        let path = body.string()?;
        let watches = body.boolean()?;
        let is_there = self.tree.contains(path);
        let reads_children = matches!(operation, code::GET_CHILDREN | code::GET_CHILDREN2);
        let kind = if reads_children { WatchKind::Children } else { WatchKind::Data };
        // Only `exists` can wait for a missing node.
        let may_watch = is_there || operation == code::EXISTS;
        if watches && may_watch && !self.watches.set(kind, path) {
            return Ok(Err(ErrorCode::Throttled));
        }
        if !is_there {
            return Ok(Err(ErrorCode::NoNode));
        }
        match operation {
            code::GET_DATA => {
                out.buffer(self.tree.data(path).unwrap_or_default());
            }
            code::GET_CHILDREN | code::GET_CHILDREN2 => {
                out.strings(self.tree.children(path).into_iter());
            }
            _ => {}
        }
        if operation != code::GET_CHILDREN {
            self.shim.write_stat(path, &self.tree, out);
        }
        Ok(Ok(()))
    }

    fn write_access(&self, path: &str, out: &mut Encoder) -> Result<(), ErrorCode> {
        if !self.tree.contains(path) {
            return Err(ErrorCode::NoNode);
        }
        let is_own = self.tree.made(path).is_some();
        let permissions = if is_own { PERMISSION_ALL } else { PERMISSION_READ };
        out.int(1).int(permissions).string("world").string("anyone");
        self.shim.write_stat(path, &self.tree, out);
        Ok(())
    }

    fn count_descendants(&self, path: &str, out: &mut Encoder) -> Result<(), ErrorCode> {
        if !self.tree.contains(path) {
            return Err(ErrorCode::NoNode);
        }
        out.int(i32::try_from(self.tree.descendant_count(path)).unwrap_or(i32::MAX));
        Ok(())
    }

    /// All or nothing: if one part fails, each part returns an error.
    fn multi(
        &mut self,
        body: &mut Decoder<'_>,
        out: &mut Encoder,
    ) -> Result<Result<(), ErrorCode>, Malformed> {
        let mut parts = Vec::new();
        let mut answer_max = out.len() + PART_ANSWER_MAX;
        while let Some(operation) = next_part(body)? {
            let write = Write::read(operation, body)?;
            let write = write.ok_or(Malformed { what: "operation that a multi may hold" })?;
            answer_max += PART_ANSWER_MAX + write.path().len();
            parts.push((operation, write));
            if parts.len() > MULTI_PARTS_MAX || answer_max > super::FRAME_BYTES_MAX {
                return Err(Malformed { what: "multi of a size that is taken" });
            }
        }
        let writes: Vec<Write<'_>> = parts.iter().map(|(_, write)| *write).collect();
        match self.shim.write(&writes, self.session) {
            Ok(all) => {
                self.look_again();
                for ((operation, write), done) in parts.iter().zip(&all) {
                    out.int(*operation).boolean(false).int(0);
                    self.write_done(*operation, write.path(), done, out);
                }
            }
            Err((failed, first)) => {
                for index in 0..parts.len() {
                    let rest = ErrorCode::RuntimeInconsistency as i32;
                    let error = if index < failed { 0 } else { rest };
                    write_part_error(out, if index == failed { first as i32 } else { error });
                }
            }
        }
        out.int(-1).boolean(true).int(-1);
        Ok(Ok(()))
    }

    /// `getData` and `getChildren` together, each with its own result.
    fn multi_read(
        &mut self,
        body: &mut Decoder<'_>,
        out: &mut Encoder,
    ) -> Result<Result<(), ErrorCode>, Malformed> {
        let mut count = 0;
        while let Some(operation) = next_part(body)? {
            count += 1;
            if count > MULTI_PARTS_MAX || !matches!(operation, code::GET_DATA | code::GET_CHILDREN)
            {
                return Err(Malformed { what: "multi of reads that is taken" });
            }
            let start = out.len();
            out.int(operation).boolean(false).int(0);
            if let Err(error) = self.read_node(operation, body, out)? {
                out.truncate(start);
                write_part_error(out, error as i32);
            }
            // A list of children requested many times must not fill the memory.
            if out.len() > super::FRAME_BYTES_MAX {
                return Err(Malformed { what: "multi whose answer fits a frame" });
            }
        }
        out.int(-1).boolean(true).int(-1);
        Ok(Ok(()))
    }

    /// The watches of a client that reconnects: changes made since then fire immediately.
    fn set_watches(
        &mut self,
        operation: i32,
        body: &mut Decoder<'_>,
    ) -> Result<Result<(), ErrorCode>, Malformed> {
        let seen_zxid = body.long()?;
        let data = body.vector(Decoder::string)?;
        let exists = body.vector(Decoder::string)?;
        let children = body.vector(Decoder::string)?;
        let mut is_full = false;
        for path in data {
            let event = match self.tree.contains(path) {
                false => Some(EventType::Deleted),
                true if self.shim.modified_zxid(path) > seen_zxid => Some(EventType::DataChanged),
                true => None,
            };
            is_full |= !self.fire_or_set(event, WatchKind::Data, path);
        }
        for path in exists {
            let event = self.tree.contains(path).then_some(EventType::Created);
            is_full |= !self.fire_or_set(event, WatchKind::Data, path);
        }
        for path in children {
            let event = match self.tree.contains(path) {
                false => Some(EventType::Deleted),
                true if self.shim.children_zxid(path) > seen_zxid => {
                    Some(EventType::ChildrenChanged)
                }
                true => None,
            };
            is_full |= !self.fire_or_set(event, WatchKind::Children, path);
        }
        if operation == code::SET_WATCHES2 {
            for kind in [WatchKind::Persistent, WatchKind::Recursive] {
                for path in body.vector(Decoder::string)? {
                    is_full |= !self.watches.set(kind, path);
                }
            }
        }
        Ok(if is_full { Err(ErrorCode::Throttled) } else { Ok(()) })
    }

    #[must_use]
    fn fire_or_set(&mut self, event: Option<EventType>, kind: WatchKind, path: &str) -> bool {
        match event {
            Some(event) => {
                write_event(&mut self.out, event, path);
                true
            }
            None => self.watches.set(kind, path),
        }
    }

    fn add_watch(
        &mut self,
        body: &mut Decoder<'_>,
        out: &mut Encoder,
    ) -> Result<Result<(), ErrorCode>, Malformed> {
        let path = body.string()?;
        let kind = match body.int()? {
            0 => WatchKind::Persistent,
            1 => WatchKind::Recursive,
            _ => return Ok(Err(ErrorCode::BadArguments)),
        };
        if !self.watches.set(kind, path) {
            return Ok(Err(ErrorCode::Throttled));
        }
        // Its answer repeats the error.
        out.int(0);
        Ok(Ok(()))
    }

    fn end_watches(
        &mut self,
        operation: i32,
        body: &mut Decoder<'_>,
    ) -> Result<Result<(), ErrorCode>, Malformed> {
        let path = body.string()?;
        let kinds: &[WatchKind] = match body.int()? {
            1 => &[WatchKind::Children],
            2 => &[WatchKind::Data],
            3 => {
                &[WatchKind::Data, WatchKind::Children, WatchKind::Persistent, WatchKind::Recursive]
            }
            _ => return Ok(Err(ErrorCode::BadArguments)),
        };
        let was_there = if operation == code::CHECK_WATCHES {
            self.watches.has(kinds, path)
        } else {
            self.watches.remove(kinds, path)
        };
        Ok(if was_there { Ok(()) } else { Err(ErrorCode::NoWatcher) })
    }
}

/// The operation of the next part of a multi, `None` at its end.
fn next_part(body: &mut Decoder<'_>) -> Result<Option<i32>, Malformed> {
    let operation = body.int()?;
    let is_end = body.boolean()?;
    body.int()?;
    Ok((!is_end).then_some(operation))
}

fn write_part_error(out: &mut Encoder, error: i32) {
    out.int(-1).boolean(false).int(error).int(error);
}

fn write_event(out: &mut Encoder, event: EventType, path: &str) {
    out.frame(|out| {
        out.int(EVENT_XID).long(-1).int(0);
        out.int(event as i32).int(STATE_CONNECTED).string(path);
    });
}

/// Anyone may connect, with or without a name; schemes that need a check are refused.
fn authenticate(body: &mut Decoder<'_>) -> Result<Result<(), ErrorCode>, Malformed> {
    body.int()?;
    let scheme = body.string()?;
    body.buffer()?;
    Ok(if matches!(scheme, "digest" | "ip") { Ok(()) } else { Err(ErrorCode::AuthFailed) })
}
