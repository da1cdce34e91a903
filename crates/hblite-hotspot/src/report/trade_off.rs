//! The trade-off: how evenly writes are spread against the cost of reads, with a point for each
//! design, and a line through the designs that no other beats in both. Results of runs and the
//! candidates of the adviser are drawn alike.

use super::drawing::{Anchor, Drawing, Theme, wrapped};
use super::labels::{self, Area};
use super::scale::{logarithmic_ticks, number};
use crate::result::RunResult;

const HEIGHT: f64 = 430.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
/// The lines of the title, the subtitle and the axis.
const TITLE_LINE: f64 = 20.0;
const LINE: f64 = 15.0;
const LABEL: &str = "Points: hotness of writes against cost of reads, for each design";

/// What a query costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cost {
    /// Regions opened.
    Regions,
    /// Rows read.
    Rows,
    /// Latency on this machine.
    Latency,
}

impl Cost {
    pub(super) const ALL: [Self; 3] = [Self::Regions, Self::Rows, Self::Latency];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Regions => "regions",
            Self::Rows => "rows",
            Self::Latency => "latency",
        }
    }

    fn axis(self) -> &'static str {
        match self {
            Self::Regions => "regions looked into per query, on average over the queries",
            Self::Rows => "rows read per query, on average over the queries",
            Self::Latency => "milliseconds per query here, on average over the queries",
        }
    }

    fn of(self, result: &RunResult) -> f64 {
        let cost = result.read_cost();
        match self {
            Self::Regions => cost.regions,
            Self::Rows => cost.rows_read,
            Self::Latency => cost.latency_s * 1000.0,
        }
    }
}

/// A design in the picture.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Point {
    /// The name.
    pub(super) name: String,
    /// Whether the name is shown; of the others, it is a tooltip.
    pub(super) is_named: bool,
    /// What reading costs.
    pub(super) cost: f64,
    /// Windowed max/mean of writes.
    pub(super) heat: f64,
    /// Whether no other beats it in both.
    pub(super) is_best: bool,
    /// Whether it is the proposal, which is never covered.
    pub(super) is_proposed: bool,
}

/// The designs of results, those that no other beats in both marked.
fn points(results: &[RunResult], cost: Cost) -> Vec<Point> {
    let heat = |result: &RunResult| {
        Some(result.spread.writes?.windowed.mean.max_over_mean)
            .filter(|_| !result.queries.is_empty())
    };
    let point = |result: &RunResult| {
        let name = result.design.clone();
        let cost = Some(cost.of(result)).filter(|cost| *cost > 0.0)?;
        Some(Point {
            name,
            is_named: true,
            cost,
            heat: heat(result)?,
            is_best: false,
            is_proposed: false,
        })
    };
    let mut points: Vec<Point> = results.iter().filter_map(point).collect();
    for index in 0..points.len() {
        let own = &points[index];
        let beats = |other: &Point| {
            other.cost <= own.cost
                && other.heat <= own.heat
                && (other.cost < own.cost || other.heat < own.heat)
        };
        points[index].is_best = !points.iter().any(beats);
    }
    points
}

/// The drawing of results. `None` if no queries were run.
pub(super) fn drawing(
    results: &[RunResult],
    cost: Cost,
    theme: Theme,
    width: f64,
) -> Option<Drawing> {
    let points = points(results, cost);
    let title = "What an even spread of writes costs in reading back";
    (!points.is_empty()).then(|| draw(points, title, cost.axis(), theme, width))
}

/// The drawing of points, of which there is at least one.
pub(super) fn draw(
    mut points: Vec<Point>,
    title: &str,
    axis: &str,
    theme: Theme,
    width: f64,
) -> Drawing {
    assert!(!points.is_empty(), "there is at least one design to draw");
    points.sort_by(|left, right| {
        left.cost.total_cmp(&right.cost).then(right.heat.total_cmp(&left.heat))
    });
    let subtitle = "Down and left is better. The dashed line joins the designs that no other beats \
                    in both.";
    let title = wrapped(title, 16.0, width - 32.0);
    let subtitle = wrapped(subtitle, 11.5, width - 32.0);
    let axis = wrapped(axis, 12.0, width - LEFT);
    let below = 48.0 + TITLE_LINE * (title.len() - 1) as f64;
    let frame = Frame::new(&points, width, below + LINE * subtitle.len() as f64 + 5.0, axis.len());
    let mut drawing = Drawing::new(width, frame.bottom + frame.below, theme, LABEL);
    for (line, text) in (0_u8..).zip(&title) {
        drawing.bold((16.0, 28.0 + TITLE_LINE * f64::from(line)), 16.0, Anchor::Start, text);
    }
    for (line, text) in (0_u8..).zip(&subtitle) {
        drawing.faint((16.0, below + LINE * f64::from(line)), 11.5, Anchor::Start, text);
    }
    frame.axes(&mut drawing, &axis);

    let best = points.iter().filter(|point| point.is_best);
    let line: Vec<(f64, f64)> = best.map(|point| frame.place(point.cost, point.heat)).collect();
    drawing.dashed(&line, drawing.theme.accent);
    names(&mut drawing, &frame, &points, &line);
    // The last ones cover others at the same place.
    points.sort_by_key(|point| (point.is_proposed, point.is_best, point.is_named));
    for point in &points {
        let Point { name, cost, heat, .. } = point;
        let title = format!("{name}: max/mean {}, reads {}", number(*heat), number(*cost));
        drawing.titled(&title, |drawing| {
            let at = frame.place(*cost, *heat);
            let fill = if point.is_best { drawing.theme.accent } else { drawing.theme.faint };
            if point.is_proposed {
                drawing.circle(at, 9.0, fill);
                drawing.circle(at, 7.0, drawing.theme.ground);
                drawing.circle(at, 5.0, fill);
            } else {
                drawing.circle(at, if point.is_named { 6.0 } else { 4.0 }, fill);
            }
        });
    }
    drawing
}

