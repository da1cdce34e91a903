//! Advice for workloads with a known answer.

use hblite_rowkey::{Design, Value};
use hblite_shell::{NoLines, Outcome, Shell, ShellOptions};

use super::*;

const PRESENT: &str = "ts:timestamp|host:str|event:str";

fn logs(hosts: u64) -> Sample {
    let design = Design::parse(PRESENT).expect("a key");
    let key = |index: u64| {
        let ts = 1_500_000_000_000 + index;
        let random = crate::mix::mixed(index);
        let values: [Value<'_>; 3] = [
            ts.into(),
            format!("host{:04}", random % hosts).into(),
            ["login", "error"][(random >> 32) as usize % 2].into(),
        ];
        design.encode(&values).expect("it fits")
    };
    Sample::new(design.clone(), (0..8_000).map(key).collect()).expect("a sample")
}

fn advice(hosts: u64, queries: &str) -> Advice {
    let wanted = Wanted::parse(queries).expect("queries");
    advise(&logs(hosts), &wanted, &AdviceOptions::default()).expect("advice")
}

#[test]
fn who_asks_by_host_gets_the_host_first() {
    let advice = advice(500, "host = ? and ts in 10 %");
    let best = advice.best();
    assert!(best.design.to_string().contains("host"), "{advice}");
    assert!(best.max_over_mean < 1.6, "{advice}");
    assert_eq!(best.queries[0].scans, 1.0, "{advice}");
    let present = advice.present().expect("it is a candidate");
    assert!(present.max_over_mean > 10.0, "{advice}");
}

#[test]
fn who_wants_the_newest_gets_reversed_times() {
    let advice = advice(500, "host = ? newest ts limit 10");
    assert!(advice.best().design.to_string().contains("ts:reverse_timestamp"), "{advice}");
    assert!(advice.best().queries[0].rows <= 10.0, "{advice}");
}

#[test]
fn who_asks_by_time_only_gets_buckets_or_salts() {
    let advice = advice(500, "ts in 1 %");
    let text = advice.best().design.to_string();
    assert!(text.starts_with("bucket(ts") || text.starts_with("salt("), "{advice}");
    assert!(advice.best().queries[0].scans <= 16.0);
}

#[test]
fn who_does_not_care_for_writes_keeps_the_time_first() {
    let wanted = Wanted::parse("ts in 1 %").expect("queries");
    let options = AdviceOptions { write_weight: 0.0, ..AdviceOptions::default() };
    let advice = advise(&logs(500), &wanted, &options).expect("advice");
    assert_eq!(advice.best().design.to_string(), PRESENT, "{advice}");
}

#[test]
fn the_command_makes_the_table_in_the_shell() {
    for queries in ["ts in 1 %", "host = ?", "event = ? newest ts limit 5"] {
        let advice = advice(300, queries);
        let connection = hblite::open_in_memory().expect("a store");
        let output = Box::new(std::io::sink());
        let mut shell = Shell::new(connection.clone(), output, ShellOptions::default());
        let outcome = shell.run_line(&advice.create_command(), &mut NoLines).expect("written");
        assert!(matches!(outcome, Outcome::Done), "{}", advice.create_command());
        let table = connection.table("t").expect("a name");
        let regions = table.regions().expect("it was made");
        let starts: Vec<&[u8]> =
            regions.iter().skip(1).map(hblite::RegionInfo::start_key).collect();
        assert_eq!(starts, advice.best().splits, "{queries}");
    }
}

#[test]
fn a_live_table_is_a_sample() {
    use hblite::{ColumnFamilyDescriptor, Put, TableDescriptor};
    let connection = hblite::open_in_memory().expect("a store");
    let name = "logs".parse().expect("a name");
    let table = TableDescriptor::new(name).with_family(ColumnFamilyDescriptor::new("d"));
    connection.admin().create_table(&table).expect("a table");
    let table = connection.table("logs").expect("a table");
    let design = Design::parse("host:str|ts:timestamp").expect("a key");
    // One host after another: sequential in time, although the key does not show it.
    for ts in 0..500_u64 {
        let host = format!("host{:03}", ts / 10);
        let key = design.encode(&[host.into(), ts.into()]).expect("it fits");
        table.put(&Put::new(key).add_at("d", "v", ts as i64, "x")).expect("written");
    }
    let sample = Sample::of_table(design, &connection, "logs").expect("a sample");
    let wanted = Wanted::parse("host = ?").expect("queries");
    let advice = advise(&sample, &wanted, &AdviceOptions::default()).expect("advice");
    assert!(advice.present().expect("a candidate").max_over_mean > 8.0, "{advice}");
    assert!(advice.best().max_over_mean < 8.0, "{advice}");
}

