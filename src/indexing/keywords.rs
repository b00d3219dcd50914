//! Keywords of documents: the words that distinguish a document within its project.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use docsearch_core::documents::keyword::{self, KeywordCandidate};
use docsearch_core::documents::markdown;
use docsearch_core::index::bm25;
use docsearch_core::text::token::TokenKind;
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::{Caller, Owner, Role};
use crate::postgres::statement;
use crate::tables::project::{Project, Projects};
use crate::tables::statistics;
use crate::tables::terms;

/// Number of keywords of a document.
const MAX_KEYWORDS: usize = 12;
/// Where policies hide documents from the caller, words in fewer chunks count as new: the keywords would otherwise show
/// which words hidden documents have.
const MIN_FREQUENCY: f64 = 50.0;

/// Chooses keywords for the documents of one call. Documents share many words, and the statistics change only at the
/// end of the call. So each word is looked up once.
pub(crate) struct Keywords<'a> {
    project: &'a Project,
    /// Number of chunks of the project.
    chunks: f64,
    /// Frequencies below this count as 0.
    least: f64,
    /// The idf of words, by the kind of their token.
    idf: RefCell<HashMap<(i32, String), f32>>,
}

impl<'a> Keywords<'a> {
    /// `limited`: whether policies apply to the caller.
    pub(crate) fn open(owner: &Owner<'_>, project: &'a Project, limited: bool) -> Result<Self> {
        let totals = statistics::totals(owner, &Projects::new([project]))?.remove(&project.id);
        Ok(Self {
            project,
            chunks: totals.unwrap_or_default().chunks,
            least: if limited { MIN_FREQUENCY } else { 0.0 },
            idf: RefCell::default(),
        })
    }

    /// The keywords of a document, by its plain text and its Markdown.
    pub(crate) fn of(&self, caller: &mut Caller, plain: &str, body: &str) -> Result<Vec<String>> {
        let candidates = keyword::candidates(plain);
        self.look_up(caller, &candidates)?;
        let known = self.idf.borrow();
        let idf: Vec<f32> = candidates
            .iter()
            .map(|candidate| known.get(&key(candidate)).copied().unwrap_or_default())
            .collect();
        Ok(keyword::select(
            &candidates,
            &idf,
            &markdown::code_identifiers(body),
            MAX_KEYWORDS,
        ))
    }

    fn look_up(&self, caller: &mut Caller, candidates: &[KeywordCandidate]) -> Result<()> {
        let mut known = self.idf.borrow_mut();
        let unknown: Vec<&KeywordCandidate> = candidates
            .iter()
            .filter(|candidate| !known.contains_key(&key(candidate)))
            .collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let kinds: Vec<i32> = unknown.iter().map(|candidate| candidate.kind as i32).collect();
        let words: Vec<&str> = unknown.iter().map(|candidate| candidate.word.as_str()).collect();
        let lexemes = terms::lexemes(caller, &self.project.text_config, &kinds, &words)?;
        let owner = &caller.as_owner()?;
        let projects = Projects::new([self.project]);
        let frequencies = statistics::frequencies(owner, &projects, lexemes.iter().flatten().cloned().collect())?;
        let stop_words = stop_words(owner, &self.project.text_config, &words)?;
        for (candidate, lexemes) in unknown.into_iter().zip(lexemes) {
            let is_word = candidate.kind == TokenKind::Word;
            if is_word && (stop_words.contains(&candidate.word) || keyword::is_stop_word(&candidate.word)) {
                known.insert(key(candidate), 0.0);
                continue;
            }
            let frequency = lexemes.first().map_or(0.0, |lexeme| frequencies.sum(lexeme));
            let frequency = if frequency < self.least { 0.0 } else { frequency };
            known.insert(key(candidate), bm25::idf(self.chunks, frequency));
        }
        Ok(())
    }
}

/// The words that are stop words in the language of a configuration, which itself keeps them.
fn stop_words(owner: &Owner<'_>, text_config: &str, words: &[&str]) -> Result<HashSet<String>> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let found = statement::rows(
        owner,
        "SELECT w.word FROM unnest($1::text[]) AS w(word), pg_ts_dict d
         WHERE d.dictnamespace = 'pg_catalog'::regnamespace
           AND d.dictname::text = (SELECT c.cfgname || '_stem' FROM pg_ts_config c WHERE c.oid = $2::regconfig)
           AND ts_lexize(d.oid::regdictionary, lower(w.word)) = '{}'",
        &[DatumWithOid::from(words), DatumWithOid::from(text_config)],
        |row| row.required(1),
    )?;
    Ok(found.into_iter().collect())
}

fn key(candidate: &KeywordCandidate) -> (i32, String) {
    (candidate.kind as i32, candidate.word.clone())
}
