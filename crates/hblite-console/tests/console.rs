//! The console over HTTP: requests from its own page, and requests that other pages might try.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hblite::{ColumnFamilyDescriptor, Connection, Put, TableDescriptor, bytes::from_string_binary};
use hblite_console::{Console, ConsoleOptions, Target};
use hblite_server::{PageServer, ServerOptions, TestServer};
use serde_json::{Value, json};

const SCRIPT: &str = "<script>alert(1)</script><img src=x onerror=alert(2)>";

/// A console of a store in memory, and requests for it.
struct Asked {
    connection: Connection,
    console: Arc<Console>,
    agent: ureq::Agent,
    url: String,
    token: String,
    _server: PageServer,
}

impl Asked {
    fn new() -> Self {
        let connection = hblite::open_in_memory().unwrap();
        create_table(&connection);
        // Windows end when the test says so.
        let options = ConsoleOptions::new().unwrap().with_period(Duration::from_secs(3600));
        Self::of(connection, options)
    }

    /// The console of a store in a directory, whose history is kept at the end.
    fn in_dir(dir: &Path, is_read_only: bool) -> Self {
        let options = hblite::Options::new().with_read_only(is_read_only);
        let connection = options.open(dir).unwrap();
        let options = ConsoleOptions::new().unwrap().with_period(Duration::from_secs(3600));
        Self::of(connection, options.with_keeping(Duration::from_secs(3600)))
    }

    fn of(connection: Connection, options: ConsoleOptions) -> Self {
        let token = options.token.text().to_owned();
        let target = Target::Store("memory".to_owned());
        let console = Arc::new(Console::new(connection.clone(), target, options).unwrap());
        let bind = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let pages: Arc<dyn hblite_server::Pages> = Arc::clone(&console) as _;
        let server = PageServer::start(bind, 0, pages).unwrap();
        let url = format!("http://127.0.0.1:{}/console/", server.port());
        Self { connection, console, agent: agent(), url, token, _server: server }
    }

    /// Ends a window, in which the store's clock advances.
    fn end_window(&self) {
        let begin = self.connection.now_millis();
        while self.connection.now_millis() == begin {
            std::thread::yield_now();
        }
        self.console.record();
    }

    fn put(&self, row: &str) {
        self.table().put(&Put::new(row).add("f", "q", "v")).unwrap();
    }

    /// The writes to the table in all windows of the map.
    fn writes(&self) -> f64 {
        let heat = self.json("heat?table=t&metric=writes");
        let counts = heat["counts"].as_array().unwrap().iter().flat_map(|c| c.as_array().unwrap());
        // Each count is rounded to a thousandth.
        counts.map(|count| count.as_f64().unwrap()).sum::<f64>().round()
    }

    fn close(self) {
        self.console.stop();
        self.connection.close().unwrap();
    }

    fn table(&self) -> hblite::Table {
        self.connection.table("t").unwrap()
    }

    fn get(&self, path: &str) -> (u16, Value) {
        let mut response = self.agent.get(format!("{}api/{path}", self.url)).call().unwrap();
        (response.status().as_u16(), response.body_mut().read_json().unwrap())
    }

    fn json(&self, path: &str) -> Value {
        let (status, answer) = self.get(path);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn post(&self, call: &str, token: &str, body: &Value) -> (u16, Value) {
        let request = self.agent.post(format!("{}api/{call}", self.url));
        let mut response = request.header("X-Hblite-Token", token).send_json(body).unwrap();
        (response.status().as_u16(), response.body_mut().read_json().unwrap())
    }

    fn run(&self, source: &str) -> Value {
        let body = json!({ "id": "1", "source": source });
        let (status, answer) = self.post("run", &self.token, &body);
        assert_eq!(status, 200, "{answer}");
        answer
    }
}

fn create_table(connection: &Connection) {
    let family = ColumnFamilyDescriptor::new("f").with_versions(3);
    let descriptor = TableDescriptor::new("t".parse().unwrap()).with_family(family);
    let splits = [b"row5".to_vec()];
    connection.admin().create_table_with_splits(&descriptor, &splits).unwrap();
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false).proxy(None);
    config.max_redirects(0).build().into()
}