#[test]
fn wrong_input_is_told_why() {
    for (text, reason) in [
        ("", "no queries"),
        ("host", "is not a condition"),
        ("0: host = ?", "is not a weight above 0"),
        ("host = ? and host begins 2", "two conditions on host"),
        ("ts in 200 %", "is not a percentage"),
    ] {
        let error = Wanted::parse(text).expect_err(text).to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    let wanted = Wanted::parse("car = ?").expect("queries");
    let error = advise(&logs(10), &wanted, &AdviceOptions::default()).expect_err("no such field");
    assert!(error.to_string().contains("keys have no field car; their fields are ts, host"));

    let hashed = Design::parse("host:md5|ts:timestamp").expect("a key");
    let error = Sample::new(hashed, Vec::new()).expect_err("a hash").to_string();
    assert!(error.contains("only a hash of host"), "{error}");
    let design = Design::parse(PRESENT).expect("a key");
    let error = Sample::parse(design.clone(), "a\nb\n").expect_err("too few").to_string();
    assert!(error.contains("2 keys are too few"), "{error}");
    let error = Sample::parse(design, &"x\n".repeat(200)).expect_err("no keys").to_string();
    assert!(error.contains("not a key of ts:timestamp"), "{error}");
}

/// Between double quotes, bytes from 0x80 on would be lost on their way into HBase.
#[test]
fn split_keys_above_ascii_survive_the_shell() {
    let splits = vec![b"'#{1}\\".to_vec(), vec![0x8B, 0xCF], b"\xC3\xA9".to_vec()];
    let connection = hblite::open_in_memory().expect("a store");
    let output = Box::new(std::io::sink());
    let mut shell = Shell::new(connection.clone(), output, ShellOptions::default());
    let command = create_command("t", &splits);
    let outcome = shell.run_line(&command, &mut NoLines).expect("written");
    assert!(matches!(outcome, Outcome::Done), "{command}");
    let regions = connection.table("t").and_then(|table| table.regions()).expect("it was made");
    let starts: Vec<&[u8]> = regions.iter().skip(1).map(hblite::RegionInfo::start_key).collect();
    assert_eq!(starts, splits, "{command}");
}

fn users(hot_percent: u64) -> Sample {
    let design = Design::parse("user:str|ts:timestamp").expect("a key");
    let record = |index: u64| -> Vec<Value<'static>> {
        let random = crate::mix::mixed(index);
        let is_hot = random % 100 < hot_percent;
        let user = if is_hot { 7 } else { (random >> 8) % 900 };
        vec![format!("user{user:04}").into(), (1_500_000_000_000 + index).into()]
    };
    let records: Vec<_> = (0..4_000).map(record).collect();
    Sample::of_records(design, &records).expect("a sample")
}

#[test]
fn a_hot_entity_is_named_with_what_helps() {
    let wanted = Wanted::parse("user = ? newest ts limit 5").expect("queries");
    let options = AdviceOptions { regions: 8, write_weight: 0.3, ..AdviceOptions::default() };
    let advice = advise(&users(40), &wanted, &options).expect("advice");
    let hot = advice.best().hot.clone().expect("a hot user");
    assert!((hot.share - 0.4).abs() < 0.03, "{advice}");
    assert_eq!(hot.fields, [("user".to_owned(), Value::from("user0007"))], "{advice}");
    let text = advice.to_string();
    assert!(text.contains("user = \"user0007\" has 39 % of the writes"), "{text}");
    assert!(text.contains("A salt within the entity helps: with salt("), "{text}");
    assert!(!text.contains("none is hot"), "{text}");

    let calm = advise(&users(0), &wanted, &options).expect("advice").to_string();
    assert!(!calm.contains("  hot:"), "{calm}");
}

