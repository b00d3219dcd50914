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
