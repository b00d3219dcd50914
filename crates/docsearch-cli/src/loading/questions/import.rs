//! `docsearch questions import`: replaces the author's questions of the pages that a file names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use docsearch_core::documents::grouped_page::{GroupedPage, page_at};
use docsearch_core::index::question::{Question, Sections};
use docsearch_core::values::bounds::counted;
use docsearch_readers::document::page_group::{PageSection, parts};
use docsearch_readers::page_questions::question_file::{
    HINTS, QuestionFile, QuestionList, QuestionedPage, Warning, damaged, left_out, no_such_page, with_anchors,
};
use postgres::Client;
use postgres::types::Json;
use serde_json::json;

use crate::loading::project;
use crate::process::error::Error;
use crate::process::outcome::Outcome;
use crate::terminal::sanitize_line;

/// A document, or a page that was grouped into one.
struct QuestionTarget {
    slug: String,
    title: String,
    /// For a page, only its headings.
    body: String,
    page: Option<PageSection>,
}

/// The questions that the file has for a document.
#[derive(Default)]
struct NewQuestions {
    list: QuestionList,
    /// The pages of the document that are named; all if `is_whole`.
    pages: BTreeSet<String>,
    is_whole: bool,
}

pub(super) fn import(client: &mut Client, project: &str, bytes: &[u8], name: &Path) -> Result<Outcome, Error> {
    // Fails if there is no such project.
    client.query("SELECT FROM docsearch.questions($1) LIMIT 1", &[&project])?;
    let (file, mut warnings) = QuestionFile::read(bytes);
    if file.is_damaged() {
        warn(&warnings);
        return Err(damaged(&name.display().to_string()).into());
    }
    let mut documents = Documents::read(client, project)?;
    let mut by_document: BTreeMap<String, NewQuestions> = BTreeMap::new();
    let (mut questions, mut pages) = (0, 0);
    for (path, asked) in file.pages() {
        let targets = documents.of(client, path)?;
        if targets.is_empty() {
            warnings.push(no_such_page(path, asked));
            continue;
        }
        let of_pages: Vec<QuestionedPage<'_>> = targets
            .iter()
            .map(|target| QuestionedPage {
                title: &target.title,
                body: &target.body,
                own: Vec::new(),
            })
            .collect();
        let (placed, mut complaints) = with_anchors(path, asked, &of_pages, HINTS);
        warnings.append(&mut complaints);
        for (target, own) in targets.iter().zip(placed) {
            let new = by_document.entry(target.slug.clone()).or_default();
            match &target.page {
                Some(page) => drop(new.pages.insert(page.key.clone())),
                None => new.is_whole = true,
            }
            let before = new.list.questions.len();
            for question in own {
                let anchor = target.page.as_ref().map(|page| page.anchor(&question.anchor));
                let anchor = anchor.unwrap_or_else(|| question.anchor.clone());
                if let Err(reason) = new.list.add(Question { anchor, ..question }) {
                    warnings.push(left_out(path, asked, &reason));
                }
            }
            questions += (new.list.questions.len() - before) as i64;
            pages += 1;
        }
    }
    let mut lost = Vec::new();
    for (slug, mut new) in by_document {
        if !new.is_whole {
            lost.extend(documents.keep_others(client, &slug, &mut new)?);
        }
        client.query_one(
            "SELECT docsearch.set_questions($1, $2, $3::jsonb)",
            &[&project, &slug, &Json(json!(new.list.questions))],
        )?;
    }
    if pages > 0 {
        project::merge(client, project)?;
    }
    warnings.sort_by_key(|warning| warning.line);
    warn(&warnings);
    lost.iter()
        .for_each(|text| eprintln!("{}", sanitize_line(&format!("warning: {text}"))));
    println!("{} of {}", counted(questions, "question"), counted(pages, "page"));
    Ok(match warnings.is_empty() && lost.is_empty() {
        true => Outcome::Complete,
        false => Outcome::Partial,
    })
}

fn warn(warnings: &[Warning]) {
    for Warning { line, reason, .. } in warnings {
        eprintln!("{}", sanitize_line(&format!("warning: line {line}: {reason}")));
    }
}

/// The documents of a project, by the names that files use for them.
struct Documents<'a> {
    project: &'a str,
    /// The pages of grouped documents, by the slugs of these documents.
    grouped: BTreeMap<String, Vec<GroupedPage>>,
    /// Slugs of grouped documents and indexes of pages in them, by the paths and slugs of the pages.
    by_path: HashMap<String, Vec<(String, usize)>>,
    by_slug: HashMap<String, Vec<(String, usize)>>,
    /// Parts of documents, read on demand.
    parts: HashMap<String, Vec<PageSection>>,
}

const OF_PROJECT: &str = "FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = $1";

