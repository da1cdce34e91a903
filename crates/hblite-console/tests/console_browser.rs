//! The console in a real browser: Chromium, driven through chromedriver.
//!
//! `tools/console-browser/run` installs what is missing and runs this. The test reports that it is
//! skipped if `HBLITE_CHROMEDRIVER` does not name a chromedriver. Screenshots go to the directory
//! that `HBLITE_SCREENSHOTS` names.

#[allow(dead_code, reason = "the test of the heat map's page uses the rest")]
#[path = "../../hblite-hotspot/tests/driver/mod.rs"]
mod driver;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use driver::{Browser, Done, Wanted, expect};
use hblite::{ColumnFamilyDescriptor, Get, ManualClock, Options, Put, TableDescriptor};
use hblite_console::{Console, ConsoleOptions, Target};
use hblite_server::{ServerOptions, TestServer};
use serde_json::{Value, json};

const MARKUP: &str = "<script>alert(1)</script><img src=x onerror=alert(2)><b>bold</b>";
const WIDTHS: [(u32, &str); 2] = [(1400, "wide"), (400, "narrow")];
const ENTER: &str = "\u{E007}";
const TAB: &str = "\u{E004}";
const ESCAPE: &str = "\u{E00C}";
const DOWN: &str = "\u{E015}";
const UP: &str = "\u{E013}";
const SPACE: &str = " ";
/// More presses of Tab than any page has controls.
const STOPS_MAX: usize = 400;
/// 2026-01-01 00:00 UTC.
const START_MS: i64 = 1_767_225_600_000;

fn main() -> Done {
    let Some(wanted) = Wanted::from_environment("tools/console-browser/run") else { return Ok(()) };
    let screenshots = wanted.screenshots.as_deref();
    let shown = Shown::start()?;
    let browser = Browser::start(&wanted.driver)?;
    every_page_fits_and_complains_of_nothing(&browser, &shown, screenshots)?;
    markup_is_shown_and_not_interpreted(&browser, &shown)?;
    tables_are_sorted_by_keys(&browser, &shown)?;
    every_control_is_reached_by_tab(&browser, &shown)?;
    the_focus_survives_updates(&browser, &shown)?;
    rows_are_found_by_the_form(&browser, &shown)?;
    the_map_is_walked_through_and_zoomed_by_keys(&browser, &shown)?;
    two_times_are_compared(&browser, &shown, screenshots)?;
    views_are_saved_as_they_are_shown(&browser, &shown)?;
    commands_run_with_the_token_only(&browser, &shown)?;
    println!("the console was checked in a browser: everything as expected");
    Ok(())
}

/// A server with tables and an hour of load.
struct Shown {
    server: TestServer,
    console: Arc<Console>,
    url: String,
    token: String,
}

impl Shown {
    fn start() -> Done<Self> {
        let clock = Arc::new(ManualClock::new(START_MS));
        let options = ServerOptions::on_free_ports().with_region_servers(3);
        let server = TestServer::start_with(Options::new().with_clock(clock.clone()), options)?;
        let period = Duration::from_secs(24 * 3600);
        let options = ConsoleOptions::new()?.with_period(period);
        let token = options.token.text().to_owned();
        let target = Target::Server(server.server().view().clone());
        let console = Arc::new(Console::new(server.connection().clone(), target, options)?);
        server.server().attach_pages(Arc::clone(&console) as _);
        let port = server.ports().http.ok_or("there is no HTTP port")?;
        let url = format!("http://127.0.0.1:{port}/console/");
        let shown = Self { server, console, url, token };
        shown.create_tables()?;
        shown.load(&clock)?;
        Ok(shown)
    }

