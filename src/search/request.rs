//! From the arguments of a search to its answer.

use std::cell::RefCell;
use std::collections::HashSet;
use std::time::Instant;

use docsearch_core::answer::delivery::{Answer, Confidence, Notice, SearchResult, tips};
use docsearch_core::answer::grade::{Features, Grade, Grader};
use docsearch_core::query::filter::Filter;
use docsearch_core::query::input::{MAX_QUERY_CHARS, Query};
use docsearch_core::query::transformation::Transformation;
use docsearch_core::query::understanding::Class;
use docsearch_core::ranking::fusion::{RankedDocuments, SecondSearch};
use docsearch_core::ranking::pin::PinSteps;
use docsearch_core::text::name;
use docsearch_core::values::id::DocumentId;
use serde_json::Value;

use crate::models::language_model::Calls;
use crate::postgres::owner::LocalSettings;
use crate::postgres::report::{Result, internal};
use crate::postgres::role::Caller;
use crate::postgres::shared_check;
use crate::search::basis::Search;
use crate::search::candidates::Ranking;
use crate::search::config::{SearchConfig, Transform};
use crate::search::duplicates::{Condition, name_duplicates, name_versions};
use crate::search::exclusion::Excluded;
use crate::search::filtering::{Restriction, have_documents};
use crate::search::grade;
use crate::search::group::Group;
use crate::search::present::present;
use crate::search::query_vector::Embeddings;
use crate::search::retrieval::{Detail, Retrieval, Timings, TitleMatch, milliseconds};
use crate::search::transform::{self, TransformInput};
use crate::tables::lock_limit::LockLimit;
use crate::tables::pins::PinRow;
use crate::tables::project::{self, Project, Projects};
use crate::tables::{rules, tuning, wake};

/// A search with checked arguments.
pub(crate) struct Request<'a> {
    pub(crate) query: Query,
    /// Further wordings of the query, by the caller.
    pub(super) also: Vec<Query>,
    pub(super) category: Option<&'a str>,
    pub(super) filter: Filter,
    /// The filter as it was given.
    pub(super) filter_argument: Value,
    pub(crate) projects: Vec<Project>,
    /// Names projects that cannot be searched.
    pub(super) left_out: Option<Notice>,
    /// Says that the filter leaves no project.
    pub(super) filtered_out: Option<Notice>,
    pub(crate) config: SearchConfig,
    /// Pages that are pinned for the query, or for the caller's wordings.
    pub(super) pins: Vec<PinRow>,
    /// Calls of the language model that this search may still make.
    pub(crate) calls: RefCell<Calls>,
    pub(super) _limit: LockLimit,
}

