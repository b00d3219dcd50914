//! A model's tokenizer: token ids for a graph, and token counts for splitting texts.

#[cfg(test)]
pub(crate) mod fuzz;

use std::borrow::Cow;
use std::path::Path;

use tokenizers::{PostProcessor, TruncationDirection};

use crate::directory::{ModelDirectory, read_file};
use crate::error::{Error, Result};
use crate::word_counts::WordCounts;

/// Bytes that are tokenised at once, since the library stores offsets for each byte.
const PIECE_BYTES: usize = 8192;

/// Maximum number of bytes of a text that are read to embed it: far more than a model takes, and few enough for one
/// message to another process.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// The part of `text` that is read to embed it.
pub(crate) fn leading_part(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]
}

/// A model's own tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    max_tokens: usize,
    special_tokens: usize,
    lowercase: bool,
    words: Option<WordCounts>,
}

/// The tokens of one text as a graph takes them, special tokens included.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TokenIds {
    pub(crate) ids: Vec<i64>,
    pub(crate) type_ids: Vec<i64>,
}

impl Tokenizer {
    /// The tokenizer of the model in `directory`, without the model.
    ///
    /// # Errors
    /// Those of [`Model::load`](crate::Model::load) that concern its configuration and
    /// `tokenizer.json`.
    pub fn load(directory: &Path) -> Result<Self> {
        Self::read(&ModelDirectory::read(directory)?)
    }

    pub(crate) fn read(directory: &ModelDirectory) -> Result<Self> {
        // Its worker threads would live as long as the process, with the signal mask of the first caller.
        tokenizers::utils::parallelism::set_parallelism(false);
        let path = &directory.tokenizer;
        let mut inner = tokenizers::Tokenizer::from_bytes(read_file(path)?).map_err(|error| Error::FileCorrupt {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        inner.with_padding(None);
        inner.with_truncation(None).map_err(failed)?;
        let special_tokens = inner
            .get_post_processor()
            .map_or(0, |processor| processor.added_tokens(false));
        if directory.max_tokens <= special_tokens {
            return Err(Error::Inconsistent {
                path: path.clone(),
                reason: format!(
                    "it adds {special_tokens} special tokens, the model takes {} tokens in all",
                    directory.max_tokens
                ),
            });
        }
        Ok(Self {
            words: WordCounts::of(&inner),
            inner,
            max_tokens: directory.max_tokens,
            special_tokens,
            lowercase: directory.lowercase,
        })
    }

    /// Maximum number of tokens of one text, including special tokens. The rest is truncated.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Number of special tokens that the model adds to each text.
    pub fn special_tokens(&self) -> usize {
        self.special_tokens
    }

    /// Number of tokens of `text`, without special tokens and truncation.
    ///
    /// Time and memory are linear in the text's length. A run of more than 8 kB without white space may count one token
    /// too many.
    ///
    /// # Errors
    /// [`Error::Run`] if the tokenizer has no token for a part of the text, not even an unknown one.
    pub fn count(&self, text: &str) -> Result<usize> {
        let count = |text: &str| pieces(text).map(|piece| Ok(self.tokens(piece)?.len())).sum();
        match &self.words {
            Some(words) => words.count(text, count),
            None => count(text),
        }
    }

    /// The tokens of `text`, truncated to what the model takes. Reads at most [`MAX_TEXT_BYTES`].
    pub(crate) fn encode(&self, text: &str) -> Result<TokenIds> {
        let text = leading_part(text);
        let room = self.max_tokens - self.special_tokens;
        let mut encoding = self.leading_tokens(text, room)?;
        encoding.truncate(room, 0, TruncationDirection::Right);
        let encoding = self.inner.post_process(encoding, None, true).map_err(failed)?;
        if encoding.is_empty() {
            return Err(Error::NoTokens);
        }
        Ok(TokenIds {
            ids: widened(encoding.get_ids()),
            type_ids: widened(encoding.get_type_ids()),
        })
    }

    /// The tokens of a prefix of `text` that has more than `count` tokens, or of all of it.
    fn leading_tokens(&self, text: &str, count: usize) -> Result<tokenizers::Encoding> {
        let mut encoding = tokenizers::Encoding::default();
        for beginning in beginnings(text) {
            encoding = self.tokens(beginning)?;
            if encoding.len() > count {
                break;
            }
        }
        Ok(encoding)
    }

    fn tokens(&self, text: &str) -> Result<tokenizers::Encoding> {
        let text = if self.lowercase {
            Cow::Owned(text.to_lowercase())
        } else {
            Cow::Borrowed(text)
        };
        self.inner.encode_fast(text, false).map_err(failed)
    }
}

fn failed(error: tokenizers::Error) -> Error {
    Error::Run {
        reason: error.to_string(),
    }
}

fn widened(ids: &[u32]) -> Vec<i64> {
    ids.iter().copied().map(i64::from).collect()
}

/// Splits `text` before white space into pieces of at most [`PIECE_BYTES`].
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, tail) = rest.split_at(next_cut(rest, 0, PIECE_BYTES));
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Prefixes of `text` of growing length, up to all of it. Together they are less than five times as long.
fn beginnings(text: &str) -> impl Iterator<Item = &str> {
    let first = next_cut(text, 0, PIECE_BYTES);
    let ends = std::iter::successors(Some(first), |&end| {
        (end < text.len()).then(|| next_cut(text, end, end.max(PIECE_BYTES)))
    });
    ends.map(|end| &text[..end])
}

/// Where to end a piece of at most `most` bytes from `start`: the end of `text`, else before the last white space, else
/// at the last character boundary. It is after `start` unless `text` ends there: `most` has room for a character.
fn next_cut(text: &str, start: usize, most: usize) -> usize {
    debug_assert!(most >= char::MAX.len_utf8());
    if text.len() - start <= most {
        return text.len();
    }
    let end = text.floor_char_boundary(start + most);
    match text[start..end].rfind(char::is_whitespace) {
        None | Some(0) => end,
        Some(at) => start + at,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pieces_are_bounded_cut_at_white_space_and_lose_nothing() {
        let text = "word ".repeat(5000) + &"é".repeat(PIECE_BYTES) + " end";
        let pieces: Vec<&str> = pieces(&text).collect();

        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES));
        assert!(pieces[1].starts_with(" word") && pieces[1].ends_with("word"));
    }

    #[test]
    fn a_text_that_begins_with_its_only_white_space_is_still_cut() {
        let text = " ".to_owned() + &"x".repeat(2 * PIECE_BYTES);
        assert_eq!(pieces(&text).map(str::len).sum::<usize>(), text.len());
    }

    proptest! {
        /// With and without white space.
        #[test]
        fn beginnings_grow_until_they_are_the_text(
            parts in prop::collection::vec(("[ \n\u{3000}]|[tあ한กé😀ا]", 1..9_000_usize), 0..8),
        ) {
            let text: String = parts.iter().map(|(unit, times)| unit.repeat(*times)).collect();
            let lengths: Vec<usize> = beginnings(&text).map(str::len).collect();
            prop_assert!(lengths.is_sorted_by(|shorter, longer| shorter < longer), "{lengths:?}");
            prop_assert_eq!(lengths.last(), Some(&text.len()));
            prop_assert!(lengths.iter().sum::<usize>() <= 5 * text.len());
            prop_assert_eq!(pieces(&text).collect::<String>(), text);
        }
    }
}
