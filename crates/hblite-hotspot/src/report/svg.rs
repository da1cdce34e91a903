//! Pictures as SVG text: the page and the PNG files use the same drawings.

use std::fmt::Write as _;

/// The colours of a drawing. In the page they are variables that follow its light or dark theme.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    pub(super) ground: &'static str,
    pub(super) ink: &'static str,
    pub(super) faint: &'static str,
    pub(super) grid: &'static str,
    pub(super) accent: &'static str,
}

impl Theme {
    /// For files.
    pub(super) const LIGHT: Self = Self {
        ground: "#ffffff",
        ink: "#1b1b1f",
        faint: "#5c5c66",
        grid: "#dcdce2",
        accent: "#b5367a",
    };

    /// For the page; its style sheet supplies the values.
    pub(super) const PAGE: Self = Self {
        ground: "var(--ground)",
        ink: "var(--ink)",
        faint: "var(--faint)",
        grid: "var(--grid)",
        accent: "var(--accent)",
    };
}

/// The alignment of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing under construction.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) theme: Theme,
    body: String,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64, theme: Theme) -> Self {
        Self { width, height, theme, body: String::new() }
    }

    pub(super) fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str) {
        let _ = write!(
            self.body,
            r#"<rect x="{x:.2}" y="{y:.2}" width="{width:.2}" height="{height:.2}" fill="{fill}"/>"#
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, width: f64) {
        let _ = write!(
            self.body,
            "<line x1='{:.2}' y1='{:.2}' x2='{:.2}' y2='{:.2}' stroke='{stroke}' \
             stroke-width='{width}'/>",
            from.0, from.1, to.0, to.1
        );
    }

    pub(super) fn dashed(&mut self, points: &[(f64, f64)], stroke: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect();
        let _ = write!(
            self.body,
            "<polyline points='{}' fill='none' stroke='{stroke}' stroke-width='1.5' \
             stroke-dasharray='5 4'/>",
            points.join(" ")
        );
    }

    pub(super) fn circle(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) {
        let _ = write!(
            self.body,
            "<circle cx='{x:.2}' cy='{y:.2}' r='{radius}' fill='{fill}' stroke='{}' \
             stroke-width='1.5'/>",
            self.theme.ground
        );
    }

    pub(super) fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.styled(at, size, anchor, text, self.theme.ink, false);
    }

    pub(super) fn faint(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.styled(at, size, anchor, text, self.theme.faint, false);
    }

    pub(super) fn bold(&mut self, at: (f64, f64), size: f64, anchor: Anchor, text: &str) {
        self.styled(at, size, anchor, text, self.theme.ink, true);
    }

    fn styled(
        &mut self,
        (x, y): (f64, f64),
        size: f64,
        anchor: Anchor,
        text: &str,
        fill: &str,
        is_bold: bool,
    ) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if is_bold { " font-weight='bold'" } else { "" };
        let _ = write!(
            self.body,
            "<text x='{x:.2}' y='{y:.2}' font-size='{size}' text-anchor='{anchor}' \
             fill='{fill}'{weight}>{}</text>",
            escaped(text)
        );
    }

    /// A text that runs upwards, centred at a point.
    pub(super) fn upwards(&mut self, (x, y): (f64, f64), size: f64, text: &str) {
        let _ = write!(
            self.body,
            "<text transform='translate({x:.2} {y:.2}) rotate(-90)' font-size='{size}' \
             text-anchor='middle' fill='{}'>{}</text>",
            self.theme.faint,
            escaped(text)
        );
    }

    /// A group with a tooltip, which screen readers also read.
    pub(super) fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        let _ = write!(self.body, "<g><title>{}</title>", escaped(title));
        draw(self);
        self.body.push_str("</g>");
    }

    /// The SVG. `label` describes the picture to readers who cannot see it.
    pub(super) fn finish(self, label: &str) -> String {
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' \
             height='{1}' font-family='DejaVu Sans, system-ui, sans-serif' role='img' \
             aria-label='{2}'>\
             <rect width='100%' height='100%' fill='{3}'/>{4}</svg>",
            self.width,
            self.height,
            escaped(label),
            self.theme.ground,
            self.body
        )
    }
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

/// The approximate width of a text, in units of its size.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let unit = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | '|' | '\'' | ' ' | '(' | ')' | '-' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' => 0.92,
        _ => 0.62,
    };
    text.chars().map(unit).sum::<f64>() * size
}

/// A text cut to a number of characters, with a mark if it was cut.
pub(super) fn cut(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(characters.saturating_sub(1)).collect();
    format!("{kept}…")
}
