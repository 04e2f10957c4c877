//! Computation graph: drawings of operations, values and adjoints as SVG, text, or Graphviz input.

use super::palette::Role;
use super::svg_writer::{Anchor, SvgWriter};
use std::fmt::Write;

/// A computation graph, with the operations in execution order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// The nodes of the graph; the operands of a node precede it.
    pub nodes: Vec<Node>,
}

/// A node of the graph: a number, and the operation that computed it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// The name of the number.
    pub name: String,
    /// The operation that computed the number; empty for an input.
    pub operation: String,
    /// The value of the number, as text.
    pub value: String,
    /// The adjoint of the number, as text.
    pub adjoint: String,
    /// The indices of the operation's operands, and the partials in these operands.
    pub operands: Vec<(usize, String)>,
}

/// The maximum number of nodes in a drawing.
const MAX_NODES: usize = 60;

/// The distances between the centers of columns and of rows, and the size of a node.
const STEP: (usize, usize) = (170, 86);
const SIZE: (usize, usize) = (92, 44);
const MARGIN: usize = 60;

impl Graph {
    /// Returns the column of each node: one more than the largest column of its operands.
    fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = vec![];
        for node in &self.nodes {
            let last_operand = node.operands.iter().filter_map(|(at, _)| columns.get(*at)).max();
            columns.push(last_operand.map_or(0, |column| column + 1));
        }
        columns
    }

    /// Returns the centers of the nodes: columns from left to right, and in each column the nodes from top to bottom.
    fn places(&self) -> Vec<(usize, usize)> {
        let columns = self.columns();
        let mut used = vec![0; columns.iter().max().map_or(0, |last| last + 1)];
        let mut places = vec![];
        for column in columns {
            // Every other column is shifted down by half a row, so that lines pass between nodes.
            let row = used[column];
            used[column] += 1;
            places.push((MARGIN + column * STEP.0, MARGIN + row * STEP.1 + column % 2 * STEP.1 / 2));
        }
        places
    }

    /// Returns one line of text for each node: the name, the operation, the value and the adjoint of the number, and
    /// the nodes that read the number.
    pub fn text(&self) -> Vec<String> {
        if self.nodes.len() > MAX_NODES {
            return vec![format!("a graph of {} operations is too large to draw", self.nodes.len())];
        }
        let wide = |texts: &mut dyn Iterator<Item = &String>| texts.map(|t| t.chars().count()).max().unwrap_or(0);
        let operation = wide(&mut self.nodes.iter().map(|n| &n.operation)) + 2;
        let name = wide(&mut self.nodes.iter().map(|n| &n.name));
        let value = wide(&mut self.nodes.iter().map(|n| &n.value)).max("value".len());
        let adjoint = wide(&mut self.nodes.iter().map(|n| &n.adjoint)).max("adjoint".len());
        let head = format!("{:operation$} {:name$}   {:value$}   {:adjoint$}", "", "", "value", "adjoint");
        let mut lines = vec![head.trim_end().to_owned()];
        for (at, node) in self.nodes.iter().enumerate() {
            let boxed = if node.operation.is_empty() { String::new() } else { format!("[{}]", node.operation) };
            let readers = self.nodes.iter().filter(|other| other.operands.iter().any(|(from, _)| *from == at));
            let readers: Vec<&str> = readers.map(|other| other.name.as_str()).collect();
            let arrow = if readers.is_empty() { String::new() } else { format!("   ─▶ {}", readers.join(", ")) };
            lines.push(format!(
                "{boxed:>operation$} {:name$}   {:<value$}   {:<adjoint$}{arrow}",
                node.name, node.value, node.adjoint
            ));
        }
        lines.iter().map(|line| line.trim_end().to_owned()).collect()
    }

    /// Returns the drawing of the graph as an SVG document: values above the nodes, adjoints below them, partials on
    /// the lines.
    pub fn svg(&self) -> String {
        if self.nodes.is_empty() || self.nodes.len() > MAX_NODES {
            return String::new();
        }
        let places = self.places();
        let width = places.iter().map(|(x, _)| x).max().unwrap_or(&0) + MARGIN + SIZE.0 / 2;
        let height = places.iter().map(|(_, y)| y).max().unwrap_or(&0) + MARGIN;
        let mut out = SvgWriter::new((width as f64, height as f64));
        let back = out.colors(Some(&Role::Background.paint()), None);
        out.element("rect", &format!(" width=\"100%\" height=\"100%\"{back}"));
        for (node, to) in self.nodes.iter().zip(&places) {
            for (from, partial) in &node.operands {
                if let Some(from) = places.get(*from) {
                    line(&mut out, *from, *to, partial);
                }
            }
        }
        for (node, (x, y)) in self.nodes.iter().zip(&places) {
            drawn(&mut out, node, *x, *y);
        }
        out.finished("")
    }
}

