//! A source that groups small pages into documents. It returns these after reading all pages.

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
    /// Source roots that are read completely: groups of others would lose pages.
    complete: HashSet<&'a str>,
    waiting: Vec<Waiting>,
    /// Indexes in `waiting`.
    indexes: HashMap<Group, usize>,
    has_ended: bool,
}

/// The pages of a group.
struct Waiting {
    group: Group,
    /// With their positions in the list of the rule.
    pages: Vec<(usize, Document)>,
    /// Total size of their texts.
    bytes: usize,
    /// Whether they exceed the limits of a document: then no pages are kept.
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
            indexes: HashMap::new(),
        })
    }

    /// Keeps a page for its group. Returns the pages if the group is too large.
    fn add_page(&mut self, group: Group, position: usize, page: Document, report: &Report) -> Vec<Document> {
        let number = *self.indexes.entry(group).or_insert_with_key(|group| {
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
        waiting.pages.push((position, page));
        if waiting.bytes <= MAX_BODY_BYTES && waiting.pages.len() <= GROUPED_PAGES {
            return Vec::new();
        }
        waiting.is_too_large = true;
        let pages: Vec<Document> = waiting.pages.drain(..).map(|(_, page)| page).collect();
        let first = pages.first().and_then(|page| page.source_path.clone());
        report.warning(
            &first.unwrap_or_default(),
            not_grouped("the pages are too large for one document"),
        );
        pages
    }

    /// The document of a group; its pages if they cannot be grouped; nothing if some of its pages are unknown.
    fn finish_group(&self, waiting: Waiting, statistics: &mut SourceStatistics, report: &Report) -> Vec<Document> {
        let Waiting { group, mut pages, .. } = waiting;
        pages.sort_by_key(|(position, _)| *position);
        let mut pages: Vec<Document> = pages.into_iter().map(|(_, page)| page).collect();
        let slugs: Vec<String> = pages.iter().map(|page| page.slug.clone()).collect();
        let first = statistics.source_of(&slugs[0]);
        let document = match synthesise(&group, self.groups.rule(&group), &mut pages, self.prefix) {
            Ok(document) => document,
            Err(reason) => {
                report.warning(&first, not_grouped(&reason));
                return pages;
            }
        };
        if let Some(reason) = self.missing_pages(&group, statistics) {
            report.warning(
                &first,
                format!("document \"{}\" is not updated: {reason}", document.slug),
            );
            statistics.keep(&document.slug, &first);
            return Vec::new();
        }
        if !statistics.replace_pages(&slugs, &document.slug, &first) {
            report.warning(
                &first,
                format!(
                    "is not grouped: another page has the slug \"{}\"\nHINT:  Give the group another slug.",
                    document.slug
                ),
            );
            return pages;
        }
        let count: usize = pages.iter().map(|page| page.own_questions().len()).sum();
        let left_out = count.saturating_sub(document.own_questions().len());
        if left_out > 0 {
            let reason = format!(
                "{left_out} of {count} questions left out: a document has at most {MAX_QUESTIONS_PER_DOCUMENT}"
            );
            report.warning(&first, reason);
            (0..left_out).for_each(|_| statistics.skip_question());
        }
        vec![document]
    }

    /// Why pages of a group may be missing.
    fn missing_pages(&self, group: &Group, statistics: &SourceStatistics) -> Option<String> {
        if !self.complete.contains(group.source_root()) {
            return Some("not all of its pages were read\nHINT:  Index the whole folder.".to_owned());
        }
        let mut unread = statistics.unread();
        let (_, path) = unread.find(|(root, path)| self.groups.may_hold(group, root, Path::new(path)))?;
        Some(format!(
            "{path} cannot be read\nHINT:  Correct the file, or exclude it."
        ))
    }
}

impl DocumentSource for GroupedPages<'_> {
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        if let Some(documents) = self.source.next(statistics, report)? {
            let mut others = Vec::with_capacity(documents.len());
            for document in documents {
                match self.groups.of(&document) {
                    Some((group, position)) => others.append(&mut self.add_page(group, position, document, report)),
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
            .flat_map(|waiting| self.finish_group(waiting, statistics, report));
        Ok(Some(documents.collect()))
    }

    /// All groups together count as one source.
    fn len(&self) -> Option<u64> {
        let own = u64::from(!self.groups.is_empty());
        self.source.len().map(|others| others + own)
    }
}

fn not_grouped(reason: &str) -> String {
    format!("is not grouped: {reason}\nHINT:  Change the rule so that it has fewer pages.")
}
