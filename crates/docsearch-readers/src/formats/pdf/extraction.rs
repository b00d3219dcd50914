//! Joins the characters of every page to lines.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Dictionary, Document, MediaBox, Object, OutputDev, OutputError, Transform, output_doc_page};

use super::page::{Line, Page};
use super::{Extract, layout, outline};
use crate::draft::file_properties::{self, FileProperties};

const MAX_PAGES: usize = 5_000;
/// Maximum pages of a file.
const MAX_CHARACTERS: usize = 30_000_000;
/// A gap of this share of the font size separates words.
const WORD_GAP: f64 = 0.12;

pub(super) fn extract(bytes: &[u8]) -> Result<Extract, String> {
    // The crate also fails by panics.
    let mut document = catch_unwind(|| Document::load_mem(bytes))
        .map_err(|_| "it breaks the reader".to_owned())?
        .map_err(|error| error.to_string())?;
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err("encrypted\nHINT:  Decrypt it with qpdf --decrypt and its password.".to_owned());
    }
    let count = document.get_pages().len();
    let (mut pages, mut failed, mut characters) = (Vec::new(), 0, 0);
    for number in 1..=count.min(MAX_PAGES) {
        let mut writer = Writer::default();
        let read = catch_unwind(AssertUnwindSafe(|| {
            output_doc_page(&document, &mut writer, number as u32)
        }));
        failed += usize::from(!matches!(read, Ok(Ok(()))));
        characters += writer.characters;
        if characters > MAX_CHARACTERS {
            return Err("more than 30 million characters".to_owned());
        }
        let page = writer.page(number);
        pages.push(page);
    }
    let entries = catch_unwind(AssertUnwindSafe(|| outline::entries(&document))).unwrap_or_default();
    let properties = Info::of(&document).properties();
    let lines: Vec<&str> = pages
        .iter()
        .flat_map(|page| page.lines.iter().map(|line| line.text.as_str()))
        .collect();
    let mut matter = properties.by_author(&lines.join("\n"), layout::has_heading(&pages, &entries));
    let (title, body) = layout::markdown(pages, &entries, matter.title.take());
    let author = matter.metadata.get("author").and_then(|author| author.as_str());
    Ok(Extract {
        title,
        author: author.map(str::to_owned),
        subject: matter.summary,
        keywords: matter.keywords,
        modified: matter.published_at,
        pages: count,
        body,
        failed,
    })
}

/// The metadata of the file.
struct Info<'a>(Option<&'a Dictionary>);

impl<'a> Info<'a> {
    fn of(document: &'a Document) -> Self {
        let info = document.trailer.get(b"Info").ok();
        Self(info.and_then(|info| match info {
            Object::Reference(id) => document.get_object(*id).ok()?.as_dict().ok(),
            other => other.as_dict().ok(),
        }))
    }

    fn properties(&self) -> FileProperties {
        FileProperties {
            title: self.text(b"Title"),
            summary: self.text(b"Subject"),
            author: self.text(b"Author"),
            keywords: file_properties::keywords(&self.text(b"Keywords").unwrap_or_default()),
            date: self.date(b"ModDate").or_else(|| self.date(b"CreationDate")),
            programs: self
                .text(b"Creator")
                .into_iter()
                .chain(self.text(b"Producer"))
                .collect(),
        }
    }

    fn text(&self, key: &[u8]) -> Option<String> {
        let text = pdf_extract::decode_text_string(self.0?.get(key).ok()?).ok()?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty() && text.len() <= 1_000).then_some(text)
    }

    /// `D:20240131...` as `2024-01-31`.
    fn date(&self, key: &[u8]) -> Option<String> {
        let text = self.text(key)?;
        let digits = text.strip_prefix("D:").unwrap_or(&text);
        let digits = digits
            .get(..8)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        let (month, day) = (&digits[4..6], &digits[6..]);
        let is_date = ("01"..="12").contains(&month) && ("01"..="31").contains(&day);
        is_date.then(|| format!("{}-{month}-{day}", &digits[..4]))
    }
}

