//! The fonts of a file: the text and the width of each code, and the style.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use hayro_font::hayro_cmap::{self, BfString};
use hayro_font::{CMapResolverFn, Font, FontCache, FontQuery, FontResolverFn, StandardFont, UNITS_PER_EM};
use hayro_syntax::object::{Array, Dict, Name};
use unicode_normalization::UnicodeNormalization;

use super::collection::Collection;
use super::numbered_glyph;

/// Distinct letters of one width that make a font one of code.
const TYPED_LETTERS: usize = 4;
/// Wider characters are those of Chinese and its like, which have one width in every font.
const MAX_TYPED_WIDTH: f64 = 0.8;
/// The bit of a font's flags for a fixed pitch, and that for a forced bold.
const FIXED_PITCH: u32 = 1;
const FORCE_BOLD: u32 = 1 << 18;
/// The weight from which a font is bold.
const BOLD_WEIGHT: f64 = 600.0;

/// What a code of a font means.
#[derive(Clone)]
pub(super) struct Code {
    /// In logical order; `None` if the file does not say.
    pub(super) text: Option<Rc<str>>,
    /// Relative to the font size.
    pub(super) width: f64,
    /// Along the vertical axis, for fonts that are written downwards.
    pub(super) height: f64,
}

/// A font with what was learnt about it.
pub(super) struct LoadedFont<'a> {
    font: Font<'a>,
    codes: HashMap<u32, Code>,
    pub(super) is_bold: bool,
    is_fixed: bool,
    names_codes: bool,
    collection: Option<Collection>,
    /// The width of each letter that was drawn.
    widths: HashMap<char, f64>,
}

/// All fonts of a file. They are known by their number.
pub(super) struct Fonts<'a> {
    cache: FontCache<'a>,
    resolver: FontResolverFn,
    cmaps: CMapResolverFn,
    numbers: HashMap<&'a [u8], Option<usize>>,
    fallback: Option<usize>,
    loaded: Vec<LoadedFont<'a>>,
}

impl<'a> Fonts<'a> {
    pub(super) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            resolver: Arc::new(|query| match query {
                FontQuery::Standard(font) => Some(font.get_font_data()),
                FontQuery::Fallback(fallback) => Some(fallback.pick_standard_font().get_font_data()),
            }),
            cmaps: Arc::new(hayro_cmap::load_embedded),
            numbers: HashMap::new(),
            fallback: None,
            loaded: Vec::new(),
        }
    }

    /// The number of the font that `dict` describes; `None` if it cannot be read.
    pub(super) fn number(&mut self, dict: &Dict<'a>) -> Option<usize> {
        if let Some(number) = self.numbers.get(dict.data()) {
            return *number;
        }
        let font = self.cache.font(dict, &self.resolver, &self.cmaps);
        let number = font.map(|font| self.add(font, Style::of(dict)));
        self.numbers.insert(dict.data(), number);
        number
    }

    /// The font of text that names none, as viewers have it.
    pub(super) fn fallback(&mut self) -> Option<usize> {
        if self.fallback.is_none() {
            let font = self.cache.standard_font(StandardFont::Helvetica, &self.resolver)?;
            self.fallback = Some(self.add(font, Style::default()));
        }
        self.fallback
    }

    fn add(&mut self, font: Font<'a>, style: Style) -> usize {
        self.loaded.push(LoadedFont {
            font,
            codes: HashMap::new(),
            is_bold: style.is_bold,
            is_fixed: style.is_fixed,
            names_codes: style.names_codes,
            collection: style.collection,
            widths: HashMap::new(),
        });
        self.loaded.len() - 1
    }

    pub(super) fn get(&mut self, number: usize) -> &mut LoadedFont<'a> {
        &mut self.loaded[number]
    }

    pub(super) fn is_bold(&self, number: usize) -> bool {
        self.loaded[number].is_bold
    }

    /// Whether a font is one of code: all its characters have one width.
    pub(super) fn is_typed(&self, number: usize) -> bool {
        self.loaded[number].is_typed()
    }
}