#[test]
fn splits_keep_entities_whole_and_hold_in_the_next_period() {
    let wanted = Wanted::parse("user = ? newest ts limit 5").expect("queries");
    let options = AdviceOptions { regions: 8, write_weight: 0.3, ..AdviceOptions::default() };
    let advice = advise(&users(40), &wanted, &options).expect("advice");
    let users_split = advice.best().splits.iter().filter(|key| key.contains(&0)).count();
    assert_eq!(users_split, 0, "a split inside a user: {advice}");
}

#[test]
fn a_lookup_of_a_unique_value_costs_one_row_and_every_query_is_named() {
    let design = Design::parse("order:str|customer:str").expect("a key");
    let record = |index: u64| -> Vec<Value<'static>> {
        let customer = crate::mix::mixed(index) % 300;
        vec![format!("O{index:08}").into(), format!("C{customer:04}").into()]
    };
    let records: Vec<_> = (0..2_000).map(record).collect();
    let sample = Sample::of_records(design, &records).expect("a sample");
    let options = AdviceOptions { regions: 8, ..AdviceOptions::default() };
    let best = |queries: &str| {
        let wanted = Wanted::parse(queries).expect("queries");
        let advice = advise(&sample, &wanted, &options).expect("advice");
        (advice.best().queries[0].rows, advice.to_string())
    };
    let (rows, text) = best("order = ?\ncustomer = ?");
    assert_eq!(rows, 1.0, "{text}");
    assert!(text.contains("query:  order = ?\n"), "{text}");
    assert!(text.contains("query:  customer = ?\n"), "{text}");
    // A customer has one of 300 shares of the table.
    let (rows, text) = best("customer = ?");
    assert!((rows / (1e6 / 300.0) - 1.0).abs() < 0.4, "{text}");
}

#[test]
fn limits_exclude_candidates() {
    let wanted = Wanted::parse("ts in 1 %").expect("queries");
    let options = AdviceOptions { scans_max: Some(4), ..AdviceOptions::default() };
    let advice = advise(&logs(500), &wanted, &options).expect("advice");
    assert!(advice.best().queries[0].scans <= 4.0, "{advice}");
    let options = AdviceOptions { key_bytes_max: Some(22), ..AdviceOptions::default() };
    let advice = advise(&logs(500), &wanted, &options).expect("advice");
    assert!(advice.best().key_bytes <= 22.0, "{advice}");
}

#[test]
fn no_design_of_the_front_beats_another() {
    let wanted = Wanted::parse("ts in 1 %").expect("queries");
    let advice = advise(&logs(500), &wanted, &AdviceOptions::default()).expect("advice");
    let front = advice.front();
    assert!(front.len() > 1, "{advice}");
    for pair in front.windows(2) {
        let (one, other) = (pair[0].score, pair[1].score);
        assert!(one.unevenness <= other.unevenness && one.reads >= other.reads, "{advice}");
    }
    let figures = advice.present_figures();
    assert_eq!(figures["writes windowed max/mean"], 16.0, "times grow into one region");
}

/// A salt or a bucket divides an entity. Its share of the writes is not that of one part.
#[test]
fn the_share_of_a_divided_entity_is_that_of_all_writes() {
    let design = Design::parse("bucket(ts, 4)|tenant:str|ts:timestamp").expect("a key");
    let record = |index: u64| -> Vec<Value<'static>> {
        let random = crate::mix::mixed(index);
        let is_acme = random % 100 < 40;
        let tenant =
            if is_acme { "acme".to_owned() } else { format!("tenant{:03}", (random >> 8) % 200) };
        vec![tenant.into(), (1_500_000_000_000 + index).into()]
    };
    let records: Vec<_> = (0..8_000).map(record).collect();
    let sample = Sample::of_records(design, &records).expect("a sample");
    let wanted = Wanted::parse("tenant = ? newest ts limit 20").expect("queries");
    let options = AdviceOptions::default().with_write_weight(0.3);
    let advice = advise(&sample, &wanted, &options).expect("advice");
    let present = advice.present().expect("it is a candidate");
    let hot = present.hot.clone().expect("a hot tenant");
    assert!((hot.share - 0.4).abs() < 0.02, "{hot}");
    assert!((hot.together - 0.1).abs() < 0.01, "{hot}");
    let text = advice.to_string();
    let shares = text.match_indices("\"acme\" has ").map(|(at, found)| &text[at + found.len()..]);
    let shares: Vec<&str> = shares.map(|rest| &rest[..4]).collect();
    assert!(
        !shares.is_empty() && shares.iter().all(|share| ["39 %", "40 %", "41 %"].contains(share)),
        "{text}"
    );
    assert!(text.contains("; the hottest region has "), "{text}");
}

