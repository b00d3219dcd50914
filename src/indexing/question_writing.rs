//! Questions that a language model writes for sections without any, or with stale ones.
//!
//! A call requests all replies before it locks the first document: an endpoint may be slow, and other sessions write
//! meanwhile.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::time::{Duration, Instant};

use docsearch_core::index::question::{MAX_QUESTIONS_PER_DOCUMENT, MAX_QUESTIONS_PER_SECTION, SectionText, Sections};
use docsearch_core::models::prompt;
use docsearch_core::models::question_reply::{self, MAX_QUESTIONS};
use docsearch_core::text::token_estimate::CHARS_PER_TOKEN;
use docsearch_core::values::digest::digest;
use pgrx::datum::DatumWithOid;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use crate::indexing::indexer::{self, WrittenQuestions};
use crate::models::language_model;
use crate::postgres::report::{Result, error_with_hint, in_one_line, internal, invalid, warn};
use crate::postgres::role::{Caller, Role};
use crate::postgres::{latch, statement, subtransaction};
use crate::tables::project::Project;
use crate::tables::questions::{self, StoredQuestion};
use crate::tables::{document, model_grant, schema};

/// Tokens of a reply in an estimate: eight lines of 50 characters.
const ESTIMATED_REPLY: u64 = 100;
/// Most sections without questions that a session remembers.
const MAX_REMEMBERED: usize = 10_000;
const MINUTE: Duration = Duration::from_secs(60);

thread_local! {
    /// Sections for which a model had no question, by digests of the request. Otherwise a caller who repeats the call
    /// until no section is left would pay for the same replies again and again.
    static WITHOUT_QUESTIONS: RefCell<HashSet<String>> = RefCell::default();
    /// When the last request of the session began: the limit of requests applies across its calls.
    static LAST_REQUEST: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The limits of a call, in tokens and requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// With 0, nothing is sent, and all sections are estimated.
    pub(crate) tokens: u64,
    pub(crate) sections: Option<u64>,
    pub(crate) requests_per_minute: Option<u64>,
}

/// The result of a call.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) sections_done: i64,
    /// Sections for which another call would send requests.
    pub(crate) sections_left: i64,
    pub(crate) questions_written: i64,
    /// Lines of replies that are not questions.
    pub(crate) dropped: i64,
    pub(crate) tokens_estimated: u64,
    /// The number that the endpoint reports; `None` if it is missing for a reply, or if there was no reply.
    pub(crate) tokens_spent: Option<u64>,
}

struct Page {
    id: i64,
    slug: String,
}

/// A section with its request.
struct Request {
    written: WrittenQuestions,
    titles: Vec<String>,
    user: String,
    key: String,
}

/// Has the language model write questions for sections of a project's documents, or of those with the given slugs. It
/// goes in the order of slugs, until the next request could exceed the limits. The caller must be allowed to change the
/// documents.
pub(crate) fn write(
    caller: &mut Caller,
    project: &Project,
    slugs: Option<Vec<String>>,
    limits: Limits,
) -> Result<Written> {
    if !questions::exist() {
        return Err(schema::outdated());
    }
    let model = language_model::name();
    if limits.tokens > 0 {
        model_grant::require_of_project(caller, project.id)?;
        require_source(model.as_deref())?;
    }
    let source = format!("model {}", model.as_deref().unwrap_or_default());
    let mut call = Call {
        project,
        limits,
        written: Written::default(),
        spent: Some(0),
        replies: 0,
        is_over: limits.tokens == 0,
    };
    let mut replied = Vec::new();
    for page in pages(caller, project, slugs)? {
        let replies = call.ask(caller, &page, &source)?;
        if !replies.is_empty() {
            replied.push((page, replies));
        }
    }
    call.written.tokens_spent = call.spent.filter(|_| !replied.is_empty());
    for (page, replies) in replied {
        call.store(caller, &page, replies, &source)?;
    }
    Ok(call.written)
}

/// A running call.
struct Call<'a> {
    project: &'a Project,
    limits: Limits,
    written: Written,
    /// The tokens of the replies as the endpoint reports them; `None` once it has not reported them.
    spent: Option<u64>,
    replies: u64,
    /// Whether no further request is sent, and sections that are left are only counted.
    is_over: bool,
}

