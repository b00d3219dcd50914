//! Doxygen.

use super::Generator;

pub(crate) static GENERATOR: Generator = Generator {
    containers: &["#doc-content", ".contents > .textblock"],
    code: &["div.fragment"],
    ..Generator::new("Doxygen")
};
