//! Which lines are headings, where the file has no outline.

use std::collections::HashMap;

use super::page::{Line, Page};

/// A font that is larger than that of the text by this factor is one of headings.
const LARGER: f64 = 1.15;
/// A bold heading is not much smaller than the text.
const SMALLEST: f64 = 0.95;
const MAX_CHARACTERS: usize = 150;
/// Maximum characters of a heading that only its weight shows.
const MAX_BOLD_CHARACTERS: usize = 80;
/// Space above a heading that only its weight shows, as a share of its size.
const SPACE_ABOVE: f64 = 1.5;
/// Maximum heading levels by style.
const MAX_STYLES: usize = 5;
/// The share of lines that make a place one where lines begin.
const EDGE_SHARE: f64 = 0.02;

/// The style of a heading: larger letters, or bold ones of about the size of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Style {
    size: f64,
    /// Sections of the number, such as 2 for "3.1".
    depth: usize,
}

/// What the whole file says about its headings.
#[derive(Debug, Default)]
pub(super) struct Headings {
    body: f64,
    body_is_bold: bool,
    /// Where lines of text begin, end and have their middle.
    starts: Vec<f64>,
    ends: Vec<f64>,
    middles: Vec<f64>,
    /// Largest first.
    styles: Vec<Style>,
}

pub(super) fn same_size(left: f64, right: f64) -> bool {
    (left - right).abs() < 0.05 * left.max(right)
}

/// The font size of most characters.
pub(super) fn body_size(pages: &[Page]) -> f64 {
    let mut sizes: HashMap<i64, usize> = HashMap::new();
    for line in pages
        .iter()
        .flat_map(|page| &page.lines)
        .filter(|line| line.pitch.is_none())
    {
        *sizes.entry((line.size * 10.0).round() as i64).or_default() += line.text.len();
    }
    let most = sizes.into_iter().max_by_key(|&(size, count)| (count, size));
    most.map_or(10.0, |(size, _)| size as f64 / 10.0)
}

impl Headings {
    /// `title` is that of the metadata.
    pub(super) fn of(pages: &[Page], body: f64, title: Option<&str>) -> Self {
        let lines = || pages.iter().flat_map(|page| &page.lines);
        let text = || lines().filter(|line| same_size(line.size, body));
        let (mut bold, mut all) = (0, 0);
        for line in text() {
            all += line.text.len();
            bold += if line.is_bold { line.text.len() } else { 0 };
        }
        let widest = text().map(|line| line.end - line.x).fold(0.0, f64::max);
        let long: Vec<&Line> = text().filter(|line| line.end - line.x > 0.5 * widest).collect();
        let mut headings = Self {
            body,
            body_is_bold: bold * 2 > all,
            starts: common(&long.iter().map(|line| line.x).collect::<Vec<_>>()),
            ends: common(&long.iter().map(|line| line.end).collect::<Vec<_>>()),
            middles: common(&long.iter().map(|line| (line.x + line.end) / 2.0).collect::<Vec<_>>()),
            styles: Vec::new(),
        };
        headings.find_styles(pages, title);
        headings
    }

    pub(super) fn is_empty(&self) -> bool {
        self.styles.is_empty()
    }

    fn find_styles(&mut self, pages: &[Page], title: Option<&str>) {
        let mut styles: Vec<(Style, usize)> = Vec::new();
        let mut largest: Option<&Line> = None;
        for page in pages {
            let mut above: Option<&Line> = None;
            for line in &page.lines {
                if let Some(style) = self.style(line, above) {
                    largest = largest.filter(|largest| largest.size >= line.size).or(Some(line));
                    match styles.iter().position(|(own, _)| is_same_style(own, &style)) {
                        Some(at) => styles[at].1 += 1,
                        None if styles.len() < 100 => styles.push((style, 1)),
                        None => {}
                    }
                }
                above = Some(line);
            }
        }
        styles.sort_by(|(left, _), (right, _)| right.size.total_cmp(&left.size).then(left.depth.cmp(&right.depth)));
        // The largest is the title, if only one or two lines have it and the metadata do not say otherwise.
        let may_be_title = title.is_none_or(|title| {
            let lower = title.to_lowercase();
            largest.is_some_and(|line| lower.contains(&line.text.trim().to_lowercase()))
        });
        if may_be_title && styles.len() > 1 && styles[0].1 <= 2 && styles[0].0.depth == 0 {
            styles.remove(0);
        }
        styles.truncate(MAX_STYLES);
        self.styles = styles.into_iter().map(|(style, _)| style).collect();
    }

    /// The level of a line that is a heading, from 2.
    pub(super) fn level(&self, line: &Line, above: Option<&Line>) -> Option<usize> {
        let style = self.style(line, above)?;
        let at = self.styles.iter().position(|own| is_same_style(own, &style));
        at.map(|at| at + 2)
    }

