//! Named values of options on the command line and of keys in `docsearch.toml`.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use docsearch_readers::detection::InputFormat;
use docsearch_readers::site::AnchorRule;

/// A named value.
pub(crate) trait Choice: Copy + Send + Sync + 'static {
    /// Every value, in the order of the help.
    fn all() -> impl Iterator<Item = Self>;

    fn name(self) -> &'static str;

    /// A description, if the name needs one.
    fn help(self) -> Option<&'static str>;

    /// The value with this name, in any case.
    fn named(name: &str) -> Option<Self> {
        Self::all().find(|choice| choice.name().eq_ignore_ascii_case(name))
    }

    /// All names.
    fn names() -> impl Iterator<Item = &'static str> {
        Self::all().map(Self::name)
    }
}

impl Choice for InputFormat {
    fn all() -> impl Iterator<Item = Self> {
        Self::all()
    }

    fn name(self) -> &'static str {
        self.name()
    }

    fn help(self) -> Option<&'static str> {
        self.help()
    }
}

impl Choice for AnchorRule {
    fn all() -> impl Iterator<Item = Self> {
        Self::all()
    }

    fn name(self) -> &'static str {
        self.name()
    }

    fn help(self) -> Option<&'static str> {
        Some(self.generators())
    }
}

/// A clap parser for the names.
pub(crate) fn parser<T: Choice>() -> impl TypedValueParser<Value = T> {
    let values = T::all().map(|choice| {
        let value = PossibleValue::new(choice.name());
        match choice.help() {
            Some(help) => value.help(help),
            None => value,
        }
    });
    PossibleValuesParser::new(values).try_map(|name| T::named(&name).ok_or("no such value"))
}
