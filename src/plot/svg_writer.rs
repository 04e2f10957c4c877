//! SVG writer: elements whose colors fit light and dark backgrounds.

use super::palette::Paint;
use super::scale::Place;
use std::collections::BTreeMap;
use std::fmt::Write;

/// An SVG document under construction.
///
/// Colors are attributes, which every renderer understands, and a style sheet replaces the colors on a dark background.
pub(super) struct SvgWriter {
    size: (f64, f64),
    body: String,
    /// The rules for a dark background, by class.
    dark: BTreeMap<String, String>,
}

/// The position of a text relative to its anchor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl SvgWriter {
    /// Creates an empty document.
    pub(super) fn new(size: (f64, f64)) -> SvgWriter {
        SvgWriter { size, body: String::new(), dark: BTreeMap::new() }
    }

    /// Returns the attributes for the colors of an area and of a line; a missing color is omitted.
    pub(super) fn colors(&mut self, fill: Option<&Paint>, stroke: Option<&Paint>) -> String {
        let mut classes = vec![];
        let mut attributes = String::new();
        for (letter, property, paint) in [('f', "fill", fill), ('s', "stroke", stroke)] {
            match paint {
                Some(paint) => {
                    let class = format!("ds-{letter}-{}", paint.name);
                    attributes += &format!(" {property}=\"#{}\"", paint.light);
                    self.dark.insert(class.clone(), format!("{property}:#{}", paint.dark));
                    classes.push(class);
                }
                None if property == "fill" => attributes += " fill=\"none\"",
                None => {}
            }
        }
        format!(" class=\"{}\"{attributes}", classes.join(" "))
    }

    /// Adds an element.
    pub(super) fn element(&mut self, name: &str, attributes: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "<{name}{attributes}/>");
    }

    /// Adds a path.
    pub(super) fn path(&mut self, data: &str, attributes: &str) {
        if !data.is_empty() {
            self.element("path", &format!(" d=\"{data}\"{attributes}"));
        }
    }

    /// Adds a rectangle.
    pub(super) fn rectangle(&mut self, (x, y): Place, (width, height): Place, attributes: &str) {
        let [x, y, width, height] = [x, y, width, height].map(number);
        self.element("rect", &format!(" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"{attributes}"));
    }

    /// Adds a text.
    pub(super) fn text(&mut self, (x, y): Place, (size, anchor): (u32, Anchor), text: &str, attributes: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let [x, y] = [x, y].map(number);
        let text = escaped(text);
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{attributes}>{text}</text>");
    }

    /// Returns the document; `label` describes it to readers who cannot see it.
    pub(super) fn finished(self, label: &str) -> String {
        let [width, height] = [self.size.0, self.size.1].map(number);
        let label = if label.is_empty() { String::new() } else { format!(" aria-label=\"{}\"", escaped(label)) };
        let rules: String = self.dark.iter().map(|(class, rule)| format!(".{class}{{{rule}}}")).collect();
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" role=\"img\"{label}>\n\
             <style>@media (prefers-color-scheme:dark){{{rules}}}</style>\n{}</svg>\n",
            self.body
        )
    }
}

/// Formats a coordinate with one decimal, which is finer than a pixel of any screen.
pub(super) fn number(x: f64) -> String {
    let text = format!("{x:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Returns the data of a path through positions; the path is closed if `is_closed`.
pub(super) fn path(line: &[Place], is_closed: bool) -> String {
    let mut data = String::new();
    for (at, (x, y)) in line.iter().enumerate() {
        let command = match at {
            0 => "M",
            1 => "L",
            _ => " ",
        };
        data += &format!("{command}{} {}", number(*x), number(*y));
    }
    if is_closed {
        data.push('Z');
    }
    data
}

/// Escapes text for XML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
