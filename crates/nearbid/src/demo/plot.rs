//! The report's plots as SVG, written by hand: two simple pictures need no plotting library, and
//! text stays text, in whatever sans-serif font the reader has.

use std::fmt::Write as _;

use super::row::Measured;

const WIDTH: f64 = 860.0;
/// The plotted area; what is around it holds titles, labels and the legend.
const AREA: Area = Area {
    left: 84.0,
    top: 48.0,
    right: 660.0,
    bottom: 400.0,
};
const HEIGHT: f64 = 460.0;
const INK: &str = "#333333";
const PALE: &str = "#dddddd";

/// A rectangle of the picture, in its units.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

/// Latency by percentile. Both axes are logarithmic, the horizontal one in nines.
pub fn latency(measured: &[Measured]) -> String {
    let axes = LatencyAxes::of(measured);
    let mut svg = picture("Latency from the time a request was due");
    axes.draw(&mut svg);
    for (number, measured) in measured.iter().enumerate() {
        let path: Vec<String> = measured
            .latency_us
            .iter()
            .map(|(percentile, us)| format!("{:.1},{:.1}", axes.x(*percentile), axes.y(*us)))
            .collect();
        let (style, line) = (stroke(measured), 24.0 * number as f64 + AREA.top + 10.0);
        let _ = writeln!(
            svg,
            r#"<polyline fill="none" {style} points="{}"/>"#,
            path.join(" ")
        );
        let (from, to) = (AREA.right + 24.0, AREA.right + 54.0);
        let _ = writeln!(svg, r#"<path {style} d="M{from} {line} H{to}"/>"#);
        text(&mut svg, (to + 8.0, line + 4.0), "start", &measured.name());
    }
    svg.push_str("</svg>\n");
    svg
}

/// Whole powers of ten around the latencies, and the nines of the last percentile.
struct LatencyAxes {
    low: f64,
    high: f64,
    most: f64,
}

impl LatencyAxes {
    fn of(measured: &[Measured]) -> LatencyAxes {
        let points = || measured.iter().flat_map(|measured| &measured.latency_us);
        let slowest = points().map(|(_, us)| *us).fold(10.0, f64::max);
        let fastest = points().map(|(_, us)| *us).fold(slowest, f64::min).max(0.1);
        let (low, high) = (fastest.log10().floor(), slowest.log10().ceil());
        let most = points()
            .map(|(percentile, _)| nines(*percentile))
            .fold(1.0, f64::max);
        LatencyAxes {
            low,
            high: high.max(low + 1.0),
            most,
        }
    }

    fn x(&self, percentile: f64) -> f64 {
        scale(nines(percentile) / self.most, AREA.left, AREA.right)
    }

    fn y(&self, us: f64) -> f64 {
        let share = (us.max(0.1).log10() - self.low) / (self.high - self.low);
        scale(share, AREA.bottom, AREA.top)
    }

    fn draw(&self, svg: &mut String) {
        for power in self.low as i32..=self.high as i32 {
            let us = 10_f64.powi(power);
            grid_line(svg, self.y(us), &time(us));
        }
        for percentile in [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999] {
            if nines(percentile) <= self.most + 1e-6 {
                let place = (self.x(percentile), AREA.bottom + 20.0);
                text(svg, place, "middle", &percentile.to_string());
            }
        }
        let middle = (AREA.left + AREA.right) / 2.0;
        text(svg, (middle, AREA.bottom + 42.0), "middle", "percentile");
    }
}

/// CPU time a request, the bidder's and the exchange's on top of each other.
pub fn cpu(measured: &[Measured]) -> String {
    let most = measured.iter().map(total_us).fold(1.0, f64::max);
    let step = tick(most);
    let top = (most / step).ceil() * step;
    let slot = (AREA.right - AREA.left) / measured.len().max(1) as f64;
    let mut svg = picture("CPU time a request, user and system");
    for line in 0..=(top / step).round() as i32 {
        let us = f64::from(line) * step;
        grid_line(&mut svg, scale(us / top, AREA.bottom, AREA.top), &time(us));
    }
    for (number, measured) in measured.iter().enumerate() {
        let left = AREA.left + slot * (number as f64 + 0.2);
        stack(&mut svg, measured, (left, slot * 0.6), top);
    }
    let legend = [("exchange", EXCHANGE), ("bidder", BIDDER)];
    for (line, (name, colour)) in legend.into_iter().enumerate() {
        let top = AREA.top + 24.0 * line as f64;
        bar(&mut svg, (AREA.right + 24.0, top), (16.0, 16.0), colour);
        text(&mut svg, (AREA.right + 50.0, top + 13.0), "start", name);
    }
    svg.push_str("</svg>\n");
    svg
}

fn total_us(measured: &Measured) -> f64 {
    measured.row.bidder_cpu_us + measured.row.exchange_cpu_us
}

/// Both sides' bars of one row, with the sum above and the names below.
fn stack(svg: &mut String, measured: &Measured, (left, width): (f64, f64), top: f64) {
    let y = |us: f64| scale(us / top, AREA.bottom, AREA.top);
    let (bidder, both) = (y(measured.row.bidder_cpu_us), y(total_us(measured)));
    bar(svg, (left, bidder), (width, AREA.bottom - bidder), BIDDER);
    bar(svg, (left, both), (width, bidder - both), EXCHANGE);
    let middle = left + width / 2.0;
    text(
        svg,
        (middle, both - 6.0),
        "middle",
        &format!("{:.1}", total_us(measured)),
    );
    text(
        svg,
        (middle, AREA.bottom + 20.0),
        "middle",
        &measured.row.transport,
    );
    text(
        svg,
        (middle, AREA.bottom + 38.0),
        "middle",
        &measured.row.format,
    );
}

const BIDDER: &str = "#0b6e99";
const EXCHANGE: &str = "#e0a100";

/// A colour a format; TCP is dashed.
fn stroke(measured: &Measured) -> String {
    let colour = match measured.row.format.as_str() {
        "flatbuffers" => "#0b6e99",
        "protobuf" => "#c2410c",
        _ => "#5b8c2a",
    };
    let dash = if measured.row.transport == "tcp" {
        r#" stroke-dasharray="6 4""#
    } else {
        ""
    };
    format!(r#"stroke="{colour}" stroke-width="2"{dash}"#)
}

/// Microseconds, or milliseconds from 1,000 on.
fn time(us: f64) -> String {
    if us < 1000.0 {
        format!("{us} µs")
    } else {
        format!("{} ms", us / 1000.0)
    }
}

/// `share` of the way from `start` to `end`.
fn scale(share: f64, start: f64, end: f64) -> f64 {
    start + share * (end - start)
}

/// 90 is 1 nine, 99 are 2, 99.9 are 3.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).max(1e-9).log10()
}

/// A round distance between lines that gives four to ten of them.
fn tick(most: f64) -> f64 {
    let power = 10_f64.powf(most.max(1e-9).log10().floor());
    match most / power {
        share if share < 2.0 => power / 5.0,
        share if share < 5.0 => power / 2.0,
        _ => power,
    }
}

fn picture(title: &str) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
         <title>{title}</title>\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    let _ = writeln!(
        svg,
        r#"<text x="{}" y="28" font-size="17" font-weight="bold">{title}</text>"#,
        AREA.left
    );
    svg
}

