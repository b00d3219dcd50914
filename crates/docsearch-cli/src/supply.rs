//! Where the documents of a run come from, one source after the other.

use std::path::PathBuf;

use crate::document::{self, Document, ReadOptions, Unreadable};
use crate::error::Error;
use crate::markup::Markup;
use crate::report::Report;
use crate::slug;
use crate::survey::Survey;

pub(crate) trait Supply {
    /// The documents of the next source, which may be none; `None` at the end. What is wrong with
    /// a source is told and noted.
    fn next(&mut self, survey: &mut Survey, report: &Report) -> Result<Option<Vec<Document>>, Error>;

    /// Sources, where that is known before the end.
    fn len(&self) -> Option<u64>;
}

/// A file to read.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) root: PathBuf,
    pub(crate) relative: PathBuf,
    pub(crate) source_root: String,
    /// Named by the user, not found in a folder.
    pub(crate) is_named: bool,
}

/// Files of folders and single files.
pub(crate) struct Files<'a> {
    pub(crate) inputs: std::slice::Iter<'a, Input>,
    pub(crate) prefix: Option<&'a str>,
    pub(crate) max_file_size: u64,
    pub(crate) markup: Option<Markup>,
}

impl Supply for Files<'_> {
    fn next(&mut self, survey: &mut Survey, report: &Report) -> Result<Option<Vec<Document>>, Error> {
        let Some(input) = self.inputs.next() else {
            return Ok(None);
        };
        let options = ReadOptions {
            prefix: self.prefix,
            source_root: &input.source_root,
            max_file_size: self.max_file_size,
            markup: self.markup,
        };
        let place = input.relative.display().to_string();
        Ok(Some(match document::read(&input.root, &input.relative, &options) {
            Ok(readings) => survey.admit(&place, readings, report),
            Err(Unreadable::NoDocumentation(reason)) if !input.is_named => {
                survey.leave_out(reason);
                Vec::new()
            }
            Err(reason) => {
                report.skipped(&place, &reason.to_string());
                survey.skip(
                    &input.source_root,
                    &slug::from_path(&input.relative, self.prefix),
                    &place,
                );
                Vec::new()
            }
        }))
    }

    fn len(&self) -> Option<u64> {
        Some(self.inputs.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn documents(root: &Path, files: &[(&str, bool)], survey: &mut Survey) -> Vec<Document> {
        let inputs: Vec<Input> = files
            .iter()
            .map(|(file, is_named)| Input {
                root: root.to_owned(),
                relative: PathBuf::from(file),
                source_root: "docs".to_owned(),
                is_named: *is_named,
            })
            .collect();
        let mut files = Files {
            inputs: inputs.iter(),
            prefix: None,
            max_file_size: 1000,
            markup: None,
        };
        let mut documents = Vec::new();
        while let Some(found) = files.next(survey, &Report::plain()).unwrap() {
            documents.extend(found);
        }
        documents
    }

    #[test]
    fn a_file_that_cannot_be_read_is_skipped_and_one_without_documentation_left_out() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bad.md"), b"\xff").unwrap();
        fs::write(folder.path().join("data.json"), "{\"a\": 1}").unwrap();
        fs::write(folder.path().join("good.md"), "# Good").unwrap();
        let mut survey = Survey::default();
        let files = [("bad.md", false), ("data.json", false), ("good.md", false)];
        assert_eq!(documents(folder.path(), &files, &mut survey).len(), 1);
        assert_eq!((survey.skipped(), survey.left_out()), (1, 1));
        documents(folder.path(), &[("data.json", true)], &mut survey);
        assert_eq!((survey.skipped(), survey.left_out()), (2, 1));
    }
}
