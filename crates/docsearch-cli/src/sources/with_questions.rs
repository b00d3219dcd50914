//! A source that adds questions from question files to its documents.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use docsearch_readers::document::Document;
use docsearch_readers::file::{self, Links};
use docsearch_readers::page_questions::question_file::{
    HINTS, NAME, QuestionFile, QuestionedPage, Warning, with_anchors,
};
use serde_json::json;

use crate::process::error::Error;
use crate::sources::document_source::DocumentSource;
use crate::sources::statistics::SourceStatistics;
use crate::terminal::report::Report;

/// The questions for a source root.
#[derive(Debug, Default)]
struct FolderQuestions {
    file: QuestionFile,
    warnings: Vec<Warning>,
    /// Files with documents.
    matched: HashSet<String>,
    /// Whether the folder is read completely.
    is_whole: bool,
}

/// The question files of folders, by source root.
#[derive(Debug, Default)]
pub(crate) struct QuestionFiles {
    questions: BTreeMap<String, FolderQuestions>,
    /// Question files that were not read, with the reason.
    problems: Vec<(String, String)>,
}

impl QuestionFiles {
    /// Warns of a question file below the root of its folder.
    pub(crate) fn leave_out(&mut self, path: &Path) {
        let folder = path.parent().unwrap_or(path).display();
        let reason = format!(
            "not read: {NAME} has to be at the root of the indexed folder\nHINT:  Move its lines there, with files \
             such as \"{folder}/page.md\"."
        );
        self.problems.push((path.display().to_string(), reason));
    }

    /// Reads the question file of a folder, if there is one.
    pub(crate) fn add(&mut self, root: &Path, source_root: &str, is_whole: bool, links: Links, max_bytes: u64) {
        if root.join(NAME).symlink_metadata().is_err() {
            return;
        }
        let bytes = match file::read(root, Path::new(NAME), links, max_bytes.saturating_add(1)) {
            Ok(bytes) if bytes.len() as u64 > max_bytes => {
                Err(format!("larger than {max_bytes} bytes\nHINT:  Raise --max-file-size."))
            }
            Ok(bytes) => Ok(bytes),
            Err(refusal) => Err(refusal.to_string()),
        };
        let (file, mut warnings) = match bytes {
            Ok(bytes) => QuestionFile::read(&bytes),
            Err(problem) => {
                self.problems.push((NAME.to_owned(), problem));
                (QuestionFile::unread(), Vec::new())
            }
        };
        // Folders may share a source root.
        let questions = self
            .questions
            .entry(source_root.to_owned())
            .or_insert_with(|| FolderQuestions {
                is_whole: true,
                ..FolderQuestions::default()
            });
        questions.file.join(file);
        questions.warnings.append(&mut warnings);
        questions.is_whole &= is_whole;
    }
}

/// The kind of documents from the inner source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Pages,
    /// Pages and groups of pages.
    Grouped,
}

pub(crate) struct WithQuestions<'a> {
    source: &'a mut dyn DocumentSource,
    folders: &'a RefCell<QuestionFiles>,
    stage: Stage,
}

impl<'a> WithQuestions<'a> {
    /// Adds questions to pages, before they are grouped.
    pub(crate) fn of_pages(source: &'a mut dyn DocumentSource, folders: &'a RefCell<QuestionFiles>) -> Self {
        Self {
            source,
            folders,
            stage: Stage::Pages,
        }
    }

    /// Adds questions to groups: lines may name the folder of a group.
    pub(crate) fn of_groups(source: &'a mut dyn DocumentSource, folders: &'a RefCell<QuestionFiles>) -> Self {
        Self {
            source,
            folders,
            stage: Stage::Grouped,
        }
    }

    /// Warns of lines for files without documents.
    fn end(&mut self, statistics: &mut SourceStatistics, report: &Report) {
        for questions in self.folders.take().questions.into_values() {
            if questions.is_whole {
                warn(&questions.file.unmatched(&questions.matched), statistics, report);
            }
        }
    }
}

impl DocumentSource for WithQuestions<'_> {
    fn next(&mut self, statistics: &mut SourceStatistics, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        let problems = std::mem::take(&mut self.folders.borrow_mut().problems);
        for (file, problem) in problems {
            report.warning(&file, problem);
            statistics.skip_question();
        }
        for questions in self.folders.borrow_mut().questions.values_mut() {
            let warnings = std::mem::take(&mut questions.warnings);
            warn(&warnings, statistics, report);
            if questions.file.is_damaged() && !warnings.is_empty() {
                report.note(&format!(
                    "{NAME} has lines that cannot be read: the questions of its pages stay as they are"
                ));
            }
        }
        let Some(mut documents) = self.source.next(statistics, report)? else {
            if self.stage == Stage::Grouped {
                self.end(statistics, report);
            }
            return Ok(None);
        };
        for (source_root, questions) in &mut self.folders.borrow_mut().questions {
            let mut of_file: BTreeMap<String, Vec<&mut Document>> = BTreeMap::new();
            for document in documents
                .iter_mut()
                .filter(|document| document.source_root == *source_root)
            {
                let path = document.source_path.clone().unwrap_or_default();
                let is_new = !questions.file.of(&path).is_empty() && !questions.matched.contains(&path);
                if self.stage == Stage::Pages || is_new {
                    of_file.entry(path).or_default().push(document);
                }
            }
            for (path, documents) in of_file {
                let pages: Vec<QuestionedPage<'_>> = documents.iter().map(|document| page(document)).collect();
                let (placed, warnings) = with_anchors(&path, questions.file.of(&path), &pages, HINTS);
                warn(&warnings, statistics, report);
                for (document, own) in documents.into_iter().zip(placed) {
                    document.questions = (!questions.file.is_damaged()).then(|| json!(own));
                }
                questions.matched.insert(path);
            }
        }
        Ok(Some(documents))
    }

    fn len(&self) -> Option<u64> {
        self.source.len()
    }
}

fn page(document: &Document) -> QuestionedPage<'_> {
    QuestionedPage {
        title: &document.title,
        body: &document.body,
        own: document.own_questions(),
    }
}

fn warn(warnings: &[Warning], statistics: &mut SourceStatistics, report: &Report) {
    for warning in warnings {
        report.warning(&format!("{NAME}:{}", warning.line), &warning.reason);
        if warning.is_left_out {
            statistics.skip_question();
        }
    }
}
