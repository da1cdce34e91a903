//! The samples as a picture: one panel per value, time to the right.

use std::fmt::Write as _;

use crate::sample::Sample;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const PANEL: f64 = 110.0;
const GAP: f64 = 34.0;
const COLORS: [&str; 2] = ["#0b62a4", "#c25700"];

type Value = fn(&Sample) -> f64;

struct Panel {
    title: &'static str,
    /// Lines with their names.
    lines: &'static [(&'static str, Value)],
}

const PANELS: [Panel; 6] = [
    Panel {
        title: "memory (MiB)",
        lines: &[("resident", |s| s.memory_mib), ("anonymous", |s| s.anonymous_mib)],
    },
    Panel {
        title: "open descriptors, threads",
        lines: &[("descriptors", |s| s.descriptors as f64), ("threads", |s| s.threads as f64)],
    },
    Panel { title: "disk (MiB)", lines: &[("disk", |s| s.disk_mib)] },
    Panel {
        title: "calls per second",
        lines: &[("embedded", |s| s.embedded.count as f64), ("Java", |s| s.clients.count as f64)],
    },
    Panel {
        title: "p99 per second (ms)",
        lines: &[("embedded", |s| s.embedded.p99 / 1e3), ("Java", |s| s.clients.p99 / 1e3)],
    },
    Panel { title: "load average of the machine", lines: &[("load", |s| s.load)] },
];

pub(crate) fn svg(samples: &[Sample]) -> String {
    let height = GAP + PANELS.len() as f64 * (PANEL + GAP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    let last = samples.last().map_or(1, |sample| sample.second).max(1) as f64;
    for (number, panel) in PANELS.iter().enumerate() {
        draw(&mut svg, samples, panel, GAP + number as f64 * (PANEL + GAP), last);
    }
    for part in 0..=6 {
        let x = LEFT + (WIDTH - LEFT - RIGHT) * f64::from(part) / 6.0;
        let minutes = last / 60.0 * f64::from(part) / 6.0;
        let y = height - 10.0;
        let _ = writeln!(
            svg,
            "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\" fill=\"#444\">{minutes:.0} \
             min</text>"
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn draw(svg: &mut String, samples: &[Sample], panel: &Panel, top: f64, last: f64) {
    let values = panel.lines.iter().flat_map(|(_, value)| samples.iter().map(*value));
    let most = values.fold(0.0, f64::max).max(1e-9);
    let (bottom, right) = (top + PANEL, WIDTH - RIGHT);
    let _ = writeln!(
        svg,
        "<text x=\"{LEFT}\" y=\"{:.0}\" fill=\"#222\">{}</text>\n\
         <path d=\"M{LEFT} {top}H{right}M{LEFT} {bottom}H{right}\" stroke=\"#ccc\"/>\n\
         <text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"end\" fill=\"#444\">{most:.0}</text>\n\
         <text x=\"{:.0}\" y=\"{bottom:.0}\" text-anchor=\"end\" fill=\"#444\">0</text>",
        top - 6.0,
        panel.title,
        LEFT - 6.0,
        top + 8.0,
        LEFT - 6.0,
    );
    for (number, (name, value)) in panel.lines.iter().enumerate() {
        let mut points = String::new();
        for sample in samples {
            let x = LEFT + (right - LEFT) * sample.second as f64 / last;
            let y = bottom - PANEL * value(sample) / most;
            let _ = write!(points, "{x:.1},{y:.1} ");
        }
        let color = COLORS[number];
        let x = right - 90.0 * (panel.lines.len() - 1 - number) as f64;
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"0.8\"/>\n\
             <text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"end\" fill=\"{color}\">{name}</text>",
            points.trim_end(),
            top - 6.0,
        );
    }
}
