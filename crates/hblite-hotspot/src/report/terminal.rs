//! The heat map in a terminal: two regions per line with half blocks, in colour if possible.

use std::fmt::Write as _;

use super::grid::Grid;
use super::scale::{brightness, colour, duration, number};
use crate::result::{Metric, RunResult};

/// What a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// 24 bits.
    True,
    /// The palette of 256.
    Palette,
    /// No colours: characters from light to dense.
    Plain,
}

const PLAIN: &[u8; 10] = b" .:-=+*#%@";
const KEY_WIDTH: usize = 20;

/// A heat map of at most this many columns and lines, with labels. `max` is the count of the
/// brightest colour.
pub fn heat_map(
    result: &RunResult,
    (metric, max): (Metric, u64),
    width: usize,
    height: usize,
    colours: Colours,
) -> String {
    let grid = Grid::new(&result.counts, metric);
    let columns = width.saturating_sub(KEY_WIDTH + 2).clamp(1, grid.columns.max(1));
    let per_line = if colours == Colours::Plain { 1 } else { 2 };
    // Small tables get a line or half a line per region; large ones use the available space.
    let rows = grid.rows.min(height.max(1) * per_line).max(1);
    let labels = super::keys::labels(&result.counts, &result.key, KEY_WIDTH);
    let mut text = format!(
        "{}: {} per region over time, brightest {} a window\n",
        result.design,
        metric.text(),
        number(max as f64)
    );
    let shade = |x: usize, y: usize| brightness(grid.pixel(x, y, columns, rows) as f64, max as f64);
    for line in 0..rows.div_ceil(per_line) {
        let top = line * per_line;
        let key = labels.get(top * grid.rows / rows).map_or("", String::as_str);
        let _ = write!(text, "{key:>KEY_WIDTH$} ");
        for x in 0..columns {
            match colours {
                Colours::Plain => {
                    let index = (shade(x, top) * 9.0).ceil() as usize;
                    text.push(char::from(PLAIN[index.min(9)]));
                }
                _ => {
                    let bottom = (top + 1 < rows).then(|| shade(x, top + 1));
                    half_block(&mut text, shade(x, top), bottom, colours);
                }
            }
        }
        text.push_str(if colours == Colours::Plain { "\n" } else { "\x1b[0m\n" });
    }
    let end_ns = result.counts.windows.last().map_or(0, |window| window.end_ns) as f64;
    let end = duration(end_ns);
    let _ = writeln!(text, "{:>KEY_WIDTH$} 0{end:>1$}", "", columns.saturating_sub(1));
    text
}

/// The upper half has the foreground colour, the lower half the background colour.
fn half_block(text: &mut String, top: f64, bottom: Option<f64>, colours: Colours) {
    let code = |brightness: f64, layer: u8| {
        let (r, g, b) = colour(brightness);
        match colours {
            Colours::True => format!("{layer};2;{r};{g};{b}"),
            _ => format!("{layer};5;{}", palette(r, g, b)),
        }
    };
    let ground = bottom.map_or_else(|| "49".to_owned(), |bottom| code(bottom, 48));
    let _ = write!(text, "\x1b[{};{ground}m▀", code(top, 38));
}

/// The nearest of the palette's 6 × 6 × 6 colours.
fn palette(r: u8, g: u8, b: u8) -> u8 {
    let level = |channel: u8| {
        let levels = [0u8, 95, 135, 175, 215, 255];
        let nearest = (0u8..6).min_by_key(|index| levels[usize::from(*index)].abs_diff(channel));
        nearest.unwrap_or(0)
    };
    16 + 36 * level(r) + 6 * level(g) + level(b)
}
