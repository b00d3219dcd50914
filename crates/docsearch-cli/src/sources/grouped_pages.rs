//! A source in which small pages are grouped: their documents come once all pages are read.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use docsearch_core::index::question::MAX_QUESTIONS_PER_DOCUMENT;
use docsearch_core::values::bounds::GROUPED_PAGES;
use docsearch_readers::document::Document;
use docsearch_readers::document::page_group::{Group, GroupRule, Groups, MAX_BODY_BYTES, synthesise};

use crate::process::error::Error;
use crate::sources::document_source::DocumentSource;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;

pub(crate) struct GroupedPages<'a> {
    source: &'a mut dyn DocumentSource,
    groups: Groups<'a>,
    prefix: Option<&'a str>,
    /// Source roots of which all pages are there: of others a group would lose those that are not.
    complete: HashSet<&'a str>,
    waiting: Vec<Waiting>,
    /// Their places.
    places: HashMap<Group, usize>,
    has_ended: bool,
}

/// Pages of a group.
struct Waiting {
    group: Group,
    /// Each with its place in the rule's list.
    pages: Vec<(usize, Document)>,
    /// Of their texts.
    bytes: usize,
    /// Whether they are more than a document holds: none wait then.
    is_too_large: bool,
}

impl<'a> GroupedPages<'a> {
    pub(crate) fn new(
        source: &'a mut dyn DocumentSource,
        rules: &'a [GroupRule],
        prefix: Option<&'a str>,
        complete: HashSet<&'a str>,
    ) -> Result<Self, Error> {
        let groups = Groups::new(rules)?;
        Ok(Self {
            source,
            has_ended: groups.is_empty(),
            groups,
            prefix,
            complete,
            waiting: Vec::new(),
            places: HashMap::new(),
        })
    }

    /// Has a page wait for the others of its group. Gives back what need not wait, since the group is too large.
    fn keep(&mut self, group: Group, place: usize, page: Document, report: &Report) -> Vec<Document> {
        let number = *self.places.entry(group).or_insert_with_key(|group| {
            self.waiting.push(Waiting {
                group: group.clone(),
                pages: Vec::new(),
                bytes: 0,
                is_too_large: false,
            });
            self.waiting.len() - 1
        });
        let waiting = &mut self.waiting[number];
        if waiting.is_too_large {
            return vec![page];
        }
        waiting.bytes += page.body.len();
        waiting.pages.push((place, page));
        if waiting.bytes <= MAX_BODY_BYTES && waiting.pages.len() <= GROUPED_PAGES {
            return Vec::new();
        }
        waiting.is_too_large = true;
        let pages: Vec<Document> = waiting.pages.drain(..).map(|(_, page)| page).collect();
        let first = pages.first().and_then(|page| page.source_path.clone());
        report.warning(
            &first.unwrap_or_default(),
            not_grouped("there is too much for one document"),
        );
        pages
    }

    /// The document of a group; its pages, if they cannot become one; nothing, if not all of them are known.
    fn settle(&self, waiting: Waiting, statistics: &mut SourceStatistics, report: &Report) -> Vec<Document> {
        let Waiting { group, mut pages, .. } = waiting;
        pages.sort_by_key(|(place, _)| *place);
        let mut pages: Vec<Document> = pages.into_iter().map(|(_, page)| page).collect();
        let slugs: Vec<String> = pages.iter().map(|page| page.slug.clone()).collect();
        let first = statistics.place_of(&slugs[0]);
        let document = match synthesise(&group, self.groups.rule(&group), &mut pages, self.prefix) {
            Ok(document) => document,
            Err(reason) => {
                report.warning(&first, not_grouped(&reason));
                return pages;
            }
        };
        if let Some(reason) = self.missing(&group, statistics) {
            report.warning(
                &first,
                format!("document \"{}\" stays as it is: {reason}", document.slug),
            );
            statistics.keep(&document.slug, &first);
            return Vec::new();
        }
        if !statistics.replace_pages(&slugs, &document.slug, &first) {
            report.warning(
                &first,
                format!(
                    "is not grouped: another page has the slug \"{}\"\nHINT:  Give the group a slug of its own.",
                    document.slug
                ),
            );
            return pages;
        }
        let asked: usize = pages.iter().map(|page| page.own_questions().len()).sum();
        let left_out = asked.saturating_sub(document.own_questions().len());
        if left_out > 0 {
            let reason = format!(
                "{left_out} of {asked} questions left out: a document has at most {MAX_QUESTIONS_PER_DOCUMENT}"
            );
            report.warning(&first, reason);
            (0..left_out).for_each(|_| statistics.skip_question());
        }
        vec![document]
    }

    /// Why pages of a group may not be there.
    fn missing(&self, group: &Group, statistics: &SourceStatistics) -> Option<String> {
        if !self.complete.contains(group.source_root()) {
            return Some("not all of its pages are read\nHINT:  Index the whole folder.".to_owned());
        }
        let mut unread = statistics.unread();
        let (_, path) = unread.find(|(root, path)| self.groups.may_hold(group, root, Path::new(path)))?;
        Some(format!(
            "{path} cannot be read\nHINT:  Correct the file, or leave it out with exclude."
        ))
    }
}

impl DocumentSource for GroupedPages<'_> {
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        if let Some(documents) = self.source.next(statistics, report)? {
            let mut others = Vec::with_capacity(documents.len());
            for document in documents {
                match self.groups.of(&document) {
                    Some((group, place)) => others.append(&mut self.keep(group, place, document, report)),
                    None => others.push(document),
                }
            }
            return Ok(Some(others));
        }
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(None);
        }
        let waiting = std::mem::take(&mut self.waiting);
        let documents = waiting
            .into_iter()
            .filter(|waiting| !waiting.is_too_large)
            .flat_map(|waiting| self.settle(waiting, statistics, report));
        Ok(Some(documents.collect()))
    }

    /// All groups count as one source.
    fn len(&self) -> Option<u64> {
        let own = u64::from(!self.groups.is_empty());
        self.source.len().map(|others| others + own)
    }
}

fn not_grouped(reason: &str) -> String {
    format!("is not grouped: {reason}\nHINT:  Give the rule fewer pages.")
}