impl Call<'_> {
    /// Requests replies about the sections of a page.
    fn ask(&mut self, caller: &mut Caller, page: &Page, source: &str) -> Result<Vec<Request>> {
        pgrx::check_for_interrupts!();
        let requests = requests(caller, self.project, page, source)?;
        if requests.is_empty() || !self.is_over && !may_change(caller, self.project, page)? {
            return Ok(Vec::new());
        }
        let mut replied = Vec::new();
        for mut request in requests {
            let sent = tokens(prompt::QUESTIONS) + tokens(&request.user);
            if self.limits.tokens == 0 {
                self.written.tokens_estimated += sent + ESTIMATED_REPLY;
            }
            if !self.is_over && self.fits(sent)? {
                self.wait_for_turn();
                match language_model::write_questions(prompt::QUESTIONS, &request.user) {
                    Ok(answer) => {
                        self.replies += 1;
                        self.written.tokens_estimated += sent + tokens(&answer.text);
                        self.spent = self.spent.zip(answer.tokens).map(|(all, one)| all.saturating_add(one));
                        let titles = request.titles.iter().map(String::as_str);
                        let reply = question_reply::read(&answer.text, titles);
                        self.written.dropped += count(reply.dropped)?;
                        if reply.questions.is_empty() {
                            remember(&request.key);
                        }
                        request.written.questions = reply.questions;
                        // The request is freed, since the replies of all pages are kept until the end.
                        request.user = String::new();
                        request.titles.clear();
                        replied.push(request);
                        continue;
                    }
                    Err(failure) => self.stop(failure.into_report())?,
                }
            }
            self.written.sections_left += 1;
        }
        Ok(replied)
    }

    /// Whether another request and its longest reply stay within the limits of the call.
    fn fits(&mut self, sent: u64) -> Result<bool> {
        if self.limits.sections.is_some_and(|most| self.replies >= most) {
            self.is_over = true;
            return Ok(false);
        }
        let taken = self.written.tokens_estimated.max(self.spent.unwrap_or_default());
        let next = sent + u64::from(language_model::longest_questions());
        if taken.saturating_add(next) <= self.limits.tokens {
            return Ok(true);
        }
        if taken == 0 {
            return Err(invalid(
                format!(
                    "max_tokens is {}, and the next section may take {next}",
                    self.limits.tokens
                ),
                format!("Give max_tokens => {next} or more, or 0 for an estimate of all sections."),
            ));
        }
        self.is_over = true;
        Ok(false)
    }

    /// Waits until the limit allows another request of this session, also after earlier calls. A cancel acts at once.
    fn wait_for_turn(&self) {
        let pause = self
            .limits
            .requests_per_minute
            .map(|requests| MINUTE.div_f64(requests as f64));
        if let (Some(pause), Some(last)) = (pause, LAST_REQUEST.get()) {
            loop {
                pgrx::check_for_interrupts!();
                let left = pause.saturating_sub(last.elapsed());
                if left.is_zero() {
                    break;
                }
                latch::wait(None, left);
            }
        }
        LAST_REQUEST.set(Some(Instant::now()));
    }

    /// Sends no further request; earlier replies are kept.
    fn stop(&mut self, problem: ErrorReport) -> Result<()> {
        if self.written.tokens_estimated == 0 {
            return Err(problem);
        }
        self.is_over = true;
        warn(
            PgSqlErrorCode::ERRCODE_WARNING,
            format!(
                "questions are written for some sections only: {}",
                in_one_line(&problem)
            ),
            "Call docsearch.write_questions again for the others.",
        );
        Ok(())
    }

    /// Stores the replies about a page, except for sections that have changed meanwhile.
    fn store(&mut self, caller: &mut Caller, page: &Page, replies: Vec<Request>, source: &str) -> Result<()> {
        let keys: Vec<String> = replies.iter().map(|request| request.key.clone()).collect();
        let all = count(replies.len())?;
        let (fruitful, fruitless): (Vec<_>, Vec<_>) = replies
            .into_iter()
            .map(|request| request.written)
            .partition(|written| !written.questions.is_empty());
        let done = count(fruitless.len())?;
        self.written.sections_done += done;
        if fruitful.is_empty() {
            return Ok(());
        }
        match subtransaction::run(|| indexer::add_questions(caller, self.project, page.id, fruitful, source)) {
            Ok(stored) => {
                self.written.sections_done += count(stored.len())?;
                self.written.sections_left += all - done - count(stored.len())?;
                self.written.questions_written += count(stored.into_iter().sum())?;
            }
            Err(problem) => {
                keys.iter().for_each(|key| remember(key));
                warn(
                    PgSqlErrorCode::ERRCODE_WARNING,
                    format!(
                        "questions of document \"{}\" are not stored: {}",
                        page.slug,
                        in_one_line(&problem)
                    ),
                    "Index the document again.",
                );
            }
        }
        Ok(())
    }
}

