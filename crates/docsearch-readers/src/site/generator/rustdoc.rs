//! rustdoc.

use super::{BuiltPage, Generator};

pub(crate) static GENERATOR: Generator = Generator {
    exclusion,
    containers: &["#main-content"],
    noise: &[
        "#copy-path",
        "span.sub-heading",
        ".search-form",
        ".sidebar-elems",
        "rustdoc-topbar",
        "rustdoc-toolbar",
        "#synthetic-implementations",
        "#synthetic-implementations-list",
        "#blanket-implementations",
        "#blanket-implementations-list",
        ".rightside",
        ".srclink",
        ".test-arrow",
        "summary.hideme",
        "a.src",
        ".src-link",
        ".src-rightside",
        ".out-of-band",
        ".notable-traits",
        ".notable-traits-tooltip",
        "a.tooltip",
        ".information .tooltip",
        ".example-wrap .tooltip",
    ],
    ..Generator::new("rustdoc")
};

fn exclusion(page: &BuiltPage<'_>) -> Option<&'static str> {
    if page.generator == "rustdoc" && matches!(page.stem, "all" | "settings" | "help" | "scrape-examples-help") {
        return Some("index of names");
    }
    page.has("body.rustdoc.source, body.rustdoc.src")
        .then_some("listing of code")
}
