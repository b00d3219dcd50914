//! Questions that sections of documents answer, as they are stored. Each is also a chunk.

use docsearch_core::index::question::{self, Question, SectionText, Sections};
use docsearch_core::values::bounds;
use docsearch_core::values::id::{DocumentId, Map};
use pgrx::datum::{DatumWithOid, TimestampWithTimeZone};
use pgrx::pg_sys::panic::ErrorReport;

use crate::postgres::report::{Result, internal, invalid};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::tables::project::Project;
use crate::tables::schema::Part;

/// The source of questions that the author of a document wrote.
pub(crate) const AUTHOR: &str = "author";
/// The source of questions that readers asked.
pub(crate) const READER: &str = "reader";

/// A stored question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredQuestion {
    pub(crate) question: Question,
    pub(crate) source: String,
    pub(crate) section_hash: String,
    pub(crate) stale: bool,
    /// When it was stored; `None` for now.
    created_at: Option<String>,
}

impl StoredQuestion {
    /// Whether a model that reads the section again may replace it.
    pub(crate) fn is_replaceable(&self) -> bool {
        self.stale && self.source.starts_with("model ")
    }
}

/// The error for questions that cannot be used.
pub(crate) fn refused(problem: &question::Problem) -> ErrorReport {
    invalid(format!("questions cannot be used: {problem}"), problem.hint())
}

/// Whether the tables have questions.
pub(crate) fn exist() -> bool {
    Part::Questions.exists()
}

row_type! {
    /// A row of `docsearch.question`.
    struct QuestionRow {
        anchor: String = "q.anchor",
        question: String = "q.question",
        source: String = "q.source",
        section_hash: String = "q.section_hash",
        stale: bool = "q.stale",
        created_at: Option<String> = "q.created_at::text",
    }
}

row_type! {
    /// A question in a list.
    struct ListedRow {
        slug: String = "d.slug",
        anchor: String = "q.anchor",
        question: String = "q.question",
        source: String = "q.source",
        stale: bool = "q.stale",
        created_at: TimestampWithTimeZone = "q.created_at",
    }
}

/// The questions of a document, in order.
pub(crate) fn read(owner: &Owner<'_>, id: DocumentId) -> Result<Vec<StoredQuestion>> {
    if !exist() {
        return Ok(Vec::new());
    }
    statement::rows(
        owner,
        &format!(
            "SELECT {} FROM docsearch.question q WHERE q.project_id = $1 AND q.document_id = $2 ORDER BY q.question_no",
            QuestionRow::select_list()
        ),
        &[DatumWithOid::from(id.project), DatumWithOid::from(id.document)],
        |row| {
            let row = QuestionRow::read(row)?;
            Ok(StoredQuestion {
                question: Question {
                    anchor: row.anchor,
                    question: row.question,
                },
                source: row.source,
                section_hash: row.section_hash,
                stale: row.stale,
                created_at: row.created_at,
            })
        },
    )
}

/// A question with the id of its document, of a row of both.
fn of_document(row: &statement::Row) -> Result<(i64, Question)> {
    let question = Question {
        anchor: row.required(2)?,
        question: row.required(3)?,
    };
    Ok((row.required(1)?, question))
}

/// The questions of one source as they were given, by the ids of their documents.
pub(crate) fn of_documents(
    owner: &Owner<'_>,
    project: i64,
    documents: Vec<i64>,
    source: &str,
) -> Result<Map<i64, Vec<Question>>> {
    let mut questions = Map::<i64, Vec<Question>>::default();
    if documents.is_empty() || !exist() {
        return Ok(questions);
    }
    let stored = statement::latest(
        owner,
        "SELECT q.document_id, q.anchor, q.question FROM docsearch.question q
         WHERE q.project_id = $1 AND q.document_id = ANY ($2) AND q.source = $3 ORDER BY q.document_id, q.question_no",
        &[
            DatumWithOid::from(project),
            DatumWithOid::from(documents),
            DatumWithOid::from(source),
        ],
        of_document,
    )?;
    for (document, question) in stored {
        questions.entry(document).or_default().push(question);
    }
    Ok(questions)
}

/// The questions that sections of documents still answer, by the ids of the documents.
pub(crate) fn answered(owner: &Owner<'_>, project: i64, documents: Vec<i64>) -> Result<Map<i64, Vec<Question>>> {
    let mut questions = Map::<i64, Vec<Question>>::default();
    if !exist() {
        return Ok(questions);
    }
    let stored = statement::rows(
        owner,
        "SELECT q.document_id, q.anchor, q.question FROM docsearch.question q
         WHERE q.project_id = $1 AND q.document_id = ANY ($2) AND NOT q.stale ORDER BY q.document_id, q.question_no",
        &[DatumWithOid::from(project), DatumWithOid::from(documents)],
        of_document,
    )?;
    for (document, question) in stored {
        let known = questions.entry(document).or_default();
        // Several sources may have the same question.
        if !known.contains(&question) {
            known.push(question);
        }
    }
    Ok(questions)
}

