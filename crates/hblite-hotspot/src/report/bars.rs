//! Bars per server, one panel per design: how busy servers are when clients send as fast as they
//! can.

use super::scale::percent;
use super::svg::{Anchor, Drawing, Theme, cut};
use crate::condition::short;
use crate::result::RunResult;

const WIDTH: f64 = 1000.0;
const PANEL_HEIGHT: f64 = 206.0;
const COLUMNS: usize = 3;
const TOP: f64 = 84.0;
/// The maximum number of bars; with more servers, the busiest are shown.
const BARS_MAX: usize = 60;

/// The drawing, as SVG.
pub(super) fn svg(results: &[RunResult], theme: Theme) -> String {
    let columns = results.len().clamp(1, COLUMNS);
    let rows = results.len().div_ceil(columns).max(1);
    let height = TOP + PANEL_HEIGHT * rows as f64 + 16.0;
    let mut drawing = Drawing::new(WIDTH, height, theme);
    drawing.bold((24.0, 34.0), 19.0, Anchor::Start, "How busy each region server is");
    drawing.faint(
        (24.0, 58.0),
        12.5,
        Anchor::Start,
        "Simulation of the writes: clients send as fast as they are answered, regions are dealt \
         out in the order of keys.",
    );
    let width = (WIDTH - 24.0) / columns as f64;
    for (index, result) in results.iter().enumerate() {
        let x = 24.0 + width * (index % columns) as f64;
        let y = TOP + PANEL_HEIGHT * (index / columns) as f64;
        panel(&mut drawing, result, x, y, width - 24.0);
    }
    drawing.finish("Bars: utilisation of each region server, for each design")
}

fn panel(drawing: &mut Drawing, result: &RunResult, x: f64, y: f64, width: f64) {
    let Some(simulation) = result.simulations.first() else { return };
    let mut servers: Vec<(usize, f64)> =
        simulation.saturated.servers.iter().map(|server| server.utilisation).enumerate().collect();
    let busy: f64 = servers.iter().map(|server| server.1).sum();
    let count = servers.len();
    if count > BARS_MAX {
        servers.sort_by(|left, right| right.1.total_cmp(&left.1));
        servers.truncate(BARS_MAX);
    }
    let shown = if count > BARS_MAX { format!(", the {BARS_MAX} busiest") } else { String::new() };
    drawing.bold((x, y + 12.0), 13.0, Anchor::Start, &cut(&result.design, 34));
    let caption = format!(
        "{} of {count} servers at work{shown}, {}× one server",
        short(busy),
        short(simulation.speed_up)
    );
    drawing.faint((x, y + 29.0), 11.0, Anchor::Start, &caption);

    let (left, top, bottom) = (x + 38.0, y + 42.0, y + PANEL_HEIGHT - 50.0);
    let plot_width = width - 38.0;
    for share in [0.0, 0.5, 1.0] {
        let at = bottom - (bottom - top) * share;
        drawing.line((left, at), (left + plot_width, at), drawing.theme.grid, 1.0);
        drawing.faint((left - 6.0, at + 4.0), 10.5, Anchor::End, &percent(share));
    }
    let slot = plot_width / servers.len().max(1) as f64;
    let label_every = (24.0 / slot).ceil().max(1.0) as usize;
    for (position, (server, utilisation)) in servers.iter().enumerate() {
        let bar = (slot * 0.72).min(46.0);
        let bar_x = left + slot * position as f64 + (slot - bar) / 2.0;
        let bar_height = (bottom - top) * utilisation.min(1.0);
        let title = format!("server {}: {} busy", server + 1, percent(*utilisation));
        drawing.titled(&title, |drawing| {
            let accent = drawing.theme.accent;
            drawing.rectangle(bar_x, bottom - bar_height, bar, bar_height.max(1.0), accent);
        });
        if position % label_every == 0 {
            let middle = bar_x + bar / 2.0;
            let name = (server + 1).to_string();
            drawing.faint((middle, bottom + 15.0), 10.5, Anchor::Middle, &name);
        }
    }
    drawing.faint((left + plot_width / 2.0, bottom + 29.0), 10.5, Anchor::Middle, "server");
}
