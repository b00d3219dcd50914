//! Joins the characters of a page to pieces of lines.

use std::cmp::Ordering;
use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::content::Glyph;
use super::direction::{self, Direction};
use super::font::Fonts;
use super::page::{Line, Page};

/// A gap of this share of the font size separates words.
const WORD_GAP: f64 = 0.12;
/// A gap of this share separates pieces.
const PIECE_GAP: f64 = 0.75;
/// The same character at this distance, as a share of the font size, is one that is drawn twice to look bold.
const DOUBLED: f64 = 0.1;

/// A character with its style.
struct Character {
    glyph: Glyph,
    is_bold: bool,
}

/// The lines of a page.
pub(super) fn page(number: usize, glyphs: Vec<Glyph>, fonts: &Fonts<'_>) -> Page {
    let main = main_turn(&glyphs);
    let mut pieces: Vec<Vec<Character>> = Vec::new();
    for character in without_doubles(glyphs, fonts) {
        match pieces.last_mut() {
            Some(piece) if continues(piece, &character, fonts) => piece.push(character),
            _ => pieces.push(vec![character]),
        }
    }
    let base = base(&pieces);
    let mut page = Page {
        number,
        ..Page::default()
    };
    for piece in pieces {
        let is_turned = piece[0].glyph.turn != main;
        let lines = if is_turned { &mut page.turned } else { &mut page.lines };
        lines.extend(line(piece, base, fonts));
    }
    page
}

/// The direction in which the lines of a page are read; `None` if each line has its own. Lines that are read from the
/// right end at one place, others begin at one.
fn base(pieces: &[Vec<Character>]) -> Option<Direction> {
    let left = |piece: &&Vec<Character>| piece.iter().any(|character| runs_left(&character.glyph));
    let (mut starts, mut ends) = (HashMap::new(), HashMap::new());
    for piece in pieces.iter().filter(left) {
        let start = piece
            .iter()
            .map(|character| character.glyph.x)
            .fold(f64::INFINITY, f64::min);
        let end = piece
            .iter()
            .map(|character| character.glyph.end)
            .fold(f64::NEG_INFINITY, f64::max);
        *starts.entry(start.round() as i64).or_insert(0usize) += 1;
        *ends.entry(end.round() as i64).or_insert(0usize) += 1;
    }
    let most = |places: HashMap<i64, usize>| places.into_values().max().unwrap_or(0);
    match most(ends).cmp(&most(starts)) {
        Ordering::Greater => Some(Direction::Left),
        Ordering::Less => Some(Direction::Right),
        Ordering::Equal => {
            let characters = pieces.iter().flatten();
            let direction = Direction::of(characters.map(|character| &*character.glyph.text));
            (direction == Direction::Left).then_some(direction)
        }
    }
}

fn runs_left(glyph: &Glyph) -> bool {
    glyph
        .text
        .chars()
        .any(|letter| direction::runs_left(letter) == Some(true))
}

/// How most of the page is turned.
fn main_turn(glyphs: &[Glyph]) -> i16 {
    let mut counts: HashMap<i16, usize> = HashMap::new();
    for glyph in glyphs {
        *counts.entry(glyph.turn).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|&(turn, count)| (count, turn == 0, turn));
    most.map_or(0, |(turn, _)| turn)
}

/// Leaves out characters that are drawn twice at one place: those are bold.
fn without_doubles(glyphs: Vec<Glyph>, fonts: &Fonts<'_>) -> Vec<Character> {
    let mut output: Vec<Character> = Vec::with_capacity(glyphs.len());
    let mut known: HashMap<(char, i64, i64), usize> = HashMap::with_capacity(glyphs.len());
    for glyph in glyphs {
        let is_bold = fonts.is_bold(glyph.font);
        let Some(first) = glyph.text.chars().next().filter(|first| !first.is_whitespace()) else {
            output.push(Character { glyph, is_bold });
            continue;
        };
        let cell = |value: f64| (value / (4.0 * DOUBLED * glyph.size)).floor() as i64;
        let tolerance = DOUBLED * glyph.size;
        let cells = [
            (cell(glyph.x), cell(glyph.y)),
            (cell(glyph.x - tolerance), cell(glyph.y - tolerance)),
            (cell(glyph.x + tolerance), cell(glyph.y + tolerance)),
            (cell(glyph.x - tolerance), cell(glyph.y + tolerance)),
            (cell(glyph.x + tolerance), cell(glyph.y - tolerance)),
        ];
        let double = cells
            .iter()
            .filter_map(|&(x, y)| known.get(&(first, x, y)).copied())
            .find(|&at| {
                let other = &output[at].glyph;
                (other.x - glyph.x).abs() < tolerance
                    && (other.y - glyph.y).abs() < tolerance
                    && other.text == glyph.text
                    && other.turn == glyph.turn
            });
        match double {
            Some(at) => output[at].is_bold = true,
            None => {
                known.insert((first, cells[0].0, cells[0].1), output.len());
                output.push(Character { glyph, is_bold });
            }
        }
    }
    output
}

