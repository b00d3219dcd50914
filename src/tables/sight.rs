//! What the caller sees where policies apply: only the words of those documents are counted, and only they stand in
//! for others. Without policies the statistics of the projects hold.

use std::collections::BTreeSet;
use std::rc::Rc;

use docsearch_core::index::statistics::{ChunkFrequencies, Totals};
use docsearch_core::postgres::tsvector::TsVector;
use docsearch_core::query::lookup::any_of;
use docsearch_core::values::id::{DocumentId, Map, Set};
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
use crate::tables::visibility::Visibility;

/// Up to so many documents are listed where a filter or policies leave some out.
// Half of scifact or tldr-commands hidden: p50 34 ms listed, 23 checked, 15 without a policy.
pub(crate) const MAX_LISTED: i64 = 1_000;
/// Up to so many sections of listed documents are read to count their words: 3 us each.
const MAX_COUNTED: f64 = 20_000.0;
/// Where there are more, a word in up to so many sections is counted in those that the caller sees. One in more counts as in
/// all documents, if the caller sees any.
const RARE: i64 = 200;
/// Of a word in more so many sections are looked at first for one that the caller sees.
const FIRST_HOLDERS: usize = 32;

/// How much of the documents of some projects the caller sees.
#[derive(Clone, Debug)]
pub(crate) enum Sight {
    /// No policy applies.
    Everything,
    /// So few that their words are counted themselves.
    Listed(VisibleDocuments),
    /// More than that: retrievers go on until they have enough that the caller sees.
    Checked(Rc<Visibility>),
}

/// The documents that the caller sees.
#[derive(Clone, Debug)]
pub(crate) struct VisibleDocuments {
    documents: Vec<DocumentId>,
    totals: Map<i64, Totals>,
}

/// Sections that hold a lexeme.
struct SeenSections {
    lexeme: String,
    /// The project of each that the caller sees.
    projects: Vec<i64>,
    /// Whether there are no more sections than were looked at.
    are_all: bool,
}

/// Whether policies on documents apply to the current user.
pub(crate) fn policies_apply(role: &dyn Role) -> Result<bool> {
    let table = catalog::table(c"document").ok_or_else(no_tables)?;
    Ok(catalog::row_security_active(role.id(), table))
}

