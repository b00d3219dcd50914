//! Which lines of a page are code, where directives that include files are only shown.

/// Whether a directive with a name, in lower case, shows code.
pub(crate) type IsCode = fn(&str) -> bool;

/// A line of Markdown outside code, as MyST sees it.
#[derive(Debug, PartialEq)]
pub(super) enum MystLine<'a> {
    /// Opens a directive; the information in its fence.
    Directive(&'a str),
    Text,
    /// reStructuredText within `{eval-rst}`.
    Rst,
    Code,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Content {
    Text,
    Rst,
    Code,
}

/// The open fences of a page in Markdown, of backticks, tildes or colons.
#[derive(Debug, Default)]
pub(super) struct Fences<'a> {
    open: Vec<(&'a str, Content)>,
}

impl<'a> Fences<'a> {
    /// Takes the next line, without its indentation.
    pub(super) fn line(&mut self, line: &'a str, is_code: IsCode) -> MystLine<'a> {
        let content = self.open.last().map_or(Content::Text, |(_, content)| *content);
        if let Some((marker, _)) = self.open.last()
            && closes(marker, line)
        {
            self.open.pop();
            return MystLine::Code;
        }
        match content {
            Content::Rst => return MystLine::Rst,
            Content::Code => return MystLine::Code,
            Content::Text => {}
        }
        let Some(marker) = marker(line) else {
            return MystLine::Text;
        };
        let information = line[marker.len()..].trim();
        let name = information.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let content = match name {
            Some(("include" | "literalinclude", target)) if !target.is_empty() => {
                return MystLine::Directive(information);
            }
            Some(("eval-rst", _)) => Content::Rst,
            Some((name, _)) if is_code(&name.to_lowercase()) => Content::Code,
            Some(_) => Content::Text,
            None if marker.starts_with(':') => Content::Text,
            None => Content::Code,
        };
        // Colons alone end a container of another generator.
        if !(information.is_empty() && marker.starts_with(':')) {
            self.open.push((marker, content));
        }
        MystLine::Code
    }
}

/// The characters of the fence that a line opens.
pub(super) fn marker(line: &str) -> Option<&str> {
    let first = line.chars().next().filter(|first| "`~:".contains(*first))?;
    let length = line.bytes().take_while(|&byte| byte == first as u8).count();
    let is_span = first == '`' && line[length..].contains('`');
    (length >= 3 && !is_span).then(|| &line[..length])
}

/// Whether a line closes the fence with a marker.
pub(super) fn closes(marker: &str, line: &str) -> bool {
    line.starts_with(marker) && line.trim_start_matches(&marker[..1]).trim().is_empty()
}

/// The literal blocks of a page in reStructuredText.
#[derive(Debug, Default)]
pub(super) struct LiteralBlocks {
    /// The column of the text above the block, whose lines are indented more.
    column: Option<usize>,
}

impl LiteralBlocks {
    /// Takes the next line; whether it is code.
    pub(super) fn contains(&mut self, line: &str, is_code: IsCode) -> bool {
        let text = line.trim_start();
        let column = line.len() - text.len();
        if let Some(above) = self.column {
            if text.is_empty() || column > above {
                return true;
            }
            self.column = None;
        }
        let text = text.trim_end();
        let opens = match text.strip_prefix(".. ").and_then(|markup| markup.split_once("::")) {
            Some((name, _)) => is_code(&name.trim().to_lowercase()),
            None => text.ends_with("::"),
        };
        let bullet = ["* ", "- ", "+ ", "#. "]
            .iter()
            .find(|bullet| text.starts_with(**bullet));
        self.column = opens.then_some(column + bullet.map_or(0, |bullet| bullet.len()));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_code(name: &str) -> bool {
        name == "code-block"
    }

    #[test]
    fn lines_in_fences_of_code_are_code() {
        let page = "text\n````markdown\n```{include} a\n```\n````\n:::{note}\n```{include} b\n```\n:::\n```{eval-rst}\nrst\n```\n```{code-block} md\n:::{include} c\n```\nend";
        let mut fences = Fences::default();
        let mut skipped = None;
        let mut seen = Vec::new();
        for line in page.lines() {
            if let Some(open) = skipped {
                skipped = skipped.filter(|_| !closes(open, line));
                continue;
            }
            match fences.line(line, is_code) {
                MystLine::Code => {}
                MystLine::Directive(information) => {
                    skipped = marker(line);
                    seen.push(information);
                }
                MystLine::Text | MystLine::Rst => seen.push(line),
            }
        }
        assert_eq!(seen, ["text", "{include} b", "rst", "end"]);
    }

    #[test]
    fn lines_below_two_colons_and_directives_of_code_are_code() {
        let page = "Text::\n\n   code\n\n   code\nText\n\n.. note:: a\n   text\n\n.. code-block:: rst\n   :caption: x\n\n   code\n\n- item::\n\n    code\n\n  text\n";
        let mut blocks = LiteralBlocks::default();
        let seen: Vec<&str> = page
            .lines()
            .filter(|line| !blocks.contains(line, is_code))
            .map(str::trim)
            .collect();
        let seen: Vec<&str> = seen.into_iter().filter(|line| !line.is_empty()).collect();
        assert_eq!(
            seen,
            [
                "Text::",
                "Text",
                ".. note:: a",
                "text",
                ".. code-block:: rst",
                "- item::",
                "text"
            ]
        );
    }
}
