//! Where the names of points go: next to them if there is space, else further away with a leader,
//! or shortened. A name without space is omitted.
//!
//! Invariants: the box of a name crosses no point, no given line, no leader and no other name, and
//! lies within the area. `place` is a pure function of positions.

use super::drawing::{Spot, cut, text_width};

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// A name in its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    /// The name, possibly shortened.
    pub(super) text: String,
    /// Its box; the text stands `DESCENT` above the bottom.
    pub(super) bounds: Area,
    /// A line from the point to the name, if that is not next to it.
    pub(super) leader: Option<(Spot, Spot)>,
}

/// The size of names.
pub(super) const SIZE: f64 = 12.0;
/// What letters take below their line.
pub(super) const DESCENT: f64 = 4.0;
const ASCENT: f64 = 11.0;
/// The radius of a point with the space around it.
const POINT: f64 = 8.0;
/// Half the space around a line, and around a leader.
const LINE: f64 = 2.5;
const LEADER: f64 = 1.0;
/// Lengths to try for a name, in characters.
const LENGTHS: [usize; 4] = [44, 30, 20, 12];
/// Distance of the places to try, in units.
const STEP: f64 = 9.0;

impl Area {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn around((x, y): Spot, by: f64) -> Self {
        Self { left: x - by, top: y - by, right: x + by, bottom: y + by }
    }

    fn contains(&self, other: &Self) -> bool {
        other.left >= self.left
            && other.right <= self.right
            && other.top >= self.top
            && other.bottom <= self.bottom
    }

    /// Whether a line runs through the rectangle, or within `by` of it.
    pub(super) fn is_crossed(&self, (from, to): (Spot, Spot), by: f64) -> bool {
        // Clips the line at each side (Liang and Barsky).
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let sides = [
            (-dx, from.0 - (self.left - by)),
            (dx, self.right + by - from.0),
            (-dy, from.1 - (self.top - by)),
            (dy, self.bottom + by - from.1),
        ];
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        for (slope, distance) in sides {
            if slope == 0.0 {
                if distance < 0.0 {
                    return false;
                }
            } else if slope < 0.0 {
                first = first.max(distance / slope);
            } else {
                last = last.min(distance / slope);
            }
        }
        first <= last
    }
}

/// Places the names of points, in order; `None` for those without space. `points` are all points,
/// of which the first have the names.
pub(super) fn place(
    names: &[String],
    points: &[Spot],
    lines: &[(Spot, Spot)],
    area: Area,
) -> Vec<Option<Label>> {
    assert!(names.len() <= points.len(), "a name belongs to a point");
    let mut taken = Taken {
        points: points.iter().map(|point| Area::around(*point, POINT)).collect(),
        lines: lines.iter().map(|line| (*line, LINE)).collect(),
        names: Vec::new(),
    };
    let place_one = |(name, point): (&String, &Spot)| {
        let label = LENGTHS.iter().find_map(|length| {
            let text = cut(name, *length);
            candidates(&text, *point).find(|label| taken.is_free(label, area))
        })?;
        taken.lines.extend(label.leader.map(|leader| (leader, LEADER)));
        taken.names.push(label.bounds);
        Some(label)
    };
    names.iter().zip(points).map(place_one).collect()
}

/// What names must not cross.
struct Taken {
    points: Vec<Area>,
    /// Each with the space around it.
    lines: Vec<((Spot, Spot), f64)>,
    names: Vec<Area>,
}

impl Taken {
    fn is_free(&self, label: &Label, area: Area) -> bool {
        let bounds = &label.bounds;
        area.contains(bounds)
            && !self.points.iter().chain(&self.names).any(|other| other.overlaps(bounds))
            && !self.lines.iter().any(|(line, by)| bounds.is_crossed(*line, *by))
            && label
                .leader
                .is_none_or(|leader| !self.names.iter().any(|name| name.is_crossed(leader, LEADER)))
    }
}

