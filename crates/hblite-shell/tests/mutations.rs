//! Damaged lines: each is run, refused or unfinished, and none does harm.
//!
//! `tests/fuzz` has the same check with coverage guidance (`shell`).

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use hblite_shell::{Outcome, Shell, strip_prompt};
use proptest::prelude::*;
use support::Session;

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

/// A line with characters replaced, removed, repeated, and others' parts spliced in.
fn damaged(line: &str, damage: &[(usize, u8, char, usize)]) -> String {
    let mut text: Vec<char> = line.chars().collect();
    for (at, kind, character, other) in damage {
        let at = at % text.len().max(1);
        match kind % 5 {
            _ if text.is_empty() => text.push(*character),
            0 => text[at] = *character,
            1 => drop(text.remove(at)),
            2 => text.insert(at, *character),
            3 => text.truncate(at),
            _ => {
                text.truncate(at);
                let other = LINES[other % LINES.len()];
                text.extend(other.chars().skip(at % other.len()));
            }
        }
    }
    text.into_iter().collect()
}

fn damage() -> impl Strategy<Value = Vec<(usize, u8, char, usize)>> {
    let marks: Vec<char> = "'\"\\{}[]()=>,.;:#x0 \n‘’“é".chars().collect();
    let character = prop_oneof![proptest::sample::select(marks), any::<char>()];
    proptest::collection::vec((any::<usize>(), any::<u8>(), character, any::<usize>()), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn damaged_lines_are_run_or_refused(
        lines in proptest::collection::vec((0..LINES.len(), damage()), 1..4),
    ) {
        let mut session = Session::new(1_000, 10);
        prop_assert_eq!(session.run(LINES[0]).0, Outcome::Done);
        for (line, damage) in lines {
            let line = damaged(LINES[line], &damage);
            let source = strip_prompt(&line, "").to_owned();
            let (outcome, _) = session.run(&source);
            prop_assert_eq!(outcome == Outcome::Incomplete, !Shell::is_complete(&source));
            if let Outcome::Failed(message) = outcome {
                prop_assert!(!message.is_empty(), "{}", source);
            }
        }
    }
}