#[test]
fn the_overview_has_rates_of_what_was_recorded() {
    let asked = Asked::new();
    for row in 0..90 {
        asked.table().put(&Put::new(format!("row{row:02}")).add("f", "q", "v")).unwrap();
    }
    // The store's clock advances between the windows.
    let begin = asked.connection.now_millis();
    while asked.connection.now_millis() == begin {
        std::thread::yield_now();
    }
    asked.console.record();
    let overview = asked.json("overview");
    assert_eq!((&overview["mode"], &overview["tables"]), (&json!("store"), &json!(1)));
    assert_eq!(overview["calls"], Value::Null);
    assert!(overview["rates"]["writes"].as_f64() > Some(0.0), "{overview}");
    assert_eq!(overview["series"]["writes"].as_array().unwrap().len(), 1);
    let busiest = &overview["busiest"][0];
    assert_eq!((&busiest["table"], &busiest["end_key"]), (&json!("t"), &json!("row5")));
    let tables = asked.json("tables");
    let table = tables["tables"].as_array().unwrap().iter().find(|table| table["name"] == "t");
    assert_eq!(table.unwrap()["write_requests"], 90);
    let table = asked.json("table?name=t");
    assert_eq!((&table["region_count"], &table["state"]), (&json!(2), &json!("ENABLED")));
    assert_eq!(table["families"][0]["attributes"]["VERSIONS"], "3");
    assert_eq!(table["regions"][1]["start_key"], "row5");
    assert_eq!(asked.get("table?name=none").0, 404);
}

/// Programs ask what was hot, in any time that is kept; pages of other sites do not.
#[test]
fn what_is_hot_is_answered_to_programs() {
    let asked = Asked::new();
    let tick = || {
        let begin = asked.connection.now_millis();
        while asked.connection.now_millis() == begin {
            std::thread::yield_now();
        }
    };
    asked.console.record();
    for row in 0..300 {
        let row = if row % 3 == 0 { format!("row{row:03}") } else { "row700".to_owned() };
        asked.table().put(&Put::new(row).add("f", "q", "v")).unwrap();
    }
    tick();
    asked.console.record();
    let middle = asked.connection.now_millis();
    tick();
    asked.console.record();
    let url = asked.url.replace("/console/", "/hot");
    let hot = |query: &str| -> Value {
        let mut response = asked.agent.get(format!("{url}{query}")).call().unwrap();
        assert_eq!(response.status(), 200, "{query}");
        response.body_mut().read_json().unwrap()
    };
    for query in ["", "?table=t", "?since=1"] {
        let answer = hot(query);
        assert_eq!((&answer["version"], &answer["tables"][0]["writes"]), (&json!(1), &json!(300)));
        let row = &answer["tables"][0]["hottest"]["rows"][0];
        assert_eq!((&row["row"], &row["metric"]), (&json!("row700"), &json!("writes")), "{answer}");
        assert!((row["share"].as_f64().unwrap() - 0.667).abs() < 0.001, "{row}");
    }
    assert_eq!(hot(&format!("?since={middle}"))["tables"], json!([]), "nothing since");
    assert_eq!(hot(&format!("?since={middle}&table=t"))["tables"][0]["writes"], 0);
    let heat = asked.json(&format!("heat?table=t&until={middle}"));
    let windows = heat["windows"].as_array().unwrap();
    assert!(windows.iter().all(|window| window[0].as_i64() < Some(middle)), "{windows:?}");
    let later = asked.json(&format!("heat?table=t&since={middle}"));
    assert_eq!(later["windows"].as_array().unwrap().len(), 1);
    let refused = |request: ureq::RequestBuilder<ureq::typestate::WithoutBody>| {
        request.call().unwrap().status().as_u16()
    };
    assert_eq!(refused(asked.agent.get(format!("{url}?table=none"))), 404);
    assert_eq!(refused(asked.agent.get(format!("{url}?since=2&until=1"))), 400);
    let foreign = asked.agent.get(&url).header("Origin", "http://evil.example");
    assert_eq!(refused(foreign), 403);
    let foreign = asked.agent.get(&url).header("Sec-Fetch-Site", "cross-site");
    assert_eq!(refused(foreign), 403);
}

