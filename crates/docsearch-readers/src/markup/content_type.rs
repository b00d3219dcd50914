//! The `Content-Type` of an answer of a web server.

use std::path::Path;

use mime::{CHARSET, Mime};

use crate::draft::Unreadable;
use crate::markup::{self, Markup};

/// A media type and its character set.
#[derive(Debug, Default)]
pub struct ContentType {
    essence: String,
    charset: Option<String>,
}

impl ContentType {
    /// Reads a header; of one that is no media type, what stands before the parameters.
    pub fn parse(header: &str) -> Self {
        // RFC 9110 allows white space before a semicolon, and nothing after one; `mime` does not.
        let parts = header.split(';').map(str::trim).filter(|part| !part.is_empty());
        let compact = parts.collect::<Vec<_>>().join(";");
        match compact.parse::<Mime>() {
            Ok(mime) => Self {
                essence: mime.essence_str().to_owned(),
                charset: mime.get_param(CHARSET).map(|charset| charset.as_str().to_owned()),
            },
            Err(_) => Self {
                essence: header.split(';').next().unwrap_or_default().trim().to_ascii_lowercase(),
                charset: None,
            },
        }
    }

    /// Type and subtype in lower case; empty if no type was given.
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// The character set in lower case; `None` if none was named.
    pub fn charset(&self) -> Option<&str> {
        self.charset.as_deref()
    }

    /// The markup that it names, `None` where name and content have to tell.
    pub fn markup(&self, path: &Path) -> Result<Option<Markup>, Unreadable> {
        Ok(match self.essence.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Markup::Html),
            "text/markdown" | "text/x-markdown" => Some(Markup::Markdown),
            "text/x-rst" | "text/prs.fallenstein.rst" => Some(Markup::ReStructuredText),
            "application/x-ipynb+json" => Some(Markup::Notebook),
            "application/vnd.oai.openapi" | "application/vnd.oai.openapi+json" => Some(Markup::OpenApi),
            "text/asciidoc" | "text/x-asciidoc" => Some(Markup::AsciiDoc),
            "text/troff" | "application/x-troff-man" => Some(Markup::Roff),
            "application/pdf" | "application/x-pdf" => Some(Markup::Pdf),
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => Some(Markup::Docx),
            "application/epub+zip" => Some(Markup::Epub),
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
        assert_eq!(parsed.essence(), "text/html");
        assert_eq!(parsed.charset(), Some("iso-8859-1"));
        assert_eq!(ContentType::parse("text/plain").charset(), None);
        for header in [
            "text/html ; charset=utf-8",
            "text/html;;charset=utf-8; ",
            "text/html; profile=\"a; charset=x\"; charset=utf-8",
        ] {
            assert_eq!(ContentType::parse(header).charset(), Some("utf-8"), "{header}");
        }
    }

    #[test]
    fn documents_that_are_no_text_have_types_of_their_own() {
        let markup = |header: &str, path: &str| ContentType::parse(header).markup(Path::new(path)).ok().flatten();
        assert_eq!(markup("application/pdf", "/get?id=1"), Some(Markup::Pdf));
        assert_eq!(markup("application/epub+zip", "/book"), Some(Markup::Epub));
        assert_eq!(markup("application/octet-stream", "/a.docx"), Some(Markup::Docx));
        assert_eq!(markup("text/troff; charset=utf-8", "/ls"), Some(Markup::Roff));
        assert_eq!(markup("application/zip", "/a.zip"), None);
    }

    #[test]
    fn what_is_no_media_type_is_taken_as_far_as_it_goes() {
        for (header, essence) in [
            ("", ""),
            ("HTML", "html"),
            ("Text/HTML; charset", "text/html"),
            ("; charset=utf-8", ""),
        ] {
            let parsed = ContentType::parse(header);
            assert_eq!((parsed.essence(), parsed.charset()), (essence, None), "{header}");
        }
    }
}
