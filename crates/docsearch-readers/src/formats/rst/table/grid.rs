//! Grid tables, drawn with `+`, `-` and `|`, whose cells may span columns and rows.

use std::collections::BTreeSet;

use super::{Cell, Table, columns_of, is_dense, text_of};

/// Maximum characters that are examined for each character of a table, over all its cells.
const MAX_STEPS: usize = 64;

/// The number of lines, and the table; `None` in its place if the drawing has gaps. `None` if the lines are no table.
pub(super) fn parse(lines: &[String]) -> Option<(usize, Option<Table>)> {
    if !lines[0].starts_with("+-") || !lines[0].ends_with('+') {
        return None;
    }
    let extent = lines.iter().take_while(|line| line.starts_with(['+', '|'])).count();
    let mut drawing: Vec<Vec<char>> = lines[..extent].iter().map(|line| columns_of(line)).collect();
    let width = drawing.iter().map(Vec::len).max().unwrap_or(0);
    if !is_dense(width * extent, &lines[..extent]) {
        return Some((extent, None));
    }
    for line in &mut drawing {
        align(line, width);
    }
    let head_end = drawing
        .iter()
        .skip(1)
        .position(|line| is_head_rule(line))
        .map(|at| at + 1);
    if let Some(at) = head_end {
        for character in &mut drawing[at] {
            if *character == '=' {
                *character = '-';
            }
        }
    }
    let mut grid = Grid {
        steps: MAX_STEPS * width * extent,
        drawing,
    };
    Some((extent, grid.table(head_end.is_some())))
}

/// Sets the right border of a line to the width of the table: a table whose border is out of line is one to its readers.
fn align(line: &mut Vec<char>, width: usize) {
    let border = line.pop_if(|last| matches!(last, '|' | '+'));
    let filling = line.last().filter(|_| border == Some('+')).copied().unwrap_or(' ');
    line.resize(width - usize::from(border.is_some()), filling);
    line.extend(border);
}

fn is_head_rule(line: &[char]) -> bool {
    line.first() == Some(&'+') && line.contains(&'=') && line.iter().all(|character| "+= ".contains(*character))
}

/// Corners of a cell.
#[derive(Clone, Copy)]
struct Area {
    top: usize,
    left: usize,
    bottom: usize,
    right: usize,
}

struct Grid {
    drawing: Vec<Vec<char>>,
    steps: usize,
}

impl Grid {
    fn table(&mut self, has_head: bool) -> Option<Table> {
        let (height, width) = (self.drawing.len(), self.drawing[0].len());
        // The line down to which each column is taken by cells.
        let mut done = vec![0; width];
        let mut corners = BTreeSet::from([(0, 0)]);
        let mut cells: Vec<(Area, Cell)> = Vec::new();
        while let Some((top, left)) = corners.pop_first() {
            if top + 1 >= height || left + 1 >= width || top < done[left] {
                continue;
            }
            let Some(area) = self.cell(top, left) else { continue };
            if done[left..area.right].iter().any(|&line| line != top) {
                return None;
            }
            done[left..area.right].fill(area.bottom);
            corners.insert((area.top, area.right));
            corners.insert((area.bottom, area.left));
            let lines = &self.drawing[area.top + 1..area.bottom];
            let text = lines.iter().map(|line| text_of(&line[area.left + 1..area.right]));
            cells.push((area, text.collect()));
        }
        let is_complete = done[..width - 1].iter().all(|&line| line + 1 == height);
        is_complete.then(|| table(cells, has_head))
    }

    fn step(&mut self) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        Some(())
    }

    /// The smallest cell with this corner.
    fn cell(&mut self, top: usize, left: usize) -> Option<Area> {
        if self.drawing[top][left] != '+' {
            return None;
        }
        for right in left + 1..self.drawing[top].len() {
            self.step()?;
            match self.drawing[top][right] {
                '+' => {
                    if let Some(bottom) = self.bottom(top, left, right) {
                        return Some(Area {
                            top,
                            left,
                            bottom,
                            right,
                        });
                    }
                }
                '-' => {}
                _ => return None,
            }
        }
        None
    }

    fn bottom(&mut self, top: usize, left: usize, right: usize) -> Option<usize> {
        for line in top + 1..self.drawing.len() {
            self.step()?;
            match (self.drawing[line][left], self.drawing[line][right]) {
                ('+', '+') => {
                    self.steps = self.steps.checked_sub(right - left)?;
                    let between = &self.drawing[line][left..=right];
                    if between.iter().all(|character| matches!(character, '+' | '-')) {
                        return Some(line);
                    }
                }
                ('+' | '|', '+' | '|') => {}
                _ => return None,
            }
        }
        None
    }
}

/// A cell that spans several places fills the first; the others are empty.
fn table(cells: Vec<(Area, Cell)>, has_head: bool) -> Table {
    let tops: BTreeSet<usize> = cells.iter().map(|(area, _)| area.top).collect();
    let lefts: BTreeSet<usize> = cells.iter().map(|(area, _)| area.left).collect();
    let (tops, lefts): (Vec<usize>, Vec<usize>) = (tops.into_iter().collect(), lefts.into_iter().collect());
    let mut rows = vec![vec![Cell::new(); lefts.len()]; tops.len()];
    for (area, text) in cells {
        if let (Ok(row), Ok(column)) = (tops.binary_search(&area.top), lefts.binary_search(&area.left)) {
            rows[row][column] = text;
        }
    }
    Table { rows, has_head }
}