/// The requests about sections of a page without questions.
fn requests(caller: &mut Caller, project: &Project, page: &Page, source: &str) -> Result<Vec<Request>> {
    let text = statement::latest(
        caller,
        "SELECT d.title, d.body FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2",
        &[DatumWithOid::from(project.id), DatumWithOid::from(page.id)],
        |row| Ok((row.required::<String>(1)?, row.required::<String>(2)?)),
    )?;
    let Some((title, body)) = text.into_iter().next() else {
        return Ok(Vec::new());
    };
    let sections = Sections::new(&body);
    let mut stored = {
        let owner = &caller.as_owner()?;
        questions::read(
            owner,
            docsearch_core::values::id::DocumentId {
                project: project.id,
                document: page.id,
            },
        )?
    };
    let missing = questions::missing(&mut stored, &sections);
    let staying: Vec<&StoredQuestion> = stored.iter().filter(|stored| !stored.is_replaceable()).collect();
    let of_section = |anchor: &str| {
        let own = staying.iter().filter(|stored| stored.question.anchor == anchor);
        own.count()
    };
    let request = |section: SectionText<'_>| {
        let user = prompt::questions_prompt(&title, section.headings, section.text);
        Request {
            key: digest(&[&project.id.to_string(), source, &user]),
            user,
            titles: section
                .headings
                .last()
                .cloned()
                .into_iter()
                .chain([title.clone()])
                .collect(),
            written: WrittenQuestions {
                anchor: section.anchor.to_owned(),
                section_hash: sections.hash(section.anchor),
                questions: Vec::new(),
            },
        }
    };
    let room = MAX_QUESTIONS_PER_DOCUMENT.saturating_sub(staying.len()) / MAX_QUESTIONS;
    let has_room = |section: &SectionText<'_>| of_section(section.anchor) + MAX_QUESTIONS <= MAX_QUESTIONS_PER_SECTION;
    let requests = missing.into_iter().filter(has_room).take(room).map(request);
    Ok(requests.filter(|request| !is_remembered(&request.key)).collect())
}

/// The visible documents of a project, in the order of slugs.
fn pages(caller: &mut Caller, project: &Project, slugs: Option<Vec<String>>) -> Result<Vec<Page>> {
    let pages = statement::rows(
        caller,
        "SELECT d.id, d.slug FROM docsearch.document d
         WHERE d.project_id = $1 AND ($2 IS NULL OR d.slug = ANY ($2)) ORDER BY d.slug",
        &[DatumWithOid::from(project.id), DatumWithOid::from(slugs.clone())],
        |row| {
            Ok(Page {
                id: row.required(1)?,
                slug: row.required(2)?,
            })
        },
    )?;
    let known: HashSet<&str> = pages.iter().map(|page| page.slug.as_str()).collect();
    match slugs.iter().flatten().find(|slug| !known.contains(slug.as_str())) {
        Some(unknown) => Err(document::unknown(caller, unknown, Some(&project.name))?),
        None => Ok(pages),
    }
}

/// Whether the caller may change a document: its text is sent only then. The lock that shows this is released at once.
fn may_change(caller: &Caller, project: &Project, page: &Page) -> Result<bool> {
    let found = Cell::new(None);
    let undone = subtransaction::run(|| {
        let rows = statement::change(
            caller,
            "SELECT 1 FROM docsearch.document d WHERE d.project_id = $1 AND d.id = $2 FOR KEY SHARE",
            &[DatumWithOid::from(project.id), DatumWithOid::from(page.id)],
            |row| row.required::<i32>(1),
        )?;
        found.set(Some(!rows.is_empty()));
        Err::<(), _>(internal("the lock is not needed"))
    });
    match (found.get(), undone) {
        (None, Err(problem)) => Err(problem),
        (found, _) => Ok(found.unwrap_or_default()),
    }
}

/// Raises an error without a model whose name can be a source of questions.
fn require_source(model: Option<&str>) -> Result<()> {
    let problem = match model {
        None => "no language model is configured",
        Some(name) if !questions::is_source(&format!("model {name}")) => "the language model has no name",
        Some(_) => return Ok(()),
    };
    Err(error_with_hint(
        PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
        problem,
        "An administrator can set docsearch.llm_url and docsearch.llm_model. An estimate needs no model: max_tokens => 0, or docsearch questions write --estimate.",
    ))
}

fn tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(CHARS_PER_TOKEN) as u64
}

fn count(number: usize) -> Result<i64> {
    i64::try_from(number).map_err(internal)
}

fn remember(key: &str) {
    WITHOUT_QUESTIONS.with_borrow_mut(|known| {
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(key.to_owned());
    });
}

fn is_remembered(key: &str) -> bool {
    WITHOUT_QUESTIONS.with_borrow(|known| known.contains(key))
}
