//! Rules about words, for the words of pages.

use super::{Intent, Tables};
use crate::documents::page_keys::KeyWord;
use crate::text::word::stem;
use crate::values::id::{Map, Set};

/// The first bytes of a word; 0 after its end.
type Beginning = [u8; 3];

/// The first `length` bytes of a text.
fn beginning(text: &[u8], length: usize) -> Beginning {
    let mut beginning = Beginning::default();
    for (to, from) in beginning.iter_mut().zip(text.iter().take(length)) {
        *to = *from;
    }
    beginning
}

/// Verbs, their intents, and stop words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vocabulary {
    /// Beginnings of verbs: other words need no stemming.
    beginnings: Set<Beginning>,
    /// For each first byte, a bit for each length of such a beginning.
    lengths: Vec<u8>,
    /// Stems of verbs of one word.
    verbs: Set<Vec<u8>>,
    intents: Map<Vec<u8>, Intent>,
    stop_words: Set<Vec<u8>>,
}

impl Vocabulary {
    pub(super) fn new(tables: &Tables) -> Self {
        let verbs = tables.actions.keys();
        // Stemming changes the end of a word, and at most the last letter of what is left.
        let kept = |verb: &String| beginning(verb.as_bytes(), stem(verb).len().saturating_sub(1));
        let beginnings: Set<Beginning> = verbs.clone().map(kept).collect();
        let mut lengths = vec![0u8; 256];
        for beginning in &beginnings {
            let length = beginning.iter().take_while(|&&byte| byte != 0).count();
            match length {
                0 => lengths.iter_mut().for_each(|lengths| *lengths |= 1),
                _ => lengths[usize::from(beginning[0])] |= 1 << length,
            }
        }
        let intents = tables.actions.iter();
        let stop_words = tables.stop_words.iter().chain(&tables.question_words);
        Self {
            beginnings,
            lengths,
            verbs: verbs
                .filter(|verb| !verb.contains(' '))
                .map(|verb| stem(verb).into_owned().into_bytes())
                .collect(),
            intents: intents
                .filter_map(|(verb, intent)| Some((verb.clone().into_bytes(), (*intent)?)))
                .collect(),
            stop_words: stop_words.map(|word| word.clone().into_bytes()).collect(),
        }
    }

    /// Whether a verb begins like this word.
    pub(super) fn begins_like_a_verb(&self, word: &[u8]) -> bool {
        let first = word.first().map_or(0, |&first| usize::from(first));
        let of_first = self.lengths.get(first).copied().unwrap_or_default();
        let mut lengths = (0..=Beginning::default().len()).filter(|length| of_first >> length & 1 == 1);
        lengths.any(|length| self.beginnings.contains(&beginning(word, length)))
    }

    /// Whether a word is a form of a verb, see [`super::Rules::verb`]. `buffer` is overwritten.
    pub(crate) fn is_verb(&self, word: &KeyWord<'_>, buffer: &mut Vec<u8>) -> bool {
        self.begins_like_a_verb(word.text) && self.verbs.contains(word.any_stem(buffer))
    }

    /// The intent of a verb, see [`super::Rules::intent`].
    pub(crate) fn intent(&self, verb: &[u8]) -> Option<Intent> {
        self.intents.get(verb).copied()
    }

    /// Whether a word is a stop word, see [`super::Rules::is_stop_word`].
    pub(crate) fn is_stop_word(&self, word: &[u8]) -> bool {
        self.stop_words.contains(word)
    }
}
