//! Hints of a page for a crawler: links, canonical address, and whether it may be indexed.

use std::cell::RefCell;
use std::path::Path;

use docsearch_readers::LinkSyntax;
use docsearch_readers::detection::content_type::ContentType;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, StartTag, Tag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use pulldown_cmark::{Event, Parser, Tag as MarkdownTag};

use super::robots::AGENT;

/// The hints of a page, unresolved.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Hints {
    pub(crate) links: Vec<String>,
    /// The base of relative links, if it is not the address of the page.
    pub(crate) base: Option<String>,
    pub(crate) canonical: Option<String>,
    /// Target of a meta refresh.
    pub(crate) refresh: Option<String>,
    pub(crate) noindex: bool,
    pub(crate) nofollow: bool,
}

/// Whether content of this type and path can be documentation.
pub(crate) fn is_page(content_type: Option<&str>, path: &str) -> bool {
    let content_type = content_type.map(ContentType::parse).unwrap_or_default();
    content_type.format(Path::new(path)).is_ok()
}

/// Whether the extension of a path excludes a page, so that it need not be fetched.
pub(crate) fn is_file(path: &str) -> bool {
    const ENDINGS: [&str; 48] = [
        "7z", "apk", "avi", "bin", "bmp", "bz2", "class", "css", "csv", "deb", "dmg", "doc", "eot", "exe", "gif", "gz",
        "ico", "iso", "jar", "jpeg", "jpg", "js", "map", "mjs", "mov", "mp3", "mp4", "msi", "ogg", "otf", "png", "ppt",
        "pptx", "rpm", "svg", "tar", "tgz", "tif", "tiff", "ttf", "wasm", "webm", "webp", "woff", "woff2", "xls", "xz",
        "zip",
    ];
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ENDINGS.contains(&ending.to_ascii_lowercase().as_str()))
}

impl Hints {
    /// Reads the body of the page at `path`.
    pub(crate) fn read(body: &[u8], content_type: Option<&str>, path: &str) -> Self {
        let text = String::from_utf8_lossy(body);
        let content_type = content_type.map(ContentType::parse).unwrap_or_default();
        match content_type.link_syntax(Path::new(path)) {
            Some(LinkSyntax::Html) => html(&text),
            Some(LinkSyntax::Markdown) => markdown(&text),
            None => Self::default(),
        }
    }

    /// Takes the `X-Robots-Tag` headers into account.
    pub(crate) fn add_header(&mut self, value: &str) {
        const WITH_VALUE: [&str; 4] = [
            "max-image-preview",
            "max-snippet",
            "max-video-preview",
            "unavailable_after",
        ];
        let mut applies = true;
        for directive in value.split(',') {
            let directive = match directive.split_once(':') {
                // Any other word before a colon is the name of a crawler.
                Some((name, _)) if WITH_VALUE.contains(&name.trim().to_ascii_lowercase().as_str()) => continue,
                Some((name, directive)) => {
                    applies = name.trim().eq_ignore_ascii_case(AGENT);
                    directive
                }
                None => directive,
            };
            if applies {
                self.add_directive(directive);
            }
        }
    }

    fn add_directive(&mut self, directive: &str) {
        match directive.trim().to_ascii_lowercase().as_str() {
            "noindex" => self.noindex = true,
            "nofollow" => self.nofollow = true,
            "none" => (self.noindex, self.nofollow) = (true, true),
            _ => {}
        }
    }

    fn add_tag(&mut self, tag: &Tag) {
        match &*tag.name {
            "a" | "area" => {
                let may_follow = !attribute(tag, "rel").is_some_and(|rel| has_word(&rel, "nofollow"));
                self.links.extend(attribute(tag, "href").filter(|_| may_follow));
            }
            "base" if self.base.is_none() => self.base = attribute(tag, "href"),
            "link" if attribute(tag, "rel").is_some_and(|rel| has_word(&rel, "canonical")) => {
                self.canonical = self.canonical.take().or_else(|| attribute(tag, "href"));
            }
            "meta" => self.add_meta(tag),
            _ => {}
        }
    }

    fn add_meta(&mut self, tag: &Tag) {
        let Some(content) = attribute(tag, "content") else {
            return;
        };
        let name = attribute(tag, "name").unwrap_or_default();
        if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(AGENT) {
            content.split(',').for_each(|directive| self.add_directive(directive));
        }
        if attribute(tag, "http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh")) {
            self.refresh = self.refresh.take().or_else(|| refresh_target(&content));
        }
    }
}

/// `0; url=other.html`.
fn refresh_target(content: &str) -> Option<String> {
    let (_, target) = content.split_once([';', ','])?;
    let (key, target) = target.split_once('=')?;
    let target = target.trim().trim_matches(['"', '\'']);
    (key.trim().eq_ignore_ascii_case("url") && !target.is_empty()).then(|| target.to_owned())
}

