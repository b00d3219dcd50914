//! What is read for a query in a group of projects before its retrievers run, and how far they search.

use docsearch_core::index::lexical::Lexical;
use docsearch_core::index::statistics::{ChunkFrequencies, Totals};
use docsearch_core::query::filter::Filter;
use docsearch_core::query::understanding::Class;
use docsearch_core::ranking::rank::Mix;
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::conditions::{condition, conditions, superseded_by};
use crate::search::config::SearchConfig;
use crate::search::group::Group;
use crate::search::lexical::KeywordRetriever;
use crate::search::newest::Newest;
use crate::search::vocabulary;
use crate::tables::vectors::VectorTable;
use crate::tables::visibility::{MAX_LISTED, Visibility};
use crate::tables::{keys, names};

/// The arguments of a search, the same in every project.
pub(super) struct Search<'a> {
    pub(super) category: Option<&'a str>,
    pub(super) filter: &'a Filter,
    pub(super) config: &'a SearchConfig,
    /// Number of the best documents to explain.
    pub(super) explained: usize,
    /// A document to rank and explain even if no retriever finds it.
    pub(super) focus: Option<DocumentId>,
}

impl Search<'_> {
    pub(super) fn conditions(
        &self,
        projects: DatumWithOid<'static>,
        superseded: Option<&[i64]>,
    ) -> Vec<DatumWithOid<'_>> {
        conditions(projects, self.category, self.filter, superseded)
    }
}

/// The documents that a search may find.
pub(super) enum Scope {
    /// All visible ones: there is no filter.
    Everywhere,
    /// These.
    Listed(Set<DocumentId>),
    /// Too many to list: results are checked against the filter.
    Checked,
}

impl Scope {
    fn read(caller: &Caller, search: &Search<'_>, group: &Group<'_>, superseded: Option<&[i64]>) -> Result<Self> {
        if search.category.is_none() && search.filter.is_empty() {
            let listed = match &group.visibility {
                Visibility::All => None,
                Visibility::Listed(_) => group
                    .visibility
                    .listed()
                    .map(|documents| documents.iter().copied().collect()),
                Visibility::Checked(check) => check.listed(),
            };
            return Ok(listed.map_or(Self::Everywhere, Self::Listed));
        }
        let mut args = search.conditions(group.projects.argument(), superseded);
        args.push(DatumWithOid::from(MAX_LISTED + 1));
        let documents = statement::rows(
            caller,
            &format!(
                "SELECT d.project_id, d.id FROM docsearch.document d WHERE {} AND {} LIMIT $8",
                group.projects.condition("d"),
                condition(search.filter)
            ),
            &args,
            keys::document_id,
        )?;
        let is_few = i64::try_from(documents.len()).is_ok_and(|count| count <= MAX_LISTED);
        Ok(if is_few {
            Self::Listed(documents.into_iter().collect())
        } else {
            Self::Checked
        })
    }

    pub(super) fn listed(&self) -> Option<Vec<i64>> {
        match self {
            Self::Listed(documents) => Some(documents.iter().map(|id| id.document).collect()),
            Self::Everywhere | Self::Checked => None,
        }
    }
}

/// The rules score the best third of the window of candidates.
const WINDOW_PER_SCORED: usize = 3;

/// How far the retrievers search.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Documents of the keyword retriever; the vector retriever gets its share of the score, in sections.
    pub(super) window: i64,
    /// Sections that the keyword retriever reads.
    pub(super) budget: i64,
    /// Sections of the projects.
    pub(super) sections: f64,
    /// Documents that the rules score, of those whose words and vectors were compared.
    pub(super) max_scored: usize,
}

impl Limits {
    /// Whether the window holds every visible section.
    pub(super) fn is_everything(self, caller: &Caller, visibility: &Visibility) -> Result<bool> {
        match visibility.check() {
            Some(check) => check.has_at_most(caller, self.window),
            None => Ok(self.window as f64 >= self.sections),
        }
    }

