//! Which documents the caller sees where row-level security applies. Only their words are counted and suggested as
//! corrections. Without policies the statistics of the projects hold.

use std::collections::BTreeSet;
use std::rc::Rc;

use docsearch_core::index::statistics::{ChunkFrequencies, Totals};
use docsearch_core::postgres::tsvector::TsVector;
use docsearch_core::query::lookup::any_of;
use docsearch_core::values::id::{DocumentId, Map};
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::postgres::owner::no_tables;
use crate::postgres::report::{Result, error_with_hint};
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::tsvector::TsVectorBytes;
use crate::postgres::{catalog, statement};
use crate::tables::keys::{self, WANTED_DOCUMENTS};
use crate::tables::posting_lists::PostingLists;
use crate::tables::project::{Project, Projects};
use crate::tables::statistics;
use crate::tables::visibility_check::VisibilityCheck;

mod listed;

use listed::{ids, totals_of};

pub(crate) use listed::VisibleDocuments;

/// Longest list of documents that is read where a filter or policies leave some out.
// Half of scifact or tldr-commands hidden: p50 34 ms listed, 23 checked, 15 without a policy.
pub(crate) const MAX_LISTED: i64 = 1_000;
/// Most sections of listed documents that are read to count their words: 3 µs each.
const MAX_COUNTED: f64 = 20_000.0;
/// Where the documents are not listed, a word of up to this many sections is counted in the visible ones. A more
/// frequent word keeps its count over all documents if the caller sees one of them.
const MAX_RARE_SECTIONS: i64 = 200;
/// Sections of a frequent word that are checked first for a visible one.
const FIRST_CHECKED: usize = 32;

/// How much of the documents of some projects the caller sees.
#[derive(Clone, Debug)]
pub(crate) enum Visibility {
    /// No policy applies.
    All,
    /// Few enough to count their words one document after the other.
    Listed(VisibleDocuments),
    /// Too many to list: retrievers read on until they have enough visible documents.
    Checked(Rc<VisibilityCheck>),
}

/// The visible sections that contain a lexeme.
struct VisibleSections {
    lexeme: String,
    /// The project of each.
    projects: Vec<i64>,
    /// Whether every section with the lexeme was checked.
    is_complete: bool,
}

/// Whether policies on documents apply to the current user.
pub(crate) fn policies_apply(role: &dyn Role) -> Result<bool> {
    let table = catalog::table(c"document").ok_or_else(no_tables)?;
    Ok(catalog::row_security_active(role.id(), table))
}

/// Raises an error if policies hide documents of the project from the caller.
pub(crate) fn require_full_visibility(caller: &mut Caller, project: &Project) -> Result<()> {
    if !policies_apply(caller)? {
        return Ok(());
    }
    let count = |role: &dyn Role| {
        statement::one(
            role,
            "SELECT count(*) FROM docsearch.document d WHERE d.project_id = $1",
            &[DatumWithOid::from(project.id)],
            |row| row.required::<i64>(1),
        )
    };
    let visible = count(caller)?;
    let all = count(&caller.as_owner()?)?;
    if visible == all {
        return Ok(());
    }
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        format!("project \"{}\" has documents that you do not see", project.name),
        "Policies on docsearch.document hide them from you. Ask the owner of schema docsearch to do it.",
    ))
}

impl Visibility {
    pub(crate) fn of(caller: &mut Caller, projects: &Projects) -> Result<Self> {
        if !policies_apply(caller)? {
            return Ok(Self::All);
        }
        let documents = statement::rows(
            caller,
            &format!(
                "SELECT d.project_id, d.id FROM docsearch.document d WHERE {} LIMIT $2",
                projects.condition("d")
            ),
            &[projects.argument(), DatumWithOid::from(MAX_LISTED + 1)],
            keys::document_id,
        )?;
        if i64::try_from(documents.len()).map_or(true, |count| count > MAX_LISTED) {
            return Ok(Self::Checked(Rc::new(VisibilityCheck::new(projects.clone()))));
        }
        let totals = totals_of(&caller.as_owner()?, projects, &documents)?;
        Ok(if Totals::all_chunks(&totals) > MAX_COUNTED {
            Self::Checked(Rc::new(VisibilityCheck::of_listed(projects.clone(), documents)))
        } else {
            Self::Listed(VisibleDocuments { documents, totals })
        })
    }

    /// The check to run on each document, if the caller's documents are not known in advance.
    pub(crate) fn check(&self) -> Option<&VisibilityCheck> {
        match self {
            Self::Checked(check) => Some(check),
            Self::All | Self::Listed(_) => None,
        }
    }