/// Whether a character continues a piece. Text that is read from right to left may be drawn in either order.
fn continues(piece: &[Character], next: &Character, fonts: &Fonts<'_>) -> bool {
    let Some(last) = piece.last() else {
        return false;
    };
    let (last, next) = (&last.glyph, &next.glyph);
    let size = next.size.max(last.size);
    if next.turn != last.turn || (next.y - last.y).abs() > 0.5 * size {
        return false;
    }
    let (ahead, behind) = (next.x - last.end, last.x - next.end);
    let is_typed = fonts.is_typed(next.font) && fonts.is_typed(last.font);
    let limit = match is_typed {
        true => 40.0,
        false => PIECE_GAP,
    };
    let is_ahead = ahead > -0.5 * size && ahead < limit * size;
    let is_behind = behind > -0.5 * size && behind < PIECE_GAP * size;
    // An accent and its letter, or a mark that is drawn back over its letter.
    let is_over = ahead <= 0.0 && behind <= 0.0;
    is_ahead || is_behind || is_over
}

/// A line of the characters; `None` if they are blank.
fn line(mut piece: Vec<Character>, base: Option<Direction>, fonts: &Fonts<'_>) -> Option<Line> {
    let has_text = |character: &Character| !character.glyph.text.trim().is_empty();
    let inked = || piece.iter().filter(|character| has_text(character));
    let size = most_common_size(inked().map(|character| &character.glyph))?;
    let y = inked()
        .find(|character| (character.glyph.size - size).abs() < 0.05 * size)
        .map_or(0.0, |character| character.glyph.y);
    let is_bold = inked()
        .filter(|character| character.glyph.text.chars().any(char::is_alphanumeric))
        .all(|character| character.is_bold);
    let typed = || inked().filter(|character| fonts.is_typed(character.glyph.font));
    // A quotation mark or a bracket may come from another font.
    let others_are_signs = inked()
        .filter(|character| !fonts.is_typed(character.glyph.font))
        .all(|character| !character.glyph.text.chars().any(char::is_alphanumeric));
    let is_typed = others_are_signs && typed().count() * 5 >= inked().count() * 4;
    let width = typed()
        .map(|character| character.glyph.end - character.glyph.x)
        .fold(0.0, f64::max);
    let pitch = (is_typed && width > 0.0).then_some(width);
    let (x, end) = inked().fold((f64::INFINITY, f64::NEG_INFINITY), |(x, end), character| {
        (x.min(character.glyph.x), end.max(character.glyph.end))
    });
    let runs_left = inked().any(|character| runs_left(&character.glyph));
    let is_out_of_order = piece
        .windows(2)
        .any(|pair| pair[1].glyph.x < pair[0].glyph.x - 0.5 * pair[0].glyph.size);
    if runs_left || is_out_of_order {
        piece.sort_by(|left, right| left.glyph.x.total_cmp(&right.glyph.x));
    }
    let clusters = clusters(&piece, pitch);
    let pieces: Vec<&str> = clusters.iter().map(String::as_str).collect();
    let text = match runs_left {
        true => {
            let base = base.unwrap_or_else(|| Direction::of(pieces.iter().copied()));
            direction::reading_order(&pieces, base)
        }
        false => pieces.concat(),
    };
    let text = text.trim().to_owned();
    (!text.is_empty()).then_some(Line {
        y,
        x,
        end,
        size,
        text,
        pitch,
        is_bold,
        ..Line::default()
    })
}

