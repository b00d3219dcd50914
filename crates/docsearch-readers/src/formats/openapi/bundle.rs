//! Files that a description refers to, such as `schemas/Pet.yaml`, become parts of it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::value::{Members, Value};
use crate::file::Folder;
use crate::folder::include_reader::IncludeReader;

/// The member of the description that has the files, by their paths.
const FILES: &str = "x-files";

/// What was read besides the description itself.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) bytes: usize,
    /// Names files that could not be read.
    pub(super) warning: Option<String>,
}

/// Puts the files of the folder that `root`, the description at `path`, refers to into it.
pub(super) fn complete(root: &mut Value, folder: Option<&Folder>, path: &Path) -> Files {
    let Some(folder) = folder else {
        return Files::default();
    };
    let mut bundle = Bundle {
        reader: IncludeReader::new(folder),
        known: HashSet::new(),
        queue: Vec::new(),
    };
    bundle.rewrite(root, path, None);
    let mut files = Members::new();
    let mut bytes = 0;
    while let Some((key, text, path)) = bundle.queue.pop() {
        bytes += text.len();
        match super::parse(&text) {
            Ok(mut value) => {
                bundle.rewrite(&mut value, &path, Some(&key));
                files.insert(key, value);
            }
            Err(_) => bundle.reader.report(&key, "no YAML or JSON"),
        }
    }
    if let Some(root) = root.as_object_mut().filter(|_| !files.is_empty()) {
        root.insert(FILES.to_owned(), Value::Object(files));
    }
    Files {
        bytes,
        warning: bundle.reader.warning(),
    }
}

struct Bundle<'a> {
    reader: IncludeReader<'a>,
    /// Files that were read, and targets that could not be.
    known: HashSet<String>,
    /// Name, text and path of files that are not yet parsed.
    queue: Vec<(String, String, PathBuf)>,
}

impl Bundle<'_> {
    /// Makes every reference point into the description. `own`: the name of the file with the value.
    fn rewrite(&mut self, value: &mut Value, path: &Path, own: Option<&str>) {
        match value {
            Value::Array(values) => values.iter_mut().for_each(|value| self.rewrite(value, path, own)),
            Value::Object(members) => {
                for (key, member) in members.iter_mut() {
                    match (key.as_str(), &member) {
                        ("$ref", Value::String(reference)) => {
                            if let Some(inner) = self.inner(reference, path, own) {
                                *member = Value::String(inner);
                            }
                        }
                        _ => self.rewrite(member, path, own),
                    }
                }
            }
            _ => {}
        }
    }

    fn inner(&mut self, reference: &str, path: &Path, own: Option<&str>) -> Option<String> {
        let (file, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let key = match file {
            "" => own?.to_owned(),
            file if file.contains("://") => return None,
            file => self.file(file, path)?,
        };
        let key = key.replace('~', "~0").replace('/', "~1").replace('%', "%25");
        Some(format!("#/{FILES}/{key}{fragment}"))
    }

    /// The name of a file, which is read once.
    fn file(&mut self, file: &str, path: &Path) -> Option<String> {
        let place = path.parent().unwrap_or(Path::new(""));
        let key = crate::file::inside(place, Path::new(file))?
            .to_string_lossy()
            .into_owned();
        if self.known.insert(key.clone()) {
            let read = self.reader.file(file, file, path, 0)?;
            self.queue.push((key.clone(), read.text, read.path));
        }
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::test_folder;
    use crate::formats::openapi::read_in;

    #[test]
    fn files_that_a_description_refers_to_are_part_of_it() {
        let files = [
            (
                "api/paths/pets.yaml",
                "get: {responses: {'200': {$ref: '../parts.yaml#/responses/Pets'}}}\n",
            ),
            (
                "api/parts.yaml",
                "responses: {Pets: {description: All pets, content: {a/b: {schema: {$ref: '#/schemas/All'}}}}}\nschemas: {All: {type: array, items: {$ref: schemas/Pet.yaml}}}\n",
            ),
            (
                "api/schemas/Pet.yaml",
                "properties: {name: {type: string, description: What it is called}, mother: {$ref: Pet.yaml}}\n",
            ),
        ];
        let (_place, folder) = test_folder(&files);
        let text =
            "openapi: 3.0.0\ninfo: {title: Pets}\npaths: {/pets: {$ref: paths/pets.yaml}, /gone: {$ref: gone.yaml}}\n";
        let drafts = read_in(Some(&folder), Path::new("api/openapi.yaml"), text).unwrap();
        assert_eq!(
            drafts[0].warning.as_deref(),
            Some("not included: gone.yaml (cannot be read)")
        );
        assert_eq!(
            drafts[1].body,
            "# GET /pets\n\n`GET /pets`\n\n## Responses\n\n**200**: All pets\n\n`a/b`\n\nType: array of `Pet`\n\n\
             - `name` (string): What it is called\n- `mother` (`Pet`)\n"
        );
    }
}
