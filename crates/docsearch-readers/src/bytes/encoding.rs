//! Bytes to text.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

use crate::draft::Unreadable;
use crate::text::line_end;

/// A page has to declare its encoding within these bytes.
const DECLARATION_BYTES: usize = 4096;
/// Lines at the beginning of a text in which editors, Python and groff look for its encoding.
const CODING_LINES: usize = 2;
/// Lines in which AsciiDoc has its attributes.
const ATTRIBUTE_LINES: usize = 20;
/// Bytes that are examined to guess an encoding.
const GUESS_BYTES: usize = 1 << 20;
/// Text of fewer bytes may look like UTF-16 by chance.
const MIN_UNMARKED_BYTES: usize = 8;
/// In UTF-16, one side of the characters has more NUL bytes than the other by this factor: few characters such as U+4E00 have
/// one on the other side.
const MIN_SHARE_OF_NUL: usize = 4;
const ESCAPE: u8 = 0x1b;

/// Decodes UTF-8, UTF-16, UTF-32 or the declared character set; removes a byte order mark, and makes line ends line
/// feeds.
pub(crate) fn decode_text(bytes: Vec<u8>, charset: Option<&str>) -> Result<String, Unreadable> {
    let named = named(charset).filter(|encoding| *encoding != UTF_8);
    let text = match marked(&bytes) {
        Some(text) => text,
        None => match named.or_else(|| in_text(&bytes)) {
            Some(encoding) => encoding.decode_without_bom_handling(&bytes).0.into_owned(),
            None => match unmarked(&bytes) {
                Some(text) => text,
                None => {
                    refuse_binary(&bytes)?;
                    String::from_utf8(bytes).map_err(|error| Unreadable::NotUtf8(error.utf8_error().valid_up_to()))?
                }
            },
        },
    };
    clean(text)
}

/// By byte order mark, transport, declaration in the page, or a guess; invalid bytes are never an error.
pub(crate) fn decode_html(bytes: Vec<u8>, charset: Option<&str>) -> Result<String, Unreadable> {
    let text = match marked(&bytes) {
        Some(text) => text,
        None => match named(charset).filter(|encoding| is_wide(encoding)) {
            Some(encoding) => encoding.decode_without_bom_handling(&bytes).0.into_owned(),
            None => match unmarked(&bytes) {
                Some(text) => text,
                None => {
                    refuse_binary(&bytes)?;
                    let encoding = named(charset).unwrap_or_else(|| of_page(&bytes));
                    encoding.decode_without_bom_handling(&bytes).0.into_owned()
                }
            },
        },
    };
    clean(text)
}

/// Whether the text names its encoding, such as `-*- coding: latin-1 -*-`.
pub(crate) fn is_declared_in_text(bytes: &[u8]) -> bool {
    in_text(bytes).is_some()
}

fn clean(text: String) -> Result<String, Unreadable> {
    refuse_binary(text.as_bytes())?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    };
    Ok(line_end::with_line_feeds(text))
}

/// What the transport names. Encodings that browsers refuse for safety have no decoder.
fn named(charset: Option<&str>) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(charset?.as_bytes())
}

fn is_wide(encoding: &'static Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

fn refuse_binary(bytes: &[u8]) -> Result<(), Unreadable> {
    match bytes.iter().position(|&byte| byte == 0) {
        Some(offset) => Err(Unreadable::Binary(offset)),
        None => Ok(()),
    }
}

/// The text after a byte order mark; `None` without one. The mark of UTF-32 begins with that of UTF-16.
fn marked(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0xff, 0xfe, 0, 0, rest @ ..] => Some(utf_32(rest, u32::from_le_bytes)),
        [0, 0, 0xfe, 0xff, rest @ ..] => Some(utf_32(rest, u32::from_be_bytes)),
        [0xff, 0xfe, rest @ ..] => Some(UTF_16LE.decode_without_bom_handling(rest).0.into_owned()),
        [0xfe, 0xff, rest @ ..] => Some(UTF_16BE.decode_without_bom_handling(rest).0.into_owned()),
        _ => None,
    }
}

