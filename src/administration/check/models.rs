//! Models whose files changed, and their tables of vectors.

use crate::administration::check::{CheckScope, Finding, Repair};
use crate::models::{embedder, files};
use crate::postgres::report::Result;
use crate::postgres::role::Owner;
use crate::tables::model;

pub(super) fn models(owner: &mut Owner<'_>, checked: &CheckScope) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for row in checked.models(owner)?.into_iter().filter(|row| row.used) {
        if row.remote {
            // Does not call the endpoint: docsearch.test_model() does.
            let stored = model::by_id(owner, row.id);
            let problem = stored.and_then(|row| embedder::of_row(owner, &row)).err();
            findings.extend(problem.map(|problem| Finding {
                problem: "model unusable",
                object: row.name,
                detail: problem.message().to_owned(),
                repair: Repair::Manual(problem.hint().unwrap_or("The server log says more.").to_owned()),
            }));
            continue;
        }
        let described = embedder::open_directory(&row.name, &row.directory, None)
            .and_then(|model| embedder::describe(model.as_ref()));
        let found = match described {
            Err(problem) => {
                let advice = if files::is_missing(&row.directory) {
                    let name = &row.directory;
                    format!("Restore directory \"{name}\" with the model's files below docsearch.model_directory.")
                } else {
                    problem.hint().unwrap_or("The server log says more.").to_owned()
                };
                Some(("model unusable", problem.message().to_owned(), advice))
            }
            Ok(known) if i32::try_from(known.info.dimension) != Ok(row.dimension) => Some((
                "model changed",
                format!(
                    "its vectors have {} dimensions, not {}",
                    known.info.dimension, row.dimension
                ),
                RESTORE_FILES.to_owned(),
            )),
            Ok(known) if known.digest != row.digest => Some((
                "model changed",
                format!("its files have the digest {}, not {}", known.digest, row.digest),
                RESTORE_FILES.to_owned(),
            )),
            Ok(_) => None,
        };
        findings.extend(found.map(|(problem, detail, advice)| Finding {
            problem,
            object: row.name,
            detail,
            repair: Repair::Manual(advice),
        }));
    }
    Ok(findings)
}

const RESTORE_FILES: &str = "Restore the previous files and call docsearch.restart_inference(), \
                            or add the new files as another model and call docsearch.set_model().";

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
                repair: Repair::CreateVectorTable(row.id),
            });
        }
        let stored = row.stored_dimension.filter(|&stored| stored != row.dimension)?;
        Some(Finding {
            problem: "wrong dimension",
            detail: format!("vectors of {stored} dimensions; the model has {}", row.dimension),
            repair: Repair::Manual(format!(
                "To compute them again: DROP TABLE {object}; SELECT * FROM docsearch.repair()"
            )),
            object,
        })
    });
    Ok(findings.collect())
}
