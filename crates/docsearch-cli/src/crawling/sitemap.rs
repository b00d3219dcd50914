//! Sitemaps (sitemaps.org) and plain lists of addresses.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

use super::scope::MAX_ADDRESS;

/// Maximum size of an uncompressed sitemap in bytes, from the protocol.
pub(crate) const MAX_BYTES: u64 = 50 * 1024 * 1024;
/// Maximum length of a date in bytes, with time and zone.
const MAX_DATE: usize = 64;

/// Remaining limits on the sitemaps of a crawl, so that a site cannot fill the memory of the crawler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SitemapLimits {
    /// Bytes of uncompressed sitemaps.
    pub(crate) bytes: u64,
    pub(crate) addresses: usize,
    /// Bytes of addresses.
    pub(crate) address_bytes: usize,
    /// Whether an address was left out.
    pub(crate) is_exceeded: bool,
}

impl Default for SitemapLimits {
    fn default() -> Self {
        Self {
            bytes: 10 * MAX_BYTES,
            addresses: 500_000,
            address_bytes: 64 << 20,
            is_exceeded: false,
        }
    }
}

impl SitemapLimits {
    /// Whether nothing more may be read.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_exceeded || self.bytes == 0 || self.addresses == 0
    }

    /// Takes room for an address, if there is any.
    fn reserve(&mut self, listed: &SitemapEntry) -> bool {
        let length = listed.url.len();
        if self.addresses == 0 || self.address_bytes < length {
            self.is_exceeded = true;
            return false;
        }
        self.addresses -= 1;
        self.address_bytes -= length;
        true
    }
}

/// The entries of a sitemap, up to the limits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sitemap {
    Pages(Vec<SitemapEntry>),
    /// Addresses of other sitemaps.
    Index(Vec<SitemapEntry>),
}

/// An address and its `lastmod`.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct SitemapEntry {
    pub(crate) url: String,
    pub(crate) changed: Option<String>,
}

/// Why a sitemap cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadSitemap {
    #[error("not a gzip file: {0}")]
    Gzip(std::io::Error),
    #[error("larger than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("not XML: {0}")]
    Xml(#[from] quick_xml::Error),
    #[error("not a sitemap: neither <urlset> nor <sitemapindex>")]
    NoSitemap,
}

/// Reads a sitemap: XML or one address per line, plain or gzip. Leaves out addresses that are too long.
pub(crate) fn read(bytes: &[u8], limits: &mut SitemapLimits) -> Result<Sitemap, BadSitemap> {
    let unpacked;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        unpacked = unpack(bytes)?;
        unpacked.as_slice()
    } else {
        bytes
    };
    limits.bytes = limits.bytes.saturating_sub(bytes.len() as u64);
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') {
        return read_xml(text, limits);
    }
    let pages = lines(text)
        .filter(|url| url.len() <= MAX_ADDRESS)
        .map(|url| SitemapEntry {
            url: url.to_owned(),
            changed: None,
        });
    Ok(Sitemap::Pages(pages.take_while(|page| limits.reserve(page)).collect()))
}

/// The addresses of a list, one per line, without empty lines and comments (`#`).
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, BadSitemap> {
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(MAX_BYTES + 1)
        .read_to_end(&mut unpacked)
        .map_err(BadSitemap::Gzip)?;
    if unpacked.len() as u64 > MAX_BYTES {
        return Err(BadSitemap::TooLarge);
    }
    Ok(unpacked)
}

fn read_xml(text: &str, limits: &mut SitemapLimits) -> Result<Sitemap, BadSitemap> {
    let mut reader = Reader::from_str(text);
    let mut is_index = None;
    let mut listed = Vec::new();
    let mut current = SitemapEntry::default();
    let mut content = String::new();
    let mut depth = 0_u32;
    loop {
        match reader.read_event()? {
            Event::Start(tag) => {
                depth += 1;
                content.clear();
                match tag.local_name().as_ref() {
                    "urlset" if is_index.is_none() => is_index = Some(false),
                    "sitemapindex" if is_index.is_none() => is_index = Some(true),
                    "url" | "sitemap" if depth == 2 => current = SitemapEntry::default(),
                    _ => {}
                }
            }
            Event::Text(text) => content.push_str(&text),
            Event::CData(text) => content.push_str(&text),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(character)) => content.push(character),
                _ => content.push_str(resolve_predefined_entity(&reference).unwrap_or_default()),
            },
            Event::End(tag) => {
                match (depth, tag.local_name().as_ref()) {
                    // Images and videos of a page have a `loc` too, at a greater depth.
                    (3, "loc") => current.url = bounded_text(&content, MAX_ADDRESS).unwrap_or_default(),
                    (3, "lastmod") => current.changed = bounded_text(&content, MAX_DATE),
                    (2, "url" | "sitemap") if !current.url.is_empty() => {
                        if !limits.reserve(&current) {
                            break;
                        }
                        listed.push(std::mem::take(&mut current));
                    }
                    _ => {}
                }
                depth -= 1;
            }
            Event::Eof => break,
            _ => {}
        }
    }
    match is_index {
        Some(true) => Ok(Sitemap::Index(listed)),
        Some(false) => Ok(Sitemap::Pages(listed)),
        None => Err(BadSitemap::NoSitemap),
    }
}

