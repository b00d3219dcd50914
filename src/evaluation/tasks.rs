//! Runs of the queries of a set as tasks of an assistant.

use std::collections::HashMap;
use std::time::Instant;

use docsearch_core::answer::delivery::{
    Budget, Confidence, Format, MCP_LOAD_TOKENS, MCP_SEARCH_TOKENS, deliver, shown_references,
};
use docsearch_core::documents::document::Shape;
use docsearch_core::documents::outline::Outline;
use docsearch_core::evaluation::comparison::MeasuredQuery;
use docsearch_core::evaluation::judgment::{JudgedResult, Target};
use docsearch_core::evaluation::task::{Documentation, LoadedText, ShownAnswer, ShownResult, TaskRun, Trace, simulate};
use docsearch_core::text::token_estimate::{CHARS_PER_TOKEN, estimated_tokens};
use docsearch_core::values::id::DocumentId;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::ErrorReport;
use serde_json::{Value, json};

use crate::administration::conditions;
use crate::evaluation::judgments::{self, JudgedQuery};
use crate::evaluation::resolution;
use crate::evaluation::stored_run::{Conditions, StoredRun};
use crate::postgres::interrupt;
use crate::postgres::jsonb::{JsonB, StoredJson};
use crate::postgres::report::{Result, internal, invalid};
use crate::postgres::role::Caller;
use crate::postgres::row_type::row_type;
use crate::postgres::statement;
use crate::search::arguments::Arguments;
use crate::search::retrieval::Detail;
use crate::tables::document::{self, bodies_and_anchors};
use crate::tables::project;

/// Results of a search unless `config` says how many.
const USUAL_RESULTS: u64 = 5;

/// What a run of tasks does.
pub(crate) struct Options<'a> {
    /// `None` searches all projects that the caller sees.
    pub(crate) project: Option<&'a str>,
    pub(crate) config: Value,
    /// Most calls of a task.
    pub(crate) max_calls: usize,
    pub(crate) label: Option<&'a str>,
}

/// Does the tasks of a set and keeps what came of them. Returns the number of the run with its tasks.
pub(crate) fn evaluate(caller: &mut Caller, set: &str, options: &Options<'_>) -> Result<(i64, Vec<TaskRun>)> {
    let (projects, _) = project::searched(caller, options.project)?;
    let started = Instant::now();
    let mut tasks = judgments::read(caller, set)?;
    tasks.retain(|judged| judged.has_answer() || judged.query.unanswerable);
    if tasks.is_empty() {
        return Err(invalid(
            format!("no query of set \"{set}\" has a relevant document or is unanswerable"),
            "Judge some with docsearch.judge(), or import judgments with docsearch.import_judgments().",
        ));
    }
    let targets = resolution::targets(caller, options.project, &tasks)?;
    let state = conditions::current(caller, &projects)?;
    let mut done = Vec::with_capacity(tasks.len());
    for (task, targets) in tasks.iter().zip(&targets) {
        let mut world = Searched {
            caller: &mut *caller,
            task,
            targets,
            options,
            shown: HashMap::new(),
        };
        let trace = simulate(&mut world, 1 + task.query.also.len(), options.max_calls)?;
        let summary = TaskRun::of(&trace, task.has_answer());
        done.push((task, trace, summary));
    }
    let of_config = ["max_results", "limit"]
        .iter()
        .find_map(|key| options.config.get(key)?.as_u64());
    let conditions = Conditions {
        set,
        project: options.project,
        label: options.label,
        config: &options.config,
        cutoff: usize::try_from(of_config.unwrap_or(USUAL_RESULTS)).map_err(internal)?,
        max_calls: Some(options.max_calls),
        state: &state,
        seconds: started.elapsed().as_secs_f64(),
    };
    let run = conditions.store(caller)?;
    keep(caller, run, &done)?;
    Ok((run, done.into_iter().map(|(.., summary)| summary).collect()))
}

/// The documentation as an assistant searches it over MCP.
struct Searched<'a> {
    caller: &'a mut Caller,
    task: &'a JudgedQuery,
    targets: &'a [Target],
    options: &'a Options<'a>,
    /// The documents of the references that were shown, as judgments name them.
    shown: HashMap<String, String>,
}

impl Searched<'_> {
    fn relevant(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(|target| target.grade > 0)
    }

    /// Whether a loaded text has a section that is judged: the text is that of the section, or has all of it.
    fn has_section(&self, id: DocumentId, document: &str, anchor: &str, text: &str) -> Result<bool> {
        let sections = self.relevant().filter(|target| target.document == document);
        let wanted: Vec<&String> = sections.flat_map(Target::anchors).collect();
        if wanted.is_empty() {
            return Ok(false);
        }
        let found = bodies_and_anchors(self.caller, &[id])?;
        let Some((_, body, aliases)) = found.into_iter().next() else {
            return Ok(false);
        };
        let outline = Outline::new(&body);
        let alias = |fragment: &str| aliases.get(fragment).map(String::as_str);
        let loaded = outline.find_with(anchor, alias);
        Ok(wanted.into_iter().any(|anchor| {
            let index = outline.find_with(anchor, alias);
            index.is_some_and(|index| {
                let own = &outline.sections()[index];
                let own = outline.source(own.body_start..own.range.end).trim();
                loaded == Some(index) || !own.is_empty() && text.contains(own)
            })
        }))
    }
}