fn utf_32(bytes: &[u8], number: fn([u8; 4]) -> u32) -> String {
    let (units, rest) = bytes.as_chunks::<4>();
    let characters = units
        .iter()
        .map(|unit| char::from_u32(number(*unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
    let cut = (!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER);
    characters.chain(cut).collect()
}

/// A text in UTF-16 or UTF-32 without a mark, which only its NUL bytes show.
fn unmarked(bytes: &[u8]) -> Option<String> {
    if bytes.len() < MIN_UNMARKED_BYTES || !bytes.contains(&0) {
        return None;
    }
    if bytes.len().is_multiple_of(4) {
        let orders: [fn([u8; 4]) -> u32; 2] = [u32::from_le_bytes, u32::from_be_bytes];
        if let Some(text) = orders
            .into_iter()
            .map(|order| utf_32(bytes, order))
            .find(|text| is_text(text))
        {
            return Some(text);
        }
    }
    let wide = bytes.len().is_multiple_of(2).then_some([UTF_16LE, UTF_16BE]);
    let texts = wide.into_iter().flatten().filter_map(|encoding| {
        let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
        is_text(&text).then(|| text.into_owned())
    });
    let ascii = |text: &String| text.chars().filter(char::is_ascii).count();
    texts
        .max_by_key(ascii)
        .filter(|text| text.contains([' ', '\n', '\r']) && has_nul_on_one_side(bytes))
}

/// Whether most NUL bytes are the upper bytes of characters, or most are the lower ones.
fn has_nul_on_one_side(bytes: &[u8]) -> bool {
    let count = |side: usize| bytes.iter().skip(side).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd) = (count(0), count(1));
    even.min(odd) * MIN_SHARE_OF_NUL < even.max(odd)
}

/// Whether a text has only characters of texts.
fn is_text(text: &str) -> bool {
    text.chars().all(|character| match character {
        '\t' | '\n' | '\r' | '\u{c}' => true,
        '\u{e000}'..='\u{f8ff}' | '\u{fffd}'..='\u{ffff}' => false,
        character => !character.is_control(),
    })
}

/// The encoding of a page, by its declaration if it has one.
fn of_page(bytes: &[u8]) -> &'static Encoding {
    match (is_utf_8(bytes), declared(bytes)) {
        (true, Some(encoding)) if encoding == ISO_2022_JP => encoding,
        (true, _) => UTF_8,
        (false, declared) => declared.unwrap_or_else(|| guess(bytes)),
    }
}

/// Whether it is UTF-8. All bytes of Japanese text may be ASCII, with escape sequences.
fn is_utf_8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// `<meta charset=x>`, `<meta http-equiv=Content-Type content="text/html; charset=x">` or
/// `<?xml encoding="x"?>`.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]).to_ascii_lowercase();
    let value = ["charset=", "encoding="]
        .iter()
        .find_map(|key| head.split_once(key))
        .map(|(_, value)| value.trim_start_matches(['"', '\'']))?;
    let encoding = Encoding::for_label_no_replacement(label(value).as_bytes())?;
    // A declaration that is readable byte by byte is not in UTF-16, even if it says so.
    (!is_wide(encoding)).then_some(encoding)
}

/// The encoding that a text names, if it is not UTF-8: `coding: x` or `coding=x` in its first lines, as editors, Python
/// and groff read it, or the attribute `:encoding: x` of AsciiDoc.
fn in_text(bytes: &[u8]) -> Option<&'static Encoding> {
    let is_utf_8 = is_utf_8(bytes);
    if is_utf_8 && !bytes.contains(&ESCAPE) {
        return None;
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]).to_ascii_lowercase();
    let lines = head.split(['\n', '\r']).take(ATTRIBUTE_LINES).enumerate();
    let mut labels = lines.filter_map(|(number, line)| {
        let value = match line.strip_prefix(":encoding:") {
            Some(value) => value,
            None if number < CODING_LINES => {
                let (_, value) = line.split_once("coding")?;
                value.trim_start().strip_prefix([':', '='])?
            }
            None => return None,
        };
        by_editor(label(value.trim_start_matches([' ', '\t', '"', '\''])))
    });
    let encoding = labels
        .next()
        .filter(|encoding| !is_wide(encoding) && *encoding != UTF_8)?;
    (!is_utf_8 || encoding == ISO_2022_JP).then_some(encoding)
}

/// The encoding by a name of Python or Emacs: `latin-1`, `iso-latin-1-unix`.
fn by_editor(label: &str) -> Option<&'static Encoding> {
    let ends = ["-unix", "-dos", "-mac"];
    let label = ends.iter().find_map(|end| label.strip_suffix(end)).unwrap_or(label);
    let label = label
        .strip_prefix("iso-")
        .filter(|rest| rest.starts_with("latin"))
        .unwrap_or(label);
    let of = |label: &str| Encoding::for_label_no_replacement(label.as_bytes());
    of(label).or_else(|| of(&label.replace(['-', '_'], "")))
}

/// The name at the beginning of `text`.
fn label(text: &str) -> &str {
    let end = text.find(|character: char| !(character.is_ascii_alphanumeric() || "-_:.".contains(character)));
    &text[..end.unwrap_or(text.len())]
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(GUESS_BYTES)], true);
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests;
