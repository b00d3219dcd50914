//! Text outside of pages: titles, authors, entries of the outline.

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};

/// The characters of PDFDocEncoding that are not those of Latin-1: from 0x18 to 0x1f, and from 0x80 to 0xa0.
const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
const HIGH: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ',
    'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', ' ', '€',
];

/// The text of a string: UTF-16 or UTF-8 with a mark, else PDFDocEncoding.
pub(super) fn decode(bytes: &[u8]) -> String {
    let text = match bytes {
        [0xfe, 0xff, rest @ ..] => UTF_16BE.decode_without_bom_handling(rest).0.into_owned(),
        [0xff, 0xfe, rest @ ..] => UTF_16LE.decode_without_bom_handling(rest).0.into_owned(),
        [0xef, 0xbb, 0xbf, rest @ ..] => UTF_8.decode_without_bom_handling(rest).0.into_owned(),
        _ => bytes.iter().map(|&byte| character(byte)).collect(),
    };
    // A language in the text, between escapes.
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.skip(1).step_by(2).fold(first, |text, part| text + part)
}

fn character(byte: u8) -> char {
    match byte {
        0x18..=0x1f => LOW[usize::from(byte - 0x18)],
        0x80..=0xa0 => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_of_strings() {
        assert_eq!(decode(b"\xfe\xff\x05\xd3\x05\xd5\x05\xd7"), "דוח");
        assert_eq!(decode(b"\xff\xfeA\x00"), "A");
        assert_eq!(decode(b"\xef\xbb\xbf\xc3\xa9"), "é");
        assert_eq!(decode(b"Caf\xe9 \x84 \xa0"), "Café — €");
        assert_eq!(decode(b"\xfe\xff\x00\x1b\x00e\x00n\x00\x1b\x00A"), "A");
    }
}
