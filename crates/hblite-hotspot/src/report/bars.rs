//! How busy each server is over time when clients send as fast as they can: one panel per design,
//! one strip per server.

use super::drawing::{Anchor, Colour, Drawing, Theme, cut, wrapped};
use super::scale::{colour, duration, percent, ticks};
use crate::condition::short;
use crate::result::RunResult;
use crate::simulate::Outcome;

const PANEL_HEIGHT: f64 = 186.0;
/// A column of panels is at least this wide.
const COLUMN_MIN: f64 = 320.0;
const COLUMNS: usize = 2;
const SUBTITLE: &str = "Simulated writes: clients send as fast as they are answered. One strip per \
                        server, in time from left to right; dark is idle, bright is busy.";
const LABEL: &str = "Strips: utilization of each region server over time, for each design";
/// The maximum number of strips; with more servers, the busiest are shown.
const STRIPS_MAX: usize = 60;

/// The drawing; `None` if nothing was simulated.
pub(super) fn drawing(results: &[RunResult], theme: Theme, full: f64) -> Option<Drawing> {
    if results.iter().all(|result| result.simulations.is_empty()) {
        return None;
    }
    let columns = results.len().clamp(1, COLUMNS.min((full / COLUMN_MIN) as usize));
    let rows = results.len().div_ceil(columns).max(1);
    let subtitle = wrapped(SUBTITLE, 11.5, full - 32.0);
    let top = 54.0 + 15.0 * subtitle.len() as f64;
    let height = top + PANEL_HEIGHT * rows as f64 + 16.0;
    let mut drawing = Drawing::new(full, height, theme, LABEL);
    drawing.bold((16.0, 28.0), 16.0, Anchor::Start, "How busy each region server is");
    for (line, text) in (0_u8..).zip(&subtitle) {
        drawing.faint((16.0, 48.0 + 15.0 * f64::from(line)), 11.5, Anchor::Start, text);
    }
    let width = (full - 16.0) / columns as f64;
    for (index, result) in results.iter().enumerate() {
        let x = 16.0 + width * (index % columns) as f64;
        let y = top + PANEL_HEIGHT * (index / columns) as f64;
        panel(&mut drawing, result, x, y, width - 20.0);
    }
    Some(drawing)
}

fn panel(drawing: &mut Drawing, result: &RunResult, x: f64, y: f64, width: f64) {
    let Some(simulation) = result.simulations.first() else { return };
    let mut servers: Vec<(usize, f64)> =
        simulation.saturated.servers.iter().map(|server| server.utilisation).enumerate().collect();
    let busy: f64 = servers.iter().map(|server| server.1).sum();
    let count = servers.len();
    if count > STRIPS_MAX {
        servers.sort_by(|left, right| right.1.total_cmp(&left.1));
        servers.truncate(STRIPS_MAX);
    }
    let shown =
        if count > STRIPS_MAX { format!(", the {STRIPS_MAX} busiest") } else { String::new() };
    drawing.bold((x, y + 12.0), 13.0, Anchor::Start, &cut(&result.design, 40));
    let caption = format!(
        "{} of {count} servers at work{shown}, {}× one server",
        short(busy),
        short(simulation.speed_up)
    );
    drawing.faint((x, y + 29.0), 11.0, Anchor::Start, &caption);

    let (left, top, bottom) = (x + 24.0, y + 42.0, y + PANEL_HEIGHT - 50.0);
    let area = Area { left, top, width: width - 24.0, height: bottom - top };
    strips(drawing, &simulation.saturated, &servers, &area);
    let end_ns = simulation.saturated.duration_ns as f64;
    for tick in ticks(end_ns, 3) {
        let at = left + area.width * tick / end_ns.max(1.0);
        let text = if tick == 0.0 { "0".to_owned() } else { duration(tick) };
        drawing.faint((at, bottom + 17.0), 11.0, Anchor::Middle, &text);
    }
}

/// Where a panel's strips are.
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// A strip for each server, from left to right in time, the brighter the busier.
fn strips(drawing: &mut Drawing, outcome: &Outcome, servers: &[(usize, f64)], area: &Area) {
    let row = area.height / servers.len().max(1) as f64;
    let label_every = (13.0 / row).ceil().max(1.0) as usize;
    let duration_ns = outcome.duration_ns.max(1) as f64;
    for (position, (server, utilisation)) in servers.iter().enumerate() {
        let y = area.top + row * position as f64;
        let height = (row - if row > 6.0 { 1.5 } else { 0.0 }).max(0.5);
        let title = format!("server {}: {} busy", server + 1, percent(*utilisation));
        let steps = outcome.timeline.servers.get(*server).map_or(&[][..], Vec::as_slice);
        let step = area.width * outcome.timeline.step_ns as f64 / duration_ns;
        drawing.titled(&title, |drawing| {
            for (index, share) in steps.iter().enumerate() {
                let from = step * index as f64;
                let width = (step + 0.4).min(area.width - from);
                let (r, g, b) = colour(*share);
                let fill = Colour::Rgb(r, g, b);
                if width > 0.0 {
                    drawing.rectangle(area.left + from, y, width, height, fill);
                }
            }
        });
        if position % label_every == 0 {
            let middle = (area.left - 7.0, y + row / 2.0 + 4.0);
            drawing.faint(middle, 11.0, Anchor::End, &(server + 1).to_string());
        }
    }
}
