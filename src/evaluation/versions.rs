//! What a new version of a documentation breaks: pages, sections, links, names and answers.

use std::collections::{BTreeMap, HashMap, HashSet};

use docsearch_core::answer::delivery::{Answer, Confidence};
use docsearch_core::evaluation::judgment::{JudgedResult, Target, gains};
use docsearch_core::evaluation::measures::{CUTOFF, Measures};
use docsearch_core::evaluation::version_difference::{Change, ChangeKind, VersionDifference, VersionPage};
use docsearch_core::text::name;
use docsearch_core::values::bounds;
use pgrx::datum::DatumWithOid;
use serde_json::json;

use crate::evaluation::judgments;
use crate::postgres::interrupt;
use crate::postgres::jsonb::JsonB;
use crate::postgres::report::{Result, internal, invalid, undefined};
use crate::postgres::role::{Caller, Role};
use crate::postgres::statement;
use crate::search::arguments::Arguments;
use crate::search::retrieval::Detail;
use crate::tables::project::{self, Project};
use crate::tables::{grants, schema};

/// Results among which a frequent query has to find its page again.
const FIRST_RESULTS: usize = 5;
/// A loss of nDCG that is no rounding.
const LEAST_LOSS: f64 = 1e-6;

/// Which versions are compared, and by which queries.
pub(crate) struct VersionComparison<'a> {
    pub(crate) project: Option<&'a str>,
    pub(crate) before: Option<&'a str>,
    pub(crate) after: Option<&'a str>,
    /// Set of judgments whose queries are run against both.
    pub(crate) set: Option<&'a str>,
    /// Number of frequent queries of the log that are run against both.
    pub(crate) max_queries: i32,
}

/// The pages of a version that the caller sees.
struct Version<'a> {
    name: &'a str,
    pages: Vec<VersionPage>,
    ids: Vec<i64>,
}

/// The changes between two versions of a project, as the caller sees them.
pub(crate) fn compare(caller: &mut Caller, options: &VersionComparison<'_>) -> Result<Vec<Change>> {
    schema::require_current(caller)?;
    let project = project::given(caller, options.project)?;
    let (before, after) = match (options.before, options.after) {
        (Some(before), Some(after)) if before != after => (before, after),
        (Some(_), Some(_)) => return Err(invalid("the versions are the same", "Name two versions of documents.")),
        _ => return Err(invalid("a version must not be null", "Name two versions of documents.")),
    };
    let before = Version::read(caller, &project, before)?;
    let after = Version::read(caller, &project, after)?;
    let others: HashSet<String> = statement::rows(
        caller,
        "SELECT d.slug FROM docsearch.document d WHERE d.project_id = $1 AND d.version IS DISTINCT FROM $2",
        &[DatumWithOid::from(project.id), DatumWithOid::from(after.name)],
        |row| row.required(1),
    )?
    .into_iter()
    .collect();
    let VersionDifference {
        mut changes,
        counterparts,
    } = VersionDifference::new(&before.pages, &after.pages, &others);
    changes.extend(missing_names(caller, &project, &before, &after)?);
    let answers = Answers {
        project: &project.name,
        versions: [before.name, after.name],
        counterparts,
    };
    if let Some(set) = options.set {
        changes.extend(answers.of_judged(caller, set)?);
    }
    changes.extend(answers.of_frequent(caller, &project, options.max_queries)?);
    Ok(changes)
}

