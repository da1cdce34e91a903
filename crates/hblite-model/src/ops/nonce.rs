//! Identifies a write, so that a retry of it is recognized.

/// Identifies one increment, append or conditional write, so that it counts once even if its
/// caller, who got no answer, sends it again (`NonceKey`).
///
/// Callers choose numbers that they never use twice, usually random ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce {
    /// The caller: each of HBase's clients chooses one number.
    pub group: u64,
    /// The write.
    pub number: u64,
}
