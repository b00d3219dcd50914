//! Whether the names of a page are those of a query.

use super::QueryFeatures;
use crate::documents::page_keys::Parts;
use crate::ranking::page::Page;
use crate::text::title::symbol;

/// Shares of `boost_in_pattern` where the path of a page matches X in Y, and where its words do. Chosen within the
/// bounds of S0.6, not measured.
const PATH_SHARE: f32 = 0.75;
const WORDS_SHARE: f32 = 0.5;
/// Share of `boost_api_name` for another spelling: 0.3 of 0.4, by S0.9.
const SPELLING_SHARE: f32 = 0.75;

impl QueryFeatures<'_> {
    /// Whether this is the key of the query's name, or of the whole query.
    pub(super) fn matches_name(&self, key: &[u8]) -> bool {
        !self.key.is_empty() && (key == self.key.as_bytes() || key == self.whole_key.as_bytes())
    }

    pub(super) fn in_pattern(&self, keys: &Parts<'_>, every_word: bool, inside: bool) -> Option<(&'static str, f32)> {
        let qualified = self.path.as_ref().is_some_and(|(parent, child)| {
            (keys.leaf == child.as_bytes() || keys.symbol == child.as_bytes())
                && keys.segments().any(|segment| segment == parent.as_bytes())
        });
        let is_inside_or_none = inside || self.containers.is_empty();
        let is_named = || {
            [keys.title.key, keys.leaf, keys.symbol]
                .into_iter()
                .any(|key| self.matches_name(key))
        };
        if inside && is_named() {
            Some(("title", 1.0))
        } else if qualified && is_inside_or_none {
            Some(("path", PATH_SHARE))
        } else if inside && every_word {
            Some(("container", WORDS_SHARE))
        } else {
            None
        }
    }

    pub(super) fn api_name(&self, page: &Page, keys: &Parts<'_>) -> f32 {
        let mentioned = |own: &[u8]| {
            let mut mentions = self.mentions.iter().map(String::as_bytes);
            mentions.any(|key| !key.is_empty() && key == own)
        };
        let is_symbol = || page.title.trim_start().starts_with(self.name) && symbol(&page.title) == Some(self.name);
        if page.title == self.name || is_symbol() {
            1.0
        } else if self.matches_name(keys.title.key)
            || self.matches_name(keys.symbol)
            || mentioned(keys.symbol)
            || mentioned(keys.leaf)
        {
            SPELLING_SHARE
        } else {
            0.0
        }
    }
}
