//! Fuzz targets: answers of endpoints.

use docsearch_fuzz::{Format, Target, text};

use super::{chat, embeddings, http};

pub(crate) const TARGETS: &[Target] = &[
    Target::new("inference-embeddings-reply", Format::REPLY, embeddings),
    Target::new("inference-chat-reply", Format::REPLY, chat),
    Target::new("inference-refusal", Format::REPLY, refusals),
];

fn embeddings(input: &[u8]) {
    for (dimension, count) in [(Some(3), 2), (None, 2), (None, 1), (None, 0)] {
        let Ok(vectors) = embeddings::read(input, dimension, count) else {
            continue;
        };
        assert_eq!(vectors.len(), count);
        for vector in vectors {
            assert!(dimension.is_none_or(|dimension| vector.len() == dimension));
            let length: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
            assert!((length - 1.0).abs() < 1e-3, "of length {length}");
        }
    }
}

fn chat(input: &[u8]) {
    if let Ok(answer) = chat::read(input) {
        assert!(answer.text.len() <= 3 * input.len());
    }
}

fn refusals(input: &[u8]) {
    assert!(http::error_text(input, None).is_none_or(|text| !text.contains(char::is_control)));
    http::pause(&text(input));
}
