//! What manual pages of all formats have in common.

/// The kind of their documents.
pub(crate) const KIND: &str = "manual page";
/// The metadata key for the section of the manual.
pub(crate) const SECTION: &str = "section";
/// Why a symbolic link to another manual page is left out.
pub const LINK: &str = "link to another manual page";
/// Maximum characters of a purpose; a longer one is a paragraph.
const MAX_PURPOSE_CHARACTERS: usize = 300;

/// Name and section of a title such as `git-rebase(1)`.
pub(crate) fn title(title: &str) -> Option<(&str, &str)> {
    let (name, rest) = title.trim().split_once('(')?;
    let (section, after) = rest.split_once(')')?;
    let is_page = !name.is_empty()
        && !name.contains(char::is_whitespace)
        && is_section(section)
        && (after.is_empty() || after.trim() == "Manual Page");
    is_page.then_some((name, section))
}

/// Whether it is a section of the manual: `1`, `3p`, `8x`, `n`.
pub(crate) fn is_section(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    let is_numbered = first.is_some_and(|first| ('1'..='9').contains(&first));
    (is_numbered || matches!(text, "n" | "l" | "p"))
        && text.len() <= 8
        && characters.all(|character| character.is_ascii_alphabetic())
}

/// The text after the hyphen in the section NAME among `blocks` of Markdown.
pub(crate) fn purpose(blocks: &[String]) -> Option<String> {
    let name = blocks.iter().take(8).position(|block| {
        let heading = block.trim_start_matches('#').trim_start();
        block.starts_with("## ")
            && heading
                .split(" {#")
                .next()
                .is_some_and(|text| text.eq_ignore_ascii_case("name"))
    })?;
    let text = blocks.get(name + 1)?.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, purpose) = text
        .split_once(" - ")
        .or_else(|| text.split_once(" — "))
        .or_else(|| text.split_once(" – "))?;
    let purpose = purpose.replace(['`', '*', '\\'], "");
    let purpose = purpose.trim();
    (!purpose.is_empty() && purpose.chars().count() <= MAX_PURPOSE_CHARACTERS).then(|| purpose.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_name_page_and_section() {
        assert_eq!(title("git-rebase(1)"), Some(("git-rebase", "1")));
        assert_eq!(title("printf(3p) Manual Page"), Some(("printf", "3p")));
        assert_eq!(title("filter() (old)"), None);
        assert_eq!(title("Foo (bar)"), None);
    }

    #[test]
    fn the_purpose_follows_the_name() {
        let blocks = [
            "# git-add",
            "## NAME {#_name}",
            "git-add - Add file contents to the `index`",
        ]
        .map(str::to_owned);
        assert_eq!(purpose(&blocks).as_deref(), Some("Add file contents to the index"));
        assert_eq!(purpose(&["## NAME".to_owned()]), None);
    }
}
