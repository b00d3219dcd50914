use super::*;
use crate::bytes::package::packed;

const CONTAINER: &str = "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>";
const PACKAGE: &str = "<package xmlns:dc='dc'><metadata><dc:title>The Book</dc:title><dc:creator>Ada</dc:creator>\
    <dc:subject>kites</dc:subject><meta property='dcterms:modified'>2024-05-06T07:08:09Z</meta></metadata>\
    <manifest><item id='a' href='text/one%20a.xhtml' media-type='application/xhtml+xml'/>\
    <item id='b' href='text/two.xhtml' media-type='application/xhtml+xml'/>\
    <item id='n' href='nav.xhtml' media-type='application/xhtml+xml' properties='nav'/></manifest>\
    <spine><itemref idref='n'/><itemref idref='b'/><itemref idref='a'/></spine></package>";

fn chapter(text: &str) -> String {
    format!(
        "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/></head><body>{text}</body></html>"
    )
}

fn book(one: &str, two: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let mut files = vec![
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", CONTAINER),
        ("OPS/book.opf", PACKAGE),
        ("OPS/text/one a.xhtml", one),
        ("OPS/text/two.xhtml", two),
        ("OPS/nav.xhtml", "<html><body><p>Contents</p></body></html>"),
    ];
    files.extend(more);
    packed(&files)
}

#[test]
fn chapters_are_documents_in_the_order_of_the_spine() {
    let one = chapter(
        "<section id='fly'><a id='x'/><h1>Flying</h1><p>Let it go.</p><pre><code>wind  --up\n</code></pre></section>",
    );
    let two = chapter("<h1 id='build'>Building</h1><p>Take paper.</p>");
    let bytes = book(&one, &two, &[]);
    let drafts = read(&bytes).unwrap();
    let titles: Vec<_> = drafts
        .iter()
        .map(|draft| draft.matter.title.as_deref().unwrap())
        .collect();
    assert_eq!(titles, ["Building", "Flying"]);
    assert!(drafts[0].body.contains("# Building {#build}"));
    assert!(drafts[1].body.contains("wind  --up") && drafts[1].body.contains("Let it go."));
    assert_eq!(drafts[1].slug_suffix.as_deref(), Some("OPS/text/one a"));
    assert_eq!(drafts[1].matter.metadata["book"], "The Book");
    assert_eq!(drafts[1].matter.published_at.as_deref(), Some("2024-05-06"));
}

#[test]
fn unreadable_chapters_are_reported() {
    let key = "<encryption><EncryptedData><CipherData><CipherReference URI='OPS/text/two.xhtml'/></CipherData>\
        </EncryptedData></encryption>";
    let text = chapter("<h1>A</h1><p>b</p>");
    let drafts = read(&book(&text, &text, &[("META-INF/encryption.xml", key)])).unwrap();
    assert_eq!(drafts.len(), 1);
    assert_eq!(drafts[0].warning.as_deref(), Some("1 of 2 chapters cannot be read"));
    let refused = read(&book(&chapter(""), &text, &[("META-INF/encryption.xml", key)])).unwrap_err();
    assert_eq!(refused.to_string(), "cannot be read as EPUB: it is encrypted");
}

#[test]
fn references_are_paths_from_the_file_that_has_them() {
    assert_eq!(resolve("OPS/a/b.xhtml", "../c%20d.xhtml#x"), "OPS/c d.xhtml");
    assert_eq!(resolve("content.opf", "../../x"), "x");
    assert_eq!(resolve("a/b", "/c"), "c");
}
