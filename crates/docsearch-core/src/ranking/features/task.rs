//! Pages that are named after the task of a short query: `write_file` for `save a text file`.

use super::QueryFeatures;
use crate::documents::page_keys::Label;
use crate::query::understanding::{Role, Understanding};
use crate::text::identifier::words;
use crate::text::word::folded;

/// Most terms of such a query. A longer one says more than the name of a page can. Chosen, not measured.
const MAX_TASK_TERMS: usize = 4;

impl QueryFeatures<'_> {
    /// Closeness of the verb of a title to the query's. The title must be an order: its words are the verb as it is
    /// written, stop words, and words of the query, with the object among them. 0 for other titles.
    pub(super) fn task(&self, title: Label<'_>, buffer: &mut Vec<u8>) -> f32 {
        let terms = &self.understanding.terms;
        let Some(object) = self.object else { return 0.0 };
        if terms.len() > MAX_TASK_TERMS || !self.understanding.has_action() {
            return 0.0;
        }
        let (mut verb, mut has_object, mut has_other) = (0.0f32, false, false);
        for word in title.words() {
            let mut known = self.rules.vocabulary().is_stop_word(word.text);
            for term_word in self.term_words.matching_key(&word, buffer) {
                known = true;
                has_object |= term_word.term == object;
                // "Accounts and locks" locks nothing.
                if terms[term_word.term].role == Role::Action && term_word.word.text.as_bytes() == word.text {
                    verb = verb.max(term_word.closeness);
                }
            }
            has_other |= !known;
        }
        if has_object && !has_other { verb } else { 0.0 }
    }

    /// The term that a verb acts on: the last of the first objects in a row. `file` of `save a text file`, `accounts`
    /// of `list all accounts in my subscription`.
    pub(super) fn object(understanding: &Understanding) -> Option<usize> {
        let terms = &understanding.terms;
        let topic = &understanding.topic;
        let (mut object, mut next) = (None, 0);
        for word in topic
            .split_whitespace()
            .flat_map(|part| words(part).into_iter().map(|word| folded(&part[word])))
        {
            match terms[next..].iter().position(|term| term.word.text == word) {
                Some(ahead) => {
                    next += ahead + 1;
                    if matches!(terms[next - 1].role, Role::Object | Role::Generic) {
                        object = Some(next - 1);
                    }
                }
                None if object.is_some() => break,
                None => {}
            }
        }
        object
    }
}
