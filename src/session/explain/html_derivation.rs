//! Derivation as HTML: tables for a notebook, without scripts and styles, with headings for screen readers.

use crate::plot::Graph;
use crate::session::Explanation;
use crate::session::explain::derivation::{
    adjoints, backward, entries, forward, heading, is_long, is_long_tape, kinks, result, size, sums,
};
use crate::source::SourceMap;

/// Formats a derivation as HTML: values, partials, and adjoints.
pub(crate) fn explained(explained: &Explanation, sources: &SourceMap) -> String {
    if is_long(explained, sources) {
        return summary(explained, sources);
    }
    let result = match result(explained) {
        Ok(result) => result,
        Err(constant) => return paragraph(&constant),
    };
    let mut page = table(&title("derivative", explained), &forward(explained, sources), true);
    page += &table(&heading(&result), &backward(explained, &result, sources), false);
    kinks(explained).for_each(|line| page += &paragraph(&line));
    page
}

/// Formats the nodes of the tape as an HTML table.
pub(crate) fn tape(explained: &Explanation, sources: &SourceMap) -> String {
    if is_long_tape(explained) {
        return summary(explained, sources);
    }
    table(&title("tape", explained), &entries(explained, sources), true) + &paragraph(&size(explained))
}

/// Returns the drawing of a computation graph as a figure with a caption.
pub(crate) fn graph(explained: &Explanation, graph: &Graph) -> String {
    let svg = graph.svg();
    // Inside an HTML page, the part of the document before the `<svg>` element is omitted.
    let drawing = svg.find("<svg").map_or("", |at| &svg[at..]);
    if drawing.is_empty() {
        return String::new();
    }
    format!("<figure>\n{}\n<figcaption>{}</figcaption>\n</figure>\n", drawing.trim_end(), title("graph", explained))
}

/// Formats a summary as HTML: the numbers of operations by line.
fn summary(explained: &Explanation, sources: &SourceMap) -> String {
    let mut page = table(&title("tape", explained), &sums(explained, sources), true);
    adjoints(explained).for_each(|line| page += &paragraph(&line));
    page + &paragraph(&size(explained))
}

/// Returns the title of an explanation, such as `derivative of f at x = 2`.
fn title(what: &str, explained: &Explanation) -> String {
    let inputs = explained.inputs.iter().map(|q| format!("{} = {}", q.name, q.value_text()));
    escaped(&format!("{what} of {} at {}", explained.function, inputs.collect::<Vec<_>>().join(", ")))
}

fn table<const N: usize>(caption: &str, rows: &[[String; N]], has_head: bool) -> String {
    let line = |row: &[String; N], cell: &str, end: &str| {
        let cells = row.iter().map(|text| match text.trim() {
            // An empty heading cell is replaced by a data cell.
            "" => "<td></td>".to_owned(),
            text => format!("<{cell}>{}</{end}>", escaped(text)),
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let (head, body) = rows.split_at(usize::from(has_head).min(rows.len()));
    let head: String = head.iter().map(|row| line(row, "th scope=\"col\"", "th")).collect();
    let head = if head.is_empty() { head } else { format!("<thead>\n{head}</thead>\n") };
    let body: String = body.iter().map(|row| line(row, "td", "td")).collect();
    format!("<table>\n<caption>{caption}</caption>\n{head}<tbody>\n{body}</tbody>\n</table>\n")
}

fn paragraph(text: &str) -> String {
    format!("<p>{}</p>\n", escaped(text))
}

/// Escapes text for HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_taken_for_a_tag() {
        let rows = [["a".to_owned(), "b".to_owned()], ["x < \"y\" & z".to_owned(), "<script>".to_owned()]];
        let expected = "<table>\n<caption>c</caption>\n<thead>\n<tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr>\n\
            </thead>\n<tbody>\n<tr><td>x &lt; &quot;y&quot; &amp; z</td><td>&lt;script&gt;</td></tr>\n</tbody>\n</table>\n";
        assert_eq!(table("c", &rows, true), expected);
    }
}
