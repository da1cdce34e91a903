//! Renders drawings as PNG, with built-in fonts: the same picture on every machine.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Color, Pixmap, PremultipliedColorU8, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// The width of a picture in pixels: sharp on dense screens.
const PIXELS_WIDE: f32 = 1500.0;

/// A rectangle of a drawing that is filled pixel by pixel, in the drawing's units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A rendered drawing.
pub(super) struct Raster {
    pixmap: Pixmap,
    /// Pixels per unit of the drawing.
    density: f32,
}

fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = Database::new();
        fonts.load_font_data(include_bytes!("../../fonts/DejaVuSans-subset.ttf").to_vec());
        fonts.load_font_data(include_bytes!("../../fonts/DejaVuSans-Bold-subset.ttf").to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        Arc::new(fonts)
    });
    Arc::clone(fonts)
}

impl Raster {
    /// Renders a drawing.
    pub(super) fn new(svg: &str) -> Result<Self, String> {
        let options = Options { fontdb: fonts(), ..Options::default() };
        let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
        let size = tree.size();
        let density = PIXELS_WIDE / size.width();
        let pixels = |units: f32| (units * density).round() as u32;
        let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()))
            .ok_or("the picture has no size")?;
        pixmap.fill(Color::WHITE);
        resvg::render(&tree, Transform::from_scale(density, density), &mut pixmap.as_mut());
        Ok(Self { pixmap, density })
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
