//! Counts tokens word by word, with a cache of the counts.

use std::collections::HashMap;
use std::sync::Mutex;

use tokenizers::{ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

use crate::error::Result;
use crate::lock::lock;

/// Characters that BERT's normaliser and splitter both treat as a boundary, whatever surrounds them.
const WORD_SEPARATORS: [char; 4] = [' ', '\n', '\t', '\r'];
/// Longer words rarely repeat.
const MAX_WORD_BYTES: usize = 64;
/// Maximum number of cached words: some megabytes.
const MAX_WORDS: usize = 50_000;

/// Cache of the token counts of words.
#[derive(Debug)]
pub(crate) struct WordCounts {
    known: Mutex<HashMap<Box<str>, usize>>,
    /// First characters of words that are one token as a whole, such as the bracket of `[SEP]`.
    guarded: Vec<char>,
}

impl WordCounts {
    /// `None` unless the count of a text is the sum of the counts of its words, as with BERT.
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
            .all(|token| !(token.lstrip || token.rstrip || token.content.contains(WORD_SEPARATORS)));
        let guarded = added.values().filter_map(|token| token.content.chars().next());
        (is_bert && is_plain).then(|| Self {
            known: Mutex::default(),
            guarded: guarded.collect(),
        })
    }

    /// The tokens of `text`; `count` counts those of a word.
    pub(crate) fn count(&self, text: &str, count: impl Fn(&str) -> Result<usize>) -> Result<usize> {
        let mut known = lock(&self.known);
        let mut word_tokens = |word: &str| {
            if let Some(tokens) = known.get(word) {
                return Ok(*tokens);
            }
            let tokens = count(word)?;
            if known.len() >= MAX_WORDS {
                known.clear();
            }
            if word.len() <= MAX_WORD_BYTES {
                known.insert(word.into(), tokens);
            }
            Ok(tokens)
        };
        let mut sum = 0;
        for word in text.split(WORD_SEPARATORS).filter(|word| !word.is_empty()) {
            if !self.splits_at_punctuation(word) {
                sum += word_tokens(word)?;
                continue;
            }
            sum += word.bytes().filter(u8::is_ascii_punctuation).count();
            for part in word.split(|c: char| c.is_ascii_punctuation()) {
                if !part.is_empty() {
                    sum += word_tokens(part)?;
                }
            }
        }
        Ok(sum)
    }

    /// Whether each punctuation character of the word is one token and separates the parts around it. Words of code are
    /// rarely equal, but their parts are.
    fn splits_at_punctuation(&self, word: &str) -> bool {
        word.bytes().all(|byte| byte.is_ascii_graphic()) && !word.contains(self.guarded.as_slice())
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
            "a(b).ab[a]; x=`ab`||'b'\\n ~~ab~~ a_b ab. a.b:c/a?b&a#ab {a: \"b\"} [SEP].a b\u{1}a <b>$a",
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

    proptest::proptest! {
        #[test]
        fn parts_of_any_text_add_up_to_it(text in "([ab]{1,3}|[ -~]|\\[SEP\\]|[\\PC]){0,24}") {
            let tokenizer = bert();
            let whole = |text: &str| Ok(tokenizer.encode_fast(text, false).unwrap().len());
            let counts = WordCounts::of(&tokenizer).unwrap();
            proptest::prop_assert_eq!(counts.count(&text, whole).unwrap(), whole(&text).unwrap());
        }
    }
}
