//! Letters of the bitmap fonts that TeX makes where it has no others. Their glyphs have the number of their code as
//! name, `a65`, and the codes are those of TeX's text fonts.

use std::rc::Rc;

use hayro_syntax::object::{Array, Dict, Name, Object};

/// Whether a font names each of its glyphs by its code.
pub(super) fn names_codes(font: &Dict<'_>) -> bool {
    let is_bitmap = font
        .get::<Name<'_>>(b"Subtype".as_slice())
        .is_some_and(|kind| kind.as_str() == "Type3");
    let encoding = font.get::<Dict<'_>>(b"Encoding".as_slice());
    let Some(names) = encoding
        .filter(|_| is_bitmap)
        .and_then(|encoding| encoding.get::<Array<'_>>(b"Differences".as_slice()))
    else {
        return false;
    };
    let (mut code, mut named) = (0, 0_usize);
    for object in names.iter::<Object<'_>>() {
        match object {
            Object::Number(first) => code = first.as_i64(),
            Object::Name(name) if name.as_str() == ".notdef" => code += 1,
            Object::Name(name) if name.as_str().strip_prefix('a') == Some(&code.to_string()) => {
                named += 1;
                code += 1;
            }
            _ => return false,
        }
    }
    named > 0
}

/// What a code of TeX's text fonts shows. Ligatures are at the places that they have in one of the usual encodings (OT1,
/// T1); the other has rare letters there. `None` for other codes outside of ASCII.
pub(super) fn letter(code: u32) -> Option<Rc<str>> {
    let ligature = match code {
        11 | 27 => "ff",
        12 | 28 => "fi",
        13 | 29 => "fl",
        14 | 30 => "ffi",
        15 | 31 => "ffl",
        16 | 17 => "\"",
        21 => "–",
        22 => "—",
        // Fonts of code have braces and backslashes where OT1 has dashes and quotation marks.
        _ => {
            let character = char::from_u32(code).filter(char::is_ascii_graphic)?;
            return Some(character.to_string().into());
        }
    };
    Some(ligature.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_text_fonts_are_letters() {
        let text = |codes: &[u32]| {
            let letters = codes.iter().filter_map(|&code| letter(code));
            letters.map(|letter| letter.to_string()).collect::<String>()
        };
        assert_eq!(text(&[74, 101, 11, 114, 101, 121, 39, 115]), "Jeffrey's");
        assert_eq!(text(&[28, 110, 100, 40, 122, 41]), "find(z)");
        assert_eq!(text(&[123, 92, 110, 125]), "{\\n}");
        assert_eq!(letter(200), None);
    }
}
