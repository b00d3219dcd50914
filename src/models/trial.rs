//! Trying out a model before it is registered.

use docsearch_inference::Embedder;
use pgrx::prelude::*;

use crate::models::batch;
use crate::postgres::report::{Result, error_with_hint, inference, warn};

/// Least cosine similarity of two vectors of the same text. An endpoint may compute in another order.
const SAME: f32 = 0.999;

/// The cosine similarity of unrelated texts, after the self-test.
pub(crate) fn try_out(name: &str, model: &dyn Embedder, dimension: usize) -> Result<f32> {
    if !self_test(name, model, dimension)? {
        warn(
            PgSqlErrorCode::ERRCODE_WARNING,
            format!("model \"{name}\" puts texts that say the same further apart than others"),
            "Check that the graph, pooling and the tokenizer fit together.",
        );
    }
    background(model)
}

/// Embeds texts to see that vectors are of one length and the same for the same text; whether they are
/// nearer for texts that say the same.
fn self_test(name: &str, model: &dyn Embedder, dimension: usize) -> Result<bool> {
    const TEXTS: [&str; 4] = [
        "How do I delete a file?",
        "Remove files with the command rm.",
        "How do I delete a file?",
        "The orchestra tunes before the concert begins.",
    ];
    let texts = TEXTS.map(str::to_owned).to_vec();
    let mut vectors = vec![Vec::new(); TEXTS.len()];
    let mut batch = model.embed_passages(texts).map_err(|failure| inference(&failure))?;
    while let Some((place, vector)) = batch::next_vector(batch.as_mut())? {
        vectors[place] = vector?;
    }
    let near = |a: usize, b: usize| docsearch_core::rank::cosine(&vectors[a], &vectors[b]);
    let problem = if vectors.iter().any(|vector| vector.len() != dimension) {
        "its vectors differ in length"
    } else if near(0, 2) < SAME {
        "the same text has two vectors"
    } else {
        return Ok(near(0, 1) > near(0, 3));
    };
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_EXTERNAL_ROUTINE_EXCEPTION,
        format!("model \"{name}\" cannot be used: {problem}"),
        "Check how the model was exported.",
    ))
}

/// Mean cosine similarity of sentences that have nothing to do with each other, 0 to 0.9.
fn background(model: &dyn Embedder) -> Result<f32> {
    const UNRELATED: [&str; 8] = [
        "The ferry to the island leaves twice a day in winter.",
        "Create an index concurrently to avoid blocking writes.",
        "She whisked the egg whites until they formed stiff peaks.",
        "The enzyme is inhibited by high concentrations of calcium.",
        "Press the button to show the next page of the form.",
        "The treaty was signed after eleven years of negotiations.",
        "A tenor saxophone plays the melody over a walking bass.",
        "Tighten the bolts crosswise before you lower the car.",
    ];
    let vectors: Vec<Vec<f32>> = UNRELATED
        .iter()
        .map(|text| model.embed_query(text).map_err(|failure| inference(&failure)))
        .collect::<Result<_>>()?;
    let mut similarities = Vec::new();
    for (i, a) in vectors.iter().enumerate() {
        for b in &vectors[i + 1..] {
            similarities.push(docsearch_core::rank::cosine(a, b));
        }
    }
    let mean = similarities.iter().sum::<f32>() / similarities.len() as f32;
    Ok(mean.clamp(0.0, 0.9))
}
