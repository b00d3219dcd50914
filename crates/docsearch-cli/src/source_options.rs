//! What is said about the pages of a source, on the command line or in `docsearch.toml`.

/// Options of the pages of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceOptions {
    /// In front of every slug.
    pub(crate) prefix: Option<String>,
}