/// The size of most letters.
fn most_common_size<'a>(glyphs: impl Iterator<Item = &'a Glyph>) -> Option<f64> {
    let mut sizes: Vec<(f64, usize)> = Vec::new();
    for glyph in glyphs {
        match sizes
            .iter()
            .position(|(size, _)| (size - glyph.size).abs() < 0.01 * size)
        {
            Some(at) => sizes[at].1 += 1,
            None if sizes.len() < 20 => sizes.push((glyph.size, 1)),
            None => {}
        }
    }
    let most = sizes
        .into_iter()
        .max_by(|left, right| left.1.cmp(&right.1).then(left.0.total_cmp(&right.0)));
    most.map(|(size, _)| size)
}

/// The texts of the characters from left to right, with blanks between words. Marks are with their letter.
fn clusters(piece: &[Character], pitch: Option<f64>) -> Vec<String> {
    let mut clusters = Clusters::default();
    for character in piece {
        clusters.add(&character.glyph, pitch);
    }
    clusters.place_accent(None);
    clusters.texts
}

#[derive(Default)]
struct Clusters {
    texts: Vec<String>,
    end: Option<f64>,
    /// The middle of an accent that is drawn before its letter, and its mark.
    accent: Option<(f64, char)>,
}

impl Clusters {
    fn add(&mut self, glyph: &Glyph, pitch: Option<f64>) {
        let end = self.end.unwrap_or(glyph.x);
        if let Some(mark) = single(&glyph.text).and_then(combining) {
            let middle = (glyph.x + glyph.end) / 2.0;
            match self.texts.last_mut() {
                Some(last) if middle < end && last.ends_with(char::is_alphabetic) => compose(last, mark),
                _ => {
                    self.place_accent(None);
                    self.accent = Some((middle, mark));
                }
            }
        } else if !glyph.text.is_empty() {
            self.add_text(glyph, glyph.x - end, pitch);
        }
        self.end = Some(end.max(glyph.end));
    }

    fn add_text(&mut self, glyph: &Glyph, gap: f64, pitch: Option<f64>) {
        let is_blank = glyph.text.chars().all(char::is_whitespace);
        let ends_blank = self.texts.last().is_none_or(|last| last.ends_with(' '));
        let is_over_accent = self.accent.is_some_and(|(middle, _)| middle > glyph.x);
        if gap > WORD_GAP * glyph.size && !ends_blank && !is_blank && !is_over_accent {
            // Columns of code keep their distance.
            let blanks = pitch.map_or(1, |pitch| ((gap / pitch).round() as usize).clamp(1, 40));
            self.texts.push(" ".repeat(blanks));
        }
        let is_mark = glyph.text.chars().all(is_combining_mark);
        match self.texts.last_mut() {
            Some(last) if is_mark && !last.ends_with(' ') => last.push_str(&glyph.text),
            _ => self.texts.push(glyph.text.to_string()),
        }
        self.place_accent(Some(glyph));
    }

    /// Puts a waiting accent on the letter that was added, or before it.
    fn place_accent(&mut self, letter: Option<&Glyph>) {
        let Some((middle, mark)) = self.accent.take() else {
            return;
        };
        let is_below = letter.is_some_and(|letter| middle > letter.x && middle < letter.end);
        match self.texts.last_mut() {
            Some(last) if is_below => compose(last, mark),
            Some(last) if letter.is_some() => last.insert(0, spacing(mark)),
            _ => self.texts.push(spacing(mark).to_string()),
        }
    }
}

fn compose(text: &mut String, mark: char) {
    text.push(mark);
    *text = text.nfc().collect();
}

fn single(text: &str) -> Option<char> {
    let mut characters = text.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// Accents as characters of their own, and their marks.
const ACCENTS: [(char, char); 11] = [
    ('´', '\u{301}'),
    ('¨', '\u{308}'),
    ('ˆ', '\u{302}'),
    ('˜', '\u{303}'),
    ('¯', '\u{304}'),
    ('˘', '\u{306}'),
    ('˙', '\u{307}'),
    ('˚', '\u{30a}'),
    ('˝', '\u{30b}'),
    ('ˇ', '\u{30c}'),
    ('¸', '\u{327}'),
];

fn combining(accent: char) -> Option<char> {
    let known = ACCENTS.iter().find(|(own, _)| *own == accent);
    known.map(|(_, mark)| *mark)
}

fn spacing(mark: char) -> char {
    let known = ACCENTS.iter().find(|(_, own)| *own == mark);
    known.map_or(mark, |(accent, _)| *accent)
}
