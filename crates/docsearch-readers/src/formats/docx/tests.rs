use super::*;
use crate::bytes::package::packed;

const STYLES: &str = "<w:styles xmlns:w='w'>\
    <w:style w:styleId='berschrift1'><w:name w:val='heading 1'/><w:pPr><w:outlineLvl w:val='0'/></w:pPr></w:style>\
    <w:style w:styleId='Chapter'><w:name w:val='My chapter'/><w:basedOn w:val='Under'/></w:style>\
    <w:style w:styleId='Under'><w:name w:val='x'/><w:pPr><w:outlineLvl w:val='1'/></w:pPr></w:style>\
    <w:style w:styleId='SourceCode'><w:name w:val='Source Code'/></w:style></w:styles>";
const NUMBERING: &str = "<w:numbering><w:abstractNum w:abstractNumId='5'><w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/></w:lvl>\
    <w:lvl w:ilvl='1'><w:numFmt w:val='bullet'/></w:lvl></w:abstractNum>\
    <w:num w:numId='1'><w:abstractNumId w:val='5'/></w:num></w:numbering>";

fn file(body: &str) -> Vec<u8> {
    packed(&[
        (
            "word/document.xml",
            &format!("<w:document><w:body>{body}</w:body></w:document>"),
        ),
        ("word/styles.xml", STYLES),
        ("word/numbering.xml", NUMBERING),
        (
            "word/_rels/document.xml.rels",
            "<Relationships><Relationship Id='r1' Target='https://a.test/x' TargetMode='External'/></Relationships>",
        ),
        (
            "docProps/core.xml",
            "<p><dc:creator>Ada</dc:creator><modified>2024-02-03T00:00:00Z</modified></p>",
        ),
    ])
}

fn body(body: &str) -> String {
    read(&file(body)).unwrap().body
}

fn paragraph(style: &str, text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t xml:space='preserve'>{text}</w:t></w:r></w:p>")
}

#[test]
fn headings_follow_the_outline_of_their_style_and_keep_their_bookmarks() {
    let text = format!(
        "<w:p><w:pPr><w:pStyle w:val='berschrift1'/></w:pPr><w:bookmarkStart w:name='_Toc1'/><w:bookmarkStart w:name='start'/>\
         <w:r><w:t>Set</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>up</w:t></w:r></w:p>{}{}",
        paragraph("Chapter", "Below"),
        paragraph("", "1. Text")
    );
    assert_eq!(body(&text), "# Setup {#start}\n\n## Below\n\n1\\. Text\n");
}

#[test]
fn lists_keep_their_numbers_across_code() {
    let item = |level: u8, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let text = format!(
        "{}{}{}{}",
        item(0, "a"),
        item(1, "b"),
        paragraph("SourceCode", "x"),
        item(0, "c")
    );
    assert_eq!(body(&text), "1. a\n   - b\n\n```\nx\n```\n\n2. c\n");
}

#[test]
fn links_emphasis_code_and_tables_are_kept_and_deletions_are_not() {
    let text = "<w:p><w:r><w:t xml:space='preserve'>See </w:t></w:r><w:hyperlink r:id='r1'><w:r><w:t>the site</w:t></w:r></w:hyperlink>\
        <w:del><w:r><w:t>gone</w:t></w:r></w:del><w:r><w:t xml:space='preserve'>, </w:t></w:r>\
        <w:r><w:rPr><w:rFonts w:ascii='Consolas'/></w:rPr><w:t>a_b</w:t></w:r></w:p>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>k</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>v|w</w:t></w:r></w:p></w:tc></w:tr>\
        <w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:p><w:r><w:t>both</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";
    assert_eq!(
        body(text),
        "See [the site](https://a.test/x), `a_b`\n\n| k | v\\|w |\n| --- | --- |\n| both |  |\n"
    );
}

#[test]
fn the_properties_of_the_file_are_metadata() {
    let draft = read(&file(&paragraph("", "x"))).unwrap();
    assert_eq!(draft.matter.metadata["author"], "Ada");
    assert_eq!(draft.matter.published_at.as_deref(), Some("2024-02-03"));
    assert!(read(&file("")).is_err() && read(b"PK\x03\x04").is_err());
}

proptest::proptest! {
    #[test]
    fn code_is_the_code_of_the_document_byte_for_byte(lines in proptest::collection::vec("[ -~]{0,20}", 1..8)) {
        proptest::prop_assume!(lines.iter().any(|line| !line.trim().is_empty()));
        let text: String = lines.iter().map(|line| paragraph("SourceCode", line)).collect();
        let expected = crate::text::fence::block("", &lines.join("\n"));
        proptest::prop_assert_eq!(body(&text), format!("{expected}\n"));
    }
}
