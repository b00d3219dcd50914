//! What the caller sees where policies apply: only the words of those documents are counted, and only they stand in
//! for others. Without policies the statistics of the projects hold.

use std::collections::BTreeSet;

use docsearch_core::lookup::any_of;
use docsearch_core::rank::{DocumentId, Map, Set};
use docsearch_core::statistics::{ChunkFrequencies, Totals};
use docsearch_core::tsvector::TsVector;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::postgres::owner::{AsOwner, no_tables};
use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::tsvector::TsVectorBytes;
use crate::postgres::{catalog, statement};
use crate::tables::keys::{self, WANTED_DOCUMENTS};
use crate::tables::project::{Project, Projects};
use crate::tables::statistics;

/// Up to so many documents are listed where a filter or policies leave some out.
// Half of scifact or tldr-commands hidden: p50 34 ms listed, 23 checked, 15 without a policy.
pub(crate) const MAX_LISTED: i64 = 1_000;
/// Up to so many sections of listed documents are read to count their words: 3 us each.
const MAX_COUNTED: f64 = 20_000.0;
/// Where there are more, a word in up to so many sections is counted in those that the caller sees.
const RARE: i64 = 200;
/// Where hidden documents may be among some of which a few tell something, so many are read.
const FEW_HIDDEN: i64 = 50;

/// How much of the documents of some projects the caller sees.
#[derive(Clone, Debug)]
pub(crate) enum Sight {
    /// No policy applies.
    Everything,
    /// So few that their words are counted themselves.
    Listed(VisibleDocuments),
    /// More than that: what is found is checked.
    Checked,
}

/// The documents that the caller sees.
#[derive(Clone, Debug)]
pub(crate) struct VisibleDocuments {
    documents: Vec<DocumentId>,
    totals: Map<i64, Totals>,
}

/// Whether policies on documents apply to the current user.
pub(crate) fn policies_apply() -> Result<bool> {
    let table = catalog::table(c"document").ok_or_else(no_tables)?;
    Ok(catalog::row_security_active(table))
}

/// Refuses callers from whom policies hide documents of a project what concerns them all. Begins as the caller.
pub(crate) fn require_whole(project: &Project) -> Result<()> {
    if !policies_apply()? {
        return Ok(());
    }
    let count = || {
        statement::one(
            "SELECT count(*) FROM docsearch.document d WHERE d.project_id = $1",
            &[DatumWithOid::from(project.id)],
            |row| row.required::<i64>(1),
        )
    };
    let seen = count()?;
    let all = {
        let _owner = AsOwner::enter()?;
        count()?
    };
    if seen == all {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        format!("project \"{}\" has documents that you do not see", project.name),
        "Policies on docsearch.document hide them from you. Ask the owner of schema docsearch to do it.",
    ))
}

impl Sight {
    /// Runs as the caller, whose policies count.
    pub(crate) fn of(projects: &Projects) -> Result<Self> {
        if !policies_apply()? {
            return Ok(Self::Everything);
        }
        let documents = statement::rows(
            &format!(
                "SELECT d.project_id, d.id FROM docsearch.document d WHERE {} LIMIT $2",
                projects.condition("d")
            ),
            &[projects.argument(), DatumWithOid::from(MAX_LISTED + 1)],
            keys::document_id,
        )?;
        if i64::try_from(documents.len()).map_or(true, |count| count > MAX_LISTED) {
            return Ok(Self::Checked);
        }
        let totals = {
            let _owner = AsOwner::enter()?;
            statistics::totals_of_documents(projects, ids(&documents))?
        };
        Ok(if Totals::all_chunks(&totals) > MAX_COUNTED {
            Self::Checked
        } else {
            Self::Listed(VisibleDocuments { documents, totals })
        })
    }

    /// The documents, if they are listed.
    pub(crate) fn listed(&self) -> Option<&[DocumentId]> {
        match self {
            Self::Listed(listed) => Some(&listed.documents),
            Self::Everything | Self::Checked => None,
        }
    }

    /// Whether policies apply.
    pub(crate) fn is_limited(&self) -> bool {
        !matches!(self, Self::Everything)
    }

    /// How many rows are read of which a few tell something and more do not: more where what is hidden comes with them.
    pub(crate) fn most(&self, few: i64) -> i64 {
        match self {
            Self::Everything | Self::Listed(_) => few,
            Self::Checked => few.max(FEW_HIDDEN),
        }
    }

    /// A condition, after others, that a column is one of the documents if they are listed; its parameter comes last.
    pub(crate) fn condition(&self, column: &str, args: &mut Vec<DatumWithOid<'_>>) -> String {
        let Some(listed) = self.listed() else {
            return String::new();
        };
        args.push(DatumWithOid::from(ids(listed)));
        format!("AND {column} = ANY (${})", args.len())
    }

    /// The size of each project.
    pub(crate) fn totals(&self, projects: &Projects) -> Result<Map<i64, Totals>> {
        match self {
            Self::Listed(listed) => Ok(listed.totals.clone()),
            Self::Everything | Self::Checked => {
                let _owner = AsOwner::enter()?;
                statistics::totals(projects)
            }
        }
    }

    /// In how many chunks lexemes occur. Begins as the caller.
    pub(crate) fn frequencies(&self, projects: &Projects, lexemes: Vec<String>) -> Result<ChunkFrequencies> {
        if let Self::Listed(listed) = self {
            return listed.frequencies(projects, lexemes);
        }
        let mut frequencies = {
            let _owner = AsOwner::enter()?;
            statistics::frequencies(projects, lexemes)?
        };
        if matches!(self, Self::Checked) {
            let known = frequencies.lexemes();
            let rare = known.filter(|lexeme| frequencies.sum(lexeme) <= RARE as f64);
            let rare: Vec<String> = rare.map(str::to_owned).collect();
            for (lexeme, seen) in seen_sections(projects, rare)? {
                frequencies.correct(&lexeme, seen);
            }
        }
        Ok(frequencies)
    }

