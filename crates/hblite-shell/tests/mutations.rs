//! Damaged lines: each is run, refused with a message, or incomplete, and none causes a panic.
//!
//! `tests/fuzz` has the same check with coverage guidance (`shell`).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../hblite-rowkey/tests/damaged_text/mod.rs"]
mod damaged_text;

use crate::support::Session;
use damaged_text::{damage, damaged};
use hblite_shell::Outcome;
use proptest::prelude::*;

const LINES: [&str; 14] = [
    "create 't', {NAME => 'f', VERSIONS => 3, COMPRESSION => 'GZ'}, SPLITS => ['a', \"b\\x00\"]",
    "put 't', 'r', 'f:q', \"v\\xFF\", 7",
    "get 't', 'r', {COLUMN => ['f:q', 'f'], VERSIONS => 2, TIMERANGE => [0, 9]}",
    "scan 't', {STARTROW => 'a', LIMIT => 2, REVERSED => true, FILTER => \"PrefixFilter('r')\"}",
    "scan 't', FILTER => \"(ValueFilter(=, 'binary:a') AND KeyOnlyFilter()) OR PageFilter(1)\"",
    "t = get_table 't'; t.put 'r', 'f:q', 'x'; t.scan LIMIT => 1",
    "incr 't', 'r', 'f:c', 5; get_counter 't', 'r', 'f:c'",
    "alter 't', {NAME => 'g', TTL => 60}, METHOD => 'table_att', MAX_FILESIZE => '1000000'",
    "describe 't'; count 't', INTERVAL => 1; deleteall 't', {ROWPREFIXFILTER => 'r'}",
    "create_namespace 'n', {'a' => 'b'}; list_namespace '.*'; list 't.*'",
    "locate_region('t', 'r').getRegion.getEncodedName; list_regions 't'",
    "split 't', 'm'; snapshot 't', 's'; list_snapshots; clone_snapshot 's', 'u'",
    "puts [1, [:a, nil], 2.5e3, -0x1f, {'k' => [true, false]}]; help 'scan'",
    "hbase:001:0> disable_all 't.*'",
];

const MARKS: &str = "'\"\\{}[]()=>,.;:#x0 \n‘’“é";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn damaged_lines_are_run_or_refused(
        lines in proptest::collection::vec((0..LINES.len(), damage(MARKS)), 1..4),
    ) {
        let mut session = Session::new(1_000, 10);
        prop_assert_eq!(session.run(LINES[0]).0, Outcome::Done);
        for (line, damage) in lines {
            let line = damaged(LINES[line], &damage, &LINES);
            let source = session.shell.strip_prompt(&line, "").to_owned();
            // Before it runs, which may add variables.
            let is_complete = session.shell.is_complete(&source);
            let (outcome, _) = session.run(&source);
            prop_assert_eq!(outcome == Outcome::Incomplete, !is_complete, "{}", source);
            if let Outcome::Failed(message) = outcome {
                prop_assert!(!message.is_empty(), "{}", source);
            }
        }
    }
}
