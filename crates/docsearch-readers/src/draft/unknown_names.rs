//! Names of markup that a reader does not know, and whose text it keeps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Maximum names that are counted one by one; the uses of others are counted together.
const MAX_NAMES: usize = 1_000;
/// Maximum names in a line, and characters of one.
const MAX_SHOWN: usize = 8;
const MAX_CHARACTERS: usize = 40;

/// The number of uses of each unknown name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownNames {
    /// By kind, such as `directive`, and name.
    names: BTreeMap<String, BTreeMap<String, usize>>,
    /// Uses of names above the maximum.
    others: usize,
}

impl UnknownNames {
    pub(crate) fn add(&mut self, kind: &'static str, name: &str) {
        self.count(kind, name, 1);
    }

    /// Adds the counts of another page.
    pub fn extend(&mut self, other: &Self) {
        self.others += other.others;
        for (kind, names) in &other.names {
            for (name, count) in names {
                self.count(kind, name, *count);
            }
        }
    }

    fn count(&mut self, kind: &str, name: &str, uses: usize) {
        let known_names = self.names.values().map(BTreeMap::len).sum::<usize>();
        match self.names.get_mut(kind).and_then(|names| names.get_mut(name)) {
            Some(count) => *count += uses,
            None if known_names >= MAX_NAMES => self.others += uses,
            None => {
                let names = self.names.entry(kind.to_owned()).or_default();
                names.insert(name.to_owned(), uses);
            }
        }
    }

    /// `kept the text of 5 unknown names (directive click:example: 3, role foo: 1, others: 1)`, the most used ones first;
    /// `None` if all were known.
    pub fn text(&self) -> Option<String> {
        let named = self.names.iter();
        let mut uses: Vec<(&str, &str, usize)> = named
            .flat_map(|(kind, names)| names.iter().map(|(name, count)| (&**kind, &**name, *count)))
            .collect();
        uses.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        let total = uses.iter().map(|(_, _, count)| count).sum::<usize>() + self.others;
        let rest = uses.iter().skip(MAX_SHOWN).map(|(_, _, count)| count).sum::<usize>() + self.others;
        let shown = uses.iter().take(MAX_SHOWN).map(|(kind, name, count)| {
            let name: String = name.chars().take(MAX_CHARACTERS).collect();
            format!("{kind} {name}: {count}")
        });
        let rest = (rest > 0).then(|| format!("others: {rest}"));
        let parts: Vec<String> = shown.chain(rest).collect();
        (total > 0).then(|| format!("kept the text of {total} unknown names ({})", parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_used_names_are_shown_with_their_kinds() {
        let mut names = UnknownNames::default();
        assert_eq!(names.text(), None);
        for name in ["sail", "mast", "sail"] {
            names.add("directive", name);
        }
        names.add("role", "mast");
        assert_eq!(
            names.text().unwrap(),
            "kept the text of 4 unknown names (directive sail: 2, directive mast: 1, role mast: 1)"
        );
    }

    proptest::proptest! {
        /// However many names there are and however long they are, the line is short and counts all of them.
        #[test]
        fn the_line_is_short_and_complete(names in proptest::collection::vec("[a-e]{1,90}", 1..40), copies in 1_usize..40) {
            let mut page = UnknownNames::default();
            names.iter().for_each(|name| page.add("role", name));
            let mut all = UnknownNames::default();
            (0..copies).for_each(|_| all.extend(&page));
            let text = all.text().unwrap();
            proptest::prop_assert!(text.len() < 600, "{text}");
            let total = format!("kept the text of {} unknown names", names.len() * copies);
            proptest::prop_assert!(text.starts_with(&total), "{text}");
        }
    }

    #[test]
    fn names_above_the_maximum_are_counted() {
        let mut names = UnknownNames::default();
        (0..MAX_NAMES + 5).for_each(|number| names.add("role", &format!("r{number}")));
        let text = names.text().unwrap();
        assert!(text.starts_with("kept the text of 1005 unknown names"), "{text}");
        assert!(text.ends_with("others: 997)"), "{text}");
    }
}