fn grid_line(svg: &mut String, y: f64, label: &str) {
    let Area { left, right, .. } = AREA;
    let _ = writeln!(
        svg,
        r#"<path stroke="{PALE}" d="M{left} {y:.1} H{right}"/>"#
    );
    text(svg, (left - 8.0, y + 4.0), "end", label);
}

fn bar(svg: &mut String, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str) {
    let _ = writeln!(
        svg,
        r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" fill="{colour}"/>"#
    );
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{text}</text>"#
    );
}

#[cfg(test)]
mod tests {
    use super::super::row::example;
    use super::*;

    #[test]
    fn a_plot_holds_every_row() {
        let measured = [
            example("tcp", "json", 2.0),
            example("unix", "flatbuffers", 1.0),
        ];
        for svg in [latency(&measured), cpu(&measured)] {
            assert!(
                svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
                "{svg}"
            );
            assert!(svg.contains("flatbuffers") && svg.contains("json"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        assert_eq!(latency(&measured).matches("<polyline").count(), 2);
        assert_eq!(latency(&measured).matches("stroke-dasharray").count(), 2);
    }

    #[test]
    fn plots_of_nothing_are_empty_not_wrong() {
        let mut still = example("tcp", "json", 0.0);
        still.latency_us.clear();
        for svg in [
            latency(&[]),
            cpu(&[]),
            latency(&[still.clone()]),
            cpu(&[still]),
        ] {
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn ticks_are_round() {
        for (most, expect) in [
            (1.0, 0.2),
            (19.0, 2.0),
            (34.0, 5.0),
            (70.0, 10.0),
            (100.0, 20.0),
        ] {
            assert!((tick(most) - expect).abs() < 1e-9, "{most}: {}", tick(most));
        }
    }
}
