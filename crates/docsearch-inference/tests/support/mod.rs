//! What the tests that run a model share.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::env;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use docsearch_inference::{Embedder, ModelInfo, Options, PassageVector, Progress};
use tempfile::TempDir;

/// Longer than anything here takes, on whatever machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// The ONNX Runtime library to test with.
pub(crate) fn runtime() -> PathBuf {
    required("DOCSEARCH_TEST_ORT", "the file libonnxruntime.so")
}

/// The directory of all-MiniLM-L6-v2.
pub(crate) fn model_directory() -> PathBuf {
    required("DOCSEARCH_TEST_MODEL", "the directory of all-MiniLM-L6-v2")
}

fn required(variable: &str, meaning: &str) -> PathBuf {
    env::var_os(variable).map(PathBuf::from).unwrap_or_else(|| {
        panic!("set {variable} to {meaning}; `make test` does so");
    })
}

pub(crate) fn options(threads: usize) -> Options {
    Options {
        runtime: runtime(),
        threads: NonZeroUsize::new(threads).expect("at least one thread"),
        text_limit: PATIENCE,
    }
}

pub(crate) fn info(embedder: &dyn Embedder) -> ModelInfo {
    embedder.describe().expect("a loaded model").info
}

/// The vectors of `texts`, in their order.
pub(crate) fn embed_all(embedder: &dyn Embedder, texts: &[String]) -> Vec<Vec<f32>> {
    let mut vectors = vec![Vec::new(); texts.len()];
    let mut batch = embedder.embed_passages(texts.to_vec()).expect("workers start");
    loop {
        match batch.next_timeout(PATIENCE).expect("workers answer") {
            Progress::Embedded(PassageVector { index, vector }) => vectors[index] = vector,
            Progress::Pending => panic!("no vector in time"),
            Progress::Finished => return vectors,
        }
    }
}

/// A model of two dimensions and six words, see `fixtures/token_embeddings.py`: mean pooling, no
/// normalisation, no prefixes, 8 tokens.
pub(crate) struct TinyModel {
    directory: TempDir,
}

impl TinyModel {
    pub(crate) fn new() -> Self {
        let tiny = Self {
            directory: TempDir::new().expect("a temporary directory"),
        };
        let graph = include_bytes!("../fixtures/token_embeddings.onnx");
        tiny.write("onnx/model.onnx", graph);
        tiny.write("tokenizer.json", TOKENIZER);
        tiny.write("config.json", r#"{"max_position_embeddings": 8}"#);
        tiny.modules(&["Transformer", "Pooling"]);
        tiny.pooling("mean_tokens");
        tiny
    }

    /// A model whose tokenizer takes for ever for [`slow_word`].
    pub(crate) fn slow() -> Self {
        let tiny = Self::new();
        tiny.write("tokenizer.json", SLOW_TOKENIZER);
        tiny
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file in the directory"))
            .and_then(|()| fs::write(path, contents))
            .expect("a writable directory");
    }

    pub(crate) fn modules(&self, classes: &[&str]) {
        let modules: Vec<String> = classes
            .iter()
            .enumerate()
            .map(|(number, class)| {
                let path = match *class {
                    "Transformer" => String::new(),
                    _ => format!("{number}_{class}"),
                };
                format!(r#"{{"path": "{path}", "type": "sentence_transformers.models.{class}"}}"#)
            })
            .collect();
        self.write("modules.json", format!("[{}]", modules.join(",")));
    }

    pub(crate) fn pooling(&self, mode: &str) {
        self.write(
            "1_Pooling/config.json",
            format!(r#"{{"word_embedding_dimension": 2, "pooling_mode_{mode}": true}}"#),
        );
    }
}

/// A word that takes [`TinyModel::slow`] practically for ever.
pub(crate) fn slow_word() -> String {
    "x".repeat(100_000)
}

/// Each letter of a word is a token, found only after all longer parts of the word were looked up.
const SLOW_TOKENIZER: &str = r###"{
  "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
  "pre_tokenizer": {"type": "WhitespaceSplit"},
  "post_processor": {
    "type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]
  },
  "decoder": null,
  "model": {
    "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 1000000,
    "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "x": 4, "##x": 5, "infinite": 6}
  }
}"###;

/// The tokenizer of [`TinyModel`], for the tokens of a text alone.
pub(crate) fn without_special_tokens() -> String {
    let mut tokenizer: serde_json::Value = serde_json::from_str(TOKENIZER).expect("JSON");
    tokenizer["post_processor"] = serde_json::Value::Null;
    tokenizer.to_string()
}

const TOKENIZER: &str = r#"{
  "version": "1.0",
  "truncation": null,
  "padding": {
    "strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null,
    "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"
  },
  "added_tokens": [],
  "normalizer": null,
  "pre_tokenizer": {"type": "WhitespaceSplit"},
  "post_processor": {
    "type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]
  },
  "decoder": null,
  "model": {
    "type": "WordLevel", "unk_token": "[UNK]",
    "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "red": 4, "green": 5, "infinite": 6}
  }
}"#;
