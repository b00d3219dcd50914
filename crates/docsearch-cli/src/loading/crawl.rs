//! `docsearch crawl`: loads the pages of a site into a project.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use postgres::Client;
use serde_json::{Value, json};
use url::Url;

use docsearch_readers::document::{Document, ReadOptions};

use crate::connection::ConnectionArgs;
use crate::crawling::address;
use crate::crawling::cache::{self, Cache};
use crate::crawling::crawl_questions::CrawlQuestions;
use crate::crawling::crawler::{CrawlPlan, CrawlSummary, Crawler, Incomplete, no_pages_error};
use crate::crawling::delivery::{Delivery, DeliveryResult, Sink};
use crate::crawling::fetch::{Fetcher, Politeness};
use crate::crawling::frontier::{Frontier, FrontierLimits, Visit};
use crate::crawling::http::{ClientOptions, FetchFailure};
use crate::crawling::scope::{self, BadAddress, Reach, Scope};
use crate::crawling::sitemap::{SitemapEntry, SitemapLimits};
use crate::crawling::start::{self, StartArgs, Starts, bad_address};
use crate::loading::backlog::{self, Backlog, WaitArgs};
use crate::loading::index;
use crate::loading::printer::{OutputReader, Printer};
use crate::loading::project::{self, DEFAULT_BATCH_DOCUMENTS, Loader, Refusal};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use crate::process::outcome::Outcome;
use crate::terminal::Tally;
use crate::terminal::report::{Report, RunSummary};

/// Shown to a user who interrupts a crawl.
const HOW_TO_CONTINUE: &str = "fetched pages are cached; run the same command within a day to continue";

const AFTER_HELP: &str = "\
Examples:
  docsearch crawl https://docs.example.com/guide/ --project handbook
  docsearch crawl --sitemap https://docs.example.com/sitemap.xml --project handbook
  docsearch crawl https://wiki.intern/ --project wiki --allow-private --exclude '/user/**'
  docsearch crawl --url-list pages.txt --project handbook --dry-run | jq -r .title

Run it again after changes: unchanged pages are not sent again. Pages that no longer exist or are
no longer linked are deleted, unless a limit ended the crawl early. An interrupted crawl continues
where it stopped. Patterns of --include and --exclude match whole paths: * matches within a
segment, ** matches across segments.

The crawl respects robots.txt (as pg_docsearch), robots tags and canonical links. It sends a site
one request at a time, and does not connect to private addresses.

Exit codes:
  0    every page is indexed
  1    some pages or documents failed, or questions were left out; the others are indexed
  2    usage error, nothing could be fetched, no connection, or a database error
  130  interrupted after a complete batch; fetched pages are cached, and the next run continues";

/// Index a site: its pages in every format that `docsearch index` reads.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CrawlArgs {
    /// Page to start from; the crawl stays in its folder
    #[arg(value_name = "URL", required_unless_present_any = ["sitemap", "url_list"])]
    urls: Vec<String>,
    /// Project to index into; created if missing
    #[arg(long, value_name = "NAME")]
    project: String,
    /// Title of the project if it is created
    #[arg(long)]
    title: Option<String>,
    /// Prefix of every slug
    #[arg(long)]
    prefix: Option<String>,
    /// Name that marks the pages of this crawl [default: where it starts]
    #[arg(long, value_name = "NAME")]
    source_root: Option<String>,
    /// Visit the pages that a sitemap lists, by its URL or file name
    #[arg(long, value_name = "URL|FILE")]
    sitemap: Option<String>,
    /// Visit the pages that a file lists, one URL per line; - for standard input
    #[arg(long, value_name = "FILE")]
    url_list: Option<PathBuf>,
    /// Also follow links from the pages of a sitemap or list
    #[arg(long)]
    follow: bool,
    /// Which links to follow
    #[arg(long, value_enum, default_value_t = Reach::Path)]
    scope: Reach,
    /// Only pages whose path matches; may be repeated
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// No pages whose path matches; may be repeated
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Keep query strings: pages that differ in them are different pages
    #[arg(long)]
    keep_query: bool,
    /// Maximum number of addresses to visit
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    max_pages: u64,
    /// Maximum number of links between the start and a page
    #[arg(long, value_name = "N", default_value_t = 10)]
    max_depth: u32,
    /// Skip pages larger than this, in MB
    #[arg(long, value_name = "MB", default_value_t = index::DEFAULT_MAX_FILE_MEGABYTES, value_parser = clap::value_parser!(u64).range(1..=200))]
    max_page_size: u64,
    /// Seconds between two requests to a site; its robots.txt may ask for more
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds)]
    delay: Duration,
    /// Timeout of a request with its whole response, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    timeout: Duration,
    /// Number of retries after a temporary failure
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=10))]
    retries: u32,
    /// Folder for cached responses [default: pg_docsearch/crawl in the user's cache folder]
    #[arg(long, value_name = "DIRECTORY")]
    cache_dir: Option<PathBuf>,
    /// Maximum size of the cache, in MB
    #[arg(long, value_name = "MB", default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    max_cache: u64,
    /// Fetch all pages again, whatever is in the cache
    #[arg(long)]
    refresh: bool,
    /// Also connect to private, loopback and link-local addresses
    #[arg(long)]
    allow_private: bool,
    /// Use the proxy in HTTPS_PROXY or HTTP_PROXY; it resolves names, so private addresses cannot be refused
    #[arg(long, requires = "allow_private")]
    use_proxy: bool,
    /// File of questions that the pages answer, one JSON object a line: {"file": "/guide/retry", "heading": "Limits",
    /// "question": "..."}
    #[arg(long, value_name = "FILE")]
    questions: Option<PathBuf>,
    /// Documents per transaction
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BATCH_DOCUMENTS as u64, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    batch: u64,
    #[command(flatten)]
    wait: WaitArgs,
    /// Print the documents as JSON lines; needs no database
    #[arg(long)]
    dry_run: bool,
    /// Report progress and problems as JSON lines
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration <= Duration::from_secs(3600) => Ok(duration),
        _ => Err("not between 0 and 3600".to_owned()),
    }
}

