//! Reads the pages and the metadata of a file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro_syntax::metadata::Metadata;
use hayro_syntax::object::{DateTime, Dict};
use hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use super::content::Interpreter;
use super::{Extract, layout, line, outline, text_string};
use crate::draft::file_properties::{self, FileProperties};

/// Maximum pages and characters of a file.
const MAX_PAGES: usize = 5_000;
const MAX_CHARACTERS: usize = 30_000_000;

pub(super) fn extract(bytes: &[u8]) -> Result<Extract, String> {
    let pdf = catch_unwind(|| Pdf::new(bytes.to_vec()))
        .map_err(|_| "it breaks the reader".to_owned())?
        .map_err(|error| reason(error).to_owned())?;
    let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id());
    let count = pdf.pages().len();
    let (mut pages, mut failed, mut characters) = (Vec::new(), 0, 0);
    let mut interpreter = Interpreter::new(catalog.as_ref(), MAX_CHARACTERS);
    for (at, page) in pdf.pages().iter().take(MAX_PAGES).enumerate() {
        let read = catch_unwind(AssertUnwindSafe(|| interpreter.page(page)));
        let Ok(Some(glyphs)) = read else {
            failed += 1;
            continue;
        };
        characters += glyphs.len();
        if characters >= MAX_CHARACTERS {
            return Err("more than 30 million characters".to_owned());
        }
        pages.push(line::page(at + 1, glyphs, &interpreter.fonts));
    }
    let entries = catalog.map(|catalog| outline::entries(&catalog, pdf.pages()));
    let entries = entries.unwrap_or_default();
    let lines: Vec<&str> = pages
        .iter()
        .flat_map(|page| page.lines.iter().map(|line| line.text.as_str()))
        .collect();
    let has_heading = layout::has_heading(&pages, &entries);
    let mut matter = properties(pdf.metadata()).by_author(&lines.join("\n"), has_heading);
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
        unknown: interpreter.unknown,
    })
}

fn properties(metadata: &Metadata) -> FileProperties {
    let dates = [&metadata.modification_date, &metadata.creation_date];
    let programs = [&metadata.creator, &metadata.producer];
    FileProperties {
        title: text(&metadata.title),
        summary: text(&metadata.subject),
        author: text(&metadata.author),
        keywords: file_properties::keywords(&text(&metadata.keywords).unwrap_or_default()),
        date: dates.into_iter().flatten().find_map(date),
        programs: programs.into_iter().filter_map(text).collect(),
    }
}

fn reason(error: LoadPdfError) -> &'static str {
    match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            "encrypted\nHINT:  Decrypt it with qpdf --decrypt and its password."
        }
        LoadPdfError::Decryption(_) => "encrypted in an unknown way",
        LoadPdfError::Invalid => "it has no pages that can be found",
    }
}

fn text(bytes: &Option<Box<[u8]>>) -> Option<String> {
    let text = text_string::decode(bytes.as_deref()?);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty() && text.len() <= 1_000).then_some(text)
}

fn date(date: &DateTime) -> Option<String> {
    let is_date = (1..=12).contains(&date.month) && (1..=31).contains(&date.day);
    is_date.then(|| format!("{:04}-{:02}-{:02}", date.year, date.month, date.day))
}
