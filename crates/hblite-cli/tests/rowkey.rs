//! `hblite rowkey`: keys of the documents, byte for byte, and the scans of queries.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::{Command, Output};

fn rowkey(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hblite")).arg("rowkey").args(arguments).output().unwrap()
}

fn works(arguments: &[&str]) -> String {
    let output = rowkey(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn fails(arguments: &[&str]) -> String {
    let output = rowkey(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// MD5 digests, reversed names and buckets as in the guides to row keys; the digests by md5sum.
#[test]
fn keys_of_the_documents_are_reproduced() {
    for (design, values, key) in [
        ("md5hex(key, 6)|key:str", &["foo0001"][..], "95f18cfoo0001"),
        ("md5hex(key, 6)|key:str", &["foo0004"], "1a7475foo0004"),
        ("host:reversed_str", &["flink.iteblog.com"], "moc.golbeti.knilf"),
        ("domain:domain", &["www.cnn.com"], "com.cnn.www"),
        (
            "bucket(ts, 4)|ts:timestamp|host:str",
            &["1500000007", "web1"],
            "\\x03\\x00\\x00\\x00\\x00Yh/\\x07web1",
        ),
        ("ts:reverse_timestamp", &["1500000000000"], "\\x7F\\xFF\\xFE\\xA2\\xC1\\x08g\\xFF"),
        ("ts:timestamp", &["2017-07-14T02:40:00Z"], "\\x00\\x00\\x01]>\\xF7\\x98\\x00"),
        ("b:bytes(2)", &["\\x00\\xFF"], "\\x00\\xFF"),
    ] {
        let arguments: Vec<&str> =
            ["encode", design].into_iter().chain(values.iter().copied()).collect();
        assert_eq!(works(&arguments), format!("{key}\n"), "{design}");
        let decoded = works(&["decode", design, key]);
        assert!(decoded.starts_with(key), "{decoded}");
    }
    let decoded = works(&["decode", "salt(4, h)|h:str|n:u16", "\\x01web\\x00\\x00\\x07"]);
    assert!(decoded.contains("h:str       web\\x00 = \"web\""), "{decoded}");
    assert!(decoded.contains("n:u16       \\x00\\x07 = 7"), "{decoded}");
}

#[test]
fn splits_have_the_form_that_is_asked_for() {
    let design = "salt(4, *)|id:str";
    assert_eq!(works(&["splits", design, "--regions", "4"]), "\\x01\n\\x02\n\\x03\n");
    let shell = works(&["splits", design, "--regions", "4", "--format", "shell"]);
    assert_eq!(shell, "create 't', 'd', SPLITS => ['\\x01', '\\x02', '\\x03']\n");
    let java = works(&["splits", "md5(id, 1)|id:str", "--regions", "2", "--format", "java"]);
    assert_eq!(java, "byte[][] splits = {\n    Bytes.toBytesBinary(\"\\\\x80\"),\n};\n");
    let refused = fails(&["splits", "id:str", "--regions", "4"]);
    assert!(refused.contains("with --keys"), "{refused}");
    let dir = tempfile::TempDir::new().unwrap();
    let sample = dir.path().join("keys");
    std::fs::write(&sample, "a\nb\nc\nd\n").unwrap();
    let keys = sample.to_str().unwrap();
    assert_eq!(works(&["splits", "id:str", "--regions", "2", "--keys", keys]), "c\n");
}

/// The tests of hblite-rowkey run the programs.
#[test]
fn a_design_becomes_a_program() {
    let design = "salt(8, host)|host:str|ts:reverse_timestamp";
    for (language, encoder) in [
        ("java", "public static byte[] encode(String host, long ts)"),
        ("python", "def encode(host, ts):"),
        ("go", "func Encode(host string, ts uint64) (key []byte, err error)"),
        ("rust", "pub fn encode(host: &str, ts: u64) -> Result<Vec<u8>, String>"),
    ] {
        let program = works(&["code", design, "--language", language]);
        assert!(program.contains(encoder), "{program}");
    }
    assert!(fails(&["code", "host:none", "--language", "go"]).contains("not a type"));
    let unknown = rowkey(&["code", design, "--language", "c"]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn plans_are_shown_with_their_scans() {
    let logs = "bucket(ts, 2)|ts:timestamp|host:str";
    let plan = works(&["plan", logs, "ts in 1000..2000 newest ts limit 5"]);
    assert!(plan.starts_with("prefix scan, 2 scans\n"), "{plan}");
    assert!(plan.contains("each scan runs backwards"), "{plan}");
    assert!(plan.contains("merged in order of what follows the first 1 bytes"), "{plan}");
    assert!(plan.contains("each scan may stop after 5 rows"), "{plan}");
    let users = "user:str|ts:reverse_timestamp";
    let plan = works(&["plan", users, "user = \"a b\" newest ts"]);
    assert_eq!(plan, "prefix scan\n  scan a b\\x00 up to a b\\x01\n");
    let plan = works(&["plan", "domain:domain|path:str", "domain ends .cnn.com"]);
    assert_eq!(plan, "prefix scan\n  scan com.cnn. up to com.cnn/\n");
    let plan = works(&["plan", users, "ts in 1..2"]);
    assert!(plan.starts_with("full scan\n"), "{plan}");
    assert!(plan.contains("checked on each row, in the key: ts"), "{plan}");
    let wrong = fails(&["plan", users, "car = 7"]);
    assert!(wrong.contains("no field car"), "{wrong}");
    let wrong = fails(&["plan", users, "user like x"]);
    assert!(wrong.contains("is not a condition"), "{wrong}");
}

/// Options may come before or after the values; values may be negative, or begin with a hyphen.
#[test]
fn options_come_before_or_after_values() {
    let salted = "salt(4)|n:i64|a:str";
    let wanted = "\\x01\\x7F\\xFF\\xFF\\xFF\\xFF\\xFF\\xFF\\xFBx\n";
    assert_eq!(works(&["encode", salted, "-5", "x", "--salt", "1"]), wanted);
    assert_eq!(works(&["encode", "--salt", "1", salted, "-5", "x"]), wanted);
    assert_eq!(works(&["encode", "a:str", "--", "-x"]), "-x\n");
}

#[test]
fn wrong_values_and_keys_are_refused_with_the_reason() {
    for (arguments, reason) in [
        (&["encode", "n:u8", "300"][..], "300 is not a number from 0 to 255"),
        (&["encode", "n:u8", "x"], "\"x\" is not a number"),
        (&["encode", "ts:timestamp", "yesterday"], "neither milliseconds nor a time"),
        (&["encode", "n:u8|m:u8", "1"], "1 values were given for the fields n, m"),
        (&["encode", "salt(4)|n:u8", "1"], "name its number with --salt"),
        (&["decode", "n:u64", "abc"], "ends within a part"),
        (&["encode", "n:u9", "1"], "^"),
    ] {
        let shown = fails(arguments);
        assert!(shown.contains(reason), "{arguments:?}: {shown}");
    }
    let shown = works(&["domain:domain|path:str"]);
    assert!(shown.contains("the end of domain: prefix scan"), "{shown}");
}
