//! Reads what searches of a project read, so that the first ones do not wait for the disk and for the model.

use pgrx::PgSqlErrorCode;
use pgrx::datum::DatumWithOid;

use crate::models::embedder;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, inference, warn};
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::search::query_vector::shown_reason;
use crate::tables::project::Project;
use crate::tables::schema::Part;
use crate::tables::vectors::VectorTable;

/// A text that no cache has to have.
const TEXT: &str = "warm";

/// Reads the rows of a project and loads its model. What every search reads comes last: if the memory of the server is too
/// small for all, this stays in it.
pub(crate) fn warm(caller: &mut Caller, project: &Project) -> Result<()> {
    let argument = || [DatumWithOid::from(project.id)];
    // Who may not read documents has no search to prepare.
    statement::one(
        caller,
        "SELECT FROM docsearch.document d WHERE d.project_id = $1 LIMIT 1",
        &argument(),
        |_| Ok(()),
    )?;
    if let Err(problem) = load(caller, project) {
        let reason = shown_reason(&project.model, &problem);
        let hint = "Until it can be, searches find pages by their words.";
        warn(PgSqlErrorCode::ERRCODE_WARNING, reason, hint);
    }
    let mut reads = vec![
        "SELECT count(*) FROM docsearch.chunk x WHERE x.project_id = $1 AND x.token_count >= 0".to_owned(),
        "SELECT count(*) FROM docsearch.document x WHERE x.project_id = $1 AND x.chunk_count >= 0".to_owned(),
        "SELECT count(x.key) FROM docsearch.document_name x WHERE x.project_id = $1".to_owned(),
        "SELECT sum(x.chunks) FROM docsearch.term_stat x WHERE x.project_id = $1".to_owned(),
    ];
    if VectorTable::exists(&project.model) {
        reads.push(format!(
            "SELECT count(x.embedding) FROM {} x WHERE x.project_id = $1",
            project.model.vector_table()
        ));
    }
    if Part::VectorCodes.exists() {
        reads.push("SELECT sum(octet_length(x.bytes)) FROM docsearch.vector_code x WHERE x.project_id = $1".to_owned());
    }
    if Part::Centroids.exists() {
        let all = "x.project_id = $1 AND x.centroid IS NOT NULL";
        reads.push(format!(
            "SELECT sum(octet_length(x.centroid)) FROM docsearch.vector_code x WHERE {all}"
        ));
    }
    if Part::Postings.exists() {
        reads.push("SELECT sum(octet_length(x.bytes)) FROM docsearch.posting x WHERE x.project_id = $1".to_owned());
    }
    // Scans of whole tables would leave the memory of the server at once, and read other projects.
    let _settings = LocalSettings::by_index()?;
    let owner = &caller.as_owner()?;
    for read in reads {
        statement::one(owner, &read, &argument(), |_| Ok(()))?;
    }
    Ok(())
}

fn load(caller: &mut Caller, project: &Project) -> Result<()> {
    // A provider may charge for a text.
    if project.model.remote {
        return Ok(());
    }
    let model = embedder::of_row(caller, &project.model)?;
    model
        .embed_query(TEXT)
        .map(|_| ())
        .map_err(|failure| inference(&failure))
}
