//! Pages and sections that say the same.

use docsearch_core::documents::markdown::sections;
use docsearch_core::documents::similar_texts::{Shingles, groups, similar_pairs};
use pgrx::datum::DatumWithOid;

use crate::postgres::interrupt;
use crate::postgres::report::{Result, invalid};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::tables::project;

/// A page or a section that says the same as others of its group.
pub(crate) struct Duplicate {
    /// From 1.
    pub(crate) group: i64,
    pub(crate) slug: String,
    pub(crate) anchor: String,
    pub(crate) title: String,
    /// Its greatest similarity to another of the group, 0 to 1.
    pub(crate) similarity: f64,
}

struct Text {
    slug: String,
    anchor: String,
    title: String,
    shingles: Shingles,
}

/// Least similarity of texts that say the same, unless the caller gives another.
const THRESHOLD: f64 = 0.8;

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
    let shingles: Vec<Shingles> = texts.iter().map(|text| text.shingles.clone()).collect();
    let pairs = similar_pairs(&shingles, threshold);
    let mut greatest = vec![0.0_f64; texts.len()];
    for pair in &pairs {
        for place in [pair.first, pair.second] {
            greatest[place] = greatest[place].max(pair.similarity);
        }
    }
    let groups = groups(texts.len(), &pairs).into_iter().zip(1..);
    let members = groups.flat_map(|(places, group)| places.into_iter().map(move |place| (place, group)));
    let duplicates = members.map(|(place, group)| {
        let Text {
            slug, anchor, title, ..
        } = &texts[place];
        Duplicate {
            group,
            slug: slug.clone(),
            anchor: anchor.clone(),
            title: title.clone(),
            similarity: greatest[place],
        }
    });
    Ok(duplicates.collect())
}

fn texts(caller: &Caller, project: i64, by_section: bool) -> Result<Vec<Text>> {
    let pages = statement::rows(
        caller,
        "SELECT d.slug, d.title, d.body FROM docsearch.document d WHERE d.project_id = $1 ORDER BY d.slug",
        &[DatumWithOid::from(project)],
        |row| {
            interrupt::check();
            let (slug, title): (String, String) = (row.required(1)?, row.required(2)?);
            let body: String = row.required(3)?;
            let text = |anchor: &str, title: &str, body: &str| Text {
                slug: slug.clone(),
                anchor: anchor.to_owned(),
                title: title.to_owned(),
                shingles: Shingles::of(body),
            };
            Ok(match by_section {
                false => vec![text("", &title, &body)],
                true => sections(&body)
                    .iter()
                    .map(|section| {
                        let title = section.heading_path.last().unwrap_or(&title);
                        text(&section.anchor, title, &body[section.body_start..section.range.end])
                    })
                    .collect(),
            })
        },
    )?;
    Ok(pages.into_iter().flatten().collect())
}
