//! Replaces the includes of a page by the files.
//!
//! `{{#include file:part}}` of mdBook, `--8<-- "file:part"` of PyMdown, `<!--@include: file-->` and `<<< file#part` of
//! VitePress, `.. include::` and `.. literalinclude::` of reStructuredText.

use std::path::Path;

use crate::draft::front_matter;
use crate::file::Folder;
use crate::folder::include_reader::IncludeReader;
use crate::site::{GENERATORS, Included, InclusionSyntax};
use crate::text::fence;

/// The languages whose includes are replaced here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Markdown,
    ReStructuredText,
}

/// `text`, the page at `path` of a folder, with its includes replaced, and a warning if some could not be.
pub(crate) fn expand(folder: Option<&Folder>, path: &Path, text: &str, language: Language) -> (String, Option<String>) {
    let includes = match language {
        Language::Markdown => syntaxes().any(|syntax| syntax.marks.iter().any(|mark| text.contains(mark))),
        Language::ReStructuredText => text.contains("include::"),
    };
    let Some(folder) = folder.filter(|_| includes) else {
        return (text.to_owned(), None);
    };
    let mut inclusion = Inclusion {
        language,
        reader: IncludeReader::new(folder),
    };
    let text = inclusion.page(text, path, 0);
    (text, inclusion.reader.warning())
}

struct Inclusion<'a> {
    language: Language,
    reader: IncludeReader<'a>,
}

impl Inclusion<'_> {
    fn page(&mut self, text: &str, path: &Path, depth: usize) -> String {
        let mut output = String::with_capacity(text.len());
        let mut lines = text.lines().peekable();
        let mut in_list = false;
        while let Some(line) = lines.next() {
            let indent = &line[..line.len() - line.trim_start().len()];
            let content = line.trim();
            let (shown, is_code) = match self.language {
                Language::ReStructuredText => {
                    if let Some(target) = content.strip_prefix(".. include::") {
                        skip_options(&mut lines);
                        (Some(vec![target.trim().to_owned()]), None)
                    } else if let Some(target) = content.strip_prefix(".. literalinclude::") {
                        let options = skip_options(&mut lines);
                        (Some(vec![target.trim().to_owned()]), Some(options.unwrap_or_default()))
                    } else {
                        (None, None)
                    }
                }
                Language::Markdown if syntaxes().any(|syntax| syntax.list_mark == Some(content)) => {
                    in_list = !in_list;
                    continue;
                }
                Language::Markdown if in_list => (Some(vec![content.to_owned()]), None),
                Language::Markdown => match included_by(content) {
                    Some(Included::Text(target)) => (Some(vec![target]), None),
                    Some(Included::Code(target)) => (Some(vec![target]), Some(String::new())),
                    None => (None, None),
                },
            };
            match shown {
                Some(targets) => {
                    for target in targets.iter().filter(|target| !target.is_empty()) {
                        let included = self.file(target, path, depth).unwrap_or_default();
                        let block = match (&is_code, self.language) {
                            (None, _) => included,
                            (Some(language), Language::ReStructuredText) => literal(&included, language),
                            (Some(_), Language::Markdown) => fenced(&included, target),
                        };
                        for line in block.lines() {
                            output.push_str(if line.is_empty() { "" } else { indent });
                            output.push_str(line);
                            output.push('\n');
                        }
                    }
                }
                None => {
                    let line = match self.language {
                        Language::Markdown => self.commands(line, path, depth),
                        Language::ReStructuredText => line.to_owned(),
                    };
                    output.push_str(&line);
                    output.push('\n');
                }
            }
        }
        output
    }

    /// Replaces the commands within a line.
    fn commands(&mut self, line: &str, path: &Path, depth: usize) -> String {
        let mut output = String::new();
        let mut rest = line;
        while let Some((at, command)) = syntaxes()
            .flat_map(InclusionSyntax::commands)
            .filter_map(|command| Some((rest.find(command)?, command)))
            .min()
        {
            let Some(length) = rest[at..].find("}}") else { break };
            let is_escaped = rest[..at].ends_with('\\');
            let end = at + length + 2;
            if is_escaped {
                output.push_str(&rest[..end]);
            } else {
                output.push_str(&rest[..at]);
                let target = rest[at + command.len()..end - 2].trim();
                // Settings of the playground follow the file.
                let target = target.split_whitespace().next().unwrap_or_default();
                let included = self.file(target, path, depth).unwrap_or_default();
                output.push_str(included.trim_end_matches('\n'));
            }
            rest = &rest[end..];
        }
        output.push_str(rest);
        output
    }

    /// The text of a file or of a part of it. If it cannot be included, that is recorded.
    fn file(&mut self, target: &str, path: &Path, depth: usize) -> Option<String> {
        let (file, part) = part_of(target);
        let included = self.reader.file(file, target, path, depth)?;
        let text = match part {
            Some(part) => match cut(&included.text, part) {
                Some(text) => text,
                None => {
                    self.reader.report(target, "no such part");
                    return None;
                }
            },
            None => without_marks(front_matter::split(&included.text).body),
        };
        Some(self.page(&text, &included.path, depth + 1))
    }
}

