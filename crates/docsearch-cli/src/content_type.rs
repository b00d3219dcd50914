//! The `Content-Type` of an answer of a web server.

use std::path::Path;

use crate::draft::Unreadable;
use crate::markup::{self, Markup};

/// Media type in lower case, and its character set.
#[derive(Debug, Default)]
pub(crate) struct ContentType {
    essence: String,
    charset: Option<String>,
}

impl ContentType {
    pub(crate) fn parse(header: &str) -> Self {
        let mut parts = header.split(';');
        let essence = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("charset").then(|| value.to_owned())
        });
        Self { essence, charset }
    }

    pub(crate) fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    /// The markup that it names, `None` where name and content have to tell.
    pub(crate) fn markup(&self, path: &Path) -> Result<Option<Markup>, Unreadable> {
        Ok(match self.essence.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Markup::Html),
            "text/markdown" | "text/x-markdown" => Some(Markup::Markdown),
            "text/x-rst" | "text/prs.fallenstein.rst" => Some(Markup::ReStructuredText),
            "application/x-ipynb+json" => Some(Markup::Notebook),
            "application/vnd.oai.openapi" | "application/vnd.oai.openapi+json" => Some(Markup::OpenApi),
            // Servers give these to everything that they do not know.
            "" | "text/plain" => markup::from_name(path),
            "application/octet-stream" | "binary/octet-stream" => match markup::from_name(path) {
                Some(markup) => Some(markup),
                None => return Err(Unreadable::ContentType(self.essence.clone())),
            },
            "application/json" | "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => {
                markup::from_name(path).or(Some(Markup::OpenApi))
            }
            other => return Err(Unreadable::ContentType(other.to_owned())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_set_is_a_parameter_among_others() {
        let parsed = ContentType::parse("Text/HTML; boundary=x; Charset=\"ISO-8859-1\"");
        assert_eq!(parsed.essence, "text/html");
        assert_eq!(parsed.charset(), Some("ISO-8859-1"));
        assert_eq!(ContentType::parse("text/plain").charset(), None);
    }
}