impl<'a> Version<'a> {
    fn read(caller: &Caller, project: &Project, name: &'a str) -> Result<Self> {
        let mut version = Self {
            name,
            pages: Vec::new(),
            ids: Vec::new(),
        };
        statement::rows(
            caller,
            "SELECT d.id, d.slug, d.title, d.body FROM docsearch.document d
             WHERE d.project_id = $1 AND d.version = $2 ORDER BY d.slug",
            &[DatumWithOid::from(project.id), DatumWithOid::from(name)],
            |row| {
                interrupt::check();
                let (slug, title, body): (String, String, String) =
                    (row.required(2)?, row.required(3)?, row.required(4)?);
                version.ids.push(row.required(1)?);
                let page = VersionPage::new(&slug, &title, &body, name, project.root_url.as_deref());
                version.pages.push(page);
                Ok(())
            },
        )?;
        if version.pages.is_empty() {
            let known = statement::rows(
                caller,
                "SELECT DISTINCT d.version FROM docsearch.document d WHERE d.project_id = $1 AND d.version IS NOT NULL
                 ORDER BY 1 LIMIT 10",
                &[DatumWithOid::from(project.id)],
                |row| row.required::<String>(1),
            )?;
            let hint = match known.is_empty() {
                true => "No document has a version.".to_owned(),
                false => format!("Documents have the versions {}.", known.join(", ")),
            };
            return Err(undefined(
                format!(
                    "project \"{}\" has no document of version \"{}\"",
                    project.name,
                    bounds::shown(name)
                ),
                hint,
            ));
        }
        Ok(version)
    }
}

/// Names of pages, and names that sections define, by which no page of the later version is found.
fn missing_names(
    caller: &mut Caller,
    project: &Project,
    before: &Version<'_>,
    after: &Version<'_>,
) -> Result<Vec<Change>> {
    let slugs: HashMap<i64, &str> = before
        .ids
        .iter()
        .copied()
        .zip(before.pages.iter().map(|page| page.slug.as_str()))
        .collect();
    let owner = &caller.as_owner()?;
    let missing = statement::rows(
        owner,
        "WITH known AS (
             SELECT n.key FROM docsearch.document_name n JOIN unnest($3::bigint[]) AS a(id) ON n.document_id = a.id
             WHERE n.project_id = $1
             UNION SELECT f.key FROM docsearch.definition f JOIN unnest($3::bigint[]) AS a(id) ON f.document_id = a.id
             WHERE f.project_id = $1)
         SELECT b.key, min(b.document_id) FROM (
             SELECT n.key, n.document_id FROM docsearch.document_name n JOIN unnest($2::bigint[]) AS o(id) ON n.document_id = o.id
             WHERE n.project_id = $1 AND n.kind IN ('title', 'symbol', 'alias')
             UNION SELECT f.key, f.document_id FROM docsearch.definition f JOIN unnest($2::bigint[]) AS o(id) ON f.document_id = o.id
             WHERE f.project_id = $1) b
         WHERE b.key NOT IN (SELECT k.key FROM known k)
         GROUP BY b.key ORDER BY b.key",
        &[
            DatumWithOid::from(project.id),
            DatumWithOid::from(before.ids.clone()),
            DatumWithOid::from(after.ids.clone()),
        ],
        |row| Ok((row.required::<String>(1)?, row.required::<i64>(2)?)),
    )?;
    let written = before.pages.iter().flat_map(VersionPage::names);
    let written: HashMap<String, &str> = written.map(|written| (name::key(written), written)).collect();
    let changes = missing.into_iter().map(|(name, document)| Change {
        kind: ChangeKind::NameMissing,
        before: slugs.get(&document).map(|slug| (*slug).to_owned()),
        after: None,
        similarity: None,
        detail: written.get(&name).map_or(name.clone(), |written| (*written).to_owned()),
    });
    Ok(changes.collect())
}

/// Answers of both versions.
struct Answers<'a> {
    project: &'a str,
    versions: [&'a str; 2],
    /// The slug after of each slug before.
    counterparts: HashMap<String, String>,
}

