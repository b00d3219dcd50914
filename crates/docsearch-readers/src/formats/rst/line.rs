//! Lines: indentation and adornments.

use crate::text::fence;

const TAB_WIDTH: usize = 8;
const ADORNMENTS: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// The line with tabs expanded and without trailing white space.
pub(super) fn without_tabs(line: &str) -> String {
    let line = line.trim_end();
    if !line.contains('\t') {
        return line.to_owned();
    }
    let mut output = String::with_capacity(line.len() + TAB_WIDTH);
    let mut column = 0;
    for character in line.chars() {
        let width = if character == '\t' {
            TAB_WIDTH - column % TAB_WIDTH
        } else {
            1
        };
        if character == '\t' {
            output.extend(std::iter::repeat_n(' ', width));
        } else {
            output.push(character);
        }
        column += width;
    }
    output
}

pub(super) fn is_punctuation(character: char) -> bool {
    ADORNMENTS.contains(character)
}

/// Number of leading spaces.
pub(super) fn indentation(line: &str) -> usize {
    line.bytes().take_while(|&byte| byte == b' ').count()
}

/// The repeated character of an adornment line; `None` for any other line.
pub(super) fn adornment(line: &str) -> Option<char> {
    let first = line.chars().next()?;
    let uniform = is_punctuation(first) && line.chars().all(|character| character == first);
    (uniform && line.len() >= 2).then_some(first)
}

/// The line without up to `width` leading spaces.
pub(super) fn outdent(line: &str, width: usize) -> &str {
    &line[indentation(line).min(width)..]
}

/// Number of lines from `start` that are blank or indented by at least `width`, without trailing blank lines.
pub(super) fn indented_extent(lines: &[String], start: usize, width: usize) -> usize {
    let mut end = start;
    for (at, line) in lines.iter().enumerate().skip(start) {
        if line.is_empty() {
            continue;
        }
        if indentation(line) < width {
            break;
        }
        end = at + 1;
    }
    end - start
}

/// The lines without their common indentation and without surrounding blank lines.
pub(super) fn dedent(lines: &[String]) -> Vec<String> {
    let width = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|line| indentation(line))
        .min()
        .unwrap_or(0);
    let lines = trim_blank(lines).iter();
    lines.map(|line| outdent(line, width).to_owned()).collect()
}

fn trim_blank(lines: &[String]) -> &[String] {
    let Some(first) = lines.iter().position(|line| !line.is_empty()) else {
        return &[];
    };
    let last = lines.iter().rposition(|line| !line.is_empty()).unwrap_or(first);
    &lines[first..=last]
}

/// A fenced code block.
pub(super) fn fence(language: &str, code: &[String]) -> String {
    fence::block(language, &code.join("\n"))
}
