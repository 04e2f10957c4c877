//! Pictures: native functions for displays, charts and explanations.

use super::NativeFunction;
use super::context::{Failure, FailureKind, NativeContext, internal};
use super::host::{Display, ExplainRequest, View};
use super::text::texts;
use crate::plot::{Chart, Mark, Series, png};
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

/// The media types of the forms of a picture, in the order of the arguments.
const FORMS: [&str; 5] = ["text/plain", "image/svg+xml", "text/html", "text/latex", "application/json"];

fn show(c: Call<'_, '_>) -> Result<(), Failure> {
    let mut forms = vec![];
    for media in FORMS {
        let text = c.text()?;
        if media == FORMS[0] || !text.is_empty() {
            forms.push((media.to_owned(), text.to_string()));
        }
    }
    let id = Some(c.text()?.to_string()).filter(|id| !id.is_empty());
    let is_update = c.integer() != 0;
    c.host.streams.screen.show(&Display { forms, id, is_update });
    Ok(())
}

fn clear(c: Call<'_, '_>) -> Result<(), Failure> {
    let wait = c.integer() != 0;
    c.host.streams.screen.clear(wait);
    Ok(())
}

fn plot_text(c: Call<'_, '_>) -> Result<(), Failure> {
    let text = chart(c)?.text().join("\n");
    c.return_text(text.as_str())
}

fn plot_svg(c: Call<'_, '_>) -> Result<(), Failure> {
    let svg = chart(c)?.svg().map_err(|_| internal())?;
    c.return_text(svg.as_str())
}

/// Renders a drawing to a PNG file.
fn write_png(c: Call<'_, '_>) -> Result<(), Failure> {
    let (svg, path) = (c.text()?, c.text()?);
    let bytes =
        png(&svg).map_err(|why| Failure::new(FailureKind::Input, format!("cannot draw '{}': {why}", &*path)))?;
    super::io::write(c, &bytes, &path)
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

/// Reads a chart from the arguments: title, names of the series, their marks, numbers of points, the points, and the
/// bounds of `x`.
fn chart(c: Call<'_, '_>) -> Result<Chart, Failure> {
    let title = c.text()?.to_string();
    let names = c.array(TEXTS)?;
    let (marks, counts) = (c.array(INTEGERS)?, c.array(INTEGERS)?);
    let (xs, ys) = (c.array(NUMBERS)?, c.array(NUMBERS)?);
    let (low, high) = (c.number(), c.number());
    let mut points = xs.f.iter().copied().zip(ys.f.iter().copied());
    let mut series = vec![];
    for ((name, mark), count) in names.r.iter().zip(marks.i.iter()).zip(counts.i.iter()) {
        let Ref::Text(name) = name else { return Err(internal()) };
        let count = usize::try_from(*count).map_err(|_| internal())?;
        let points = points.by_ref().take(count).collect();
        series.push(Series { name: name.to_string(), mark: mark_of(*mark), points });
    }
    Ok(Chart { title, x: bounds(low, high), series })
}

fn mark_of(number: i64) -> Mark {
    match number {
        1 => Mark::Points,
        2 => Mark::Bars,
        3 => Mark::Arrows,
        _ => Mark::Line,
    }
}

/// Returns bounds that differ from each other, so that a picture of a single point has a margin.
fn bounds(low: f64, high: f64) -> std::ops::RangeInclusive<f64> {
    match (low.is_finite() && high.is_finite(), low < high) {
        (true, true) => low..=high,
        (true, false) => low - 1.0..=low + 1.0,
        (false, _) => 0.0..=1.0,
    }
}