/// Receives characters in drawing order.
#[derive(Default)]
struct Writer {
    height: f64,
    bottom: f64,
    lines: Vec<Line>,
    characters: usize,
    /// Widths of the characters of the line, relative to the font size.
    widths: Vec<f64>,
}

impl OutputDev for Writer {
    fn begin_page(&mut self, _: u32, media: &MediaBox, _: Option<(f64, f64, f64, f64)>) -> Result<(), OutputError> {
        self.height = media.ury - media.lly;
        self.bottom = media.lly;
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.end_line_of_text();
        Ok(())
    }

    fn output_character(
        &mut self,
        transform: &Transform,
        width: f64,
        _: f64,
        font_size: f64,
        text: &str,
    ) -> Result<(), OutputError> {
        self.characters += 1;
        // Rotated text is a label of a figure or a watermark.
        let is_turned = transform.m12.abs() > transform.m11.abs();
        let size = font_size
            * (transform.m11 * transform.m22 - transform.m12 * transform.m21)
                .abs()
                .sqrt();
        let (x, y) = (transform.m31, self.height - (transform.m32 - self.bottom));
        if is_turned || !(x.is_finite() && y.is_finite() && size.is_finite()) || self.characters > MAX_CHARACTERS {
            return Ok(());
        }
        let continues = self.lines.last().is_some_and(|line| {
            (line.y - y).abs() < 0.5 * size.max(line.size) && x > line.end - 1.5 * size && !line.text.is_empty()
        });
        if !continues {
            self.end_line_of_text();
            self.lines.push(Line {
                y,
                x,
                end: x,
                size,
                ..Line::default()
            });
        }
        let Some(line) = self.lines.last_mut() else {
            return Ok(());
        };
        let gap = x - line.end;
        let blank = text.chars().all(char::is_whitespace);
        if gap > WORD_GAP * size && !line.text.is_empty() && !line.text.ends_with(' ') && !blank {
            // Columns of code keep their distance.
            let pitch = (width * size).max(0.2 * size);
            let spaces = ((gap / pitch).round() as usize).clamp(1, 40);
            let is_typed = self.widths.iter().all(|known| (known - width).abs() < 0.005);
            line.text.push_str(&" ".repeat(if is_typed { spaces } else { 1 }));
        }
        line.text.extend(text.chars().filter_map(shown).flat_map(letters));
        if !blank {
            line.size = line.size.max(size);
            self.widths.push(width);
        }
        line.end = line.end.max(x + width * size);
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

impl Writer {
    fn end_line_of_text(&mut self) {
        let widths = std::mem::take(&mut self.widths);
        if let Some(line) = self.lines.last_mut() {
            let first = widths.first().copied().unwrap_or(0.0);
            let is_typed = first > 0.3 && widths.iter().all(|width| (width - first).abs() < 0.005);
            let distinct: std::collections::HashSet<char> = line.text.chars().filter(|c| !c.is_ascii_digit()).collect();
            // A few characters may have one width by chance.
            line.pitch = (is_typed && distinct.len() >= 4).then_some(first * line.size);
        }
    }

    fn page(mut self, number: usize) -> Page {
        self.end_line_of_text();
        self.lines.retain(|line| !line.text.trim().is_empty());
        Page {
            number,
            height: self.height,
            lines: self.lines,
        }
    }
}

/// The letters of a ligature; any other character unchanged.
fn letters(character: char) -> std::vec::IntoIter<char> {
    let letters = match character {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        _ => return vec![character].into_iter(),
    };
    letters.chars().collect::<Vec<_>>().into_iter()
}

/// Replaces white space by spaces, and removes control characters.
fn shown(character: char) -> Option<char> {
    match character {
        '\u{a0}' | '\t' | '\n' | '\r' => Some(' '),
        '\u{ad}' => Some('-'),
        character if character.is_control() || ('\u{e000}'..='\u{f8ff}').contains(&character) => None,
        character => Some(character),
    }
}
