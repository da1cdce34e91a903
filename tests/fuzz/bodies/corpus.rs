//! What the fuzzer kept: inputs that reach code which no shorter ones reach.

use std::path::Path;

/// The inputs in `corpus/TARGET.hex`, one a line in hexadecimal digits, the shortest first.
pub(crate) fn inputs(target: &str) -> Vec<Vec<u8>> {
    let below = Path::new("tests/fuzz/corpus").join(target).with_extension("hex");
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let text = folders.find_map(|folder| std::fs::read_to_string(folder.join(&below)).ok());
    let text = text.unwrap_or_else(|| panic!("no {}", below.display()));
    assert!(!text.is_empty(), "{} has inputs", below.display());
    text.lines().map(bytes).collect()
}

fn bytes(line: &str) -> Vec<u8> {
    let digits = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits");
        u8::from_str_radix(pair, 16).expect("hexadecimal digits")
    };
    line.as_bytes().chunks(2).map(digits).collect()
}
