//! `docsearch questions write`: the server's language model writes questions, a few sections per transaction.

use std::time::{Duration, Instant};

use clap::Args;
use indicatif::ProgressBar;
use postgres::{Client, Row};

use crate::connection::ConnectionArgs;
use crate::loading::project;
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::process::outcome::Outcome;
use crate::terminal::report::progress_bar;
use crate::terminal::sanitize_line;

/// Maximum number of sections per transaction: an aborted one loses its replies.
const MAX_SECTIONS: i32 = 4;
/// Pages per transaction, which reads them all.
const PAGES: usize = 16;
/// Pause after the endpoint has rejected a request for exceeding its rate limit; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long to wait for an endpoint that rejects requests.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// Between two lines of progress when there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

const TOO_MANY_REQUESTS: &str = "53400";
const INVALID_ARGUMENT: &str = "22023";

const WRITE: &str = "SELECT sections_done, sections_left, questions_written, dropped, tokens_estimated, tokens_spent \
                     FROM docsearch.write_questions($1, $2, $3, $4, $5)";
const SLUGS: &str = "SELECT d.slug FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id \
                     WHERE p.name = $1 AND ($2::text[] IS NULL OR d.slug = ANY ($2)) ORDER BY d.slug";

#[derive(Debug, Args)]
pub(super) struct WriteArgs {
    /// Project of the pages
    #[arg(value_name = "PROJECT")]
    project: String,
    /// Stop before more than N tokens are spent
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(i32).range(1..))]
    max_tokens: i32,
    /// Only print the number of sections and an estimate of their tokens
    #[arg(long)]
    estimate: bool,
    /// Send at most N requests per minute
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    requests_per_minute: Option<i32>,
}

/// Totals of the calls.
#[derive(Debug, Default)]
struct WriteTotals {
    done: i64,
    left: i64,
    questions: i64,
    dropped: i64,
    estimated: i64,
    /// `None` if the endpoint did not report it for one of the replies.
    spent: Option<i64>,
}

impl WriteTotals {
    fn read(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            done: row.try_get(0)?,
            left: row.try_get(1)?,
            questions: row.try_get(2)?,
            dropped: row.try_get(3)?,
            estimated: row.try_get(4)?,
            spent: row.try_get(5)?,
        })
    }

    /// Tokens that count against the limit, as in the SQL function.
    fn counted_tokens(&self) -> i64 {
        self.estimated.max(self.spent.unwrap_or_default())
    }
}

/// Why no more calls are made.
enum StopReason {
    /// All pages were processed.
    Complete,
    /// The next section could exceed the limit on tokens.
    UsedUp,
    Interrupted,
}

pub(super) fn run(args: &WriteArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let mut client = connection.connect()?;
    let estimate = estimate(&mut client, &args.project)?;
    let text = format!(
        "{} sections without questions, about {} tokens",
        estimate.left, estimate.estimated
    );
    if args.estimate {
        println!("{text}");
        return Ok(Outcome::Complete);
    }
    eprintln!("{text}");
    let mut run = QuestionWriter {
        args,
        client,
        interrupt: Interrupt::watch()?,
        total: estimate.left,
        written: WriteTotals {
            spent: Some(0),
            ..WriteTotals::default()
        },
        taken: 0,
        waiting: None,
        bar: progress_bar(estimate.left.unsigned_abs()),
        last_line: None,
    };
    let ending = run.write();
    run.bar.finish_and_clear();
    let left = match &ending {
        // Pages may have been added, deleted and changed meanwhile.
        Ok(StopReason::Complete) => self::estimate(&mut run.client, &args.project)?.left,
        _ => run.total.saturating_sub(run.written.done).max(0),
    };
    if run.taken > 0 || ending.is_ok() {
        println!("{}", run.summary(left));
    }
    if run.written.done > 0 && matches!(ending, Ok(StopReason::Complete | StopReason::UsedUp)) {
        project::merge(&mut run.client, &args.project)?;
    }
    Ok(match ending? {
        StopReason::Interrupted => Outcome::Interrupted,
        StopReason::UsedUp => Outcome::Partial,
        StopReason::Complete if left > 0 => Outcome::Partial,
        StopReason::Complete => Outcome::Complete,
    })
}

/// The sections without questions and an estimate of their tokens. Sends nothing to the model.
fn estimate(client: &mut Client, project: &str) -> Result<WriteTotals, Error> {
    let (pages, limit) = (None::<Vec<String>>, None::<i64>);
    WriteTotals::read(&client.query_one(WRITE, &[&project, &0_i64, &pages, &limit, &limit])?)
}

