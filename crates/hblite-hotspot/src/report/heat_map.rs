//! The heat map as a picture: frame and labels are drawn, the field is filled pixel by pixel.

use super::drawing::{Anchor, Colour, Drawing, Theme, cut};
use super::grid::Grid;
use super::raster::{Field, Raster};
use super::scale::{brightness, colour, duration, number, percent, ticks};
use crate::result::{Metric, RunResult};

// Small, so that letters are still 9 pixels high when the picture is 500 pixels wide.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 430.0;
const LEFT: f64 = 154.0;
const RIGHT: f64 = 74.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 52.0;
/// Characters of a line across the picture, and of a region's label.
const LINE_CHARACTERS: usize = 88;
const LABEL_CHARACTERS: usize = 20;

/// The picture of a result as the bytes of a PNG file. `max` is the count of the brightest colour,
/// the same for all pictures that are compared.
pub(super) fn png(result: &RunResult, metric: Metric, max: u64) -> Result<Vec<u8>, String> {
    let grid = Grid::new(&result.counts, metric);
    let mut drawing = Drawing::new(WIDTH, HEIGHT, Theme::LIGHT, &title(result, metric));
    let (width, height) = (WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    drawing.bold((16.0, 26.0), 16.0, Anchor::Start, &cut(&title(result, metric), 62));
    for (line, text) in (0_u8..).zip(subtitles(result)) {
        let at = (16.0, 44.0 + 15.0 * f64::from(line));
        drawing.faint(at, 11.5, Anchor::Start, &cut(&text, LINE_CHARACTERS));
    }
    keys(&mut drawing, result, height);
    time(&mut drawing, result, width, height);
    legend(&mut drawing, metric, max as f64, height);

    let field = Field { x: LEFT, y: TOP, width, height };
    let gap = if grid.rows <= 40 { 2 } else { 0 };
    let mut raster = Raster::new(&drawing)?;
    raster.fill(field, |x, y, columns, rows| {
        let row_height = rows as f64 / grid.rows as f64;
        // A line of background between rows, where they are high enough.
        let into_row = y as f64 % row_height;
        let is_border = into_row < f64::from(gap) && y > gap as usize;
        if is_border && grid.begins_at(x, y, columns, rows) {
            return (255, 255, 255);
        }
        colour(brightness(grid.pixel(x, y, columns, rows) as f64, max as f64))
    });
    raster.png()
}

pub(super) fn title(result: &RunResult, metric: Metric) -> String {
    format!("{}: {} per region over time", result.design, metric.text())
}

fn subtitles(result: &RunResult) -> [String; 2] {
    let settings = &result.settings;
    let figures = result.spread.writes.map_or_else(String::new, |spread| {
        format!(
            "Hottest region {} of a window, {} of the run. ",
            percent(spread.windowed.mean.hottest_share),
            percent(spread.total.hottest_share)
        )
    });
    let of = |metric| number(result.counts.sum(metric) as f64);
    let what = match result.is_watched() {
        true => format!("{} writes, {} reads", of(Metric::Writes), of(Metric::Reads)),
        false => {
            let records = number(settings.records as f64);
            format!("{}, {records} records, {}", result.study, settings.distribution)
        }
    };
    let key = if result.key.is_empty() { String::new() } else { format!("key {}", result.key) };
    [format!("{figures}{what}"), key]
}

/// The first keys of as many regions as there is space for.
fn keys(drawing: &mut Drawing, result: &RunResult, height: f64) {
    let labels = super::keys::labels(&result.counts, &result.key, LABEL_CHARACTERS);
    let row = height / labels.len() as f64;
    let every = (15.0 / row).ceil().max(1.0) as usize;
    for (position, text) in labels.iter().enumerate().step_by(every) {
        let y = TOP + row * position as f64;
        drawing.line((LEFT - 5.0, y), (LEFT, y), drawing.theme.faint, 1.0);
        drawing.text((LEFT - 9.0, (y + 4.0).max(TOP + 10.0)), 11.0, Anchor::End, text);
    }
    drawing.faint((LEFT - 9.0, TOP - 7.0), 11.0, Anchor::End, "first key of the region");
}

fn time(drawing: &mut Drawing, result: &RunResult, width: f64, height: f64) {
    let end_ns = result.counts.windows.last().map_or(0, |window| window.end_ns) as f64;
    for tick in ticks(end_ns, 6) {
        let x = LEFT + width * tick / end_ns.max(1.0);
        drawing.line((x, TOP + height), (x, TOP + height + 5.0), drawing.theme.faint, 1.0);
        let text = if tick == 0.0 { "0".to_owned() } else { duration(tick) };
        drawing.text((x, TOP + height + 20.0), 11.0, Anchor::Middle, &text);
    }
    let windows = result.counts.windows.len();
    let label = format!("time, in {windows} windows of {}", duration(end_ns / windows as f64));
    drawing.faint((LEFT + width / 2.0, TOP + height + 40.0), 11.5, Anchor::Middle, &label);
}

/// The colour scale with its counts.
fn legend(drawing: &mut Drawing, metric: Metric, max: f64, height: f64) {
    let x = WIDTH - RIGHT + 14.0;
    let steps = 128;
    let step = height / f64::from(steps);
    for index in 0..steps {
        let (r, g, b) = colour((f64::from(index) + 0.5) / f64::from(steps));
        let y = TOP + height - step * f64::from(index + 1);
        drawing.rectangle(x, y, 14.0, step + 0.6, Colour::Rgb(r, g, b));
    }
    let mut last = f64::INFINITY;
    for tick in ticks(max, 6) {
        let y = TOP + height * (1.0 - brightness(tick, max));
        // The square root puts small counts close together: those without space get no label.
        if last - y >= 14.0 {
            drawing.line((x + 14.0, y), (x + 18.0, y), drawing.theme.faint, 1.0);
            drawing.text((x + 21.0, y + 4.0), 11.0, Anchor::Start, &number(tick));
            last = y;
        }
    }
    drawing.faint(
        (WIDTH - 6.0, TOP - 7.0),
        11.0,
        Anchor::End,
        &format!("{}/window", metric.text()),
    );
}