/// Refuses callers from whom policies hide documents of a project what concerns them all.
pub(crate) fn require_whole(caller: &mut Caller, project: &Project) -> Result<()> {
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
    let seen = count(caller)?;
    let all = count(&caller.as_owner()?)?;
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
    pub(crate) fn of(caller: &mut Caller, projects: &Projects) -> Result<Self> {
        if !policies_apply(caller)? {
            return Ok(Self::Everything);
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
            return Ok(Self::Checked(Rc::new(Visibility::new(projects.clone()))));
        }
        let totals = statistics::totals_of_documents(&caller.as_owner()?, projects, ids(&documents))?;
        Ok(if Totals::all_chunks(&totals) > MAX_COUNTED {
            Self::Checked(Rc::new(Visibility::of_listed(projects.clone(), documents)))
        } else {
            Self::Listed(VisibleDocuments { documents, totals })
        })
    }

    /// What has to be asked, document by document.
    pub(crate) fn checks(&self) -> Option<&Visibility> {
        match self {
            Self::Checked(visibility) => Some(visibility),
            Self::Everything | Self::Listed(_) => None,
        }
    }

    /// The first `wanted` rows whose documents the caller sees. `read` gets the greatest number of rows to read; it
    /// obeys [`Self::condition`].
    pub(crate) fn first<T>(
        &self,
        caller: &mut Caller,
        wanted: usize,
        mut read: impl FnMut(&Owner<'_>, i64) -> Result<Vec<T>>,
        document: impl Fn(&T) -> DocumentId,
    ) -> Result<Vec<T>> {
        match self {
            Self::Checked(visibility) => visibility.first(caller, wanted, read, document),
            Self::Everything | Self::Listed(_) => read(&caller.as_owner()?, i64::try_from(wanted).unwrap_or(i64::MAX)),
        }
    }

    /// The documents, if they are listed.
    pub(crate) fn listed(&self) -> Option<&[DocumentId]> {
        match self {
            Self::Listed(listed) => Some(&listed.documents),
            Self::Everything | Self::Checked(_) => None,
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
    pub(crate) fn totals(&self, caller: &mut Caller, projects: &Projects) -> Result<Map<i64, Totals>> {
        match self {
            Self::Listed(listed) => Ok(listed.totals.clone()),
            Self::Everything | Self::Checked(_) => statistics::totals(&caller.as_owner()?, projects),
        }
    }

    /// In how many chunks lexemes occur.
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
        self.seen_frequencies(caller, projects, frequencies)
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
        Ok((totals, self.seen_frequencies(caller, projects, frequencies)?))
    }

    /// Frequencies of all documents, corrected by what the caller sees.
    fn seen_frequencies(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        mut frequencies: ChunkFrequencies,
    ) -> Result<ChunkFrequencies> {
        if let Self::Checked(visibility) = self {
            let known = frequencies.lexemes().map(str::to_owned);
            let is_rare = |lexeme: &String| frequencies.sum(lexeme) <= RARE as f64;
            let (rare, frequent): (Vec<String>, Vec<String>) = known.partition(is_rare);
            let holders = Holders::read(caller, projects, &rare, &frequent)?;
            let unseen = match &holders {
                Some(holders) => holders.unseen(caller, visibility, frequent)?,
                None => frequent,
            };
            for lexeme in unseen {
                if !self.is_witnessed(caller, visibility, projects, &lexeme)? {
                    frequencies.correct(&lexeme, Vec::new());
                }
            }
            let rare = match holders {
                Some(holders) => seen_of(caller, visibility, holders.rare)?,
                None => self.seen_sections(caller, visibility, projects, rare)?,
            };
            for sections in rare {
                frequencies.correct(&sections.lexeme, sections.projects);
            }
        }
        Ok(frequencies)
    }

    /// Those of the lexemes that a document has which the caller sees.
    pub(crate) fn witnessed(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        lexemes: Vec<String>,
    ) -> Result<BTreeSet<String>> {
        let Self::Checked(visibility) = self else {
            return Ok(lexemes.into_iter().collect());
        };
        let mut witnessed = BTreeSet::new();
        for sections in self.seen_sections(caller, visibility, projects, lexemes)? {
            let is_seen = !sections.projects.is_empty()
                || (!sections.are_all && self.is_witnessed(caller, visibility, projects, &sections.lexeme)?);
            if is_seen {
                witnessed.insert(sections.lexeme);
            }
        }
        Ok(witnessed)
    }

    /// Whether a document has a lexeme that the caller sees, however many have it that are hidden.
    fn is_witnessed(
        &self,
        caller: &mut Caller,
        visibility: &Visibility,
        projects: &Projects,
        lexeme: &str,
    ) -> Result<bool> {
        let read = |owner: &Owner<'_>, limit| self.witnesses(owner, projects, lexeme, limit);
        Ok(!visibility.first(caller, 1, read, |id| *id)?.is_empty())
    }

    /// For each lexeme the sections that hold it, of documents that the caller sees; at most [`RARE`] sections are looked
    /// at.
    fn seen_sections(
        &self,
        caller: &mut Caller,
        visibility: &Visibility,
        projects: &Projects,
        lexemes: Vec<String>,
    ) -> Result<Vec<SeenSections>> {
        let found: Vec<(String, Vec<DocumentId>)> = {
            let owner = &caller.as_owner()?;
            let witnesses = |lexeme: String| {
                let found = self.witnesses(owner, projects, &lexeme, RARE)?;
                Ok((lexeme, found))
            };
            lexemes.into_iter().map(witnesses).collect::<Result<_>>()?
        };
        seen_of(caller, visibility, found)
    }

    /// The document of each section that holds a lexeme, at most so many; of those that the caller sees, if they are
    /// listed.
    pub(crate) fn witnesses(
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

/// For each lexeme those of its sections whose documents the caller sees.
fn seen_of(
    caller: &mut Caller,
    visibility: &Visibility,
    found: Vec<(String, Vec<DocumentId>)>,
) -> Result<Vec<SeenSections>> {
    let seen = visibility.among(caller, found.iter().flat_map(|(_, sections)| sections).copied())?;
    let of_seen = |(lexeme, sections): (String, Vec<DocumentId>)| SeenSections {
        lexeme,
        are_all: (sections.len() as i64) < RARE,
        projects: sections
            .into_iter()
            .filter(|id| seen.contains(id))
            .map(|id| id.project)
            .collect(),
    };
    Ok(found.into_iter().map(of_seen).collect())
}

/// The documents of the sections that hold words, by their postings: by the index of terms each word takes statements of its
/// own.
struct Holders {
    /// Of rare words those of all sections.
    rare: Vec<(String, Vec<DocumentId>)>,
    /// Of frequent ones the first few.
    frequent: Map<String, Vec<DocumentId>>,
}

impl Holders {
    /// `None` where the postings do not tell.
    fn read(caller: &mut Caller, projects: &Projects, rare: &[String], frequent: &[String]) -> Result<Option<Self>> {
        let owner = &caller.as_owner()?;
        let lexemes: Vec<&str> = rare.iter().chain(frequent).map(String::as_str).collect();
        let Some(lists) = PostingLists::read(owner, projects, &lexemes)? else {
            return Ok(None);
        };
        let mut rare: Vec<(String, Vec<DocumentId>)> = rare
            .iter()
            .map(|lexeme| (lexeme.clone(), lists.holders(lexeme, usize::MAX)))
            .collect();
        let frequent = frequent
            .iter()
            .map(|lexeme| (lexeme.clone(), lists.holders(lexeme, FIRST_HOLDERS)));
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
                        having.for_each(|(_, holders)| holders.push(id));
                    }
                    Ok(())
                },
            )?;
        }
        Ok(Some(Self { rare, frequent }))
    }

    /// Those of the frequent words of which none of the first few documents is one that the caller sees.
    fn unseen(&self, caller: &mut Caller, visibility: &Visibility, mut lexemes: Vec<String>) -> Result<Vec<String>> {
        let seen = visibility.among(caller, self.frequent.values().flatten().copied())?;
        lexemes.retain(|lexeme| {
            let mut holders = self.frequent.get(lexeme).into_iter().flatten();
            !holders.any(|id| seen.contains(id))
        });
        Ok(lexemes)
    }
}