struct QuestionWriter<'a> {
    args: &'a WriteArgs,
    client: Client,
    interrupt: Interrupt,
    /// Sections without questions at the start.
    total: i64,
    written: WriteTotals,
    /// Tokens counted against the limit.
    taken: i64,
    /// Since when the endpoint rejects requests, and the next pause.
    waiting: Option<(Instant, Duration)>,
    bar: ProgressBar,
    last_line: Option<Instant>,
}

impl QuestionWriter<'_> {
    fn write(&mut self) -> Result<StopReason, Error> {
        let all = self.slugs(None)?;
        for pages in all.chunks(PAGES) {
            let mut pages = pages.to_vec();
            loop {
                if self.interrupt.is_raised() {
                    return Ok(StopReason::Interrupted);
                }
                let limit = i64::from(self.args.max_tokens) - self.taken;
                if limit <= 0 {
                    return Ok(StopReason::UsedUp);
                }
                match self.call(limit, &pages) {
                    Ok(written) => {
                        self.waiting = None;
                        let (done, left) = (written.done, written.left);
                        self.add(&written);
                        if done == 0 || left == 0 {
                            break;
                        }
                    }
                    // All arguments but the limit on tokens were accepted before.
                    Err(error) if error.sqlstate() == Some(INVALID_ARGUMENT) && self.taken > 0 => {
                        return Ok(StopReason::UsedUp);
                    }
                    Err(error) if error.sqlstate() == Some(TOO_MANY_REQUESTS) => {
                        if !self.wait(error)? {
                            return Ok(StopReason::Interrupted);
                        }
                    }
                    Err(error) if error.is_not_found() => {
                        let stored = self.slugs(Some(pages.clone()))?;
                        if stored.len() == pages.len() {
                            return Err(error);
                        }
                        pages = stored;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(StopReason::Complete)
    }

    /// The pages of the project, or those in `of` that still exist.
    fn slugs(&mut self, of: Option<Vec<String>>) -> Result<Vec<String>, Error> {
        let rows = self.client.query(SLUGS, &[&self.args.project, &of])?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    fn call(&mut self, limit: i64, pages: &[String]) -> Result<WriteTotals, Error> {
        let requests = self.args.requests_per_minute;
        // With a limit on requests, a transaction lasts about a quarter of a minute.
        let sections = requests.map_or(MAX_SECTIONS, |requests| (requests / 4).clamp(1, MAX_SECTIONS));
        let row = self.client.query_one(
            WRITE,
            &[
                &self.args.project,
                &limit,
                &pages,
                &i64::from(sections),
                &requests.map(i64::from),
            ],
        )?;
        WriteTotals::read(&row)
    }

    fn add(&mut self, written: &WriteTotals) {
        let all = &mut self.written;
        all.done += written.done;
        all.questions += written.questions;
        all.dropped += written.dropped;
        all.estimated += written.estimated;
        // A call that sent nothing reports no tokens.
        if written.estimated > 0 {
            all.spent = all.spent.zip(written.spent).map(|(all, one)| all.saturating_add(one));
        }
        self.taken += written.counted_tokens();
        self.bar.set_position(self.written.done.unsigned_abs());
        self.bar.set_message(self.tokens());
        let is_due = self.last_line.is_none_or(|last| last.elapsed() >= LINE_INTERVAL);
        if is_due && written.done > 0 && self.bar.is_hidden() {
            self.last_line = Some(Instant::now());
            eprintln!("{} of {} sections, {}", self.written.done, self.total, self.tokens());
        }
    }

    /// Waits for an endpoint that rejects requests. Returns `false` if the user interrupts. Rejected requests cost
    /// nothing, and the server sends none while the endpoint has asked it to wait.
    fn wait(&mut self, error: Error) -> Result<bool, Error> {
        let (since, pause) = self.waiting.unwrap_or((Instant::now(), FIRST_PAUSE));
        if since.elapsed() + pause > MAX_WAIT {
            return Err(error);
        }
        self.waiting = Some((since, (pause * 2).min(LONGEST_PAUSE)));
        let text = error.to_string();
        let reason = text.lines().next().unwrap_or_default();
        let line = sanitize_line(&format!("{reason}; trying again in {} s", pause.as_secs()));
        self.bar.suspend(|| eprintln!("{line}"));
        Ok(self.interrupt.sleep(pause))
    }

    fn tokens(&self) -> String {
        match self.written.spent {
            Some(spent) => format!("{spent} tokens"),
            None => format!("about {} tokens", self.written.estimated),
        }
    }

    fn summary(&self, left: i64) -> String {
        let WriteTotals {
            done,
            questions,
            dropped,
            ..
        } = self.written;
        format!(
            "{done} sections done, {left} left; {questions} questions written, {dropped} lines dropped; {} spent",
            self.tokens()
        )
    }
}
