//! The examples of the row-key documents, to the byte.

use hblite_rowkey::{
    Access, Design, Error, ErrorKind, Keyed, Known, Merge, Query, Value, md5_hex, reverse,
    reverse_domain,
};

fn design(text: &str) -> Design {
    Design::parse(text).unwrap_or_else(|error| panic!("{}", error.pointing_into(text)))
}

fn encode(text: &str, values: &[Value<'_>]) -> Vec<u8> {
    design(text).encode(values).expect("values that fit")
}

const FOO: [&str; 4] = ["foo0001", "foo0002", "foo0003", "foo0004"];

#[test]
fn salts_of_the_guide() {
    let salted = design(r#"salt("a-", "b-", "c-", "d-")|key:str"#);
    // The guide's draw: foo0003 got a, foo0001 b, foo0004 c, foo0002 d, and a second foo0003 c.
    let rows = [(1, 0), (3, 1), (0, 2), (2, 3), (2, 2)];
    let mut keys = Vec::new();
    for (salt, foo) in rows {
        let mut key = Vec::new();
        salted.encode_into(&[FOO[foo].into()], salt, &mut key).expect("a key");
        keys.push(String::from_utf8(key).expect("text"));
    }
    keys.sort();
    assert_eq!(keys, ["a-foo0003", "b-foo0001", "c-foo0003", "c-foo0004", "d-foo0002"]);
    assert_eq!(salted.natural_splits(4).expect("four regions"), [b"b-", b"c-", b"d-"]);
    // Reading them in order again costs four scans.
    let plan = salted.plan(&Query::new().ascending("key")).expect("a plan");
    let scans = plan.ranges.iter().map(|range| {
        let inside: Vec<Result<Vec<u8>, Error>> = keys
            .iter()
            .filter(|key| range.contains(key.as_bytes()))
            .map(|key| Ok(key.clone().into_bytes()))
            .collect();
        inside.into_iter()
    });
    let merged = Merge::new(scans, plan.merge_skip.expect("a merge"), plan.is_reversed);
    let read: Vec<String> = merged
        .map(|key| String::from_utf8_lossy(&key.expect("no error").key()[2..]).into_owned())
        .collect();
    assert_eq!(read, ["foo0001", "foo0002", "foo0003", "foo0003", "foo0004"]);
}

#[test]
fn hashes_of_the_guide() {
    let keys = FOO.map(|foo| encode("md5hex(key, 6)|key:str", &[foo.into()]));
    let wanted = ["95f18cfoo0001", "6ccc20foo0002", "b61d00foo0003", "1a7475foo0004"];
    assert_eq!(keys.map(|key| String::from_utf8(key).expect("text")), wanted);
    assert_eq!(md5_hex(b"foo0001", 32), "95f18cf8cd6694cf7c1dbc583488a6f5");
}

#[test]
fn reversed_names_of_the_guide_and_the_web_table() {
    let hosts = ["flink", "www", "carbondata", "def"].map(|host| format!("{host}.iteblog.com"));
    let wanted =
        ["moc.golbeti.knilf", "moc.golbeti.www", "moc.golbeti.atadnobrac", "moc.golbeti.fed"];
    for (host, wanted) in hosts.iter().zip(wanted) {
        assert_eq!(reverse(host), wanted);
        assert_eq!(encode("url:reversed_str", &[host.into()]), wanted.as_bytes());
    }
    let plan = design("url:reversed_str").plan(&Query::new().suffix("url", "iteblog.com"));
    assert_eq!(plan.expect("a plan").ranges[0].start, b"moc.golbeti");
    for (domain, wanted) in [
        ("www.cnn.com", "com.cnn.www"),
        ("www.apache.org", "org.apache.www"),
        ("jira.apache.org", "org.apache.jira"),
    ] {
        assert_eq!(reverse_domain(domain), wanted);
        assert_eq!(encode("domain:domain", &[domain.into()]), wanted.as_bytes());
    }
}

#[test]
fn log_data_keys() {
    let ts = Value::from(1_500_000_007_u64);
    let (host, event) = (Value::from("web2.example.com"), Value::from("login"));
    let key = |text: &str, values: &[&Value<'static>]| {
        encode(text, &values.iter().map(|value| (*value).clone()).collect::<Vec<_>>())
    };
    let ts_bytes = b"\x00\x00\x00\x00Yh/\x07";
    let bucketed = key("bucket(ts, 4)|ts:timestamp|host:str|event:str", &[&ts, &host, &event]);
    assert_eq!(bucketed[0], 3, "1500000007 % 4");
    assert_eq!(&bucketed[1..9], ts_bytes);
    let host_first = key("host:str|event:str|ts:timestamp", &[&host, &event, &ts]);
    assert_eq!(host_first, [b"web2.example.com\0login\0".as_slice(), ts_bytes].concat());
    let newest = key("host:str|event:str|ts:reverse_timestamp", &[&host, &event, &ts]);
    assert_eq!(newest, b"web2.example.com\0login\0\x7F\xFF\xFF\xFF\xA6\x97\xD0\xF8");
    let hashed = key("host:md5|event:md5|ts:timestamp", &[&host, &event, &ts]);
    assert_eq!(hashed.len(), 16 + 16 + 8);
    assert_eq!(&hashed[..4], b"6\x19\xD1J");
    let (host, event) = (Value::from(2_u64), Value::from(3_u64));
    let numbers = key("host:u64|event:u64|ts:timestamp", &[&host, &event, &ts]);
    assert_eq!(numbers.len(), 8 + 8 + 8);
}

#[test]
fn a_hundred_buckets_are_a_hundred_scans() {
    let bucketed = design("bucket(ts, 100)|ts:timestamp|host:str");
    let range = Query::new().range("ts", 1_000_u64..61_000).ascending("ts");
    let plan = bucketed.plan(&range).expect("a plan");
    assert_eq!((plan.ranges.len(), plan.merge_skip), (100, Some(1)));
    // One instant is in one bucket, which follows from it.
    let instant = Query::new().equals("ts", 1_234_u64);
    let plan = bucketed.plan(&instant).expect("a plan");
    assert_eq!(plan.ranges.len(), 1);
    assert_eq!(plan.ranges[0].start[0], 34);
    // Ten milliseconds are in ten.
    let plan = bucketed.plan(&Query::new().range("ts", 95_u64..105)).expect("a plan");
    let buckets: Vec<u8> = plan.ranges.iter().map(|range| range.start[0]).collect();
    assert_eq!(buckets, [0, 1, 2, 3, 4, 95, 96, 97, 98, 99]);
}

#[test]
fn the_matrix_of_the_guide() {
    let design = design("uid:str|phone:str|name:str");
    use Known::{Part, Value as Whole};
    let served: [&[(&str, Known)]; 4] = [
        &[("uid", Whole), ("phone", Whole), ("name", Whole)],
        &[("uid", Whole), ("phone", Whole)],
        &[("uid", Whole), ("phone", Part)],
        &[("uid", Whole)],
    ];
    for known in served {
        let support = design.support(known).expect("fields of the key");
        assert_ne!(support.access, Access::Table, "{support}");
        assert!(support.checked.is_empty(), "{support}");
    }
    let hard: [&[(&str, Known)]; 3] =
        [&[("phone", Whole), ("name", Whole)], &[("phone", Whole)], &[("name", Whole)]];
    for known in hard {
        let support = design.support(known).expect("fields of the key");
        assert_eq!(support.access, Access::Table, "{support}");
    }
    let lines: Vec<String> =
        design.support_matrix().expect("a matrix").iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 14);
    assert_eq!(lines[0], "uid, phone, name: one row");
    assert_eq!(lines[1], "uid, phone, part of name: prefix scan");
    assert_eq!(lines[4], "uid, name: prefix scan, name checked row by row");
    assert_eq!(lines[12], "name: full scan");
}

#[test]
fn the_two_scans_for_recent_operations() {
    let recent = design("uid:str(2)|ts:reverse_timestamp");
    let newest = Query::new().equals("uid", "u1").at_least("ts", 1_500_000_450_u64);
    let range = &recent.plan(&newest).expect("a plan").ranges[0];
    assert_eq!(range.start, b"u1\0\0\0\0\0\0\0\0");
    // [uid][Long.MAX_VALUE - timestamp], one further, since a stop row is not read.
    assert_eq!(range.stop, b"u1\x7F\xFF\xFF\xFF\xA6\x97\xCF\x3E");
    // The later end comes first: the guide's second scan names its rows the other way round.
    let period = Query::new().equals("uid", "u1").range("ts", 1_500_000_300_u64..1_500_000_801);
    let range = &recent.plan(&period).expect("a plan").ranges[0];
    assert_eq!(range.start, b"u1\x7F\xFF\xFF\xFF\xA6\x97\xCD\xDF");
    assert_eq!(range.stop, b"u1\x7F\xFF\xFF\xFF\xA6\x97\xCF\xD4");
}

#[test]
fn impossible_designs_are_refused_where_they_are_wrong() {
    for (text, place, reason) in [
        ("host:str(rest)|ts:timestamp", "host:str(rest)", "host has no end"),
        ("payload:bytes|ts:timestamp", "payload:bytes", "payload has no end"),
        ("bucket(ts, 0)|ts:timestamp", "bucket(ts, 0)", "at least one bucket"),
        ("salt(0)|host:str", "salt(0)", "at least one value"),
        ("salt(70000)|host:str", "salt(70000)", "at most 65536 values"),
        ("salt(1000)|bucket(ts, 1000)|ts:u64", "bucket(ts, 1000)", "1000000 prefixes"),
        ("bucket(host, 4)|host:str", "bucket(host, 4)", "use a salt computed from it"),
        ("bucket(n, 4)|n:i64", "bucket(n, 4)", "may be negative"),
        ("bucket(ts, 4)|host:str", "bucket(ts, 4)", "ts, which is not a field"),
        ("salt(4, user)|host:str", "salt(4, user)", "user, which is not a field"),
        ("host:str|host:u64", "host:u64", "field host appears twice"),
        ("md5hex(id, 33)|id:str", "md5hex(id, 33)", "32 hexadecimal characters"),
        ("md5hex(id, 0)|id:str", "md5hex(id, 0)", "spreads nothing"),
        ("id:str(0)", "id:str(0)", "0 bytes"),
        (r#"salt("a", "bb")|id:str"#, r#"salt("a", "bb")"#, "one length"),
        (r#"salt("a", "a")|id:str"#, r#"salt("a", "a")"#, "two salts are equal"),
        (r#""x""#, r#""x""#, "no field"),
        ("host:strr|ts:u64", "strr", "not a type"),
        ("salt(4)|ts", "ts", "ts:str"),
        ("a:u64 b:u64", "b", "separate the next one with |"),
        ("a:u64|", "", "a part begins here"),
        ("a:u64(4)", "u64(4)", "no arguments"),
        ("a:str(\"ab\")", "str(\"ab\")", "one byte"),
        ("\"ab|c:u8", "\"", "not closed"),
        ("a:bytes(40000)", "a:bytes(40000)", "32767"),
        ("a:str(99999)", "str(99999)", "32767"),
        ("é:str", "é", "no meaning"),
    ] {
        let error = Design::parse(text).expect_err(text);
        assert!(error.message().contains(reason), "{text}: {error}");
        let span = error.span().expect("a place");
        assert_eq!(&text[span], place, "{error}");
        assert!(matches!(error.kind(), ErrorKind::Design | ErrorKind::Syntax));
    }
}

#[test]
fn salts_and_regions_must_go_together() {
    let salted = design("salt(16)|host:str");
    let error = salted.natural_splits(4).expect_err("too few regions");
    assert_eq!(error.kind(), ErrorKind::Regions);
    assert!(error.message().starts_with("16 salts over 4 regions"), "{error}");
    let error = salted.natural_splits(32).expect_err("too many regions");
    assert_eq!(error.kind(), ErrorKind::FewPlaces);
    assert_eq!(salted.natural_splits(16).expect("as many").len(), 15);
    assert!(design("host:str").natural_splits(4).is_err());
    assert!(design("md5hex(h, 1)|h:str").natural_splits(17).is_err());
    assert_eq!(design("md5hex(h, 1)|h:str").natural_splits(16).expect("16").len(), 15);
    assert_eq!(
        design("h:md5").natural_splits(4).expect("4"),
        [0x40, 0x80, 0xC0].map(|byte| [&[byte][..], &[0; 15]].concat())
    );
}

#[test]
fn values_that_do_not_fit_are_refused() {
    for (text, value, reason) in [
        ("a:u8", Value::from(256_u64), "256 is not a number from 0 to 255, as u8 holds"),
        ("a:timestamp", Value::from(-1_i64), "-1 is not a number from 0 to"),
        ("a:u64", Value::from("7"), "\"7\" is not a number"),
        ("a:str(2)", Value::from("abc"), "has 3 bytes, but the field has 2"),
        ("a:str(2)", Value::from("a\0"), "zero byte"),
        ("a:bytes(2)", Value::from(b"a".as_slice()), "has 1 bytes, but the field has 2"),
        ("a:str|b:str", Value::from("a\0b"), "str(escape)"),
        (r#"a:str("-")|b:str"#, Value::from("a b"), "byte 0x20"),
        ("a:str|b:str", Value::from(7_u64), "expects text but got 7, a number"),
    ] {
        let design = design(text);
        let values = vec![value; design.fields().len()];
        let error = design.encode(&values).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.message().contains(reason), "{text}: {error}");
    }
    assert!(design("a:str").encode(&["".into()]).is_err(), "HBase has no empty row");
    assert!(design("a:str").encode(&["x".repeat(32_768).into()]).is_err());
    assert!(design("salt(4)|a:str").encode(&["x".into()]).is_err(), "a random number is missing");
    assert!(design("a:str").encode(&[]).is_err());
}

#[test]
fn keys_of_another_design_are_refused() {
    for (text, key) in [
        ("a:u64", b"1234567".as_slice()),
        ("a:u64", b"123456789"),
        ("a:timestamp", b"\xFF2345678"),
        ("a:str|b:u8", b"abc"),
        ("a:str(escape)|b:u8", b"a\x00\x02b"),
        ("a:str", b"\xFF"),
        (r#""x"|a:str"#, b"ya"),
    ] {
        assert_eq!(design(text).decode(key).expect_err(text).kind(), ErrorKind::Key);
    }
}

/// What a design is good for does not depend on values that it can hold.
#[test]
fn every_delimiter_and_width_has_a_matrix_or_is_refused() {
    for byte in 0..=255_u8 {
        for kind in ["str", "reversed_str", "domain", "bytes"] {
            let text = format!("user:{kind}(\"\\x{byte:02x}\")|rest:bytes");
            match Design::parse(&text) {
                Ok(design) => assert_eq!(design.support_matrix().expect(&text)[0].scans, 1),
                Err(error) => {
                    assert!(byte >= 0xbf, "{text}: {error}");
                    assert!(error.message().contains("cannot hold a value"), "{text}: {error}");
                }
            }
        }
    }
    for kind in ["str", "reversed_str", "domain", "bytes"] {
        for end in ["(1)", "(2)", "(escape)", "(\"-\")"] {
            let text = format!("a:{kind}{end}|b:str(\"~\")|rest:{kind}(rest)");
            assert!(Design::parse(&text).expect(&text).support_matrix().is_ok(), "{text}");
        }
    }
}