/// The text files that a page includes, as it names them, whatever the language of the page, and whether as a whole.
pub(crate) fn targets(text: &str) -> Vec<(String, bool)> {
    let mut targets = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(chapter) = included_chapter(text, line) {
            targets.push(chapter);
            continue;
        }
        let directive = line.strip_prefix(".. include::").map(|target| target.trim().to_owned());
        let snippet = || match included_by(line)? {
            Included::Text(target) => Some(target),
            Included::Code(_) => None,
        };
        let command = || {
            let mut commands = syntaxes().filter_map(|syntax| syntax.text_command);
            let (_, rest) = commands.find_map(|command| line.split_once(command))?;
            Some(rest.split_once("}}")?.0.trim().to_owned())
        };
        let found = directive.or_else(snippet).or_else(command).or_else(|| imported(line));
        targets.extend(found.map(|target| (target, true)));
    }
    targets.retain(|(target, _)| matches!(part_of(target), (file, None) if !file.is_empty()) || target.contains('$'));
    targets
}

/// The file that a line of AsciiDoc includes, and whether as a whole. Its path may begin with an attribute of the page.
fn included_chapter(page: &str, line: &str) -> Option<(String, bool)> {
    let (target, options) = line.strip_prefix("include::")?.split_once('[')?;
    let is_whole = !options.contains("tag") && !options.contains("lines=");
    let Some((name, rest)) = target.strip_prefix('{').and_then(|target| target.split_once('}')) else {
        return Some((target.to_owned(), is_whole));
    };
    let entry = format!(":{name}: ");
    let (_, value) = page.split_once(&entry)?;
    let value = value.lines().next()?.trim_end().trim_end_matches(']');
    Some((format!("{value}{rest}"), is_whole))
}

/// The Markdown that a line of MDX imports: `import Part from './part.mdx'`.
fn imported(line: &str) -> Option<String> {
    let is_import = line.starts_with("import ") || line.starts_with('}');
    let (_, target) = line.rsplit_once(" from ").filter(|_| is_import)?;
    let target = target.trim_end_matches([';', ' ']).trim_matches(['"', '\'']);
    (target.ends_with(".md") || target.ends_with(".mdx")).then(|| target.to_owned())
}

/// The syntax of each generator that has one.
fn syntaxes() -> impl Iterator<Item = &'static InclusionSyntax> {
    GENERATORS.iter().filter_map(|generator| generator.inclusion.as_ref())
}

/// The file that a line of Markdown includes.
fn included_by(line: &str) -> Option<Included> {
    syntaxes().find_map(|syntax| (syntax.line)(line))
}

/// Skips the options below a directive, and returns the language that they name.
fn skip_options<'a>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Option<String> {
    let mut language = None;
    while let Some(option) = lines.next_if(|line| line.starts_with([' ', '\t']) && line.trim().starts_with(':')) {
        if let Some(value) = option.trim().strip_prefix(":language:") {
            language = Some(value.trim().to_owned());
        }
    }
    language
}

fn literal(text: &str, language: &str) -> String {
    let mut block = format!("\n.. code-block:: {language}\n\n");
    for line in text.lines() {
        block.push_str("   ");
        block.push_str(line);
        block.push('\n');
    }
    block.push('\n');
    block
}

fn fenced(text: &str, target: &str) -> String {
    let language = Path::new(part_of(target).0)
        .extension()
        .unwrap_or_default()
        .to_string_lossy();
    fence::block(&language, text.trim_end_matches('\n'))
}

/// A file and its part: `file.rs:2:10`, `file.rs:name`, `file.ts#name`, `file.md{2,10}`.
fn part_of(target: &str) -> (&str, Option<&str>) {
    let target = target.split('{').next().unwrap_or_default();
    match target.find([':', '#']) {
        Some(at) if at > 0 && at + 1 < target.len() => (&target[..at], Some(&target[at + 1..])),
        _ => (target, None),
    }
}

/// The lines with these numbers, or between the marks of a name.
fn cut(text: &str, part: &str) -> Option<String> {
    let mut numbers = part.split(':');
    let from = numbers.next().unwrap_or_default();
    if from.is_empty() || from.bytes().all(|byte| byte.is_ascii_digit()) {
        let first: usize = if from.is_empty() { 1 } else { from.parse().ok()? };
        let last = match numbers.next() {
            None => first,
            Some("") => usize::MAX,
            Some(last) => last.parse().ok()?,
        };
        let lines = text
            .lines()
            .skip(first.max(1) - 1)
            .take((last.max(first) - first).saturating_add(1));
        return Some(lines.map(|line| format!("{line}\n")).collect());
    }
    let mut inside = false;
    let mut found = None;
    for line in text.lines() {
        match mark_in(line) {
            Some((true, name)) if name == part => inside = true,
            Some((false, name)) if name == part => inside = false,
            Some(_) => continue,
            None if inside => {
                let kept: &mut String = found.get_or_insert_default();
                kept.push_str(line);
                kept.push('\n');
                continue;
            }
            None => continue,
        }
        found.get_or_insert_default();
    }
    found
}

