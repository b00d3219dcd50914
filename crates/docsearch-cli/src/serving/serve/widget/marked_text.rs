//! Texts of documents as HTML, with tags around the words of the query.

use std::borrow::Cow;

/// Longer texts are cut.
const MAX_CHARACTERS: usize = 1_000;
const MAX_TAG: usize = 64;
/// Elements that only change how a word looks.
const ELEMENTS: [&str; 7] = ["b", "em", "i", "mark", "span", "strong", "u"];

/// What is written before and after a word of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tags {
    pre: String,
    post: String,
}

impl Tags {
    /// The tags of a request, if they are an element without other attributes than a class, or text that is no markup. Else
    /// `<mark>`.
    pub(super) fn allowed(pre: &str, post: &str) -> Self {
        let (pre, post) = match is_element(pre, post) || harmless_text(pre, MAX_TAG) && harmless_text(post, MAX_TAG) {
            true => (pre, post),
            false => ("<mark>", "</mark>"),
        };
        Self {
            pre: pre.to_owned(),
            post: post.to_owned(),
        }
    }
}

fn is_element(pre: &str, post: &str) -> bool {
    let Some(opened) = pre.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else {
        return false;
    };
    let (name, class) = opened.split_once(' ').unwrap_or((opened, ""));
    let class = match class.strip_prefix("class=\"") {
        Some(quoted) => quoted.strip_suffix('"'),
        None => class.is_empty().then_some(""),
    };
    let is_class = |class: &str| {
        class
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ' '))
    };
    pre.len() <= MAX_TAG
        && ELEMENTS.contains(&name)
        && class.is_some_and(is_class)
        && post.strip_prefix("</").and_then(|rest| rest.strip_suffix('>')) == Some(name)
}

/// Whether a text is short, and means the same in HTML.
pub(super) fn harmless_text(text: &str, max_characters: usize) -> bool {
    text.chars().count() <= max_characters && !text.contains(['<', '>', '&', '"', '\'', '`'])
}

/// A text with ranges of characters that are marked.
#[derive(Debug, Clone)]
pub(super) struct MarkedText {
    text: String,
    /// In order, apart from each other, and not empty.
    marks: Vec<(usize, usize)>,
    /// Whether text is left out at the beginning and at the end, and what is written there.
    ellipses: (bool, bool, String),
}

impl MarkedText {
    pub(super) fn new(text: &str, marks: &[(usize, usize)]) -> Self {
        let mut text: String = text.to_owned();
        if let Some((end, _)) = text.char_indices().nth(MAX_CHARACTERS) {
            text.truncate(end);
            text.push('…');
        }
        Self::of_part(text, marks)
    }

    fn of_part(text: String, marks: &[(usize, usize)]) -> Self {
        let length = text.chars().count();
        let mut end = 0;
        let marks = marks.iter().filter_map(|(from, to)| {
            let mark = ((*from).max(end), (*to).min(length));
            let is_some = mark.0 < mark.1;
            end = if is_some { mark.1 } else { end };
            is_some.then_some(mark)
        });
        let marks = marks.collect();
        Self {
            text,
            marks,
            ellipses: Default::default(),
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_marked(&self) -> bool {
        !self.marks.is_empty()
    }

    /// The marked words.
    pub(super) fn words(&self) -> Vec<String> {
        let marked = self
            .marks
            .iter()
            .map(|(from, to)| self.text.chars().skip(*from).take(to - from));
        marked
            .map(|word| escaped(&word.collect::<String>()).to_lowercase())
            .collect()
    }

    pub(super) fn match_level(&self) -> &'static str {
        let marked: usize = self.marks.iter().map(|(from, to)| to - from).sum();
        match marked {
            0 => "none",
            _ if marked == self.text.chars().count() => "full",
            _ => "partial",
        }
    }

    /// This number of words, with the first marked one in the first third.
    pub(super) fn excerpt(&self, words: usize, ellipsis: &str) -> Self {
        let mut starts = Vec::new();
        let mut is_within = false;
        for (at, c) in self.text.chars().enumerate() {
            if !c.is_whitespace() && !is_within {
                starts.push(at);
            }
            is_within = !c.is_whitespace();
        }
        if starts.len() <= words {
            return self.clone();
        }
        let marked = self.marks.first().map_or(0, |(from, _)| *from);
        let marked = starts.partition_point(|start| *start <= marked).saturating_sub(1);
        let first = marked.saturating_sub(words / 3).min(starts.len() - words);
        let from = starts[first];
        let part = self.text.chars().skip(from);
        let part: String = match starts.get(first + words) {
            Some(end) => part.take(end - from).collect(),
            None => part.collect(),
        };
        let marks: Vec<_> = self
            .marks
            .iter()
            .map(|(start, end)| (start.saturating_sub(from), end.saturating_sub(from)))
            .collect();
        Self {
            ellipses: (first > 0, first + words < starts.len(), ellipsis.to_owned()),
            ..Self::of_part(part.trim_end().to_owned(), &marks)
        }
    }

    /// The text with tags around its marks. All other text is escaped.
    pub(super) fn html(&self, tags: &Tags) -> String {
        let (is_cut_before, is_cut_after, ellipsis) = &self.ellipses;
        let mut html = String::with_capacity(self.text.len() + 32);
        if *is_cut_before {
            html.push_str(ellipsis);
        }
        let mut marks = self.marks.iter().peekable();
        for (at, c) in self.text.chars().enumerate() {
            if marks.peek().is_some_and(|(from, _)| *from == at) {
                html.push_str(&tags.pre);
            }
            push_escaped(&mut html, c);
            if marks.next_if(|(_, to)| *to == at + 1).is_some() {
                html.push_str(&tags.post);
            }
        }
        if *is_cut_after {
            html.push_str(ellipsis);
        }
        html
    }
}

/// A text as HTML, with the references that the clients decode where they show text.
pub(super) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    text.chars().for_each(|c| push_escaped(&mut html, c));
    html
}

