//! The settings of `conf.py` that change the text of pages.

use std::collections::BTreeMap;

use crate::site::python::{Value, assignments};

/// The roles that the extension `extlinks` makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExternalLink {
    address: String,
    /// Without one, the address is shown.
    caption: Option<String>,
}

impl ExternalLink {
    pub(crate) fn address(&self, part: &str) -> String {
        self.address.replacen("%s", part, 1)
    }

    pub(crate) fn caption(&self, part: &str) -> String {
        match &self.caption {
            Some(caption) => caption.replacen("%s", part, 1),
            None => self.address(part),
        }
    }
}

/// What the pages of a Sphinx project have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SphinxSettings {
    /// Text that Sphinx adds to the beginning of every page.
    pub(crate) prolog: String,
    /// Text that Sphinx adds to the end of every page.
    pub(crate) epilog: String,
    /// Replacements of `|name|` that pages do not define.
    pub(crate) substitutions: BTreeMap<String, String>,
    /// Values of `{{ name }}` in MyST.
    pub(crate) myst_substitutions: BTreeMap<String, String>,
    /// By role.
    pub(crate) external_links: BTreeMap<String, ExternalLink>,
}

impl SphinxSettings {
    pub(super) fn of(configuration: &str) -> Self {
        let values = assignments(configuration);
        let text = |name: &str| values.get(name).and_then(Value::text).unwrap_or_default().to_owned();
        let substitutions = ["version", "release", "today"].map(|name| (name.to_owned(), text(name)));
        let external_links = match values.get("extlinks") {
            Some(Value::Map(entries)) => entries.iter().filter_map(external_link).collect(),
            _ => BTreeMap::new(),
        };
        let myst_substitutions = match values.get("myst_substitutions") {
            Some(Value::Map(entries)) => entries.iter().filter_map(text_pair).collect(),
            _ => BTreeMap::new(),
        };
        Self {
            myst_substitutions,
            prolog: text("rst_prolog"),
            epilog: text("rst_epilog"),
            substitutions: substitutions.into_iter().filter(|(_, text)| !text.is_empty()).collect(),
            external_links,
        }
    }
}

fn text_pair((name, value): &(Value, Value)) -> Option<(String, String)> {
    Some((name.text()?.to_owned(), value.shown()?))
}

fn external_link((role, link): &(Value, Value)) -> Option<(String, ExternalLink)> {
    let Value::Items(parts) = link else { return None };
    let link = ExternalLink {
        address: parts.first()?.text()?.to_owned(),
        caption: parts.get(1).and_then(Value::text).map(str::to_owned),
    };
    Some((role.text()?.to_owned(), link))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_of_the_configuration() {
        let settings = SphinxSettings::of(
            "release = '4.2.1'\nversion = '.'.join(release.split('.')[:2])\nextlinks = {\n    'issue': \
             ('https://kit.test/%s', 'issue %s'), 'src': ('https://kit.test/src/%s', None),\n}\nrst_epilog = f\"\"\"\n.. \
             |kit| replace:: Kit {release}\n\"\"\"\n",
        );
        assert_eq!(settings.epilog, "\n.. |kit| replace:: Kit 4.2.1\n");
        assert_eq!(settings.prolog, "");
        let substitutions: Vec<(&str, &str)> = settings.substitutions.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(substitutions, [("release", "4.2.1"), ("version", "4.2")]);
        let shown = |role: &str| {
            (
                settings.external_links[role].caption("7"),
                settings.external_links[role].address("7"),
            )
        };
        assert_eq!(shown("issue"), ("issue 7".to_owned(), "https://kit.test/7".to_owned()));
        assert_eq!(shown("src").0, "https://kit.test/src/7");
    }
}