    fn create_tables(&self) -> Done {
        let admin = self.server.connection().admin();
        let splits = |keys: &[&str]| keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        let users = TableDescriptor::new("users".parse()?)
            .with_family(ColumnFamilyDescriptor::new("info").with_versions(3))
            .with_family(
                ColumnFamilyDescriptor::new("log").with_time_to_live(Duration::from_secs(86_400)),
            );
        let keys: Vec<Vec<u8>> = splits(&["g", "n", "t"]);
        admin.create_table_with_splits(&users, &keys)?;
        let events =
            TableDescriptor::new("events".parse()?).with_family(ColumnFamilyDescriptor::new("e"));
        let keys: Vec<Vec<u8>> = splits(&["host3", "host6"]);
        admin.create_table_with_splits(&events, &keys)?;
        let empty = TableDescriptor::new("empty".parse()?);
        admin.create_table(&empty.with_family(ColumnFamilyDescriptor::new("f")))?;
        let table = self.server.connection().table("users")?;
        for (index, name) in NAMES.iter().enumerate() {
            let profile = format!("{{\"age\": {}, \"langs\": [\"en\", \"de\"]}}", 20 + index);
            let visits = (index as i64 * 97).to_be_bytes();
            let put = Put::new(name).add("info", "name", format!("{name} Example"));
            table.put(&put.add("info", "profile", profile).add("log", "visits", visits))?;
        }
        table.put(&Put::new(MARKUP).add("info", MARKUP, MARKUP))?;
        Ok(())
    }

    /// Events of hosts, one of which is hot for a while, and reads of a popular user.
    fn load(&self, clock: &ManualClock) -> Done {
        let connection = self.server.connection();
        let (events, users) = (connection.table("events")?, connection.table("users")?);
        for window in 0..120u32 {
            let puts = (0..40u32).map(|event| {
                let is_hot = window > 70 && event % 4 != 0;
                let host = if is_hot { 7 } else { (window + event * 7) % 9 };
                Put::new(format!("host{host}-{:05}", window * 40 + event)).add("e", "v", "x")
            });
            events.put_all(&puts.collect::<Vec<_>>())?;
            for read in 0..(10 + window % 20) {
                let name = if read % 2 == 0 { "mona" } else { NAMES[read as usize % NAMES.len()] };
                users.get(&Get::new(name))?;
            }
            clock.advance(5_000);
            self.console.record();
        }
        Ok(())
    }

    fn open(&self, browser: &Browser, page: &str, hash: &str) -> Done {
        browser.visit("about:blank")?;
        browser.visit(&format!("{}{hash}", self.url))?;
        browser.wait_for(&format!("document.documentElement.dataset.page === '{page}'"))
    }
}

const NAMES: [&str; 16] = [
    "ada", "bob", "carla", "dmitri", "elif", "frank", "grace", "hana", "ivan", "jun", "kofi",
    "lena", "mona", "nils", "olga", "pedro",
];

fn every_page_fits_and_complains_of_nothing(
    browser: &Browser,
    shown: &Shown,
    screenshots: Option<&Path>,
) -> Done {
    shown.open(browser, "overview", &format!("#token={}", shown.token))?;
    let hash = browser.ask("return location.hash")?;
    expect(hash == json!("#/overview"), &format!("the token stays in the address: {hash}"))?;
    let pages = [
        ("overview", "overview", "#/overview"),
        ("tables", "tables", "#/tables"),
        ("table", "table", "#/table?name=users"),
        ("rows", "rows", "#/rows?table=users"),
        ("no-rows", "rows", "#/rows?table=empty"),
        ("wrong-filter", "rows", "#/rows?table=users&versions=2&filter=PrefixFilter('c')"),
        ("heat", "heat", "#/heat?table=events"),
        ("heat-reads", "heat", "#/heat?table=users"),
        ("prompt", "prompt", "#/prompt"),
    ];
    for (width, size) in WIDTHS {
        browser.resize(width, 1000)?;
        for theme in ["light", "dark"] {
            browser.ask(&format!("localStorage.setItem('hblite-theme', '{theme}')"))?;
            for (name, page, hash) in pages {
                shown.open(browser, page, hash)?;
                if page == "heat" {
                    browser.wait_for("document.documentElement.dataset.drawn !== undefined")?;
                }
                let wide = browser.ask("return document.documentElement.scrollWidth")?;
                let fits = wide.as_u64() <= Some(u64::from(width));
                expect(fits, &format!("{name} at {width} px is {wide} px wide"))?;
                browser.complains_of_nothing(name)?;
                if let Some(dir) = screenshots {
                    std::fs::create_dir_all(dir)?;
                    let file = dir.join(format!("{name}-{size}-{theme}.png"));
                    std::fs::write(file, browser.screenshot()?)?;
                }
            }
        }
    }
    browser.resize(1400, 1000)
}

