//! The adviser's candidates as a picture: the hotness of writes against the cost of reads, with a
//! line through the designs that no other beats in both.

use super::drawing::{Drawing, Theme, WIDE};
use super::raster::Raster;
use super::svg::svg;
use super::trade_off::{Point, draw};
use crate::advise::Advice;

const TITLE: &str = "What an even spread of writes costs in reading back";
const AXIS: &str = "cost of the queries, times the cheapest candidate for each";

/// The picture as SVG: every candidate that was scored with the whole sample is a point, and so is
/// a table with an index; those of the front and the present design have their names.
pub fn front_svg(advice: &Advice) -> String {
    svg(&drawing(advice))
}

/// The same picture as the bytes of a PNG file.
///
/// # Errors
/// Why it could not be drawn.
pub fn front_png(advice: &Advice) -> Result<Vec<u8>, String> {
    Raster::new(&drawing(advice))?.png()
}

fn drawing(advice: &Advice) -> Drawing {
    draw(points(advice), TITLE, AXIS, Theme::LIGHT, WIDE)
}

fn points(advice: &Advice) -> Vec<Point> {
    let front: Vec<String> =
        advice.front().iter().map(|tradeoff| tradeoff.score.design.to_string()).collect();
    let present = advice.present().map(|score| score.design.to_string());
    let proposal = advice.best().design.to_string();
    let point = |score: &crate::advise::Score| {
        let name = score.design.to_string();
        let is_present = present.as_ref() == Some(&name);
        let is_best = front.contains(&name);
        let is_proposed = name == proposal;
        let mark = match (is_present, is_proposed) {
            (true, _) => " (today)",
            (_, true) => " (proposed)",
            _ => "",
        };
        Point {
            name: format!("{name}{mark}"),
            is_named: is_best || is_present || is_proposed,
            cost: score.reads,
            heat: match advice.today() {
                Some(today) if is_present && !is_proposed => today.max_over_mean,
                _ => score.max_over_mean,
            },
            is_best,
            is_proposed,
        }
    };
    let paths = advice.paths().map(|paths| Point {
        // Its end may be cut.
        name: format!("two paths: {}", paths.name()),
        is_named: true,
        cost: paths.reads,
        heat: paths.max_over_mean,
        is_best: true,
        is_proposed: false,
    });
    advice.scores().iter().map(point).chain(paths).collect()
}

#[cfg(test)]
mod tests {
    use hblite_rowkey::Design;

    use super::*;
    use crate::advise::{AdviceOptions, Sample, Wanted, advise};

    #[test]
    fn the_picture_names_the_front_and_the_present_key() {
        let design = Design::parse("ts:timestamp|host:str").expect("a design");
        let key = |ts: u64| {
            let host = format!("host{:03}", crate::mix::mixed(ts) % 300);
            design.encode(&[ts.into(), host.into()]).expect("it fits")
        };
        let keys = (0..2000).map(key).collect();
        let sample = Sample::new(design.clone(), keys).expect("a sample");
        let wanted = Wanted::parse("ts in 1 %").expect("a query");
        let advice = advise(&sample, &wanted, &AdviceOptions::default()).expect("advice");
        let svg = front_svg(&advice);
        // A point for each candidate, and the rings of the proposal, which is drawn last.
        let circles: Vec<&str> = svg.split("<title>").skip(1).collect();
        assert_eq!(circles.len(), advice.scores().len(), "a point for each candidate");
        let proposal = advice.best().design.to_string();
        let last = circles.last().expect("points");
        assert!(last.starts_with(&proposal) && last.matches("<circle").count() == 3, "{last}");
        assert!(advice.front().len() > 1, "{advice}");
        let named = svg.matches(">bucket(ts").count() + svg.matches(">salt(").count();
        assert!(named > 0 && svg.contains(">ts:timestamp|host:str (today)<"), "{svg}");
        let png = front_png(&advice).expect("a picture");
        let pixmap = tiny_skia::Pixmap::decode_png(&png).expect("a PNG file");
        assert_eq!(pixmap.width(), 1500);
    }

    #[test]
    fn a_table_with_an_index_is_a_named_point() {
        let design = Design::parse("customer:str|order:str").expect("a design");
        let key = |at: u64| {
            let order = format!("{:010}", crate::mix::mixed(at) % 10_000_000_000);
            let customer = format!("C{:04}", crate::mix::mixed(!at) % 300);
            design.encode(&[customer.into(), order.into()]).expect("it fits")
        };
        let keys = (0..2000).map(key).collect();
        let sample = Sample::new(design.clone(), keys).expect("a sample");
        let wanted = Wanted::parse("customer = ?\norder = ?").expect("queries");
        let advice = advise(&sample, &wanted, &AdviceOptions::default()).expect("advice");
        let paths = advice.paths().unwrap_or_else(|| panic!("{advice}"));
        let svg = front_svg(&advice);
        let point = format!("<title>two paths: {}", paths.name());
        assert_eq!(svg.matches(&point).count(), 1, "{svg}");
    }
}
