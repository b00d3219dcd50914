//! Sets of judgments, as they are stored.

use std::collections::HashMap;

use docsearch_core::evaluation::exchange::{
    Form, ID_BYTES, Problem, SetQuery, read_judgments, read_queries, reference, write_judgments, write_queries,
};
use docsearch_core::evaluation::judgment::Judgment;
use docsearch_core::values::bounds::shown;
use docsearch_core::values::digest::digest;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::ErrorReport;

use crate::evaluation::count;
use crate::postgres::report::{Result, invalid, undefined};
use crate::postgres::role::Caller;
use crate::postgres::statement;
use crate::tables::{grants, schema};

/// Grades that can be stored.
const GRADES: std::ops::RangeInclusive<i32> = -100..=100;
/// Longest query of a set, in bytes.
const QUERY_BYTES: usize = 32_768;
/// Most further wordings of a query.
const WORDINGS: usize = 5;

/// A query of a set with its judgments.
pub(crate) struct JudgedQuery {
    pub(crate) query: SetQuery,
    pub(crate) judgments: Vec<Judgment>,
}

impl JudgedQuery {
    /// Whether some document is known to answer it.
    pub(crate) fn has_answer(&self) -> bool {
        self.judgments.iter().any(|judgment| judgment.grade > 0)
    }
}

/// What an import stored.
pub(crate) struct Imported {
    pub(crate) queries: i64,
    pub(crate) judgments: i64,
    /// Judgments of queries that the set does not have, which are left out.
    pub(crate) without_query: i64,
}

/// Refuses callers who may not judge and evaluate.
pub(crate) fn require_privilege(caller: &Caller) -> Result<()> {
    schema::require_current(caller)?;
    grants::require_read(
        caller,
        "docsearch.judgment_set",
        "you may not judge answers and run evaluations",
        "SELECT docsearch.grant_evaluation('your role')",
    )
}

/// The number of a set.
fn set_id(caller: &Caller, name: &str) -> Result<i64> {
    require_privilege(caller)?;
    let found = statement::one(
        caller,
        "SELECT s.id FROM docsearch.judgment_set s WHERE s.name = $1",
        &[DatumWithOid::from(name)],
        |row| row.required::<i64>(1),
    )?;
    found.ok_or_else(|| {
        undefined(
            format!("set of judgments \"{}\" does not exist", shown(name)),
            "SELECT name FROM docsearch.judgment_set lists them; docsearch.import_judgments() makes one.",
        )
    })
}

/// The number of a set, which is made if there is none.
fn made_set(caller: &Caller, name: &str) -> Result<i64> {
    require_privilege(caller)?;
    if name.is_empty() || name.len() > 200 {
        return Err(invalid(
            "the name of the set is empty or too long",
            "Use 1 to 200 bytes.",
        ));
    }
    statement::execute(
        caller,
        "INSERT INTO docsearch.judgment_set (name) VALUES ($1) ON CONFLICT (name) DO NOTHING",
        &[DatumWithOid::from(name)],
    )?;
    set_id(caller, name)
}

/// Replaces the queries and judgments of a set by those of two texts, each in the form of BEIR or of TREC.
pub(crate) fn import(caller: &Caller, set: &str, queries: &str, judgments: &str) -> Result<Imported> {
    require_privilege(caller)?;
    let queries = read_queries(queries).map_err(|problem| unreadable("queries", &problem))?;
    let judgments = read_judgments(judgments).map_err(|problem| unreadable("judgments", &problem))?;
    replace(caller, set, &queries, &judgments)
}

/// Replaces the queries and judgments of a set, which is made if there is none. Each judgment has the id of its query.
pub(crate) fn replace(
    caller: &Caller,
    set: &str,
    queries: &[SetQuery],
    judgments: &[(String, Judgment)],
) -> Result<Imported> {
    for query in queries {
        check_query(query)?;
    }
    let places: HashMap<&str, usize> = queries.iter().map(|query| query.id.as_str()).zip(0..).collect();
    let mut grades: HashMap<(&str, &str, &str), i32> = HashMap::new();
    let mut without_query = 0;
    for (query, judgment) in judgments {
        check_judgment(judgment)?;
        match places.contains_key(query.as_str()) {
            true => {
                grades.insert((query, &judgment.slug, &judgment.anchor), judgment.grade);
            }
            false => without_query += 1,
        }
    }
    let id = made_set(caller, set)?;
    let by_set = [DatumWithOid::from(id)];
    statement::execute(
        caller,
        "DELETE FROM docsearch.judgment_query q WHERE q.set_id = $1",
        &by_set,
    )?;
    insert_queries(caller, id, queries)?;
    let column = |of: fn(&(&str, &str, &str)) -> String| grades.keys().map(of).collect::<Vec<_>>();
    statement::execute(
        caller,
        "INSERT INTO docsearch.judgment (set_id, query_id, slug, anchor, grade)
         SELECT $1, j.* FROM unnest($2::text[], $3::text[], $4::text[], $5::int[]) j",
        &[
            DatumWithOid::from(id),
            DatumWithOid::from(column(|key| key.0.to_owned())),
            DatumWithOid::from(column(|key| key.1.to_owned())),
            DatumWithOid::from(column(|key| key.2.to_owned())),
            DatumWithOid::from(grades.values().copied().collect::<Vec<i32>>()),
        ],
    )?;
    Ok(Imported {
        queries: count(queries.len()),
        judgments: count(grades.len()),
        without_query,
    })
}

