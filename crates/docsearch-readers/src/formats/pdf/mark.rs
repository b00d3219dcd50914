//! Marks of items, numbers of headings, and dots that lead to a page number: they belong to the line beside them.

use super::page::Line;

/// Maximum characters of the mark of an item.
const MAX_MARK_CHARACTERS: usize = 8;

/// Joins pieces that belong to one line in any case: the mark of a list's item or the number of a heading and what
/// follows, pieces of code, an entry of a table of contents and its page.
pub(super) fn attach(lines: Vec<Line>) -> Vec<Line> {
    let mut output: Vec<Line> = Vec::with_capacity(lines.len());
    for line in place_late_marks(lines) {
        let last = output.last();
        let is_right = last.is_some_and(|last| last.is_beside(&line) && line.x >= last.end - 0.3 * last.size);
        let is_marked = last.is_some_and(|last| is_mark(last, &line));
        let attaches = is_marked
            || last.is_some_and(|last| {
                let is_code = last.pitch.is_some() && line.pitch.is_some();
                is_code || ends_with_leader(&line.text) || ends_with_leader(&last.text)
            });
        match output.last_mut() {
            Some(last) if is_right && attaches => {
                last.append(line);
                last.is_item |= is_marked;
            }
            _ => output.push(line),
        }
    }
    output
}

/// Moves marks that are drawn after the items before these.
fn place_late_marks(lines: Vec<Line>) -> Vec<Line> {
    let mut by_height: Vec<usize> = (0..lines.len()).collect();
    by_height.sort_by(|&left, &right| lines[left].y.total_cmp(&lines[right].y));
    let mut mark_of: Vec<Option<usize>> = vec![None; lines.len()];
    let mut is_moved = vec![false; lines.len()];
    for (at, mark) in lines.iter().enumerate() {
        let follows = lines
            .get(at + 1)
            .is_some_and(|next| next.is_beside(mark) && next.x > mark.x);
        if follows || mark.text.chars().count() > MAX_MARK_CHARACTERS {
            continue;
        }
        let first = by_height.partition_point(|&other| lines[other].y < mark.y - mark.size);
        let item = by_height[first..]
            .iter()
            .copied()
            .take_while(|&other| lines[other].y <= mark.y + mark.size)
            .filter(|&other| {
                let item = &lines[other];
                let gap = item.x - mark.end;
                other < at && item.is_beside(mark) && gap > -0.3 * mark.size && gap < 3.0 * mark.size
            })
            .min_by(|&left, &right| lines[left].x.total_cmp(&lines[right].x));
        if let Some(item) = item.filter(|&item| mark_of[item].is_none() && is_mark(mark, &lines[item])) {
            mark_of[item] = Some(at);
            is_moved[at] = true;
        }
    }
    let order = (0..lines.len()).filter(|&at| !is_moved[at]);
    let order: Vec<usize> = order.flat_map(|at| mark_of[at].into_iter().chain([at])).collect();
    order.into_iter().map(|at| lines[at].clone()).collect()
}

/// Whether a piece only opens an item or a heading: a bullet, "3.", "(a)", "[12]", "2.1", or a bare number before a word.
fn is_mark(piece: &Line, next: &Line) -> bool {
    let text = piece.text.trim();
    let inner = text.trim_matches(['(', ')', '[', ']', '.', ':']);
    let is_closed = inner.len() < text.len();
    let is_bullet = text.chars().count() == 1 && text.starts_with(|first: char| !first.is_alphanumeric());
    let is_letter = inner.chars().count() == 1 && is_closed;
    let is_number = inner.starts_with(|first: char| first.is_ascii_digit())
        && inner.len() <= 8
        && inner.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    let is_near = next.x - piece.end < 3.0 * piece.size;
    let opens_words = next.text.trim_start().starts_with(char::is_alphabetic);
    is_bullet
        || is_letter
        || is_number && is_near && opens_words && (is_closed || inner.contains('.') || inner.len() <= 2)
}

/// Whether a text ends with the dots that lead the eye to the number of a page, or has nothing else.
pub(super) fn ends_with_leader(text: &str) -> bool {
    let dots = text
        .chars()
        .rev()
        .take_while(|&character| character.is_whitespace() || is_leader(character))
        .filter(|&character| is_leader(character));
    dots.count() >= 4
}

pub(super) fn is_leader(character: char) -> bool {
    matches!(character, '.' | '·' | '…' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(x: f64, y: f64, text: &str) -> Line {
        Line {
            x,
            y,
            end: x + 5.0 * text.chars().count() as f64,
            size: 10.0,
            text: text.to_owned(),
            ..Line::default()
        }
    }

    #[test]
    fn marks_of_items_and_numbers_of_headings_belong_to_their_line() {
        for mark in ["•", "1.", "(a)", "2.3", "[12]", "–"] {
            let lines = vec![piece(72.0, 100.0, mark), piece(100.0, 100.0, "First item")];
            let expected = format!("{mark} First item");
            let attached = attach(lines);
            assert_eq!(attached.len(), 1, "{mark}");
            assert_eq!(attached[0].text, expected);
        }
    }

    #[test]
    fn marks_that_are_drawn_after_the_items_come_before_them() {
        let lines = vec![
            piece(100.0, 100.0, "First item"),
            piece(100.0, 114.0, "Second item"),
            piece(85.0, 100.0, "•"),
            piece(85.0, 114.0, "•"),
        ];
        let texts: Vec<String> = attach(lines).into_iter().map(|line| line.text).collect();
        assert_eq!(texts, ["• First item", "• Second item"]);
    }
}