    fn style(&self, line: &Line, above: Option<&Line>) -> Option<Style> {
        if !self.may_be_heading(line) {
            return None;
        }
        let text = line.text.trim();
        let depth = number_depth(text);
        let size = line.size / self.body;
        let is_in_sentence = text.ends_with(['.', ',', ';', ':']);
        let is_numbered = depth > 0 && !is_in_sentence;
        let is_bold = line.is_bold && !self.body_is_bold && size >= SMALLEST && !is_in_sentence;
        let is_short = text.chars().count() <= MAX_BOLD_CHARACTERS && !text.starts_with(char::is_lowercase);
        let space = above.map_or(f64::INFINITY, |above| (line.y - above.y).abs() / line.size);
        let is_larger = size > LARGER;
        let is_bold_heading = is_bold && (is_numbered || is_short && space >= SPACE_ABOVE);
        (is_larger || is_bold_heading).then_some(Style {
            size: if is_larger { line.size } else { self.body },
            depth: if is_numbered { depth } else { 0 },
        })
    }

    /// Labels of figures are anywhere; headings are where lines of text are.
    fn may_be_heading(&self, line: &Line) -> bool {
        let text = line.text.trim();
        let letters = text.chars().filter(|character| character.is_alphabetic()).count();
        let near = |places: &[f64], place: f64| {
            let tolerance = 0.5 * self.body.max(4.0);
            places.is_empty() || places.iter().any(|own| (own - place).abs() < tolerance)
        };
        let hangs_out = self.starts.iter().all(|&start| line.x < start);
        let is_aligned = hangs_out
            || near(&self.starts, line.x)
            || near(&self.ends, line.end)
            || near(&self.middles, (line.x + line.end) / 2.0);
        letters >= 2 && text.chars().count() <= MAX_CHARACTERS && line.pitch.is_none() && !line.is_shared && is_aligned
    }

    /// The title of a file that has none in its metadata: the first of the largest lines of the first page, with those
    /// that go on below it.
    pub(super) fn title(&self, first: &Page) -> Option<String> {
        let larger = || {
            let letters = |line: &Line| line.text.chars().filter(|letter| letter.is_alphabetic()).count();
            first
                .lines
                .iter()
                .filter(move |line| line.size > LARGER * self.body && letters(line) >= 2 && line.pitch.is_none())
                .filter(|line| line.text.chars().count() <= MAX_CHARACTERS)
        };
        let size = larger().map(|line| line.size).max_by(f64::total_cmp)?;
        let mut title: Vec<&Line> = Vec::new();
        for line in larger().filter(|line| same_size(line.size, size)).take(3) {
            let goes_on = title.last().is_none_or(|last| (line.y - last.y).abs() < 2.0 * size);
            if !goes_on {
                break;
            }
            title.push(line);
        }
        let words: Vec<&str> = title.iter().map(|line| line.text.trim()).collect();
        Some(words.join(" "))
    }
}

fn is_same_style(left: &Style, right: &Style) -> bool {
    same_size(left.size, right.size) && left.depth == right.depth
}

/// Places at which many lines begin, end or have their middle.
fn common(places: &[f64]) -> Vec<f64> {
    let mut counts: HashMap<i64, usize> = HashMap::new();
    for place in places {
        *counts.entry(place.round() as i64).or_default() += 1;
    }
    let least = (EDGE_SHARE * places.len() as f64).max(1.0);
    counts
        .into_iter()
        .filter(|&(_, count)| count as f64 >= least)
        .map(|(place, _)| place as f64)
        .collect()
}

/// Number of parts of the number before a heading: 2 for "3.1 Names", 1 for "A Names", "IV. Names" and "Chapter 3".
/// 0 if there is none.
fn number_depth(text: &str) -> usize {
    let mut words = text.split_whitespace();
    let (Some(first), Some(second)) = (words.next(), words.next()) else {
        return 0;
    };
    let number = first.trim_start_matches('§').trim_end_matches(['.', ')', ':']);
    let parts: Vec<&str> = number.split('.').collect();
    let is_digits =
        |part: &&str| !part.is_empty() && part.len() <= 3 && part.chars().all(|digit| digit.is_ascii_digit());
    let is_letter = number.len() == 1 && number.chars().all(|letter| letter.is_ascii_uppercase()) && number != "I";
    let is_roman =
        number.len() < first.len() && number.chars().all(|letter| "IVX".contains(letter)) && !number.is_empty();
    let opens = second.starts_with(char::is_alphabetic) || second.starts_with(['“', '"', '(', '‘']);
    let is_section =
        parts[1..].iter().all(is_digits) && (is_digits(&parts[0]) || parts.len() > 1 && parts[0].len() == 1);
    if opens && second.chars().any(char::is_alphabetic) {
        if is_section && !parts.is_empty() {
            return parts.len();
        }
        if is_roman || is_letter && number.len() < first.len() {
            return 1;
        }
    }
    // "Chapter 3", "Appendix A: Names", "Kapitel 2".
    let is_named = first.starts_with(char::is_uppercase)
        && first.chars().count() >= 4
        && is_digits(&second.trim_end_matches(['.', ':']));
    usize::from(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_headings() {
        for (text, depth) in [
            ("1 Introduction", 1),
            ("2.1 Method of counting", 2),
            ("3.2.1. Results", 3),
            ("A.1 Proof", 2),
            ("IV. Results", 1),
            ("Chapter 3", 1),
            ("70 80", 0),
            ("40", 0),
            ("Number of ferries", 0),
            ("A word", 0),
        ] {
            assert_eq!(number_depth(text), depth, "{text}");
        }
    }
}
