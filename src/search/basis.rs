//! What a search in a group of projects rests on, however far its legs look.

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
use crate::search::conditions::{CONDITIONS, conditions, superseded_by};
use crate::search::config::SearchConfig;
use crate::search::group::Group;
use crate::search::lexical::KeywordLeg;
use crate::search::newest::Newest;
use crate::search::vocabulary;
use crate::tables::vectors::VectorTable;
use crate::tables::visibility::{MAX_LISTED, Visibility};
use crate::tables::{keys, names};

/// What a search looks for, the same in every project.
pub(super) struct Search<'a> {
    pub(super) category: Option<&'a str>,
    pub(super) filter: &'a Filter,
    pub(super) config: &'a SearchConfig,
    /// How many of the best documents are explained.
    pub(super) explained: usize,
    /// A document to rank and explain even if no leg finds it.
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

/// Where a search may find documents.
pub(super) enum Scope {
    /// In all that the caller sees: there is no filter.
    Everywhere,
    /// Among these.
    Listed(Set<DocumentId>),
    /// There are too many to list: what was found is checked against the filter.
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
                "SELECT d.project_id, d.id FROM docsearch.document d WHERE {} AND {CONDITIONS} LIMIT $8",
                group.projects.condition("d")
            ),
            &args,
            keys::document_id,
        )?;
        let few = i64::try_from(documents.len()).is_ok_and(|count| count <= MAX_LISTED);
        Ok(if few {
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

/// Rules are asked of one in so many of the window of candidates.
const LIKELY: usize = 3;

/// How far the legs look.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    /// Documents of the keyword leg, and of the dense leg its share in sections.
    pub(super) window: i64,
    /// Sections that the keyword leg reads.
    pub(super) budget: i64,
    /// Sections that there are.
    pub(super) sections: f64,
    /// How many documents get pages, of those whose words and vectors were compared.
    pub(super) likely: usize,
}

impl Reach {
    /// Whether there is nothing beyond, of what the caller sees.
    pub(super) fn is_everything(self, caller: &Caller, visibility: &Visibility) -> Result<bool> {
        match visibility.check() {
            Some(check) => check.has_at_most(caller, self.window),
            None => Ok(self.window as f64 >= self.sections),
        }
    }

    /// Eight times as far: where most of what is found is filtered out.
    pub(super) fn further(self) -> Self {
        Self {
            window: self.window.saturating_mul(8),
            budget: self.budget.saturating_mul(8),
            likely: self.likely.saturating_mul(8),
            ..self
        }
    }
}

/// What is read for a query before its legs run.
pub(super) struct Basis {
    pub(super) superseded: Option<Vec<i64>>,
    pub(super) scope: Scope,
    pub(super) totals: Map<i64, Totals>,
    pub(super) frequencies: ChunkFrequencies,
    pub(super) reach: Reach,
    pub(super) vectors: VectorTable,
    pub(super) names: names::NameMatches,
    pub(super) newest: Newest,
    /// For a query that has a vector.
    pub(super) mix: Mix,
}

impl Basis {
    /// `None` if the filter lets nothing through. Mistyped words of the group's query are corrected.
    pub(super) fn read(caller: &mut Caller, search: &Search<'_>, group: &mut Group<'_>) -> Result<Option<Self>> {
        let superseded = superseded_by(caller, &group.projects, search.filter)?;
        let scope = Scope::read(caller, search, group, superseded.as_deref())?;
        if matches!(&scope, Scope::Listed(documents) if documents.is_empty()) {
            return Ok(None);
        }
        let lexemes = group
            .terms
            .iter()
            .flat_map(|term| term.looked_up().map(|(lexeme, _)| lexeme.to_owned()));
        let (totals, mut frequencies) =
            group
                .visibility
                .totals_and_frequencies(caller, &group.projects, lexemes.collect())?;
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
        // A phrase, a name, an operator or a code is meant as the text has it.
        let is_literal = class == Class::Identifier || !group.understanding.phrases.is_empty();
        let args = search.conditions(group.projects.argument(), superseded.as_deref());
        Ok(Some(Self {
            reach: Reach {
                window: weights.candidates,
                budget: weights.keyword_budget,
                sections: Totals::all_chunks(&totals),
                likely: usize::try_from(weights.candidates).unwrap_or(usize::MAX) / LIKELY,
            },
            vectors: VectorTable::of(group.model)?,
            names: names::find(
                caller,
                &group.projects,
                &group.forms,
                &group.title_keys(),
                &group.visibility,
            )?,
            newest: Newest::of(caller, group, weights, args)?,
            mix: if is_literal { mix.without_questions() } else { mix },
            superseded,
            scope,
            totals,
            frequencies,
        }))
    }

    /// The same for one of several texts that look for the same: each looks half as far, and a third as many are judged by
    /// all.
    pub(super) fn shared(self) -> Self {
        let reach = Reach {
            window: self.reach.window / 2,
            likely: self.reach.likely / 3,
            ..self.reach
        };
        Self { reach, ..self }
    }

    /// The words of the group's query with what is known of them.
    pub(super) fn lexical<'a>(&'a self, group: &'a Group<'_>) -> Lexical<'a> {
        Lexical::new(&self.totals, &group.terms, &self.frequencies)
    }
}

/// What is looked for in a group of projects, once it is known whether the query has a vector.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) group: &'a Group<'a>,
    pub(super) basis: &'a Basis,
    pub(super) keywords: &'a KeywordLeg<'a>,
    pub(super) embedding: Option<&'a [f32]>,
    pub(super) mix: Mix,
}

impl<'a> Asked<'a> {
    pub(super) fn new(
        group: &'a Group<'a>,
        basis: &'a Basis,
        keywords: &'a KeywordLeg<'a>,
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
