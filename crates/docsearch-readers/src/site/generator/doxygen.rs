//! Doxygen.

use super::Generator;

pub(crate) static GENERATOR: Generator = Generator {
    containers: &["#doc-content", ".contents > .textblock"],
    ..Generator::new("Doxygen")
};
