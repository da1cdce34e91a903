//! Predictions against an independent calculation: a second simulation in a few lines, without
//! queues or heaps, and keys put together by hand.

use super::*;
use crate::simulate::Kind;

const MICROS: f64 = 1e3;

/// A calibration without any spread: puts and gets alike.
fn calibration(servers: usize, alone_us: f64, one: f64, all: f64) -> Calibration {
    let observed = Observed { alone_us: vec![alone_us; 9], one_server: one, all_servers: all };
    let round = Round { write: observed.clone(), read: observed };
    Calibration::new(servers, (16, 48), 100, vec![round; 3])
}

fn request(at_ms: i64, row: impl AsRef<[u8]>) -> RecordedRequest {
    RecordedRequest { at_ms, kind: Kind::Write, row: row.as_ref().to_vec() }
}

fn design(text: &str) -> Design {
    Design::parse(text).expect("a design")
}

fn choice(text: &str) -> KeyChoice {
    KeyChoice { name: text.to_owned(), design: Some(design(text)) }
}

fn recorded() -> KeyChoice {
    KeyChoice { name: "recorded".to_owned(), design: None }
}

/// Rows of a design over the growing number `ts` and one of seven hosts.
fn growing(count: u64) -> RecordedLoad {
    let key = design("ts:u64|host:str(2)");
    let row = |ts: u64| [&ts.to_be_bytes()[..], format!("h{}", ts * 5 % 7).as_bytes()].concat();
    let requests = (0..count).map(|ts| request(1_000 + 4 * ts as i64, row(ts))).collect();
    RecordedLoad::new(requests, 10, Some(&key)).expect("a load")
}

fn predicted(load: &RecordedLoad, choice: &KeyChoice, servers: &Servers) -> Prediction {
    let key = design("ts:u64|host:str(2)");
    let options = PredictOptions::default().with_clients(12);
    predict(load, Some(&key), choice, servers, &options, None).expect("a prediction")
}

/// What 12 clients see: throughput a second and the 99th percentile in microseconds. `calls` have
/// times in microseconds, or none if they are sent at once, and a server.
struct Plain {
    handlers: usize,
    service_us: f64,
    shared_us: f64,
    outside_us: f64,
}

impl Plain {
    fn run(&self, calls: &[(Option<f64>, usize)]) -> (f64, f64) {
        let least = |times: &[f64]| {
            (0..times.len()).min_by(|a, b| times[*a].total_cmp(&times[*b])).expect("some")
        };
        let mut clients = vec![0.0; 12];
        let mut handlers = vec![vec![0.0; self.handlers]; 3];
        let (mut shared, mut took, mut last) = (0.0_f64, Vec::new(), 0.0_f64);
        for (due, server) in calls {
            let client = least(&clients);
            let sent = due.unwrap_or(0.0).max(clients[client]);
            shared = shared.max(sent) + self.shared_us;
            let handler = least(&handlers[*server]);
            let end = shared.max(handlers[*server][handler]) + self.service_us;
            handlers[*server][handler] = end;
            clients[client] = end + self.outside_us;
            took.push(clients[client] - due.unwrap_or(sent));
            last = last.max(clients[client]);
        }
        took.sort_by(f64::total_cmp);
        (calls.len() as f64 / last * 1e6, took[(took.len() * 99).div_ceil(100) - 1])
    }
}

fn close(found: f64, expected: f64, what: &str) {
    // Latencies are kept to three digits.
    assert!((found / expected - 1.0).abs() < 0.002, "{what}: {found} instead of {expected}");
}

