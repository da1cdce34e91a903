//! Output as lines of JSON and as CSV.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_shell::{Format, ReadLines, ScriptOptions, Shell, ShellOptions};
use serde_json::{Value, json};

use crate::support::Transcript;

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a script prints, and its errors; whether it came to its end.
fn run(format: Format, keep_going: bool, script: &str) -> (String, String, bool) {
    let (output, errors) = (Transcript::default(), Transcript::default());
    let options = ShellOptions::default().with_format(format).with_errors(errors.clone());
    let connection = hblite::open_in_memory().unwrap();
    let mut shell = Shell::new(connection, Box::new(output.clone()), options);
    let options = ScriptOptions::default().with_keep_going(keep_going);
    let result = shell.run_script(&mut ReadLines::new(script.as_bytes()), options);
    if let Err(error) = &result {
        assert_eq!(error.is_printed, format == Format::Json);
    }
    (output.take(), errors.take(), result.is_ok())
}

const ROWS: &str = r#"
create 't', 'f'
put 't', "r\x00\\", 'f:q', 'a,"b', 7
put 't', 'z', 'f:n', "\x00\x00\x00\x00\x00\x00\x00\x05", 8
delete 't', 'z', 'f:gone', 9
"#;

#[test]
fn rows_are_objects_whose_bytes_can_be_read_back() {
    let script = format!("{ROWS}scan 't', {{RAW => true}}\nget 't', 'z', 'f:n:toLong'\n");
    let (output, errors, is_done) = run(Format::Json, false, &script);
    assert!(is_done && errors.is_empty());
    let rows: Vec<Value> =
        objects(&output).into_iter().filter(|object| object["kind"] == "row").collect();
    let first = json!({ "kind": "row", "row": "r\\x00\\x5C",
        "cells": [{ "column": "f:q", "timestamp": 7, "value": "a,\"b" }] });
    let number = format!("{}\\x05", "\\x00".repeat(7));
    let second = json!({ "kind": "row", "row": "z", "cells": [
        { "column": "f:gone", "timestamp": 9, "type": "Delete" },
        { "column": "f:n", "timestamp": 8, "value": number }] });
    let third = json!({ "kind": "row", "row": "z",
        "cells": [{ "column": "f:n", "timestamp": 8, "value": "5" }] });
    assert_eq!(rows, [first, second, third]);
    let key = rows[0]["row"].as_str().unwrap();
    assert_eq!(hblite::bytes::from_string_binary(key), b"r\0\\");
}

#[test]
fn each_command_has_its_kind_of_object() {
    let script = format!(
        "{ROWS}list\nlist_namespace 'd.*'\ndescribe 't'\nlist_regions 't'\nstatus\n\
         status 'detailed'\nsnapshot 't', 's'\nlist_snapshots\nincr 't', 'c', 'f:c', 3\n\
         count 't'\nexists 'u'\nputs 'said'\nx = [1, 'a', {{'k' => nil}}]\nlist_liveservers\n"
    );
    let (output, _, is_done) = run(Format::Json, false, &script);
    assert!(is_done);
    let printed = objects(&output);
    let of = |kind: &str| -> Vec<&Value> {
        printed.iter().filter(|object| object["kind"] == kind).collect()
    };
    let tables = of("table");
    assert_eq!(*tables[0], json!({ "kind": "table", "name": "t" }));
    assert_eq!(
        (&tables[1]["state"], tables[1]["families"][0]["name"].as_str()),
        (&json!("ENABLED"), Some("f"))
    );
    assert_eq!(*of("namespace")[0], json!({ "kind": "namespace", "name": "default" }));
    assert_eq!(of("status")[0]["regions"], 3);
    assert_eq!(of("region").len(), 1 + 3);
    assert_eq!((&of("region")[0]["table"], &of("region")[0]["end_key"]), (&json!("t"), &json!("")));
    assert_eq!(of("server").len(), 2);
    assert_eq!(
        (&of("snapshot")[0]["name"], &of("snapshot")[0]["table"]),
        (&json!("s"), &json!("t"))
    );
    assert_eq!(*of("counter")[0], json!({ "kind": "counter", "value": 3 }));
    let values: Vec<&Value> = of("value").iter().map(|object| &object["value"]).collect();
    // What lists return is what they have printed.
    assert_eq!(values, [&json!("t"), &json!(3), &json!(false), &json!([1, "a", { "k": null }])]);
    assert!(of("text").iter().any(|object| object["text"] == "said"));
    assert!(!output.contains("row(s)") && !output.contains("Took"));
}

#[test]
fn errors_are_objects_with_hbases_class() {
    let script = "scan 'missing'\nfoo\nputs '\nbegin\nput 'no', 'r', 'f:q', 1\nrescue => e\n\
                  puts e.class\nend\nlist";
    let (output, errors, _) = run(Format::Json, true, &script.replace("puts '\n", "t.1\n"));
    let class = "org.apache.hadoop.hbase.TableNotFoundException";
    let printed = objects(&errors);
    assert_eq!(
        printed[0],
        json!({ "kind": "error", "class": class, "message": "Unknown table missing!",
                "command": "scan", "line": 1 })
    );
    assert_eq!((&printed[1]["class"], &printed[1]["line"]), (&json!("NameError"), &json!(2)));
    assert_eq!((&printed[2]["class"], &printed[2]["line"]), (&json!("SyntaxError"), &json!(3)));
    // What the script has caught is not reported.
    assert_eq!(printed.len(), 3, "{printed:?}");
    assert!(output.contains(class));
    // A script that stops at its first error has printed it.
    let (_, errors, is_done) = run(Format::Json, false, "list\nscan 'missing'\nlist");
    assert!(!is_done);
    assert_eq!(objects(&errors)[0]["line"], 2);
}

#[test]
fn csv_is_the_rows_and_nothing_else() {
    let script = format!("{ROWS}list\nscan 't', {{RAW => true}}\nget 't', 'z'\nscan 'missing'\n");
    let (output, errors, _) = run(Format::Csv, true, &script);
    let number = r"\x00\x00\x00\x00\x00\x00\x00\x05";
    let expected = format!(
        "row,column,timestamp,type,value\n\
         r\\x00\\x5C,f:q,7,Put,\"a,\"\"b\"\n\
         z,f:gone,9,Delete,\n\
         z,f:n,8,Put,{number}\n\
         z,f:n,8,Put,{number}\n"
    );
    assert_eq!(output, expected);
    assert!(errors.contains("Created table t") && errors.contains("ERROR: Unknown"));
}

#[test]
fn the_metrics_of_a_scan_are_an_object() {
    let script = format!("{ROWS}scan 't', {{METRICS => ['ROWS_SCANNED', 'RPC_CALLS']}}\n");
    let (output, _, _) = run(Format::Json, false, &script);
    let metrics = objects(&output).into_iter().find(|object| object["kind"] == "metrics");
    assert_eq!(metrics, Some(json!({ "kind": "metrics", "ROWS_SCANNED": 2, "RPC_CALLS": 0 })));
}
