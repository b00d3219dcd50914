//! Reads the head of a page.

use dom_query::Document;

use super::collapse;
use crate::draft::{file_properties, front_matter};
use crate::site::GENERATORS;

/// Separators between the title of a page and the name of its site.
const SEPARATORS: [&str; 8] = [" — ", " – ", " | ", " · ", " :: ", " • ", " « ", " - "];

#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) title: Option<String>,
    /// With the name of the site.
    pub(super) full_title: Option<String>,
    pub(super) url: Option<String>,
    pub(super) description: Option<String>,
    pub(super) keywords: Vec<String>,
    pub(super) published_at: Option<String>,
    /// The title of the parent page.
    pub(super) parent: Option<String>,
}

pub(super) fn read(page: &Document) -> Head {
    let attribute = |selector: &str, name: &str| {
        let value = page.select_single(selector).attr(name)?;
        let value = collapse(&value);
        (!value.is_empty()).then_some(value)
    };
    let url = attribute("link[rel='canonical'][href]", "href")
        .or_else(|| attribute("meta[property='og:url']", "content"))
        .filter(|url| url.starts_with("https://") || url.starts_with("http://"));
    let keywords = attribute("meta[name='keywords']", "content").unwrap_or_default();
    let tags = page.select("meta[property='article:tag']");
    let tags: Vec<String> = tags
        .iter()
        .filter_map(|tag| Some(collapse(&tag.attr("content")?)))
        .collect();
    let full_title = collapse(&page.select_single("head title").text());
    let full_title = Some(full_title)
        .filter(|title| !file_properties::is_placeholder(title))
        .unwrap_or_default();
    Head {
        title: title(&full_title),
        full_title: Some(full_title).filter(|title| !title.is_empty()),
        url,
        description: attribute("meta[name='description']", "content")
            .or_else(|| attribute("meta[property='og:description']", "content"))
            .filter(|description| !lists_names(description)),
        keywords: keywords
            .split(',')
            .chain(tags.iter().map(String::as_str))
            .map(|keyword| keyword.trim().to_owned())
            .filter(|keyword| !keyword.is_empty())
            .collect(),
        published_at: attribute("meta[property='article:published_time']", "content")
            .filter(|date| front_matter::is_iso_date(date)),
        parent: attribute("link[rel='up'][title]", "title").map(|parent| without_number(&parent).to_owned()),
    }
}

/// `64.4. GIN Indexes` without the number of its chapter.
fn without_number(title: &str) -> &str {
    match title.split_once(' ') {
        Some((number, rest)) if number.contains('.') && number.chars().all(|c| c == '.' || c.is_ascii_digit()) => rest,
        _ => title,
    }
}

/// Whether the description only lists the names in the page.
fn lists_names(description: &str) -> bool {
    let mut beginnings = GENERATORS.iter().filter_map(|generator| generator.description_of_names);
    beginnings.any(|beginning| description.starts_with(beginning))
}

/// Whether the page asks search engines not to index it.
pub(super) fn is_hidden(page: &Document) -> bool {
    page.select("meta[name='robots']").iter().any(|meta| {
        let content = meta.attr("content").unwrap_or_default().to_lowercase();
        content.contains("noindex")
    })
}

/// The title without the name of the site, which is last.
fn title(full: &str) -> Option<String> {
    let end = SEPARATORS
        .iter()
        .filter_map(|separator| full.find(separator))
        .filter(|&at| at > 0)
        .min();
    let title = full[..end.unwrap_or(full.len())].trim();
    (!title.is_empty()).then(|| title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_above_is_named_without_its_number() {
        let page = Document::from("<head><link rel=up href=gin.html title='64.4. GIN Indexes'></head>");
        assert_eq!(read(&page).parent.unwrap(), "GIN Indexes");
        let page = Document::from("<head><link rel=up href=index.html><title>A</title></head>");
        assert_eq!(read(&page).parent, None);
    }

    #[test]
    fn the_name_of_the_site_is_no_part_of_the_title() {
        let title = |text: &str| {
            let page = Document::from(format!("<head><title>{text}</title></head>"));
            read(&page).title.unwrap()
        };
        assert_eq!(title("json — JSON encoder — Python 3.11 documentation"), "json");
        assert_eq!(title("Getting started | Docusaurus"), "Getting started");
        assert_eq!(title("Vec in std::vec - Rust"), "Vec in std::vec");
        assert_eq!(title("8.1. Numeric\n Types"), "8.1. Numeric Types");
    }

    #[test]
    fn a_title_that_a_program_wrote_is_none() {
        for title in [
            "Untitled Document",
            "New Page 1",
            "page7.html",
            "Microsoft Word - kites.docx",
            "http://a.test/kites",
        ] {
            let head = read(&Document::from(format!("<head><title>{title}</title></head>")));
            assert_eq!((head.title, head.full_title), (None, None), "{title}");
        }
    }

    #[test]
    fn urls_have_to_be_absolute() {
        let head = read(&Document::from(
            "<link rel=canonical href='../x'><meta property='og:url' content='https://a.test/x'><meta name=keywords content='a, b c,,'><meta property='article:tag' content='d, e'>",
        ));
        assert_eq!(head.url, None);
        assert_eq!(head.keywords, ["a", "b c", "d, e"]);
        let head = read(&Document::from("<meta property='og:url' content='https://a.test/x'>"));
        assert_eq!(head.url.as_deref(), Some("https://a.test/x"));
    }
}
