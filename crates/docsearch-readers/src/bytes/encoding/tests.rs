use proptest::prelude::*;

use super::*;

fn html(bytes: &[u8]) -> String {
    decode_html(bytes.to_vec(), None).unwrap()
}

fn text(bytes: &[u8]) -> String {
    decode_text(bytes.to_vec(), None).unwrap()
}

fn utf_16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

fn utf_32_of(text: &str, order: fn(u32) -> [u8; 4]) -> Vec<u8> {
    text.chars().flat_map(|character| order(u32::from(character))).collect()
}

#[test]
fn pages_say_or_show_their_encoding() {
    assert_eq!(
        html(b"<meta charset=\"windows-1252\"><p>caf\xe9"),
        "<meta charset=\"windows-1252\"><p>café"
    );
    assert!(html(b"<?xml version='1.0' encoding='ISO-8859-2'?><p>\xb3").ends_with('ł'));
    assert_eq!(html(b"\xff\xfeh\0i\0"), "hi");
    assert_eq!(html("<p>über".as_bytes()), "<p>über");
    let guessed = html(b"<p>Der Schl\xfcssel f\xfcr die \xdcbersicht geh\xf6rt dazu.");
    assert!(guessed.contains("Schlüssel für die Übersicht"), "{guessed}");
}

#[test]
fn japanese_text_in_seven_bits_is_decoded_where_it_says_so() {
    let page = b"<meta charset=iso-2022-jp><p>\x1b$B@_Dj\x1b(B";
    assert_eq!(html(page), "<meta charset=iso-2022-jp><p>設定");
    assert_eq!(
        text(b"# -*- coding: iso-2022-jp -*-\n\x1b$B@_Dj\x1b(B"),
        "# -*- coding: iso-2022-jp -*-\n設定"
    );
    assert_eq!(text(b"\x1b[1mbold\x1b[0m"), "\u{1b}[1mbold\u{1b}[0m");
}

#[test]
fn bytes_that_fit_no_encoding_are_replaced() {
    assert_eq!(
        html(b"<meta charset=utf-8>a\xff\xfeb"),
        "<meta charset=utf-8>a\u{fffd}\u{fffd}b"
    );
    assert!(matches!(
        decode_html(b"a\0b".to_vec(), None),
        Err(Unreadable::Binary(1))
    ));
}

#[test]
fn text_is_utf_8_unless_marked_named_or_declared() {
    assert_eq!(text(b"\xef\xbb\xbfa\r\nb"), "a\nb");
    assert_eq!(decode_text(b"caf\xe9".to_vec(), Some("latin1")).unwrap(), "café");
    assert!(matches!(
        decode_text(b"a\xff".to_vec(), None),
        Err(Unreadable::NotUtf8(1))
    ));
    for declaration in [
        ".. -*- coding: latin-1 -*-",
        "# vim: set fileencoding=iso-8859-1 :",
        "#!/bin/sh\n# -*- mode: sh; coding: iso-latin-1-unix -*-",
        "'\\\" -*- coding: ISO-8859-15 -*-",
        "= Title\nAuthor\n:toc:\n:encoding: ISO-8859-1",
        "% !TEX encoding = windows-1252",
    ] {
        let bytes = [declaration.as_bytes(), b"\ncaf\xe9"].concat();
        assert_eq!(text(&bytes), format!("{declaration}\ncafé"));
    }
    let late = b"a\nb\ncoding: latin-1\ncaf\xe9";
    assert!(matches!(decode_text(late.to_vec(), None), Err(Unreadable::NotUtf8(_))));
    // A declaration is not trusted where the bytes are UTF-8.
    assert_eq!(text("# coding: latin-1\ncafé".as_bytes()), "# coding: latin-1\ncafé");
}

#[test]
fn binary_files_are_no_text() {
    for bytes in [
        b"MZ\0\x01".as_slice(),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01",
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0",
        b"name\0value\0name\0value\0",
        b"key\0act\0key\0act\0",
        b"a b c\0d e\0f g h\0",
        b"\0\0\0\0\0\0\0\0",
    ] {
        assert!(
            matches!(decode_text(bytes.to_vec(), None), Err(Unreadable::Binary(_))),
            "{bytes:?}"
        );
    }
}

#[test]
fn every_kind_of_line_end_is_a_line_feed() {
    assert_eq!(
        text(b"# Old Mac\rText.\r\r```\ra\r b\r```\r"),
        "# Old Mac\nText.\n\n```\na\n b\n```\n"
    );
    assert_eq!(text(b"a\r\nb\rc\nd"), "a\nb\nc\nd");
    assert_eq!(html(b"<pre>a\rb\r\nc</pre>"), "<pre>a\nb\nc</pre>");
}

proptest! {
    #[test]
    fn wide_text_is_read_with_and_without_a_mark(
        words in prop::collection::vec("[a-zéßłΩжשक設]{1,8}", 4..40),
        line_end in prop::sample::select(vec!["\n", "\r", "\r\n"]),
    ) {
        let lines: Vec<String> = words.chunks(3).map(|words| words.join(" ")).collect();
        let (written, expected) = (lines.join(line_end), lines.join("\n"));
        for marked in [&*format!("\u{feff}{written}"), &written] {
            for bytes in [
                utf_16(marked, u16::to_le_bytes),
                utf_16(marked, u16::to_be_bytes),
                utf_32_of(marked, u32::to_le_bytes),
                utf_32_of(marked, u32::to_be_bytes),
            ] {
                prop_assert_eq!(&decode_text(bytes.clone(), None).unwrap(), &expected);
                prop_assert_eq!(&decode_html(bytes, None).unwrap(), &expected);
            }
        }
        prop_assert_eq!(&text(written.as_bytes()), &expected);
    }

    #[test]
    fn bytes_are_text_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for text in [decode_text(bytes.clone(), None), decode_html(bytes, None)].into_iter().flatten() {
            prop_assert!(!text.contains(['\0', '\r']));
        }
    }
}
