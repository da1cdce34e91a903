//! What the master does, and what it has locked.

/// A procedure of the master: a change of tables, regions or servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcedureStatus {
    /// Its number.
    pub id: u64,
    /// The name of its class.
    pub class: String,
    /// HBase's name of its state.
    pub state: String,
    /// When it was submitted, in milliseconds.
    pub submitted_ms: i64,
    /// When it changed last, in milliseconds.
    pub updated_ms: i64,
    /// What it works with: the parts of its state in the form of HBase's shell.
    pub parameters: String,
}

/// Something that procedures have locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedResource {
    /// HBase's name of its kind: `TABLE`, `REGION` and so on.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Who has locked it.
    pub lock: ResourceLock,
    /// The procedures that wait for it.
    pub waiting: Vec<String>,
}

/// Who has locked something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceLock {
    /// One procedure.
    Exclusive(String),
    /// This many procedures.
    Shared(i64),
}