fn markup_is_shown_and_not_interpreted(browser: &Browser, shown: &Shown) -> Done {
    for (page, hash) in [
        ("rows", "#/rows?table=users&limit=3".to_owned()),
        ("rows", format!("#/rows?table=users&decode=text&prefix={}", "%3Cscript")),
        ("rows", format!("#/rows?table={}", "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")),
        ("heat", format!("#/heat?table=users&from={}", "%3Cimg%20src%3Dx%3E")),
    ] {
        shown.open(browser, page, &hash)?;
        let count = "return document.querySelectorAll('main img, main script, main b b').length";
        expect(browser.ask(count)? == json!(0), &format!("{hash}: markup became elements"))?;
    }
    shown.open(browser, "rows", "#/rows?table=users&limit=3")?;
    let text = browser.ask("return document.querySelector('main').textContent")?;
    let text = text.as_str().unwrap_or_default();
    expect(text.matches(MARKUP).count() == 3, &format!("row, column and value are shown: {text}"))?;
    // A table that does not exist was requested, which the browser reports.
    browser.problems().map(drop)
}

fn tables_are_sorted_by_keys(browser: &Browser, shown: &Shown) -> Done {
    shown.open(browser, "tables", "#/tables")?;
    let first = "return document.querySelector('tbody a').textContent";
    let before = browser.ask(first)?;
    browser.ask("document.querySelector('[data-key=tables-0]').focus()")?;
    browser.key(ENTER)?;
    browser.key(ENTER)?;
    let after = browser.ask(first)?;
    let is_sorted = (before, after) == (json!("empty"), json!("users"));
    expect(is_sorted, "a header sorts, and keeps the focus")?;
    let sorted = browser.ask("return document.querySelector('th').getAttribute('aria-sort')")?;
    expect(sorted == json!("descending"), &format!("the order is said: {sorted}"))?;
    // From the top of a page, the first press of Tab reaches the link to its content.
    shown.open(browser, "tables", "#/tables")?;
    browser.key(TAB)?;
    let focused = browser.ask("return document.activeElement.textContent")?;
    expect(focused == json!("Skip to content"), &format!("the first stop is {focused}"))
}

/// From the top of each page, Tab stops at every control once, in the order of the page, and each
/// stop shows that it has the focus and is not hidden below the head of the page.
fn every_control_is_reached_by_tab(browser: &Browser, shown: &Shown) -> Done {
    let controls =
        "[...document.querySelectorAll('a[href], button, input, select, textarea, canvas')]
        .filter((node) => !node.disabled && node.tabIndex >= 0 && node.checkVisibility())";
    // The page is drawn again now and then, so nodes are known by their text.
    let focused = "const node = document.activeElement, style = getComputedStyle(node),
             box = node.getBoundingClientRect(), head = document.querySelector('header');
         const isShown = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
         const isAbove = head.contains(node) || node.matches('.skip')
             || box.bottom > head.getBoundingClientRect().bottom;
         window.reached ??= new Set();
         const isOver = node === document.body
             || node.matches('.skip') && window.reached.size > 1;
         window.reached.add(node.outerHTML.slice(0, 160));
         return [isOver, isShown && isAbove, node.outerHTML.slice(0, 160)]";
    for (width, size) in WIDTHS {
        browser.resize(width, 1000)?;
        for (page, hash) in [
            ("overview", "#/overview"),
            ("tables", "#/tables"),
            ("table", "#/table?name=users"),
            ("rows", "#/rows?table=users"),
            ("heat", "#/heat?table=events"),
            ("prompt", "#/prompt"),
        ] {
            shown.open(browser, page, hash)?;
            if page == "heat" {
                browser.wait_for("document.documentElement.dataset.drawn !== undefined")?;
            }
            let mut stops = 0;
            loop {
                browser.key(TAB)?;
                let stop = browser.ask(focused)?;
                if stop[0] == json!(true) || stops == STOPS_MAX {
                    break;
                }
                stops += 1;
                expect(
                    stop[1] == json!(true),
                    &format!("{page}, {size}: the focus does not show at {}", stop[2]),
                )?;
            }
            let missed = browser.ask(&format!(
                "return {controls}.map((node) => node.outerHTML.slice(0, 160))
                     .filter((text) => !window.reached.has(text))"
            ))?;
            expect(
                missed == json!([]) && stops > 5,
                &format!("{page}, {size}: {stops} stops, without {missed}"),
            )?;
            browser.complains_of_nothing(page)?;
        }
    }
    browser.resize(1400, 1000)
}

