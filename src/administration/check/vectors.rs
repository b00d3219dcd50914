//! Compares stored vectors with those that the model computes now.

use docsearch_core::values::bounds::counted;
use docsearch_core::values::cosine::cosine;
use std::collections::HashMap;

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::indexing::embedding;
use crate::models::{embedder, trial};
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Owner;
use crate::tables::project::Project;
use crate::tables::vectors::VectorTable;

/// Most chunks at each end of a project whose texts are embedded, and about as many in all projects: embedding takes some
/// 5 ms.
const AT_EACH_END: usize = 4;
const IN_ALL: usize = 500;

/// Projects whose vectors another processor or library computed from the same files. A search compares them with
/// vectors of queries, which this server computes.
pub(super) fn differing(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let at_each_end = (IN_ALL / checked.projects.len().max(1)).clamp(1, AT_EACH_END);
    for (index, project) in checked.projects.iter().enumerate() {
        if project.model.remote || !VectorTable::exists(&project.model) || !has_its_files(owner, project) {
            continue;
        }
        let model = &project.model.name;
        let finding = match compare(owner, project, at_each_end) {
            Ok((0, _)) => continue,
            Ok((differing, sampled)) => Finding {
                problem: "vectors differ",
                object: project.name.clone(),
                detail: format!(
                    "model \"{model}\" computes other vectors on this server for {differing} of {}",
                    counted(i64::try_from(sampled).map_err(internal)?, "chunk")
                ),
                repair: Repair::EmbedAgain { project: index },
            },
            Err(problem) => Finding {
                problem: "model unusable",
                object: model.clone(),
                detail: problem.message().to_owned(),
                repair: Repair::Manual(problem.hint().unwrap_or("The server log says more.").to_owned()),
            },
        };
        findings.push(finding);
    }
    Ok(findings)
}

/// Whether the model runs, and has the files of the stored vectors; if not, the check of models reports it.
fn has_its_files(owner: &mut Owner<'_>, project: &Project) -> bool {
    let described = embedder::of_row(owner, &project.model).and_then(|model| embedder::describe(model.as_ref()));
    described.is_ok_and(|description| description.digest == project.model.digest)
}

/// Of a sample of chunks, how many vectors differ, and the size of the sample.
fn compare(owner: &mut Owner<'_>, project: &Project, at_each_end: usize) -> Result<(usize, usize)> {
    let at_each_end = i64::try_from(at_each_end).map_err(internal)?;
    let (chunks, stored): (Vec<_>, Vec<_>) = embedding::sample(owner, project, at_each_end)?.into_iter().unzip();
    let stored: HashMap<_, _> = chunks.iter().map(|chunk| chunk.id).zip(stored).collect();
    let model = embedder::of_row(owner, &project.model)?;
    let mut differing = 0;
    embedding::embed(model.as_ref(), &chunks, |chunk, vector| {
        let vector: Vec<f32> = vector?;
        let is_same = |stored: &Vec<f32>| cosine(stored, &vector) >= trial::MIN_SAME_SIMILARITY;
        differing += usize::from(!stored.get(&chunk.id).is_some_and(is_same));
        Ok(())
    })?;
    Ok((differing, chunks.len()))
}
