//! Pictures: displays, plots and explanations.

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext, internal};
use super::host::{Display, ExplainRequest, View};
use super::string::texts;
use crate::plot::{Axis, Color, Kind, Scene, Series, TextStyle, png};
use crate::value::Ref;
use crate::value::shape::Layout;

type Call<'a, 'b> = &'a mut NativeContext<'b>;

pub(super) const TABLE: &[NativeFunction] = &[
    NativeFunction { name: "screen.show", call: show },
    NativeFunction { name: "screen.clear", call: clear },
    NativeFunction { name: "plot.text", call: plot_text },
    NativeFunction { name: "plot.svg", call: plot_svg },
    NativeFunction { name: "picture.png", call: write_png },
    NativeFunction { name: "sweep.explain", call: request_explanation },
    NativeFunction { name: "sweep.seen", call: seen },
];

const NUMBERS: Layout = Layout { f: 1, i: 0, r: 0 };
const INTEGERS: Layout = Layout { f: 0, i: 1, r: 0 };
const TEXTS: Layout = Layout { f: 0, i: 0, r: 1 };

/// The number of forms of a picture.
const FORM_COUNT: usize = 6;

fn show(c: Call<'_, '_>) -> Result<(), Failure> {
    let mut forms = vec![];
    for _ in 0..FORM_COUNT {
        forms.push(c.text()?.to_string());
    }
    let id = Some(c.text()?.to_string()).filter(|id| !id.is_empty());
    let is_update = c.integer() != 0;
    c.host.streams.screen.show(&Display { id, is_update, ..Display::of(forms) });
    Ok(())
}

fn clear(c: Call<'_, '_>) -> Result<(), Failure> {
    let wait = c.integer() != 0;
    c.host.streams.screen.clear(wait);
    Ok(())
}

/// Draws a plot as text: plain, or for the terminal; without a terminal, the latter is empty.
fn plot_text(c: Call<'_, '_>) -> Result<(), Failure> {
    let is_for_terminal = c.integer() != 0;
    let scene = scene(c)?;
    let style = if is_for_terminal { c.host.text_style } else { Some(TextStyle::default()) };
    let text = style.map_or_else(String::new, |style| scene.text(style).join("\n"));
    c.return_text(text.as_str())
}

fn plot_svg(c: Call<'_, '_>) -> Result<(), Failure> {
    let svg = scene(c)?.svg();
    c.return_text(svg.as_str())
}

/// Renders a drawing to a PNG file.
fn write_png(c: Call<'_, '_>) -> Result<(), Failure> {
    let (svg, path) = (c.text()?, c.text()?);
    let bytes =
        png(&svg).map_err(|why| Failure::new(FailureKind::Input, format!("cannot draw '{}': {why}", &*path)))?;
    super::file::write(c, &bytes, &path)
}

fn request_explanation(c: Call<'_, '_>) -> Result<(), Failure> {
    let view = match c.integer() {
        1 => View::Tape,
        2 => View::Graph,
        _ => View::Explanation,
    };
    let function = c.text()?.to_string();
    c.host.pending_explanations.push(ExplainRequest { view, function, forms: vec![] });
    Ok(())
}

fn seen(c: Call<'_, '_>) -> Result<(), Failure> {
    let forms = c.host.pending_explanations.pop().map(|request| request.forms).unwrap_or_default();
    c.return_reference(texts(forms.iter().map(String::as_str).collect()))
}

/// Reads a scene: title and labels; the limits of both axes, whose absence is NaN; whether the axes are logarithmic and
/// have equal units; of each series the name, the kind, the number of points, the color and the shade; and all points.
fn scene(c: Call<'_, '_>) -> Result<Scene, Failure> {
    let words = c.array(TEXTS)?;
    let limits = c.array(NUMBERS)?;
    let switches = c.array(INTEGERS)?;
    let names = c.array(TEXTS)?;
    let (kinds, counts, colors) = (c.array(INTEGERS)?, c.array(INTEGERS)?, c.array(INTEGERS)?);
    let shades = c.array(NUMBERS)?;
    let (xs, ys) = (c.array(NUMBERS)?, c.array(NUMBERS)?);
    let word = |n: usize| if let Some(Ref::Text(text)) = words.r.get(n) { text.to_string() } else { String::new() };
    let axis = |label: usize, n: usize| {
        let range = limits.f.get(2 * n).copied().zip(limits.f.get(2 * n + 1).copied());
        let range = range.filter(|(low, high)| low.is_finite() && high.is_finite());
        Axis { label: word(label), range, is_log: switches.i.get(n).is_some_and(|is_log| *is_log != 0) }
    };
    let mut points = xs.f.iter().copied().zip(ys.f.iter().copied());
    let mut series = vec![];
    for (k, name) in names.r.iter().enumerate() {
        let (Ref::Text(name), Some(kind), Some(count)) = (name, kinds.i.get(k), counts.i.get(k)) else {
            return Err(internal());
        };
        let count = usize::try_from(*count).map_err(|_| internal())?;
        let color = match shades.f.get(k) {
            Some(shade) if shade.is_finite() => Color::Ramp(*shade),
            _ => Color::Distinct(colors.i.get(k).and_then(|n| usize::try_from(*n).ok()).unwrap_or(0)),
        };
        let points = points.by_ref().take(count).collect();
        series.push(Series { name: name.to_string(), kind: Kind::numbered(*kind), color, points });
    }
    let is_equal = switches.i.get(2).is_some_and(|is_equal| *is_equal != 0);
    Ok(Scene { title: word(0), x: axis(1, 0), y: axis(2, 1), is_equal, series })
}
