//! The files of a model directory and their effect on vectors, with a graph computed by hand.

mod support;

use docsearch_inference::{Embedder, Error, Model, Result};
use support::{TinyModel, embed_all, info, options, without_special_tokens};

fn load(tiny: &TinyModel) -> Result<Model> {
    Model::load(tiny.path(), &options(1))
}

fn vector(tiny: &TinyModel, text: &str) -> Vec<f32> {
    load(tiny)
        .and_then(|model| model.embed_query(text))
        .expect("a valid model")
}

fn refusal(tiny: &TinyModel) -> Error {
    load(tiny).err().expect("an invalid model")
}

#[test]
fn token_embeddings_are_pooled_as_the_directory_says() {
    // [CLS] red [SEP] is [1, 0], [11, 6], [0, 3].
    for (mode, expected) in [
        ("mean_tokens", [4.0, 3.0]),
        ("cls_token", [1.0, 0.0]),
        ("lasttoken", [0.0, 3.0]),
        ("max_tokens", [11.0, 6.0]),
    ] {
        let tiny = TinyModel::new();
        tiny.pooling(mode);
        assert_eq!(vector(&tiny, "red"), expected, "{mode}");
    }
}

#[test]
fn pooling_may_be_named_in_one_word() {
    let tiny = TinyModel::new();
    tiny.write(
        "1_Pooling/config.json",
        r#"{"embedding_dimension": 2, "pooling_mode": "cls"}"#,
    );
    assert_eq!(vector(&tiny, "red"), [1.0, 0.0]);
}

#[test]
fn vectors_are_normalized_if_modules_say_so() {
    let tiny = TinyModel::new();
    tiny.modules(&["Transformer", "Pooling", "Normalize"]);
    assert_eq!(vector(&tiny, "red"), [0.8, 0.6]);
}

#[test]
fn queries_and_passages_get_their_own_prefix() {
    let tiny = TinyModel::new();
    tiny.write(
        "config_sentence_transformers.json",
        r#"{"prompts": {"query": "green ", "document": "red "}, "default_prompt_name": null}"#,
    );
    let model = load(&tiny).expect("a valid model");

    assert_eq!(info(&model).query_prefix, "green ");
    assert_eq!(info(&model).passage_prefix, "red ");
    assert_eq!(info(&model).passage_tokens, 8 - 2 - 1);
    // [CLS] green red [SEP], and [CLS] red red [SEP].
    assert_eq!(model.embed_query("red").expect("a vector"), [4.25, 1.0]);
    assert_eq!(embed_all(&model, &["red".to_owned()]), [[5.75, 3.75]]);
}