fn attribute(tag: &Tag, name: &str) -> Option<String> {
    let attribute = tag.attrs.iter().find(|attribute| &*attribute.name.local == name)?;
    Some(attribute.value.trim().to_owned())
}

fn has_word(text: &str, word: &str) -> bool {
    text.split_ascii_whitespace().any(|own| own.eq_ignore_ascii_case(word))
}

#[derive(Default)]
struct Collector(RefCell<Hints>);

impl TokenSink for Collector {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let TagToken(tag) = token else {
            return TokenSinkResult::Continue;
        };
        if tag.kind != StartTag {
            return TokenSinkResult::Continue;
        }
        self.0.borrow_mut().add_tag(&tag);
        // Without a tree builder, the tokenizer has to learn here that these contain no tags.
        match &*tag.name {
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }
}

fn html(text: &str) -> Hints {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(text));
    let tokenizer = Tokenizer::new(Collector::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

fn markdown(text: &str) -> Hints {
    let links = Parser::new(text).filter_map(|event| match event {
        Event::Start(MarkdownTag::Link { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    });
    Hints {
        links: links.collect(),
        ..Hints::default()
    }
}

#[cfg(test)]
mod tests {
    use docsearch_readers::FORMATS;

    use super::*;

    const HTML: Option<&str> = Some("text/html; charset=utf-8");

    fn hints(text: &str) -> Hints {
        Hints::read(text.as_bytes(), HTML, "/")
    }

    #[test]
    fn links_of_html() {
        let found = hints(
            "<base href=/docs/><a href=a.html>A</a><A HREF=' b.html?x=1&amp;y=2#z '>B</A><area href=c>\
             <a name=x><a rel='noopener nofollow' href=d><link rel=stylesheet href=e.css>\
             <!-- <a href=f> --><script>'<a href=g>'</script><style><a href=h></style>\
             <title><a href=i></title><textarea><a href=j></textarea><a href=k>",
        );
        assert_eq!(found.links, ["a.html", "b.html?x=1&y=2#z", "c", "k"]);
        assert_eq!(found.base.as_deref(), Some("/docs/"));
    }

    #[test]
    fn robots_tags() {
        let page = hints("<meta name=ROBOTS content='NoIndex, follow'>");
        assert!(page.noindex && !page.nofollow);
        let page = hints("<meta name=pg_docsearch content=none>");
        assert!(page.noindex && page.nofollow);
        let page = hints("<meta name=otherbot content=none>");
        assert!(!page.noindex && !page.nofollow);
    }

    #[test]
    fn robots_headers() {
        for (value, noindex, nofollow) in [
            ("noindex", true, false),
            ("noarchive, NOFOLLOW", false, true),
            ("otherbot: noindex, nofollow", false, false),
            ("otherbot: noindex, pg_docsearch: nofollow", false, true),
            ("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", true, false),
            ("max-snippet: -1, nofollow", false, true),
        ] {
            let mut hints = Hints::default();
            hints.add_header(value);
            assert_eq!((hints.noindex, hints.nofollow), (noindex, nofollow), "{value}");
        }
    }

    #[test]
    fn canonical_address_and_meta_refresh() {
        let page = hints("<link rel=canonical href=/a><link rel=canonical href=/b>");
        assert_eq!(page.canonical.as_deref(), Some("/a"));
        let page = hints("<meta http-equiv=Refresh content=\"0; URL='new.html'\">");
        assert_eq!(page.refresh.as_deref(), Some("new.html"));
        assert_eq!(hints("<meta http-equiv=refresh content=30>").refresh, None);
    }

    #[test]
    fn links_of_markdown() {
        let text = b"[a](a.md) ![i](i.png) <https://x.org/> [r][r] `[c](c.md)`\n\n[r]: r.md\n";
        let found = Hints::read(text, Some("text/plain"), "/docs/x.md");
        assert_eq!(found.links, ["a.md", "https://x.org/", "r.md"]);
        assert_eq!(
            Hints::read(text, Some("text/plain"), "/x.txt").links,
            Vec::<String>::new()
        );
    }

    #[test]
    fn types_and_extensions_of_pages() {
        assert!(is_page(None, "/a"));
        assert!(is_page(HTML, "/a"));
        assert!(is_page(Some("Text/Markdown"), "/a"));
        assert!(is_page(Some("application/pdf"), "/a"));
        for kind in ["image/png", "application/zip", "text/css", "application/octet-stream"] {
            assert!(!is_page(Some(kind), "/a"), "{kind}");
        }
        for extension in FORMATS.iter().flat_map(|format| format.all_extensions()) {
            assert!(!is_file(&format!("/a.{extension}")), "{extension}");
        }
        assert!(is_file("/logo.PNG") && is_file("/a/b.tar.gz"));
        assert!(!is_file("/releases/4.2") && !is_file("/a.html") && !is_file("/a.zip/"));
    }
}