/// The questions of one source, as they were given.
pub(crate) fn of_source<'a>(stored: &'a [StoredQuestion], source: &str) -> Vec<&'a Question> {
    let own = stored.iter().filter(|stored| stored.source == source);
    own.map(|stored| &stored.question).collect()
}

/// The questions of a document after those of a source are replaced: these come first, without duplicates. Questions
/// that stay keep their time. Other sources keep their questions, even if equal.
pub(crate) fn replaced(
    stored: Vec<StoredQuestion>,
    given: Vec<Question>,
    source: &str,
) -> std::result::Result<Vec<StoredQuestion>, question::Problem> {
    let (own, others): (Vec<_>, Vec<_>) = stored.into_iter().partition(|stored| stored.source == source);
    let given = question::checked(given)?.into_iter().map(|question| {
        let known = own.iter().find(|known| known.question == question).cloned();
        known.unwrap_or_else(|| StoredQuestion {
            question,
            source: source.to_owned(),
            section_hash: String::new(),
            stale: false,
            created_at: None,
        })
    });
    let all: Vec<StoredQuestion> = given.chain(others).collect();
    question::checked(all.iter().map(|stored| stored.question.clone()))?;
    match all.len() <= question::MAX_QUESTIONS_PER_DOCUMENT {
        true => Ok(all),
        false => Err(question::Problem::ManyOfDocument),
    }
}

/// Whether each source has the same questions in the same order.
pub(crate) fn are_same(some: &[StoredQuestion], others: &[StoredQuestion]) -> bool {
    let by_source = |stored: &[StoredQuestion]| {
        let mut stored = stored.to_vec();
        stored.sort_by(|a, b| a.source.cmp(&b.source));
        stored
    };
    by_source(some) == by_source(others)
}

/// The questions of a document after a source adds some to sections, by anchor. They take the place of replaceable
/// questions of these sections.
pub(crate) fn added(
    mut stored: Vec<StoredQuestion>,
    new: impl IntoIterator<Item = (String, Vec<String>)>,
    source: &str,
) -> std::result::Result<Vec<StoredQuestion>, question::Problem> {
    let mut all = Vec::new();
    for (anchor, questions) in new {
        stored.retain(|stored| stored.question.anchor != anchor || !stored.is_replaceable());
        all.extend(questions.into_iter().map(|question| Question {
            anchor: anchor.clone(),
            question,
        }));
    }
    let kept = stored.iter().filter(|stored| stored.source == source);
    all.extend(kept.map(|stored| stored.question.clone()));
    replaced(stored, all, source)
}

/// The sections that have text and no question that is up to date.
pub(crate) fn missing<'a>(stored: &mut [StoredQuestion], sections: &'a Sections<'_>) -> Vec<SectionText<'a>> {
    compare(stored, sections);
    let fresh = stored.iter().filter(|stored| !stored.stale);
    sections.without(fresh.map(|stored| stored.question.anchor.as_str()))
}

/// Marks questions as stale whose section has changed since or does not exist. New questions belong to the section as
/// it is.
pub(crate) fn compare(questions: &mut [StoredQuestion], sections: &Sections<'_>) {
    for stored in questions {
        let hash = sections.hash(&stored.question.anchor);
        if stored.section_hash.is_empty() && sections.has(&stored.question.anchor) {
            stored.section_hash.clone_from(&hash);
        }
        stored.stale = stored.section_hash != hash || hash.is_empty();
    }
}

/// Whether a text is a valid source of questions.
pub(crate) fn is_source(source: &str) -> bool {
    let model = source.strip_prefix("model ");
    let is_named = |name: &str| !name.trim().is_empty() && name.len() < bounds::LABEL_BYTES && bounds::is_plain(name);
    matches!(source, AUTHOR | READER) || model.is_some_and(is_named)
}

/// A row: slug, anchor, question, source, whether it is stale, and when it was stored.
pub(crate) type ListedQuestion = (String, String, String, String, bool, TimestampWithTimeZone);

/// The questions of the visible documents of a project, in the order of slugs.
pub(crate) fn listed(caller: &mut Caller, project: &Project, slug: Option<&str>) -> Result<Vec<ListedQuestion>> {
    if !exist() {
        return Ok(Vec::new());
    }
    let documents = statement::rows(
        caller,
        "SELECT d.id, d.slug FROM docsearch.document d WHERE d.project_id = $1 AND ($2 IS NULL OR d.slug = $2)",
        &[DatumWithOid::from(project.id), DatumWithOid::from(slug)],
        |row| Ok((row.required::<i64>(1)?, row.required::<String>(2)?)),
    )?;
    let (ids, slugs): (Vec<i64>, Vec<String>) = documents.into_iter().unzip();
    let owner = &caller.as_owner()?;
    statement::rows(
        owner,
        &format!(
            "SELECT {} FROM unnest($2::bigint[], $3::text[]) AS d(id, slug)
                  JOIN docsearch.question q ON q.project_id = $1 AND q.document_id = d.id
             ORDER BY d.slug, q.question_no",
            ListedRow::select_list()
        ),
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(ids),
            DatumWithOid::from(slugs),
        ],
        |row| {
            let row = ListedRow::read(row)?;
            Ok((
                row.slug,
                row.anchor,
                row.question,
                row.source,
                row.stale,
                row.created_at,
            ))
        },
    )
}

