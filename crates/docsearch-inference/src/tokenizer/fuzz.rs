//! Fuzz targets: texts for each kind of tokenizer. See `docsearch_fuzz`.

use std::sync::LazyLock;

use docsearch_fuzz::{Format, Target, text};

use super::{Tokenizer, WordCounts};

const MAX_TOKENS: usize = 256;

pub(crate) fn targets() -> Vec<Target> {
    vec![Target::new("inference-text", Format::TEXT, embedded_and_counted).up_to(32 * 1024)]
}

/// A text never has more tokens than a graph takes, and can be counted.
fn embedded_and_counted(input: &[u8]) {
    static TOKENIZERS: LazyLock<[Tokenizer; 3]> = LazyLock::new(|| [WORD_PIECES, BYTE_PAIRS, UNIGRAMS].map(read));
    let text = text(input);
    for tokenizer in TOKENIZERS.iter() {
        let count = tokenizer.count(&text).expect("a token for everything");
        let tokens = tokenizer.encode(&text).expect("special tokens at least").ids.len();
        assert!(tokens <= MAX_TOKENS && (count == 0 || tokens > tokenizer.special_tokens()));
    }
}

fn read(json: &str) -> Tokenizer {
    let inner = tokenizers::Tokenizer::from_bytes(json).expect("a tokenizer");
    Tokenizer {
        words: WordCounts::of(&inner),
        inner,
        max_tokens: MAX_TOKENS,
        special_tokens: 1,
        lowercase: false,
    }
}

/// BERT and its relatives.
const WORD_PIECES: &str = r###"{
  "version": "1.0", "truncation": null, "padding": null,
  "added_tokens": [
    {"id": 1, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}
  ],
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "post_processor": {
    "type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
    "special_tokens": {"[SEP]": {"id": "[SEP]", "ids": [1], "tokens": ["[SEP]"]}}
  },
  "decoder": null,
  "model": {
    "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
    "vocab": {"[UNK]": 0, "[SEP]": 1, "a": 2, "##a": 3, "the": 4, "t": 5, "e": 6, "##e": 7, "1": 8, "##1": 9, "中": 10, ".": 11}
  }
}"###;

/// GPT-2 and RoBERTa: a regular expression splits words, and pairs of bytes are merged.
const BYTE_PAIRS: &str = r#"{
  "version": "1.0", "truncation": null, "padding": null, "added_tokens": [
    {"id": 1, "content": "</s>", "single_word": false, "lstrip": true, "rstrip": false, "normalized": false, "special": true}
  ],
  "normalizer": null,
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
  "post_processor": {
    "type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {"</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}}
  },
  "decoder": null,
  "model": {
    "type": "BPE", "dropout": null, "unk_token": "<unk>", "continuing_subword_prefix": null, "end_of_word_suffix": null,
    "fuse_unk": false, "byte_fallback": false,
    "vocab": {"<unk>": 0, "</s>": 1, "a": 2, "Ã": 3, "©": 4, "Ã©": 5, "aa": 6, "1": 7, "11": 8, "Ġ": 9, "Ġa": 10, "Ã©Ã©": 11, "aaaa": 12},
    "merges": [["a", "a"], ["Ã", "©"], ["Ã©", "Ã©"], ["1", "1"], ["aa", "aa"], ["Ġ", "a"]]
  }
}"#;

/// SentencePiece: the most likely split of a word.
const UNIGRAMS: &str = r#"{
  "version": "1.0", "truncation": null, "padding": null, "added_tokens": [
    {"id": 1, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}
  ],
  "normalizer": {"type": "NFKC"},
  "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
  "post_processor": {
    "type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {"</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}}
  },
  "decoder": null,
  "model": {
    "type": "Unigram", "unk_id": 0, "byte_fallback": false,
    "vocab": [["<unk>", 0.0], ["</s>", 0.0], ["▁", -2.0], ["a", -3.0], ["aa", -3.5], ["é", -4.0], ["1", -4.0], ["中", -5.0]]
  }
}"#;