pub(crate) fn run(args: &CrawlArgs, connection: &ConnectionArgs) -> Result<Outcome, Error> {
    let starts = Starts::read(&StartArgs {
        urls: &args.urls,
        sitemap: args.sitemap.as_deref(),
        url_list: args.url_list.as_deref(),
        source_root: args.source_root.as_deref(),
    })?;
    let cache_root = args.cache_dir.clone().map_or_else(cache::default_root, Ok)?;
    let stop = Interrupt::watch()?;
    let mut client = match args.dry_run {
        true => None,
        false => Some(connection.connect()?),
    };
    let cache = Cache::open(&cache_root, &starts.name, args.refresh, args.max_cache * 1_000_000)?;
    let crawl = Crawl {
        args,
        starts: &starts,
        cache: &cache,
        stop: &stop,
        report: if args.dry_run {
            Report::plain()
        } else {
            Report::new(args.json, Some(0))
        },
    };
    if cache.is_resumed() {
        crawl.report.note("continuing the interrupted crawl");
    }
    match &mut client {
        Some(client) => crawl.load(client),
        None => crawl.print(),
    }
}

struct Crawl<'a> {
    args: &'a CrawlArgs,
    starts: &'a Starts,
    cache: &'a Cache,
    stop: &'a Interrupt,
    report: Report,
}

/// The result of a crawl.
struct CrawlResult {
    summary: CrawlSummary,
    delivery: DeliveryResult,
    /// Paths of pages that failed: their documents are kept.
    kept_paths: Vec<String>,
}

impl CrawlResult {
    fn is_interrupted(&self) -> bool {
        self.summary.incomplete == Some(Incomplete::Interrupted)
    }

    fn outcome(&self, refused: u64) -> Outcome {
        let failed = self.summary.counts.failed + self.delivery.unread() + self.delivery.questions_left_out + refused;
        match failed {
            _ if self.is_interrupted() => Outcome::Interrupted,
            0 => Outcome::Complete,
            _ => Outcome::Partial,
        }
    }
}

