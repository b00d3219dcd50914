use super::*;

fn text_of(encoding: &str, collection: &str, codes: &str) -> String {
    let font = format!(
        "<< /Type /Font /Subtype /Type0 /BaseFont /Kite /Encoding /{encoding} /DescendantFonts [ << /Type /Font \
         /Subtype /CIDFontType0 /BaseFont /Kite /DW 1000 /CIDSystemInfo << /Registry (Adobe) /Ordering ({collection}) \
         /Supplement 2 >> >> ] >>"
    );
    let page = format!("BT /F5 12 Tf 72 700 Td <{codes}> Tj ET\n");
    read(&drawn_with(&[page], "", &format!("/F5 {font}"))).unwrap().body
}

#[test]
fn fonts_that_are_not_in_the_file_have_the_letters_of_their_collection() {
    for (encoding, collection, codes, text) in [
        ("90ms-RKSJ-H", "Japan1", "93fa967b8cea", "日本語"),
        ("UniJIS-UCS2-H", "Japan1", "65e5672c8a9e", "日本語"),
        ("UniJIS-UTF16-H", "Japan1", "65e5672c8a9e", "日本語"),
        ("Identity-H", "Japan1", "034b034d", "あい"),
        ("GBK-EUC-H", "GB1", "d6d0cec4", "中文"),
        ("UniGB-UCS2-H", "GB1", "4e2d6587", "中文"),
        ("ETen-B5-H", "CNS1", "a4a4a4e5", "中文"),
        ("KSCms-UHC-H", "Korea1", "c7d1b1db", "한글"),
    ] {
        assert_eq!(text_of(encoding, collection, codes).trim(), text, "{encoding}");
    }
}

/// Words in a bitmap font, as TeX makes them, with these names of glyphs for the codes from 1 on.
fn in_bitmap_font(name: impl Fn(u32) -> String, words: &[&str]) -> String {
    let names: String = (1..128).map(|code| format!("/{} ", name(code))).collect();
    let widths: String = (1..128).map(|code| format!("{} ", 5 + code % 3)).collect();
    let font = format!(
        "/F5 << /Type /Font /Subtype /Type3 /FontBBox [ 0 0 10 10 ] /FontMatrix [ 0.1 0 0 0.1 0 0 ] /FirstChar 1 \
         /LastChar 127 /Widths [ {widths} ] /CharProcs << >> /Encoding << /Type /Encoding /Differences [ 1 {names} ] >> >>"
    );
    let page: String = (0..)
        .zip(words)
        .map(|(place, word)| at("F5", 12, 72 + 80 * place, 700, word))
        .collect();
    read(&drawn_with(&[page], "", &font)).map_or(String::new(), |document| document.body)
}

#[test]
fn glyphs_that_are_named_by_their_codes_are_letters() {
    let words = ["Je\u{b}rey", "\u{c}nds", "kites."];
    assert_eq!(
        in_bitmap_font(|code| format!("a{code}"), &words).trim(),
        "Jeffrey finds kites."
    );
    assert!(!in_bitmap_font(|code| format!("g{}", code + 1), &words).contains("kites"));
}
