//! Antora.

use super::Generator;

pub(crate) static GENERATOR: Generator = Generator {
    containers: &["article.doc"],
    ..Generator::new("Antora")
};
