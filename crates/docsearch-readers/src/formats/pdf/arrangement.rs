//! Finds what is side by side on a page: tables without rules, and columns of prose.

use super::mark;
use super::page::Line;

/// What a page consists of, in reading order.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    Line(Line),
    /// The cells of each row.
    Table(Vec<Vec<String>>),
}

/// Lines of a paragraph are at most this share of their size apart.
pub(super) const LEADING: f64 = 1.7;
/// Rows of a table are at most this share of their size apart.
const ROW_DISTANCE: f64 = 4.0;
/// Lines that a column of prose has at least, and the average of their characters.
const MIN_PROSE_LINES: usize = 3;
const MIN_PROSE_CHARACTERS: usize = 16;
const MAX_PROSE_COLUMNS: usize = 4;
/// The share of lines of prose that begin within a sentence.
const PROSE_SHARE: f64 = 0.3;
/// The share of a column's cells that are aligned, at their start, end or middle.
const ALIGNED_SHARE: f64 = 0.7;

/// Lines that follow each other from top to bottom.
type Block = Vec<Line>;

/// Blocks that are side by side.
type Band = Vec<Block>;

pub(super) fn arrange(lines: Vec<Line>) -> Vec<Item> {
    let mut items = Vec::new();
    let bands = bands(blocks(mark::attach(lines)));
    let mut at = 0;
    while at < bands.len() {
        let count = region(&bands[at..]);
        let table = Region::new(&bands[at..at + count]);
        match table {
            Some(region) => region.write(&mut items),
            None => bands[at..at + count]
                .iter()
                .for_each(|band| write_band(band, &mut items)),
        }
        at += count;
    }
    items
}

fn blocks(lines: Vec<Line>) -> Vec<Block> {
    let is_in_row = rows(&lines);
    let mut blocks: Vec<Block> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let is_below = at.checked_sub(1).is_some_and(|above| {
            // A row that is drawn piece by piece below a paragraph, and a paragraph below the last cell of a row.
            let begins_row = !is_in_row[above] && lines.get(at + 1).is_some_and(|next| next.is_beside(line));
            let leaves_cell = is_in_row[above] && line.x < lines[above].x - line.size;
            is_below(&lines[above], line) && !begins_row && !leaves_cell
        });
        match blocks.last_mut() {
            Some(block) if is_below => block.push(line.clone()),
            _ => blocks.push(vec![line.clone()]),
        }
    }
    blocks
}

/// Whether each line has others on the same height.
fn rows(lines: &[Line]) -> Vec<bool> {
    let mut by_height: Vec<usize> = (0..lines.len()).collect();
    by_height.sort_by(|&left, &right| lines[left].y.total_cmp(&lines[right].y));
    let mut is_in_row = vec![false; lines.len()];
    for pair in by_height.windows(2) {
        if lines[pair[0]].is_beside(&lines[pair[1]]) {
            is_in_row[pair[0]] = true;
            is_in_row[pair[1]] = true;
        }
    }
    is_in_row
}

fn is_below(above: &Line, line: &Line) -> bool {
    let distance = line.y - above.y;
    let size = above.size.max(line.size);
    let overlaps = line.x < above.end && above.x < line.end;
    overlaps && distance > 0.35 * size && distance < LEADING * size
}

fn bands(blocks: Vec<Block>) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    for block in blocks {
        match bands.last_mut() {
            Some(band) if band.iter().all(|other| is_beside(other, &block)) => band.push(block),
            _ => bands.push(vec![block]),
        }
    }
    bands
}

fn is_beside(left: &Block, right: &Block) -> bool {
    let (left_x, right_x) = (extent(left), extent(right));
    let is_apart = left_x.1 <= right_x.0 || right_x.1 <= left_x.0;
    let overlap = bottom(left).min(bottom(right)) - top(left).max(top(right));
    let height = (bottom(left) - top(left)).min(bottom(right) - top(right));
    is_apart && overlap > 0.5 * height
}