impl<'a> Documents<'a> {
    fn read(client: &mut Client, project: &'a str) -> Result<Self, Error> {
        let statement = format!("SELECT d.slug, d.pages {OF_PROJECT} AND d.pages <> '[]'");
        let mut documents = Self {
            project,
            grouped: BTreeMap::new(),
            by_path: HashMap::new(),
            by_slug: HashMap::new(),
            parts: HashMap::new(),
        };
        for row in client.query(&statement, &[&project])? {
            let slug: String = row.try_get(0)?;
            let Json(pages): Json<Vec<GroupedPage>> = row.try_get(1)?;
            for (index, page) in pages.iter().enumerate() {
                let names = [
                    (&mut documents.by_path, &page.source_path),
                    (&mut documents.by_slug, &page.slug),
                ];
                for (entries, name) in names {
                    if let Some(name) = name {
                        entries.entry(name.clone()).or_default().push((slug.clone(), index));
                    }
                }
            }
            documents.grouped.insert(slug, pages);
        }
        Ok(documents)
    }

    /// The targets of a path in a file: documents and grouped pages with this source path, or else with this slug.
    fn of(&mut self, client: &mut Client, path: &str) -> Result<Vec<QuestionTarget>, Error> {
        let pages = self.by_path.get(path).cloned().unwrap_or_default();
        let mut targets = self.documents(client, "source_path", path)?;
        // A document whose pages are in no folder has the path of its first page.
        targets.retain(|target| pages.iter().all(|(slug, _)| *slug != target.slug));
        targets.append(&mut self.pages(client, pages)?);
        if targets.is_empty() {
            targets = self.documents(client, "slug", path)?;
        }
        if targets.is_empty() {
            let pages = self.by_slug.get(path).cloned().unwrap_or_default();
            targets = self.pages(client, pages)?;
        }
        Ok(targets)
    }

    fn documents(&self, client: &mut Client, column: &str, name: &str) -> Result<Vec<QuestionTarget>, Error> {
        let statement = format!("SELECT d.slug, d.title, d.body {OF_PROJECT} AND d.{column} = $2 ORDER BY d.slug");
        let rows = client.query(&statement, &[&self.project, &name])?;
        let target = |row: &postgres::Row| {
            Ok(QuestionTarget {
                slug: row.try_get(0)?,
                title: row.try_get(1)?,
                body: row.try_get(2)?,
                page: None,
            })
        };
        rows.iter().map(target).collect()
    }

    fn pages(&mut self, client: &mut Client, entries: Vec<(String, usize)>) -> Result<Vec<QuestionTarget>, Error> {
        let mut targets = Vec::new();
        for (slug, index) in entries {
            let Some(part) = self.parts(client, &slug)?.get(index) else {
                continue;
            };
            targets.push(QuestionTarget {
                title: part.title.clone(),
                body: part.headings.clone(),
                page: Some(part.clone()),
                slug,
            });
        }
        Ok(targets)
    }

    fn parts(&mut self, client: &mut Client, slug: &str) -> Result<&[PageSection], Error> {
        if !self.parts.contains_key(slug) {
            let statement = format!("SELECT d.body, d.anchors {OF_PROJECT} AND d.slug = $2");
            let read = match client.query_opt(&statement, &[&self.project, &slug])? {
                Some(row) => {
                    let (body, Json(anchors)): (String, Json<BTreeMap<String, String>>) =
                        (row.try_get(0)?, row.try_get(1)?);
                    parts(&body, &anchors, &self.grouped[slug])
                }
                None => Vec::new(),
            };
            self.parts.insert(slug.to_owned(), read);
        }
        Ok(&self.parts[slug])
    }

    /// Adds the stored questions of pages that the file does not name. Returns a message if some could not be added.
    fn keep_others(&self, client: &mut Client, slug: &str, new: &mut NewQuestions) -> Result<Option<String>, Error> {
        let statement = format!("SELECT d.body {OF_PROJECT} AND d.slug = $2");
        let Some(row) = client.query_opt(&statement, &[&self.project, &slug])? else {
            return Ok(None);
        };
        let body: String = row.try_get(0)?;
        let sections = Sections::new(&body);
        let stored = client.query(
            "SELECT anchor, question FROM docsearch.questions($1, $2) WHERE source = 'author'",
            &[&self.project, &slug],
        )?;
        let (mut lost, mut reason) = (0, String::new());
        for row in stored {
            let (anchor, question): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let page = page_at(&self.grouped[slug], &anchor).map_or("", |(page, _)| page.anchor.as_str());
            if new.pages.contains(page) {
                continue;
            }
            // The section of a stale question may be gone: then the question counts for the page, or for the document.
            let known = [anchor.as_str(), page].into_iter().find(|anchor| sections.has(anchor));
            let anchor = known.unwrap_or_default().to_owned();
            if let Err(problem) = new.list.add(Question { anchor, question }) {
                lost += 1;
                reason = problem;
            }
        }
        Ok((lost > 0).then(|| {
            format!(
                "{slug}: {} of other pages left out: {reason}",
                counted(lost, "question")
            )
        }))
    }
}
