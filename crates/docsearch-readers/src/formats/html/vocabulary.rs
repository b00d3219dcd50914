//! The names that occur in a page. They exclude most selectors: matching every element with each of two hundred took
//! half of the time for a page.

use std::collections::HashSet;

use dom_query::Document;

/// Names of elements and attributes, classes and ids.
#[derive(Debug)]
pub(super) struct Vocabulary(HashSet<String>);

impl Vocabulary {
    pub(super) fn of(page: &Document) -> Self {
        let mut words = HashSet::new();
        let mut add = |word: &str| {
            if !words.contains(word) {
                words.insert(word.to_owned());
            }
        };
        for node in page.root().descendants_it() {
            let Some(name) = node.qual_name_ref() else {
                continue;
            };
            add(&name.local);
            for attribute in node.attrs() {
                match &*attribute.name.local {
                    "class" => attribute.value.split_ascii_whitespace().for_each(&mut add),
                    "id" => add(&attribute.value),
                    other => add(other),
                }
            }
        }
        Self(words)
    }

    /// Whether an element of the page can match, judging by the first name in `selector`.
    pub(super) fn may_match(&self, selector: &str) -> bool {
        self.0.contains(key(selector))
    }

    /// The `selectors` that can match, joined; `None` if there is none.
    pub(super) fn selector<'s>(&self, selectors: impl IntoIterator<Item = &'s str>) -> Option<String> {
        let possible: Vec<&str> = selectors
            .into_iter()
            .filter(|selector| self.may_match(selector))
            .collect();
        (!possible.is_empty()).then(|| possible.join(", "))
    }
}

/// The first class, id or attribute of a selector, or else the first element.
fn key(selector: &str) -> &str {
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    // A name after a colon may be one that an element does not have.
    let from = match selector.find(['.', '#', '[', ':']) {
        Some(mark) if !selector[mark..].starts_with(':') => mark + 1,
        _ => 0,
    };
    let name = &selector[from..];
    &name[..name.find(|character| !is_name(character)).unwrap_or(name.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_of_a_selector_decides() {
        for (selector, expected) in [
            ("nav", "nav"),
            ("main article", "main"),
            ("a.anchor-link", "anchor-link"),
            (".contents.local", "contents"),
            (".md-content__button", "md-content__button"),
            ("[hidden]:not([role='tabpanel'])", "hidden"),
            ("img[src^='data:']", "src"),
            ("img:not([alt])", "img"),
            ("#toc", "toc"),
        ] {
            assert_eq!(key(selector), expected, "{selector}");
        }
    }

    #[test]
    fn selectors_that_cannot_match_are_left_out() {
        let page = Document::from("<main id=top><p class='note  big' hidden>x</p></main>");
        let vocabulary = Vocabulary::of(&page);
        assert_eq!(
            vocabulary
                .selector(["nav", ".note > .title", "#top", "[hidden]", ".toc"])
                .as_deref(),
            Some(".note > .title, #top, [hidden]")
        );
        assert_eq!(vocabulary.selector([".toc"]), None);
    }
}