#[test]
fn figures_are_those_of_a_second_simulation() {
    let load = growing(3_000);
    // (alone, one server, all servers) and what follows by hand.
    let cases = [
        ((5_000.0, 400.0, 1_200.0), (2, 5_000.0, 0.0, 0.0)),
        ((6_000.0, 400.0, 1_190.0), (2, 5_000.0, 0.0, 1_000.0)),
        // Shared: a call takes 1/500 s of it, so 4 ms of the 6 are left for a server and the rest.
        ((6_000.0, 400.0, 500.0), (1, 2_500.0, 2_000.0, 1_500.0)),
    ];
    for ((alone, one, all), (handlers, service_us, shared_us, outside_us)) in cases {
        let servers = Servers::Calibrated(calibration(3, alone, one, all));
        let plain = Plain { handlers, service_us, shared_us, outside_us };
        // Recorded, thirds of the time go to one server after the other. In buckets, each goes to
        // the server of its remainder.
        let third = |ts: u64| (ts / 1_000) as usize;
        let remainder = |ts: u64| (ts % 3) as usize;
        let of: [(KeyChoice, &dyn Fn(u64) -> usize); 2] =
            [(recorded(), &third), (choice("bucket(ts, 3)|ts:u64"), &remainder)];
        for (choice, server) in of {
            let prediction = predicted(&load, &choice, &servers);
            let name = format!("{} {alone} {all}", choice.name);
            let at_once: Vec<_> = (0..3_000).map(|ts| (None, server(ts))).collect();
            close(prediction.throughput.predicted, plain.run(&at_once).0, &name);
            let due = |ts: u64| Some(ts as f64 * 4_000.0);
            let paced: Vec<_> = (0..3_000).map(|ts| (due(ts), server(ts))).collect();
            close(prediction.p99_ns.predicted / MICROS, plain.run(&paced).1, &name);
            assert_eq!((prediction.requests, prediction.calls), (3_000, 3_000));
            let (low, high) = prediction.throughput.interval.expect("an interval");
            // Without spread the interval is that of the model's error.
            let of = if shared_us > 0.0 { Widening::SHARED } else { Widening::OWN };
            let (down, up) = of.throughput;
            close(low * down, prediction.throughput.predicted, "the low end");
            close(high / up, prediction.throughput.predicted, "the high end");
        }
    }
}

/// The bound that every method must agree with: a hot region has one server's throughput.
#[test]
fn a_hot_server_is_the_limit() {
    let load = growing(3_000);
    let servers = Servers::Calibrated(calibration(3, 5_000.0, 400.0, 1_200.0));
    let prediction = predicted(&load, &recorded(), &servers);
    let found = prediction.throughput.predicted;
    // Between two servers, calls of both are under way.
    assert!((400.0..410.0).contains(&found), "{found}");
    let spread = predicted(&load, &choice("bucket(ts, 3)|ts:u64"), &servers).throughput.predicted;
    assert!((1_190.0..=1_200.0).contains(&spread), "{spread}");
}

#[test]
fn without_a_calibration_there_is_no_interval() {
    let servers = Servers::Given(ServiceTime::Constant(1_000_000), 1);
    let prediction = predicted(&growing(300), &recorded(), &servers);
    assert_eq!((prediction.throughput.interval, prediction.p99_ns.interval), (None, None));
    close(prediction.p99_ns.predicted, 1e6, "p99");
}

#[test]
fn the_spread_of_rounds_is_that_of_the_interval() {
    let mut calibration = calibration(3, 5_000.0, 400.0, 1_200.0);
    calibration.rounds[1].write.one_server = 300.0;
    let load = growing(3_000);
    let prediction = predicted(&load, &recorded(), &Servers::Calibrated(calibration.clone()));
    let (low, high) = prediction.throughput.interval.expect("an interval");
    let (down, up) = Widening::OWN.throughput;
    // Of three rounds, three are drawn: the slow one never or always at the extremes.
    assert!(low * down < 340.0 && high / up > 395.0, "{low} {high}");
    let again = predicted(&load, &recorded(), &Servers::Calibrated(calibration));
    assert_eq!(again, prediction);
}

#[test]
fn a_get_under_a_random_salt_asks_each() {
    let key = design("ts:u64|host:str(2)");
    let row = |ts: u64| [&ts.to_be_bytes()[..], b"h1"].concat();
    let read = RecordedRequest { kind: Kind::Read, ..request(0, row(7)) };
    let load = RecordedLoad::new(vec![read, request(1, row(8))], 1, Some(&key)).expect("a load");
    let servers = Servers::Given(ServiceTime::Constant(1_000), 1);
    let prediction = predicted(&load, &choice("salt(3)|ts:u64|host:str(2)"), &servers);
    assert_eq!((prediction.requests, prediction.calls), (2, 4));
    assert_eq!(prediction.splits.len(), 2);
}

