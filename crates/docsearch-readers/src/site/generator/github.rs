//! GitHub and ReadMe.

use super::Generator;

pub(crate) static GENERATOR: Generator = Generator {
    containers: &[".markdown-body"],
    noise: &["clipboard-copy"],
    ..Generator::new("GitHub")
};