/// A page that is drawn again every five seconds, or that another page takes the place of, leaves
/// the focus in the content.
fn the_focus_survives_updates(browser: &Browser, shown: &Shown) -> Done {
    let focused = "return document.activeElement.outerHTML.slice(0, 120)";
    for (page, hash, link) in [
        ("overview", "#/overview", "a[href*=\"name=\"]"),
        ("tables", "#/tables", "a[href*=rows]"),
        ("table", "#/table?name=users", "a[href*=start]"),
    ] {
        shown.open(browser, page, hash)?;
        browser.ask(&format!(
            "document.querySelector('main {link}').focus(); window.old = document.activeElement"
        ))?;
        let before = browser.ask(focused)?;
        browser.wait_for("!window.old.isConnected")?;
        let after = browser.ask(focused)?;
        expect(before == after, &format!("{page}: the focus moved from {before} to {after}"))?;
    }
    // Enter follows the link; the next Tab continues in the content of the new page.
    browser.key(ENTER)?;
    browser.wait_for("document.documentElement.dataset.page === 'rows'")?;
    let inside = "return document.getElementById('main').contains(document.activeElement)";
    expect(browser.ask(inside)? == json!(true), "the focus is in the content of the new page")?;
    let title = browser.ask("return document.title")?;
    expect(title == json!("users · Rows · hblite"), &format!("the title is {title}"))?;
    // The link at the top leaves the page where it is.
    shown.open(browser, "tables", "#/tables")?;
    browser.key(TAB)?;
    browser.key(ENTER)?;
    expect(browser.ask(inside)? == json!(true), "the link to the content leads to it")?;
    let hash = browser.ask("return location.hash")?;
    expect(hash == json!("#/tables"), &format!("the link to the content opened {hash}"))?;
    // A checkbox and a button by Space, and pages of rows by Enter.
    shown.open(browser, "rows", "#/rows?table=users&limit=5")?;
    let row = "return document.querySelector('tbody .key').textContent";
    browser.ask("document.querySelector('[name=reversed]').focus()")?;
    browser.key(SPACE)?;
    browser.key(ENTER)?;
    browser.wait_for("location.hash.includes('reversed=1')")?;
    browser.wait_for("document.querySelector('tbody .key')?.textContent === 'pedro'")?;
    browser.ask("document.querySelector('[data-key=next]').focus()")?;
    for first in ["kofi", "frank"] {
        browser.key(SPACE)?;
        browser.wait_for(&format!(
            "document.querySelector('tbody .key')?.textContent === '{first}'"
        ))?;
    }
    expect(browser.ask(row)? == json!("frank"), "the focus stays at the button of the next page")
}

fn rows_are_found_by_the_form(browser: &Browser, shown: &Shown) -> Done {
    shown.open(browser, "rows", "#/rows?table=users")?;
    browser.ask(
        "const form = document.querySelector('form');
         form.elements.filter.value = \"PrefixFilter('mona')\"; form.elements.filter.focus()",
    )?;
    browser.key(ENTER)?;
    browser.wait_for("document.querySelectorAll('tbody tr').length === 1")?;
    let row = browser.ask("return document.querySelector('tbody .key').textContent")?;
    expect(row == json!("mona"), &format!("the row is {row}"))?;
    let number = browser.ask("return document.querySelector('tbody').textContent")?;
    expect(number.to_string().contains("1164"), &format!("a number is decoded: {number}"))?;
    browser.complains_of_nothing("rows")
}

