//! JSDoc.

use super::{BuiltPage, Generator};

pub(crate) static GENERATOR: Generator = Generator {
    exclusion,
    ..Generator::new("JSDoc")
};

fn exclusion(page: &BuiltPage<'_>) -> Option<&'static str> {
    let is_of_file = page.stem.contains('.');
    (is_of_file && page.has("pre.source.linenums")).then_some("listing of code")
}