/// The numbers of questions and of stale ones of the visible documents, by project. `limited`: whether policies apply
/// to the caller, who may read documents.
pub(crate) fn counted(caller: &mut Caller, projects: &[i64], limited: bool) -> Result<Map<i64, (i64, i64)>> {
    if !exist() {
        return Ok(Map::default());
    }
    let of_projects = DatumWithOid::from(projects.to_vec());
    if !limited {
        let owner = &caller.as_owner()?;
        let counted = statement::rows(
            owner,
            "SELECT q.project_id, count(*), count(*) FILTER (WHERE q.stale) FROM docsearch.question q
             WHERE q.project_id = ANY ($1) GROUP BY q.project_id",
            &[of_projects],
            |row| Ok((row.required(1)?, (row.required(2)?, row.required(3)?))),
        )?;
        return Ok(counted.into_iter().collect());
    }
    // Questions are read as the owner of the tables, and documents as the caller, to whom policies apply.
    let of_documents = {
        let owner = &caller.as_owner()?;
        statement::rows(
            owner,
            "SELECT q.project_id, q.document_id, count(*), count(*) FILTER (WHERE q.stale) FROM docsearch.question q
             WHERE q.project_id = ANY ($1) GROUP BY q.project_id, q.document_id",
            &[of_projects],
            |row| {
                let id = (row.required::<i64>(1)?, row.required::<i64>(2)?);
                Ok((id, (row.required::<i64>(3)?, row.required::<i64>(4)?)))
            },
        )?
    };
    let (ids, counts): (Vec<_>, Vec<_>) = of_documents.into_iter().unzip();
    let (projects, documents): (Vec<i64>, Vec<i64>) = ids.into_iter().unzip();
    let (all, stale): (Vec<i64>, Vec<i64>) = counts.into_iter().unzip();
    let counted = statement::rows(
        caller,
        "SELECT d.project_id, sum(q.number)::bigint, sum(q.stale)::bigint
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS q(project_id, document_id, number, stale)
              JOIN docsearch.document d ON d.project_id = q.project_id AND d.id = q.document_id
         GROUP BY d.project_id",
        &[
            DatumWithOid::from(projects),
            DatumWithOid::from(documents),
            DatumWithOid::from(all),
            DatumWithOid::from(stale),
        ],
        |row| Ok((row.required(1)?, (row.required(2)?, row.required(3)?))),
    )?;
    Ok(counted.into_iter().collect())
}

/// Replaces the questions of a document.
pub(crate) fn write(owner: &Owner<'_>, id: DocumentId, questions: &[StoredQuestion]) -> Result<()> {
    let document = [DatumWithOid::from(id.project), DatumWithOid::from(id.document)];
    statement::execute(
        owner,
        "DELETE FROM docsearch.question q WHERE q.project_id = $1 AND q.document_id = $2",
        &document,
    )?;
    if questions.is_empty() {
        return Ok(());
    }
    let places = 0..i32::try_from(questions.len()).map_err(internal)?;
    let texts = |of: fn(&StoredQuestion) -> &str| DatumWithOid::from(questions.iter().map(of).collect::<Vec<&str>>());
    let [project, document] = document;
    statement::execute(
        owner,
        "INSERT INTO docsearch.question
             (project_id, document_id, question_no, anchor, question, source, section_hash, stale, created_at)
         SELECT $1, $2, q.question_no, q.anchor, q.question, q.source, q.section_hash, q.stale,
                coalesce(q.created_at::timestamptz, now())
         FROM unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bool[], $9::text[])
              AS q(question_no, anchor, question, source, section_hash, stale, created_at)",
        &[
            project,
            document,
            DatumWithOid::from(places.collect::<Vec<i32>>()),
            texts(|stored| &stored.question.anchor),
            texts(|stored| &stored.question.question),
            texts(|stored| &stored.source),
            texts(|stored| &stored.section_hash),
            DatumWithOid::from(questions.iter().map(|stored| stored.stale).collect::<Vec<bool>>()),
            DatumWithOid::from(
                questions
                    .iter()
                    .map(|stored| stored.created_at.clone())
                    .collect::<Vec<Option<String>>>(),
            ),
        ],
    )
}
