//! Named values of options on the command line and of keys in `docsearch.toml`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use strum::{EnumMessage, VariantArray};

/// A named value. The doc comments of its variants are their help.
pub(crate) trait Choice: Copy + Into<&'static str> + EnumMessage + VariantArray + Send + Sync {
    /// The value with this name, in any case.
    fn named(name: &str) -> Option<Self> {
        let is_named = |choice: &&Self| Into::<&str>::into(**choice).eq_ignore_ascii_case(name);
        Self::VARIANTS.iter().find(is_named).copied()
    }

    /// All names.
    fn names() -> impl Iterator<Item = &'static str> {
        Self::VARIANTS.iter().map(|choice| (*choice).into())
    }
}

impl<T: Copy + Into<&'static str> + EnumMessage + VariantArray + Send + Sync> Choice for T {}

/// A clap parser for the names.
pub(crate) fn parser<T: Choice>() -> impl TypedValueParser<Value = T> {
    let values = T::VARIANTS.iter().map(|choice| {
        let name: &str = (*choice).into();
        let value = PossibleValue::new(name);
        match choice.get_documentation() {
            Some(help) => value.help(help),
            None => value,
        }
    });
    PossibleValuesParser::new(values).try_map(|name| T::named(&name).ok_or("no such value"))
}