/// A get of one column reads on a path of its own.
#[test]
fn gets_are_counted_with_and_without_a_column() {
    let asked = Asked::new();
    asked.table().put(&Put::new("row1").add("f", "q", "v")).unwrap();
    let admin = asked.connection.admin();
    let get = hblite::Get::new("row1");
    for get in [get.clone(), get.with_column("f", "q")] {
        let start = admin.row_counts(u64::MAX).unwrap().unwrap().until;
        for _ in 0..100 {
            assert!(!asked.table().get(&get).unwrap().is_empty());
        }
        let counts = admin.row_counts(start).unwrap().unwrap();
        let own = counts.regions.iter().find(|region| region.table.to_string() == "t").unwrap();
        assert_eq!(own.reads.rows, [(b"row1".to_vec(), 100)]);
        assert_eq!(own.writes.requests, 0);
    }
}

#[test]
fn rows_are_paged_in_both_directions() {
    let asked = Asked::new();
    for row in 0..10 {
        let row = [b"row", &[b'0' + row][..], b"\0\xff"].concat();
        asked.table().put(&Put::new(&row).add_at("f", "q", 7, "v")).unwrap();
    }
    for reversed in ["0", "1"] {
        let (mut seen, mut query) = (Vec::new(), String::new());
        loop {
            let page = asked.json(&format!("rows?table=t&limit=3&reversed={reversed}{query}"));
            let rows = page["rows"].as_array().unwrap();
            seen.extend(rows.iter().map(|row| row["row"].as_str().unwrap().to_owned()));
            assert!(rows.len() <= 3);
            let Some(start) = page["next"]["start"].as_str() else { break };
            let start = start.replace('\\', "%5C");
            let after = u8::from(page["next"]["after"] == json!(true));
            query = format!("&start={start}&after={after}");
        }
        let mut expected: Vec<String> = (0..10).map(|row| format!("row{row}\\x00\\xFF")).collect();
        if reversed == "1" {
            expected.reverse();
        }
        assert_eq!(seen, expected);
    }
    let cell = &asked.json("rows?table=t&limit=1")["rows"][0]["cells"][0];
    let expected = json!({
        "family": "f", "qualifier": "q", "timestamp": 7, "length": 1, "value": "dg==",
    });
    assert_eq!(*cell, expected);
}

#[test]
fn rows_are_chosen_by_prefix_columns_versions_and_filter() {
    let asked = Asked::new();
    let table = asked.table();
    for version in 1..=4 {
        let put = Put::new("a1").add_at("f", "q", version, format!("v{version}"));
        table.put(&put.add_at("f", "other", version, "x")).unwrap();
    }
    table.put(&Put::new("b1").add("f", "q", "w")).unwrap();
    let count = |query: &str| {
        let page = asked.json(&format!("rows?table=t&{query}"));
        let rows = page["rows"].as_array().unwrap().clone();
        let cells = rows.iter().map(|row| row["cells"].as_array().unwrap().len()).sum::<usize>();
        (rows.len(), cells)
    };
    assert_eq!(count(""), (2, 3));
    assert_eq!(count("prefix=a"), (1, 2));
    assert_eq!(count("prefix=a&reversed=1"), (1, 2));
    assert_eq!(count("columns=f:q&versions=2"), (2, 3));
    assert_eq!(count("columns=f&versions=9"), (2, 7));
    assert_eq!(count("stop=b"), (1, 2));
    assert_eq!(count("filter=ValueFilter(%3D,'binary:w')"), (1, 1));
    for (query, reason) in [
        ("table=t&filter=Nope(", "the filter is not valid"),
        ("table=t&limit=0", "limit is a number from 1 to 500"),
        ("table=t&limit=many", "limit is a number"),
        ("table=t&columns=none", "none"),
        ("table=none", "none"),
        ("", "the parameter table is missing"),
    ] {
        let (status, answer) = asked.get(&format!("rows?{query}"));
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(status == 400 && error.contains(reason), "{query}: {status} {answer}");
    }
}

