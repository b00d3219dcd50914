//! Directives of docutils, Sphinx and MyST that include a file, and the lines of it that their options choose.

use std::iter::Peekable;

/// Maximum ranges of lines in an option; later ones show nothing.
const MAX_RANGES: usize = 100;

/// What a directive includes.
#[derive(Debug)]
pub(super) struct IncludeDirective {
    pub(super) target: String,
    is_literal: bool,
    options: Vec<(String, String)>,
}

impl IncludeDirective {
    /// `.. include:: file` with the options below it.
    pub(super) fn of_rst<'a>(line: &str, following: &mut Peekable<impl Iterator<Item = &'a str>>) -> Option<Self> {
        let markup = line.strip_prefix(".. ")?.trim_start();
        let (name, target) = markup.split_once("::")?;
        let mut directive = Self::new(name, target)?;
        while let Some(line) = following.next_if(|line| line.starts_with([' ', '\t']) && option(line).is_some()) {
            directive.options.extend(option(line));
        }
        Some(directive)
    }

    /// `{include} file`, the information of a fence.
    pub(super) fn of_myst(information: &str) -> Option<Self> {
        let (name, target) = information.strip_prefix('{')?.split_once('}')?;
        Self::new(name, target)
    }

    fn new(name: &str, target: &str) -> Option<Self> {
        let is_literal = match name.trim() {
            "include" => false,
            "literalinclude" => true,
            _ => return None,
        };
        let target = target.trim();
        (!target.is_empty()).then(|| Self {
            target: target.to_owned(),
            is_literal,
            options: Vec::new(),
        })
    }

    /// Takes a line within the fence: an option in colons or of YAML.
    pub(super) fn add(&mut self, line: &str) {
        let of_yaml = || {
            line.split_once(": ")
                .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        };
        let option = option(line).or_else(of_yaml);
        self.options
            .extend(option.map(|(name, value)| (name, unquoted(&value))));
    }

    fn option(&self, name: &str) -> Option<&str> {
        let found = self.options.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether the file is shown as code.
    pub(super) fn is_code(&self) -> bool {
        self.is_literal || self.option("literal").is_some() || self.option("code").is_some()
    }

    pub(super) fn language(&self) -> &str {
        let language = self.option("language").or_else(|| self.option("code"));
        language.unwrap_or_default()
    }

    /// The text above the code; a caption without a text is the name of the file.
    pub(super) fn caption(&self) -> Option<&str> {
        self.option("caption")
            .map(|caption| if caption.is_empty() { &self.target } else { caption })
    }

    pub(super) fn is_rst(&self) -> bool {
        self.option("parser")
            .is_some_and(|parser| matches!(parser, "rst" | "restructuredtext"))
            || self.option("parser").is_none() && self.target.ends_with(".rst")
    }

    /// The part of a file that the options choose; `None` if it is not there.
    pub(super) fn part(&self, file: &str) -> Option<String> {
        let mut text = file;
        if let Some(name) = self.option("pyobject") {
            text = python_object(text, name)?;
        }
        text = self.numbered(text)?;
        text = match self.is_literal {
            true => self.between_lines(text)?,
            false => self.between_texts(text)?,
        };
        let mut lines: Vec<&str> = text.lines().collect();
        if let Some(ranges) = self.option("lines") {
            let ranges: Vec<(usize, usize)> = ranges.split(',').take(MAX_RANGES).filter_map(range).collect();
            let is_shown = |at: &usize| ranges.iter().any(|(from, to)| (from..=to).contains(&&(at + 1)));
            lines = (0..lines.len()).filter(is_shown).map(|at| lines[at]).collect();
        }
        if let Some(width) = self.option("dedent") {
            let common = lines
                .iter()
                .filter(|line| !line.trim().is_empty())
                .map(|line| indentation(line))
                .min();
            let width = width.parse().unwrap_or(common.unwrap_or(0));
            for line in &mut lines {
                *line = &line[indentation(line).min(width)..];
            }
        }
        let around = [self.option("prepend"), self.option("append")];
        let lines = around[0].into_iter().chain(lines).chain(around[1]);
        Some(lines.map(|line| format!("{line}\n")).collect())
    }

    /// The lines from `start-line` to `end-line`; negative numbers count from the end.
    fn numbered<'a>(&self, text: &'a str) -> Option<&'a str> {
        let bounds = [self.option("start-line"), self.option("end-line")];
        if bounds == [None, None] {
            return Some(text);
        }
        let starts: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .filter(|at| *at < text.len())
            .collect();
        let place = |number: &str| -> Option<usize> {
            let number: isize = number.parse().ok()?;
            let line = match number < 0 {
                true => starts.len().saturating_sub(number.unsigned_abs()),
                false => number.unsigned_abs(),
            };
            Some(starts.get(line).copied().unwrap_or(text.len()))
        };
        let from = bounds[0].map_or(Some(0), place)?;
        let to = bounds[1].map_or(Some(text.len()), place)?;
        text.get(from..to.max(from))
    }

    /// The text after and before others, as docutils cuts it.
    fn between_texts<'a>(&self, mut text: &'a str) -> Option<&'a str> {
        if let Some(mark) = self.option("start-after") {
            text = text.split_once(mark)?.1;
        }
        if let Some(mark) = self.option("end-before") {
            text = text.split_once(mark)?.0;
        }
        Some(text)
    }

    /// The lines at, after or before others, as Sphinx cuts them.
    fn between_lines<'a>(&self, mut text: &'a str) -> Option<&'a str> {
        if let Some(mark) = self.option("start-at") {
            text = &text[line_with(text, mark)?.0..];
        } else if let Some(mark) = self.option("start-after") {
            text = &text[line_with(text, mark)?.1..];
        }
        if let Some(mark) = self.option("end-at") {
            text = &text[..line_with(text, mark)?.1];
        } else if let Some(mark) = self.option("end-before") {
            text = &text[..line_with(text, mark)?.0];
        }
        Some(text)
    }
}

