//! DocBook, and postgresql.org.

use super::{BuiltPage, Generator};

pub(crate) static GENERATOR: Generator = Generator {
    exclusion,
    containers: &["#docContent"],
    noise: &[".navheader", ".navfooter"],
    admonition_titles: &[
        ".note > .title",
        ".tip > .title",
        ".important > .title",
        ".warning > .title",
        ".caution > .title",
    ],
    ..Generator::new("DocBook")
};

fn exclusion(page: &BuiltPage<'_>) -> Option<&'static str> {
    (page.generator.starts_with("docbook") && page.has("body > div.index")).then_some("index of names")
}
