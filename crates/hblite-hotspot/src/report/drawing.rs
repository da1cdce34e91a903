//! A picture as shapes. `svg` writes it as text, for the page and for files; `raster` draws it in
//! pixels. Both show the same.

use std::fmt;

/// The colours of a drawing. In the page they are variables that follow its light or dark theme.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    pub(super) ground: Colour,
    pub(super) ink: Colour,
    pub(super) faint: Colour,
    pub(super) grid: Colour,
    pub(super) accent: Colour,
}

impl Theme {
    /// For files.
    pub(super) const LIGHT: Self = Self {
        ground: Colour::Rgb(0xff, 0xff, 0xff),
        ink: Colour::Rgb(0x1b, 0x1b, 0x1f),
        faint: Colour::Rgb(0x5c, 0x5c, 0x66),
        grid: Colour::Rgb(0xdc, 0xdc, 0xe2),
        accent: Colour::Rgb(0xb5, 0x36, 0x7a),
    };

    /// For the page; its style sheet supplies the values.
    pub(super) const PAGE: Self = Self {
        ground: Colour::Variable("ground"),
        ink: Colour::Variable("ink"),
        faint: Colour::Variable("faint"),
        grid: Colour::Variable("grid"),
        accent: Colour::Variable("accent"),
    };
}

/// A colour; its text is that of a style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    Rgb(u8, u8, u8),
    /// A variable of the page's style sheet.
    Variable(&'static str),
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rgb(r, g, b) => write!(f, "#{r:02x}{g:02x}{b:02x}"),
            Self::Variable(name) => write!(f, "var(--{name})"),
        }
    }
}

/// The alignment of a text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A position in the units of a drawing.
pub(super) type Spot = (f64, f64);

/// A part of a drawing. Later ones cover earlier ones.
#[derive(Debug, Clone)]
pub(super) enum Shape {
    Rectangle {
        x: f64,
        y: f64,
        width: f64,
        height: f64,
        fill: Colour,
    },
    Line {
        from: Spot,
        to: Spot,
        stroke: Colour,
        width: f64,
    },
    /// A line through several points.
    Dashed {
        points: Vec<Spot>,
        stroke: Colour,
    },
    /// With an edge in the second colour.
    Circle {
        centre: Spot,
        radius: f64,
        fill: Colour,
        stroke: Colour,
    },
    Text(Text),
    /// Shapes with a tooltip, which screen readers also read.
    Titled(String, Vec<Shape>),
}

/// A line of text.
#[derive(Debug, Clone)]
pub(super) struct Text {
    /// The point on its base line that it is aligned to.
    pub(super) at: Spot,
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    pub(super) fill: Colour,
    pub(super) is_bold: bool,
    /// Whether it runs upwards.
    pub(super) is_upright: bool,
    pub(super) text: String,
}

/// The width of every dashed line and of the edge of every circle.
pub(super) const STROKE_WIDTH: f64 = 1.5;
/// Of a dashed line: the lengths of a dash and of the gap after it.
pub(super) const DASHES: [f64; 2] = [5.0, 4.0];

/// A drawing under construction.
#[derive(Debug)]
pub(super) struct Drawing {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) theme: Theme,
    /// Describes the picture to readers who cannot see it.
    pub(super) label: String,
    pub(super) shapes: Vec<Shape>,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64, theme: Theme, label: &str) -> Self {
        Self { width, height, theme, label: label.to_owned(), shapes: Vec::new() }
    }

    pub(super) fn rectangle(&mut self, x: f64, y: f64, width: f64, height: f64, fill: Colour) {
        self.shapes.push(Shape::Rectangle { x, y, width, height, fill });
    }

    pub(super) fn line(&mut self, from: Spot, to: Spot, stroke: Colour, width: f64) {
        self.shapes.push(Shape::Line { from, to, stroke, width });
    }

    pub(super) fn dashed(&mut self, points: &[Spot], stroke: Colour) {
        self.shapes.push(Shape::Dashed { points: points.to_vec(), stroke });
    }

    pub(super) fn circle(&mut self, centre: Spot, radius: f64, fill: Colour) {
        let stroke = self.theme.ground;
        self.shapes.push(Shape::Circle { centre, radius, fill, stroke });
    }

    pub(super) fn text(&mut self, at: Spot, size: f64, anchor: Anchor, text: &str) {
        self.styled(at, size, anchor, text, self.theme.ink, false);
    }

    pub(super) fn faint(&mut self, at: Spot, size: f64, anchor: Anchor, text: &str) {
        self.styled(at, size, anchor, text, self.theme.faint, false);
    }

    pub(super) fn bold(&mut self, at: Spot, size: f64, anchor: Anchor, text: &str) {
        self.styled(at, size, anchor, text, self.theme.ink, true);
    }

    fn styled(
        &mut self,
        at: Spot,
        size: f64,
        anchor: Anchor,
        text: &str,
        fill: Colour,
        is_bold: bool,
    ) {
        let (is_upright, text) = (false, text.to_owned());
        self.shapes.push(Shape::Text(Text { at, size, anchor, fill, is_bold, is_upright, text }));
    }

    /// A text that runs upwards, centred at a point.
    pub(super) fn upwards(&mut self, at: Spot, size: f64, text: &str) {
        let (anchor, fill, text) = (Anchor::Middle, self.theme.faint, text.to_owned());
        let (is_bold, is_upright) = (false, true);
        self.shapes.push(Shape::Text(Text { at, size, anchor, fill, is_bold, is_upright, text }));
    }

    /// A group with a tooltip.
    pub(super) fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        let before = std::mem::take(&mut self.shapes);
        draw(self);
        let grouped = std::mem::replace(&mut self.shapes, before);
        self.shapes.push(Shape::Titled(title.to_owned(), grouped));
    }
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
/// The width of pictures, and of those for narrow pages.
pub(super) const WIDE: f64 = 680.0;
pub(super) const NARROW: f64 = 360.0;

/// A text in lines that are not wider than `width`, unless a word is.
pub(super) fn wrapped(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) + size / 2.0 <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

pub(super) fn cut(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.to_owned();
    }
    let kept: String = text.chars().take(characters.saturating_sub(1)).collect();
    format!("{kept}…")
}
