//! Operations and answers in readable form.

/// The debug form of values, with byte strings as text instead of lists of numbers.
pub(crate) fn readable(debugged: &str) -> String {
    let mut text = String::new();
    let mut rest = debugged;
    while let Some(start) = rest.find('[') {
        let (before, list) = rest.split_at(start);
        text.push_str(before);
        let end = list.find(']').unwrap_or(list.len() - 1);
        let numbers: Option<Vec<u8>> =
            list[1..end].split(", ").map(|number| number.parse().ok()).collect();
        match numbers {
            Some(bytes) => {
                text.push_str(&format!("'{}'", hblite::bytes::to_string_binary(&bytes)));
                rest = &list[end + 1..];
            }
            None => {
                text.push('[');
                rest = &list[1..];
            }
        }
    }
    text + rest
}
