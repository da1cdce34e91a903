//! The name of one write, by which a repeat of it is known.

/// Names one increment, append or conditional write, so that it counts once although its caller,
/// who got no answer, sends it again (`NonceKey`).
///
/// Callers choose numbers that they never use twice, random ones as a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nonce {
    /// The caller: HBase's clients draw one number each.
    pub group: u64,
    /// The write.
    pub number: u64,
}
