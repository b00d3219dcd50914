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
fn a_book_may_be_packed_with_the_folder_around_it() {
    let files = [
        ("epub/mimetype", "application/epub+zip"),
        ("epub/META-INF/container.xml", CONTAINER),
        ("epub/OPS/book.opf", PACKAGE),
        (
            "epub/OPS/text/one a.xhtml",
            &*chapter("<h1>Flying</h1><p>Let it go.</p>"),
        ),
        (
            "epub/OPS/text/two.xhtml",
            &*chapter("<h1>Building</h1><p>Take paper.</p>"),
        ),
    ];
    let drafts = read(&packed(&files)).unwrap();
    let suffixes: Vec<_> = drafts
        .iter()
        .map(|draft| draft.slug_suffix.as_deref().unwrap())
        .collect();
    assert_eq!(suffixes, ["OPS/text/two", "OPS/text/one a"]);
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
fn the_first_package_that_exists_is_read() {
    let page = chapter("<h1>One</h1><p>Wind.</p>");
    let files = |container: &str| {
        let container = format!("<container><rootfiles>{container}</rootfiles></container>");
        let files = [
            ("META-INF/container.xml", container.as_str()),
            ("OPS/book.opf", PACKAGE),
            ("OPS/book.pdf", "%PDF-1.4"),
            ("OPS/text/one a.xhtml", &page),
            ("OPS/text/two.xhtml", &page),
        ];
        read(&packed(&files)).map(|drafts| drafts.len())
    };
    let package = "<rootfile full-path='OPS/book.opf' media-type='application/oebps-package+xml'/>";
    for before in [
        "<rootfile full-path='EPUB/lost.opf' media-type='application/oebps-package+xml'/>",
        "<rootfile media-type='application/oebps-package+xml'/>",
        "<rootfile full-path='OPS/book.pdf' media-type='application/pdf'/>",
    ] {
        assert_eq!(files(&format!("{before}{package}")).unwrap(), 2);
        assert_eq!(files(before).unwrap(), 2);
    }
}

const NCX: &str = "<ncx><navMap><navPoint><navLabel><text>The Storm</text></navLabel><content src='text/two.xhtml'/>\
    <navPoint><navLabel><text>Its end</text></navLabel><content src='text/two.xhtml#end'/></navPoint></navPoint></navMap></ncx>";

/// A book with this manifest and spine, and these files.
fn packed_book(manifest: &str, spine: &str, files: &[(&str, &str)]) -> Vec<u8> {
    let package = format!(
        "<package><metadata><title>The Book</title></metadata><manifest>{manifest}</manifest><spine>{spine}</spine></package>"
    );
    let mut all = vec![
        ("META-INF/container.xml", CONTAINER),
        ("OPS/book.opf", package.as_str()),
    ];
    all.extend(files);
    packed(&all)
}

fn titles_and_bodies(bytes: &[u8]) -> Vec<(String, String)> {
    let drafts = read(bytes).unwrap().into_iter();
    drafts.map(|draft| (draft.matter.title.unwrap(), draft.body)).collect()
}

#[test]
fn the_table_of_contents_names_chapters_without_a_heading() {
    let item = "<item id='b' href='text/two.xhtml' media-type='application/xhtml+xml'/>";
    let plain = chapter("<p class='title'>2</p><p>Wind.</p>");
    let titled = plain.replace("<title/>", "<title>ch002.xhtml</title>");
    let nav = "<html><body><nav type='page-list'><a href='text/two.xhtml'>9</a></nav>\
        <nav type='toc'><ol><li><a href='text/two.xhtml'>The Storm</a></li></ol></nav></body></html>";
    let ncx_item = "<item id='n' href='toc.ncx' media-type='application/x-dtbncx+xml'/>";
    let nav_item = "<item id='n' href='nav.xhtml' media-type='application/xhtml+xml' properties='nav'/>";
    for (contents, path, text) in [(ncx_item, "OPS/toc.ncx", NCX), (nav_item, "OPS/nav.xhtml", nav)] {
        for page in [&plain, &titled] {
            let files = [("OPS/text/two.xhtml", page.as_str()), (path, text)];
            let bytes = packed_book(&format!("{item}{contents}"), "<itemref idref='b'/>", &files);
            assert_eq!(titles_and_bodies(&bytes)[0].0, "The Storm");
        }
    }
}

#[test]
fn files_without_a_title_continue_their_chapter() {
    let manifest = "<item id='b' href='text/two.xhtml' media-type='application/xhtml+xml'/>\
        <item id='c' href='text/two_2.xhtml' media-type='application/xhtml+xml'/>\
        <item id='d' href='text/notes.xhtml' media-type='application/xhtml+xml'/>\
        <item id='n' href='toc.ncx' media-type='application/x-dtbncx+xml'/>";
    let spine = "<itemref idref='b'/><itemref idref='c'/><itemref idref='d' linear='no'/>";
    let files = [
        ("OPS/text/two.xhtml", &*chapter("<p>Wind.</p>")),
        ("OPS/text/two_2.xhtml", &*chapter("<p>Rain.</p>")),
        (
            "OPS/text/notes.xhtml",
            &*chapter("<h1>Notes</h1><aside type='footnote'><p>Of gulls.</p></aside>"),
        ),
        ("OPS/toc.ncx", NCX),
    ];
    let expected = [("The Storm", "Wind.\n\nRain.\n"), ("Notes", "# Notes\n\nOf gulls.\n")];
    let expected = expected.map(|(title, body)| (title.to_owned(), body.to_owned()));
    assert_eq!(titles_and_bodies(&packed_book(manifest, spine, &files)), expected);
}

#[test]
fn files_are_found_as_programs_name_them() {
    let manifest = "<item id='a' href='Text/One.xhtml' media-type='text/xml'/>\
        <item id='b' href='two.xyz' media-type='application/x-kite' fallback='c'/>\
        <item id='c' href='two.html' media-type='text/html'/>";
    let spine = "<itemref idref='a'/><itemref idref='b'/>";
    let files = [
        ("OPS\\text\\one.xhtml", &*chapter("<h1>One</h1>")),
        ("OPS/two.html", "<meta name='robots' content='noindex'><h1>Two</h1>"),
    ];
    let titles: Vec<String> = titles_and_bodies(&packed_book(manifest, spine, &files))
        .into_iter()
        .map(|(title, _)| title)
        .collect();
    assert_eq!(titles, ["One", "Two"]);
}

#[test]
fn chapters_that_are_not_quite_xml_keep_their_text() {
    let manifest = "<item id='a' href='a.xhtml' media-type='application/xhtml+xml'/>";
    let page = "<html><head><title/><script src='x'/></head><body><a id='top'/><h1>Salt & <i>Pepper</h1><p>AT&T &eacute;t&#233;<br>line</p></body></html>";
    let bytes = packed_book(manifest, "<itemref idref='a'/>", &[("OPS/a.xhtml", page)]);
    let (title, body) = titles_and_bodies(&bytes).remove(0);
    assert_eq!(title, "Salt & Pepper");
    assert!(body.contains("AT&T été") && body.contains("line"), "{body}");
}

#[test]
fn books_in_other_encodings_are_read() {
    let latin = |text: &str| text.chars().map(|character| character as u8).collect::<Vec<u8>>();
    let package = "<?xml version='1.0' encoding='ISO-8859-1'?><package><metadata><title>Été &amp; hiver</title></metadata>\
        <manifest><item id='a' href='a.xhtml' media-type='application/xhtml+xml'/></manifest><spine><itemref idref='a'/></spine></package>";
    let page = "<?xml version='1.0' encoding='ISO-8859-1'?><html><head><title/></head><body><p>Après la pluie.</p></body></html>";
    let wide: Vec<u8> = format!("\u{feff}{}", page.replace("ISO-8859-1", "UTF-16"))
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for text in [latin(page), wide] {
        let files = [
            ("META-INF/container.xml", CONTAINER.into()),
            ("OPS/book.opf", latin(package)),
            ("OPS/a.xhtml", text),
        ];
        let (title, body) = titles_and_bodies(&package::packed_bytes(&files)).remove(0);
        assert_eq!((title.as_str(), body.as_str()), ("Été & hiver", "Après la pluie.\n"));
    }
}