impl VisibleDocuments {
    fn frequencies(&self, caller: &mut Caller, projects: &Projects, lexemes: Vec<String>) -> Result<ChunkFrequencies> {
        let lexemes: BTreeSet<String> = lexemes.into_iter().collect();
        let mut frequencies = ChunkFrequencies::default();
        if lexemes.is_empty() || self.documents.is_empty() {
            return Ok(frequencies);
        }
        let wanted: Vec<String> = lexemes.iter().cloned().collect();
        if let Some(holders) = Holders::read(caller, projects, &wanted, &[])? {
            let listed: Set<DocumentId> = self.documents.iter().copied().collect();
            for (lexeme, sections) in holders.rare {
                let seen = sections.iter().filter(|id| listed.contains(id));
                seen.for_each(|id| frequencies.count(id.project, &lexeme));
            }
            return Ok(frequencies);
        }
        let any = any_of(lexemes.iter().map(String::as_str));
        // `IS TRUE` keeps the index of words away: there is a row for each of the documents' sections.
        self.read(
            caller,
            projects,
            "(c.terms @@ $3::tsquery) IS TRUE",
            &any,
            |project, terms| {
                let found = lexemes.iter().filter(|lexeme| terms.positions(lexeme).next().is_some());
                found.for_each(|lexeme| frequencies.count(project, lexeme));
            },
        )?;
        Ok(frequencies)
    }

    /// The words of the documents that are wanted.
    pub(crate) fn vocabulary(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<ChunkFrequencies> {
        let mut vocabulary = ChunkFrequencies::default();
        self.read(caller, projects, "$3::text IS NOT NULL", "", |project, terms| {
            let found = terms.lexemes().filter(|lexeme| wanted(lexeme));
            found.for_each(|lexeme| vocabulary.count(project, lexeme));
        })?;
        Ok(vocabulary)
    }

    fn read(
        &self,
        caller: &mut Caller,
        projects: &Projects,
        condition: &str,
        argument: &str,
        mut each: impl FnMut(i64, TsVector<'_>),
    ) -> Result<()> {
        let owner = &caller.as_owner()?;
        statement::rows(
            owner,
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

fn ids<'a>(documents: impl IntoIterator<Item = &'a DocumentId>) -> Vec<i64> {
    documents.into_iter().map(|id| id.document).collect()
}