fn the_map_is_walked_through_and_zoomed_by_keys(browser: &Browser, shown: &Shown) -> Done {
    shown.open(browser, "heat", "#/heat?table=events")?;
    browser.wait_for("document.documentElement.dataset.drawn === 'events requests'")?;
    let findings = browser.ask("return document.querySelector('.findings').textContent")?;
    let findings = findings.as_str().unwrap_or_default();
    let names = findings.contains("host7") && findings.contains("of the writes");
    expect(names, &format!("the hot host is named: {findings}"))?;
    browser.ask("document.querySelector('.map canvas').focus()")?;
    for key in [DOWN, DOWN, DOWN, UP] {
        browser.key(key)?;
    }
    let spoken =
        |browser: &Browser| browser.ask("return document.getElementById('spoken').textContent");
    let text = spoken(browser)?;
    expect(text.to_string().contains("/s requests"), &format!("the cell is spoken: {text}"))?;
    browser.key(ENTER)?;
    browser.wait_for("location.hash.includes('from=')")?;
    browser.wait_for("!document.querySelector('[data-key=whole]').disabled")?;
    browser.ask("document.querySelector('.map canvas').focus()")?;
    browser.key(ESCAPE)?;
    browser.wait_for("!location.hash.includes('from=')")?;
    // The pointer over the map names key, time and server.
    let place = browser.ask(
        "const box = document.querySelector('.map canvas').getBoundingClientRect();
         return [Math.round(box.left + box.width / 2), Math.round(box.top + 200)]",
    )?;
    browser.actions(
        &json!([{ "type": "pointerMove", "duration": 0, "x": place[0], "y": place[1] }]),
    )?;
    let tip = browser.ask("return document.querySelector('.tip').innerText")?;
    expect(tip.to_string().contains("region"), &format!("the tip says: {tip}"))?;
    browser.ask("document.querySelector('[data-key=advise]').click()")?;
    browser.wait_for("document.querySelector('pre.advice, main .error') !== null")?;
    let advice = browser.ask("return document.querySelector('pre.advice')?.textContent ?? ''")?;
    expect(advice.to_string().contains("Proposed key"), &format!("the advice is: {advice}"))?;
    browser.complains_of_nothing("heat")
}

/// Hot minutes, zoomed to by keys and marked, compared with the whole time; and both as a report.
fn two_times_are_compared(browser: &Browser, shown: &Shown, screenshots: Option<&Path>) -> Done {
    for (width, size) in WIDTHS {
        browser.resize(width, 1000)?;
        shown.open(browser, "heat", "#/heat?table=events")?;
        browser.wait_for("document.documentElement.dataset.drawn === 'events requests'")?;
        browser.ask("document.querySelector('.map canvas').focus()")?;
        browser.key(DOWN)?;
        browser.key(ENTER)?;
        browser.wait_for("!document.querySelector('[data-key=whole]').disabled")?;
        browser.ask("document.querySelector('[data-key=mark]').click()")?;
        browser.ask("document.querySelector('[data-key=whole]').click()")?;
        browser.wait_for("document.querySelector('[data-key=whole]').disabled")?;
        browser.ask("document.querySelector('[data-key=compare]').click()")?;
        browser.wait_for("document.querySelector('[data-key=compared-0]') !== null")?;
        let marked = browser.ask("return document.querySelector('.marked').textContent")?;
        expect(marked.to_string().contains("Marked: "), &format!("the marked time: {marked}"))?;
        let wide = browser.ask("return document.documentElement.scrollWidth")?;
        expect(wide.as_u64() <= Some(u64::from(width)), &format!("compared: {wide} px wide"))?;
        browser.complains_of_nothing("compared")?;
        let href = browser.ask("return document.querySelector('[data-key=report]').href")?;
        let report =
            ureq::get(href.as_str().unwrap_or_default()).call()?.body_mut().read_to_string()?;
        expect(report.matches("<h3>events 2026-01-01").count() == 2, "the report has two times")?;
        if let Some(dir) = screenshots {
            let picture = dir.join(format!("compared-{size}.png"));
            std::fs::write(picture, browser.screenshot()?)?;
            let file = dir.join("report.html");
            std::fs::write(&file, report)?;
            browser.visit(&format!("file://{}", file.display()))?;
            browser.wait_for("document.getElementById('map') !== null")?;
            let wide = browser.ask("return document.documentElement.scrollWidth")?;
            expect(wide.as_u64() <= Some(u64::from(width)), &format!("report: {wide} px wide"))?;
            std::fs::write(dir.join(format!("report-{size}.png")), browser.screenshot()?)?;
        }
    }
    browser.resize(1400, 1000)
}

/// Presses a button that saves the view, and returns the file's name, type and text; a picture is
/// its first bytes in hexadecimal.
fn saved(browser: &Browser, button: &str) -> Done<[String; 3]> {
    browser.ask(
        "window.saved = undefined;
         URL.createObjectURL = (blob) => {
             const picture = blob.type === 'image/png';
             const text = picture
                 ? blob.slice(0, 4).arrayBuffer().then((bytes) => Array.from(new Uint8Array(bytes),
                     (byte) => byte.toString(16)).join(' '))
                 : blob.text();
             text.then((text) => { window.saved = [window.savedName, blob.type, text]; });
             return 'blob:saved';
         };
         HTMLAnchorElement.prototype.click = function () { window.savedName = this.download; };",
    )?;
    browser.ask(&format!("document.querySelector('[data-key=\"{button}\"]').click()"))?;
    browser.wait_for("window.saved !== undefined")?;
    let saved = browser.ask("return window.saved")?;
    let part = |index: usize| saved[index].as_str().unwrap_or_default().to_owned();
    Ok([part(0), part(1), part(2)])
}

