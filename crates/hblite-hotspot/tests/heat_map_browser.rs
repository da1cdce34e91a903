//! The report in a real browser: Chromium, driven through chromedriver.
//!
//! `tools/heat-map-browser/run` installs what is missing and runs this. It says that it skips where
//! `HBLITE_CHROMEDRIVER` does not name a chromedriver. Screenshots go to the directory that
//! `HBLITE_SCREENSHOTS` names.

#[allow(dead_code, reason = "the test of the console uses the rest")]
mod driver;

use std::path::{Path, PathBuf};

use driver::{Browser, Done, Wanted, expect};
use hblite_hotspot::report::page;
use hblite_hotspot::result::{Counts, Region, RunResult, Spread, Storage, WindowCounts};
use hblite_hotspot::run::{RunOptions, Stream, run};
use hblite_hotspot::study::{Candidate, Study};
use serde_json::json;

/// A report of this many regions and windows must open in `OPEN_MS_MAX`.
const LARGE: usize = 1000;
/// Processor time, so that other work on the machine does not count.
const OPEN_SECONDS_MAX: f64 = 2.0;

fn main() -> Done {
    let Some(wanted) = Wanted::from_environment("tools/heat-map-browser/run") else {
        return Ok(());
    };
    let screenshots = wanted.screenshots.as_deref();
    let dir = tempfile::tempdir()?;
    let designs = ["timestamp-lead", "bucketed", "host-lead"];
    let small: Vec<RunResult> = designs.into_iter().map(small_result).collect::<Result<_, _>>()?;
    let large = [large_result(small[0].clone())];
    let (small_file, large_file) = (dir.path().join("small.html"), dir.path().join("large.html"));
    std::fs::write(&small_file, page(&small))?;
    std::fs::write(&large_file, page(&large))?;
    let watched_file = dir.path().join("watched.html");
    std::fs::write(&watched_file, page(&[watched_result(small[0].clone())]))?;

    let browser = Browser::start(&wanted.driver)?;
    opens_fast_and_alone(&browser, &large_file)?;
    shows_what_was_counted(&browser, &small_file, &small)?;
    can_be_walked_through_by_keys(&browser)?;
    zooms(&browser)?;
    follows_the_theme(&browser, screenshots)?;
    fits_every_width(&browser, &small_file, screenshots.map(|dir| dir.join("report")))?;
    fits_every_width(&browser, &watched_file, screenshots.map(|dir| dir.join("watched")))?;
    println!("the report was checked in a browser: everything as expected");
    Ok(())
}

fn small_result(design: &str) -> Done<RunResult> {
    let study = Study::find("log-keys")?;
    let options = RunOptions::default().with_records(20_000).with_windows(40).with_reads(20);
    let candidate = Candidate::new(study, design, options.regions)?;
    let stream = Stream::new(&candidate, &options)?;
    Ok(run(&candidate, &stream, &options, |_| {})?)
}

/// What a watched cluster gives, with a long name: nothing was simulated or asked.
fn watched_result(mut result: RunResult) -> RunResult {
    result.design = "salt(8, *)|device:str|time:reverse_timestamp|kind:str".to_owned();
    result.key.clear();
    result.study = "watch".to_owned();
    result.storage = Storage::default();
    result.settings.entities = 0;
    result.simulations.clear();
    result.queries.clear();
    result
}

/// A diagonal of heat over a thousand regions in a thousand windows.
fn large_result(mut result: RunResult) -> RunResult {
    let key = |index: usize| {
        if index.is_multiple_of(LARGE) { String::new() } else { format!("row{index:06}") }
    };
    let region = |index: usize| Region { start: key(index), end: key(index + 1), parent: None };
    let window = |index: usize| {
        let count = |row: usize| {
            1000 / (1 + index.abs_diff(row) as u64) + (index * 31 + row * 17) as u64 % 7
        };
        let writes: Vec<u64> = (0..LARGE).map(count).collect();
        let bytes = writes.iter().map(|writes| writes * 150).collect();
        let (start_ns, end_ns) = (index as u64 * 1_000_000, (index as u64 + 1) * 1_000_000);
        WindowCounts { start_ns, end_ns, layout: 0, reads: writes.clone(), writes, bytes }
    };
    result.counts = Counts {
        regions: (0..LARGE).map(region).collect(),
        layouts: vec![(0..LARGE as u32).collect()],
        windows: (0..LARGE).map(window).collect(),
    };
    result.spread = Spread::of(&result.counts);
    result
}

fn opens_fast_and_alone(browser: &Browser, file: &Path) -> Done {
    browser.chromium("Performance.enable", &json!({"timeDomain": "threadTicks"}))?;
    browser.open(file)?;
    let first_ms = browser.ask("return Number(document.documentElement.dataset.firstMs)")?;
    let metrics = browser.chromium("Performance.getMetrics", &json!({}))?;
    let seconds = metrics["metrics"]
        .as_array()
        .and_then(|all| all.iter().find(|metric| metric["name"] == "TaskDuration"))
        .and_then(|metric| metric["value"].as_f64())
        .ok_or("the browser does not say how long its tasks took")?;
    println!(
        "{LARGE} regions × {LARGE} windows: drawn {first_ms} ms after opening, {seconds:.2} s busy"
    );
    expect(seconds > 0.0 && seconds < OPEN_SECONDS_MAX, &format!("{seconds} s is too long"))?;
    let loaded = browser.ask("return performance.getEntriesByType('resource').length")?;
    expect(loaded == json!(0), &format!("the page loads {loaded} files"))?;
    browser.complains_of_nothing("report")
}