fn extent(block: &Block) -> (f64, f64) {
    block.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(x, end), line| {
        (x.min(line.x), end.max(line.end))
    })
}

fn top(block: &Block) -> f64 {
    block
        .iter()
        .map(|line| line.y - line.size)
        .fold(f64::INFINITY, f64::min)
}

fn bottom(block: &Block) -> f64 {
    block.iter().map(|line| line.y).fold(f64::NEG_INFINITY, f64::max)
}

/// Number of bands at the beginning that have the same columns; at least one.
fn region(bands: &[Band]) -> usize {
    let mut columns: Vec<(f64, f64)> = Vec::new();
    let mut count = 0;
    let mut lowest = f64::INFINITY;
    for (at, band) in bands.iter().enumerate() {
        let size = band[0][0].size;
        let highest = band.iter().map(top).fold(f64::INFINITY, f64::min);
        let is_near = at == 0 || highest - lowest < ROW_DISTANCE * size && highest > lowest - size;
        if !is_near || !fits(&mut columns, band) || is_code(band) {
            break;
        }
        // A single block belongs to the table if it goes on with a cell, or if a row with several follows.
        let goes_on = count == at && highest - lowest < 0.5 * size && band[0][0].x > columns[0].0 + size;
        if band.len() >= 2 || at > 0 && goes_on {
            count = at + 1;
        } else if at == 0 {
            break;
        }
        lowest = band.iter().map(bottom).fold(f64::NEG_INFINITY, f64::max);
    }
    count.max(1)
}

fn is_code(band: &Band) -> bool {
    band.iter().flatten().all(|line| line.pitch.is_some())
}

/// Whether each block of the band is in one column, which it may widen.
fn fits(columns: &mut Vec<(f64, f64)>, band: &Band) -> bool {
    let before = columns.clone();
    for block in band {
        let (x, end) = extent(block);
        let touched: Vec<usize> = (0..columns.len())
            .filter(|&at| columns[at].0 < end && x < columns[at].1)
            .collect();
        match touched[..] {
            [] => columns.push((x, end)),
            [at] => columns[at] = (columns[at].0.min(x), columns[at].1.max(end)),
            _ => {
                *columns = before;
                return false;
            }
        }
    }
    true
}

/// A line of a column.
#[derive(Clone)]
struct Cell {
    line: Line,
    /// The height of its row: its own, or that of a band whose cells have different numbers of lines.
    row: f64,
}

/// Bands with the same columns.
struct Region {
    /// From left to right; the lines of each from top to bottom.
    columns: Vec<Vec<Cell>>,
    is_prose: bool,
}

impl Region {
    /// `None` if nothing is side by side, or only by chance.
    fn new(bands: &[Band]) -> Option<Self> {
        let mut extents = Vec::new();
        for band in bands {
            fits(&mut extents, band);
        }
        extents.sort_by(|left, right| left.0.total_cmp(&right.0));
        let mut columns: Vec<Vec<Cell>> = vec![Vec::new(); extents.len()];
        for band in bands {
            let is_row = band.len() >= 2 && band.iter().any(|block| block.len() == 1);
            let height = band.iter().map(top).fold(f64::INFINITY, f64::min);
            for line in band.iter().flatten() {
                let at = extents.iter().position(|&(x, end)| line.x < end && x < line.end)?;
                columns[at].push(Cell {
                    line: line.clone(),
                    row: if is_row { height + line.size } else { line.y },
                });
            }
        }
        for column in &mut columns {
            column.sort_by(|left, right| left.line.y.total_cmp(&right.line.y));
        }
        if columns.len() < 2 {
            return None;
        }
        let is_prose = columns.len() <= MAX_PROSE_COLUMNS && columns.iter().all(|column| is_prose(column));
        let region = Self { columns, is_prose };
        (is_prose || region.is_table()).then_some(region)
    }