impl Answers<'_> {
    fn search(&self, caller: &mut Caller, query: &str, also: &[String], version: &str) -> Result<Answer> {
        interrupt::check();
        let arguments = Arguments {
            query: Some(query),
            also: Some(also.iter().cloned().map(Some).collect()),
            project: Some(self.project),
            filter: Some(JsonB(json!({ "version": version }))),
            max_results: Some(i32::try_from(CUTOFF).map_err(internal)?),
            ..Arguments::default()
        };
        arguments.resolve(caller)?.answer(caller, Detail::Rows)
    }

    /// Queries of a set that the later version answers worse, by nDCG.
    fn of_judged(&self, caller: &mut Caller, set: &str) -> Result<Vec<Change>> {
        let earlier: HashMap<&str, &str> = self
            .counterparts
            .iter()
            .map(|(old, new)| (new.as_str(), old.as_str()))
            .collect();
        let mut changes = Vec::new();
        for judged in judgments::read(caller, set)? {
            let of = |version: usize| -> Vec<Target> {
                let in_version = judged.judgments.iter().map(|judgment| {
                    let slug = judgment.slug.as_str();
                    let slug = match version {
                        0 => earlier.get(slug).copied().unwrap_or(slug),
                        _ => self.counterparts.get(slug).map_or(slug, String::as_str),
                    };
                    // Anchors differ between versions.
                    (slug.to_owned(), judgment.grade)
                });
                let mut grades: BTreeMap<String, i32> = BTreeMap::new();
                for (slug, grade) in in_version {
                    let known = grades.entry(slug).or_insert(grade);
                    *known = grade.max(*known);
                }
                let target = |(document, grade)| Target {
                    document,
                    section: None,
                    grade,
                };
                grades.into_iter().map(target).collect()
            };
            let mut scores = [0.0; 2];
            let mut first = [None, None];
            for (place, version) in self.versions.iter().enumerate() {
                let answer = self.search(caller, &judged.query.text, &judged.query.also, version)?;
                let targets = of(place);
                let results = answer.results.iter();
                let results: Vec<JudgedResult<'_>> = results
                    .map(|result| JudgedResult {
                        document: &result.slug,
                        anchor: "",
                    })
                    .collect();
                let grades: Vec<i32> = targets.iter().map(|target| target.grade).collect();
                scores[place] = Measures::of(&gains(&results, &targets), &grades, CUTOFF).ndcg;
                first[place] = answer.results.first().map(|result| result.slug.clone());
            }
            if scores[1] < scores[0] - LEAST_LOSS {
                let [before, after] = first;
                let measure = format!("nDCG {:.2} -> {:.2}", scores[0], scores[1]);
                changes.push(worse(before, after, &judged.query.text, &measure));
            }
        }
        Ok(changes)
    }

    /// The most frequent queries of the last 30 days whose first page the later version no longer finds. None if the caller may not
    /// read the log.
    fn of_frequent(&self, caller: &mut Caller, project: &Project, most: i32) -> Result<Vec<Change>> {
        if most == 0 || !grants::may_read(caller, "docsearch.query_log")? {
            return Ok(Vec::new());
        }
        let frequent = statement::rows(
            caller,
            "SELECT any_value(q.query), count(*) FROM docsearch.query_log q
             WHERE q.kind = 'search' AND q.query IS NOT NULL AND q.project_ids @> ARRAY[$1::bigint]
               AND q.logged_at >= now() - interval '30 days'
             GROUP BY q.query_hash ORDER BY count(*) DESC, q.query_hash LIMIT $2",
            &[DatumWithOid::from(project.id), DatumWithOid::from(most)],
            |row| Ok((row.required::<String>(1)?, row.required::<i64>(2)?)),
        )?;
        let mut changes = Vec::new();
        for (query, searches) in frequent.into_iter().filter(|(query, _)| !query.trim().is_empty()) {
            let before = self.search(caller, &query, &[], self.versions[0])?;
            let Some(first) = before
                .results
                .first()
                .filter(|first| first.confidence != Confidence::Low)
            else {
                continue;
            };
            let after = self.search(caller, &query, &[], self.versions[1])?;
            let counterpart = self.counterparts.get(&first.slug);
            let is_found = |counterpart: &String| {
                let mut results = after.results.iter().take(FIRST_RESULTS);
                results.any(|result| result.slug == *counterpart)
            };
            if !counterpart.is_some_and(is_found) {
                let reason = match counterpart {
                    Some(_) => format!("not among the first {FIRST_RESULTS} results"),
                    None => "page removed".to_owned(),
                };
                let first_after = after.results.first().map(|result| result.slug.clone());
                changes.push(worse(
                    Some(first.slug.clone()),
                    first_after,
                    &query,
                    &format!("{searches} searches, {reason}"),
                ));
            }
        }
        Ok(changes)
    }
}

fn worse(before: Option<String>, after: Option<String>, query: &str, how: &str) -> Change {
    Change {
        kind: ChangeKind::QueryWorse,
        before,
        after,
        similarity: None,
        detail: format!("{query}: {how}"),
    }
}