impl LoadedFont<'_> {
    /// The next code of `bytes`, and its length.
    pub(super) fn read(&self, bytes: &[u8], at: usize) -> (u32, usize) {
        let (code, length) = self.font.read_code(bytes, at);
        (code, length.max(1))
    }

    pub(super) fn is_horizontal(&self) -> bool {
        self.font.is_horizontal()
    }

    pub(super) fn code(&mut self, code: u32) -> Code {
        if let Some(known) = self.codes.get(&code) {
            return known.clone();
        }
        let advance = self.font.code_advance(code);
        let glyph = self.font.glyph(self.font.map_code(code), code);
        let text = match &glyph {
            hayro_font::FontGlyph::Outline(glyph) => glyph.as_unicode(),
            hayro_font::FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        let text = text.or_else(|| self.collection.as_ref()?.letter(code));
        let units = f64::from(UNITS_PER_EM);
        let new = Code {
            text: match text {
                Some(BfString::Char(character)) => Some(clean(&character.to_string())),
                Some(BfString::String(text)) => Some(clean(&text)),
                None if self.names_codes => numbered_glyph::letter(code),
                None => None,
            },
            width: advance.x / units,
            height: advance.y.abs() / units,
        };
        if let Some(letter) = new.text.as_deref().and_then(single_letter) {
            self.widths.insert(letter, new.width);
        }
        self.codes.insert(code, new.clone());
        new
    }

    fn is_typed(&self) -> bool {
        let narrow: Vec<f64> = self
            .widths
            .values()
            .copied()
            .filter(|&width| width < MAX_TYPED_WIDTH)
            .collect();
        let is_equal = narrow.iter().all(|width| (width - narrow[0]).abs() < 0.005);
        let is_narrow = narrow.len() == self.widths.len();
        is_equal && is_narrow && (narrow.len() >= TYPED_LETTERS || self.is_fixed)
    }
}

/// A character whose width shows something: digits have one width in most fonts.
fn single_letter(text: &str) -> Option<char> {
    let mut characters = text.chars();
    let first = characters.next()?;
    (characters.next().is_none() && !first.is_numeric() && !first.is_whitespace()).then_some(first)
}

#[derive(Default)]
struct Style {
    is_bold: bool,
    is_fixed: bool,
    names_codes: bool,
    collection: Option<Collection>,
}

impl Style {
    fn of(dict: &Dict<'_>) -> Self {
        let descendant = dict
            .get::<Array<'_>>(b"DescendantFonts".as_slice())
            .and_then(|fonts| fonts.iter::<Dict<'_>>().next());
        let descriptor = descendant
            .as_ref()
            .unwrap_or(dict)
            .get::<Dict<'_>>(b"FontDescriptor".as_slice())
            .unwrap_or_default();
        let flags = descriptor.get::<u32>(b"Flags".as_slice()).unwrap_or_default();
        let weight = descriptor.get::<f64>(b"FontWeight".as_slice()).unwrap_or_default();
        let name = dict
            .get::<Name<'_>>(b"BaseFont".as_slice())
            .map(|name| name.as_str().to_owned())
            .unwrap_or_default();
        Self {
            is_bold: flags & FORCE_BOLD != 0 || weight >= BOLD_WEIGHT || is_bold_name(&name),
            is_fixed: flags & FIXED_PITCH != 0 || name.starts_with("Courier"),
            names_codes: numbered_glyph::names_codes(dict),
            collection: Collection::of(dict),
        }
    }
}

/// Whether a font's name says that it is bold: as a word, or as TeX and PostScript shorten it ("CMBX10", "SFBX1095",
/// "NimbusRomNo9L-Medi").
fn is_bold_name(name: &str) -> bool {
    let name = name.split_once('+').map_or(name, |(_, name)| name);
    let lower = name.to_lowercase();
    let has_word = ["bold", "black", "heavy"].iter().any(|word| lower.contains(word));
    let is_tex = ["CMBX", "CMSSBX", "SFBX", "SFSX", "ECBX", "LMBX", "MSBM-B"]
        .iter()
        .any(|start| name.starts_with(start));
    let is_medium = lower.ends_with("-medi") || lower.ends_with("-mediital");
    has_word || is_tex || is_medium
}

/// The text of a code as it is stored: letters for ligatures and presentation forms, and no control characters.
fn clean(text: &str) -> Rc<str> {
    let mut output = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{a0}' | '\t' | '\n' | '\r' => output.push(' '),
            // Latin ligatures, and the shapes of Hebrew and Arabic letters.
            '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' => output.extend(character.nfkc()),
            // Bullets of the Symbol and Wingdings fonts, which Word writes as private characters.
            '\u{f0b7}' => output.push('•'),
            '\u{f0a7}' => output.push('▪'),
            '\u{e000}'..='\u{f8ff}' => {}
            character if character.is_control() => {}
            // Marks of direction: the order of the text says the same.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' => {}
            character => output.push(character),
        }
    }
    output.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ligatures_and_presentation_forms_are_letters() {
        assert_eq!(&*clean("ﬃ"), "ffi");
        assert_eq!(&*clean("\u{fefb}"), "لا");
        assert_eq!(&*clean("\u{f0b7}\u{7}"), "•");
    }

    #[test]
    fn names_of_bold_fonts() {
        for name in ["Helvetica-Bold", "ABCDEF+CMBX12", "NimbusRomNo9L-Medi", "Roboto-Black"] {
            assert!(is_bold_name(name), "{name}");
        }
        for name in ["Helvetica", "ABCDEF+CMR10", "Roboto-Medium", "NimbusRomNo9L-Regu"] {
            assert!(!is_bold_name(name), "{name}");
        }
    }
}
