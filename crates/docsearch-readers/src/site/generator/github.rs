//! GitHub and ReadMe.

use super::Generator;

pub(crate) static GENERATOR: Generator = Generator {
    containers: &[".markdown-body"],
    ..Generator::new("GitHub")
};
