//! Stored vectors, compared with those that the model gives now.

use docsearch_core::rank::cosine;
use std::collections::HashMap;

use crate::administration::check::{CheckScope, Finding, Mend, counted};
use crate::indexing::embedding;
use crate::models::{embedder, trial};
use crate::postgres::report::{Result, internal};
use crate::tables::vectors::VectorTable;

/// Projects with vectors that another processor or another library has computed, with the same files. A search
/// compares them with those of queries, which are computed here.
pub(super) fn differing(checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (place, project) in checked.projects.iter().enumerate() {
        if project.model.remote || !VectorTable::exists(&project.model) {
            continue;
        }
        // What keeps a model from running, and other files, are found by another check.
        let model = embedder::of_row(&project.model);
        let Ok(model) = model.and_then(|model| Ok((embedder::describe(model.as_ref())?, model))) else {
            continue;
        };
        let (description, model) = model;
        if description.digest != project.model.digest {
            continue;
        }
        let (chunks, stored): (Vec<_>, Vec<_>) = embedding::sample(project)?.into_iter().unzip();
        let stored: HashMap<_, _> = chunks.iter().map(|chunk| chunk.id).zip(stored).collect();
        let mut differing = 0;
        embedding::embed(model.as_ref(), &chunks, |chunk, vector| {
            let vector: Vec<f32> = vector?;
            let is_same = |stored: &Vec<f32>| cosine(stored, &vector) >= trial::SAME;
            differing += usize::from(!stored.get(&chunk.id).is_some_and(is_same));
            Ok(())
        })?;
        if differing > 0 {
            findings.push(Finding {
                problem: "vectors differ",
                object: project.name.clone(),
                detail: format!(
                    "model \"{}\" gives other vectors here for {differing} of {} tried",
                    project.model.name,
                    counted(i64::try_from(chunks.len()).map_err(internal)?, "chunk")
                ),
                mend: Mend::EmbedAgain { project: place },
            });
        }
    }
    Ok(findings)
}