fn insert_queries(caller: &Caller, set: i64, queries: &[SetQuery]) -> Result<()> {
    let column = |of: fn(&SetQuery) -> String| queries.iter().map(of).collect::<Vec<_>>();
    // An array of arrays would have to be rectangular.
    let also = column(|query| serde_json::Value::from(query.also.clone()).to_string());
    statement::execute(
        caller,
        "INSERT INTO docsearch.judgment_query (set_id, query_no, query_id, query, query_group, also, unanswerable)
         SELECT $1, q.number - 1, q.id, q.text, q.of_group,
                ARRAY(SELECT pg_catalog.jsonb_array_elements_text(q.also::jsonb)), q.unanswerable
         FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::bool[])
              WITH ORDINALITY AS q (id, text, of_group, also, unanswerable, number)",
        &[
            DatumWithOid::from(set),
            DatumWithOid::from(column(|query| query.id.clone())),
            DatumWithOid::from(column(|query| query.text.clone())),
            DatumWithOid::from(column(|query| query.group.clone())),
            DatumWithOid::from(also),
            DatumWithOid::from(queries.iter().map(|query| query.unanswerable).collect::<Vec<bool>>()),
        ],
    )
}

/// Adds a judgment to a set, and its query if the set does not have it. The set is made if there is none. Returns the id of the query.
pub(crate) fn judge(caller: &Caller, set: &str, query: &str, judgment: &Judgment, group: &str) -> Result<String> {
    require_privilege(caller)?;
    check_judgment(judgment)?;
    let (set, id) = judged_query(caller, set, query, group)?;
    statement::execute(
        caller,
        "INSERT INTO docsearch.judgment (set_id, query_id, slug, anchor, grade) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (set_id, query_id, slug, anchor) DO UPDATE SET grade = excluded.grade",
        &[
            DatumWithOid::from(set),
            DatumWithOid::from(id.as_str()),
            DatumWithOid::from(judgment.slug.as_str()),
            DatumWithOid::from(judgment.anchor.as_str()),
            DatumWithOid::from(judgment.grade),
        ],
    )?;
    Ok(id)
}

/// Stores that no document answers a query, as [`judge`] stores that one does.
pub(crate) fn judge_unanswerable(caller: &Caller, set: &str, query: &str, group: &str) -> Result<String> {
    require_privilege(caller)?;
    let (set, id) = judged_query(caller, set, query, group)?;
    statement::execute(
        caller,
        "UPDATE docsearch.judgment_query q SET unanswerable = true WHERE q.set_id = $1 AND q.query_id = $2",
        &[DatumWithOid::from(set), DatumWithOid::from(id.as_str())],
    )?;
    Ok(id)
}

/// The number of a set and the id of a query of it, which are made if there are none.
fn judged_query(caller: &Caller, set: &str, query: &str, group: &str) -> Result<(i64, String)> {
    let given = SetQuery {
        id: digest(&[query])[..16].to_owned(),
        text: query.to_owned(),
        group: group.to_owned(),
        ..SetQuery::default()
    };
    check_query(&given)?;
    let set = made_set(caller, set)?;
    let known = statement::one(
        caller,
        "SELECT q.query_id FROM docsearch.judgment_query q WHERE q.set_id = $1 AND q.query = $2
         ORDER BY q.query_no LIMIT 1",
        &[DatumWithOid::from(set), DatumWithOid::from(query)],
        |row| row.required::<String>(1),
    )?;
    if let Some(known) = known {
        return Ok((set, known));
    }
    statement::execute(
        caller,
        "INSERT INTO docsearch.judgment_query (set_id, query_no, query_id, query, query_group)
         SELECT $1, coalesce(pg_catalog.max(q.query_no) + 1, 0), $2, $3, $4
         FROM docsearch.judgment_query q WHERE q.set_id = $1",
        &[
            DatumWithOid::from(set),
            DatumWithOid::from(given.id.as_str()),
            DatumWithOid::from(query),
            DatumWithOid::from(group),
        ],
    )?;
    Ok((set, given.id))
}

