//! Lines that delimit blocks.

use std::collections::HashMap;

/// Where lines delimit blocks. The parser drops the text of code without an end.
pub(super) struct Delimiters<'a>(HashMap<&'a str, Vec<usize>>);

impl<'a> Delimiters<'a> {
    pub(super) fn of(lines: &[&'a str]) -> Self {
        let mut positions: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            let line = line.trim_end();
            if is_verbatim(line) || is_compound(line) || is_table(line) {
                positions.entry(line).or_default().push(at);
            }
        }
        Self(positions)
    }

    /// The line from `from` where a block ends that its delimiter does not end before the blocks around it.
    pub(super) fn end(&self, delimiter: &str, enclosing: &[&str], from: usize) -> usize {
        let next = |delimiter: &str| {
            let positions = self.0.get(delimiter).map_or(&[][..], Vec::as_slice);
            positions.get(positions.partition_point(|&at| at < from)).copied()
        };
        let around = enclosing.iter().filter_map(|delimiter| next(delimiter)).min();
        match (next(delimiter), around) {
            (Some(own), around) if around.is_none_or(|around| own < around) => usize::MAX,
            (_, around) => around.unwrap_or(usize::MAX),
        }
    }
}

pub(super) fn is_verbatim(line: &str) -> bool {
    let Some(first) = line.chars().next() else {
        return false;
    };
    let is_uniform = line.len() >= 4 && line.chars().all(|character| character == first);
    "-.+/".contains(first) && is_uniform || line.starts_with("```") && !line[3..].contains('`')
}

pub(super) fn is_table(line: &str) -> bool {
    let end = line.strip_prefix(['|', ',', ':']).unwrap_or_default();
    end.len() >= 3 && end.bytes().all(|byte| byte == b'=')
}

pub(super) fn is_compound(line: &str) -> bool {
    let first = line.chars().next().unwrap_or(' ');
    line == "--" || line.len() >= 4 && "=*_".contains(first) && line.chars().all(|character| character == first)
}
