//! Replaces the includes of a page by the files.
//!
//! `{{#include file:part}}` of mdBook, `--8<-- "file:part"` of PyMdown, `<!--@include: file-->` and `<<< file#part` of
//! VitePress, `.. include::` and `.. literalinclude::` of reStructuredText, `{include}` and `{literalinclude}` of MyST.

use std::iter::Peekable;
use std::path::Path;

use crate::draft::front_matter;
use crate::file::Folder;
use crate::folder::directive::IncludeDirective;
use crate::folder::fences::{self, Fences, IsCode, LiteralBlocks, MystLine};
use crate::folder::include_reader::IncludeReader;
use crate::folder::part::{cut, part_of, syntaxes, without_marks};
use crate::site::{Included, InclusionSyntax};
use crate::text::fence;

/// The languages whose includes are replaced here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Markdown,
    ReStructuredText,
}

/// `text`, the page at `path` of a folder, with its includes replaced, and a warning if some could not be. Directives
/// within code, as `is_code` knows it, are only shown.
pub(crate) fn expand(
    folder: Option<&Folder>,
    path: &Path,
    text: &str,
    language: Language,
    is_code: IsCode,
) -> (String, Option<String>) {
    let has_directives = match language {
        Language::Markdown => text.contains("include}"),
        Language::ReStructuredText => false,
    } || text.contains("include::");
    let is_marked = |syntax: &InclusionSyntax| syntax.marks.iter().any(|mark| text.contains(mark));
    let includes = has_directives || language == Language::Markdown && syntaxes().any(is_marked);
    if !includes || folder.is_none() && !has_directives {
        return (text.to_owned(), None);
    }
    let mut inclusion = Inclusion {
        language,
        is_code,
        has_folder: folder.is_some(),
        reader: IncludeReader::of(folder),
    };
    let text = inclusion.page(text, path, 0);
    (text, inclusion.reader.warning())
}

struct Inclusion<'a> {
    language: Language,
    is_code: IsCode,
    /// Without a folder, only directives are replaced, by a warning.
    has_folder: bool,
    reader: IncludeReader<'a>,
}

