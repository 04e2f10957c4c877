//! SVG chart: a chart as an SVG document.

use super::ticks::ticks;
use super::{Chart, Mark};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// The width and the height of a chart in pixels.
const SIZE: (u32, u32) = (720, 440);

/// The colors of curves, which readers with color vision deficiency can distinguish (Okabe and Ito, 2008).
const COLORS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

impl Chart {
    /// Returns the chart as an SVG document.
    ///
    /// # Errors
    /// Returns the error of the drawing library.
    pub fn svg(&self) -> Result<String, String> {
        let mut out = String::new();
        self.draw(&mut out).map_err(|error| error.to_string())?;
        Ok(out)
    }

    fn draw(&self, out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
        let y = self.y().unwrap_or(0.0..=1.0);
        let area = SVGBackend::with_string(out, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let mut builder = ChartBuilder::on(&area);
        if !self.title.is_empty() {
            builder.caption(&self.title, ("sans-serif", 16));
        }
        let mut chart = builder
            .margin(16)
            .x_label_area_size(28)
            .y_label_area_size(56)
            .build_cartesian_2d(*self.x.start()..*self.x.end(), *y.start()..*y.end())?;
        let (across, up) = (ticks(&self.x, 6), ticks(&y, 5));
        for (at, _) in &across {
            chart.draw_series(LineSeries::new([(*at, *y.start()), (*at, *y.end())], &BLACK.mix(0.12)))?;
        }
        for (at, _) in &up {
            chart.draw_series(LineSeries::new([(*self.x.start(), *at), (*self.x.end(), *at)], &BLACK.mix(0.12)))?;
        }
        let place = chart.plotting_area().as_coord_spec().clone();
        let style = ("sans-serif", 13).into_font();
        for (at, text) in &across {
            let (px, py) = place.translate(&(*at, *y.start()));
            area.draw(&Text::new(text.clone(), (px - 3 * text.len() as i32, py + 8), style.clone()))?;
        }
        for (at, text) in &up {
            let (px, py) = place.translate(&(*self.x.start(), *at));
            area.draw(&Text::new(text.clone(), (px - 8 - 7 * text.len() as i32, py - 6), style.clone()))?;
        }
        for (i, series) in self.series.iter().enumerate() {
            let color = COLORS[i % COLORS.len()];
            for piece in Chart::pieces(series, &y) {
                draw_piece(&mut chart, series.mark, piece, color)?;
            }
            let (px, py) = place.translate(&(*self.x.start(), *y.end()));
            let row = py + 14 + 18 * i as i32;
            if !series.name.is_empty() {
                area.draw(&PathElement::new(vec![(px + 12, row), (px + 34, row)], color.stroke_width(2)))?;
                area.draw(&Text::new(series.name.clone(), (px + 40, row - 7), style.clone()))?;
            }
        }
        area.present()?;
        Ok(())
    }
}

type Plane<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

fn draw_piece(
    chart: &mut Plane<'_, '_>,
    mark: Mark,
    piece: Vec<(f64, f64)>,
    color: RGBColor,
) -> Result<(), Box<dyn std::error::Error>> {
    match mark {
        Mark::Line => {
            chart.draw_series(LineSeries::new(piece, color.stroke_width(2)))?;
        }
        Mark::Points => {
            chart.draw_series(piece.into_iter().map(|at| Circle::new(at, 4, color.filled())))?;
        }
        Mark::Bars => {
            chart.draw_series([Polygon::new(piece.clone(), color.mix(0.2))])?;
            chart.draw_series(LineSeries::new(piece, color.stroke_width(1)))?;
        }
        Mark::Arrows => {
            let head = piece.last().copied();
            chart.draw_series(LineSeries::new(piece, color.stroke_width(1)))?;
            chart.draw_series(head.into_iter().map(|at| Circle::new(at, 2, color.filled())))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Series;
    use super::*;

    #[test]
    fn a_picture_is_a_document_and_always_the_same() {
        let points = (0..=100).map(|k| f64::from(k) / 10.0).map(|x| (x, x.sin())).collect();
        let chart = Chart {
            title: String::new(),
            x: 0.0..=10.0,
            series: vec![Series { name: "<f>".into(), mark: Mark::Line, points }],
        };
        let svg = chart.svg().unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("&lt;f&gt;") && !svg.contains("-0.0<"), "{svg}");
        assert_eq!(chart.svg().unwrap(), svg);
    }
}