    /// Those of the lexemes that a document has which the caller sees: of a frequent one so many sections are looked
    /// at. Begins as the caller.
    pub(crate) fn witnessed(&self, projects: &Projects, lexemes: Vec<String>) -> Result<BTreeSet<String>> {
        if !matches!(self, Self::Checked) {
            return Ok(lexemes.into_iter().collect());
        }
        let seen = seen_sections(projects, lexemes)?.into_iter();
        Ok(seen
            .filter(|(_, sections)| !sections.is_empty())
            .map(|(lexeme, _)| lexeme)
            .collect())
    }

    /// The document of each section that holds a lexeme, at most so many; of those that the caller sees, if they are
    /// listed. Runs as the owner.
    pub(crate) fn witnesses(&self, projects: &Projects, lexeme: &str, limit: i64) -> Result<Vec<DocumentId>> {
        let mut args = vec![
            projects.argument(),
            DatumWithOid::from(any_of([lexeme])),
            DatumWithOid::from(limit),
        ];
        let condition = self.condition("c.document_id", &mut args);
        let check = projects.check("c");
        statement::rows(
            &format!(
                "SELECT c.project_id, c.document_id FROM docsearch.chunk c
                 WHERE {check} AND (c.terms @@ $2::tsquery) {condition} LIMIT $3"
            ),
            &args,
            keys::document_id,
        )
    }
}

impl VisibleDocuments {
    fn frequencies(&self, projects: &Projects, lexemes: Vec<String>) -> Result<ChunkFrequencies> {
        let lexemes: BTreeSet<String> = lexemes.into_iter().collect();
        let mut frequencies = ChunkFrequencies::default();
        if lexemes.is_empty() || self.documents.is_empty() {
            return Ok(frequencies);
        }
        let any = any_of(lexemes.iter().map(String::as_str));
        // `IS TRUE` keeps the index of words away: there is a row for each of the documents' sections.
        self.read(projects, "(c.terms @@ $3::tsquery) IS TRUE", &any, |project, terms| {
            let found = lexemes.iter().filter(|lexeme| terms.positions(lexeme).next().is_some());
            found.for_each(|lexeme| frequencies.count(project, lexeme));
        })?;
        Ok(frequencies)
    }

    /// The words of the documents that are wanted.
    pub(crate) fn vocabulary(&self, projects: &Projects, wanted: impl Fn(&str) -> bool) -> Result<ChunkFrequencies> {
        let mut vocabulary = ChunkFrequencies::default();
        self.read(projects, "$3::text IS NOT NULL", "", |project, terms| {
            let found = terms.lexemes().filter(|lexeme| wanted(lexeme));
            found.for_each(|lexeme| vocabulary.count(project, lexeme));
        })?;
        Ok(vocabulary)
    }

    fn read(
        &self,
        projects: &Projects,
        condition: &str,
        argument: &str,
        mut each: impl FnMut(i64, TsVector<'_>),
    ) -> Result<()> {
        let _owner = AsOwner::enter()?;
        statement::rows(
            &format!(
                "SELECT c.project_id, c.terms FROM docsearch.chunk c
                 WHERE {} AND c.document_id = ANY ($2) AND {condition}",
                projects.condition("c")
            ),
            &[
                projects.argument(),
                DatumWithOid::from(ids(&self.documents)),
                DatumWithOid::from(argument),
            ],
            |row| {
                let terms: TsVectorBytes = row.required(2)?;
                if let Some(terms) = TsVector::new(terms.as_bytes()) {
                    each(row.required(1)?, terms);
                }
                Ok(())
            },
        )?;
        Ok(())
    }
}

/// For each lexeme the projects of sections that hold it, of documents that the caller sees; at most [`RARE`] sections
/// are looked at. Begins as the caller.
fn seen_sections(projects: &Projects, lexemes: Vec<String>) -> Result<Vec<(String, Vec<i64>)>> {
    let found: Vec<(String, Vec<DocumentId>)> = {
        let _owner = AsOwner::enter()?;
        let witnesses = |lexeme: String| {
            let found = Sight::Checked.witnesses(projects, &lexeme, RARE)?;
            Ok((lexeme, found))
        };
        lexemes.into_iter().map(witnesses).collect::<Result<_>>()?
    };
    let documents: Set<DocumentId> = found.iter().flat_map(|(_, sections)| sections).copied().collect();
    let seen = seen(&documents)?;
    let of_seen = |sections: Vec<DocumentId>| {
        let sections = sections.into_iter().filter(|id| seen.contains(id));
        sections.map(|id| id.project).collect()
    };
    Ok(found
        .into_iter()
        .map(|(lexeme, sections)| (lexeme, of_seen(sections)))
        .collect())
}

/// Those of the documents that the caller sees.
fn seen(documents: &Set<DocumentId>) -> Result<Set<DocumentId>> {
    let rows = statement::lookup(
        &format!("SELECT d.project_id, d.id FROM {WANTED_DOCUMENTS} JOIN docsearch.document d USING (project_id, id)"),
        &keys::document_arguments(documents),
        keys::document_id,
    )?;
    Ok(rows.into_iter().collect())
}

fn ids<'a>(documents: impl IntoIterator<Item = &'a DocumentId>) -> Vec<i64> {
    documents.into_iter().map(|id| id.document).collect()
}
