//! Programs that make sites.

/// A program that makes a site of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[expect(missing_docs, reason = "the name of a program says which it is")]
pub enum Generator {
    Docusaurus,
    VitePress,
    #[strum(serialize = "mdBook")]
    MdBook,
    MkDocs,
    Sphinx,
    Hugo,
    Jekyll,
    Starlight,
}