#[test]
fn rows_that_do_not_fit_are_counted_or_refused() {
    let key = design("ts:u64|host:str");
    let row = |host: &str| [&7_u64.to_be_bytes()[..], host.as_bytes()].concat();
    let rows = vec![request(0, row("a")), request(1, row("abc")), request(2, b"short")];
    let load = RecordedLoad::new(rows, 1, Some(&key)).expect("a load");
    assert_eq!((load.len(), load.undecoded), (2, 1));
    let options = PredictOptions::default();
    let servers = Servers::Given(ServiceTime::Constant(1_000), 1);
    let predict = |text: &str| {
        let choice = KeyChoice { name: "x".to_owned(), design: Some(design(text)) };
        predict(&load, Some(&key), &choice, &servers, &options, None)
    };
    let prediction = predict("host:str(2)|ts:u64").expect("one row fits");
    assert_eq!((prediction.requests, prediction.left_out), (1, 1));
    let error = predict("host:u64|ts:u64").expect_err("none fits").to_string();
    assert!(error.starts_with("no recorded row fits it"), "{error}");
    let error = predict("city:str|ts:u64").expect_err("no such field").to_string();
    assert_eq!(error, "the recorded key has no field city, only ts, host");

    let refused = |rows, key| RecordedLoad::new(rows, 1, key).expect_err("no load").to_string();
    assert_eq!(refused(vec![], None), "there are no gets, puts or deletes to predict");
    let error = refused(vec![request(0, b"short")], Some(&key));
    assert!(error.starts_with("none of the 1 rows is a key of the design ts:"), "{error}");
    let ages = vec![request(i64::MIN, b"a"), request(i64::MAX, b"b")];
    assert!(refused(ages, None).contains("more than 30 days apart"));
}

#[test]
fn a_calibration_is_read_as_it_was_written() {
    let calibration = calibration(3, 5_000.5, 400.25, 1_200.0);
    assert_eq!(Calibration::parse(&calibration.to_text()), Ok(calibration));
}

#[test]
fn a_wrong_calibration_is_refused_with_the_field() {
    let good = calibration(3, 5_000.0, 400.0, 1_200.0).to_text();
    for (from, to, reason) in [
        ("\"hblite-calibration\": 1", "\"hblite-calibration\": 2", "hblite-calibration is 2"),
        ("\"hblite-calibration\": 1", "\"x\": 1", "missing field `hblite-calibration`"),
        ("\"servers\": 3", "\"servers\": 0", "servers is 0, and not 1 to 10000"),
        ("\"servers\": 3", "\"servers\": -1", "invalid value: integer `-1`"),
        ("\"servers\": 3", "\"server\": 3", "unknown field `server`"),
        ("\"clients_of_one\": 16", "\"clients_of_one\": 100000", "clients_of_one is 100000"),
        ("\"one_server\": 400.0", "\"one_server\": 0", "rounds[0].write.one_server is 0"),
        ("\"one_server\": 400.0", "\"one_server\": 1e300", "rounds[0].write.one_server is 1"),
        ("\"one_server\": 400.0", "\"one_server\": 1e999", "number out of range"),
        ("\"all_servers\": 1200.0", "\"all_servers\": \"x\"", "invalid type: string \"x\""),
        ("5000.0", "-5000.0", "rounds[0].write.alone_us[0] is -5000"),
        ("}\n", "", "EOF while parsing"),
    ] {
        assert!(good.contains(from), "{from}");
        let text = match to {
            "" => good[..good.len() / 2].to_owned(),
            to => good.replacen(from, to, 1),
        };
        let error = Calibration::parse(&text).expect_err(to).to_string();
        assert!(error.contains(reason), "{to}: {error}");
    }
    let empty = Calibration::new(3, (1, 3), 0, Vec::new()).to_text();
    let error = Calibration::parse(&empty).expect_err("no rounds").to_string();
    assert!(error.contains("the number of rounds is 0"), "{error}");
}

/// The least and the greatest that the file may say do not overflow or take memory.
#[test]
fn extreme_calibrations_are_predicted() {
    let load = growing(50);
    for (alone, one, all) in [(1e9, 1e9, 1e9), (1e-3, 1e-3, 1e-3), (1e9, 1e-3, 1e9)] {
        let calibration = calibration(1, alone, one, all);
        assert_eq!(Calibration::parse(&calibration.to_text()), Ok(calibration.clone()));
        let servers = Servers::Calibrated(calibration);
        let prediction = predicted(&load, &recorded(), &servers);
        assert!(prediction.throughput.predicted.is_finite());
    }
}

#[test]
fn absurd_settings_are_refused() {
    let good = PredictOptions::default();
    for (options, reason) in [
        (good.clone().with_servers(0), "--servers is 1 to 10000"),
        (good.clone().with_regions(0), "--regions is 1 to 100000"),
        (good.clone().with_clients(0), "--clients is 1 to 10000"),
        (good.clone().with_pace(0.0), "--pace is 0.001 to 1000"),
        (good.clone().with_pace(f64::NAN), "--pace is 0.001 to 1000"),
        (good.clone().with_splits(Splits::Growing), "a recording has no table that grows"),
        (good.with_split_keys(vec![b"b".to_vec(), b"a".to_vec()]), "split keys ascend"),
    ] {
        let error = options.check().expect_err(reason).to_string();
        assert!(error.starts_with(reason), "{error}");
    }
}
