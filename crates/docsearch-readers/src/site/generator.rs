//! Programs that make sites.

/// A program that makes a site of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
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
