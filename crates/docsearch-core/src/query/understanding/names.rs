//! The candidate names of a query.

use super::sentence::Sentence;
use super::{ACRONYM, CandidateName, MAX_WRITTEN_OUT, NameRole, Subject, Understanding};
use crate::query::rule::{MAX_RULE_PHRASE_WORDS, Rules};
use crate::text::form::unaccented;
use crate::text::name;
use crate::text::word::folded;

impl Understanding {
    /// The candidate names, strongest first, each key once.
    pub fn candidate_names(&self) -> Vec<CandidateName> {
        let mut names: Vec<CandidateName> = Vec::new();
        let mut add = |text: &str, role| {
            let key = name::key(text);
            if !key.is_empty() && names.iter().all(|known| known.key != key) {
                names.push(CandidateName {
                    text: text.to_owned(),
                    key,
                    role,
                    project: None,
                });
            }
        };
        add(&self.text, NameRole::Whole);
        add(&self.topic, NameRole::Whole);
        for bare in [unaccented(&self.text), unaccented(&self.topic)].into_iter().flatten() {
            add(&bare, NameRole::Unaccented);
        }
        if let Some(subject) = &self.subject {
            add(subject, NameRole::Symbol);
        }
        if let Some(symbol) = &self.symbol {
            let role = if self.subject.as_ref() == Some(symbol) {
                NameRole::Symbol
            } else {
                NameRole::WithoutKind
            };
            add(symbol, role);
        }
        if let Some(undated) = &self.undated {
            add(undated, NameRole::WithoutKind);
        }
        if let Some(command) = self.command() {
            add(&command, NameRole::Subject);
        }
        if let (Some(parent), Some(child)) = (&self.parent, &self.child) {
            add(&format!("{parent} {child}"), NameRole::Path);
        }
        if self.terms.len() <= MAX_RULE_PHRASE_WORDS {
            for (at, term) in self.terms.iter().enumerate() {
                for synonym in &term.synonyms {
                    let mut words: Vec<&str> = self.terms.iter().map(|term| term.word.text.as_str()).collect();
                    words[at] = synonym;
                    add(&words.join(" "), NameRole::Expanded);
                }
            }
        }
        let whole: Vec<String> = self.topic.split_whitespace().map(folded).collect();
        let acronyms = self.terms.iter().filter(|term| {
            self.terms.len() <= MAX_WRITTEN_OUT
                && ACRONYM.contains(&term.word.text.len())
                && whole.contains(&term.word.text)
        });
        for long in acronyms
            .flat_map(|term| &term.synonyms)
            .filter(|long| long.contains(' '))
        {
            add(long, NameRole::WrittenOut);
            add(&format!("{long}s"), NameRole::WrittenOut);
        }
        for identifier in &self.identifiers {
            add(&identifier.text, NameRole::Mention);
            add(&identifier.name, NameRole::Mention);
        }
        for identifier in &self.identifiers {
            for qualifier in identifier.qualifiers() {
                add(qualifier, NameRole::Qualifier);
            }
        }
        names
    }

    /// Candidate names within the query, without those in `known`.
    pub fn candidate_names_within(&self, known: &[CandidateName], rules: &Rules) -> Vec<CandidateName> {
        let mut names: Vec<CandidateName> = Vec::new();
        for run in Sentence::read(&self.topic, rules).runs {
            if known.iter().chain(&names).all(|candidate| candidate.key != run.key) {
                names.push(CandidateName {
                    text: run.text,
                    key: run.key,
                    role: NameRole::Within,
                    project: None,
                });
            }
        }
        names
    }

    /// Adds a subject, once documents with its name were found.
    pub fn add_subject(&mut self, name: &str, compared: bool) {
        if self.subjects.iter().all(|subject| subject.text != name) {
            self.subjects.push(Subject {
                text: name.to_owned(),
                compared,
            });
        }
    }
}