/// `:name: value`.
fn option(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim().strip_prefix(':')?.split_once(':')?;
    let is_name = !name.is_empty() && !name.contains([' ', '`']);
    is_name.then(|| (name.to_owned(), value.trim().to_owned()))
}

/// The value of a scalar of YAML.
fn unquoted(value: &str) -> String {
    let between = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    match (between('\''), between('"')) {
        (Some(text), _) => text.replace("''", "'"),
        (_, Some(text)) => text.replace("\\\"", "\"").replace("\\\\", "\\"),
        _ => value.to_owned(),
    }
}

/// Where the first line with `mark` begins and ends.
fn line_with(text: &str, mark: &str) -> Option<(usize, usize)> {
    let at = text.find(mark)?;
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    Some((start, end))
}

/// The numbers of the first and the last line in `3`, `3-5`, `3-` or `-5`.
fn range(text: &str) -> Option<(usize, usize)> {
    let bound = |text: &str, default: usize| match text.trim() {
        "" => Some(default),
        text => text.parse().ok(),
    };
    match text.split_once('-') {
        Some((from, to)) => Some((bound(from, 1)?, bound(to, usize::MAX)?)),
        None => Some((text.trim().parse().ok()?, text.trim().parse().ok()?)),
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The definition of `Class.method` in Python, with its decorators.
fn python_object<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (mut text, mut column) = (text, 0);
    for part in name.split('.') {
        text = python_definition(text, part, column)?;
        // Below the head of a class.
        let inner = text.lines().map(indentation).find(|inner| *inner > column);
        column = inner.unwrap_or(usize::MAX);
    }
    Some(text)
}

fn python_definition<'a>(text: &'a str, name: &str, column: usize) -> Option<&'a str> {
    let mut at = 0;
    // Where the decorators of the next definition begin.
    let mut decorators = None;
    let mut found = None;
    for line in text.split_inclusive('\n') {
        let (start, code) = (at, line.trim());
        at += line.len();
        if code.is_empty() || indentation(line) > column {
            continue;
        }
        let is_open = code.starts_with([')', ']', '#']);
        match found {
            Some(found) if !is_open => return Some(text[found..start].trim_end_matches('\n')),
            None if indentation(line) == column && code.starts_with('@') => {
                decorators.get_or_insert(start);
            }
            None if indentation(line) == column && !is_open => {
                let definition = ["class ", "def ", "async def "]
                    .iter()
                    .find_map(|word| code.strip_prefix(word));
                let rest = definition.and_then(|rest| rest.strip_prefix(name));
                let start = decorators.take().unwrap_or(start);
                found = rest
                    .filter(|rest| rest.trim_start().starts_with(['(', ':', '[']))
                    .map(|_| start);
            }
            _ => {}
        }
    }
    found.map(|start| text[start..].trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(directive: &str, options: &[&str], file: &str) -> Option<String> {
        let mut directive = IncludeDirective::of_myst(directive).unwrap();
        options.iter().for_each(|option| directive.add(option));
        directive.part(file)
    }

    #[test]
    fn options_choose_lines() {
        let file = "one\n  two # start\n  three\nfour # end\nfive\n";
        for (options, expected) in [
            (&[":lines: 1,3-4"][..], "one\n  three\nfour # end\n"),
            (&[":lines: 4-"], "four # end\nfive\n"),
            (&[":start-after: start", ":end-before: end"], "  three\n"),
            (
                &[":start-at: start", ":end-at: end"],
                "  two # start\n  three\nfour # end\n",
            ),
            (&[":start-at: start", ":lines: 1-2", ":dedent:"], "two # start\nthree\n"),
            (
                &[":lines: 3", ":dedent: 1", ":prepend: first", ":append: last"],
                "first\n three\nlast\n",
            ),
            (&["lines: 5"], "five\n"),
        ] {
            assert_eq!(
                part("{literalinclude} a.py", options, file).as_deref(),
                Some(expected),
                "{options:?}"
            );
        }
        assert_eq!(part("{literalinclude} a.py", &[":start-at: gone"], file), None);
    }

    #[test]
    fn included_text_is_cut_at_texts_and_lines() {
        let file = "Title\n\n<!-- begin -->\nText.\n<!-- end -->\nRest.\n";
        for (options, expected) in [
            (
                &[":start-after: <!-- begin -->", ":end-before: <!-- end"][..],
                "\nText.\n",
            ),
            (&[":start-after: 'begin -->'", ":end-before: \"<!-- end\""], "\nText.\n"),
            (&[":start-line: 3", ":end-line: 4"], "Text.\n"),
            (&[":start-line: -1"], "Rest.\n"),
            (&[":end-line: -4"], "Title\n\n"),
        ] {
            assert_eq!(
                part("{include} a.md", options, file).as_deref(),
                Some(expected),
                "{options:?}"
            );
        }
    }

    #[test]
    fn an_object_of_python_is_shown_with_its_decorators() {
        let file = "import a\n\nclass Kit(a.B):\n    x = 1\n\n    @cached\n    @a.b(\n        1)\n    def sail(\n        self,\n    ):\n        go()\n\n    def stop(self):\n        pass\n\ndef sail():\n    go()\n";
        for (name, expected) in [
            ("sail", "def sail():\n    go()\n"),
            (
                "Kit.sail",
                "    @cached\n    @a.b(\n        1)\n    def sail(\n        self,\n    ):\n        go()\n",
            ),
            ("Kit.stop", "    def stop(self):\n        pass\n"),
        ] {
            let option = format!(":pyobject: {name}");
            assert_eq!(
                part("{literalinclude} a.py", &[&option], file).as_deref(),
                Some(expected),
                "{name}"
            );
        }
        let class = part("{literalinclude} a.py", &[":pyobject: Kit"], file).unwrap();
        assert!(class.starts_with("class Kit") && class.ends_with("pass\n"), "{class}");
        assert_eq!(part("{literalinclude} a.py", &[":pyobject: gone"], file), None);
    }

    proptest::proptest! {
        /// Whatever the options, only lines of the file are shown, in their order.
        #[test]
        fn only_lines_of_the_file_are_shown(
            lines in proptest::collection::vec("[a-c @:.()]{0,6}", 0..12),
            options in proptest::collection::vec(
                "(lines|start-line|end-line|start-at|end-before|end-at|start-after|pyobject): [-0-9a-c,]{1,4}", 0..4),
        ) {
            let file = lines.join("\n");
            let options: Vec<&str> = options.iter().map(String::as_str).collect();
            let shown = part("{literalinclude} a.py", &options, &file).unwrap_or_default();
            let mut rest = lines.iter();
            for line in shown.lines() {
                proptest::prop_assert!(rest.any(|known| known == line), "{line:?} of {file:?}");
            }
        }
    }
}
