//! The subject of a query: a name in it that documents have, if the other words only frame it.
//!
//! Words frame a name if no section has them together with it. `alternatives to Grid` is about Grid, and so is a
//! question in a language that no document is written in. `align columns in Grid` is about the section that has all
//! these words.

use crate::documents::question_chunk::is_question;
use crate::index::corpus::{ChunkTerms, Corpora, Corpus};
use crate::query::lookup::LookupTerm;
use crate::query::mention::Identifier;
use crate::query::rule::Rules;
use crate::query::understanding::{CandidateName, NameRole, Sentence, Understanding, frames};
use crate::ranking::rank::Evidence;
use crate::text::form::Form;
use crate::text::name::NameKind;
use crate::text::token::{is_qualified, qualified_segments, tokens};
use crate::values::id::{DocumentId, Map};

/// Most documents of a project with a name that is recognised. A name of more is too general. Chosen, not measured.
pub const MAX_SUBJECT_DOCUMENTS: usize = 2;
/// Weight of a word that a section has with the name, but not in its title or headings. Numbers, as of versions, always
/// count in full.
const IN_BODY: f32 = 0.5;
/// Share of the other words, by inverse document frequency, from which on a section is the answer; by the number of
/// these words that any section has. The more words, the less a small share can be chance. Chosen on 840 questions in
/// 35 frames over four manuals, most of whose names should be recognised, and on 706 questions of people over
/// eighteen manuals, few of which should lose their first page.
const MEETS: [f32; 5] = [1.0, 0.51, 0.45, 0.4, 0.34];
/// The subject is the first name with at least this share of the greatest inverse document frequency. Chosen on the
/// same.
const NEARLY_AS_RARE: f32 = 0.3;

/// A query whose subject is looked for.
#[derive(Clone, Copy, Debug)]
pub struct SubjectQuery<'a> {
    /// The query.
    pub understanding: &'a Understanding,
    /// The candidate names that were looked up.
    pub candidate_names: &'a [CandidateName],
    /// The terms that were looked up.
    pub terms: &'a [LookupTerm],
    /// The rules.
    pub rules: &'a Rules,
}

/// A name that may be the subject.
struct SubjectCandidate<'a> {
    index: usize,
    documents: Vec<DocumentId>,
    /// Indexes of its terms.
    own: Vec<usize>,
    corpus: &'a Corpus,
}

impl SubjectCandidate<'_> {
    fn idf(&self) -> f32 {
        self.own.iter().map(|&term| self.corpus.terms[term].idf).sum()
    }

    /// Whether another name has all its words and more.
    fn is_within(&self, other: &Self) -> bool {
        other.own.len() > self.own.len() && self.own.iter().all(|term| other.own.contains(term))
    }
}

