use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

/// A format of inputs. Its name is that of a folder of examples in `corpus/` and of a file in `formats/`.
#[derive(Clone, Copy, Debug)]
pub struct Format(&'static str);

impl Format {
    /// Markdown with the constructs of documentation.
    pub const MARKDOWN: Self = Self("markdown");
    /// HTML pages.
    pub const HTML: Self = Self("html");
    /// MDX, Markdown with components.
    pub const MDX: Self = Self("mdx");
    /// reStructuredText.
    pub const RST: Self = Self("rst");
    /// AsciiDoc.
    pub const ASCIIDOC: Self = Self("asciidoc");
    /// Manual pages.
    pub const ROFF: Self = Self("roff");
    /// The XML of Word documents and EPUB books.
    pub const OFFICE: Self = Self("office");
    /// Pages with front matter in YAML or TOML.
    pub const FRONT_MATTER: Self = Self("front_matter");
    /// JSON of any kind.
    pub const JSON: Self = Self("json");
    /// Filters, `config` and arguments: JSON objects.
    pub const FILTER: Self = Self("filter");
    /// Jupyter notebooks.
    pub const NOTEBOOK: Self = Self("notebook");
    /// OpenAPI and Swagger, as JSON or YAML.
    pub const OPENAPI: Self = Self("openapi");
    /// `llms.txt` and its full form.
    pub const LLMS: Self = Self("llms");
    /// JSON lines, one document each.
    pub const JSON_LINES: Self = Self("json_lines");
    /// Queries, and the names and versions in them.
    pub const QUERY: Self = Self("query");
    /// Texts of any script, with long runs without white space.
    pub const TEXT: Self = Self("text");
    /// Stored term vectors.
    pub const TSVECTOR: Self = Self("tsvector");
    /// Frames of the protocol between a backend and the inference program.
    pub const FRAME: Self = Self("frame");
    /// Answers of endpoints of models.
    pub const REPLY: Self = Self("reply");
    /// `robots.txt`.
    pub const ROBOTS: Self = Self("robots");
    /// Sitemaps and lists of addresses.
    pub const SITEMAP: Self = Self("sitemap");
    /// Token, password and service files, connection strings, headers: short structured lines.
    pub const LINES: Self = Self("lines");

    /// The words and nests of the format.
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

/// The words and nests of a format.
#[derive(Debug, Deserialize)]
pub(crate) struct Grammar {
    /// Tokens of the format.
    pub(crate) words: Vec<String>,
    /// Pairs of an opening and its closing.
    pub(crate) nests: Vec<(String, String)>,
}
