//! Pages that are called after what a short query says to do: `write_file` for `save a text file`.

use super::PreparedQuery;
use crate::understanding::Role;

/// Most terms of such a query: a longer one says more than the name of a page can. Chosen, not measured.
const MAX_TASK_TERMS: usize = 4;

impl PreparedQuery<'_> {
    /// How close the verb of a title is to the query's, if the title has no word but such a verb, as it is said to somebody who
    /// is to do it, and words of the query, the last object among them. 0 for other titles.
    pub(super) fn task(&self, title: &str) -> f32 {
        let terms = &self.understanding.terms;
        let is_object = |role: Role| matches!(role, Role::Object | Role::Generic);
        let Some(object) = terms.iter().rposition(|term| is_object(term.role)) else {
            return 0.0;
        };
        if terms.len() > MAX_TASK_TERMS || !self.understanding.has_action() {
            return 0.0;
        }
        let (mut verb, mut has_object, mut has_other) = (0.0f32, false, false);
        self.each_word(title, |word| {
            let mut known = self.rules.says_little(word);
            for form in self.forms(word).iter().filter(|form| form.word.matches(word)) {
                known = true;
                has_object |= form.term == object;
                // "Accounts and locks" locks nothing.
                if terms[form.term].role == Role::Action && form.word.text == word {
                    verb = verb.max(form.closeness);
                }
            }
            has_other |= !known;
        });
        if has_object && !has_other { verb } else { 0.0 }
    }
}