    /// Eight times these limits, for searches whose results are mostly filtered out.
    pub(super) fn widened(self) -> Self {
        Self {
            window: self.window.saturating_mul(8),
            budget: self.budget.saturating_mul(8),
            max_scored: self.max_scored.saturating_mul(8),
            ..self
        }
    }
}

/// What is read for a query before its retrievers run.
pub(super) struct Basis {
    pub(super) superseded: Option<Vec<i64>>,
    pub(super) scope: Scope,
    pub(super) totals: Map<i64, Totals>,
    pub(super) frequencies: ChunkFrequencies,
    pub(super) limits: Limits,
    pub(super) vectors: VectorTable,
    pub(super) names: names::NameMatches,
    pub(super) newest: Newest,
    /// If the query has a vector.
    pub(super) mix: Mix,
}

impl Basis {
    /// `None` if no document matches the filter. Corrects mistyped words of the group's query.
    pub(super) fn read(caller: &mut Caller, search: &Search<'_>, group: &mut Group<'_>) -> Result<Option<Self>> {
        let superseded = superseded_by(caller, &group.projects, search.filter)?;
        let scope = Scope::read(caller, search, group, superseded.as_deref())?;
        if matches!(&scope, Scope::Listed(documents) if documents.is_empty()) {
            return Ok(None);
        }
        let (totals, mut frequencies) =
            group
                .visibility
                .totals_and_frequencies(caller, &group.projects, group.lexemes())?;
        vocabulary::correct(
            caller,
            &group.visibility,
            &group.projects,
            &mut group.terms,
            &mut frequencies,
        )?;
        let group = &*group;
        let weights = &search.config.weights;
        let class = group.understanding.class;
        let mix = weights.mix(class, weights.hybrid(class), group.model.baseline);
        // A phrase, a name, an operator or a code means the exact text: questions do not count.
        let is_literal = class == Class::Identifier || !group.understanding.phrases.is_empty();
        let args = search.conditions(group.projects.argument(), superseded.as_deref());
        Ok(Some(Self {
            limits: Limits {
                window: weights.candidates,
                budget: weights.keyword_budget,
                sections: Totals::all_chunks(&totals),
                max_scored: usize::try_from(weights.candidates).unwrap_or(usize::MAX) / WINDOW_PER_SCORED,
            },
            vectors: VectorTable::of(group.model)?,
            names: names::find(
                caller,
                &group.projects,
                &group.candidate_names,
                &group.title_keys(),
                &group.visibility,
            )?,
            newest: Newest::of(caller, group, weights, condition(search.filter), args)?,
            mix: if is_literal { mix.without_questions() } else { mix },
            superseded,
            scope,
            totals,
            frequencies,
        }))
    }

    /// For one of several texts that are searched together: half the window and a third of the documents to score,
    /// since every text scores the documents of all.
    pub(super) fn shared(self) -> Self {
        let limits = Limits {
            window: self.limits.window / 2,
            max_scored: self.limits.max_scored / 3,
            ..self.limits
        };
        Self { limits, ..self }
    }

    /// The terms of the group's query with their statistics.
    pub(super) fn lexical<'a>(&'a self, group: &'a Group<'_>) -> Lexical<'a> {
        Lexical::new(&self.totals, &group.terms, &self.frequencies)
    }
}

/// The query of a group of projects, once it is known whether it has a vector.
#[derive(Clone, Copy)]
pub(super) struct GroupQuery<'a> {
    pub(super) group: &'a Group<'a>,
    pub(super) basis: &'a Basis,
    pub(super) keywords: &'a KeywordRetriever<'a>,
    pub(super) embedding: Option<&'a [f32]>,
    pub(super) mix: Mix,
}

impl<'a> GroupQuery<'a> {
    pub(super) fn new(
        group: &'a Group<'a>,
        basis: &'a Basis,
        keywords: &'a KeywordRetriever<'a>,
        embedding: Option<&'a [f32]>,
    ) -> Self {
        let hybrid = if embedding.is_some() { basis.mix.hybrid } else { 0.0 };
        Self {
            group,
            basis,
            keywords,
            embedding,
            mix: Mix { hybrid, ..basis.mix },
        }
    }
}
