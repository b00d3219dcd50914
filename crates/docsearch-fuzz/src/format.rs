use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

/// What inputs look like, by the name of the folder of examples below `corpus/` and of the file below `formats/`.
#[derive(Clone, Copy, Debug)]
pub struct Format(&'static str);

impl Format {
    /// Markdown with what is found in documentation.
    pub const MARKDOWN: Self = Self("markdown");
    /// HTML pages.
    pub const HTML: Self = Self("html");
    /// MDX, Markdown with components.
    pub const MDX: Self = Self("mdx");
    /// reStructuredText.
    pub const RST: Self = Self("rst");
    /// AsciiDoc.
    pub const ASCIIDOC: Self = Self("asciidoc");
    /// Pages of the manual.
    pub const ROFF: Self = Self("roff");
    /// The XML of Word documents and books.
    pub const OFFICE: Self = Self("office");
    /// Pages that open with YAML or TOML.
    pub const FRONT_MATTER: Self = Self("front_matter");
    /// JSON of any kind.
    pub const JSON: Self = Self("json");
    /// Filters, `config` and arguments: JSON objects.
    pub const FILTER: Self = Self("filter");
    /// Jupyter notebooks.
    pub const NOTEBOOK: Self = Self("notebook");
    /// Descriptions of interfaces in OpenAPI and Swagger, as JSON or YAML.
    pub const OPENAPI: Self = Self("openapi");
    /// `llms.txt` and its full form.
    pub const LLMS: Self = Self("llms");
    /// Lines of JSON, a document each.
    pub const JSON_LINES: Self = Self("json_lines");
    /// What people ask, and the names and versions in it.
    pub const QUERY: Self = Self("query");
    /// Texts of any script, with long runs that no white space parts.
    pub const TEXT: Self = Self("text");
    /// Stored vectors of terms.
    pub const TSVECTOR: Self = Self("tsvector");
    /// Frames between a backend and the inference program.
    pub const FRAME: Self = Self("frame");
    /// Answers of endpoints of models.
    pub const REPLY: Self = Self("reply");
    /// `robots.txt`.
    pub const ROBOTS: Self = Self("robots");
    /// Maps of sites, and lists of addresses.
    pub const SITEMAP: Self = Self("sitemap");
    /// Files of tokens, passwords and services, strings of connections, headers: short lines with meaning.
    pub const LINES: Self = Self("lines");

    /// What the format is made of.
    pub(crate) fn grammar(self) -> Grammar {
        let file = place("formats").join(self.0).with_extension("json");
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// The examples, sorted by name.
    pub fn corpus(self) -> Vec<Vec<u8>> {
        let folder = place("corpus").join(self.0);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry of the corpus").path())
            .collect();
        files.sort();
        files
            .iter()
            .map(|file| fs::read(file).expect("a file of the corpus"))
            .collect()
    }
}

fn place(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// What a format is made of.
#[derive(Debug, Deserialize)]
pub(crate) struct Grammar {
    /// Pieces that mean something in it.
    pub(crate) words: Vec<String>,
    /// What opens something, and what closes it.
    pub(crate) nests: Vec<(String, String)>,
}
