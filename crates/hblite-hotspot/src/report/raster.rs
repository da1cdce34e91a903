//! Draws pictures in pixels and as PNG files, with built-in fonts: the same on every machine.

use std::f32::consts::FRAC_PI_2;

use tiny_skia::{
    FillRule, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Stroke, StrokeDash,
    Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::drawing::{Anchor, Colour, DASHES, Drawing, STROKE_WIDTH, Shape, Spot, Text};

/// The width of a picture in pixels: sharp on dense screens.
const PIXELS_WIDE: f32 = 1500.0;
const REGULAR: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");
const BOLD: &[u8] = include_bytes!("../../fonts/DejaVuSans-Bold-subset.ttf");

/// A rectangle of a drawing that is filled pixel by pixel, in the drawing's units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A drawing in pixels.
pub(super) struct Raster {
    pixmap: Pixmap,
    /// Pixels per unit of the drawing.
    density: f32,
}

/// The fonts, parsed.
struct Fonts {
    regular: Face<'static>,
    bold: Face<'static>,
}

impl Fonts {
    fn new() -> Result<Self, String> {
        let parsed = |bytes| Face::parse(bytes, 0).map_err(|error| error.to_string());
        Ok(Self { regular: parsed(REGULAR)?, bold: parsed(BOLD)? })
    }
}

impl Raster {
    /// Renders a drawing.
    pub(super) fn new(drawing: &Drawing) -> Result<Self, String> {
        let fonts = Fonts::new()?;
        let density = PIXELS_WIDE / drawing.width as f32;
        let pixels = |units: f64| (units as f32 * density).round() as u32;
        let mut pixmap = Pixmap::new(pixels(drawing.width), pixels(drawing.height))
            .ok_or("the picture has no size")?;
        pixmap.fill(paint(drawing.theme.ground).1);
        let mut raster = Self { pixmap, density };
        drawing.shapes.iter().for_each(|shape| raster.draw(shape, &fonts));
        Ok(raster)
    }

    fn draw(&mut self, shape: &Shape, fonts: &Fonts) {
        match shape {
            Shape::Rectangle { x, y, width, height, fill } => {
                let sides = [*x, *y, *width, *height].map(|units| units as f32);
                if let Some(rectangle) = Rect::from_xywh(sides[0], sides[1], sides[2], sides[3]) {
                    self.fill_path(
                        &PathBuilder::from_rect(rectangle),
                        *fill,
                        Transform::identity(),
                    );
                }
            }
            Shape::Line { from, to, stroke, width } => {
                self.stroke_line(&[*from, *to], *stroke, *width, None);
            }
            Shape::Dashed { points, stroke } => {
                let dash = StrokeDash::new(DASHES.map(|units| units as f32).to_vec(), 0.0);
                self.stroke_line(points, *stroke, STROKE_WIDTH, dash);
            }
            Shape::Circle { centre: (x, y), radius, fill, stroke } => {
                let Some(circle) = PathBuilder::from_circle(*x as f32, *y as f32, *radius as f32)
                else {
                    return;
                };
                self.fill_path(&circle, *fill, Transform::identity());
                self.stroke_path(&circle, *stroke, STROKE_WIDTH, None);
            }
            Shape::Text(text) => {
                let face = if text.is_bold { &fonts.bold } else { &fonts.regular };
                self.draw_text(text, face);
            }
            Shape::Titled(_, shapes) => shapes.iter().for_each(|shape| self.draw(shape, fonts)),
        }
    }

    fn stroke_line(
        &mut self,
        points: &[Spot],
        colour: Colour,
        width: f64,
        dash: Option<StrokeDash>,
    ) {
        let mut line = PathBuilder::new();
        for (index, (x, y)) in points.iter().enumerate() {
            let (x, y) = (*x as f32, *y as f32);
            if index == 0 { line.move_to(x, y) } else { line.line_to(x, y) }
        }
        // A line needs two points.
        if let Some(line) = line.finish() {
            self.stroke_path(&line, colour, width, dash);
        }
    }

    fn stroke_path(&mut self, path: &Path, colour: Colour, width: f64, dash: Option<StrokeDash>) {
        let stroke = Stroke { width: width as f32, dash, ..Stroke::default() };
        let scale = Transform::from_scale(self.density, self.density);
        self.pixmap.stroke_path(path, &paint(colour).0, &stroke, scale, None);
    }

    fn fill_path(&mut self, path: &Path, colour: Colour, place: Transform) {
        let place = place.post_scale(self.density, self.density);
        self.pixmap.fill_path(path, &paint(colour).0, FillRule::Winding, place, None);
    }

    fn draw_text(&mut self, text: &Text, face: &Face<'_>) {
        let scale = text.size as f32 / f32::from(face.units_per_em());
        let (outline, width) = outline(&text.text, face);
        let shift = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let angle = if text.is_upright { -FRAC_PI_2 } else { 0.0 };
        let (sine, cosine) = angle.sin_cos();
        // A font's axis points up.
        let place = Transform::from_translate(shift, 0.0)
            .post_scale(scale, -scale)
            .post_concat(Transform::from_row(cosine, sine, -sine, cosine, 0.0, 0.0))
            .post_translate(text.at.0 as f32, text.at.1 as f32);
        if let Some(outline) = outline {
            self.fill_path(&outline, text.fill, place);
        }
    }

    /// Colours each pixel of a field by its position and the field's size in pixels.
    pub(super) fn fill(
        &mut self,
        field: Field,
        colour: impl Fn(usize, usize, usize, usize) -> (u8, u8, u8),
    ) {
        let pixels = |units: f64| (units * f64::from(self.density)).round() as usize;
        let (left, top) = (pixels(field.x), pixels(field.y));
        let (width, height) = (pixels(field.width), pixels(field.height));
        let row_length = self.pixmap.width() as usize;
        for y in 0..height {
            for x in 0..width {
                let (r, g, b) = colour(x, y, width, height);
                let pixel = PremultipliedColorU8::from_rgba(r, g, b, u8::MAX);
                let place = self.pixmap.pixels_mut().get_mut((top + y) * row_length + left + x);
                if let (Some(place), Some(pixel)) = (place, pixel) {
                    *place = pixel;
                }
            }
        }
    }

    /// The bytes of a PNG file.
    pub(super) fn png(&self) -> Result<Vec<u8>, String> {
        self.pixmap.encode_png().map_err(|error| error.to_string())
    }
}

/// A colour; a variable of the page has no value here and is black.
fn paint(colour: Colour) -> (Paint<'static>, tiny_skia::Color) {
    let (r, g, b) = match colour {
        Colour::Rgb(r, g, b) => (r, g, b),
        Colour::Variable(_) => (0, 0, 0),
    };
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, u8::MAX);
    (paint, tiny_skia::Color::from_rgba8(r, g, b, u8::MAX))
}