    fn is_table(&self) -> bool {
        let rows = self.rows();
        let full = rows
            .iter()
            .filter(|row| row.iter().filter(|cell| !cell.is_empty()).count() >= 2)
            .count();
        full >= 2 && full * 2 >= rows.len() && self.columns.iter().all(|column| is_aligned(column))
    }

    /// The lines of each cell. A row without a first cell goes on with the row above it, if it is close.
    fn rows(&self) -> Vec<Vec<Vec<&Line>>> {
        let mut cells: Vec<(usize, &Cell)> = self
            .columns
            .iter()
            .enumerate()
            .flat_map(|(at, column)| column.iter().map(move |cell| (at, cell)))
            .collect();
        cells.sort_by(|left, right| left.1.row.total_cmp(&right.1.row).then(left.0.cmp(&right.0)));
        let mut rows: Vec<Vec<Vec<&Line>>> = Vec::new();
        let mut last: Option<&Cell> = None;
        for (at, cell) in cells {
            let is_same = last.is_some_and(|last| (last.row - cell.row).abs() < 0.35 * cell.line.size);
            if !is_same {
                rows.push(vec![Vec::new(); self.columns.len()]);
            }
            last = Some(cell);
            if let Some(row) = rows.last_mut() {
                row[at].push(&cell.line);
            }
        }
        let mut merged: Vec<Vec<Vec<&Line>>> = Vec::new();
        for row in rows {
            match merged.last_mut() {
                Some(before) if goes_on(before, &row) => {
                    for (cell, lines) in before.iter_mut().zip(row) {
                        cell.extend(lines);
                    }
                }
                _ => merged.push(row),
            }
        }
        merged
    }

    fn write(&self, items: &mut Vec<Item>) {
        if self.is_prose {
            items.extend(self.columns.iter().flatten().map(|cell| Item::Line(cell.line.clone())));
            return;
        }
        let text = |cell: &Vec<&Line>| {
            let texts: Vec<&str> = cell.iter().map(|line| line.text.trim()).collect();
            texts.join(" ")
        };
        let rows = self.rows();
        items.push(Item::Table(
            rows.iter().map(|row| row.iter().map(text).collect()).collect(),
        ));
    }
}

/// Whether a row of lines continues the cells of the one above: it has fewer cells, and is as close as lines of a
/// paragraph do.
fn goes_on(before: &[Vec<&Line>], row: &[Vec<&Line>]) -> bool {
    let last = before
        .iter()
        .flatten()
        .map(|line| line.y)
        .fold(f64::NEG_INFINITY, f64::max);
    let Some(first) = row.iter().flatten().next() else {
        return false;
    };
    let filled = |row: &[Vec<&Line>]| row.iter().filter(|cell| !cell.is_empty()).count();
    let is_close = first.y - last < 1.35 * first.size;
    let has_above = row
        .iter()
        .zip(before)
        .all(|(cell, above)| cell.is_empty() || !above.is_empty());
    is_close && row[0].is_empty() && filled(row) < filled(before) && has_above
}

/// Whether lines read as sentences that go on from line to line.
fn is_prose(lines: &[Cell]) -> bool {
    let lines: Vec<&Line> = lines.iter().map(|cell| &cell.line).collect();
    let characters: usize = lines.iter().map(|line| line.text.chars().count()).sum();
    let within = lines
        .iter()
        .skip(1)
        .filter(|line| line.text.trim_start().starts_with(char::is_lowercase))
        .count();
    lines.len() >= MIN_PROSE_LINES
        && characters >= MIN_PROSE_CHARACTERS * lines.len()
        && within as f64 >= PROSE_SHARE * (lines.len() - 1) as f64
}

/// Whether most cells of a column begin, end or have their middle at one place.
fn is_aligned(column: &[Cell]) -> bool {
    let column: Vec<&Line> = column.iter().map(|cell| &cell.line).collect();
    let share = |place: &dyn Fn(&Line) -> f64| {
        let mut places: Vec<f64> = column.iter().map(|line| place(line)).collect();
        places.sort_by(f64::total_cmp);
        let middle = places[places.len() / 2];
        let near = column
            .iter()
            .filter(|line| (place(line) - middle).abs() < 0.25 * line.size)
            .count();
        near as f64 / column.len() as f64
    };
    column.is_empty()
        || share(&|line| line.x) >= ALIGNED_SHARE
        || share(&|line| line.end) >= ALIGNED_SHARE
        || share(&|line| (line.x + line.end) / 2.0) >= ALIGNED_SHARE
}

