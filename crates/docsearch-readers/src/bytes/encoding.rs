//! Bytes to text.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::draft::Unreadable;

/// A page has to declare its encoding within these bytes.
const DECLARATION_BYTES: usize = 4096;
/// Bytes that are examined to guess an encoding.
const GUESS_BYTES: usize = 1 << 20;

/// Decodes UTF-8 or the declared character set; removes a byte order mark, and makes line ends line feeds.
pub(crate) fn decode_text(bytes: Vec<u8>, charset: Option<&str>) -> Result<String, Unreadable> {
    let named = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    let marked = Encoding::for_bom(&bytes).map(|(encoding, _)| encoding);
    let text = match marked.or(named).filter(|encoding| *encoding != UTF_8) {
        Some(encoding) => encoding.decode(&bytes).0.into_owned(),
        None => {
            refuse_binary(&bytes)?;
            String::from_utf8(bytes).map_err(|error| Unreadable::NotUtf8(error.utf8_error().valid_up_to()))?
        }
    };
    Ok(with_line_feeds(text.strip_prefix('\u{feff}').unwrap_or(&text)))
}

/// By byte order mark, transport, declaration in the page, or a guess; invalid bytes are never an error.
pub(crate) fn decode_html(bytes: Vec<u8>, charset: Option<&str>) -> Result<String, Unreadable> {
    let named = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
    let marked = Encoding::for_bom(&bytes).map(|(encoding, _)| encoding);
    let encoding = match marked.or(named) {
        Some(encoding) => encoding,
        None if std::str::from_utf8(&bytes).is_ok() => UTF_8,
        None => declared(&bytes).unwrap_or_else(|| guess(&bytes)),
    };
    if encoding != UTF_16LE && encoding != UTF_16BE {
        refuse_binary(&bytes)?;
    }
    let (text, _, _) = encoding.decode(&bytes);
    Ok(match text {
        Cow::Borrowed(text) => with_line_feeds(text),
        Cow::Owned(text) => with_line_feeds(&text),
    })
}

fn refuse_binary(bytes: &[u8]) -> Result<(), Unreadable> {
    match bytes.iter().position(|&byte| byte == 0) {
        Some(offset) => Err(Unreadable::Binary(offset)),
        None => Ok(()),
    }
}

fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// `<meta charset=x>`, `<meta http-equiv=Content-Type content="text/html; charset=x">` or
/// `<?xml encoding="x"?>`.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]).to_ascii_lowercase();
    let value = ["charset=", "encoding="]
        .iter()
        .find_map(|key| head.split_once(key))
        .map(|(_, value)| value.trim_start_matches(['"', '\'']))?;
    let end = value.find(|character: char| !(character.is_ascii_alphanumeric() || "-_:.".contains(character)));
    let encoding = Encoding::for_label(&value.as_bytes()[..end.unwrap_or(value.len())])?;
    // A declaration that is readable byte by byte is not in UTF-16, even if it says so.
    (encoding != UTF_16LE && encoding != UTF_16BE).then_some(encoding)
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(GUESS_BYTES)], true);
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(bytes: &[u8]) -> String {
        decode_html(bytes.to_vec(), None).unwrap()
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
    fn text_is_utf_8_unless_marked_or_named() {
        assert_eq!(decode_text(b"\xef\xbb\xbfa\r\nb".to_vec(), None).unwrap(), "a\nb");
        assert_eq!(decode_text(b"caf\xe9".to_vec(), Some("latin1")).unwrap(), "café");
        assert!(matches!(
            decode_text(b"a\xff".to_vec(), None),
            Err(Unreadable::NotUtf8(1))
        ));
    }
}
