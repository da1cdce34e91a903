//! What a user may do.

/// What is permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PermissionAction {
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Calling endpoints.
    Exec,
    /// Creating, changing and deleting tables.
    Create,
    /// Everything that an operator does.
    Admin,
}

impl PermissionAction {
    /// All, in the order of HBase's numbers.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Exec, Self::Create, Self::Admin];

    /// HBase's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "READ",
            Self::Write => "WRITE",
            Self::Exec => "EXEC",
            Self::Create => "CREATE",
            Self::Admin => "ADMIN",
        }
    }
}
