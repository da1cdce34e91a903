//! Damaged designs of row keys: each is a design that writes itself, or is refused with its place.
//!
//! `tests/fuzz` has the same check with coverage guidance (`rowkey`).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::damaged_text::{damage, damaged};
use hblite_rowkey::Design;
use proptest::prelude::*;

const DESIGNS: [&str; 8] = [
    "salt(16)|host:str|ts:reverse_timestamp",
    "salt(300, *)|a:u8|b:u16|c:u32|d:u64|e:reversed_u64|f:i64",
    "bucket(ts, 4)|ts:timestamp|host:str(escape)",
    "md5hex(user, 6)|user:str(\"-\")|rest:bytes",
    "salt(\"a-\", \"b-\", user)|user:str(16)|\"lit\\x00\"|h:md5",
    "md5(a, b, 4)|a:reversed_str|b:domain(rest)",
    "site:domain|path:bytes(escape)|n:md5hex(6)|b:bytes(16)",
    "salt(16, name)|name:str(rest)",
];

const MARKS: &str = "|:(),\"\\x0914 *é\u{10ffff}";

fn check(text: &str, key: &[u8]) {
    match Design::parse(text) {
        Ok(design) => {
            let written = design.to_string();
            let again = Design::parse(&written).unwrap();
            assert_eq!(again.to_string(), written, "{text:?}");
            assert!(!design.spread().to_string().is_empty());
            design.support_matrix().unwrap_or_else(|error| panic!("{text:?}: {error}"));
            if let Ok(values) = design.decode(key)
                && let Ok(encoded) = design.encode(&values)
            {
                // A random salt, and a hash that is not read back, may be another one.
                assert!(design.decode(&encoded).is_ok(), "{text:?} {key:?}");
            }
        }
        Err(error) => {
            assert!(!error.message().is_empty());
            if let Some(span) = error.span() {
                assert!(span.start <= span.end && span.end <= text.len(), "{text:?} {span:?}");
            }
            assert!(!error.pointing_into(text).is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn damaged_designs_are_designs_or_refused(
        design in 0..DESIGNS.len(),
        damage in damage(MARKS),
        key: Vec<u8>,
    ) {
        check(&damaged(DESIGNS[design], &damage, &DESIGNS), &key);
    }

    #[test]
    fn any_text_is_a_design_or_refused(text: String, key: Vec<u8>) {
        check(&text, &key);
    }
}