/// The queries of a set with their judgments, in order.
pub(crate) fn read(caller: &Caller, set: &str) -> Result<Vec<JudgedQuery>> {
    let id = set_id(caller, set)?;
    let mut queries = statement::rows(
        caller,
        "SELECT q.query_id, q.query, q.query_group, q.also, q.unanswerable FROM docsearch.judgment_query q
         WHERE q.set_id = $1 ORDER BY q.query_no, q.query_id",
        &[DatumWithOid::from(id)],
        |row| {
            Ok(JudgedQuery {
                query: SetQuery {
                    id: row.required(1)?,
                    text: row.required(2)?,
                    group: row.required(3)?,
                    also: row.required(4)?,
                    unanswerable: row.required(5)?,
                },
                judgments: Vec::new(),
            })
        },
    )?;
    let places: HashMap<String, usize> = queries.iter().map(|judged| judged.query.id.clone()).zip(0..).collect();
    let judgments = statement::rows(
        caller,
        "SELECT j.query_id, j.slug, j.anchor, j.grade FROM docsearch.judgment j
         WHERE j.set_id = $1 ORDER BY j.query_id, j.grade DESC, j.slug, j.anchor",
        &[DatumWithOid::from(id)],
        |row| {
            let judgment = Judgment {
                slug: row.required(2)?,
                anchor: row.required(3)?,
                grade: row.required(4)?,
            };
            Ok((row.required::<String>(1)?, judgment))
        },
    )?;
    for (query, judgment) in judgments {
        if let Some(judged) = places.get(&query).and_then(|&place| queries.get_mut(place)) {
            judged.judgments.push(judgment);
        }
    }
    Ok(queries)
}

/// A set as texts of a form: the name of each file, and what it holds.
pub(crate) fn export(caller: &Caller, set: &str, form: Form) -> Result<[(&'static str, String); 2]> {
    let judged = read(caller, set)?;
    let judgments: Vec<(String, Judgment)> = judged
        .iter()
        .flat_map(|judged| {
            judged
                .judgments
                .iter()
                .map(|judgment| (judged.query.id.clone(), judgment.clone()))
        })
        .collect();
    let queries: Vec<SetQuery> = judged.into_iter().map(|judged| judged.query).collect();
    let names = match form {
        Form::Beir => ["queries.jsonl", "qrels.tsv"],
        Form::Trec => ["topics.tsv", "qrels.txt"],
    };
    Ok([
        (names[0], write_queries(form, &queries)),
        (names[1], write_judgments(form, &judgments)),
    ])
}

/// Deletes a set with its queries and judgments. Runs stay.
pub(crate) fn delete(caller: &Caller, set: &str) -> Result<()> {
    let id = set_id(caller, set)?;
    statement::execute(
        caller,
        "DELETE FROM docsearch.judgment_set s WHERE s.id = $1",
        &[DatumWithOid::from(id)],
    )
}

fn check_query(query: &SetQuery) -> Result<()> {
    if query.text.trim().is_empty() || query.text.len() > QUERY_BYTES {
        return Err(invalid(
            format!("query \"{}\" is blank or too long", shown(&query.id)),
            format!("A query has 1 to {QUERY_BYTES} bytes."),
        ));
    }
    if query.also.len() > WORDINGS || query.group.len() > 200 {
        return Err(invalid(
            format!(
                "query \"{}\" has too many further wordings, or a group that is too long",
                shown(&query.id)
            ),
            format!("Give up to {WORDINGS} wordings, and a group of up to 200 bytes."),
        ));
    }
    Ok(())
}

fn check_judgment(judgment: &Judgment) -> Result<()> {
    let Judgment { slug, anchor, grade } = judgment;
    if slug.is_empty() || slug.len() > 1024 || anchor.len() > 1024 {
        return Err(invalid(
            format!("\"{}\" is no reference", shown(&reference(slug, anchor))),
            "Give a slug, or a slug, # and an anchor, each of up to 1024 bytes.",
        ));
    }
    if !GRADES.contains(grade) {
        return Err(invalid(
            format!("grade is {grade}"),
            "Grades are from -100 to 100; above 0 is relevant.",
        ));
    }
    Ok(())
}

fn unreadable(what: &str, problem: &Problem) -> ErrorReport {
    let hint = match what {
        "queries" => format!(
            "Give lines such as {{\"_id\": \"1\", \"text\": \"how to sort\"}}, or an id and a query with a tab between them; \
             an id has up to {ID_BYTES} bytes."
        ),
        _ => "Give lines of query, document and grade with tabs between them.".to_owned(),
    };
    invalid(format!("{what} cannot be read: {problem}"), hint)
}