/// The outline of a text in the font's units, from the origin, and its width. Characters that the
/// font does not have are boxes.
fn outline(text: &str, face: &Face<'_>) -> (Option<Path>, f32) {
    let mut outline = Outline { path: PathBuilder::new(), x: 0.0 };
    for c in text.chars() {
        let glyph = face.glyph_index(c).unwrap_or(GlyphId(0));
        face.outline_glyph(glyph, &mut outline);
        outline.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
    }
    (outline.path.finish(), outline.x)
}

/// Adds glyphs to a path, one after another.
struct Outline {
    path: PathBuilder,
    /// Where the glyph begins.
    x: f32,
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + x1, y1, self.x + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(self.x + x1, y1, self.x + x2, y2, self.x + x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::Theme;
    use super::*;

    /// The bounds of what differs from the background, in the drawing's units.
    fn bounds(draw: impl FnOnce(&mut Drawing)) -> Option<(Spot, Spot)> {
        let mut drawing = Drawing::new(300.0, 200.0, Theme::LIGHT, "");
        draw(&mut drawing);
        let raster = Raster::new(&drawing).expect("it is drawn");
        let width = raster.pixmap.width() as usize;
        let drawn = raster.pixmap.pixels().iter().enumerate().filter(|(_, p)| p.green() < 0xff);
        let spots = drawn.map(|(at, _)| (at % width, at / width));
        let (left, right) = (spots.clone().map(|s| s.0).min()?, spots.clone().map(|s| s.0).max()?);
        let (top, bottom) = (spots.clone().map(|s| s.1).min()?, spots.map(|s| s.1).max()?);
        let units = |pixels: usize| pixels as f64 / f64::from(raster.density);
        Some(((units(left), units(top)), (units(right + 1), units(bottom + 1))))
    }

    #[test]
    fn texts_are_aligned_to_their_points() {
        let text = |anchor| {
            bounds(|drawing| drawing.bold((150.0, 100.0), 20.0, anchor, "HHHHH")).expect("a text")
        };
        let (start, middle, end) = (text(Anchor::Start), text(Anchor::Middle), text(Anchor::End));
        for (from, to) in [start, middle, end] {
            // Five letters of DejaVu Sans Bold, each 0.837 of the size wide, with their margins.
            assert!((75.0..83.7).contains(&(to.0 - from.0)), "{from:?} {to:?}");
            // A capital letter stands on the line and is 0.729 of the size high.
            assert!((to.1 - 100.0).abs() < 0.3 && (100.0 - 14.6 - from.1).abs() < 0.3, "{from:?}");
        }
        assert!((150.0..153.0).contains(&start.0.0), "{start:?}");
        assert!((147.0..150.0).contains(&end.1.0), "{end:?}");
        assert!((middle.0.0 + middle.1.0 - 300.0).abs() < 0.5, "{middle:?}");
    }

    #[test]
    fn a_text_runs_upwards_around_its_point() {
        let (from, to) =
            bounds(|drawing| drawing.upwards((150.0, 100.0), 20.0, "HHHHH")).expect("a text");
        assert!((to.0 - 150.0).abs() < 0.3 && (150.0 - 14.6 - from.0).abs() < 0.3, "{from:?}");
        assert!((from.1 + to.1 - 200.0).abs() < 0.5, "{from:?} {to:?}");
        assert!(to.1 - from.1 > 60.0, "{from:?} {to:?}");
    }

    #[test]
    fn shapes_are_where_they_were_drawn() {
        let ink = Theme::LIGHT.ink;
        let line = bounds(|drawing| drawing.line((50.0, 20.0), (250.0, 20.0), ink, 2.0));
        assert_eq!(line, Some(((50.0, 19.0), (250.0, 21.0))));
        let block = bounds(|drawing| {
            drawing.titled("a tooltip", |drawing| drawing.rectangle(10.0, 20.0, 30.0, 40.0, ink));
        });
        assert_eq!(block, Some(((10.0, 20.0), (40.0, 60.0))));
        let circle = bounds(|drawing| drawing.circle((150.0, 100.0), 8.0, ink));
        let (from, to) = circle.expect("a circle");
        assert!((to.0 - from.0 - 14.5).abs() < 0.6, "its edge has the colour of the ground");
        let dashed = |points: &[Spot]| bounds(|drawing| drawing.dashed(points, ink));
        assert_eq!(dashed(&[(10.0, 10.0)]), None, "one point is no line");
        let (from, to) = dashed(&[(10.0, 10.0), (100.0, 10.0), (100.0, 50.0)]).expect("a line");
        assert!(from.0 < 10.5 && to.0 > 100.0 && to.1 > 45.0, "{from:?} {to:?}");
    }
}
