//! Counting tokens word by word, with the counts of words remembered.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokenizers::{ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

use crate::error::Result;

/// Where BERT's normaliser and splitter both see a boundary, whatever stands around it.
const BETWEEN_WORDS: [char; 4] = [' ', '\n', '\t', '\r'];
/// Longer words are rarely met again.
const MAX_WORD_BYTES: usize = 64;
/// Words that are remembered, some megabytes.
const MAX_WORDS: usize = 50_000;

/// How many tokens words have.
#[derive(Debug, Default)]
pub(crate) struct WordCounts(Mutex<HashMap<Box<str>, usize>>);

impl WordCounts {
    /// For a tokenizer whose count of a text is the sum of those of its words: BERT's.
    pub(crate) fn of(tokenizer: &Tokenizer) -> Option<Self> {
        let is_bert = matches!(tokenizer.get_normalizer(), Some(NormalizerWrapper::BertNormalizer(_)))
            && matches!(
                tokenizer.get_pre_tokenizer(),
                Some(PreTokenizerWrapper::BertPreTokenizer(_))
            )
            && matches!(tokenizer.get_model(), ModelWrapper::WordPiece(_));
        let added = tokenizer.get_added_tokens_decoder();
        let is_plain = added
            .values()
            .all(|token| !(token.lstrip || token.rstrip || token.content.contains(BETWEEN_WORDS)));
        (is_bert && is_plain).then(Self::default)
    }

    /// The tokens of `text`; `count` counts those of a word.
    pub(crate) fn count(&self, text: &str, count: impl Fn(&str) -> Result<usize>) -> Result<usize> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sum = 0;
        for word in text.split(BETWEEN_WORDS).filter(|word| !word.is_empty()) {
            sum += match known.get(word) {
                Some(tokens) => *tokens,
                None => {
                    let tokens = count(word)?;
                    if known.len() >= MAX_WORDS {
                        known.clear();
                    }
                    if word.len() <= MAX_WORD_BYTES {
                        known.insert(word.into(), tokens);
                    }
                    tokens
                }
            };
        }
        Ok(sum)
    }
}

#[cfg(test)]
mod tests {
    use tokenizers::models::wordpiece::WordPiece;
    use tokenizers::normalizers::{BertNormalizer, Lowercase};
    use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
    use tokenizers::pre_tokenizers::whitespace::WhitespaceSplit;
    use tokenizers::{AddedToken, Tokenizer};

    use super::*;

    fn bert() -> Tokenizer {
        let words = [
            "[UNK]", "[SEP]", "a", "b", "##a", "##b", "ab", "e", "##e", ".", "-", "中", "文", "ſ", "s",
        ];
        let mut ids = 0..;
        let vocabulary = words.map(|word| (word.to_owned(), ids.next().unwrap()));
        let model = WordPiece::builder().vocab(vocabulary).build().unwrap();
        let mut tokenizer = Tokenizer::new(model);
        tokenizer.with_normalizer(Some(BertNormalizer::default())).unwrap();
        tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
        tokenizer.add_special_tokens([AddedToken::from("[SEP]", true)]).unwrap();
        tokenizer
    }

    #[test]
    fn words_add_up_to_the_text() {
        let tokenizer = bert();
        let whole = |text: &str| Ok(tokenizer.encode_fast(text, false).unwrap().len());
        let counts = WordCounts::of(&tokenizer).unwrap();
        let texts = [
            "ab abab a.b-a  ab\n\nab\tzzz\r\nab",
            "é e\u{301} \u{301}a ab\u{85}ab a\u{b}b a\u{a0}b a\u{2028}b a\u{200b}b",
            "中文 a中b [SEP] a[SEP]b [SEP ] ΑΣ ΑΣ. ſ\u{0}s \u{fffd}b",
            " \n\t\r ",
            "",
        ];
        for text in texts.iter().cycle().take(2 * texts.len()) {
            assert_eq!(counts.count(text, whole).unwrap(), whole(text).unwrap(), "{text:?}");
        }
    }

    #[test]
    fn other_tokenizers_look_beyond_words() {
        let mut tokenizer = bert();
        tokenizer.with_pre_tokenizer(Some(WhitespaceSplit));
        assert!(WordCounts::of(&tokenizer).is_none());
        let mut tokenizer = bert();
        tokenizer.with_normalizer(Some(Lowercase)).unwrap();
        assert!(WordCounts::of(&tokenizer).is_none());
        let mut tokenizer = bert();
        tokenizer.add_tokens([AddedToken::from("a b", false)]).unwrap();
        assert!(WordCounts::of(&tokenizer).is_none());
    }
}