/// Writes pieces in the order in which they are drawn; those on one line become one.
fn write_band(band: &Band, items: &mut Vec<Item>) {
    let mut joined: Vec<Line> = Vec::new();
    for line in band.iter().flatten() {
        match joined.last_mut() {
            Some(last) if last.is_beside(line) && line.x >= last.end - 0.3 * last.size => {
                last.append(line.clone());
                last.is_shared = true;
            }
            _ => joined.push(line.clone()),
        }
    }
    items.extend(joined.into_iter().map(Item::Line));
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

    fn grid(xs: &[f64], rows: &[&[&str]]) -> Vec<Line> {
        let cells = rows.iter().enumerate().flat_map(|(row, cells)| {
            let y = 100.0 + 14.0 * row as f64;
            cells.iter().zip(xs).map(move |(cell, &x)| piece(x, y, cell))
        });
        cells.filter(|line| !line.text.is_empty()).collect()
    }

    fn table(rows: &[&[&str]]) -> Item {
        Item::Table(
            rows.iter()
                .map(|row| row.iter().map(|&cell| cell.to_owned()).collect())
                .collect(),
        )
    }

    const ROWS: [&[&str]; 3] = [
        &["Port", "Ships", "Year"],
        &["Oban", "12", "1998"],
        &["Mallaig", "7", "2004"],
    ];

    #[test]
    fn rows_of_cells_are_a_table_in_whatever_order_they_are_drawn() {
        let by_row = grid(&[72.0, 150.0, 220.0], &ROWS);
        assert_eq!(arrange(by_row.clone()), [table(&ROWS)]);
        let mut by_column = by_row;
        by_column.sort_by(|left, right| left.x.total_cmp(&right.x));
        assert_eq!(arrange(by_column), [table(&ROWS)]);
    }

    #[test]
    fn a_cell_of_several_lines_stays_together() {
        let lines = vec![
            piece(72.0, 100.0, "Option"),
            piece(150.0, 100.0, "Meaning"),
            piece(72.0, 120.0, "--quiet"),
            piece(150.0, 120.0, "Writes no"),
            piece(150.0, 132.0, "progress."),
            piece(72.0, 150.0, "--all"),
            piece(150.0, 150.0, "Every page."),
        ];
        assert_eq!(
            arrange(lines),
            [table(&[
                &["Option", "Meaning"],
                &["--quiet", "Writes no progress."],
                &["--all", "Every page."]
            ])]
        );
    }

    #[test]
    fn columns_of_prose_are_read_one_after_the_other() {
        let left = [
            "The left column is about",
            "puffins in five lines that",
            "stand below each other.",
        ];
        let right = [
            "The right column is about",
            "gannets in five lines that",
            "stand below each other.",
        ];
        let line_by_line = left.iter().zip(right).enumerate().flat_map(|(row, (left, right))| {
            let y = 100.0 + 12.0 * row as f64;
            [piece(72.0, y, left), piece(320.0, y, right)]
        });
        let texts: Vec<String> = arrange(line_by_line.collect())
            .into_iter()
            .map(|item| match item {
                Item::Line(line) => line.text,
                Item::Table(rows) => format!("{rows:?}"),
            })
            .collect();
        assert_eq!(texts, [left, right].concat());
    }

    #[test]
    fn one_line_is_no_table() {
        let items = arrange(grid(&[72.0, 150.0, 220.0], &[&["20", "40", "60"]]));
        assert!(matches!(&items[..], [Item::Line(line)] if line.text == "20 40 60" && line.is_shared));
    }
}
