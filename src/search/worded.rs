//! A search for several wordings of one question.

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
use crate::search::query_vector::Embeddings;
use crate::search::request::Request;
use crate::search::retrieval::{Retrieval, Wording, milliseconds};
use crate::search::together::{self, Looking};
use crate::tables::rules;

impl Request<'_> {
    /// The questions in a query of several sentences that are searched for besides.
    pub(super) fn questions(&self, caller: &mut Caller, query: &Query) -> Result<Vec<String>> {
        Ok(if self.config.weights.question_share > 0.0 {
            query.questions(rules::current(caller)?.general())
        } else {
            Vec::new()
        })
    }

    /// Says which words of the caller's further wordings were read as options of a command.
    fn say_options(&self, retrieval: &mut Retrieval<'_>) {
        let of_caller = retrieval.also.iter().filter(|wording| !wording.by_model);
        let groups = of_caller.filter_map(|wording| wording.groups.first());
        let options: BTreeSet<&String> = groups.flat_map(|group| &group.understanding.options).collect();
        let options: Vec<String> = options.into_iter().cloned().collect();
        if !options.is_empty() {
            retrieval.notices.push(Notice::not_excluded(&options));
        }
    }

    /// A search for the query and all its wordings, those of a language model as well, in place of the one `before`.
    pub(super) fn run_reworded(
        &self,
        caller: &mut Caller,
        before: &Retrieval<'_>,
        by_model: &[String],
        explained: usize,
        focus: Option<DocumentId>,
    ) -> Result<Retrieval<'_>> {
        let by_model: Vec<Query> = by_model.iter().filter_map(|wording| Query::parse(wording)).collect();
        let mut retrieval = self.run_worded(caller, &by_model, explained, focus)?;
        retrieval.count(before.timings);
        Ok(retrieval)
    }

    /// Ranks documents for the query and further wordings of it: those of the caller, and those `by_model`, which exclude no page.
    pub(super) fn run_worded(
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
        // Each wording, and behind it the questions in it if it has several sentences.
        let mut passes: Vec<Vec<Group<'_>>> = Vec::new();
        let mut asked_by: Vec<(usize, Option<String>)> = Vec::new();
        for (wording, query) in texts.iter().enumerate() {
            let questions = self.questions(caller, query)?;
            let questions = questions.iter().filter_map(|question| Query::parse(question));
            for (number, text) in std::iter::once((*query).clone()).chain(questions).enumerate() {
                let mut groups = match passes.is_empty() {
                    true => std::mem::take(&mut retrieval.groups),
                    false => Group::all(caller, &self.projects, &text, &retrieval.rules, &config)?,
                };
                if is_by_model(wording) {
                    groups.iter_mut().for_each(Group::exclude_nothing);
                }
                passes.push(groups);
                asked_by.push((wording, (number > 0).then_some(text.text)));
            }
        }
        let mut embeddings = Embeddings::begin(caller, passes.iter().map(Vec::as_slice), self.projects.len() > 1);
        let begun = Instant::now();
        let looking = Looking {
            category: self.category,
            filter: &self.filter,
            explains: explained > 0,
            focus,
        };
        let outcome = together::search(caller, looking, &mut passes, &mut embeddings)?;
        let share = self.config.weights.question_share;
        // Vectors of one model are compared: that of the question's first group.
        let model = passes.first().and_then(|own| own.first()).map(|group| group.model);
        let mut worded: Vec<WordingRanking> = Vec::new();
        for (pass, (found, (wording, question))) in passes.iter().zip(outcome.found.into_iter().zip(&asked_by)) {
            match (question, worded.last_mut()) {
                (Some(question), Some(of)) => of.found.fuse(
                    found,
                    SecondSearch {
                        rule: "question",
                        query: question,
                        share,
                    },
                ),
                _ => {
                    let group = pass
                        .iter()
                        .find(|group| Some(group.model.id) == model.map(|model| model.id));
                    let vector = group.map(|group| embeddings.of(caller, group)).transpose()?.flatten();
                    let by_model = is_by_model(*wording);
                    worded.push(WordingRanking {
                        vector,
                        found,
                        by_model,
                    });
                }
            }
        }
        let baseline = model.map_or(0.0, |model| model.baseline);
        let mut together = merge_wordings(worded, baseline, outcome.added);
        let texts: Vec<&str> = texts.iter().map(|query| query.text.as_str()).collect();
        together.explain(&texts, explained, focus);
        let mut passes = passes
            .into_iter()
            .zip(asked_by)
            .filter(|(_, (_, question))| question.is_none());
        if let Some((own, _)) = passes.next() {
            retrieval.groups = own;
        }
        let others = passes.zip(texts.iter().zip(&together.shares).skip(1));
        let others = others.map(|((pass, (wording, _)), (text, share))| Wording {
            text: (*text).to_owned(),
            share: *share,
            by_model: is_by_model(wording),
            groups: pass,
        });
        retrieval.also = others.collect();
        retrieval.found = together.found;
        retrieval.added = outcome.added;
        self.say_options(&mut retrieval);
        retrieval.candidates = outcome.candidates;
        retrieval.too_distant = outcome.too_distant;
        retrieval.timings.rank += milliseconds(begun) - embeddings.milliseconds();
        embeddings.count_in(&mut retrieval);
        retrieval.timings.rules += outcome.rules_ms;
        self.conclude(caller, &mut retrieval, &outcome.excluding)?;
        Ok(retrieval)
    }
}
