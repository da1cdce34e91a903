//! Drawings as SVG text.

use std::fmt::Write as _;

use super::drawing::{Anchor, DASHES, Drawing, STROKE_WIDTH, Shape, Text};

/// The drawing as an SVG element.
pub(super) fn svg(drawing: &Drawing) -> String {
    let mut body = String::new();
    drawing.shapes.iter().for_each(|shape| write_shape(shape, &mut body));
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' \
         height='{1}' font-family='DejaVu Sans, system-ui, sans-serif' role='img' \
         aria-label='{2}'>\
         <rect width='100%' height='100%' fill='{3}'/>{body}</svg>",
        drawing.width,
        drawing.height,
        escaped(&drawing.label),
        drawing.theme.ground,
    )
}

fn write_shape(shape: &Shape, body: &mut String) {
    // Writing to a string cannot fail.
    _ = match shape {
        Shape::Rectangle { x, y, width, height, fill } => write!(
            body,
            "<rect x='{x:.2}' y='{y:.2}' width='{width:.2}' height='{height:.2}' fill='{fill}'/>"
        ),
        Shape::Line { from, to, stroke, width } => write!(
            body,
            "<line x1='{:.2}' y1='{:.2}' x2='{:.2}' y2='{:.2}' stroke='{stroke}' \
             stroke-width='{width}'/>",
            from.0, from.1, to.0, to.1
        ),
        Shape::Dashed { points, stroke } => {
            let point = |(x, y): &(f64, f64)| format!("{x:.2},{y:.2}");
            let points: Vec<String> = points.iter().map(point).collect();
            let [dash, gap] = DASHES;
            write!(
                body,
                "<polyline points='{}' fill='none' stroke='{stroke}' \
                 stroke-width='{STROKE_WIDTH}' stroke-dasharray='{dash} {gap}'/>",
                points.join(" ")
            )
        }
        Shape::Circle { centre: (x, y), radius, fill, stroke } => write!(
            body,
            "<circle cx='{x:.2}' cy='{y:.2}' r='{radius}' fill='{fill}' stroke='{stroke}' \
             stroke-width='{STROKE_WIDTH}'/>"
        ),
        Shape::Text(text) => write_text(text, body),
        Shape::Titled(title, shapes) => {
            let begun = write!(body, "<g><title>{}</title>", escaped(title));
            shapes.iter().for_each(|shape| write_shape(shape, body));
            body.push_str("</g>");
            begun
        }
    };
}

fn write_text(text: &Text, body: &mut String) -> std::fmt::Result {
    let Text { at: (x, y), size, anchor, fill, is_bold, is_upright, text } = text;
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let weight = if *is_bold { " font-weight='bold'" } else { "" };
    let place = match is_upright {
        true => format!("transform='translate({x:.2} {y:.2}) rotate(-90)'"),
        false => format!("x='{x:.2}' y='{y:.2}'"),
    };
    let text = escaped(text);
    write!(
        body,
        "<text {place} font-size='{size}' text-anchor='{anchor}' fill='{fill}'{weight}>\
         {text}</text>"
    )
}

/// Text escaped for XML.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            // XML cannot represent these.
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