    /// The first `wanted` rows with visible documents. `read` gets the limit of rows to read, and has to apply
    /// [`Self::condition`].
    pub(crate) fn first<T>(
        &self,
        caller: &mut Caller,
        wanted: usize,
        mut read: impl FnMut(&Owner<'_>, i64) -> Result<Vec<T>>,
        document: impl Fn(&T) -> DocumentId,
    ) -> Result<Vec<T>> {
        match self {
            Self::Checked(check) => check.first(caller, wanted, read, document),
            Self::All | Self::Listed(_) => read(&caller.as_owner()?, i64::try_from(wanted).unwrap_or(i64::MAX)),
        }
    }

    /// The documents, if they are listed.
    pub(crate) fn listed(&self) -> Option<&[DocumentId]> {
        match self {
            Self::Listed(listed) => Some(&listed.documents),
            Self::All | Self::Checked(_) => None,
        }
    }

    /// An `AND` condition that limits a column to the listed documents, empty if there is no list. Its parameter is
    /// appended to `args`.
    pub(crate) fn condition(&self, column: &str, args: &mut Vec<DatumWithOid<'_>>) -> String {
        let Some(listed) = self.listed() else {
            return String::new();
        };
        args.push(DatumWithOid::from(ids(listed)));
        format!("AND {column} = ANY (${})", args.len())
    }

    /// The size of each project.
    pub(crate) fn totals(&self, caller: &mut Caller, projects: &Projects) -> Result<Map<i64, Totals>> {
        match self {
            Self::Listed(listed) => Ok(listed.totals.clone()),
            Self::All | Self::Checked(_) => statistics::totals(&caller.as_owner()?, projects),
        }
    }

    /// The number of chunks in which each lexeme occurs.
    pub(crate) fn frequencies(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        lexemes: Vec<String>,
    ) -> Result<ChunkFrequencies> {
        if let Self::Listed(listed) = self {
            return listed.frequencies(caller, projects, lexemes);
        }
        let frequencies = statistics::frequencies(&caller.as_owner()?, projects, lexemes)?;
        self.visible_frequencies(caller, projects, frequencies)
    }

    /// [`Self::totals`] and [`Self::frequencies`].
    pub(crate) fn totals_and_frequencies(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        lexemes: Vec<String>,
    ) -> Result<(Map<i64, Totals>, ChunkFrequencies)> {
        if let Self::Listed(listed) = self {
            return Ok((listed.totals.clone(), listed.frequencies(caller, projects, lexemes)?));
        }
        let (totals, frequencies) = statistics::totals_and_frequencies(&caller.as_owner()?, projects, lexemes)?;
        Ok((totals, self.visible_frequencies(caller, projects, frequencies)?))
    }

    /// Corrects the frequencies of all documents by those of visible ones.
    fn visible_frequencies(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        mut frequencies: ChunkFrequencies,
    ) -> Result<ChunkFrequencies> {
        if let Self::Checked(check) = self {
            let known = frequencies.lexemes().map(str::to_owned);
            let is_rare = |lexeme: &String| frequencies.sum(lexeme) <= MAX_RARE_SECTIONS as f64;
            let (rare, frequent): (Vec<String>, Vec<String>) = known.partition(is_rare);
            let documents = LexemeDocuments::read(caller, projects, &rare, &frequent)?;
            let unchecked = match &documents {
                Some(documents) => documents.without_visible(caller, check, frequent)?,
                None => frequent,
            };
            for lexeme in unchecked {
                if !self.is_visible(caller, check, projects, &lexeme)? {
                    frequencies.correct(&lexeme, Vec::new());
                }
            }
            let rare = match documents {
                Some(documents) => visible_of(caller, check, documents.rare)?,
                None => self.visible_sections(caller, check, projects, rare)?,
            };
            for sections in rare {
                frequencies.correct(&sections.lexeme, sections.projects);
            }
        }
        Ok(frequencies)
    }

    /// Those of the lexemes that occur in a visible document.
    pub(crate) fn visible_lexemes(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        lexemes: Vec<String>,
    ) -> Result<BTreeSet<String>> {
        let Self::Checked(check) = self else {
            return Ok(lexemes.into_iter().collect());
        };
        let mut visible = BTreeSet::new();
        for sections in self.visible_sections(caller, check, projects, lexemes)? {
            let is_visible = !sections.projects.is_empty()
                || (!sections.is_complete && self.is_visible(caller, check, projects, &sections.lexeme)?);
            if is_visible {
                visible.insert(sections.lexeme);
            }
        }
        Ok(visible)
    }

    /// Whether a visible document has the lexeme, however many hidden ones have it.
    fn is_visible(
        &self,
        caller: &mut Caller,
        check: &VisibilityCheck,
        projects: &Projects,
        lexeme: &str,
    ) -> Result<bool> {
        let read = |owner: &Owner<'_>, limit| self.documents_with(owner, projects, lexeme, limit);
        Ok(!check.first(caller, 1, read, |id| *id)?.is_empty())
    }

    /// The visible sections of each lexeme, out of the first [`MAX_RARE_SECTIONS`] ones.
    fn visible_sections(
        &self,
        caller: &mut Caller,
        check: &VisibilityCheck,
        projects: &Projects,
        lexemes: Vec<String>,
    ) -> Result<Vec<VisibleSections>> {
        let found: Vec<(String, Vec<DocumentId>)> = {
            let owner = &caller.as_owner()?;
            let documents_of = |lexeme: String| {
                let found = self.documents_with(owner, projects, &lexeme, MAX_RARE_SECTIONS)?;
                Ok((lexeme, found))
            };
            lexemes.into_iter().map(documents_of).collect::<Result<_>>()?
        };
        visible_of(caller, check, found)
    }

    /// The documents of the first `limit` sections that contain a lexeme: of visible ones only if these are listed.
    pub(crate) fn documents_with(
        &self,
        owner: &Owner<'_>,
        projects: &Projects,
        lexeme: &str,
        limit: i64,
    ) -> Result<Vec<DocumentId>> {
        let mut args = vec![
            projects.argument(),
            DatumWithOid::from(any_of([lexeme])),
            DatumWithOid::from(limit),
        ];
        let condition = self.condition("c.document_id", &mut args);
        let check = projects.check("c");
        statement::rows(
            owner,
            &format!(
                "SELECT c.project_id, c.document_id FROM docsearch.chunk c
                 WHERE {check} AND (c.terms @@ $2::tsquery) {condition} LIMIT $3"
            ),
            &args,
            keys::document_id,
        )
    }
}

/// The visible sections of each lexeme.
fn visible_of(
    caller: &mut Caller,
    check: &VisibilityCheck,
    found: Vec<(String, Vec<DocumentId>)>,
) -> Result<Vec<VisibleSections>> {
    let documents = check.among(caller, found.iter().flat_map(|(_, sections)| sections).copied())?;
    let visible = |(lexeme, sections): (String, Vec<DocumentId>)| VisibleSections {
        lexeme,
        is_complete: (sections.len() as i64) < MAX_RARE_SECTIONS,
        projects: sections
            .into_iter()
            .filter(|id| documents.contains(id))
            .map(|id| id.project)
            .collect(),
    };
    Ok(found.into_iter().map(visible).collect())
}

/// The document of each section that contains a lexeme, from the postings. By the index of terms, each lexeme takes a
/// statement of its own.
struct LexemeDocuments {
    /// All of each rare lexeme.
    rare: Vec<(String, Vec<DocumentId>)>,
    /// The first [`FIRST_CHECKED`] of each frequent one.
    frequent: Map<String, Vec<DocumentId>>,
}

impl LexemeDocuments {
    /// `None` if there are no postings to read.
    fn read(caller: &mut Caller, projects: &Projects, rare: &[String], frequent: &[String]) -> Result<Option<Self>> {
        let owner = &caller.as_owner()?;
        let lexemes: Vec<&str> = rare.iter().chain(frequent).map(String::as_str).collect();
        let Some(lists) = PostingLists::read(owner, projects, &lexemes)? else {
            return Ok(None);
        };
        let mut rare: Vec<(String, Vec<DocumentId>)> = rare
            .iter()
            .map(|lexeme| (lexeme.clone(), lists.documents_with(lexeme, usize::MAX)))
            .collect();
        let frequent = frequent
            .iter()
            .map(|lexeme| (lexeme.clone(), lists.documents_with(lexeme, FIRST_CHECKED)));
        let frequent = frequent.collect();
        if !lists.pending.is_empty() {
            statement::lookup(
                owner,
                &format!(
                    "SELECT c.project_id, c.document_id, c.terms FROM {WANTED_DOCUMENTS}
                     JOIN docsearch.chunk c ON c.project_id = wanted.project_id AND c.document_id = wanted.id"
                ),
                &keys::document_arguments(lists.pending.iter()),
                |row| {
                    let id = keys::document_id(row)?;
                    let terms: TsVectorBytes = row.required(3)?;
                    if let Some(terms) = TsVector::new(terms.as_bytes()) {
                        let having = rare
                            .iter_mut()
                            .filter(|(lexeme, _)| terms.positions(lexeme).next().is_some());
                        having.for_each(|(_, documents)| documents.push(id));
                    }
                    Ok(())
                },
            )?;
        }
        Ok(Some(Self { rare, frequent }))
    }

    /// The frequent lexemes without a visible document among the first [`FIRST_CHECKED`].
    fn without_visible(
        &self,
        caller: &mut Caller,
        check: &VisibilityCheck,
        mut lexemes: Vec<String>,
    ) -> Result<Vec<String>> {
        let visible = check.among(caller, self.frequent.values().flatten().copied())?;
        lexemes.retain(|lexeme| {
            let mut documents = self.frequent.get(lexeme).into_iter().flatten();
            !documents.any(|id| visible.contains(id))
        });
        Ok(lexemes)
    }
}