#[test]
fn the_end_of_a_long_text_is_cut_off_and_special_tokens_are_kept() {
    let tiny = TinyModel::new();
    tiny.write("sentence_bert_config.json", r#"{"max_seq_length": 4}"#);
    assert_eq!(info(&load(&tiny).expect("a valid model")).max_tokens, 4);
    // [CLS] red red [SEP]
    assert_eq!(vector(&tiny, &"red ".repeat(100_000)), [5.75, 3.75]);
}

#[test]
fn text_is_lowercased_if_the_directory_says_so() {
    let tiny = TinyModel::new();
    assert_ne!(vector(&tiny, "RED"), [4.0, 3.0]);
    tiny.write(
        "sentence_bert_config.json",
        r#"{"max_seq_length": 8, "do_lower_case": true}"#,
    );
    assert_eq!(vector(&tiny, "RED"), [4.0, 3.0]);
}

#[test]
fn an_empty_text_has_a_vector_and_an_infinite_one_is_an_error() {
    let tiny = TinyModel::new();
    assert_eq!(vector(&tiny, ""), [0.5, 1.5]);
    let model = load(&tiny).expect("a valid model");
    assert!(matches!(model.embed_query("infinite"), Err(Error::NotFinite)));
}

#[test]
fn the_digest_changes_only_with_what_determines_vectors() {
    let digest = |tiny: &TinyModel| {
        let model = load(tiny).expect("a valid model");
        model.describe().expect("readable files").digest
    };
    let tiny = TinyModel::new();
    let first = digest(&tiny);
    assert_eq!(first.len(), 64);

    tiny.write("config.json", r#"{"max_position_embeddings": 8, "_name": "x"}"#);
    assert_eq!(digest(&tiny), first);
    tiny.pooling("cls_token");
    assert_ne!(digest(&tiny), first);
}

#[test]
fn a_missing_file_is_named() {
    for name in [
        "config.json",
        "tokenizer.json",
        "modules.json",
        "1_Pooling/config.json",
        "onnx/model.onnx",
    ] {
        let tiny = TinyModel::new();
        std::fs::remove_file(tiny.path().join(name)).expect("the file is there");
        let error = refusal(&tiny);
        assert!(
            matches!(&error, Error::FileMissing { path } if path.ends_with(name)),
            "{error}"
        );
        assert!(error.hint().is_some());
    }
}

#[test]
fn a_corrupt_file_is_named() {
    for name in [
        "config.json",
        "tokenizer.json",
        "modules.json",
        "1_Pooling/config.json",
        "onnx/model.onnx",
    ] {
        let tiny = TinyModel::new();
        tiny.write(name, "\u{0}garbage");
        let error = refusal(&tiny);
        assert!(
            matches!(&error, Error::FileCorrupt { path, .. } if path.ends_with(name)),
            "{error}"
        );
    }
}

#[test]
fn the_graph_may_lie_beside_the_configuration() {
    let tiny = TinyModel::new();
    std::fs::rename(tiny.path().join("onnx/model.onnx"), tiny.path().join("model.onnx")).expect("the file is there");
    assert_eq!(vector(&tiny, "red"), [4.0, 3.0]);
}

#[test]
fn contradictions_are_refused() {
    let tiny = TinyModel::new();
    tiny.write(
        "1_Pooling/config.json",
        r#"{"word_embedding_dimension": 3, "pooling_mode_mean_tokens": true}"#,
    );
    let error = refusal(&tiny);
    assert!(matches!(error, Error::Inconsistent { .. }), "{error}");

    let tiny = TinyModel::new();
    tiny.write("sentence_bert_config.json", r#"{"max_seq_length": 9}"#);
    let error = refusal(&tiny);
    assert!(matches!(error, Error::Inconsistent { .. }), "{error}");

    let tiny = TinyModel::new();
    tiny.write("sentence_bert_config.json", r#"{"max_seq_length": 2}"#);
    let error = refusal(&tiny);
    assert!(matches!(error, Error::Inconsistent { .. }), "{error}");
}

/// On x86 without VNNI, ONNX Runtime by default adds two products of u8 and s8 in 16 bits, which saturates.
#[test]
fn products_of_eight_bit_weights_are_exact_on_every_processor() {
    let tiny = TinyModel::new();
    tiny.write("onnx/model.onnx", include_bytes!("fixtures/eight_bit_weights.onnx"));
    tiny.write(
        "1_Pooling/config.json",
        r#"{"word_embedding_dimension": 6, "pooling_mode_lasttoken": true}"#,
    );
    tiny.write("tokenizer.json", without_special_tokens());
    for (text, value) in [("red", 255.0), ("green", 200.0)] {
        let exact = [127.0, -128.0, 65.0, -65.0, 64.0, -64.0].map(|weight| 64.0 * weight * value);
        assert_eq!(vector(&tiny, text), exact, "{text}");
    }
}

#[test]
fn modules_lie_within_the_directory_of_the_model() {
    let outside = TinyModel::new();
    let elsewhere = outside.path().display().to_string();
    for path in ["..", "../x", "a/../../x", "/etc", &elsewhere] {
        for (transformer, pooling) in [(path, "1_Pooling"), ("", path)] {
            let tiny = TinyModel::new();
            tiny.write(
                "modules.json",
                serde_json::json!([
                    {"path": transformer, "type": "sentence_transformers.models.Transformer"},
                    {"path": pooling, "type": "sentence_transformers.models.Pooling"},
                ])
                .to_string(),
            );
            let error = refusal(&tiny);
            let names_file = matches!(&error, Error::Unsupported { path, .. } if path.ends_with("modules.json"));
            assert!(names_file, "{path}: {error}");
        }
    }
}

#[test]
fn unsupported_models_are_refused_rather_than_approximated() {
    let weighted = TinyModel::new();
    weighted.pooling("weightedmean_tokens");

    let dense = TinyModel::new();
    dense.modules(&["Transformer", "Pooling", "Dense"]);

    let without_pooling = TinyModel::new();
    without_pooling.modules(&["Transformer"]);

    let unlimited = TinyModel::new();
    unlimited.write("config.json", "{}");
    unlimited.write(
        "tokenizer_config.json",
        r#"{"model_max_length": 1000000000000000019884624838656}"#,
    );

    for tiny in [weighted, dense, without_pooling, unlimited] {
        let error = refusal(&tiny);
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    }
}
