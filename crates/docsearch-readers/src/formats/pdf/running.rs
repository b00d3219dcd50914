//! Leaves out lines that come again at the edge of most pages: running heads and page numbers.

use std::collections::{HashMap, HashSet};

use super::page::{Line, Page};

/// Maximum lines at an edge.
const MAX_LINES: usize = 3;
/// Pages that show that a line comes again by chance no more.
const MIN_PAGES: usize = 3;
/// Distance of an edge line from the text, as a share of its size. Lines of text are closer.
const DISTANCE: f64 = 1.6;
/// A larger line is a heading.
const MAX_SIZE: f64 = 1.15;
/// Lines at about the same height.
const HEIGHT: f64 = 4.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Top,
    Bottom,
}

/// The outermost line of a page that is still there.
struct EdgeLine {
    page: usize,
    /// The pieces of the line.
    pieces: Vec<usize>,
    y: f64,
    size: f64,
    /// Its text without numbers and blanks.
    words: String,
    /// Its first and last number.
    numbers: Vec<i64>,
    /// Whether it is away from the text.
    is_apart: bool,
}

/// Removes the running lines. `body` is the font size of the text.
pub(super) fn remove(pages: &mut [Page], body: f64) {
    for edge in [Edge::Top, Edge::Bottom] {
        for _ in 0..MAX_LINES {
            let lines: Vec<EdgeLine> = (0..pages.len())
                .filter_map(|at| edge_line(&pages[at], at, edge))
                .collect();
            let running = running(&lines, pages.len(), body);
            if running.is_empty() {
                break;
            }
            for line in lines.iter().filter(|line| running.contains(&line.page)) {
                let mut at = 0;
                pages[line.page].lines.retain(|_| {
                    at += 1;
                    !line.pieces.contains(&(at - 1))
                });
            }
        }
    }
    remove_watermarks(pages);
}

fn edge_line(page: &Page, at: usize, edge: Edge) -> Option<EdgeLine> {
    let down = |line: &Line| match edge {
        Edge::Top => line.y,
        Edge::Bottom => -line.y,
    };
    let first = page
        .lines
        .iter()
        .min_by(|left, right| down(left).total_cmp(&down(right)))?;
    let mut pieces: Vec<usize> = (0..page.lines.len())
        .filter(|&at| first.is_beside(&page.lines[at]))
        .collect();
    pieces.sort_by(|&left, &right| page.lines[left].x.total_cmp(&page.lines[right].x));
    let size = pieces.iter().map(|&at| page.lines[at].size).fold(0.0, f64::max);
    let next = (0..page.lines.len())
        .filter(|at| !pieces.contains(at))
        .map(|at| down(&page.lines[at]))
        .min_by(f64::total_cmp);
    let text: Vec<&str> = pieces.iter().map(|&at| page.lines[at].text.as_str()).collect();
    let text = text.join(" ");
    Some(EdgeLine {
        page: at,
        pieces,
        y: first.y,
        size,
        words: text
            .chars()
            .filter(|character| !character.is_numeric() && !character.is_whitespace())
            .collect(),
        numbers: numbers(&text),
        is_apart: next.is_some_and(|next| (next - down(first)).abs() > DISTANCE * size),
    })
}

/// The first and the last number of a line: page numbers are at its ends.
fn numbers(text: &str) -> Vec<i64> {
    let tokens: Vec<&str> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|token| !token.is_empty())
        .collect();
    let ends = [tokens.first(), tokens.last()];
    let mut numbers: Vec<i64> = ends.into_iter().flatten().filter_map(|token| number(token)).collect();
    // "page 3 of 12".
    if let [.., before, _, _] = tokens[..] {
        numbers.extend(number(before));
    }
    numbers.dedup();
    numbers
}

fn number(token: &str) -> Option<i64> {
    match token.parse::<u32>() {
        Ok(number) => Some(i64::from(number)),
        Err(_) => roman(token),
    }
}

/// The value of a Roman numeral in small letters, as in prefaces.
fn roman(token: &str) -> Option<i64> {
    let values: Option<Vec<i64>> = token
        .chars()
        .map(|letter| match letter {
            'i' => Some(1),
            'v' => Some(5),
            'x' => Some(10),
            'l' => Some(50),
            'c' => Some(100),
            _ => None,
        })
        .collect();
    let values = values.filter(|values| (1..=8).contains(&values.len()))?;
    let signed = values.iter().enumerate().map(|(at, &value)| {
        let is_less = values.get(at + 1).is_some_and(|&next| next > value);
        if is_less { -value } else { value }
    });
    Some(signed.sum())
}

/// The pages whose edge line is a running one.
fn running(lines: &[EdgeLine], pages: usize, body: f64) -> HashSet<usize> {
    // How far page numbers are from the count of pages, with the number of pages that agree.
    let mut offsets: HashMap<i64, usize> = HashMap::new();
    for line in lines {
        for number in &line.numbers {
            *offsets.entry(number - line.page as i64).or_default() += 1;
        }
    }
    let agreeing = MIN_PAGES.min(pages.max(2));
    let has_label = |line: &EdgeLine| {
        let mut numbers = line.numbers.iter();
        numbers.any(|number| offsets[&(number - line.page as i64)] >= agreeing)
    };
    let is_most = |among: &[&EdgeLine]| is_on_most(among, pages);
    let running = lines.iter().filter(|line| {
        let is_labelled = has_label(line);
        let is_number =
            line.words.chars().filter(|letter| letter.is_alphabetic()).count() == 0 || roman(&line.words).is_some();
        if is_labelled && is_number {
            return true;
        }
        if line.size > MAX_SIZE * body || !line.is_apart {
            return false;
        }
        let level: Vec<&EdgeLine> = lines.iter().filter(|other| (other.y - line.y).abs() < HEIGHT).collect();
        let same: Vec<&EdgeLine> = level
            .iter()
            .copied()
            .filter(|other| other.words == line.words)
            .collect();
        let labelled: Vec<&EdgeLine> = level.iter().copied().filter(|other| has_label(other)).collect();
        let is_same = same.len() >= MIN_PAGES || is_labelled && same.len() >= 2;
        // The title of a chapter, on all its pages.
        let distinct = level.iter().map(|other| &other.words).collect::<HashSet<_>>().len();
        let is_of_chapter = distinct * MIN_PAGES <= level.len() && same.len() >= 2;
        is_same && is_most(&same) || is_labelled && is_most(&labelled) || is_of_chapter && is_most(&level)
    });
    running.map(|line| line.page).collect()
}

/// Whether the lines are on most pages, or on most left or right pages.
fn is_on_most(lines: &[&EdgeLine], pages: usize) -> bool {
    let of_side = |side: usize| lines.iter().filter(|line| line.page % 2 == side).count();
    let is_most_of_side = |side: usize| {
        let all = (pages + 1 - side) / 2;
        of_side(side) >= MIN_PAGES && of_side(side) * 2 > all
    };
    lines.len() * 2 > pages || is_most_of_side(0) || is_most_of_side(1)
}

/// Removes turned lines that come again on most pages.
fn remove_watermarks(pages: &mut [Page]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for page in pages.iter() {
        let texts: HashSet<&str> = page.turned.iter().map(|line| line.text.trim()).collect();
        for text in texts {
            *counts.entry(text.to_owned()).or_default() += 1;
        }
    }
    let count = pages.len();
    for page in pages {
        page.turned.retain(|line| {
            let times = counts.get(line.text.trim()).copied().unwrap_or(0);
            times < MIN_PAGES || times * 2 <= count
        });
    }
}