fn line(out: &mut SvgWriter, from: (usize, usize), to: (usize, usize), partial: &str) {
    let (x1, y1, x2, y2) = (from.0 + SIZE.0 / 2, from.1, to.0 - SIZE.0 / 2, to.1);
    let (bend1, bend2) = (x1 + STEP.0 / 4, x2.saturating_sub(STEP.0 / 4));
    let middle = (((x1 + x2) / 2) as f64, ((y1 + y2) / 2).saturating_sub(3) as f64);
    let axis = Role::Axis.paint();
    let stroke = out.colors(None, Some(&axis));
    out.path(&format!("M{x1} {y1}C{bend1} {y1} {bend2} {y2} {x2} {y2}"), &stroke);
    let fill = out.colors(Some(&axis), None);
    out.element("circle", &format!(" cx=\"{x2}\" cy=\"{y2}\" r=\"3\"{fill}"));
    out.text(middle, (10, Anchor::Middle), partial, &fill);
}

fn drawn(out: &mut SvgWriter, node: &Node, x: usize, y: usize) {
    let (left, top) = (x.saturating_sub(SIZE.0 / 2), y - SIZE.1 / 2);
    let is_input = node.operation.is_empty();
    let label = if is_input { &node.name } else { &node.operation };
    let name = if is_input { String::new() } else { format!("{} = ", node.name) };
    let fill = if is_input { Role::Input } else { Role::Background }.paint();
    let outline = out.colors(Some(&fill), Some(&Role::Text.paint()));
    let vertex = (left as f64, top as f64);
    out.rectangle(vertex, (SIZE.0 as f64, SIZE.1 as f64), &format!(" rx=\"12\"{outline}"));
    let [text, value, adjoint] =
        [Role::Text, Role::Value, Role::Adjoint].map(|role| out.colors(Some(&role.paint()), None));
    let x = x as f64;
    out.text((x, (y + 5) as f64), (15, Anchor::Middle), label, &text);
    let above = top.saturating_sub(4) as f64;
    out.text((x, above), (11, Anchor::Middle), &format!("{name}{}", node.value), &value);
    out.text((x, (top + SIZE.1 + 13) as f64), (11, Anchor::Middle), &node.adjoint, &adjoint);
}

impl Graph {
    /// Returns the graph in the language of Graphviz, so that another program can draw it.
    pub fn dot(&self) -> String {
        let mut out = "digraph derivative {\n    rankdir=LR;\n    node [shape=box];\n".to_owned();
        for (at, node) in self.nodes.iter().enumerate() {
            let named = match node.operation.as_str() {
                "" => node.name.clone(),
                operation => format!("{} [{operation}]", node.name),
            };
            let label = quoted(&format!("{named}\nvalue {}\nadjoint {}", node.value, node.adjoint));
            _ = writeln!(out, "    n{at} [label={label}];");
            for (from, partial) in &node.operands {
                _ = writeln!(out, "    n{from} -> n{at} [label={}];", quoted(partial));
            }
        }
        out + "}\n"
    }
}

/// Returns a text as a string literal of Graphviz.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, operation: &str, operands: &[usize]) -> Node {
        let operands = operands.iter().map(|at| (*at, "1".to_owned())).collect();
        Node { name: name.into(), operation: operation.into(), value: "2".into(), adjoint: "<1".into(), operands }
    }

    fn graph() -> Graph {
        Graph { nodes: vec![node("x", "", &[]), node("u", "sin", &[0]), node("y", "*", &[0, 1])] }
    }

    #[test]
    fn operands_are_on_the_left() {
        assert_eq!(graph().columns(), [0, 1, 2]);
        assert_eq!(graph().text()[1], "      x   2       <1        ─▶ u, y");
    }

    #[test]
    fn a_picture_is_well_formed() {
        let svg = graph().svg();
        assert!(svg.ends_with("</svg>\n") && svg.contains("&lt;1") && svg.matches("<path").count() == 3, "{svg}");
        assert_eq!(Graph::default().svg(), "");
    }

    #[test]
    fn graphviz_has_nodes_and_edges() {
        let dot = graph().dot();
        assert!(dot.starts_with("digraph") && dot.ends_with("}\n"), "{dot}");
        assert!(dot.contains(r#"n1 [label="u [sin]\nvalue 2\nadjoint <1"];"#), "{dot}");
        assert_eq!(dot.matches(" -> ").count(), 3, "{dot}");
        assert_eq!(quoted("a \"b\" \\"), r#""a \"b\" \\""#);
    }
}
