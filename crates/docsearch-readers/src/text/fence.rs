//! Fenced code blocks.

/// `code` in a fence that is longer than any fence in it.
pub(crate) fn block(language: &str, code: &str) -> String {
    let longest = code
        .lines()
        .map(|line| line.trim_start().bytes().take_while(|&byte| byte == b'`').count())
        .max()
        .unwrap_or(0);
    let marker = "`".repeat(3.max(longest + 1));
    format!("{marker}{language}\n{code}\n{marker}")
}

/// Every line of `text` with its line end, and whether it is outside fences.
pub(crate) fn lines_with_state(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut open: Option<&str> = None;
    text.split_inclusive('\n').map(move |line| {
        let trimmed = line.trim();
        let marker = marker(trimmed);
        match (open, marker) {
            (None, None) => return (line, true),
            (None, Some(_)) => open = marker,
            (Some(fence), Some(close)) if close.starts_with(fence) && close.len() == trimmed.len() => open = None,
            _ => {}
        }
        (line, false)
    })
}

fn marker(line: &str) -> Option<&str> {
    let first = line.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let length = line.chars().take_while(|&character| character == first).count();
    (length >= 3).then(|| &line[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        assert_eq!(block("md", "```\nx\n```"), "````md\n```\nx\n```\n````");
    }

    #[test]
    fn lines_know_whether_they_are_code() {
        let outside: Vec<bool> = lines_with_state("a\n```sh\n# x\n~~~\n```\nb")
            .map(|(_, outside)| outside)
            .collect();
        assert_eq!(outside, [true, false, false, false, false, true]);
    }
}
