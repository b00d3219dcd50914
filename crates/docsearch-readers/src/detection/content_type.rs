//! The `Content-Type` of a response.

use std::path::Path;

use mime::{CHARSET, Mime};

use crate::detection;
use crate::draft::Unreadable;
use crate::formats::FORMATS;
use crate::formats::format::{Format, LinkSyntax};

/// Types that servers send for unknown files.
const UNSPECIFIC: [&str; 2] = ["", "text/plain"];
/// Types that servers send for unknown binary files.
const BINARY: [&str; 2] = ["application/octet-stream", "binary/octet-stream"];

/// A media type and its character set.
#[derive(Debug, Default)]
pub struct ContentType {
    essence: String,
    charset: Option<String>,
}

impl ContentType {
    /// Parses a header. If it is not a media type, only the text before the parameters counts.
    pub fn parse(header: &str) -> Self {
        // RFC 9110 allows white space before a semicolon, and nothing after it; `mime` does not.
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

    /// The format that it identifies; `None` if name and content have to.
    pub fn format(&self, path: &Path) -> Result<Option<&'static Format>, Unreadable> {
        let essence = self.essence.as_str();
        if let Some(format) = self.only_format() {
            return Ok(Some(format));
        }
        let named = detection::from_name(path);
        if UNSPECIFIC.contains(&essence) {
            return Ok(named);
        }
        let shared = || {
            FORMATS
                .into_iter()
                .find(|format| format.shared_media_types.contains(&essence))
        };
        let format = match BINARY.contains(&essence) {
            true => named,
            false => shared().map(|shared| named.unwrap_or(shared)),
        };
        match format {
            Some(format) => Ok(Some(format)),
            None => Err(Unreadable::ContentType(self.essence.clone())),
        }
    }

    /// The format that it identifies, whatever the name.
    fn only_format(&self) -> Option<&'static Format> {
        FORMATS
            .into_iter()
            .find(|format| format.media_types.contains(&self.essence.as_str()))
    }

    /// The syntax of links in content of this type; `None` if there are none to follow.
    pub fn link_syntax(&self, path: &Path) -> Option<LinkSyntax> {
        match self.only_format() {
            Some(format) => format.links,
            None if UNSPECIFIC.contains(&self.essence.as_str()) => {
                let named = detection::from_name(path).and_then(|format| format.links);
                // Content without a type is taken for an HTML page.
                let default = self.essence.is_empty().then_some(LinkSyntax::Html);
                named.filter(|syntax| *syntax == LinkSyntax::Markdown).or(default)
            }
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{docx, epub, pdf, roff};

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
    fn binary_documents_have_types_of_their_own() {
        let format = |header: &str, path: &str| ContentType::parse(header).format(Path::new(path)).ok().flatten();
        assert_eq!(format("application/pdf", "/get?id=1"), Some(&pdf::FORMAT));
        assert_eq!(format("application/epub+zip", "/book"), Some(&epub::FORMAT));
        assert_eq!(format("application/octet-stream", "/a.docx"), Some(&docx::FORMAT));
        assert_eq!(format("text/troff; charset=utf-8", "/ls"), Some(&roff::FORMAT));
        assert_eq!(format("application/zip", "/a.zip"), None);
    }

    #[test]
    fn invalid_media_types_are_read_up_to_the_parameters() {
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