impl Documentation for Searched<'_> {
    type Error = ErrorReport;

    fn search(&mut self, wording: usize, offset: usize) -> Result<ShownAnswer> {
        interrupt::check();
        let also = wording.checked_sub(1).and_then(|index| self.task.query.also.get(index));
        let mut config = self.options.config.clone();
        if let Some(config) = config.as_object_mut() {
            config.insert("offset".to_owned(), offset.into());
            config.entry("syntax").or_insert_with(|| "mcp".into());
        }
        let arguments = Arguments {
            query: Some(also.unwrap_or(&self.task.query.text)),
            project: self.options.project,
            config: Some(JsonB(config)),
            ..Arguments::default()
        };
        let request = arguments.resolve(self.caller)?;
        let format = request.config.format.unwrap_or(Format::Compact);
        let answer = request.answer(self.caller, Detail::Sections)?;
        let budget = Budget::new(usize::MAX, Some(MCP_SEARCH_TOKENS)).map_err(internal)?;
        let text = deliver(&answer, format, budget);
        let mut results = Vec::new();
        for (index, reference) in shown_references(&answer, format, &text) {
            let result = &answer.results[index];
            let document = resolution::document(self.options.project, &result.project, &result.slug);
            let judged = JudgedResult {
                document: &document,
                anchor: &result.anchor,
            };
            let is_right = self.relevant().any(|target| target.is_shown_by(&judged));
            results.push(ShownResult {
                reference: reference.clone(),
                is_right,
            });
            self.shown.insert(reference, document);
        }
        Ok(ShownAnswer {
            tokens: estimated_tokens(text.chars().count()),
            is_low: answer.confidence == Confidence::Low,
            results,
        })
    }

    fn load(&mut self, reference: &str) -> Result<LoadedText> {
        interrupt::check();
        let shape = Shape {
            sections: true,
            metadata: true,
            skip: 0,
            max_chars: Some(MCP_LOAD_TOKENS * CHARS_PER_TOKEN),
        };
        let loaded =
            document::load(self.caller, Some(reference), None, None, shape).map_err(|problem| problem.report)?;
        let document = self.shown.get(reference).map_or("", String::as_str);
        let is_page = |target: &Target| target.document == document && target.section.is_none();
        let is_right =
            self.relevant().any(is_page) || self.has_section(loaded.id, document, &loaded.anchor, &loaded.content)?;
        Ok(LoadedText {
            tokens: estimated_tokens(loaded.content.chars().count()),
            is_right,
        })
    }
}

fn keep(caller: &Caller, run: i64, done: &[(&JudgedQuery, Trace, TaskRun)]) -> Result<()> {
    let row = |(number, (task, trace, summary)): (usize, &(&JudgedQuery, Trace, TaskRun))| {
        json!({
            "query_id": task.query.id,
            "query_no": number,
            "query": task.query.text,
            "query_group": task.query.group,
            "answerable": summary.is_answerable,
            "found": summary.found,
            "tokens": summary.tokens,
            "calls": summary.calls,
            "shown": summary.shown,
            "shown_twice": summary.shown_twice,
            "low_confidence": summary.low_confidence,
            "trace": trace.steps,
        })
    };
    let rows: Vec<Value> = done.iter().enumerate().map(row).collect();
    statement::execute(
        caller,
        "INSERT INTO docsearch.evaluation_task
             (run_id, query_id, query_no, query, query_group, answerable, found, tokens, calls, shown, shown_twice,
              low_confidence, trace)
         SELECT $1, r.query_id, r.query_no, r.query, r.query_group, r.answerable, r.found, r.tokens, r.calls, r.shown,
                r.shown_twice, r.low_confidence, r.trace
         FROM pg_catalog.jsonb_to_recordset($2::jsonb) AS r (
              query_id text, query_no int, query text, query_group text, answerable bool, found bool, tokens int, calls int,
              shown int, shown_twice int, low_confidence bool, trace jsonb)",
        &[DatumWithOid::from(run), DatumWithOid::from(Value::from(rows).to_string())],
    )
}

row_type! {
    /// A task of a run.
    pub(crate) struct TaskRow {
        pub(crate) query_id: String = "t.query_id",
        pub(crate) query: String = "t.query",
        pub(crate) group: String = "t.query_group",
        pub(crate) answerable: bool = "t.answerable",
        pub(crate) found: bool = "t.found",
        pub(crate) tokens: i32 = "t.tokens",
        pub(crate) calls: i32 = "t.calls",
        pub(crate) shown: i32 = "t.shown",
        pub(crate) shown_twice: i32 = "t.shown_twice",
        pub(crate) low_confidence: bool = "t.low_confidence",
        pub(crate) trace: StoredJson = "t.trace",
    }
}

impl TaskRow {
    fn measured(self) -> MeasuredQuery<TaskRun> {
        let number = |value: i32| usize::try_from(value).unwrap_or_default();
        MeasuredQuery {
            measures: TaskRun {
                is_answerable: self.answerable,
                found: self.found,
                tokens: number(self.tokens),
                calls: number(self.calls),
                shown: number(self.shown),
                shown_twice: number(self.shown_twice),
                low_confidence: self.low_confidence,
            },
            id: self.query_id,
            group: self.group,
        }
    }
}

/// The tasks of a run, in the order of their set.
pub(crate) fn results(caller: &Caller, run: i64) -> Result<Vec<TaskRow>> {
    StoredRun::of_tasks(caller, run)?;
    statement::rows(
        caller,
        &format!(
            "SELECT {} FROM docsearch.evaluation_task t WHERE t.run_id = $1 ORDER BY t.query_no, t.query_id",
            TaskRow::select_list()
        ),
        &[DatumWithOid::from(run)],
        TaskRow::read,
    )
}

/// The tasks of a run, as numbers that can be compared.
pub(super) fn measured(caller: &Caller, run: i64) -> Result<Vec<MeasuredQuery<TaskRun>>> {
    Ok(results(caller, run)?.into_iter().map(TaskRow::measured).collect())
}
