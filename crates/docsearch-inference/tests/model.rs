//! The bundled model, all-MiniLM-L6-v2.

mod support;

use docsearch_inference::{Embedder, Model, Pooling};
use support::{embed_all, info, model_directory, options};

fn load(threads: usize) -> Model {
    Model::load(&model_directory(), &options(threads)).expect("a valid model and library")
}

/// Texts of 1 to about 400 tokens, in several scripts.
fn texts() -> Vec<String> {
    let words = [
        "Button",
        "view",
        "данные",
        "検索",
        "Vec<f32>",
        "naïve",
        "--flag",
        "a.b.c",
        "the",
    ];
    (1..=24)
        .map(|length| {
            (0..length * length / 4 + 1)
                .map(|position| words[(position * 7 + length) % words.len()])
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

fn bits(vectors: &[Vec<f32>]) -> Vec<Vec<u32>> {
    let bits = |vector: &Vec<f32>| vector.iter().map(|value| value.to_bits()).collect();
    vectors.iter().map(bits).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn its_files_describe_it() {
    let model = load(1);
    let info = info(&model);
    assert_eq!(info.dimension, 384);
    assert_eq!(info.max_tokens, 256);
    assert_eq!(info.passage_tokens, 254);
    assert_eq!(info.pooling, Some(Pooling::Mean));
    assert!(info.normalized);
}

#[test]
fn a_text_has_the_same_vector_bit_for_bit_whatever_is_embedded_with_it() {
    let model = load(3);
    let texts = texts();
    let alone: Vec<Vec<f32>> = texts
        .iter()
        .map(|text| model.embed_query(text).expect("a vector"))
        .collect();
    let together = embed_all(&model, &texts);
    let mut reversed: Vec<String> = texts.clone();
    reversed.reverse();
    let mut in_reverse = embed_all(&model, &reversed);
    in_reverse.reverse();

    assert_eq!(bits(&together), bits(&alone));
    assert_eq!(bits(&in_reverse), bits(&alone));
}

#[test]
fn vectors_have_length_one_and_near_vectors_are_similar_texts() {
    let model = load(1);
    let [query, near, far] = [
        "How do I show a picture from the internet?",
        "AsyncImage loads an image from a URL and displays it.",
        "VACUUM reclaims storage occupied by dead tuples.",
    ]
    .map(|text| model.embed_query(text).expect("a vector"));

    assert!((dot(&query, &query) - 1.0).abs() < 1e-5);
    assert!(dot(&query, &near) > dot(&query, &far) + 0.2);
}

#[test]
fn tokens_are_counted_without_special_ones_and_without_a_limit() {
    let model = load(1);
    let tokenizer = model.tokenizer().expect("a loaded model");
    let count = |text: &str| tokenizer.count(text).expect("a count");
    assert_eq!(count(""), 0);
    assert_eq!(count("hello world"), 2);
    // hugging ##face
    assert_eq!(count("huggingface"), 2);

    let paragraph = texts().join("\n");
    assert_eq!(count(&format!("{paragraph}\n").repeat(50)), 50 * count(&paragraph));
}

#[test]
fn only_the_first_tokens_of_a_long_text_count() {
    let model = load(1);
    let long = "word ".repeat(200_000);
    let shortened = "word ".repeat(info(&model).passage_tokens);
    assert_eq!(
        model.embed_query(&long).expect("a vector"),
        model.embed_query(&shortened).expect("a vector")
    );
    assert_ne!(
        model.embed_query(&long).expect("a vector"),
        model.embed_query("word").expect("a vector")
    );
}
