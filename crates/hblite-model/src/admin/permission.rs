//! Permissions of users, and server groups.

use std::collections::BTreeMap;

use crate::TableName;
use crate::ops::PermissionAction;

/// What a user may do, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserPermission {
    /// The user, or with a leading `@` the group.
    pub user: String,
    /// Where.
    pub place: PermissionPlace,
    /// What.
    pub actions: Vec<PermissionAction>,
}

/// Where a permission applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionPlace {
    /// Everywhere.
    Global,
    /// In a namespace.
    Namespace(String),
    /// In a table, or a family or column of it.
    Table {
        /// The table.
        table: TableName,
        /// The family.
        family: Option<Vec<u8>>,
        /// The qualifier.
        qualifier: Option<Vec<u8>>,
    },
}

/// A change of permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionWork {
    /// Adds to what a user may do.
    Grant(UserPermission),
    /// Removes all permissions that a user has there.
    Revoke(UserPermission),
}

/// Region servers that have the regions of certain tables, and no others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerGroup {
    /// Its name.
    pub name: String,
    /// Its servers, `host:port`.
    pub servers: Vec<String>,
    /// Its tables.
    pub tables: Vec<TableName>,
    /// Its settings.
    pub configuration: BTreeMap<String, String>,
}

/// Whose group is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupMember {
    /// The group with this name.
    Name(String),
    /// The group of a server, `host:port`.
    Server(String),
    /// The group of a table.
    Table(TableName),
}

/// A change of server groups. Servers are `host:port`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupWork {
    /// Adds a group.
    Add(String),
    /// Removes a group without servers and tables.
    Remove(String),
    /// Renames a group.
    Rename {
        /// Its name.
        from: String,
        /// Its new name.
        to: String,
    },
    /// Moves servers and tables to a group.
    Move {
        /// The group.
        group: String,
        /// The servers.
        servers: Vec<String>,
        /// The tables.
        tables: Vec<TableName>,
    },
    /// Forgets servers that are decommissioned or gone.
    RemoveServers(Vec<String>),
    /// Replaces the settings of a group.
    Configure(String, BTreeMap<String, String>),
}

/// A change of visibility labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelWork {
    /// Adds labels.
    Add(Vec<String>),
    /// Gives a user labels.
    SetAuths(String, Vec<String>),
    /// Takes labels from a user.
    ClearAuths(String, Vec<String>),
}

/// Which visibility labels are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelQuery {
    /// Those that match a regular expression.
    Matching(String),
    /// Those of a user.
    OfUser(String),
}

/// A run of the balancer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BalanceRequest {
    /// The server group whose regions are moved; `None` for all.
    pub group: Option<String>,
    /// Whether it runs even while regions are moving.
    pub ignores_moves: bool,
    /// Whether the moves are only counted.
    pub is_dry_run: bool,
}

/// What a run of the balancer has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BalanceReport {
    /// Whether it ran.
    pub has_run: bool,
    /// Moves that it found useful.
    pub calculated: u32,
    /// Moves that were made.
    pub executed: u32,
}