fn shows_what_was_counted(browser: &Browser, file: &Path, results: &[RunResult]) -> Done {
    browser.open(file)?;
    // The first window of sequential keys: the first region is bright, the last is dark.
    let light = browser.ask(
        "const box = state.plot, scale = devicePixelRatio, height = box.height * scale;
         const x = (box.x + 3) * scale, column = canvas.getContext('2d')
             .getImageData(x, box.y * scale, 1, height).data;
         return [0.1, 0.9].map((row) => {
             const [r, g, b] = column.slice(Math.floor(height * row) * 4);
             return r + g + b;
         })",
    )?;
    let (hot, cold) = (&light[0], &light[1]);
    expect(hot.as_u64() > Some(400), &format!("the hot region is not bright: {hot}"))?;
    expect(cold.as_u64() < Some(60), &format!("the cold region is not dark: {cold}"))?;

    let tip = browser.hover("0.01", "0.1")?;
    let count = results[0].counts.windows[0].writes[0];
    for part in [format!("{count} writes"), "region 1 of 4".into(), "from the first key".into()] {
        expect(tip.contains(&part), &format!("{part:?} is not in the tip: {tip}"))?;
    }
    browser.ask("document.querySelector('input[value=bytes]').click()")?;
    browser.wait_for("document.documentElement.dataset.drawn === 'timestamp-lead bytes'")?;
    let tip = browser.hover("0.02", "0.1")?;
    expect(tip.contains(" bytes"), &format!("the tip does not show bytes: {tip}"))?;
    browser.ask("document.querySelector('input[value=writes]').click()")?;
    browser.ask(
        "const list = byId('design'); list.value = 1; list.dispatchEvent(new Event('change'))",
    )?;
    browser.wait_for("document.documentElement.dataset.drawn === 'bucketed writes'")?;
    let label = browser.ask("return canvas.getAttribute('aria-label')")?.to_string();
    expect(label.contains("bucketed"), &format!("the label stays behind: {label}"))?;
    browser.complains_of_nothing("report")
}

fn can_be_walked_through_by_keys(browser: &Browser) -> Done {
    const RIGHT: &str = "\u{E014}";
    const DOWN: &str = "\u{E015}";
    browser.ask("canvas.focus()")?;
    for key in [RIGHT, RIGHT, DOWN] {
        browser.key(key)?;
    }
    let spoken = browser.ask("return byId('spoken').textContent")?.to_string();
    expect(spoken.contains("region 2 of 4"), &format!("keys lead elsewhere: {spoken}"))
}

fn zooms(browser: &Browser) -> Done {
    let (from, to) = (browser.place("0.26", "0.05")?, browser.place("0.49", "0.45")?);
    browser.actions(&json!([
        {"type": "pointerMove", "duration": 0, "x": from.0, "y": from.1},
        {"type": "pointerDown", "button": 0},
        {"type": "pointerMove", "duration": 10, "x": to.0, "y": to.1},
        {"type": "pointerUp", "button": 0},
    ]))?;
    let view = browser.ask("return state.view")?;
    let is_there = view["left"] == json!(10) && view["bottom"] == json!(2);
    expect(is_there, &format!("zoomed to {view}"))?;
    browser.ask("byId('whole').click()")?;
    browser.wait_for("state.view === null")
}

/// On phones and on large screens nothing reaches beyond the page; what is wider can be scrolled
/// by itself.
fn fits_every_width(browser: &Browser, file: &Path, screenshots: Option<PathBuf>) -> Done {
    for width in [400, 1400] {
        browser.resize(width, 2000)?;
        browser.open(file)?;
        let beyond = browser.ask(
            "return [...document.querySelectorAll('body *')].filter((element) =>
                 !element.closest('.picture, .table, .unseen')
                 && element.getBoundingClientRect().right > innerWidth + 1)
                 .map((element) => element.tagName + ' ' + element.id)",
        )?;
        expect(beyond == json!([]), &format!("at {width} px, these are too wide: {beyond}"))?;
        let page = browser.ask("return document.documentElement.scrollWidth <= innerWidth")?;
        expect(page == json!(true), &format!("at {width} px, the page scrolls sideways"))?;
        let lines = browser.ask(
            "return [...document.querySelectorAll('td')].filter((cell) =>
                 cell.getClientRects().length > 0 && cell.offsetHeight > 40).length",
        )?;
        expect(lines == json!(0), &format!("at {width} px, {lines} figures have several lines"))?;
        if let Some(name) = &screenshots {
            std::fs::write(format!("{}-{width}.png", name.display()), browser.screenshot()?)?;
        }
    }
    Ok(())
}

/// The page in both themes, as pictures for people.
fn follows_the_theme(browser: &Browser, screenshots: Option<&Path>) -> Done {
    let mut grounds = Vec::new();
    for theme in ["light", "dark"] {
        let feature = json!([{"name": "prefers-color-scheme", "value": theme}]);
        browser.chromium("Emulation.setEmulatedMedia", &json!({"features": feature}))?;
        grounds.push(browser.ask("return getComputedStyle(document.body).backgroundColor")?);
        browser.ask("draw()")?;
        if let Some(dir) = screenshots {
            std::fs::create_dir_all(dir)?;
            std::fs::write(dir.join(format!("report-{theme}.png")), browser.screenshot()?)?;
        }
    }
    expect(grounds[0] != grounds[1], &format!("both themes have the ground {}", grounds[0]))
}
