//! Models whose files changed, and the tables of their vectors.

use crate::administration::check::{CheckScope, Finding, Mend};
use crate::models::{embedder, files};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::tables::model;

pub(super) fn models(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for row in checked.models(owner)?.into_iter().filter(|row| row.used) {
        if row.remote {
            // No endpoint is contacted here: docsearch.test_model() does that.
            let row_of_model = model::by_id(owner, row.id);
            let problem = row_of_model.and_then(|row| embedder::of_row(owner, &row)).err();
            findings.extend(problem.map(|problem| Finding {
                problem: "model unusable",
                object: row.name,
                detail: problem.message().to_owned(),
                mend: Mend::ByHand(problem.hint().unwrap_or("The server log says more.").to_owned()),
            }));
            continue;
        }
        let described = embedder::open_directory(&row.name, &row.directory, None)
            .and_then(|model| embedder::describe(model.as_ref()));
        let found = match described {
            Err(problem) => {
                let advice = if files::is_missing(&row.directory) {
                    let name = &row.directory;
                    format!("Put directory \"{name}\" with the model's files back below docsearch.model_directory.")
                } else {
                    problem.hint().unwrap_or("The server log says more.").to_owned()
                };
                Some(("model unusable", problem.message().to_owned(), advice))
            }
            Ok(known) if i32::try_from(known.info.dimension) != Ok(row.dimension) => Some((
                "model changed",
                format!(
                    "its vectors have {} components, not {}",
                    known.info.dimension, row.dimension
                ),
                FORMER_FILES.to_owned(),
            )),
            Ok(known) if known.digest != row.digest => Some((
                "model changed",
                format!("its files have the digest {}, not {}", known.digest, row.digest),
                FORMER_FILES.to_owned(),
            )),
            Ok(_) => None,
        };
        findings.extend(found.map(|(problem, detail, advice)| Finding {
            problem,
            object: row.name,
            detail,
            mend: Mend::ByHand(advice),
        }));
    }
    Ok(findings)
}

const FORMER_FILES: &str = "Put the former files back and call docsearch.restart_inference(), \
                            or add them as another model and call docsearch.set_model().";

pub(super) fn vector_tables(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let findings = checked.models(owner)?.into_iter().filter_map(|row| {
        let object = format!("docsearch.vector_{}", row.id);
        if !row.has_table && !row.used {
            return None;
        }
        if !row.has_table {
            return Some(Finding {
                problem: "table missing",
                detail: format!("vectors of model \"{}\"", row.name),
                object,
                mend: Mend::VectorTable(row.id),
            });
        }
        let stored = row.stored_dimension.filter(|&stored| stored != row.dimension)?;
        Some(Finding {
            problem: "wrong dimension",
            detail: format!("vectors of {stored} components, the model has {}", row.dimension),
            mend: Mend::ByHand(format!(
                "To make them anew: DROP TABLE {object}; SELECT * FROM docsearch.repair()"
            )),
            object,
        })
    });
    Ok(findings.collect())
}
