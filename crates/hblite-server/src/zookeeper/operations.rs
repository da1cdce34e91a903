//! ZooKeeper's numbers: operations, errors, and the parts of a multi.
//!
//! Every change of a node is refused with `NoAuth`, in accordance with the access control lists
//! that the shim shows (`world:anyone`, read only). As in ZooKeeper, a missing node is reported
//! first.

use super::znodes::{Tree, parent};
use hblite_wire::jute::{Decoder, Malformed};

/// What went wrong, with ZooKeeper's numbers (`KeeperException.Code`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorCode {
    RuntimeInconsistency = -2,
    Unimplemented = -6,
    BadArguments = -8,
    NoNode = -101,
    NoAuth = -102,
    BadVersion = -103,
    AuthFailed = -115,
    NoWatcher = -121,
    Throttled = -127,
}

/// The numbers of operations (`ZooDefs.OpCode`).
pub(super) mod code {
    pub(crate) const CREATE: i32 = 1;
    pub(crate) const DELETE: i32 = 2;
    pub(crate) const EXISTS: i32 = 3;
    pub(crate) const GET_DATA: i32 = 4;
    pub(crate) const SET_DATA: i32 = 5;
    pub(crate) const GET_ACL: i32 = 6;
    pub(crate) const SET_ACL: i32 = 7;
    pub(crate) const GET_CHILDREN: i32 = 8;
    pub(crate) const SYNC: i32 = 9;
    pub(crate) const PING: i32 = 11;
    pub(crate) const GET_CHILDREN2: i32 = 12;
    pub(crate) const CHECK: i32 = 13;
    pub(crate) const MULTI: i32 = 14;
    pub(crate) const CREATE2: i32 = 15;
    pub(crate) const RECONFIG: i32 = 16;
    pub(crate) const CHECK_WATCHES: i32 = 17;
    pub(crate) const REMOVE_WATCHES: i32 = 18;
    pub(crate) const CREATE_CONTAINER: i32 = 19;
    pub(crate) const CREATE_TTL: i32 = 21;
    pub(crate) const MULTI_READ: i32 = 22;
    pub(crate) const AUTH: i32 = 100;
    pub(crate) const SET_WATCHES: i32 = 101;
    pub(crate) const GET_EPHEMERALS: i32 = 103;
    pub(crate) const GET_ALL_CHILDREN_NUMBER: i32 = 104;
    pub(crate) const SET_WATCHES2: i32 = 105;
    pub(crate) const ADD_WATCH: i32 = 106;
    pub(crate) const WHO_AM_I: i32 = 107;
    pub(crate) const CLOSE_SESSION: i32 = -11;
}

/// A request that would change something, or checks a version, alone or in a multi.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write<'a> {
    Create { path: &'a str },
    Delete { path: &'a str },
    Set { path: &'a str },
    Check { path: &'a str, version: i32 },
    Reconfigure,
}

impl<'a> Write<'a> {
    /// Reads the body of operation `operation`; `Ok(None)` if it does not write.
    pub(super) fn read(operation: i32, body: &mut Decoder<'a>) -> Result<Option<Self>, Malformed> {
        let write = match operation {
            code::CREATE | code::CREATE2 | code::CREATE_CONTAINER | code::CREATE_TTL => {
                let path = body.string()?;
                body.buffer()?;
                body.skip_access_control_list()?;
                body.int()?;
                if operation == code::CREATE_TTL {
                    body.long()?;
                }
                Self::Create { path }
            }
            code::DELETE => {
                let path = body.string()?;
                body.int()?;
                Self::Delete { path }
            }
            code::SET_DATA => {
                let path = body.string()?;
                body.buffer()?;
                body.int()?;
                Self::Set { path }
            }
            code::SET_ACL => {
                let path = body.string()?;
                body.skip_access_control_list()?;
                body.int()?;
                Self::Set { path }
            }
            code::CHECK => {
                let path = body.string()?;
                Self::Check { path, version: body.int()? }
            }
            code::RECONFIG => Self::Reconfigure,
            _ => return Ok(None),
        };
        Ok(Some(write))
    }

    /// The error; only a check of a version can succeed. `version_of` returns that of a node.
    pub(super) fn judge(
        self,
        tree: &Tree,
        version_of: impl Fn(&str) -> i32,
    ) -> Result<(), ErrorCode> {
        match self {
            Self::Create { path } => {
                if !is_valid(path) || path == "/" {
                    return Err(ErrorCode::BadArguments);
                }
                match parent(path) {
                    Some(above) if tree.contains(above) => Err(ErrorCode::NoAuth),
                    _ => Err(ErrorCode::NoNode),
                }
            }
            Self::Delete { path } | Self::Set { path } if !tree.contains(path) => {
                Err(if is_valid(path) { ErrorCode::NoNode } else { ErrorCode::BadArguments })
            }
            Self::Check { path, .. } if !tree.contains(path) => Err(ErrorCode::NoNode),
            Self::Check { path, version } if version != -1 && version != version_of(path) => {
                Err(ErrorCode::BadVersion)
            }
            Self::Check { .. } => Ok(()),
            Self::Delete { .. } | Self::Set { .. } | Self::Reconfigure => Err(ErrorCode::NoAuth),
        }
    }
}

/// Whether a path is valid: parts without `.`, `..` and NUL, each after one slash.
fn is_valid(path: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
    path == "/"
        || path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_part))
            && !path.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_checked_as_zookeeper_does() {
        for valid in ["/", "/hbase", "/hbase/rs/a,1,2", "/a/.b"] {
            assert!(is_valid(valid), "{valid}");
        }
        for invalid in ["", "hbase", "/hbase/", "//", "/a//b", "/a/.", "/../a", "/a\0"] {
            assert!(!is_valid(invalid), "{invalid:?}");
        }
    }
}