impl SubjectQuery<'_> {
    /// The candidate names that the query is about, with their new roles: the subject, and names that it is compared
    /// with. `names` are the documents with a candidate name, the kind of the name, and its index.
    pub(crate) fn subjects(
        &self,
        names: impl Iterator<Item = (DocumentId, NameKind, usize)>,
        evidence: &Evidence,
        corpora: &Corpora,
    ) -> Vec<(usize, NameRole)> {
        // Queries for what is new have no subject but time.
        if self.understanding.only_recent || self.understanding.releases {
            return Vec::new();
        }
        let found = self.candidates(names, corpora);
        // Most queries have none, and need no parsing.
        if found.is_empty() {
            return Vec::new();
        }
        let found: Vec<&SubjectCandidate<'_>> = found
            .iter()
            .filter(|one| !found.iter().any(|other| one.is_within(other)))
            .collect();
        let sentence = Sentence::read(&self.understanding.topic, self.rules);
        let compared = self.compared(&found, &sentence);
        let is_framed = |candidate: &SubjectCandidate<'_>| {
            let key = self.key(candidate);
            // A query with more words is a sentence about something, whether documents have the words or not. For
            // "manage notes", verbs decide and not the names of objects.
            if sentence.words_beside(key, self.rules) >= MEETS.len()
                || sentence.has_verb_before(key, self.rules)
                || sentence.has_code_beside(key, self.understanding.container.as_deref())
            {
                return false;
            }
            let beside = compared.filter(|pair| pair.iter().any(|one| one.index == candidate.index));
            let beside = beside.into_iter().flatten().flat_map(|one| one.own.iter().copied());
            self.is_framed(candidate, &beside.collect::<Vec<usize>>(), evidence)
        };
        let framed: Vec<&SubjectCandidate<'_>> =
            found.iter().copied().filter(|candidate| is_framed(candidate)).collect();
        let is_pair =
            compared.is_some_and(|[first, second]| sentence.is_pair(self.key(first), self.key(second), self.rules));
        let rarest = framed.iter().map(|candidate| candidate.idf()).fold(0.0, f32::max);
        let first = compared.map(|[first, _]| first.index);
        let subject = framed
            .iter()
            .find(|candidate| Some(candidate.index) == first || candidate.idf() >= rarest * NEARLY_AS_RARE);
        let mut roles: Vec<(usize, NameRole)> = Vec::new();
        for candidate in &framed {
            let role = match subject {
                Some(subject) if subject.index == candidate.index && !is_pair => NameRole::Subject,
                _ => NameRole::Compared,
            };
            if roles.iter().all(|(index, _)| *index != candidate.index) {
                roles.push((candidate.index, role));
            }
        }
        roles
    }

    fn key(&self, candidate: &SubjectCandidate<'_>) -> &str {
        &self.candidate_names[candidate.index].key
    }

    /// The names within the query that few documents of a project have, in the order of the query.
    fn candidates<'a>(
        &self,
        names: impl Iterator<Item = (DocumentId, NameKind, usize)>,
        corpora: &'a Corpora,
    ) -> Vec<SubjectCandidate<'a>> {
        let mut documents: Map<(i64, usize), Vec<DocumentId>> = Map::default();
        let mut qualified: Vec<(i64, &str)> = Vec::new();
        // Many documents may have one name.
        let mut are_qualified: Map<usize, bool> = Map::default();
        for (document, kind, index) in names {
            let text = self.candidate_names[index].text.as_str();
            let is_qualified = *are_qualified.entry(index).or_insert_with(|| is_qualified(text));
            if kind != NameKind::Address && is_qualified {
                qualified.push((document.project, text));
            }
            let is_within = matches!(self.candidate_names[index].role, NameRole::Within | NameRole::Mention);
            // "guide install" are words, and `io::Write` is a name.
            let is_name = match kind {
                NameKind::Path => is_qualified,
                NameKind::Address | NameKind::Unprefixed => false,
                _ => true,
            };
            if is_within && is_name {
                documents.entry((document.project, index)).or_default().push(document);
            }
        }
        // If the project has `Thread.join`, then `join` of something else is not meant.
        documents.retain(|(project, index), _| {
            let name = self.candidate_names[*index].text.as_str();
            let is_member = |whole: &str| {
                qualified_segments(whole)
                    .iter()
                    .skip(1)
                    .any(|part| whole[part.start..] == *name)
            };
            !qualified.iter().any(|(own, whole)| own == project && is_member(whole))
        });
        let candidate = |((project, index), documents): ((i64, usize), Vec<DocumentId>)| {
            let corpus = corpora
                .get(&project)
                .filter(|_| documents.len() <= MAX_SUBJECT_DOCUMENTS)?;
            let own = self.terms_of(&self.candidate_names[index].text);
            Some(SubjectCandidate {
                index,
                documents,
                own,
                corpus,
            })
        };
        let mut candidates: Vec<SubjectCandidate<'_>> = documents.into_iter().filter_map(candidate).collect();
        candidates.sort_by_key(|candidate| (candidate.own.first().copied(), candidate.index));
        candidates
    }

    /// Indexes of the terms of a text.
    fn terms_of(&self, text: &str) -> Vec<usize> {
        let form = Form::of(text);
        let text = form.text();
        let words: Vec<&str> = tokens(text).map(|token| &text[token.range]).collect();
        let is_own = |term: &LookupTerm| words.iter().any(|word| term.text.eq_ignore_ascii_case(word));
        let own = self.terms.iter().enumerate().filter(|(_, term)| is_own(term));
        own.map(|(index, _)| index).collect()
    }

    /// The first two names that the query compares.
    fn compared<'a, 'b>(
        &self,
        found: &[&'a SubjectCandidate<'b>],
        sentence: &Sentence,
    ) -> Option<[&'a SubjectCandidate<'b>; 2]> {
        let compares = |first: &SubjectCandidate<'_>, second: &SubjectCandidate<'_>| {
            sentence.compares(self.key(first), self.key(second), self.rules)
        };
        found.iter().enumerate().find_map(|(index, &first)| {
            let second = found[index + 1..].iter().find(|second| compares(first, second))?;
            Some([first, *second])
        })
    }

    /// Whether the words beside a name, except those at the indexes `beside`, only frame it.
    fn is_framed(&self, candidate: &SubjectCandidate<'_>, beside: &[usize], evidence: &Evidence) -> bool {
        let container = self.understanding.container.as_deref();
        let in_container = container.map_or_else(Vec::new, |container| self.terms_of(container));
        let as_name = candidate.own.iter().any(|&at| self.terms[at].name);
        let is_general = !as_name && self.is_general(&self.candidate_names[candidate.index].text);
        // "module object" is no question about object.
        let frames = |word: &str| frames(word, self.rules) && !(is_general && self.is_general(word));
        let says_more =
            |term: &LookupTerm| term.written && term.whole && !term.stop_word && !frames(&term.text.to_lowercase());
        let others: Vec<usize> = (0..self.terms.len())
            .filter(|at| !candidate.own.contains(at) && !beside.contains(at) && !in_container.contains(at))
            .filter(|&at| says_more(&self.terms[at]))
            .collect();
        if others.is_empty() {
            return true;
        }
        let corpus = candidate.corpus;
        let known: Vec<usize> = others.iter().copied().filter(|&at| corpus.terms[at].is_held).collect();
        let is_code = |at: &usize| Identifier::read(&self.terms[*at].text).is_some();
        let Some(&least) = MEETS.get(known.len()).filter(|_| !known.iter().any(is_code)) else {
            return false;
        };
        let all: f32 = others.iter().map(|&at| corpus.terms[at].idf).sum();
        let meets = |terms: &ChunkTerms| {
            let closeness = |at: usize| terms.frequencies.get(at).map_or(0.0, |found| found.closeness);
            if !candidate.own.iter().all(|&at| closeness(at) >= 1.0) {
                return 0.0;
            }
            let here = known.iter().filter(|&&at| closeness(at) > 0.0).map(|&at| {
                let found = &terms.frequencies[at];
                let heads = found.title > 0.0 || found.heading > 0.0;
                let is_number = self.terms[at].text.starts_with(|first: char| first.is_ascii_digit());
                closeness(at) * corpus.terms[at].idf * if heads || is_number { 1.0 } else { IN_BODY }
            });
            here.sum::<f32>() / all
        };
        let project = candidate.documents.first().map(|document| document.project);
        let sections = evidence.terms.iter();
        let sections = sections.filter(|(id, _)| Some(id.document.project) == project && !is_question(id.chunk));
        let most = sections.map(|(_, terms)| meets(terms)).fold(0.0, f32::max);
        most < if is_general { least * IN_BODY } else { least }
    }

    /// Whether a name is a kind of thing or a generic term: `operator`, `type`.
    fn is_general(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let tables = self.rules.tables();
        let is_general = |word: &str| tables.kind_words.contains(word) || tables.generic_terms.contains_key(word);
        is_general(&name) || name.strip_suffix('s').is_some_and(is_general)
    }
}

#[cfg(test)]
mod tests;
