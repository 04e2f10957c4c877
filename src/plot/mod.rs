//! Plots: scenes of curves and other series as text for a terminal and as SVG, and drawings of computations.
//!
//! In: a [`Scene`], series of points and the axes over which they are drawn. Out: lines of text, or an SVG document.
//!
//! Promises: the output is deterministic, to the last byte; points that are not finite leave a gap; a curve that
//! diverges (`tan`) does not compress the others; a drawing is readable on light and on dark backgrounds.
//! Not here: the computation of the points (`prelude/`), the destination of a drawing (`front`).

mod axis_limits;
mod braille;
mod computation_graph;
mod marks;
mod palette;
mod png;
mod scale;
mod scene;
mod svg_plot;
mod svg_writer;
mod text_plot;
mod ticks;

pub use computation_graph::{Graph, Node};
pub use png::png;
pub use scene::{Axis, Color, Kind, Scene, Series};
pub use text_plot::TextStyle;