impl Inclusion<'_> {
    fn page(&mut self, text: &str, path: &Path, depth: usize) -> String {
        match self.language {
            Language::Markdown => self.markdown(text, path, depth),
            Language::ReStructuredText => self.restructured_text(text, path, depth),
        }
    }

    fn restructured_text(&mut self, text: &str, path: &Path, depth: usize) -> String {
        let mut output = String::with_capacity(text.len());
        let mut lines = text.lines().peekable();
        let mut blocks = LiteralBlocks::default();
        while let Some(line) = lines.next() {
            match blocks.contains(line, self.is_code) {
                true => push_line(&mut output, line),
                false => self.line_of_rst(line, &mut lines, path, depth, &mut output),
            }
        }
        output
    }

    fn line_of_rst<'a>(
        &mut self,
        line: &str,
        following: &mut Peekable<impl Iterator<Item = &'a str>>,
        path: &Path,
        depth: usize,
        output: &mut String,
    ) {
        let Some(directive) = IncludeDirective::of_rst(line.trim(), following) else {
            push_line(output, line);
            return;
        };
        let included = self.by_directive(&directive, path, depth, Language::ReStructuredText);
        push_text(output, indent_of(line), &included);
    }

    fn markdown(&mut self, text: &str, path: &Path, depth: usize) -> String {
        let mut output = String::with_capacity(text.len());
        let mut lines = text.lines().peekable();
        let mut fences = Fences::default();
        let mut in_list = false;
        while let Some(line) = lines.next() {
            let content = line.trim();
            match fences.line(content, self.is_code) {
                MystLine::Rst => {
                    self.line_of_rst(line, &mut lines, path, depth, &mut output);
                    continue;
                }
                MystLine::Directive(information) => {
                    let Some(mut directive) = IncludeDirective::of_myst(information) else {
                        push_line(&mut output, line);
                        continue;
                    };
                    let marker = fences::marker(content).unwrap_or_default();
                    let inner = lines
                        .by_ref()
                        .map(str::trim)
                        .take_while(|line| !fences::closes(marker, line));
                    inner.for_each(|line| directive.add(line));
                    let included = self.by_directive(&directive, path, depth, Language::Markdown);
                    push_text(&mut output, indent_of(line), &included);
                    continue;
                }
                MystLine::Text | MystLine::Code => {}
            }
            if !self.has_folder {
                push_line(&mut output, line);
                continue;
            }
            if syntaxes().any(|syntax| syntax.list_mark == Some(content)) {
                in_list = !in_list;
                continue;
            }
            let included = match included_by(content) {
                _ if in_list => Some((content.to_owned(), false)),
                Some(Included::Text(target)) => Some((target, false)),
                Some(Included::Code(target)) => Some((target, true)),
                None => None,
            };
            match included {
                Some((target, _)) if target.is_empty() => {}
                Some((target, is_code)) => {
                    let included = self.file(&target, path, depth).unwrap_or_default();
                    let included = match is_code {
                        true => fenced(&included, &target),
                        false => included,
                    };
                    push_text(&mut output, indent_of(line), &included);
                }
                None => {
                    let line = self.commands(line, path, depth);
                    push_line(&mut output, &line);
                }
            }
        }
        output
    }

    /// What a directive shows of its file, in the language of the page.
    fn by_directive(&mut self, directive: &IncludeDirective, path: &Path, depth: usize, language: Language) -> String {
        let target = &*directive.target;
        let Some(file) = self.reader.file(target, target, path, depth) else {
            return String::new();
        };
        let whole = match directive.is_code() {
            true => &*file.text,
            false => front_matter::split(&file.text).body,
        };
        let Some(part) = directive.part(whole) else {
            self.reader.report(target, "no such part");
            return String::new();
        };
        match (language, directive.is_code()) {
            (Language::ReStructuredText, true) => literal(&part, directive),
            (Language::Markdown, true) => fenced_by(&part, directive),
            (Language::Markdown, false) if directive.is_rst() => {
                fence::block("{eval-rst}", &self.restructured_text(&part, &file.path, depth + 1))
            }
            (Language::ReStructuredText, false) => self.restructured_text(&part, &file.path, depth + 1),
            (Language::Markdown, false) => self.markdown(&part, &file.path, depth + 1),
        }
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
        let of_myst = || {
            let (_, target) = line[fences::marker(line)?.len()..].trim().split_once("{include}")?;
            Some(target.trim().to_owned())
        };
        let directive = line
            .strip_prefix(".. include::")
            .map(|target| target.trim().to_owned())
            .or_else(of_myst);
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

/// The file that a line of Markdown includes.
fn included_by(line: &str) -> Option<Included> {
    syntaxes().find_map(|syntax| (syntax.line)(line))
}

fn push_line(output: &mut String, line: &str) {
    output.push_str(line);
    output.push('\n');
}

/// Adds the lines of a text with an indentation.
fn push_text(output: &mut String, indent: &str, text: &str) {
    for line in text.lines() {
        output.push_str(if line.is_empty() { "" } else { indent });
        push_line(output, line);
    }
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

fn literal(text: &str, directive: &IncludeDirective) -> String {
    let mut block = format!("\n.. code-block:: {}\n", directive.language());
    if let Some(caption) = directive.caption() {
        block.push_str(&format!("   :caption: {caption}\n"));
    }
    block.push('\n');
    for line in text.lines() {
        block.push_str("   ");
        block.push_str(line);
        block.push('\n');
    }
    block.push('\n');
    block
}

fn fenced_by(text: &str, directive: &IncludeDirective) -> String {
    let text = text.trim_end_matches('\n');
    match directive.caption() {
        Some(caption) => {
            let information = format!("{{code-block}} {}", directive.language());
            fence::block(&information, &format!(":caption: {caption}\n\n{text}"))
        }
        None => fence::block(directive.language(), text),
    }
}

fn fenced(text: &str, target: &str) -> String {
    let language = Path::new(part_of(target).0)
        .extension()
        .unwrap_or_default()
        .to_string_lossy();
    fence::block(&language, text.trim_end_matches('\n'))
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
        let is_code = |name: &str| name == "code-block";
        expand(Some(&folder), Path::new("guide/page.md"), text, language, is_code)
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
            "A\n\n.. include:: part.rst\n   :start-line: 0\n\n.. literalinclude:: code/a.rs\n   :language: rust\n\nB\n";
        let (text, warning) = expanded(page, Language::ReStructuredText);
        assert_eq!(warning, None);
        let markdown = crate::formats::rst::to_markdown(&text);
        assert_eq!(
            markdown,
            "A\n\nShared *text*.\n\n```rust\nuse a;\n// ANCHOR: main\nfn main() {}\n// ANCHOR_END: \
             main\nlast\n```\n\nB\n"
        );
    }

    #[test]
    fn includes_of_myst_are_replaced() {
        for (page, expected) in [
            ("```{include} part.md\n:start-after: Pa\n```\nB\n", "rt.\n\nWords.\nB\n"),
            (
                ":::{note}\n:::{include} /guide/part.md\n:::\n:::\n",
                ":::{note}\nPart.\n\nWords.\n:::\n",
            ),
            (
                "  ```{literalinclude} code/a.rs\n  :language: rust\n  :lines: 5\n  ```\n",
                "  ```rust\n  last\n  ```\n",
            ),
            (
                "```{literalinclude} code/a.rs\n:caption: The end\n:start-at: last\n```\n",
                "```{code-block} \n:caption: The end\n\nlast\n```\n",
            ),
            (
                "```{eval-rst}\n.. include:: part.rst\n```\n",
                "```{eval-rst}\nShared *text*.\n```\n",
            ),
            ("```{include} part.rst\n```\n", "```{eval-rst}\nShared *text*.\n\n```\n"),
            (
                "````md\n```{include} part.md\n```\n````\n",
                "````md\n```{include} part.md\n```\n````\n",
            ),
        ] {
            assert_eq!(
                expanded(page, Language::Markdown),
                (expected.to_owned(), None),
                "{page}"
            );
        }
    }

    #[test]
    fn includes_within_code_are_shown() {
        let page = "::\n\n   .. include:: a\n\n.. code-block:: rst\n\n   .. literalinclude:: b\n\n.. note::\n\n   .. include:: \
                    part.rst\n";
        let (text, warning) = expanded(page, Language::ReStructuredText);
        assert_eq!(text, page.replace(".. include:: part.rst", "Shared *text*."));
        assert_eq!(warning, None);
    }

    #[test]
    fn without_a_folder_includes_are_named_in_a_warning() {
        for (page, language) in [
            ("```{include} a.md\n```\n", Language::Markdown),
            (".. include:: a.md\n", Language::ReStructuredText),
        ] {
            let (text, warning) = expand(None, Path::new("page"), page, language, |_| false);
            assert_eq!(
                (text.trim(), warning.as_deref()),
                ("", Some("not included: a.md (not from a folder)"))
            );
        }
        let other = "{{#include a.md}}\n";
        let (text, warning) = expand(None, Path::new("page"), other, Language::Markdown, |_| false);
        assert_eq!((&*text, warning), (other, None));
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
