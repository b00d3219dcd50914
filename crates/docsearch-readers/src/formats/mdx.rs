//! MDX: Markdown with components.

#[cfg(test)]
use docsearch_fuzz::{Format as Grammar, Target};

use crate::draft::{Draft, Unreadable};
use crate::formats::format::{Format, Reader, SiteAnchors, TextSource};
#[cfg(test)]
use crate::formats::growth;
use crate::formats::markdown;
use crate::site::Extensions;

pub(crate) static FORMAT: Format = Format {
    extensions: &["mdx"],
    is_linked: true,
    includes: true,
    anchors: SiteAnchors::HeadingsAndQuotations,
    #[cfg(test)]
    fuzz_target: Some(Target::new("readers-mdx", Grammar::MDX, |input| {
        growth::check(&FORMAT, "guide/page.mdx", input)
    })),
    ..Format::new("mdx", "MDX", "MDX, without its components", Reader::Text(read))
};

fn read(source: &TextSource<'_>) -> Result<Vec<Draft>, Unreadable> {
    let extensions = Extensions {
        mdx: true,
        ..source.extensions
    };
    markdown::page(source, extensions)
}
