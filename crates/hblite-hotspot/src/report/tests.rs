//! Pictures and texts of a run with a hot diagonal.

use super::*;
use crate::run::{RunOptions, Stream, run};
use crate::study::{Candidate, Study};

fn results() -> Vec<RunResult> {
    let options = RunOptions { records: 4_000, windows: 20, reads: 10, ..RunOptions::default() };
    let result = |design: &str| {
        let study = Study::find("log-keys").expect("there is such a study");
        let candidate = Candidate::new(study, design, options.regions).expect("a design");
        let stream = Stream::new(&candidate, &options).expect("good settings");
        run(&candidate, &stream, &options, |_| {}).expect("it runs")
    };
    ["timestamp-lead", "host-lead"].map(result).into()
}

#[test]
fn pictures_are_png_files_with_something_on_them() {
    let results = results();
    let pictures = pictures(&results);
    let names: Vec<&str> = pictures.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "heat-map-timestamp-lead.png",
            "heat-map-host-lead.png",
            "servers.png",
            "trade-off-regions.png",
            "trade-off-rows.png"
        ]
    );
    for (name, bytes) in &pictures {
        let bytes = bytes.as_ref().expect("it was drawn");
        let pixmap = tiny_skia::Pixmap::decode_png(bytes).expect("a PNG file");
        assert_eq!(pixmap.width(), 1500, "{name}");
        // The title is at the top left.
        let dark = |x: u32, y: u32| pixmap.pixel(x, y).is_some_and(|pixel| pixel.red() < 100);
        let title = (36..700).flat_map(|x| (30..66).map(move |y| (x, y)));
        assert!(title.filter(|(x, y)| dark(*x, *y)).count() > 500, "{name} has no title");
    }
}

/// A watched cluster has counters only: nothing is simulated, and there are no keys and entities.
#[test]
fn what_was_not_measured_is_not_on_the_page() {
    let mut watched = results().swap_remove(0);
    watched.simulations.clear();
    watched.queries.clear();
    watched.settings.entities = 0;
    watched.storage = crate::result::Storage::default();
    let watched = [watched];
    let names: Vec<String> = pictures(&watched).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["heat-map-timestamp-lead.png"]);
    let titles: Vec<String> = tables(&watched).into_iter().map(|table| table.title).collect();
    assert_eq!(titles, ["How evenly writes are spread over regions"]);
    let text = page(&watched);
    assert!(!text.contains("entities") && !text.contains("Region servers"));
    assert!(!text.contains("Writes against reads"));

    let mut watched = watched;
    watched[0].study = "watch".to_owned();
    watched[0].settings.records = 0;
    watched[0].counts.windows.iter_mut().for_each(|window| window.reads.fill(0));
    let end_ns = watched[0].counts.windows.last().expect("windows").end_ns;
    let rate = 4_000.0 / (end_ns as f64 / 1e9);
    let text = page(&watched);
    let said = format!("4000 writes, {} a second, for ", scale::number(rate));
    assert!(text.contains(&said), "{said}");
    assert!(!text.contains("records,") && text.contains(r#""metrics":["writes","bytes"]"#));
    // Reads only, as of a cluster whose metrics have no bytes.
    for window in &mut watched[0].counts.windows {
        std::mem::swap(&mut window.reads, &mut window.writes);
        window.bytes.fill(0);
    }
    watched[0].spread = crate::result::Spread::of(&watched[0].counts);
    let titles: Vec<String> = tables(&watched).into_iter().map(|table| table.title).collect();
    assert_eq!(titles, ["How evenly reads are spread over regions"]);
    let text = page(&watched);
    assert!(text.contains("4000 reads, ") && text.contains(r#""metrics":["reads"]"#));
}

/// Each picture of the page is there for wide pages and for narrow ones, and nothing in it is
/// beyond its edge.
#[test]
fn pictures_fit_narrow_pages() {
    let results = results();
    for width in [drawing::WIDE, drawing::NARROW] {
        let bars = bars::drawing(&results, Theme::PAGE, width).expect("bars");
        let trade_off = trade_off::drawing(&results, Cost::Regions, Theme::PAGE, width);
        for drawing in [bars, trade_off.expect("points")] {
            let svg = svg::svg(&drawing);
            assert!(svg.contains(&format!("viewBox='0 0 {width} ")), "{}", &svg[..200]);
        }
    }
    let page = page(&results);
    assert_eq!(page.matches("class=\"narrow\"").count(), page.matches("class=\"wide\"").count());
}

#[test]
fn the_terminal_shows_heat_with_and_without_colours() {
    let results = results();
    let result = &results[0];
    let max = greatest(&results, Metric::Writes);
    let plain = terminal_heat_map(result, (Metric::Writes, max), 60, 10, Colours::Plain);
    let lines: Vec<&str> = plain.lines().collect();
    assert_eq!(lines.len(), 1 + 4 + 1, "{plain}");
    assert!(
        lines[1].contains("@@@") && !lines[1].ends_with('@'),
        "the first is hot early: {plain}"
    );
    assert!(lines[4].ends_with('@'), "the last is hot late: {plain}");
    assert!(plain.is_ascii() || plain.contains('…'), "{plain}");

    let colours = terminal_heat_map(result, (Metric::Writes, max), 60, 10, Colours::True);
    assert_eq!(colours.lines().count(), 1 + 2 + 1, "two regions a line");
    assert!(colours.contains("\x1b[38;2;") && colours.contains('▀'));
    let palette = terminal_heat_map(result, (Metric::Writes, max), 60, 10, Colours::Palette);
    assert!(palette.contains("\x1b[38;5;"));
}

#[test]
fn what_comes_from_outside_is_escaped() {
    let mut results = results();
    results[0].design = "</script><b>&".to_owned();
    results[0].counts.regions[1].start = "\"<img src=x>".to_owned();
    let page = page(&results);
    assert!(!page.contains("<b>&") && !page.contains("<img"), "it appears in the page unchanged");
}

#[test]
fn tables_have_the_windowed_figure_first() {
    let tables = tables(&results());
    assert_eq!(tables[0].head[1], "windowed max/mean");
    assert_eq!(tables[0].rows[0][0], "timestamp-lead");
    let text = tables[0].text();
    assert!(text.lines().all(|line| line.trim_end() == line), "{text}");
}
