//! PNG export: rasterizes drawings. Only with the feature `png`, which adds a few megabytes.

/// The number of pixels per unit of a drawing in each direction: enough for screens of high density and for paper.
#[cfg(feature = "png")]
const SCALE: f32 = 2.0;

/// Converts an SVG document to a PNG file with a white background; the result does not depend on the machine.
///
/// # Errors
/// Returns the error of the SVG parser, or that the drawing is empty or too large.
#[cfg(feature = "png")]
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    use resvg::tiny_skia::{Color, Pixmap, Transform};
    use resvg::usvg::{Options, Tree};

    const FONT: &str = "DejaVu Sans";
    let mut options = Options { font_family: FONT.to_owned(), ..Options::default() };
    // The font is the only one available, so that the result does not depend on the installed fonts.
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_serif_family(FONT);
    fonts.set_sans_serif_family(FONT);
    fonts.set_monospace_family(FONT);
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or("the drawing is empty")?;
    let mut dots = Pixmap::new(size.width(), size.height()).ok_or("the drawing is too large")?;
    dots.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut dots.as_mut());
    dots.encode_png().map_err(|error| error.to_string())
}

/// Reports that this build cannot draw PNG.
///
/// # Errors
/// Always fails.
#[cfg(not(feature = "png"))]
pub fn png(_: &str) -> Result<Vec<u8>, String> {
    Err("this build of dscript cannot draw PNG; name a file that ends in '.svg', or install a build that can: cargo \
         install --path . --features png"
        .to_owned())
}

#[cfg(all(test, feature = "png"))]
mod tests {
    use crate::plot::{Color, Kind, Scene, Series};

    #[test]
    fn a_curve_becomes_dots_and_always_the_same() {
        let points = (0..=20).map(|k| (f64::from(k), f64::from(k * k))).collect();
        let series = vec![Series { name: "x²".to_owned(), kind: Kind::Curve, color: Color::Distinct(0), points }];
        let svg = Scene { title: "squares".to_owned(), series, ..Scene::default() }.svg();
        let first = super::png(&svg).unwrap();
        assert!(first.starts_with(b"\x89PNG\r\n"));
        assert_eq!(super::png(&svg).unwrap(), first);
        // The text of the drawing is visible in the picture.
        assert_ne!(super::png(&svg.replace("squares", "")).unwrap(), first);
    }
}
