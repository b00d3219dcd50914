//! Pages that list names which other pages explain: indexes, tables of contents, cross references.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::events;

/// Fewest entries of a list. Chosen, not measured.
const MIN_ENTRIES: usize = 8;
/// Most words of a line without a link that is an entry. Chosen, not measured.
const MAX_ENTRY_WORDS: usize = 3;
/// Signs that end a sentence, also before a closing bracket or quotation mark.
const SENTENCE_ENDS: [char; 8] = ['.', '!', '?', ':', ';', '。', '！', '？'];

/// Share of the words of `markdown` in entries of lists, 0 to 1: lines with a link that are no sentences, and items
/// and rows of up to three words. Headings do not count. 0 with fewer than eight entries.
pub fn entry_share(markdown: &str) -> f32 {
    let mut count = Count::default();
    for (event, _) in events(markdown) {
        count.event(&event);
    }
    count.end_line();
    match count.entries {
        MIN_ENTRIES.. => count.entry_words as f32 / count.words.max(1) as f32,
        _ => 0.0,
    }
}

/// Counts so far.
#[derive(Default)]
struct Count {
    words: usize,
    entries: usize,
    entry_words: usize,
    /// The current line.
    line: Line,
    /// Number of lists and tables around it.
    lists: usize,
    links: usize,
    in_heading: bool,
    in_code: bool,
}

/// A line: an item, a row, or text between two breaks of a paragraph.
#[derive(Default)]
struct Line {
    words: usize,
    linked: usize,
    links: usize,
    ends_sentence: bool,
}

impl Count {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(Tag::List(_) | Tag::Table(_)) => {
                self.end_line();
                self.lists += 1;
            }
            Event::End(TagEnd::List(_) | TagEnd::Table) => {
                self.end_line();
                self.lists = self.lists.saturating_sub(1);
            }
            Event::Start(Tag::Heading { .. }) => self.in_heading = true,
            Event::End(TagEnd::Heading(_)) => self.in_heading = false,
            Event::Start(Tag::CodeBlock(_)) => {
                self.end_line();
                self.in_code = true;
            }
            Event::End(TagEnd::CodeBlock) => self.in_code = false,
            Event::Start(Tag::Link { .. }) => {
                self.links += 1;
                self.line.links += 1;
            }
            Event::End(TagEnd::Link) => self.links = self.links.saturating_sub(1),
            Event::Text(text) | Event::Code(text) => self.text(text),
            Event::SoftBreak | Event::HardBreak | Event::Start(Tag::Item) => self.end_line(),
            Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead) => self.end_line(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        let words = text
            .split_whitespace()
            .filter(|word| word.contains(char::is_alphanumeric))
            .count();
        if self.in_heading {
            return;
        }
        self.words += words;
        if self.in_code {
            return;
        }
        self.line.words += words;
        if self.links > 0 {
            self.line.linked += words;
        }
        let end = text.trim_end().trim_end_matches([')', ']', '"', '\'', '”', '»']);
        if !end.is_empty() {
            self.line.ends_sentence = self.links == 0 && end.ends_with(SENTENCE_ENDS);
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let linked = line.links > 0 && (2 * line.linked > line.words || self.lists > 0 && !line.ends_sentence);
        let short = self.lists > 0 && line.links == 0 && line.words <= MAX_ENTRY_WORDS && !line.ends_sentence;
        if line.words > 0 && (linked || short) {
            self.entries += line.links.max(1);
            self.entry_words += line.words;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_index_is_made_of_entries() {
        let index: String = (0..20).map(|n| format!("- [name_{n}](page{n}.html)\n")).collect();
        assert_eq!(entry_share(&index), 1.0);
        assert!(entry_share(&format!("# Index\n\nAll names of the library.\n\n{index}")) > 0.75);
        let targets: String = (0..9)
            .map(|n| format!("* [b{n}.html](b{n}.html) → {{bind value}} bind\\_{n} bind\\_other\\_{n}\n"))
            .collect();
        assert_eq!(entry_share(&targets), 1.0);
        let table: String = (0..9).map(|n| format!("| [a{n}](a{n}) | [b{n}](b{n}) |\n")).collect();
        assert!(entry_share(&format!("| Name | Page |\n|---|---|\n{table}")) > 0.9);
        let one_paragraph: String = (0..9).map(|n| format!("[a{n}](a{n}) | ")).collect();
        assert_eq!(entry_share(&one_paragraph), 1.0);
        let words: String = (0..12).map(|n| format!("- word{n}\n")).collect();
        assert_eq!(entry_share(&words), 1.0);
    }

    #[test]
    fn a_page_that_says_something_is_none() {
        let steps: String = (0..12)
            .map(|n| format!("- Call [step {n}](s{n}) before the lid is opened, or the pot breaks.\n"))
            .collect();
        assert_eq!(entry_share(&steps), 0.0);
        let options: String = (0..12)
            .map(|n| format!("- `--option-{n}`: sets what happens in this case\n"))
            .collect();
        assert_eq!(entry_share(&options), 0.0);
        let prose = "The clay is kept in a cellar, where it stays soft for years. ".repeat(30);
        let see_also: String = (0..9).map(|n| format!("- [other {n}](o{n})\n")).collect();
        assert!(entry_share(&format!("{prose}\n\n## See also\n\n{see_also}")) < 0.2);
        let code = "```\nopen close read write\n```\n".repeat(20);
        assert_eq!(entry_share(&code), 0.0);
        assert_eq!(entry_share("- [one](a)\n- [two](b)\n"), 0.0, "too few");
        assert_eq!(entry_share(""), 0.0);
    }

    proptest! {
        #[test]
        fn it_is_a_share(markdown in "([-*|#` \n]|\\[a\\]\\(b\\)|[a-c]{1,3}[. ]){0,200}") {
            prop_assert!((0.0..=1.0).contains(&entry_share(&markdown)));
        }
    }
}
