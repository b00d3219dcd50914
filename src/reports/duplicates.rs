//! Pages and sections that say the same.

use docsearch_core::answer::duplicates::Preference;
use docsearch_core::documents::markdown::sections;
use docsearch_core::documents::similar_texts::{Shingles, groups};
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;

use crate::postgres::interrupt;
use crate::postgres::report::{Result, error_with_hint, invalid};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::search::duplicates::preferences;
use crate::tables::project;

/// A page or a section that says the same as others of its group.
pub(crate) struct Duplicate {
    /// From 1.
    pub(crate) group: i64,
    pub(crate) slug: String,
    pub(crate) anchor: String,
    pub(crate) title: String,
    /// Similarity to the canonical one of the group, 0 to 1; of this one, the greatest to another.
    pub(crate) similarity: f64,
    /// Whether it is the one that a search shows.
    pub(crate) canonical: bool,
}

struct Text {
    document: DocumentId,
    slug: String,
    anchor: String,
    title: String,
    shingles: Shingles,
}

/// Least similarity of texts that say the same, unless the caller gives another.
const THRESHOLD: f64 = 0.8;
/// Shingles of the shortest text that is compared: 10 words.
const MIN_SHINGLES: usize = 6;
/// Pages or sections that are compared, at most. They take up to 4 kB of memory each.
const MAX_TEXTS: usize = 200_000;

/// The pages of a project, or its sections, whose texts have at least this similarity to another.
pub(crate) fn duplicates(
    caller: &Caller,
    name: Option<&str>,
    threshold: Option<f64>,
    by_section: bool,
) -> Result<Vec<Duplicate>> {
    let project = project::given(caller, name)?;
    let threshold = threshold.unwrap_or(THRESHOLD);
    if !(threshold > 0.0 && threshold <= 1.0) {
        return Err(invalid(
            format!("threshold is {threshold}"),
            "Use a number above 0, up to 1.",
        ));
    }
    let texts = texts(caller, project.id, by_section)?;
    let shingles: Vec<&Shingles> = texts.iter().map(|text| &text.shingles).collect();
    let groups = groups(&shingles, threshold);
    let members = groups.iter().flatten().map(|place| texts[*place].document);
    let mut documents: Vec<DocumentId> = members.collect();
    documents.sort_unstable();
    documents.dedup();
    let preferences = preferences(caller, &documents)?;
    let mut duplicates = Vec::new();
    for (mut places, group) in groups.into_iter().zip(1..) {
        let preference = |place: &usize| -> Option<&Preference> { preferences.get(&texts[*place].document) };
        let canonical = places.iter().copied().min_by_key(|place| (preference(place), *place));
        places.sort_by_key(|place| (Some(*place) != canonical, *place));
        let Some((canonical, others)) = places.split_first() else {
            continue;
        };
        let to_canonical = others
            .iter()
            .map(|other| shingles[*other].similarity(shingles[*canonical]));
        let to_canonical: Vec<f64> = to_canonical.collect();
        let greatest = to_canonical.iter().copied().fold(0.0, f64::max);
        for (place, similarity) in places.iter().zip(std::iter::once(greatest).chain(to_canonical)) {
            let Text {
                slug, anchor, title, ..
            } = &texts[*place];
            duplicates.push(Duplicate {
                group,
                slug: slug.clone(),
                anchor: anchor.clone(),
                title: title.clone(),
                similarity,
                canonical: place == canonical,
            });
        }
    }
    Ok(duplicates)
}

/// The texts of a project that are long enough.
fn texts(caller: &Caller, project: i64, by_section: bool) -> Result<Vec<Text>> {
    let mut texts: Vec<Text> = Vec::new();
    statement::rows(
        caller,
        "SELECT d.id, d.slug, d.title, d.body FROM docsearch.document d WHERE d.project_id = $1 ORDER BY d.slug",
        &[DatumWithOid::from(project)],
        |row| {
            interrupt::check();
            let document = DocumentId {
                project,
                document: row.required(1)?,
            };
            let (slug, title, body): (String, String, String) = (row.required(2)?, row.required(3)?, row.required(4)?);
            let mut add = |anchor: &str, title: &str, body: &str| {
                let shingles = Shingles::of(body);
                if shingles.are_at_least(MIN_SHINGLES) {
                    texts.push(Text {
                        document,
                        slug: slug.clone(),
                        anchor: anchor.to_owned(),
                        title: title.to_owned(),
                        shingles,
                    });
                }
            };
            if by_section {
                for section in sections(&body) {
                    let title = section.heading_path.last().unwrap_or(&title);
                    add(&section.anchor, title, &body[section.body_start..section.range.end]);
                }
            } else {
                add("", &title, &body);
            }
            if texts.len() > MAX_TEXTS {
                return Err(error_with_hint(
                    PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                    format!("project has more than {MAX_TEXTS} texts to compare"),
                    "Compare pages instead of sections, or put documents into several projects.",
                ));
            }
            Ok(())
        },
    )?;
    Ok(texts)
}