impl Crawl<'_> {
    fn print(&self) -> Result<Outcome, Error> {
        let mut printer = Printer::new();
        let mut reader = OutputReader::IsReading;
        let mut sink = |document: Document| {
            reader = printer.print(&document)?;
            if reader == OutputReader::HasLeft {
                self.stop.raise();
            }
            Ok(())
        };
        let result = self.crawl_pages(&mut sink)?;
        printer.finish()?;
        if reader == OutputReader::HasLeft {
            return Ok(Outcome::Complete);
        }
        if result.is_interrupted() {
            self.report.note(&format!("interrupted: {HOW_TO_CONTINUE}"));
        } else {
            self.close(&result)?;
        }
        Ok(result.outcome(0))
    }

    fn load(&self, client: &mut Client) -> Result<Outcome, Error> {
        let args = self.args;
        project::ensure(client, &args.project, args.title.as_deref(), None)?;
        let batch = usize::try_from(args.batch).unwrap_or(DEFAULT_BATCH_DOCUMENTS);
        let mut loader = Loader::new(client, &args.project, batch)?;
        let mut sink = |document| loader.push(document).map(|_| ());
        let result = self.crawl_pages(&mut sink)?;
        let (mut tally, refusals) = if result.is_interrupted() {
            // Documents that were not sent are in the cache.
            loader.abandon()
        } else {
            loader.finish()?
        };
        self.report_refusals(&result, &refusals);
        if result.summary.counts.pages > 0 {
            match result.summary.incomplete {
                None => tally.deleted = self.delete_missing(client, &result)?,
                Some(Incomplete::Interrupted) => {}
                Some(reason) => self.report.warning("", format!("nothing was deleted: {reason}")),
            }
            project::finish_load(client, &args.project, &tally)?;
        }
        if !result.is_interrupted() {
            self.close(&result)?;
        }
        let backlog = match result.is_interrupted() {
            true => Backlog::default(),
            false => Backlog::settle(client, &args.project, args.wait, self.stop, &self.report)?,
        };
        let refused = tally.failed;
        self.report_end(&result, tally, &backlog);
        Ok(match result.outcome(refused) {
            _ if backlog.is_interrupted => Outcome::Interrupted,
            Outcome::Complete if backlog.has_failed() => Outcome::Partial,
            outcome => outcome,
        })
    }

    /// Crawls the pages; documents go to `sink`.
    fn crawl_pages(&self, sink: Sink<'_>) -> Result<CrawlResult, Error> {
        let args = self.args;
        let options = ClientOptions {
            timeout: args.timeout,
            max_page_bytes: args.max_page_size * 1_000_000,
            refuses: if args.allow_private {
                |_| None
            } else {
                address::private_class
            },
            use_proxy: args.use_proxy,
        };
        let politeness = Politeness {
            delay: args.delay,
            retries: args.retries,
        };
        let mut fetcher = Fetcher::new(&options, politeness, self.stop.clone());
        let listing = match self
            .starts
            .sitemap
            .as_ref()
            .map(|location| start::read_sitemap(location, &mut fetcher, SitemapLimits::default()))
        {
            None => start::SitemapListing::default(),
            Some(listing) => match listing? {
                Ok(listing) => listing,
                Err(FetchFailure::Interrupted) => return Ok(CrawlResult::interrupted()),
                Err(failure) => {
                    let name = args.sitemap.as_deref().unwrap_or_default();
                    self.report.failed(name, &failure);
                    return Err(no_pages_error(name, &failure.into()));
                }
            },
        };
        for (address, reason) in &listing.problems {
            self.report.failed(address, reason);
        }
        let (plan, frontier) = self.plan(listing.pages)?;
        let read_options = ReadOptions {
            prefix: args.prefix.clone(),
            max_file_size: options.max_page_bytes,
            ..ReadOptions::default()
        };
        let questions = args
            .questions
            .as_deref()
            .map(|path| CrawlQuestions::read(path, &self.report));
        let mut delivery = Delivery::new(
            &self.starts.name,
            read_options,
            sink,
            &self.report,
            questions.transpose()?,
        );
        let mut summary = Crawler::new(&plan, frontier, &mut fetcher, self.cache, self.stop, &mut delivery).run()?;
        if self.cache.is_full() {
            let reason = "the cache is full: the next crawl fetches the other pages again (--max-cache)";
            self.report.warning("", reason);
        }
        let delivery = delivery.finish(summary.incomplete.is_none());
        if let Some(text) = delivery.unknown_names.text() {
            self.report.note(&text);
        }
        summary.counts.skipped += delivery.skipped + delivery.questions_left_out;
        if !listing.problems.is_empty() {
            summary.counts.failed += listing.problems.len() as u64;
            summary.incomplete = summary.incomplete.or(Some(Incomplete::Links));
        }
        let failed = summary.failed.iter().filter_map(|url| Url::parse(url).ok());
        let failed = failed.map(|url| url.path().to_owned());
        Ok(CrawlResult {
            kept_paths: failed.chain(delivery.unread_paths.iter().cloned()).collect(),
            delivery,
            summary,
        })
    }

    /// The rules of the crawl and its first addresses.
    fn plan(&self, listed: Vec<SitemapEntry>) -> Result<(CrawlPlan, Frontier), Error> {
        let args = self.args;
        let starts = self.starts;
        let given: Vec<&str> = starts.list.iter().map(String::as_str).collect();
        let roots = starts.roots(|| {
            let all = given.iter().copied().chain(listed.iter().map(|page| page.url.as_str()));
            all.filter_map(|text| scope::parse(text).ok()).collect()
        });
        let scope = Scope::new(&roots, args.scope, &args.include, &args.exclude, args.keep_query)?;
        let mut frontier = Frontier::new(args.max_depth, FrontierLimits::default());
        let mut add = |url: Url, changed: Option<String>| {
            frontier.add(Visit {
                url,
                depth: 0,
                from: None,
                changed,
            });
        };
        for url in &starts.urls {
            add(
                scope
                    .parse(url.as_str())
                    .map_err(|reason| bad_address(url.as_str(), &reason))?,
                None,
            );
        }
        for text in given {
            match scope.parse(text) {
                Ok(url) if scope.contains(&url) => add(url, None),
                Ok(url) => self.report.skipped(url.as_str(), "outside the scope of the crawl"),
                Err(BadAddress::Credentials) => {
                    self.report.skipped("(hidden)", BadAddress::Credentials);
                }
                Err(reason) => self.report.skipped(text, reason),
            }
        }
        for page in listed {
            if let Ok(url) = scope.parse(&page.url)
                && scope.contains(&url)
            {
                add(url, page.changed);
            }
        }
        if frontier.waiting() == 0 {
            return Err(Error::Crawl(
                "no start address is within the scope of the crawl\n\
                 HINT:  Use --scope origin for the whole site, or change --include and --exclude."
                    .to_owned(),
            ));
        }
        let plan = CrawlPlan {
            follow: args.follow || (args.sitemap.is_none() && args.url_list.is_none()),
            max_pages: args.max_pages,
            scope,
        };
        Ok((plan, frontier))
    }

    /// Deletes the documents of pages that are gone. A page that failed keeps its document.
    fn delete_missing(&self, client: &mut Client, result: &CrawlResult) -> Result<u64, Error> {
        let keep = result.delivery.slugs.keys().cloned().collect();
        project::delete_missing(client, &self.args.project, &self.starts.name, keep, &result.kept_paths)
    }

    /// Ends the crawl: the next one starts from the beginning.
    fn close(&self, result: &CrawlResult) -> Result<(), Error> {
        self.cache.finish()?;
        let summary = &result.summary;
        if summary.incomplete.is_none() {
            self.cache.prune(&summary.failed)?;
        }
        match &summary.first_problem {
            Some((url, problem)) if summary.counts.pages == 0 => Err(no_pages_error(url.as_str(), problem)),
            _ => Ok(()),
        }
    }

    fn report_refusals(&self, result: &CrawlResult, refusals: &[Refusal]) {
        for refusal in refusals {
            let slugs = &result.delivery.slugs;
            let address = slugs.get(&refusal.slug).map_or(refusal.slug.as_str(), Url::as_str);
            self.report.failed(address, &refusal.reason);
        }
    }

    fn report_end(&self, result: &CrawlResult, mut tally: Tally, backlog: &Backlog) {
        let counts = &result.summary.counts;
        tally.failed += counts.failed + result.delivery.unread();
        let ending = RunSummary {
            tally: &tally,
            skipped: counts.skipped,
            interrupted: match (result.is_interrupted(), backlog.is_interrupted) {
                (true, _) => Some(HOW_TO_CONTINUE),
                (_, true) => Some(backlog::FOLLOWING),
                _ => None,
            },
        };
        let before = format!(
            "{} pages, {} responses fetched, {} from the cache; ",
            counts.pages, counts.fetched, counts.cached
        );
        let mut fields = json!({
            "visited": counts.visited, "pages": counts.pages, "fetched": counts.fetched, "cached": counts.cached,
            "complete": result.summary.incomplete.is_none(), "unknown_names": result.delivery.unknown_names,
        });
        if let (Some(fields), Value::Object(backlog)) = (fields.as_object_mut(), backlog.fields()) {
            fields.extend(backlog);
        }
        self.report.done(&before, &ending, fields);
    }
}

impl CrawlResult {
    fn interrupted() -> Self {
        Self {
            summary: CrawlSummary {
                incomplete: Some(Incomplete::Interrupted),
                ..CrawlSummary::default()
            },
            delivery: DeliveryResult::default(),
            kept_paths: Vec::new(),
        }
    }
}
