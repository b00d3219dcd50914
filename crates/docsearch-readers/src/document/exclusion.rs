//! Files among the pages that are not pages: drafts, parts of other pages, pages that only point elsewhere, lists of
//! names.

use std::path::{Component, Path};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

use crate::detection;
use crate::draft::PART;
use crate::draft::front_matter::FrontMatter;
use crate::formats::{asciidoc, mdx};
use crate::site::{GENERATORS, Generator};

/// Text of a page that has moved, in lower case. The first two phrases are conclusive.
const MOVED_PHRASES: [&str; 17] = [
    "this is an old link",
    "came here via a link",
    "has moved",
    "has been moved",
    "have moved",
    "have been moved",
    "was moved to",
    "moved permanently",
    "moved to a new",
    "page moved",
    "has been renamed to",
    "has been replaced by",
    "you are being redirected",
    "redirecting to",
    "this page is now",
    "this page has been removed",
    "is no longer available",
];
/// Maximum words of such a page; a longer one has content.
const MAX_STUB_WORDS: usize = 45;
/// The same for the pages for old links of the Rust book, which link to each of its editions.
const MAX_OLD_LINK_WORDS: usize = 140;
/// Maximum words of a page whose front matter names the page that it repeats.
const MAX_REPETITION_WORDS: usize = 30;

/// A shorter list may be part of a page with content.
const MIN_NAMES: usize = 25;
/// Percentage of a text that is links and names rather than sentences.
const MIN_NAMES_PERCENT: usize = 85;
/// A longer item describes what it names.
const MAX_NAME_WORDS: usize = 5;

/// Why the file at `relative` is not a page; `None` if its path does not show a reason.
pub(crate) fn by_path(relative: &Path, generator: Option<&Generator>) -> Option<&'static str> {
    let name = relative.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.ends_with(".txt") && is_of_project(name) {
        return Some("file of the project");
    }
    let marks_parts = detection::from_name(relative)?.marks_parts;
    let mut names: Vec<&str> = relative
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    let file = names.pop()?;
    let is_of_site = |name: &&str| generator.is_some_and(|generator| generator.part_folders.contains(name));
    if !marks_parts {
        return names.iter().any(is_of_site).then_some(PART);
    }
    let stem = file.split('.').next().unwrap_or_default();
    let is_part_folder = |name: &&str| {
        GENERATORS.iter().any(|generator| generator.part_folders.contains(name))
            || generator.is_some_and(|generator| (generator.is_part_folder)(name))
    };
    let is_part = stem.starts_with('_') && stem.len() > 1 && !stem.starts_with("__") && stem != "_index";
    (is_part || names.iter().any(is_part_folder)).then_some(PART)
}

/// Whether the pages show which parts they include. Templates may include parts in other formats.
pub(crate) fn shows_includes(relative: &Path, generator: Option<&Generator>) -> bool {
    let format = detection::from_name(relative);
    format.is_some_and(|format| [&mdx::FORMAT, &asciidoc::FORMAT].contains(&format))
        || generator.is_some_and(|generator| generator.extensions.mdx)
}

/// Licences and lists for programs have conventional names.
fn is_of_project(file: &str) -> bool {
    let name = file.to_lowercase();
    ["license", "licence", "copying", "ofl"].iter().any(|part| {
        let words = name.split(['.', '-', '_']);
        words.into_iter().any(|word| word == *part)
    }) || ["requirements", "constraints"]
        .iter()
        .any(|part| name.starts_with(part))
        || ["robots.txt", "humans.txt", "cmakelists.txt"].contains(&name.as_str())
}