/// The order of the parts in the current key changes nothing about the other designs.
#[test]
fn the_front_does_not_depend_on_the_order_of_the_current_key() {
    // One host is hot: only an event behind it divides it without a salt.
    let value = |name: &str, index: u64| -> Value<'static> {
        let random = crate::mix::mixed(index);
        let host = if random.is_multiple_of(2) { 7 } else { (random >> 8) % 300 };
        match name {
            "host" => format!("host{host:04}").into(),
            "event" => format!("event{:02}", (random >> 32) % 40).into(),
            _ => (1_500_000_000_000 + index).into(),
        }
    };
    let wanted = Wanted::parse("host = ? and ts in 5 %").expect("queries");
    let options = AdviceOptions { regions: 8, ..AdviceOptions::default() };
    let front = |key: &str| {
        let design = Design::parse(key).expect("a key");
        let fields: Vec<&str> = design.fields().iter().map(|field| &*field.name).collect();
        let record = |index| fields.iter().map(|name| value(name, index)).collect::<Vec<_>>();
        let records: Vec<_> = (0..2_000).map(record).collect();
        let sample = Sample::of_records(design.clone(), &records).expect("a sample");
        let advice = advise(&sample, &wanted, &options).expect("advice");
        let front = advice.front();
        front.iter().map(|tradeoff| tradeoff.score.design.to_string()).collect::<Vec<_>>()
    };
    let first = front("ts:timestamp|host:str|event:str");
    assert_eq!(first, front("host:str|event:str|ts:timestamp"));
    assert_eq!(first, front("event:str|ts:timestamp|host:str"));
}

/// A table of more rows has more days, not longer ones.
#[test]
fn a_day_has_the_rows_of_a_day() {
    let design = Design::parse("day:u32|sensor:str|ts:timestamp").expect("a key");
    let record = |index: u64| -> Vec<Value<'static>> {
        let (day, millis) = (index / 2_000, 1_769_817_600_000 + index * 43_200);
        let sensor = format!("sensor{:03}", crate::mix::mixed(index) % 200);
        vec![(20_260_131 + day).into(), sensor.into(), millis.into()]
    };
    let records: Vec<_> = (0..4_000).map(record).collect();
    let sample = Sample::of_records(design, &records).expect("a sample");
    let rows = |queries: &str, options: &AdviceOptions| {
        let wanted = Wanted::parse(queries).expect("queries");
        let advice = advise(&sample, &wanted, options).expect("advice");
        (advice.present().expect("a candidate").queries[0].rows.round(), advice.to_string())
    };
    let options = AdviceOptions::default().with_rows(1_000_000);
    let (read, text) = rows("day = ?", &options);
    assert_eq!(read, 2_000.0, "{text}");
    let period = "period: 4000 records in 48 h; 1000000 rows at this rate in 500 d";
    assert!(text.contains(period), "{text}");
    // Written in a hundred days, they are five times as many a day.
    let hundred = options.clone().with_period_ms(100 * 86_400_000);
    let (read, text) = rows("day = ?", &hundred);
    assert!((read / 10_000.0 - 1.0).abs() < 0.01, "{read}: {text}");
    assert!(text.contains("1000000 rows in 100 d"), "{text}");
    let (read, text) = rows("day = ? and sensor = ?", &options);
    assert!((5.0..20.0).contains(&read), "{read}: {text}");
    // Sensors return.
    let (read, text) = rows("sensor = ?", &options);
    assert_eq!(read, 1_000_000.0, "{text}");
}
