//! The trade-off: how evenly writes are spread against what reading back costs, with a point for
//! each design, and a line through the designs that no other beats in both.

use super::scale::{logarithmic_ticks, number};
use super::svg::{Anchor, Drawing, Theme, cut, text_width};
use crate::result::RunResult;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 520.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 40.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 66.0;

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
struct Point {
    name: String,
    cost: f64,
    heat: f64,
    is_best: bool,
}

/// The designs that no other beats in both, marked.
fn points(results: &[RunResult], cost: Cost) -> Vec<Point> {
    let heat = |result: &RunResult| {
        Some(result.spread.writes?.windowed.mean.max_over_mean)
            .filter(|_| !result.queries.is_empty())
    };
    let mut points: Vec<Point> = results
        .iter()
        .filter_map(|result| {
            let name = result.design.clone();
            let cost = cost.of(result);
            (cost > 0.0).then_some(Point { name, cost, heat: heat(result)?, is_best: false })
        })
        .collect();
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

/// The drawing, as SVG. `None` if no design was read from.
pub(super) fn svg(results: &[RunResult], cost: Cost, theme: Theme) -> Option<String> {
    let mut points = points(results, cost);
    if points.is_empty() {
        return None;
    }
    points.sort_by(|left, right| left.cost.total_cmp(&right.cost));
    let mut drawing = Drawing::new(WIDTH, HEIGHT, theme);
    let title = "What an even spread of writes costs in reading back";
    drawing.bold((24.0, 34.0), 19.0, Anchor::Start, title);
    let subtitle = "Down and left is better. The dashed line joins the designs that no other beats \
                    in both.";
    drawing.faint((24.0, 58.0), 12.5, Anchor::Start, subtitle);
    let frame = Frame::new(&points);
    frame.axes(&mut drawing, cost);

    let best: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| point.is_best)
        .map(|point| frame.place(point.cost, point.heat))
        .collect();
    drawing.dashed(&best, drawing.theme.accent);
    labels(&mut drawing, &frame, &points, &best);
    for point in &points {
        let title = format!(
            "{}: max/mean {}, {} {}",
            point.name,
            number(point.heat),
            number(point.cost),
            cost.name()
        );
        drawing.titled(&title, |drawing| {
            let fill = if point.is_best { drawing.theme.accent } else { drawing.theme.faint };
            drawing.circle(frame.place(point.cost, point.heat), 6.5, fill);
        });
    }
    Some(drawing.finish("Points: hotness of writes against cost of reads, for each design"))
}

/// From values to positions, both axes logarithmic.
struct Frame {
    cost: (f64, f64),
    heat: (f64, f64),
}

impl Frame {
    fn new(points: &[Point]) -> Self {
        let costs = points.iter().map(|point| point.cost);
        let least = costs.clone().fold(f64::INFINITY, f64::min);
        let most = costs.fold(0.0, f64::max);
        let hottest = points.iter().map(|point| point.heat).fold(0.0, f64::max);
        Self {
            cost: (least * 0.7, (most * 1.6).max(least * 3.0)),
            heat: (0.93, (hottest * 1.2).max(2.2)),
        }
    }

    fn place(&self, cost: f64, heat: f64) -> (f64, f64) {
        let share = |(from, to): (f64, f64), value: f64| (value / from).ln() / (to / from).ln();
        let x = LEFT + (WIDTH - LEFT - RIGHT) * share(self.cost, cost);
        let y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share(self.heat, heat.max(self.heat.0));
        (x, y)
    }

    fn axes(&self, drawing: &mut Drawing, cost: Cost) {
        let grid = drawing.theme.grid;
        for tick in logarithmic_ticks(self.cost.0, self.cost.1) {
            let (x, _) = self.place(tick, 1.0);
            drawing.line((x, TOP), (x, HEIGHT - BOTTOM), grid, 1.0);
            drawing.faint((x, HEIGHT - BOTTOM + 19.0), 11.0, Anchor::Middle, &number(tick));
        }
        for tick in logarithmic_ticks(self.heat.0, self.heat.1) {
            let (_, y) = self.place(self.cost.0, tick);
            drawing.line((LEFT, y), (WIDTH - RIGHT, y), grid, 1.0);
            drawing.faint((LEFT - 9.0, y + 4.0), 11.0, Anchor::End, &number(tick));
        }
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        drawing.faint((middle, HEIGHT - BOTTOM + 46.0), 12.5, Anchor::Middle, cost.axis());
        let label = "windowed max/mean of writes (1 is even)";
        drawing.upwards((32.0, (TOP + HEIGHT - BOTTOM) / 2.0), 12.5, label);
    }
}