fn without_marks(text: &str) -> String {
    let lines = text.lines().filter(|line| mark_in(line).is_none());
    lines.map(|line| format!("{line}\n")).collect()
}

/// Whether a line opens or ends a part, and the name of the part.
fn mark_in(line: &str) -> Option<(bool, &str)> {
    let named = |mark: &str| {
        let (_, rest) = line.split_once(mark)?;
        let name = rest.trim_start();
        let end = name.find(|c: char| c.is_whitespace() || c == ']').unwrap_or(name.len());
        (end > 0).then(|| &name[..end])
    };
    let parts = || syntaxes().filter_map(|syntax| syntax.part);
    let is_marked = parts().any(|(_, _, text)| line.contains(text));
    let opening = parts().find_map(|(opening, _, _)| Some((true, named(opening)?)));
    let ending = || parts().find_map(|(_, ending, _)| Some((false, named(ending)?)));
    opening.or_else(ending).filter(|_| is_marked)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::file::Links;

    fn expanded(text: &str, language: Language) -> (String, Option<String>) {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        fs::create_dir_all(root.join("guide/code")).unwrap();
        for (path, text) in [
            (
                "guide/code/a.rs",
                "use a;\n// ANCHOR: main\nfn main() {}\n// ANCHOR_END: main\nlast\n",
            ),
            ("guide/part.md", "---\ntitle: P\n---\nPart.\n\n--8<-- \"words.md\"\n"),
            ("words.md", "Words.\n"),
            ("guide/self.md", "--8<-- \"self.md\"\n"),
            ("guide/part.rst", "Shared *text*.\n"),
        ] {
            fs::write(root.join(path), text).unwrap();
        }
        let folder = Folder {
            root,
            links: Links::Inside,
        };
        expand(Some(&folder), Path::new("guide/page.md"), text, language)
    }

    #[test]
    fn includes_of_markdown_are_replaced() {
        let text = |page: &str| {
            let (text, warning) = expanded(page, Language::Markdown);
            assert_eq!(warning, None, "{page}");
            text
        };
        assert_eq!(
            text("```rust\n{{#include code/a.rs:main}}\n```\n"),
            "```rust\nfn main() {}\n```\n"
        );
        assert_eq!(text("{{#rustdoc_include code/a.rs:1:1}}\n"), "use a;\n");
        assert_eq!(text("\\{{#include code/a.rs}}\n"), "\\{{#include code/a.rs}}\n");
        assert_eq!(text("  --8<-- \"guide/part.md\"\n"), "  Part.\n\n  Words.\n");
        assert_eq!(text("--8<--\nwords.md\n--8<--\nEnd\n"), "Words.\nEnd\n");
        assert_eq!(text("<!--@include: ./part.md-->\n"), "Part.\n\nWords.\n");
        assert_eq!(
            text("<<< @/guide/code/a.rs{2}\n"),
            "```rs\nuse a;\nfn main() {}\nlast\n```\n"
        );
    }

    #[test]
    fn includes_of_restructured_text_are_replaced() {
        let page =
            "A\n\n.. include:: part.rst\n   :start-line: 1\n\n.. literalinclude:: code/a.rs\n   :language: rust\n\nB\n";
        let (text, warning) = expanded(page, Language::ReStructuredText);
        assert_eq!(warning, None);
        let markdown = crate::formats::rst::to_markdown(&text);
        assert_eq!(
            markdown,
            "A\n\nShared *text*.\n\n```rust\nuse a;\nfn main() {}\nlast\n```\n\nB\n"
        );
    }

    #[test]
    fn failed_includes_are_reported_and_cycles_end() {
        for (page, reason) in [
            (
                "--8<-- \"../../etc/passwd\"",
                "not included: ../../etc/passwd (outside the folder)",
            ),
            ("--8<-- \"none.md\"", "not included: none.md (cannot be read)"),
            ("--8<-- \"guide/self.md\"", "not included: self.md (nested too deeply)"),
            (
                "{{#include code/a.rs:nothing}}",
                "not included: code/a.rs:nothing (no such part)",
            ),
        ] {
            let (text, warning) = expanded(page, Language::Markdown);
            assert_eq!((text.trim(), warning.as_deref()), ("", Some(reason)));
        }
    }
}
