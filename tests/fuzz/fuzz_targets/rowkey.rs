//! Any text as the design of a row key: refused with its place, or a design that writes itself and
//! reads back what it writes. What follows a line end is a key.

#![no_main]

use hblite_rowkey::Design;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let Ok(text) = std::str::from_utf8(parts.next().unwrap_or_default()) else { return };
    let design = match Design::parse(text) {
        Ok(design) => design,
        Err(error) => {
            assert!(error.span().is_none_or(|span| span.end <= text.len()));
            assert!(!error.pointing_into(text).is_empty());
            return;
        }
    };
    let written = design.to_string();
    assert_eq!(Design::parse(&written).expect("a design").to_string(), written);
    design.support_matrix().expect("what it is good for");
    if let Some(key) = parts.next()
        && let Ok(values) = design.decode(key)
        && let Ok(encoded) = design.encode(&values)
    {
        assert!(design.decode(&encoded).is_ok());
    }
});
