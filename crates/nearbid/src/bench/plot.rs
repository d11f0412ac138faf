//! The bench's plots as SVG: bars of paths, and lines over the number of line items. Both on a
//! logarithmic scale, as the rows are orders of magnitude apart.

use std::fmt::Write as _;

use super::measure::Row;

const INK: &str = "#333333";
const PALE: &str = "#dddddd";
const OURS: &str = "#0b6e99";
const OTHERS: &str = "#b8b8b8";
const COLOURS: [&str; 5] = ["#0b6e99", "#5b8c2a", "#c2410c", "#e0a100", "#7c3aed"];

/// One bar a row; ours stand out.
pub fn bars(title: &str, rows: &[Row]) -> String {
    let (left, width, step) = (220.0, 520.0, 28.0);
    let height = 60.0 + step * rows.len() as f64;
    let ns = |row: &Row| row.ns.max(1.0);
    let axis = Axis::over(rows.iter().map(ns));
    let mut svg = picture(title, 860.0, height + 34.0);
    for (ns, label) in axis.ticks() {
        let x = left + width * axis.share(ns);
        let _ = writeln!(
            svg,
            r#"<path stroke="{PALE}" d="M{x:.1} 48 V{height:.1}"/>"#
        );
        text(&mut svg, (x, height + 18.0), "middle", &label);
    }
    for (number, row) in rows.iter().enumerate() {
        let top = 52.0 + step * number as f64;
        let end = width * axis.share(ns(row));
        let ours = ["in_place", "build", "template"]
            .iter()
            .any(|name| row.path.ends_with(name))
            || row.path.contains("/nearbid/");
        let colour = if ours { OURS } else { OTHERS };
        let _ = writeln!(
            svg,
            r#"<rect x="{left}" y="{top}" width="{end:.1}" height="20" fill="{colour}"/>"#
        );
        text(&mut svg, (left - 8.0, top + 15.0), "end", &row.path);
        text(
            &mut svg,
            (left + end + 6.0, top + 15.0),
            "start",
            &format!("{:.0} ns", row.ns),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A line a series, over counts.
pub fn lines(title: &str, series: &[(&str, Vec<(f64, f64)>)]) -> String {
    let (left, right, top, bottom) = (80.0, 640.0, 48.0, 400.0);
    let points = || series.iter().flat_map(|(_, points)| points);
    let across = Axis::over(points().map(|(count, _)| *count));
    let up = Axis::over(points().map(|(_, ns)| ns.max(1.0)));
    let x = |count: f64| left + (right - left) * across.share(count);
    let y = |ns: f64| bottom + (top - bottom) * up.share(ns.max(1.0));
    let mut svg = picture(title, 860.0, 450.0);
    for (ns, label) in up.ticks() {
        let _ = writeln!(
            svg,
            r#"<path stroke="{PALE}" d="M{left} {:.1} H{right}"/>"#,
            y(ns)
        );
        text(&mut svg, (left - 8.0, y(ns) + 4.0), "end", &label);
    }
    for (count, _) in across.ticks() {
        text(
            &mut svg,
            (x(count), bottom + 20.0),
            "middle",
            &format!("{count}"),
        );
    }
    text(
        &mut svg,
        ((left + right) / 2.0, bottom + 42.0),
        "middle",
        "line items",
    );
    for (number, ((name, points), colour)) in series.iter().zip(COLOURS).enumerate() {
        let path: Vec<_> = points
            .iter()
            .map(|(count, ns)| format!("{:.1},{:.1}", x(*count), y(*ns)))
            .collect();
        let style = format!(r#"stroke="{colour}" stroke-width="2""#);
        let _ = writeln!(
            svg,
            r#"<polyline fill="none" {style} points="{}"/>"#,
            path.join(" ")
        );
        let line = top + 10.0 + 24.0 * number as f64;
        let _ = writeln!(
            svg,
            r#"<path {style} d="M{} {line} H{}"/>"#,
            right + 20.0,
            right + 50.0
        );
        text(&mut svg, (right + 58.0, line + 4.0), "start", name);
    }
    svg.push_str("</svg>\n");
    svg
}

/// A logarithmic axis over whole powers of ten.
struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    fn over(values: impl Iterator<Item = f64> + Clone) -> Axis {
        let low = values.clone().fold(f64::INFINITY, f64::min).log10().floor();
        let high = values.fold(1.0, f64::max).log10().ceil();
        let low = if low.is_finite() { low } else { 0.0 };
        Axis {
            low,
            high: high.max(low + 1.0),
        }
    }

    fn share(&self, value: f64) -> f64 {
        (value.log10() - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        (self.low as i32..=self.high as i32).map(|power| {
            let value = 10_f64.powi(power);
            let label = match power {
                6.. => format!("{} ms", value / 1e6),
                3.. => format!("{} µs", value / 1e3),
                _ => format!("{value} ns"),
            };
            (value, label)
        })
    }
}

fn picture(title: &str, width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\" fill=\"{INK}\">\n<title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"28\" font-size=\"17\" font-weight=\"bold\">{title}</text>\n"
    )
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_hold_every_row_and_never_nonsense() {
        let rows = [
            Row::new("x/in_place", &[150.0], None),
            Row::new("y", &[-2.0], None),
        ];
        let series = [
            ("hit", vec![(10.0, 50.0), (1e6, 900.0)]),
            ("miss", Vec::new()),
        ];
        let svgs = [
            bars("t", &rows),
            bars("t", &[]),
            lines("t", &series),
            lines("t", &[]),
        ];
        for svg in &svgs {
            assert!(
                svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
                "{svg}"
            );
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        let [bars, _, lines, _] = &svgs;
        assert!(bars.contains("x/in_place") && lines.contains("miss"));
    }
}