#[test]
fn a_page_stays_small_whatever_is_stored() {
    let asked = Asked::new();
    let mut wide = Put::new("wide");
    for column in 0..3_000 {
        wide = wide.add("f", format!("q{column:05}"), "v");
    }
    asked.table().put(&wide).unwrap();
    for row in 0..600 {
        let put = Put::new(format!("x{row:03}")).add("f", "q", vec![b'x'; 64 * 1024]);
        asked.table().put(&put).unwrap();
    }
    let page = asked.json("rows?table=t&limit=500");
    assert_eq!(page["rows"][0]["cells"].as_array().unwrap().len(), 200);
    assert_eq!(page["rows"][0]["more_cells"], true);
    let value = &page["rows"][1]["cells"][0];
    assert_eq!(value["length"], 64 * 1024);
    assert_eq!(value["value"].as_str().unwrap().len(), 4096usize.div_ceil(3) * 4);
    let count = page["rows"].as_array().unwrap().len();
    assert!(count < 500 && page["next"]["after"] == true, "{count} rows");
    assert!(page.to_string().len() < hblite_server::PAGE_SIZE_MAX_BYTES);
}

#[test]
fn stored_markup_stays_data() {
    let asked = Asked::new();
    let put = Put::new(SCRIPT).add("f", SCRIPT, SCRIPT);
    asked.table().put(&put).unwrap();
    let page = asked.json("rows?table=t");
    assert_eq!(from_string_binary(page["rows"][0]["row"].as_str().unwrap()), SCRIPT.as_bytes());
    for path in ["", "api/rows?table=t", "api/nothing", "app.js", "%3Cscript%3E"] {
        let response = asked.agent.get(format!("{}{path}", asked.url)).call().unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        assert!(policy.contains("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        if path.starts_with("api/") {
            assert_eq!(header("content-type"), "application/json");
        }
    }
}

#[test]
fn pages_of_other_sites_get_nothing() {
    let asked = Asked::new();
    let status = |name: &str, value: &str| {
        let request = asked.agent.get(format!("{}api/rows?table=t", asked.url));
        request.header(name, value).call().unwrap().status().as_u16()
    };
    assert_eq!(status("Accept", "*/*"), 200);
    assert_eq!(status("Host", "evil.example"), 403);
    assert_eq!(status("Origin", "http://evil.example"), 403);
    assert_eq!(status("Origin", "null"), 403);
    assert_eq!(status("Sec-Fetch-Site", "cross-site"), 403);
    let deleted = asked.agent.delete(format!("{}api/rows", asked.url)).call().unwrap();
    assert_eq!(deleted.status(), 405);
}

#[test]
fn commands_need_the_token() {
    let asked = Asked::new();
    let body = json!({ "id": "1", "source": "put 't', 'r', 'f:q', 'v'" });
    for token in ["", "00000000000000000000000000000000", &asked.token[1..]] {
        assert_eq!(asked.post("run", token, &body).0, 401);
    }
    assert!(asked.table().get(&hblite::Get::new("r")).unwrap().is_empty());
    let answer = asked.run("put 't', 'r', 'f:q', 'v'\nget 't', 'r'");
    assert_eq!(answer["outcome"], "done");
    assert!(answer["output"].as_str().unwrap().contains("value=v"), "{answer}");
    assert_eq!(asked.run("scan 'none'")["outcome"], "failed");
    assert_eq!(asked.run("scan 't', {LIMIT => ")["outcome"], "incomplete");
    // A form on another page can send text, but cannot set headers.
    let plain = asked.agent.post(format!("{}api/run", asked.url));
    let plain = plain.header("X-Hblite-Token", &asked.token).send(body.to_string()).unwrap();
    assert_eq!(plain.status(), 415);
    assert_eq!(asked.post("run", &asked.token, &json!({ "source": "list" })).0, 400);
    assert_eq!(asked.post("nothing", &asked.token, &body).0, 404);
}

#[test]
fn output_is_cut_and_commands_are_stopped() {
    let asked = Asked::new();
    let rows: Vec<Put> = (0..20_000)
        .map(|row| Put::new(format!("{row:06}")).add("f", "q", "a value of some length"))
        .collect();
    asked.table().put_all(&rows).unwrap();
    let answer = asked.run("scan 't'");
    assert_eq!(answer["is_truncated"], true);
    assert_eq!(answer["output"].as_str().unwrap().len(), 256 * 1024);

    let begin = Instant::now();
    std::thread::scope(|scope| {
        let sleeping = scope.spawn(|| asked.run("sleep 50"));
        loop {
            let (_, answer) = asked.post("stop", &asked.token, &json!({ "id": "1" }));
            if answer["was_running"] == true {
                break;
            }
        }
        let answer = sleeping.join().unwrap();
        assert_eq!((&answer["is_stopped"], &answer["is_late"]), (&json!(true), &json!(false)));
    });
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn the_port_of_a_server_has_the_console() {
    let server = TestServer::start_with(hblite::Options::new(), ServerOptions::on_free_ports());
    let server = server.unwrap();
    let root = format!("http://127.0.0.1:{}/", server.ports().http.unwrap());
    let agent = agent();
    let status = |path: &str| {
        let response = agent.get(format!("{root}{path}")).header("Accept", "text/html").call();
        response.unwrap().status().as_u16()
    };
    assert_eq!((status(""), status("console/")), (200, 404), "nothing is attached");
    let options = ConsoleOptions::new().unwrap();
    let target = Target::Server(server.server().view().clone());
    let console = Console::new(server.connection().clone(), target, options).unwrap();
    server.server().attach_pages(Arc::new(console));
    assert_eq!((status(""), status("console"), status("console/")), (303, 303, 200));
    assert_eq!((status("health"), status("console/none"), status("consoles")), (200, 404, 404));
    let mut response = agent.get(format!("{root}console/api/overview")).call().unwrap();
    let overview: Value = response.body_mut().read_json().unwrap();
    assert_eq!(overview["mode"], "server");
    assert_eq!(overview["servers"].as_array().unwrap().len(), 1);
    assert_eq!(overview["calls"]["slow"], json!([]));
}

/// Two times of a load that moves: each range has what was written to it, by the test's own count.
#[test]
fn two_times_are_compared_and_saved_as_a_report() {
    let asked = Asked::new();
    asked.end_window();
    let mut written: [Vec<String>; 2] = Default::default();
    let mut times = Vec::new();
    for (time, rows) in written.iter_mut().enumerate() {
        let begin = asked.connection.now_millis();
        for window in 0..3 {
            for put in 0..200 {
                let row = match time {
                    0 => format!("row{}{put:03}", put % 10),
                    _ if put % 4 == 0 => format!("row1{window}{put:03}"),
                    _ => "row777".to_owned(),
                };
                asked.put(&row);
                rows.push(row);
            }
            asked.end_window();
        }
        times.push((begin, asked.connection.now_millis()));
        asked.end_window();
    }
    let [(base_since, base_until), (since, until)] = times[..] else { unreachable!() };
    let both = format!(
        "table=t&metric=writes&since={since}&until={until}&base_since={base_since}\
         &base_until={base_until}"
    );
    let answer = asked.json(&format!("compare?{both}&rows=2"));
    let of_region = |time: usize, region: usize| {
        let is_upper = |row: &&String| (row.as_str() >= "row5") == (region == 1);
        written[time].iter().filter(is_upper).count() as f64
    };
    for region in 0..2 {
        let range = &answer["ranges"][region];
        let expected = [of_region(0, region), of_region(1, region)];
        assert_eq!(range["requests"], json!(expected), "{answer}");
        for (place, part) in ["base", "now"].into_iter().enumerate() {
            let rate = expected[place] / answer[part]["seconds"].as_f64().unwrap();
            let answered = range["rates"][place].as_f64().unwrap();
            assert!((rate - answered).abs() < 1e-6 * rate.max(1.0), "{rate} {answered}");
        }
    }
    assert_eq!(
        (&answer["base"]["requests"], &answer["now"]["requests"]),
        (&json!(600.0), &json!(600.0))
    );
    let texts = |part: &str| answer[part]["findings"].to_string();
    assert!(texts("now").contains("row777") && !texts("base").contains("row777"), "{answer}");
    // The report has both, each with its own windows and sums.
    let page = |query: &str| {
        let mut response =
            asked.agent.get(format!("{}api/report?{query}", asked.url)).call().unwrap();
        let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
        (response.status().as_u16(), kind, response.body_mut().read_to_string().unwrap())
    };
    let (status, kind, text) = page(&both);
    assert_eq!((status, kind.as_str()), (200, "text/html; charset=utf-8"));
    assert!(text.contains("What was hot") && text.contains("row777"));
    assert_eq!(text.matches("600 writes").count(), 2, "{text}");
    assert_eq!(
        page(&format!("table=t&since={since}&until={until}")).2.matches("600 writes").count(),
        1
    );
    for refused in ["table=t", "table=t&since=1&until=2", "table=none&since=1"] {
        assert!(page(refused).0 >= 400, "{refused}");
    }
    assert_eq!(
        asked.get(&format!("compare?table=t&since={since}")).0,
        400,
        "nothing to compare with"
    );
    let foreign = asked.agent.get(format!("{}api/report?{both}", asked.url));
    assert_eq!(foreign.header("Origin", "http://evil.example").call().unwrap().status(), 403);
}

#[test]
fn the_history_of_a_directory_survives_a_restart() {
    let place = tempfile::tempdir().unwrap();
    let (dir, file) = (place.path().join("store"), place.path().join("store/hblite.history"));
    let connection = hblite::open(&dir).unwrap();
    create_table(&connection);
    connection.close().unwrap();
    for run in 1..=3_u32 {
        let asked = Asked::in_dir(&dir, false);
        assert_eq!(asked.console.history_problem(), None);
        for put in 0..50 {
            asked.put(&format!("row{run}{put}"));
        }
        // The last writes are in the window that the end ends.
        if run < 3 {
            asked.end_window();
            assert_eq!(asked.writes(), f64::from(run * 50));
        }
        asked.close();
    }
    // A reader sees it and does not write; nothing has happened since.
    let before = std::fs::read(&file).unwrap();
    let reader = Asked::in_dir(&dir, true);
    assert_eq!(reader.writes(), 150.0);
    reader.close();
    assert_eq!(std::fs::read(&file).unwrap(), before);
    // A damaged one is named, ignored and replaced.
    std::fs::write(&file, &before[..before.len() / 2]).unwrap();
    let asked = Asked::in_dir(&dir, false);
    let problem = asked.console.history_problem().unwrap();
    assert!(problem.contains("hblite.history") && problem.contains("checksum"), "{problem}");
    assert_eq!(asked.json("overview")["history_problem"], problem);
    asked.put("row1");
    asked.end_window();
    assert_eq!(asked.writes(), 1.0);
    asked.close();
    let asked = Asked::in_dir(&dir, false);
    assert_eq!((asked.writes(), asked.console.history_problem()), (1.0, None));
}

/// What is in the directory at a moment is what a kill then leaves: the history up to the end of
/// the last interval.
#[test]
fn a_kill_loses_at_most_an_interval() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("store");
    let connection = hblite::open(&dir).unwrap();
    create_table(&connection);
    let (period, every) = (Duration::from_millis(5), Duration::from_millis(20));
    let options = ConsoleOptions::new().unwrap().with_period(period).with_keeping(every);
    let asked = Asked::of(connection, options);
    (0..100).for_each(|put| asked.put(&format!("row{put}")));
    let deadline = Instant::now() + Duration::from_secs(60);
    while Asked::in_dir(&dir, true).writes() != 100.0 {
        assert!(Instant::now() < deadline, "the history was not kept");
        std::thread::yield_now();
    }
    assert_eq!(asked.console.history_problem(), None);
}
