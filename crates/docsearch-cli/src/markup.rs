//! Which markup language a file is written in.

use std::path::Path;

/// The languages that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Markup {
    Markdown,
    Mdx,
    ReStructuredText,
    /// Prose without markup.
    Plain,
}

/// Lines at the beginning of a file that decide on its language.
const SAMPLE_LINES: usize = 400;

/// Whether files of this name are documentation.
pub(crate) fn is_documentation(path: &Path) -> bool {
    extension(path).is_some_and(|extension| matches!(extension.as_str(), "md" | "mdx" | "markdown" | "txt" | "rst"))
}

/// The language of a file: by its extension, for `.txt` by its content.
pub(crate) fn detect(path: &Path, text: &str) -> Markup {
    match extension(path).as_deref() {
        Some("mdx") => Markup::Mdx,
        Some("rst") => Markup::ReStructuredText,
        Some("txt") => detect_content(text),
        _ => Markup::Markdown,
    }
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

fn detect_content(text: &str) -> Markup {
    let mut rest_signs = 0;
    let mut markdown_signs = 0;
    let mut previous = "";
    for line in text.lines().take(SAMPLE_LINES) {
        let trimmed = line.trim();
        rest_signs += rest_sign(trimmed) + 2 * usize::from(is_underline(trimmed, previous));
        markdown_signs += markdown_sign(trimmed);
        previous = trimmed;
    }
    // One stray sign is chance: a plain text may well hold a hash or a double colon.
    if rest_signs.max(markdown_signs) < 2 {
        Markup::Plain
    } else if rest_signs >= markdown_signs {
        Markup::ReStructuredText
    } else {
        Markup::Markdown
    }
}

fn rest_sign(line: &str) -> usize {
    let directive = line
        .strip_prefix(".. ")
        .is_some_and(|rest| rest.starts_with('_') || rest.contains("::"));
    let role = line.find(":`").is_some_and(|end| line[..end].contains(':'));
    let literal = line.contains("``") && !line.starts_with("```");
    let reference = line.contains("`_");
    2 * usize::from(directive)
        + 2 * usize::from(role)
        + usize::from(literal)
        + usize::from(reference)
        + usize::from(line.ends_with("::"))
}

fn markdown_sign(line: &str) -> usize {
    let hashes = line.bytes().take_while(|&byte| byte == b'#').count();
    let heading = (1..=6).contains(&hashes) && line[hashes..].starts_with(' ');
    let fence = line.starts_with("```");
    2 * usize::from(heading) + 2 * usize::from(fence) + 2 * usize::from(line.contains("]("))
}

fn is_underline(line: &str, previous: &str) -> bool {
    let mut characters = line.chars();
    characters.next().is_some_and(|first| {
        "=-~^\"*#+'`".contains(first)
            && line.len() >= 3
            && line.len() >= previous.chars().count()
            && !previous.is_empty()
            && previous.chars().any(char::is_alphanumeric)
            && characters.all(|character| character == first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_files_are_told_apart_by_their_content() {
        let txt = |text| detect(Path::new("page.txt"), text);
        assert_eq!(
            txt("=====\nTitle\n=====\n\nSee :doc:`/intro`.\n"),
            Markup::ReStructuredText
        );
        assert_eq!(
            txt("Settings\n========\n\nThe default::\n\n    x = 1\n"),
            Markup::ReStructuredText
        );
        assert_eq!(
            txt("# Title\n\nSee [this](a.md).\n\n```sh\nls\n```\n"),
            Markup::Markdown
        );
        assert_eq!(
            txt("Copyright 2024: all rights reserved.\n\nProvided as is.\n"),
            Markup::Plain
        );
    }

    #[test]
    fn other_extensions_say_what_they_are() {
        assert_eq!(detect(Path::new("a.MDX"), "# x"), Markup::Mdx);
        assert_eq!(detect(Path::new("a.rst"), "# x"), Markup::ReStructuredText);
        assert_eq!(detect(Path::new("a.md"), ".. note:: x"), Markup::Markdown);
        assert!(is_documentation(Path::new("x/README.markdown")));
        assert!(!is_documentation(Path::new("x/main.rs")));
    }
}