/// The content of an element, unless it is empty or too long.
fn bounded_text(content: &str, most: usize) -> Option<String> {
    let content = content.trim();
    (1..=most).contains(&content.len()).then(|| content.to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn read(bytes: &[u8]) -> Result<Sitemap, BadSitemap> {
        super::read(bytes, &mut SitemapLimits::default())
    }

    fn listed(url: &str, changed: Option<&str>) -> SitemapEntry {
        SitemapEntry {
            url: url.to_owned(),
            changed: changed.map(str::to_owned),
        }
    }

    #[test]
    fn pages_with_and_without_a_date() {
        let text = "\u{feff}<?xml version='1.0'?>\n<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9'>\
            <s:url><s:loc> https://x.org/a?b=1&amp;c=2&#x26;d </s:loc><s:lastmod>2024-01-02</s:lastmod>\
            <image:image><image:loc>https://x.org/i.png</image:loc></image:image></s:url>\
            <s:url><s:loc><![CDATA[https://x.org/b]]></s:loc></s:url><s:url/></s:urlset>";
        let expected = vec![
            listed("https://x.org/a?b=1&c=2&d", Some("2024-01-02")),
            listed("https://x.org/b", None),
        ];
        assert_eq!(read(text.as_bytes()).unwrap(), Sitemap::Pages(expected));
    }

    #[test]
    fn a_compressed_index() {
        let text = b"<sitemapindex><sitemap><loc>https://x.org/1.xml</loc></sitemap></sitemapindex>";
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(text).unwrap();
        let expected = Sitemap::Index(vec![listed("https://x.org/1.xml", None)]);
        assert_eq!(read(&packed.finish().unwrap()).unwrap(), expected);
    }

    #[test]
    fn a_plain_list() {
        let expected = vec![listed("https://x.org/a", None), listed("https://x.org/b", None)];
        assert_eq!(
            read(b"https://x.org/a\r\n\n# old\n https://x.org/b\n").unwrap(),
            Sitemap::Pages(expected)
        );
    }

    #[test]
    fn invalid_sitemaps_are_rejected() {
        assert!(matches!(
            read(b"<html><body></body></html>"),
            Err(BadSitemap::NoSitemap)
        ));
        assert!(matches!(read(b"<urlset><url></loc>"), Err(BadSitemap::Xml(_))));
        assert!(matches!(read(b"\x1f\x8bnonsense"), Err(BadSitemap::Gzip(_))));
    }

    #[test]
    fn a_decompression_bomb_is_rejected() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        let zeros = vec![b' '; 1 << 20];
        for _ in 0..51 {
            packed.write_all(&zeros).unwrap();
        }
        assert!(matches!(read(&packed.finish().unwrap()), Err(BadSitemap::TooLarge)));
    }

    #[test]
    fn all_sitemaps_share_one_limit() {
        let xml: String = ["a", "b", "c"]
            .iter()
            .map(|name| format!("<url><loc>https://x.org/{name}</loc></url>"))
            .collect();
        let xml = format!("<urlset>{xml}</urlset>");
        let text = "https://x.org/a\nhttps://x.org/b\nhttps://x.org/c\n";
        let first = |sitemap: &str, mut limits: SitemapLimits| {
            let Sitemap::Pages(pages) = super::read(sitemap.as_bytes(), &mut limits).unwrap() else {
                panic!("no pages");
            };
            (pages.len(), limits.is_exceeded, limits.is_spent())
        };
        for sitemap in [xml.as_str(), text] {
            let most = |addresses, address_bytes, bytes| SitemapLimits {
                bytes,
                addresses,
                address_bytes,
                is_exceeded: false,
            };
            assert_eq!(first(sitemap, most(4, 100, 1000)), (3, false, false));
            assert_eq!(first(sitemap, most(2, 100, 1000)), (2, true, true));
            assert_eq!(first(sitemap, most(4, 31, 1000)), (2, true, true));
            // The limit on bytes applies before the next sitemap.
            assert_eq!(first(sitemap, most(4, 100, 10)), (3, false, true));
        }
    }

    #[test]
    fn invalid_addresses_and_dates_are_left_out() {
        let long = format!("https://x.org/{}", "a".repeat(MAX_ADDRESS));
        let xml = format!(
            "<urlset><url><loc>{long}</loc></url><url><loc>https://x.org/b</loc><lastmod>{long}</lastmod></url></urlset>"
        );
        let expected = Sitemap::Pages(vec![listed("https://x.org/b", None)]);
        assert_eq!(read(xml.as_bytes()).unwrap(), expected);
        assert_eq!(read(format!("{long}\nhttps://x.org/b\n").as_bytes()).unwrap(), expected);
    }
}