fn views_are_saved_as_they_are_shown(browser: &Browser, shown: &Shown) -> Done {
    let is = |saved: &[String; 3], name: &str, kind: &str| {
        expect(saved[0] == name && saved[1] == kind, &format!("saved: {saved:?}"))
    };
    shown.open(browser, "tables", "#/tables")?;
    let file = saved(browser, "tables-csv")?;
    is(&file, "tables.csv", "text/csv")?;
    let lines: Vec<&str> = file[2].lines().collect();
    let holds = lines.len() == 4 && lines[0].starts_with("Table,Families,State,Regions,");
    expect(
        holds && file[2].contains("users,\"info, log\",in service,4,"),
        &format!("tables: {lines:?}"),
    )?;
    shown.open(browser, "rows", "#/rows?table=users&prefix=mona")?;
    let file = saved(browser, "csv")?;
    is(&file, "users-rows.csv", "text/csv")?;
    let lines: Vec<&str> = file[2].lines().collect();
    let holds = lines[0] == "row,column,timestamp,value" && lines[1].starts_with("mona,");
    expect(holds && file[2].contains(",1164"), &format!("rows: {lines:?}"))?;
    let file = saved(browser, "json")?;
    is(&file, "users-rows.json", "application/json")?;
    let rows: Value = serde_json::from_str(&file[2])?;
    expect(rows[0]["row"] == json!("mona"), &format!("rows: {rows}"))?;
    shown.open(browser, "heat", "#/heat?table=events")?;
    browser.wait_for("document.documentElement.dataset.drawn === 'events requests'")?;
    let file = saved(browser, "csv")?;
    is(&file, "events-heat.csv", "text/csv")?;
    let map: Value = serde_json::from_str(&saved(browser, "json")?[2])?;
    let length = |name: &str| map[name].as_array().map_or(0, Vec::len);
    let cells = length("windows") * length("ranges");
    let lines = file[2].lines().count();
    expect(cells > 0 && lines == cells + 1, &format!("{lines} lines for {cells} cells"))?;
    let file = saved(browser, "png")?;
    is(&file, "events-heat.png", "image/png")?;
    expect(file[2] == "89 50 4e 47", &format!("the picture begins with {}", file[2]))?;
    browser.complains_of_nothing("exports")
}

fn commands_run_with_the_token_only(browser: &Browser, shown: &Shown) -> Done {
    shown.open(browser, "prompt", "#/prompt")?;
    run(browser, "put 'empty', 'r', 'f:q', '<b>x</b>'")?;
    run(browser, "get 'empty', 'r'")?;
    let text = browser.ask("return document.querySelector('.terminal').textContent")?;
    expect(text.to_string().contains("value=<b>x</b>"), &format!("the output is {text}"))?;
    browser.key(UP)?;
    let recalled = browser.ask("return document.querySelector('textarea').value")?;
    expect(recalled == json!("get 'empty', 'r'"), &format!("{recalled} was recalled"))?;
    browser.complains_of_nothing("prompt")?;
    browser.ask("sessionStorage.removeItem('token')")?;
    shown.open(browser, "prompt", "#/prompt")?;
    run(browser, "disable 'empty'")?;
    browser.wait_for("document.querySelector('.terminal').textContent.includes('token')")?;
    let is_there = shown.server.connection().admin().is_table_enabled("empty")?;
    expect(is_there, "nothing is changed without the token")
}

/// Types a command and runs it.
fn run(browser: &Browser, command: &str) -> Done {
    let command = Value::from(command);
    browser.ask(&format!(
        "const line = document.querySelector('textarea'); line.value = {command}; line.focus()"
    ))?;
    browser.key(ENTER)?;
    browser.wait_for("document.querySelector('.terminal pre:last-child') !== null")?;
    browser.wait_for("!document.querySelector('.entry .main').disabled")
}
