//! Letters of embedded Chinese, Japanese and Korean fonts that have no map to Unicode: their characters have the numbers
//! of a collection that Adobe publishes with such a map.

use hayro_font::hayro_cmap::{self, BfString, CMap, CMapName, CidFamily};
use hayro_syntax::object::{Array, Dict, Name, String as Text};

/// The character collection of a font.
pub(super) struct Collection {
    /// From codes to numbers of the collection; `None` if the codes are these.
    numbers: Option<CMap>,
    letters: CMap,
}

impl Collection {
    /// The collection of the font that `dict` describes, if the font has one and no map to Unicode.
    pub(super) fn of(dict: &Dict<'_>) -> Option<Self> {
        if dict.contains_key(b"ToUnicode".as_slice()) {
            return None;
        }
        let descendant = dict.get::<Array<'_>>(b"DescendantFonts".as_slice())?;
        let descendant = descendant.iter::<Dict<'_>>().next()?;
        let info = descendant.get::<Dict<'_>>(b"CIDSystemInfo".as_slice())?;
        let registry = info.get::<Text<'_>>(b"Registry".as_slice())?;
        let ordering = info.get::<Text<'_>>(b"Ordering".as_slice())?;
        let letters = CidFamily::from_registry_ordering(&registry, &ordering).ucs2_cmap()?;
        let encoding = dict.get::<Name<'_>>(b"Encoding".as_slice())?;
        let numbers = match encoding.as_str() {
            "Identity-H" | "Identity-V" => None,
            name => Some(map(CMapName::from_bytes(name.as_bytes()))?),
        };
        Some(Self {
            numbers,
            letters: map(letters)?,
        })
    }

    pub(super) fn letter(&self, code: u32) -> Option<BfString> {
        let number = match &self.numbers {
            None => Some(code),
            Some(numbers) => lengths(code).find_map(|length| numbers.lookup_cid_code(code, length)),
        };
        self.letters.lookup_bf_string(number?)
    }
}

/// The numbers of bytes that a code can have, the most likely first.
fn lengths(code: u32) -> impl Iterator<Item = u8> {
    (1..=4).filter(move |length| *length == 4 || code >> (8 * length) == 0)
}

fn map(name: CMapName<'_>) -> Option<CMap> {
    CMap::parse(hayro_cmap::load_embedded(name)?, hayro_cmap::load_embedded)
}

#[cfg(test)]
mod tests {
    use hayro_syntax::object::FromBytes;

    use super::*;

    #[test]
    fn codes_have_the_letters_of_their_collection() {
        let letter = |encoding: &str, ordering: &str, more: &str, code: u32| {
            let font = format!(
                "<< /Subtype /Type0 /Encoding /{encoding} {more} /DescendantFonts [ << /CIDSystemInfo << /Registry (Adobe) \
                 /Ordering ({ordering}) >> >> ] >>"
            );
            let font = Dict::from_bytes(font.as_bytes()).unwrap();
            match Collection::of(&font)?.letter(code)? {
                BfString::Char(letter) => Some(letter),
                BfString::String(_) => None,
            }
        };
        for (encoding, ordering, code, expected) in [
            ("Identity-H", "Japan1", 0x034b, Some('あ')),
            ("Identity-V", "GB1", 4559, Some('中')),
            ("GBK-EUC-H", "GB1", 0xd6d0, Some('中')),
            ("GBK-EUC-H", "GB1", 0x41, Some('A')),
            ("UniCNS-UTF16-H", "CNS1", 0x4e2d, Some('中')),
            ("KSCms-UHC-H", "Korea1", 0xc7d1, Some('한')),
            ("Identity-H", "Identity", 0x034b, None),
            ("Identity-H", "Kite", 0x034b, None),
        ] {
            assert_eq!(
                letter(encoding, ordering, "", code),
                expected,
                "{encoding} {ordering} {code}"
            );
        }
        assert_eq!(letter("Identity-H", "Japan1", "/ToUnicode 7 0 R", 0x034b), None);
    }
}
