//! Words for messages.

/// A count and what it counts, in the singular for 1: "1 cell", "20 cells".
///
/// ```
/// assert_eq!(hblite_model::counted(1, "row"), "1 row");
/// assert_eq!(hblite_model::counted(0, "row"), "0 rows");
/// ```
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
