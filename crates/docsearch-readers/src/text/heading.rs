//! The first heading of a markdown text, as plain text.

/// Maximum length of a heading; a longer one is a paragraph by mistake.
const MAX_CHARACTERS: usize = 500;

/// The text of the first heading if it has level one. MkDocs names a page without one after its file.
pub(crate) fn title(markdown: &str) -> Option<String> {
    let sections = docsearch_core::documents::markdown::sections(markdown);
    let first = sections.iter().find(|section| section.level > 0)?;
    first_heading(markdown).filter(|_| first.level == 1)
}

/// The text of the first ATX or setext heading outside code fences; `None` if there is none.
pub(crate) fn first_heading(markdown: &str) -> Option<String> {
    let mut fence: Option<&str> = None;
    let mut previous = "";
    for line in markdown.lines() {
        let trimmed = line.trim();
        if let Some(marker) = fence {
            if trimmed.starts_with(marker) {
                fence = None;
            }
            continue;
        }
        if let Some(marker) = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker)) {
            fence = Some(marker);
            previous = "";
            continue;
        }
        let heading = atx_text(line).or_else(|| is_setext(trimmed).then_some(previous));
        if let Some(text) = heading.map(plain_text).filter(|text| !text.is_empty()) {
            return Some(text);
        }
        previous = trimmed;
    }
    None
}

fn atx_text(line: &str) -> Option<&str> {
    let hashes = line.bytes().take_while(|&byte| byte == b'#').count();
    let text = line.get(hashes..)?;
    let valid = (1..=6).contains(&hashes) && (text.is_empty() || text.starts_with([' ', '\t']));
    valid.then(|| text.trim().trim_end_matches('#').trim_end())
}

fn is_setext(line: &str) -> bool {
    line.len() >= 2 && (line.bytes().all(|byte| byte == b'=') || line.bytes().all(|byte| byte == b'-'))
}

/// Inline Markdown without its markup: code, emphasis, links, anchors, escapes.
fn plain_text(inline: &str) -> String {
    let inline = match inline.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => &inline[..end],
        None => inline,
    };
    let without_anchor = match inline.rfind("{#") {
        Some(start) if inline.ends_with('}') => &inline[..start],
        _ => inline,
    };
    let mut text = String::new();
    let mut rest = without_anchor;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        rest = match character {
            '`' => after,
            '*' if after.starts_with('*') => &after[1..],
            '\\' => {
                let escaped = after.chars().next();
                text.extend(escaped);
                &after[escaped.map_or(0, char::len_utf8)..]
            }
            '[' => match link(after) {
                Some((label, tail)) => {
                    text.push_str(&plain_text(label));
                    tail
                }
                None => {
                    text.push('[');
                    after
                }
            },
            _ => {
                text.push(character);
                after
            }
        };
    }
    text.trim().to_owned()
}

fn link(after_bracket: &str) -> Option<(&str, &str)> {
    let (label, tail) = after_bracket.split_once("](")?;
    let (_, tail) = tail.split_once(')')?;
    (!label.contains(['[', ']'])).then_some((label, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_of_level_one() {
        assert_eq!(title("Text.\n\n# `Kit` page\n").as_deref(), Some("Kit page"));
        assert_eq!(title("Text.\n\n## Storing state\n"), None);
    }

    #[test]
    fn the_first_heading_outside_fences() {
        let text = "intro\n\n```sh\n# not a heading\n```\n\n## The `frame(width:)` modifier ##\n\n# Later";
        assert_eq!(first_heading(text).as_deref(), Some("The frame(width:) modifier"));
        assert_eq!(first_heading("Title\n=====\ntext").as_deref(), Some("Title"));
        assert_eq!(first_heading("---\n\n#hashtag\n"), None);
    }

    #[test]
    fn inline_markup_is_dropped_and_characters_of_the_text_are_not() {
        let heading = "# [Using **snake_case**](x.md) in `C*` \\[beta\\] {#anchor}";
        assert_eq!(first_heading(heading).as_deref(), Some("Using snake_case in C* [beta]"));
    }
}