/// The names of points, with leaders, on a background that interrupts the grid.
fn names(drawing: &mut Drawing, frame: &Frame, points: &[Point], line: &[(f64, f64)]) {
    let (named, others): (Vec<&Point>, Vec<&Point>) =
        points.iter().partition(|point| point.is_named);
    let texts: Vec<String> = named.iter().map(|point| point.name.clone()).collect();
    let all = named.iter().chain(&others);
    let spots: Vec<(f64, f64)> = all.map(|point| frame.place(point.cost, point.heat)).collect();
    let lines: Vec<_> = line.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let area = Area {
        left: LEFT + 1.0,
        top: frame.top - 14.0,
        right: frame.width - 6.0,
        bottom: frame.bottom - 2.0,
    };
    let labels: Vec<_> =
        labels::place(&texts, &spots, &lines, area).into_iter().flatten().collect();
    for (from, to) in labels.iter().filter_map(|label| label.leader) {
        drawing.line(from, to, drawing.theme.faint, 0.7);
    }
    for label in labels {
        let Area { left, top, right, bottom } = label.bounds;
        drawing.rectangle(left, top, right - left, bottom - top, drawing.theme.ground);
        let at = (left, bottom - labels::DESCENT);
        drawing.text(at, labels::SIZE, Anchor::Start, &label.text);
    }
}

/// From values to positions, both axes logarithmic.
struct Frame {
    cost: (f64, f64),
    heat: (f64, f64),
    width: f64,
    top: f64,
    bottom: f64,
    /// The height of what is below the plot.
    below: f64,
}

impl Frame {
    fn new(points: &[Point], width: f64, top: f64, axis_lines: usize) -> Self {
        let costs = points.iter().map(|point| point.cost);
        let least = costs.clone().fold(f64::INFINITY, f64::min);
        let most = costs.fold(0.0, f64::max);
        let hottest = points.iter().map(|point| point.heat).fold(0.0, f64::max);
        Self {
            cost: (least * 0.7, (most * 1.6).max(least * 3.0)),
            heat: (0.93, (hottest * 1.2).max(2.2)),
            width,
            top,
            bottom: top + HEIGHT - 126.0,
            below: 43.0 + LINE * axis_lines as f64,
        }
    }

    fn place(&self, cost: f64, heat: f64) -> (f64, f64) {
        let share = |(from, to): (f64, f64), value: f64| (value / from).ln() / (to / from).ln();
        let x = LEFT + (self.width - LEFT - RIGHT) * share(self.cost, cost);
        let height = self.bottom - self.top;
        (x, self.bottom - height * share(self.heat, heat.max(self.heat.0)))
    }

    fn axes(&self, drawing: &mut Drawing, axis: &[String]) {
        let grid = drawing.theme.grid;
        for tick in logarithmic_ticks(self.cost.0, self.cost.1) {
            let (x, _) = self.place(tick, 1.0);
            drawing.line((x, self.top), (x, self.bottom), grid, 1.0);
            drawing.faint((x, self.bottom + 17.0), 11.0, Anchor::Middle, &number(tick));
        }
        for tick in logarithmic_ticks(self.heat.0, self.heat.1) {
            let (_, y) = self.place(self.cost.0, tick);
            drawing.line((LEFT, y), (self.width - RIGHT, y), grid, 1.0);
            drawing.faint((LEFT - 9.0, y + 4.0), 11.0, Anchor::End, &number(tick));
        }
        let middle = (LEFT + self.width - RIGHT) / 2.0;
        for (line, text) in (0_u8..).zip(axis) {
            let y = self.bottom + 40.0 + LINE * f64::from(line);
            drawing.faint((middle, y), 12.0, Anchor::Middle, text);
        }
        let label = "windowed max/mean of writes (1 is even)";
        drawing.upwards((24.0, (self.top + self.bottom) / 2.0), 12.0, label);
    }
}