/// Why the author hides the page.
pub(crate) fn by_front_matter(matter: &FrontMatter) -> Option<&'static str> {
    let says = |key: &str, value: bool| {
        matter.metadata.get(key).is_some_and(|own| match own {
            Value::Bool(own) => *own == value,
            Value::String(own) => own.eq_ignore_ascii_case(if value { "true" } else { "false" }),
            _ => false,
        })
    };
    let is_excluded = |key: &str| {
        let exclude = matter.metadata.get(key).and_then(|table| table.get("exclude"));
        exclude.and_then(Value::as_bool).unwrap_or_default()
    };
    let robots = matter
        .metadata
        .get("robots")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if says("draft", true) || says("published", false) {
        return Some("draft");
    }
    if says("unlisted", true) {
        return Some("unlisted");
    }
    let is_hidden = says("search", false)
        || is_excluded("search")
        || says("search_exclude", true)
        || says("pagefind", false)
        || says("noindex", true)
        || says("noIndex", true)
        || robots.to_lowercase().contains("noindex");
    is_hidden.then_some("marked noindex")
}

/// Why the page has no content of its own; `None` if it has. `body` is Markdown.
pub(crate) fn by_text(matter: &FrontMatter, body: &str) -> Option<&'static str> {
    let content = Content::of(body);
    let repeats = matter.metadata.get("source").and_then(Value::as_str);
    if repeats.is_some_and(|source| source.contains('/'))
        && content.words() <= MAX_REPETITION_WORDS
        && !content.has_code
    {
        return Some("repeats another page");
    }
    if content.is_stub() {
        return Some("points elsewhere");
    }
    content.is_list_of_names().then_some("list of names")
}

/// Counts of what a text consists of.
#[derive(Debug, Default)]
struct Content {
    /// In lower case, with a space between blocks; without code blocks and headings.
    text: String,
    /// Characters of items, cells and paragraphs; then those of blocks that only name something.
    characters: usize,
    name_characters: usize,
    /// Of these, in links, and in columns of names.
    pointing_characters: usize,
    names: usize,
    links: usize,
    has_code: bool,
}

/// An item, a cell or a paragraph.
#[derive(Debug, Default)]
struct Block {
    text: String,
    linked_characters: usize,
    is_item: bool,
}

fn is_name(line: &str) -> bool {
    line.split_whitespace().count() <= MAX_NAME_WORDS && !line.ends_with(['.', '!', '?', ':'])
}

