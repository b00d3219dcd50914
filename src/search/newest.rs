//! The newest documents, for queries about what is new.

use docsearch_core::answer::delivery::{Confidence, SearchResult};
use docsearch_core::query::rule::NewsNames;
use docsearch_core::ranking::newness::{Newness, NewnessCandidate};
use docsearch_core::ranking::page::Page;
use docsearch_core::ranking::weight::Weights;
use docsearch_core::values::calendar::Day;
use docsearch_core::values::id::{DocumentId, Map, Set};
use pgrx::datum::DatumWithOid;

use crate::postgres::report::Result;
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement::{self, Row};
use crate::search::group::Group;
use crate::search::transform;

/// Age of document `d` in days; NULL for an infinite date.
pub(super) const AGE: &str =
    "CASE WHEN isfinite(d.published_at) THEN extract(epoch FROM now() - d.published_at) / 86400 END::real";
/// Its day of publication, in days since 1970.
pub(super) const DAY: &str = "CASE WHEN isfinite(d.published_at) THEN d.published_at::date - date '1970-01-01' END";

/// The newest documents that are read, and the newest of a period.
const MAX_NEWEST: i64 = 50;
/// Documents with the name of release notes, changelogs or blogs that are read, at most.
const MAX_NEWS: i64 = 10_000;

/// Whether a query asks only for what is new, or only for release notes, and the first result is that. Then the words
/// of the query do not count in the grade.
pub(super) fn answers_what_is_new(
    caller: &Caller,
    group: &Group<'_>,
    first: &SearchResult,
    weights: &Weights,
) -> Result<bool> {
    let query = &group.understanding;
    let is_release = || NewsNames::new(group.rules().tables()).is_release(&first.slug, &first.title);
    if weights.boost_recency <= 0.0
        || first.confidence == Confidence::Low
        || !(query.only_recent || query.releases && is_release())
    {
        return Ok(false);
    }
    let Some(period) = query.period else {
        return Ok(true);
    };
    let day = statement::one(
        caller,
        &format!("SELECT {DAY} FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2"),
        &[
            DatumWithOid::from(first.project_id),
            DatumWithOid::from(first.document_id),
        ],
        |row| row.optional(1),
    )?;
    let days = period.days(transform::day(caller, None)?);
    Ok(day.flatten().is_some_and(|day| days.contains(&Day(day))))
}

/// The newest documents, for the period that the query names.
#[derive(Default)]
pub(super) struct Newest {
    newness: Option<Newness>,
    /// The share of newness of each, if the query asks only for what is new.
    shares: Option<Map<DocumentId, f32>>,
}

struct DatedDocument {
    document: DocumentId,
    slug: String,
    title: String,
    version: Option<String>,
    age_days: Option<f32>,
    day: Option<Day>,
}

row_type! {
    struct DatedRow {
        project: i64 = "d.project_id",
        document: i64 = "d.id",
        slug: String = "d.slug",
        title: String = "d.title",
        version: Option<String> = "d.version",
        age_days: Option<f32> = AGE,
        day: Option<i32> = DAY,
    }
}

impl DatedDocument {
    fn read(row: &Row) -> Result<Self> {
        let row = DatedRow::read(row)?;
        Ok(Self {
            document: DocumentId {
                project: row.project,
                document: row.document,
            },
            slug: row.slug,
            title: row.title,
            version: row.version,
            age_days: row.age_days,
            day: row.day.map(Day),
        })
    }
}

impl Newest {
    pub(super) fn documents(&self) -> Set<DocumentId> {
        self.shares.iter().flat_map(Map::keys).copied().collect()
    }

    /// Marks pages with their newness.
    pub(super) fn mark(&self, pages: &mut Map<DocumentId, Page>) {
        if let Some(newness) = &self.newness {
            newness.mark(pages, self.shares.as_ref());
        }
    }

    /// Reads the documents with the latest dates of publication, the newest of the period, and the newest with a name
    /// of release notes. `args` are those of `condition`, a condition on document `d`.
    pub(super) fn of(
        caller: &Caller,
        group: &Group<'_>,
        weights: &Weights,
        condition: &str,
        mut args: Vec<DatumWithOid<'_>>,
    ) -> Result<Self> {
        let query = &group.understanding;
        if !query.recent && !query.releases || weights.boost_recency <= 0.0 {
            return Ok(Newest::default());
        }
        let today = transform::day(caller, None)?;
        let newness = Newness::new(query, today, weights.recency_half_life);
        if !query.only_recent && !query.releases {
            return Ok(Newest {
                newness: Some(newness),
                shares: None,
            });
        }
        let rules = group.rules().tables();
        let period = query.period.map(|period| period.days(today));
        let names: Vec<String> = rules.news_names.values().flatten().cloned().collect();
        args.extend([
            DatumWithOid::from(MAX_NEWEST),
            DatumWithOid::from(names),
            DatumWithOid::from(MAX_NEWS),
            DatumWithOid::from(period.as_ref().map(|days| days.start.0)),
            DatumWithOid::from(period.as_ref().map(|days| days.end.0)),
        ]);
        let columns = DatedRow::select_list();
        let of_projects = format!(
            "FROM docsearch.document d WHERE {} AND {condition}",
            group.projects.condition("d")
        );
        let order = "ORDER BY d.published_at DESC, d.project_id, d.id";
        let listed = statement::rows(
            caller,
            &format!(
                "(SELECT {columns} {of_projects} AND isfinite(d.published_at) {order} LIMIT $8)
                 UNION
                 (SELECT {columns} {of_projects} AND isfinite(d.published_at)
                         AND d.published_at >= date '1970-01-01' + $11::int AND d.published_at < date '1970-01-01' + $12::int
                  {order} LIMIT $8)
                 UNION
                 (SELECT {columns} {of_projects}
                         AND EXISTS (SELECT FROM unnest($9::text[]) AS n(name)
                                     WHERE strpos(translate(lower(d.slug || d.title), ' -_./:''’(),', ''), n.name) > 0)
                  ORDER BY d.published_at DESC NULLS LAST, d.project_id, d.id LIMIT $10)"
            ),
            &args,
            DatedDocument::read,
        )?;
        let candidates: Vec<NewnessCandidate<'_>> = listed
            .iter()
            .map(|listed| NewnessCandidate {
                slug: &listed.slug,
                title: &listed.title,
                version: listed.version.as_deref(),
                age_days: listed.age_days,
                day: listed.day,
            })
            .collect();
        let shares = newness.applies(query, &candidates, rules).then(|| {
            let new = newness.order(&candidates, rules).into_iter();
            let max = usize::try_from(MAX_NEWEST).unwrap_or_default();
            new.take(max).map(|(at, share)| (listed[at].document, share)).collect()
        });
        Ok(Newest {
            newness: Some(newness),
            shares,
        })
    }
}
