//! ZooKeeper's numbers: operations, errors, and the parts of a multi.
//!
//! A change of a node of HBase is refused with `NoAuth`, in accordance with the access control
//! lists that the shim shows (`world:anyone`, read only). As in ZooKeeper, a missing node is
//! reported first.

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
    NoChildrenForEphemerals = -108,
    NodeExists = -110,
    NotEmpty = -111,
    AuthFailed = -115,
    NoWatcher = -121,
    QuotaExceeded = -125,
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

/// A request that changes something, or checks a version, alone or in a multi.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Write<'a> {
    Create {
        path: &'a str,
        data: &'a [u8],
        is_ephemeral: bool,
        is_sequential: bool,
    },
    Delete {
        path: &'a str,
        version: i32,
    },
    Set {
        path: &'a str,
        data: &'a [u8],
        version: i32,
    },
    /// Access control lists are checked, and not kept: everyone may change what clients create.
    SetAccess {
        path: &'a str,
    },
    Check {
        path: &'a str,
        version: i32,
    },
    Reconfigure,
    /// Nodes with a time to live, which ZooKeeper too has switched off by default.
    Unsupported,
}

impl<'a> Write<'a> {
    /// Reads the body of operation `operation`; `Ok(None)` if it does not write.
    pub(super) fn read(operation: i32, body: &mut Decoder<'a>) -> Result<Option<Self>, Malformed> {
        let write = match operation {
            code::CREATE | code::CREATE2 | code::CREATE_CONTAINER | code::CREATE_TTL => {
                let path = body.string()?;
                let data = body.buffer()?;
                body.skip_access_control_list()?;
                let flags = body.int()?;
                if operation == code::CREATE_TTL {
                    body.long()?;
                }
                // `CreateMode`: 4 is a container, which stays here when it is empty.
                match flags {
                    0..=4 => Self::Create {
                        path,
                        data,
                        is_ephemeral: matches!(flags, 1 | 3),
                        is_sequential: matches!(flags, 2 | 3),
                    },
                    _ => Self::Unsupported,
                }
            }
            code::DELETE => {
                let path = body.string()?;
                Self::Delete { path, version: body.int()? }
            }
            code::SET_DATA => {
                let path = body.string()?;
                let data = body.buffer()?;
                Self::Set { path, data, version: body.int()? }
            }
            code::SET_ACL => {
                let path = body.string()?;
                body.skip_access_control_list()?;
                body.int()?;
                Self::SetAccess { path }
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

    /// The node that is written.
    pub(super) fn path(&self) -> &'a str {
        match self {
            Self::Create { path, .. }
            | Self::Delete { path, .. }
            | Self::Set { path, .. }
            | Self::SetAccess { path }
            | Self::Check { path, .. } => path,
            Self::Reconfigure | Self::Unsupported => "/",
        }
    }
}

/// Whether a path is valid: parts without `.`, `..` and NUL, each after one slash.
pub(super) fn is_valid(path: &str) -> bool {
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