impl Content {
    fn of(markdown: &str) -> Self {
        let mut content = Self::default();
        let mut blocks: Vec<Block> = Vec::new();
        let (mut in_link, mut in_code, mut in_heading) = (false, false, false);
        for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
            match event {
                Event::Start(tag @ (Tag::Paragraph | Tag::Item | Tag::TableCell)) => {
                    content.close(blocks.pop());
                    blocks.push(Block {
                        is_item: tag == Tag::Item,
                        ..Block::default()
                    });
                }
                Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => content.close(blocks.pop()),
                Event::Start(Tag::Link { .. }) => {
                    in_link = true;
                    content.links += 1;
                }
                Event::End(TagEnd::Link) => in_link = false,
                Event::Start(Tag::CodeBlock(_)) => {
                    in_code = true;
                    content.has_code = true;
                }
                Event::End(TagEnd::CodeBlock) => in_code = false,
                Event::Start(Tag::Heading { .. }) => {
                    in_heading = true;
                }
                Event::End(TagEnd::Heading(_)) => in_heading = false,
                Event::Text(text) | Event::Code(text) if !in_code && !in_heading => {
                    if blocks.is_empty() {
                        blocks.push(Block::default());
                    }
                    if let Some(block) = blocks.last_mut() {
                        block.text.push_str(&text);
                        if in_link {
                            block.linked_characters += text.chars().count();
                        }
                    }
                }
                Event::SoftBreak | Event::HardBreak => {
                    if let Some(block) = blocks.last_mut() {
                        block.text.push('\n');
                    }
                }
                _ => {}
            }
        }
        content.close(blocks.pop());
        content
    }

    fn close(&mut self, block: Option<Block>) {
        let Some(block) = block else { return };
        let text = block.text.trim();
        if text.is_empty() {
            return;
        }
        let characters = text.chars().count();
        self.characters += characters;
        let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_linked = block.linked_characters * 100 >= characters * MIN_NAMES_PERCENT;
        let is_column = lines().count() >= MIN_NAMES && lines().all(is_name);
        if is_linked || is_column || block.is_item && is_name(text) {
            self.name_characters += characters;
            self.pointing_characters += if is_linked || is_column { characters } else { 0 };
            self.names += if is_linked { 1 } else { lines().count() };
        }
        self.text.push_str(&text.to_lowercase());
        self.text.push(' ');
    }

    fn words(&self) -> usize {
        self.text.split_whitespace().count()
    }

    fn is_stub(&self) -> bool {
        let Some(phrase) = MOVED_PHRASES.iter().find(|phrase| self.text.contains(*phrase)) else {
            return false;
        };
        let max_words = if MOVED_PHRASES[..2].contains(phrase) {
            MAX_OLD_LINK_WORDS
        } else {
            MAX_STUB_WORDS
        };
        self.links > 0 && !self.has_code && self.words() <= max_words
    }

    /// Lists of items that no other page explains, such as supported languages, are content.
    fn is_list_of_names(&self) -> bool {
        self.names >= MIN_NAMES
            && !self.has_code
            && self.name_characters * 100 >= self.characters * MIN_NAMES_PERCENT
            && self.pointing_characters * 2 >= self.name_characters
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::document::{Folders, InputFile, ReadOptions, read};

    fn by_text_of(body: &str) -> Option<&'static str> {
        by_text(&FrontMatter::default(), body)
    }

    #[test]
    fn parts_of_pages_are_left_out() {
        let reason = |path: &str| by_path(Path::new(path), None);
        assert_eq!(reason("guide/_install.md"), Some("part of other pages"));
        assert_eq!(reason("_includes/note.md"), Some("part of other pages"));
        assert_eq!(reason("guide/_index.md"), None);
        assert_eq!(reason("app.js.LICENSE.txt"), Some("file of the project"));
        assert_eq!(reason("requirements-dev.txt"), Some("file of the project"));
        assert_eq!(reason("license.md"), None);
        assert_eq!(reason("licensing.txt"), None);
        assert_eq!(reason("api/__init__.md"), None);
        assert_eq!(reason("api/_private.html"), None);
        assert_eq!(reason("_posts/2020-01-01-a.md"), None);
        let of_site = |path: &str, name: &str| {
            let generator = GENERATORS.into_iter().find(|generator| generator.name == name);
            by_path(Path::new(path), generator)
        };
        assert_eq!(of_site("docs/_shared/a.md", "Docusaurus"), Some("part of other pages"));
        assert_eq!(of_site("_templates/layout.html", "Sphinx"), Some("part of other pages"));
        assert_eq!(reason("_templates/layout.html"), None);
    }

    #[test]
    fn front_matter_can_hide_a_page() {
        let reason = |matter: Value| {
            let Value::Object(metadata) = matter else { panic!() };
            by_front_matter(&FrontMatter {
                metadata,
                ..FrontMatter::default()
            })
        };
        assert_eq!(reason(json!({"draft": true})), Some("draft"));
        assert_eq!(reason(json!({"published": "false"})), Some("draft"));
        assert_eq!(reason(json!({"unlisted": true})), Some("unlisted"));
        assert_eq!(reason(json!({"search": false})), Some("marked noindex"));
        assert_eq!(reason(json!({"search": {"exclude": true}})), Some("marked noindex"));
        assert_eq!(
            reason(json!({"search": {"boost": 2}, "draft": false, "published": true})),
            None
        );
    }

    #[test]
    fn pages_that_only_point_elsewhere_are_left_out() {
        let old = "# Ownership\n\nThere is a new edition of the book and this is an old link.\n\n> You can read \
                   [the same chapter](../new/ch04.html) in the new one, or [stay](old.html) with the old.\n";
        assert_eq!(by_text_of(old), Some("points elsewhere"));
        assert_eq!(
            by_text_of("This page has moved to [the guide](guide.md)."),
            Some("points elsewhere")
        );
        assert_eq!(by_text_of("The cursor has moved when a row was read."), None);
        let long = format!("The file [has moved](a.md). {}", "It is read at start. ".repeat(20));
        assert_eq!(by_text_of(&long), None);
    }

    #[test]
    fn a_page_that_repeats_another_is_left_out() {
        let matter = FrontMatter {
            title: Some("Link".to_owned()),
            metadata: json!({"source": "app/api/link"}).as_object().unwrap().clone(),
            ..FrontMatter::default()
        };
        assert_eq!(
            by_text(&matter, "Do not edit this page.\n"),
            Some("repeats another page")
        );
        assert_eq!(by_text(&matter, &"It has a text of its own. ".repeat(10)), None);
    }

    #[test]
    fn lists_of_names_are_detected_by_their_content() {
        let links: String = (0..40).map(|n| format!("- [function_{n}](f.html#{n})\n")).collect();
        assert_eq!(by_text_of(&format!("# Index\n\n{links}")), Some("list of names"));
        let words: String = (0..200).map(|n| format!("word{n}\n")).collect();
        assert_eq!(by_text_of(&words), Some("list of names"));
        let settings: String = (0..40)
            .map(|n| format!("- `key_{n}`: how many of them there are at most.\n"))
            .collect();
        assert_eq!(by_text_of(&settings), None);
        let languages: String = (0..40).map(|n| format!("- Language {n}\n")).collect();
        assert_eq!(by_text_of(&format!("# Supported languages\n\n{languages}")), None);
        assert_eq!(by_text_of(&format!("{languages}{links}")), Some("list of names"));
        let table: String = (0..40).map(|n| format!("| key{n} | int | {n} |\n")).collect();
        assert_eq!(
            by_text_of(&format!("| Key | Type | Default |\n|---|---|---|\n{table}")),
            None
        );
        assert_eq!(
            by_text_of(&format!("{links}\n{}", "This is what they are for. ".repeat(20))),
            None
        );
    }

    #[test]
    fn parts_that_no_page_includes_are_counted_apart() {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap();
        for (path, text) in [
            ("page.mdx", "import Used from './_used.mdx';\n\n# Page\n\n<Used />\n"),
            ("_used.mdx", "Text\n"),
            ("_unused.mdx", "Text\n"),
            ("_layout.md", "Text\n"),
        ] {
            fs::write(root.join(path), text).unwrap();
        }
        let options = ReadOptions {
            max_file_size: 1000,
            ..ReadOptions::default()
        };
        let names = ["page.mdx", "_used.mdx", "_unused.mdx", "_layout.md"];
        let files: Vec<(&Path, &Path)> = names.iter().map(|name| (&*root, Path::new(name))).collect();
        let folders = Folders::new(&files, &options);
        let reason = |name: &str| {
            let file = InputFile {
                root: &root,
                relative: Path::new(name),
                source_root: "docs",
            };
            read(&file, &options, Some(&folders)).map_err(|error| error.to_string())
        };
        let bodies: Vec<String> = reason("page.mdx")
            .unwrap()
            .into_iter()
            .map(|output| output.document.body)
            .collect();
        assert_eq!(bodies, ["# Page\n\nText\n"]);
        assert_eq!(
            reason("_used.mdx").unwrap_err(),
            "not documentation: part of other pages"
        );
        assert_eq!(
            reason("_unused.mdx").unwrap_err(),
            "not documentation: part that no page is known to include"
        );
        // Templates may include it.
        assert_eq!(
            reason("_layout.md").unwrap_err(),
            "not documentation: part of other pages"
        );
    }
}
