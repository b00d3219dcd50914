//! Rules of `docsearch.toml` that pin pages for queries.

use docsearch_core::query::pinned_query::{MAX_CHARS, normal_form};
use serde::Deserialize;

/// Most slugs of a list.
const MAX_PAGES: usize = 10;

/// A query for which pages come first, or are no results.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PinRule {
    query: Queries,
    #[serde(default)]
    pub(crate) first: Vec<String>,
    #[serde(default)]
    pub(crate) never: Vec<String>,
}

/// A query, or several with the same pages.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Queries {
    One(String),
    Several(Vec<String>),
}

impl PinRule {
    /// The queries.
    pub(crate) fn queries(&self) -> &[String] {
        match &self.query {
            Queries::One(query) => std::slice::from_ref(query),
            Queries::Several(queries) => queries,
        }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        let is_usable = |query: &String| query.chars().count() <= MAX_CHARS && normal_form(query).is_some();
        if self.queries().is_empty() || !self.queries().iter().all(is_usable) {
            return Err(format!(
                "a pin has no query\nHINT:  Write what readers search for, up to {MAX_CHARS} characters, such as query = \"install\"."
            ));
        }
        let query = &self.queries()[0];
        if self.first.is_empty() && self.never.is_empty() {
            return Err(format!(
                "the pin of \"{query}\" names no page\nHINT:  Write slugs, such as first = [\"guides/install\"]."
            ));
        }
        if self.first.len().max(self.never.len()) > MAX_PAGES {
            return Err(format!(
                "the pin of \"{query}\" names too many pages\nHINT:  Name at most {MAX_PAGES} in first, and in never."
            ));
        }
        if let Some(slug) = self.first.iter().chain(&self.never).find(|slug| slug.trim().is_empty()) {
            return Err(format!(
                "the pin of \"{query}\" has the slug \"{slug}\"\nHINT:  Write the slug of a page."
            ));
        }
        match self.first.iter().find(|slug| self.never.contains(slug)) {
            Some(slug) => Err(format!(
                "the pin of \"{query}\" has \"{slug}\" in first and in never\nHINT:  Write it in one of them."
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<Vec<String>, String> {
        let rule: PinRule = toml::from_str(text).map_err(|error| error.to_string())?;
        rule.check().map(|()| rule.queries().to_vec())
    }

    #[test]
    fn a_pin_has_one_query_or_several() {
        assert_eq!(
            checked("query = 'install'\nfirst = ['a']"),
            Ok(vec!["install".to_owned()])
        );
        assert_eq!(
            checked("query = ['x', 'y']\nnever = ['a']").map(|queries| queries.len()),
            Ok(2)
        );
        for (text, expected) in [
            ("query = 'install'", "names no page\nHINT:"),
            ("query = ' ?'\nfirst = ['a']", "has no query\nHINT:"),
            ("query = []\nfirst = ['a']", "has no query"),
            ("query = 'x'\nfirst = ['a']\nnever = ['a']", "in first and in never"),
            ("query = 'x'\nfirst = [' ']", "has the slug \" \""),
            ("query = 'x'\npages = ['a']", "unknown field"),
        ] {
            let problem = checked(text).unwrap_err();
            assert!(problem.contains(expected), "{text}: {problem}");
        }
        let many: Vec<String> = (0..11).map(|number| format!("'{number}'")).collect();
        let many = format!("query = 'x'\nfirst = [{}]", many.join(", "));
        assert!(checked(&many).unwrap_err().contains("too many pages"));
    }
}