fn push_escaped(html: &mut String, c: char) {
    let written: Cow<str> = match c {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '"' => "&quot;".into(),
        '\'' => "&#039;".into(),
        c => c.to_string().into(),
    };
    html.push_str(&written);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tags() -> Tags {
        Tags::allowed("<em>", "</em>")
    }

    #[test]
    fn tags_that_only_mark_are_allowed() {
        for (pre, post) in [
            ("<mark>", "</mark>"),
            ("<em>", "</em>"),
            ("<span class=\"algolia-docsearch-suggestion--highlight\">", "</span>"),
            ("__ais-highlight__", "__/ais-highlight__"),
            ("", ""),
        ] {
            let found = Tags::allowed(pre, post);
            assert_eq!((found.pre.as_str(), found.post.as_str()), (pre, post));
        }
        for (pre, post) in [
            ("<script>", "</script>"),
            ("<mark onclick=\"alert(1)\">", "</mark>"),
            ("<mark class=\"a\" onclick=\"alert(1)\">", "</mark>"),
            ("<mark class=\"&quot;\">", "</mark>"),
            ("<mark>", "</mark><script>"),
            ("<mark>", "</em>"),
            ("<mark", "</mark"),
            ("<img src=x>", ""),
            ("\" onclick=\"", ""),
        ] {
            assert_eq!(Tags::allowed(pre, post), Tags::allowed("<mark>", "</mark>"), "{pre}");
        }
        assert_eq!(Tags::allowed(&"x".repeat(65), "").pre, "<mark>");
    }

    #[test]
    fn an_excerpt_has_the_first_marked_word() {
        let text = MarkedText::new("one two three four <five> six seven eight nine", &[(19, 25), (26, 29)]);
        let excerpt = |words| text.excerpt(words, "…").html(&tags());
        assert_eq!(excerpt(4), "…four <em>&lt;five&gt;</em> <em>six</em> seven…");
        assert_eq!(
            excerpt(8),
            "…two three four <em>&lt;five&gt;</em> <em>six</em> seven eight nine"
        );
        assert_eq!(excerpt(1), "…<em>&lt;five&gt;</em>…");
        assert_eq!(excerpt(9), text.html(&tags()));
        assert_eq!(
            MarkedText::new("one two three", &[]).excerpt(2, "").html(&tags()),
            "one two"
        );
    }

    #[test]
    fn long_texts_are_cut() {
        let text = MarkedText::new(&"ä".repeat(2_000), &[(990, 1_500)]);
        assert_eq!(text.text().chars().count(), MAX_CHARACTERS + 1);
        assert!(text.html(&tags()).ends_with("…</em>"));
    }

    fn unescaped(html: &str) -> String {
        let html = html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        html.replace("&#039;", "'").replace("&amp;", "&")
    }

    proptest! {
        /// Whatever the text and the marks, there is no markup but the tags, each closed, and the text is the same.
        #[test]
        fn only_tags_are_markup(
            text in "(\\PC|[<>&\"' ]|</?em>|<script>|&lt;){0,30}",
            marks in prop::collection::vec((0usize..40, 0usize..40), 0..6),
            words in 1usize..9,
        ) {
            let whole = MarkedText::new(&text, &marks);
            for part in [whole.clone(), whole.excerpt(words, "")] {
                let html = part.html(&tags());
                let (opened, closed) = (html.matches("<em>").count(), html.matches("</em>").count());
                prop_assert!(opened == closed && opened == part.marks.len());
                let plain = html.replace("<em>", "").replace("</em>", "");
                prop_assert!(!plain.contains(['<', '>', '"', '\'']), "{plain}");
                prop_assert_eq!(unescaped(&plain), part.text());
                prop_assert!(text.contains(part.text()));
            }
        }
    }
}