/// The places for a name, the best first: right and left of the point, then in growing distance.
fn candidates(text: &str, (x, y): Spot) -> impl Iterator<Item = Label> {
    let width = text_width(text, SIZE);
    let beside = [(12.0, DESCENT), (-12.0 - width, DESCENT)];
    let further = (1..40).flat_map(move |step| {
        let by = f64::from(step) * STEP + POINT;
        // Aligned names leave room for the leaders of those above and below them.
        let aligned = [12.0, 30.0, 60.0, 110.0].map(|dx| [dx, -dx - width]);
        let sides = aligned.into_iter().flatten().chain([-width / 2.0]);
        sides.flat_map(move |dx| [(dx, -by), (dx, by + POINT)])
    });
    let text = text.to_owned();
    beside.into_iter().chain(further).map(move |(dx, dy)| {
        let bounds = Area {
            left: x + dx,
            top: y + dy - ASCENT,
            right: x + dx + width,
            bottom: y + dy + DESCENT,
        };
        let is_beside = bounds.top < y && bounds.bottom > y;
        let edge = if bounds.bottom < y { bounds.bottom } else { bounds.top };
        let end = (x.clamp(bounds.left, bounds.right), edge);
        Label { text: text.clone(), bounds, leader: (!is_beside).then_some(((x, y), end)) }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AREA: Area = Area { left: 60.0, top: 70.0, right: 660.0, bottom: 400.0 };

    /// Every pair of a name with a name, a point, a line or a leader, one by one.
    fn check(points: &[Spot], lines: &[(Spot, Spot)], labels: &[Option<Label>]) {
        let labels: Vec<&Label> = labels.iter().flatten().collect();
        for (index, label) in labels.iter().enumerate() {
            assert!(AREA.contains(&label.bounds), "{label:?} is outside");
            for point in points {
                assert!(!Area::around(*point, 6.5).overlaps(&label.bounds), "{label:?} {point:?}");
            }
            for line in lines {
                assert!(!sampled(label, *line), "{label:?} crosses the line {line:?}");
            }
            for (other_index, other) in labels.iter().enumerate() {
                if index != other_index {
                    assert!(!label.bounds.overlaps(&other.bounds), "{label:?} {other:?}");
                    let leader = other.leader;
                    let is_crossed = leader.is_some_and(|leader| sampled(label, leader));
                    assert!(!is_crossed, "{label:?} crosses the leader of {other:?}");
                }
            }
        }
    }

    /// Whether any of many positions on a line is within a label.
    fn sampled(label: &Label, (from, to): (Spot, Spot)) -> bool {
        (0..=2000).any(|step| {
            let share = f64::from(step) / 2000.0;
            let x = from.0 + (to.0 - from.0) * share;
            let y = from.1 + (to.1 - from.1) * share;
            let bounds = &label.bounds;
            x > bounds.left && x < bounds.right && y > bounds.top && y < bounds.bottom
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_name_crosses_anything(
            spots in prop::collection::vec((60.0..660.0f64, 70.0..400.0f64), 1..14),
            lengths in prop::collection::vec(1..60usize, 14),
            joined in 0..6usize,
        ) {
            let names: Vec<String> =
                spots.iter().zip(&lengths).map(|(_, length)| "n".repeat(*length)).collect();
            let mut line: Vec<Spot> = spots.iter().copied().take(joined).collect();
            line.sort_by(|one, other| one.0.total_cmp(&other.0));
            let lines: Vec<_> = line.windows(2).map(|pair| (pair[0], pair[1])).collect();
            check(&spots, &lines, &place(&names, &spots, &lines, AREA));
        }
    }

    #[test]
    fn near_points_all_get_their_names() {
        let spots: Vec<Spot> = (0..8).map(|index| (300.0 + f64::from(index), 200.0)).collect();
        let names: Vec<String> =
            (0..8).map(|index| format!("a design with a name, {index}")).collect();
        let lines = [((100.0, 100.0), (300.0, 200.0)), ((307.0, 200.0), (600.0, 220.0))];
        let labels = place(&names, &spots, &lines, AREA);
        let texts: Vec<&str> = labels.iter().flatten().map(|label| label.text.as_str()).collect();
        assert_eq!(texts.len(), 8, "{texts:?}");
        let whole = texts.iter().filter(|text| names.iter().any(|name| name == *text)).count();
        assert!(whole >= 6, "{texts:?}");
        check(&spots, &lines, &labels);
    }

    #[test]
    fn what_has_no_space_has_no_name() {
        let narrow = Area { left: 0.0, top: 0.0, right: 40.0, bottom: 20.0 };
        let labels = place(&["a name of a design".to_owned()], &[(20.0, 10.0)], &[], narrow);
        assert_eq!(labels, [None]);
    }
}