impl Request<'_> {
    /// Keys of the filter, and `category` if it is given.
    pub(super) fn filter_keys(&self) -> Vec<String> {
        let keys = self
            .filter_argument
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::keys);
        let category = self.category.map(|_| "category".to_owned());
        keys.cloned().chain(category).collect()
    }

    /// Number of documents to explain.
    pub(crate) fn explained(&self, detail: Detail) -> usize {
        match detail {
            Detail::Rows => 0,
            Detail::Sections => self.config.explained(),
        }
    }

    /// Reads what is shown of the results of a search, and the features of the answer if it is graded.
    pub(crate) fn present(
        &self,
        caller: &mut Caller,
        retrieval: &mut Retrieval<'_>,
        detail: Detail,
        begun: Instant,
    ) -> Result<(Answer, Option<Features>)> {
        let steps = PinSteps {
            are_shown: self.explained(detail) > 0,
            focus: None,
        };
        retrieval.pin(caller, self, steps)?;
        retrieval.fold_duplicates(caller, &self.config)?;
        retrieval.order(caller, &self.config)?;
        let copies = std::mem::take(&mut retrieval.found.copies);
        let mut title_match = retrieval.title_match(caller, self.config.offset)?;
        let chosen = retrieval.choose(caller, &self.config, detail)?;
        let presenting = Instant::now();
        let before = chosen.before;
        let (mut results, with_duplicates) =
            present(caller, &self.projects, retrieval, chosen.hits, &self.config, detail)?;
        let condition = Condition {
            category: self.category,
            filter: &self.filter,
        };
        let projects = Projects::new(&self.projects);
        name_duplicates(caller, &projects, condition, &mut results, &with_duplicates)?;
        let missing = name_versions(&copies, &mut results, &self.query.text);
        retrieval.notices.extend(missing.filter(|_| self.config.offset == 0));
        let slug = results
            .first()
            .map(|first| name::key(&first.slug))
            .filter(|_| self.config.offset == 0);
        if slug.is_some_and(|slug| slug == name::key(&self.query.text)) && self.projects.len() == 1 {
            title_match = TitleMatch::Unique;
        }
        if let (TitleMatch::Unique, Some(first)) = (title_match, results.first_mut())
            && first.score >= self.config.thresholds.min_score
        {
            first.confidence = Confidence::High;
        }
        let mut timings = vec![
            ("embed_ms", retrieval.timings.embed),
            ("rank_ms", retrieval.timings.rank),
            ("boost_ms", retrieval.timings.rules),
            ("present_ms", milliseconds(presenting)),
        ];
        let transformation = retrieval.transformation.as_ref();
        timings.extend(transformation.map(|_| ("transform_ms", retrieval.timings.transform)));
        let grading = Instant::now();
        let features = if self.config.grade {
            let features = self.features(caller, retrieval, &results, title_match != TitleMatch::None)?;
            timings.push(("grade_ms", milliseconds(grading)));
            Some(features)
        } else {
            None
        };
        timings.push(("total_ms", milliseconds(begun)));
        let grade = features.as_ref().map(|features| self.grade(features, results.len()));
        results.truncate(self.config.shown);
        // Without projects, the query is not analysed.
        let group = retrieval.groups.first();
        let mut answer = Answer {
            query: self.query.text.clone(),
            executed_query: transformation
                .map_or(&self.query.text, |transformation| &transformation.transformed)
                .clone(),
            transformation: transformation.map(serde_json::to_value).transpose().map_err(internal)?,
            understood: match (detail, group) {
                (Detail::Sections, Some(_)) => retrieval.understanding_json().map_err(internal)?,
                _ => Value::Null,
            },
            results,
            notices: std::mem::take(&mut retrieval.notices),
            tips: Vec::new(),
            suggestions: Vec::new(),
            confidence: Confidence::Low,
            candidates: retrieval.candidates,
            vector_recalled: retrieval.vector_recalled,
            probability: None,
            search_token: None,
            grade: grade.map(serde_json::to_value).transpose().map_err(internal)?,
            timings: timings.into_iter().map(|(stage, ms)| (stage.to_owned(), ms)).collect(),
            offset: before,
            syntax: self.config.syntax,
            fields: self.config.fields.clone(),
        };
        let is_generic = group.is_some_and(|group| group.understanding.class == Class::Generic);
        let lone_generic_term = is_generic && title_match != TitleMatch::Unique;
        let is_filtered = self.category.is_some() || !self.filter.is_empty() || self.filtered_out.is_some();
        // Tips for better words do not help where nothing can be found.
        let is_hopeless = answer.results.is_empty() && (is_filtered || !have_documents(caller, &projects)?);
        let tips: Vec<String> = match is_hopeless {
            true => Vec::new(),
            false => {
                let rows: Vec<String> = retrieval.rules.general().tables().tips.values().cloned().collect();
                tips(&rows, &answer.query, lone_generic_term, &answer.results)
            }
        };
        answer.conclude(lone_generic_term, &tips);
        let restriction = Restriction {
            category: self.category,
            filter: &self.filter_argument,
            parsed: &self.filter,
        };
        let reason = match &self.filtered_out {
            Some(notice) => Some(notice.clone()),
            None if answer.results.is_empty() && before == 0 => restriction.reason(caller, &projects)?,
            None => None,
        };
        if reason.is_none() {
            answer
                .notices
                .extend(restriction.unknown_keys(caller, &projects, &answer.results)?);
        }
        answer.notices.extend(reason);
        Ok((answer, features))
    }

    /// The features of an answer by the trusted wording with the best grade.
    fn features(
        &self,
        caller: &mut Caller,
        retrieval: &Retrieval<'_>,
        results: &[SearchResult],
        named: bool,
    ) -> Result<Features> {
        let weights = &self.config.weights;
        let mut best: Option<(f32, Features)> = None;
        for groups in retrieval.trusted() {
            let features = grade::features(caller, groups, results, named, weights)?;
            let score = self.grade(&features, results.len()).score;
            if best.as_ref().is_none_or(|(known, _)| score > *known) {
                best = Some((score, features));
            }
        }
        Ok(best.map(|(_, features)| features).unwrap_or_default())
    }

    /// The grade of an answer with these features and this number of results.
    pub(crate) fn grade(&self, features: &Features, results: usize) -> Grade {
        let grader = Grader::fitted();
        let grade = grader.grade(features, results, &self.config.minimum);
        let fitted = |project: &Project| project.model.name == grader.model && !project.model.remote;
        match self.projects.iter().all(fitted) {
            true => grade,
            false => grade.not_fitted(),
        }
    }

    /// Ranks documents for the query, and for its transformation if `config` has one. Explains the best documents, and
    /// `focus`, which is ranked even if it was not found.
    pub(crate) fn run(
        &self,
        caller: &mut Caller,
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Retrieval<'_>> {
        let mut retrieval = self.run_untransformed(caller, explained, focus)?;
        if self.config.transform != Transform::None {
            let begun = Instant::now();
            let (transformation, notice) = transform::transform(caller, &self.transform_input(&[]), &retrieval, None)?;
            retrieval.notices.extend(notice);
            let transform = milliseconds(begun);
            retrieval = self.fuse(caller, retrieval, transformation, explained, focus)?;
            retrieval.timings.transform = transform;
        }
        // A document that no wording found is explained by the further search.
        let added = retrieval.added.take();
        if let Some(added) = added {
            retrieval.found.remove(added);
        }
        if retrieval.is_part && (added.is_some() || retrieval.found.distinct() < self.config.wanted()) {
            let excluded = retrieval.excluded_by_wordings();
            retrieval.append(self.run_excluding(caller, &excluded, &self.query, &self.config, explained, focus)?);
        }
        Ok(retrieval)
    }

    /// The query to transform, after a language model has given `earlier` wordings.
    pub(crate) fn transform_input<'s>(&'s self, earlier: &'s [String]) -> TransformInput<'s> {
        TransformInput {
            query: &self.query.text,
            also: &self.also,
            earlier,
            projects: &self.projects,
            transform: self.config.transform,
            calls: &self.calls,
        }
    }

    /// Adds the results of the transformed query to a search, or searches again together with the wordings of a
    /// language model.
    pub(crate) fn fuse<'s>(
        &'s self,
        caller: &mut Caller,
        mut retrieval: Retrieval<'s>,
        transformation: Transformation,
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Retrieval<'s>> {
        if !transformation.wordings.is_empty() {
            retrieval = self.run_model_wordings(caller, &retrieval, &transformation.wordings, explained, focus)?;
        } else if transformation.changed
            && let Some(query) = Query::parse(&transformation.transformed)
        {
            let found = self.run_query(caller, &query, explained, focus)?;
            let other = SecondSearch {
                rule: "transformed_query",
                query: &transformation.transformed,
                share: self.config.weights.transform_share,
            };
            retrieval.fuse(found, other);
        }
        retrieval.transformation = Some(transformation);
        Ok(retrieval)
    }

    /// Ranks documents for the query and the caller's further wordings.
    pub(crate) fn run_untransformed(
        &self,
        caller: &mut Caller,
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Retrieval<'_>> {
        if self.also.is_empty() {
            return self.run_query(caller, &self.query, explained, focus);
        }
        self.run_wordings(caller, &[], explained, focus)
    }

    /// Ranks documents for a query, and for the questions in it if it has several sentences.
    pub(crate) fn run_query(
        &self,
        caller: &mut Caller,
        query: &Query,
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Retrieval<'_>> {
        let questions = self.questions(caller, query)?;
        if questions.is_empty() && self.config.transform == Transform::None {
            return self.run_configured(caller, query, &self.config, explained, focus);
        }
        let config = self.config.as_part();
        let mut retrieval = self.run_configured(caller, query, &config, explained, focus)?;
        for question in &questions {
            if let Some(query) = Query::parse(question) {
                let found = self.run_configured(caller, &query, &config, explained, focus)?;
                let other = SecondSearch {
                    rule: "question",
                    query: question,
                    share: self.config.weights.question_share,
                };
                retrieval.fuse(found, other);
            }
        }
        Ok(retrieval)
    }

    pub(super) fn run_configured(
        &self,
        caller: &mut Caller,
        query: &Query,
        config: &SearchConfig,
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Retrieval<'_>> {
        self.run_excluding(caller, &[], query, config, explained, focus)
    }

    /// Ranks documents for a query without those that have an `excluded` word or a word that the query excludes.
    fn run_excluding(
        &self,
        caller: &mut Caller,
        excluded: &[Excluded],
        query: &Query,
        config: &SearchConfig,
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Retrieval<'_>> {
        let _settings = LocalSettings::by_index()?;
        let mut retrieval = self.begin(caller, query, config)?;
        for group in &mut retrieval.groups {
            group.excluded.extend_from_slice(excluded);
        }
        let mut excluded: HashSet<String> = HashSet::new();
        let mut embeddings = Embeddings::begin(caller, [retrieval.groups.as_slice()], self.projects.len() > 1);
        let is_single = retrieval.groups.len() == 1;
        for group in &mut retrieval.groups {
            let begun = Instant::now();
            let waited_before = embeddings.milliseconds();
            let config = group.config.clone();
            let search = Search {
                category: self.category,
                filter: &self.filter,
                config: &config,
                explained,
                focus: focus.filter(|focus| group.projects.contains(focus.project)),
            };
            let Ranking {
                found,
                rules_ms,
                candidates,
                too_distant,
                excluding,
                titled,
                ..
            } = search.rank(caller, group, &mut embeddings)?;
            retrieval.candidates += candidates;
            retrieval.too_distant += too_distant;
            retrieval.titled = titled.filter(|_| is_single);
            excluded.extend(excluding);
            retrieval.found.steps.extend(found.steps);
            retrieval.found.sections.extend(found.sections);
            retrieval.found.copies.extend(found.copies);
            retrieval.found.ranked.extend(found.ranked);
            retrieval.timings.rank += milliseconds(begun) - (embeddings.milliseconds() - waited_before);
            retrieval.timings.rules += rules_ms;
        }
        embeddings.report_in(&mut retrieval);
        self.report_left_out(caller, &mut retrieval, &excluded)?;
        Ok(retrieval)
    }

    /// A search without results yet.
    pub(super) fn begin(&self, caller: &mut Caller, query: &Query, config: &SearchConfig) -> Result<Retrieval<'_>> {
        if wake::is_time_to_check() {
            let others_look = wake::if_due(caller)? | tuning::if_due(caller)?;
            if !others_look {
                shared_check::record();
            }
        }
        let rules = rules::current(caller)?;
        let mut retrieval = Retrieval {
            groups: Group::all(caller, &self.projects, query, &rules, config)?,
            rules,
            also: Vec::new(),
            further: Vec::new(),
            transformation: None,
            found: RankedDocuments::default(),
            is_part: config.is_part(),
            notices: self.left_out.clone().into_iter().collect(),
            candidates: 0,
            vector_recalled: false,
            titled: None,
            added: None,
            too_distant: 0,
            timings: Timings::default(),
        };
        if query.truncated {
            retrieval.notices.push(Notice::query_truncated(MAX_QUERY_CHARS));
        }
        let options = retrieval.groups.first().map(|group| &group.understanding.options);
        if let Some(options) = options.filter(|options| !options.is_empty()) {
            retrieval.notices.push(Notice::not_excluded(options));
        }
        Ok(retrieval)
    }

    /// Adds notices of what was left out of the results. An unknown category raises an error.
    pub(super) fn report_left_out(
        &self,
        caller: &Caller,
        retrieval: &mut Retrieval<'_>,
        excluded: &HashSet<String>,
    ) -> Result<()> {
        if retrieval.too_distant > 0 {
            let max_distance = self.config.weights.max_distance;
            retrieval
                .notices
                .push(Notice::too_distant(retrieval.too_distant, max_distance));
        }
        let first = retrieval.groups.first();
        let words = first.map_or(&[][..], |group| group.understanding.excluded.as_slice());
        let unused: Vec<&str> = words
            .iter()
            .filter(|word| !excluded.contains(*word))
            .map(String::as_str)
            .collect();
        if !unused.is_empty() {
            let notice = Notice::excluded_nothing(&unused, unused.len() < words.len());
            retrieval.notices.push(notice);
        }
        if let Some(category) = self
            .category
            .filter(|_| retrieval.candidates == 0 && self.filtered_out.is_none())
        {
            project::require_category(caller, &Projects::new(&self.projects), category)?;
        }
        Ok(())
    }
}