/// An occupied rectangle.
#[derive(Clone, Copy)]
struct Taken {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Taken {
    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// Places along a line, close to each other.
fn along(from: (f64, f64), to: (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    let count = ((to.0 - from.0).abs().max((to.1 - from.1).abs()) / 2.0).ceil().max(1.0) as u32;
    (0..=count).map(move |step| {
        let share = f64::from(step) / f64::from(count);
        let between = |from: f64, to: f64| from + (to - from) * share;
        (between(from.0, to.0), between(from.1, to.1))
    })
}

/// Names next to their points where there is space; a line leads to those that had to move.
fn labels(drawing: &mut Drawing, frame: &Frame, points: &[Point], line: &[(f64, f64)]) {
    const SIZE: f64 = 12.5;
    let around = |(x, y): (f64, f64), by: f64| Taken {
        left: x - by,
        top: y - by,
        right: x + by,
        bottom: y + by,
    };
    let mut taken: Vec<Taken> =
        points.iter().map(|point| around(frame.place(point.cost, point.heat), 8.0)).collect();
    for pair in line.windows(2) {
        taken.extend(along(pair[0], pair[1]).map(|at| around(at, 2.5)));
    }
    let mut names: Vec<Taken> = Vec::new();
    for point in points {
        let (x, y) = frame.place(point.cost, point.heat);
        let name = cut(&point.name, 44);
        let width = text_width(&name, SIZE);
        let place = |dx: f64, dy: f64| Taken {
            left: x + dx,
            top: y + dy - 11.0,
            right: x + dx + width,
            bottom: y + dy + 4.0,
        };
        let beside = [(12.0, 4.0), (-12.0 - width, 4.0)];
        let further = (1..24).flat_map(|step| {
            let up = f64::from(step) * 9.0 + 8.0;
            [(-width / 2.0, -up), (-width / 2.0, up + 8.0), (12.0, -up), (-12.0 - width, -up)]
        });
        let leader = |spot: &Taken| {
            let is_beside = spot.top < y && spot.bottom > y;
            let edge = if spot.bottom < y { spot.bottom } else { spot.top };
            (!is_beside).then(|| (x.clamp(spot.left, spot.right), edge))
        };
        let is_clear = |spot: &Taken| {
            leader(spot).is_none_or(|end| {
                // Around the point itself is the point.
                let path = along((x, y), end).map(|at| around(at, 0.5));
                !path.into_iter().any(|step| names.iter().any(|name: &Taken| name.overlaps(&step)))
            })
        };
        let is_free = |spot: &Taken| {
            spot.left > LEFT
                && spot.right < WIDTH - 8.0
                && spot.top > TOP - 14.0
                && spot.bottom < HEIGHT - BOTTOM - 2.0
                && !taken.iter().any(|other| other.overlaps(spot))
                && is_clear(spot)
        };
        let spots = beside.into_iter().chain(further).map(|(dx, dy)| place(dx, dy));
        let spot = { spots }.find(is_free).unwrap_or_else(|| place(12.0, 4.0));
        if let Some(end) = leader(&spot) {
            drawing.line((x, y), end, drawing.theme.faint, 0.7);
            taken.extend(along((x, y), end).map(|at| around(at, 1.0)));
        }
        drawing.text((spot.left, spot.bottom - 4.0), SIZE, Anchor::Start, &name);
        names.push(spot);
        taken.push(spot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_near_points_do_not_overlap() {
        let point = |index: u32| Point {
            name: format!("a design with a name, {index}"),
            cost: 4.0 + f64::from(index) * 0.01,
            heat: 1.5,
            is_best: false,
        };
        let points: Vec<Point> = (0..8).map(point).collect();
        let mut drawing = Drawing::new(WIDTH, HEIGHT, Theme::LIGHT);
        labels(&mut drawing, &Frame::new(&points), &points, &[]);
        let svg = drawing.finish("");
        let places: Vec<&str> = svg.split("<text ").skip(1).collect();
        let y =
            |text: &str| text.split(" y='").nth(1).and_then(|y| y.split('\'').next()?.parse().ok());
        let mut heights: Vec<f64> = places.iter().filter_map(|text| y(text)).collect();
        heights.sort_by(f64::total_cmp);
        assert_eq!(heights.len(), 8);
        let is_apart = |pair: &[f64]| pair[1] - pair[0] > 10.0 || pair[1] - pair[0] < 0.01;
        assert!(heights.windows(2).all(is_apart), "{heights:?}");
    }
}
