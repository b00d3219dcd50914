//! Plots as SVG. Beside each is a table with its numbers, so a plot has only a title and a description.

use maud::{Markup, html};

const WIDTH: f64 = 640.0;
/// Places of a row: its name, its bar, its number.
const NAMES: f64 = 190.0;
const NUMBERS: f64 = 90.0;
const ROW: f64 = 26.0;
const MAX_NAME: usize = 26;
const HEIGHT: f64 = 150.0;
/// Below the columns, and above them.
const MARGIN: f64 = 22.0;

/// A bar with parts, each of a class of the style sheet.
#[derive(Debug, Clone)]
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) parts: Vec<(&'static str, f64)>,
    /// The number at its end.
    pub(super) number: String,
}

/// Horizontal bars, one below the other. `id` is unique in the page.
pub(super) fn bars(id: &str, title: &str, description: &str, bars: &[Bar]) -> Markup {
    let total = |bar: &Bar| bar.parts.iter().map(|(_, value)| value.max(0.0)).sum::<f64>();
    let greatest = bars.iter().map(total).fold(0.0, f64::max);
    let scale = if greatest > 0.0 {
        (WIDTH - NAMES - NUMBERS) / greatest
    } else {
        0.0
    };
    let mut rows = Vec::new();
    for (index, bar) in bars.iter().enumerate() {
        let y = ROW * f64::from(u16::try_from(index).unwrap_or(u16::MAX));
        let mut x = NAMES;
        let mut parts = Vec::new();
        for (class, value) in &bar.parts {
            let width = value.max(0.0) * scale;
            parts.push((*class, x, width));
            x += width;
        }
        rows.push((bar, y, x, parts));
    }
    let height = ROW * f64::from(u16::try_from(bars.len()).unwrap_or(u16::MAX));
    let content = html! {
        @for (bar, y, end, parts) in &rows {
            text x="0" y=(y + 17.0) { (short(&bar.name)) }
            @for (class, x, width) in parts {
                @if *width > 0.0 { rect class=(class) x=(point(*x)) y=(y + 5.0) width=(point(*width)) height="16" {} }
            }
            text.number x=(point(end + 6.0)) y=(y + 17.0) { (bar.number) }
        }
    };
    svg(id, title, description, height, &content)
}

/// A column for each step, such as a day: a number, and the part of it that is marked.
pub(super) fn columns(id: &str, title: &str, description: &str, steps: &[(String, f64, f64)]) -> Markup {
    let greatest = steps.iter().map(|(_, value, _)| *value).fold(1.0, f64::max);
    let step = WIDTH / f64::from(u16::try_from(steps.len().max(1)).unwrap_or(u16::MAX));
    let base = HEIGHT - MARGIN;
    let scale = (base - MARGIN) / greatest;
    let places = steps
        .iter()
        .enumerate()
        .map(|(index, (_, value, marked))| {
            let x = step * f64::from(u16::try_from(index).unwrap_or(u16::MAX));
            (x, value * scale, marked.min(*value) * scale)
        })
        .collect::<Vec<_>>();
    let content = html! {
        text x="0" y="13" { "at most " (greatest) }
        @for (x, height, marked) in &places {
            rect.good x=(point(*x)) y=(point(base - height)) width=(point(step * 0.8)) height=(point(height - marked)) {}
            rect.poor x=(point(*x)) y=(point(base - marked)) width=(point(step * 0.8)) height=(point(*marked)) {}
        }
        rect.axis x="0" y=(base) width=(WIDTH) height="1" {}
        @if let (Some(first), Some(last)) = (steps.first(), steps.last()) {
            text x="0" y=(HEIGHT - 5.0) { (first.0) }
            text.end x=(WIDTH) y=(HEIGHT - 5.0) { (last.0) }
        }
    };
    svg(id, title, description, HEIGHT, &content)
}

fn svg(id: &str, title: &str, description: &str, height: f64, content: &Markup) -> Markup {
    let (title_id, description_id) = (format!("{id}-title"), format!("{id}-description"));
    html! {
        svg.plot role="img" aria-labelledby={ (title_id) " " (description_id) } viewBox=(format!("0 0 {WIDTH} {height}")) {
            title id=(title_id) { (title) }
            desc id=(description_id) { (description) }
            (content)
        }
    }
}

fn point(value: f64) -> String {
    format!("{value:.1}")
}

/// A name that fits its place.
fn short(name: &str) -> String {
    match name.char_indices().nth(MAX_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widths(markup: &Markup) -> Vec<f64> {
        let numbers = markup.0.split("<rect class=\"all\"").skip(1);
        let width = |rect: &str| rect.split("width=\"").nth(1)?.split('"').next()?.parse().ok();
        numbers.filter_map(width).collect()
    }

    #[test]
    fn the_longest_bar_fills_its_place_and_nothing_is_outside() {
        let bar = |name: &str, value: f64| Bar {
            name: name.to_owned(),
            parts: vec![("all", value)],
            number: value.to_string(),
        };
        let shown = bars(
            "x",
            "Title",
            "Description",
            &[bar("<b>", 1.0), bar("b", 4.0), bar("c", -1.0)],
        );
        assert_eq!(widths(&shown), [90.0, 360.0]);
        assert!(shown.0.contains("&lt;b&gt;") && shown.0.contains("aria-labelledby=\"x-title x-description\""));
        assert_eq!(widths(&bars("x", "", "", &[bar("a", 0.0)])), [] as [f64; 0]);
    }
}
