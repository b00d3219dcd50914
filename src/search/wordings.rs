//! A search for several wordings of one query.

use std::collections::BTreeSet;
use std::time::Instant;

use docsearch_core::answer::delivery::Notice;
use docsearch_core::query::input::Query;
use docsearch_core::ranking::fusion::SecondSearch;
use docsearch_core::ranking::wording::{WordingRanking, merge_wordings};
use docsearch_core::values::id::DocumentId;

use crate::postgres::owner::LocalSettings;
use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::search::group::Group;
use crate::search::joint_search::{self, Options};
use crate::search::query_vector::Embeddings;
use crate::search::request::Request;
use crate::search::retrieval::{Retrieval, Wording, milliseconds};
use crate::tables::rules;

impl Request<'_> {
    /// The questions in a query of several sentences, which are searched as well.
    pub(super) fn questions(&self, caller: &mut Caller, query: &Query) -> Result<Vec<String>> {
        Ok(if self.config.weights.question_share > 0.0 {
            query.questions(rules::current(caller)?.general())
        } else {
            Vec::new()
        })
    }

    /// Adds a notice of words in the caller's further wordings that were read as options of a command, and not as
    /// exclusions.
    fn report_options(&self, retrieval: &mut Retrieval<'_>) {
        let of_caller = retrieval.also.iter().filter(|wording| !wording.by_model);
        let groups = of_caller.filter_map(|wording| wording.groups.first());
        let options: BTreeSet<&String> = groups.flat_map(|group| &group.understanding.options).collect();
        let options: Vec<String> = options.into_iter().cloned().collect();
        if !options.is_empty() {
            retrieval.notices.push(Notice::not_excluded(&options));
        }
    }

    /// A search for the query, the caller's wordings and those of a language model. It replaces the search `before`.
    pub(super) fn run_model_wordings(
        &self,
        caller: &mut Caller,
        before: &Retrieval<'_>,
        by_model: &[String],
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Retrieval<'_>> {
        let by_model: Vec<Query> = by_model.iter().filter_map(|wording| Query::parse(wording)).collect();
        let mut retrieval = self.run_wordings(caller, &by_model, explained, focus)?;
        retrieval.add_timings(before.timings);
        Ok(retrieval)
    }

    /// Ranks documents for the query, the caller's wordings, and the wordings `by_model`, whose exclusions are ignored.
    pub(super) fn run_wordings(
        &self,
        caller: &mut Caller,
        by_model: &[Query],
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Retrieval<'_>> {
        let config = self.config.as_part();
        let _settings = LocalSettings::by_index()?;
        let mut retrieval = self.begin(caller, &self.query, &config)?;
        let of_caller = std::iter::once(&self.query).chain(&self.also);
        let texts: Vec<&Query> = of_caller.chain(by_model).collect();
        let is_by_model = |wording: usize| wording > self.also.len();
        // Each wording, followed by the questions in it if it has several sentences.
        let mut groups_of: Vec<Vec<Group<'_>>> = Vec::new();
        let mut origins: Vec<(usize, Option<String>)> = Vec::new();
        for (wording, query) in texts.iter().enumerate() {
            let questions = self.questions(caller, query)?;
            let questions = questions.iter().filter_map(|question| Query::parse(question));
            for (number, text) in std::iter::once((*query).clone()).chain(questions).enumerate() {
                let mut groups = match groups_of.is_empty() {
                    true => std::mem::take(&mut retrieval.groups),
                    false => Group::all(caller, &self.projects, &text, &retrieval.rules, &config)?,
                };
                if is_by_model(wording) {
                    groups.iter_mut().for_each(Group::clear_exclusions);
                }
                groups_of.push(groups);
                origins.push((wording, (number > 0).then_some(text.text)));
            }
        }
        let mut embeddings = Embeddings::begin(caller, groups_of.iter().map(Vec::as_slice), self.projects.len() > 1);
        let begun = Instant::now();
        let options = Options {
            category: self.category,
            filter: &self.filter,
            explains: explained > 0,
            focus,
        };
        let outcome = joint_search::search(caller, options, &mut groups_of, &mut embeddings)?;
        let share = self.config.weights.question_share;
        // The vectors of wordings are compared with each other, all by the model of the query's first group.
        let model = groups_of.first().and_then(|own| own.first()).map(|group| group.model);
        let mut rankings: Vec<WordingRanking> = Vec::new();
        for (groups, (found, (wording, question))) in groups_of.iter().zip(outcome.found.into_iter().zip(&origins)) {
            match (question, rankings.last_mut()) {
                (Some(question), Some(of)) => of.found.fuse(
                    found,
                    SecondSearch {
                        rule: "question",
                        query: question,
                        share,
                    },
                ),
                _ => {
                    let group = groups
                        .iter()
                        .find(|group| Some(group.model.id) == model.map(|model| model.id));
                    let vector = group.map(|group| embeddings.of(caller, group)).transpose()?.flatten();
                    let by_model = is_by_model(*wording);
                    rankings.push(WordingRanking {
                        vector,
                        found,
                        by_model,
                    });
                }
            }
        }
        let baseline = model.map_or(0.0, |model| model.baseline);
        let mut merged = merge_wordings(rankings, baseline, outcome.added);
        let texts: Vec<&str> = texts.iter().map(|query| query.text.as_str()).collect();
        merged.explain(&texts, explained, focus);
        let mut groups_of = groups_of
            .into_iter()
            .zip(origins)
            .filter(|(_, (_, question))| question.is_none());
        if let Some((own, _)) = groups_of.next() {
            retrieval.groups = own;
        }
        let others = groups_of.zip(texts.iter().zip(&merged.shares).skip(1));
        let others = others.map(|((groups, (wording, _)), (text, share))| Wording {
            text: (*text).to_owned(),
            share: *share,
            by_model: is_by_model(wording),
            groups,
        });
        retrieval.also = others.collect();
        retrieval.found = merged.found;
        retrieval.added = outcome.added;
        self.report_options(&mut retrieval);
        retrieval.candidates = outcome.candidates;
        retrieval.too_distant = outcome.too_distant;
        retrieval.timings.rank += milliseconds(begun) - embeddings.milliseconds();
        embeddings.report_in(&mut retrieval);
        retrieval.timings.rules += outcome.rules_ms;
        self.report_left_out(caller, &mut retrieval, &outcome.excluding)?;
        Ok(retrieval)
    }
}
