//! Crawls of servers on the loopback interface.

mod canonical;
mod limits;
mod private;
mod server;

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use url::Url;

use super::cache::Cache;
use super::canonical::IgnoredLink;
use super::crawler::{Counts, CrawlOutput, CrawlPlan, CrawlSummary, CrawledPage, Crawler, Incomplete, VisitProblem};
use super::fetch::{Fetcher, Politeness};
use super::frontier::{Frontier, FrontierLimits, Visit};
use super::http::ClientOptions;
use super::scope::{Reach, Scope};
use crate::process::error::Error;
use crate::process::interrupt::Interrupt;
use server::{Reply, Request, Server};

/// The results of a crawl.
#[derive(Default)]
struct FoundPages {
    pages: Vec<CrawledPage>,
    problems: Vec<(String, String)>,
    /// Canonical links that are not believed.
    ignored: Vec<(String, String)>,
    /// Number of pages after which the crawl ends.
    stop_after: Option<(usize, Interrupt)>,
}

impl CrawlOutput for FoundPages {
    fn page(&mut self, page: CrawledPage) -> Result<(), Error> {
        self.pages.push(page);
        match &self.stop_after {
            Some((pages, stop)) if self.pages.len() == *pages => stop.raise(),
            _ => {}
        }
        Ok(())
    }

    fn problem(&mut self, visit: &Visit, problem: &VisitProblem) {
        self.problems.push((visit.url.path().to_owned(), problem.to_string()));
    }

    fn ignored_link(&mut self, url: &Url, reason: &IgnoredLink) {
        self.ignored.push((url.path().to_owned(), reason.to_string()));
    }

    fn progress(&mut self, _counts: &Counts) {}
}

impl FoundPages {
    fn paths(&self) -> Vec<&str> {
        self.pages.iter().map(|page| page.url.path()).collect()
    }

    fn problem(&self, path: &str) -> &str {
        let problem = self.problems.iter().find(|(own, _)| own == path);
        problem.map_or("", |(_, reason)| reason)
    }
}

/// The settings of a crawl.
struct TestCrawl {
    starts: Vec<Url>,
    cache: TempDir,
    client: ClientOptions,
    politeness: Politeness,
    reach: Reach,
    include: Vec<String>,
    follow: bool,
    max_pages: u64,
    max_depth: u32,
    frontier_limits: FrontierLimits,
    refresh: bool,
    stop_after: Option<usize>,
}

impl TestCrawl {
    fn new(start: Url) -> Self {
        Self {
            starts: vec![start],
            cache: tempfile::tempdir().unwrap(),
            client: ClientOptions {
                timeout: Duration::from_secs(600),
                max_page_bytes: 10_000,
                refuses: |_| None,
                use_proxy: false,
            },
            politeness: Politeness {
                delay: Duration::ZERO,
                retries: 0,
            },
            reach: Reach::Path,
            include: Vec::new(),
            follow: true,
            max_pages: 100,
            max_depth: 10,
            frontier_limits: FrontierLimits::default(),
            refresh: false,
            stop_after: None,
        }
    }

    fn crawl(&self) -> (FoundPages, CrawlSummary) {
        let stop = Interrupt::default();
        let cache = Cache::open(self.cache.path(), "test", self.refresh, 1 << 30).unwrap();
        let plan = CrawlPlan {
            scope: Scope::new(&self.starts, self.reach, &self.include, &[], false).unwrap(),
            follow: self.follow,
            max_pages: self.max_pages,
        };
        let mut frontier = Frontier::new(self.max_depth, self.frontier_limits);
        for url in &self.starts {
            frontier.add(Visit {
                url: url.clone(),
                depth: 0,
                from: None,
                changed: None,
            });
        }
        let mut fetcher = Fetcher::new(&self.client, self.politeness.clone(), stop.clone());
        let mut found = FoundPages {
            stop_after: self.stop_after.map(|pages| (pages, stop.clone())),
            ..FoundPages::default()
        };
        let summary = Crawler::new(&plan, frontier, &mut fetcher, &cache, &stop, &mut found)
            .run()
            .unwrap();
        if summary.incomplete != Some(Incomplete::Interrupted) {
            cache.finish().unwrap();
        }
        (found, summary)
    }
}

/// Three pages in a row: `/`, `/a` and `/b`.
fn small_site(request: &Request, _earlier: usize) -> Reply {
    match request.path.as_str() {
        "/" => Reply::html("<a href=/a>"),
        "/a" => Reply::html("<a href=/b>"),
        "/b" => Reply::html("<a href=/>"),
        _ => Reply::status(404),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn links_are_followed_and_the_crawler_names_itself() {
    let server = Server::start(small_site);
    let (found, summary) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/", "/a", "/b"]);
    assert_eq!(server.paths(), ["/", "/a", "/b"]);
    assert_eq!(summary.incomplete, None);
    let agent = server.requests()[0].header("User-Agent").unwrap().to_owned();
    assert_eq!(agent, format!("pg_docsearch/{}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_folder_of_the_start_and_patterns_bound_the_crawl() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/docs/guide/index.html" => Reply::html(
            "<a href=../><a href=a/b?x=1#y><a href=a/b><a href=/docs/guides><a href=//127.0.0.9/docs/guide/c>\
             <a href=mailto:a@x.org><a href=logo.png><a href=http://me:pw@127.0.0.1/docs/guide/d><a href=old/e>",
        ),
        "/docs/guide/a/b" => Reply::html("<a href=/docs/guide/out>"),
        "/docs/guide/out" => Reply::redirect("/docs/"),
        _ => Reply::html("other"),
    });
    let mut setting = TestCrawl::new(server.url("/docs/guide/index.html"));
    setting.include = vec!["/docs/guide/{a/**,out,index.html}".to_owned()];
    let (found, _) = setting.crawl();
    assert_eq!(found.paths(), ["/docs/guide/index.html", "/docs/guide/a/b"]);
    assert!(
        found
            .problem("/docs/guide/out")
            .contains("outside the scope of the crawl")
    );
    assert_eq!(
        server.paths(),
        ["/docs/guide/index.html", "/docs/guide/a/b", "/docs/guide/out"]
    );
}

#[test]
fn an_excluded_start_is_read_for_its_links() {
    let server = Server::start(small_site);
    let mut setting = TestCrawl::new(server.url("/"));
    setting.include = vec!["/a".to_owned()];
    let (found, _) = setting.crawl();
    assert_eq!(found.paths(), ["/a"]);
    assert!(found.problem("/").contains("--include"));
}

#[test]
fn robots_txt_is_obeyed() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => Reply::status(200).body("User-agent: pg_docsearch\nDisallow: /a\nCrawl-delay: 0.3"),
        "/" => Reply::html("<a href=/a><a href=/b><a href=/r>"),
        "/r" => Reply::redirect("/a"),
        _ => Reply::html(""),
    });
    let started = Instant::now();
    let (found, summary) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/", "/b"]);
    assert_eq!(found.problem("/a"), "disallowed by robots.txt");
    assert_eq!(found.problem("/r"), "disallowed by robots.txt");
    assert_eq!(server.paths(), ["/", "/b", "/r"]);
    assert!(
        started.elapsed() >= Duration::from_millis(900),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(summary.incomplete, None);
}

#[test]
fn nothing_is_fetched_while_robots_txt_cannot_be_read() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => Reply::status(500),
        _ => Reply::html(""),
    });
    let (found, summary) = TestCrawl::new(server.url("/")).crawl();
    assert!(found.pages.is_empty());
    assert!(
        found.problem("/").starts_with("robots.txt cannot be read: 500"),
        "{:?}",
        found.problems
    );
    assert_eq!(summary.counts.failed, 1);
    assert_eq!(server.paths(), Vec::<String>::new());
}

#[test]
fn a_site_that_is_down_is_reported_once() {
    let server = Server::start(|request, earlier| match (request.path.as_str(), earlier) {
        ("/robots.txt", 1) => Reply::status(500),
        _ => small_site(request, earlier),
    });
    let setting = TestCrawl::new(server.url("/"));
    setting.crawl();
    let (found, summary) = setting.crawl();
    assert_eq!(found.problems.len(), 1);
    assert_eq!(summary.incomplete, Some(Incomplete::Links));
    assert_eq!(setting.crawl().0.pages.len(), 3);
}

#[test]
fn robots_txt_may_be_elsewhere_or_refused() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => Reply::redirect("/real-robots.txt"),
        "/real-robots.txt" => Reply::status(200).body("User-agent: *\nDisallow: /a"),
        _ => small_site(request, 0),
    });
    assert_eq!(TestCrawl::new(server.url("/")).crawl().0.paths(), ["/"]);
    let server = Server::start(|request, earlier| match request.path.as_str() {
        "/robots.txt" => Reply::status(403),
        _ => small_site(request, earlier),
    });
    assert_eq!(TestCrawl::new(server.url("/")).crawl().0.pages.len(), 3);
}

#[test]
fn robots_tags_and_headers_are_obeyed() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::html("<a href=/noindex><a href=/nofollow><a href=/header>"),
        "/noindex" => Reply::html("<meta name=robots content=noindex><a href=/x>"),
        "/nofollow" => Reply::html("<meta name=robots content=nofollow><a href=/y>"),
        "/header" => Reply::html("<a href=/z>").header("X-Robots-Tag", "none"),
        _ => Reply::html(""),
    });
    let (found, _) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/", "/nofollow", "/x"]);
}

#[test]
fn a_meta_refresh_is_a_redirect() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::html("<meta http-equiv=refresh content='0; url=/b'>"),
        _ => small_site(request, 0),
    });
    let (found, _) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/b"]);
}

#[test]
fn a_second_crawl_sends_conditional_requests() {
    let server = Server::start(|request, earlier| {
        let known = request.header("If-None-Match") == Some("\"v1\"")
            || request.header("If-Modified-Since") == Some("Fri, 31 Dec 1999 23:59:59 GMT");
        match request.path.as_str() {
            _ if known => Reply::status(304),
            "/" => small_site(request, earlier).header("ETag", "\"v1\""),
            _ => small_site(request, earlier).header("Last-Modified", "Fri, 31 Dec 1999 23:59:59 GMT"),
        }
    });
    let mut setting = TestCrawl::new(server.url("/"));
    let (_, first) = setting.crawl();
    assert_eq!((first.counts.fetched, first.counts.cached), (3, 0));
    let (found, second) = setting.crawl();
    assert_eq!((second.counts.fetched, second.counts.cached), (0, 3));
    assert_eq!(found.paths(), ["/", "/a", "/b"]);
    assert_eq!(found.pages[1].body, b"<a href=/b>");
    setting.refresh = true;
    let (_, third) = setting.crawl();
    assert_eq!((third.counts.fetched, third.counts.cached), (3, 0));
}

#[test]
fn an_interrupted_crawl_continues() {
    let server = Server::start(small_site);
    let mut setting = TestCrawl::new(server.url("/"));
    setting.stop_after = Some(2);
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/", "/a"]);
    assert_eq!(summary.incomplete, Some(Incomplete::Interrupted));
    setting.stop_after = None;
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/", "/a", "/b"]);
    assert_eq!(summary.incomplete, None);
    assert_eq!(server.paths(), ["/", "/a", "/b"]);
    setting.crawl();
    assert_eq!(server.paths().len(), 6);
}

#[test]
fn a_temporary_failure_keeps_the_links_of_a_page() {
    let server = Server::start(|request, earlier| match (request.path.as_str(), earlier) {
        ("/a", 1) => Reply::status(500),
        _ => small_site(request, earlier),
    });
    let setting = TestCrawl::new(server.url("/"));
    setting.crawl();
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/", "/b"]);
    assert_eq!(found.problem("/a"), "500 Internal Server Error");
    assert_eq!(summary.incomplete, None);
    assert!(summary.failed.contains(server.url("/a").as_str()));
}

#[test]
fn a_missing_page_is_reported_but_not_a_failure() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::html("<a href=/gone><a href=/lost>"),
        "/gone" => Reply::status(410),
        _ => Reply::status(404),
    });
    let (found, summary) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.problem("/gone"), "410 Gone");
    assert_eq!(found.problem("/lost"), "404 Not Found");
    assert_eq!((summary.counts.skipped, summary.counts.failed), (2, 0));
    assert_eq!(summary.incomplete, None);
}

#[test]
fn other_types_are_skipped() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::html("<a href=/data><a href=/notes.md>"),
        "/data" => Reply::status(200)
            .header("Content-Type", "application/octet-stream")
            .body("x"),
        "/notes.md" => Reply::status(200)
            .header("Content-Type", "text/markdown")
            .body("[more](more.md)"),
        _ => Reply::status(200).body("# More"),
    });
    let (found, summary) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.problem("/data"), "application/octet-stream is not a page format");
    assert_eq!(found.paths(), ["/", "/notes.md", "/more.md"]);
    assert_eq!(summary.counts.failed, 0);
}

#[test]
fn a_response_that_cannot_be_decoded_is_not_retried() {
    let server = Server::start(|request, earlier| match request.path.as_str() {
        "/a" => Reply::html("").header("Content-Encoding", "gzip").body("no gzip"),
        _ => small_site(request, earlier),
    });
    let mut setting = TestCrawl::new(server.url("/"));
    setting.politeness.retries = 3;
    let (found, _) = setting.crawl();
    assert_eq!(found.paths(), ["/"]);
    assert!(!found.problem("/a").is_empty());
    assert_eq!(server.paths(), ["/", "/a"]);
}

#[test]
fn requests_are_delayed() {
    let server = Server::start(small_site);
    let mut setting = TestCrawl::new(server.url("/"));
    setting.politeness.delay = Duration::from_millis(200);
    let started = Instant::now();
    setting.crawl();
    assert!(
        started.elapsed() >= Duration::from_millis(600),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn a_list_is_not_followed() {
    let server = Server::start(small_site);
    let mut setting = TestCrawl::new(server.url("/"));
    setting.follow = false;
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/"]);
    assert_eq!(summary.incomplete, None);
}

#[test]
fn a_page_with_the_same_lastmod_is_not_requested() {
    let server = Server::start(small_site);
    let setting = TestCrawl::new(server.url("/"));
    let stop = Interrupt::default();
    let visit = |changed: &str| {
        let cache = Cache::open(setting.cache.path(), "test", false, 1 << 30).unwrap();
        let plan = CrawlPlan {
            scope: Scope::new(&setting.starts, Reach::Path, &[], &[], false).unwrap(),
            follow: false,
            max_pages: 10,
        };
        let mut frontier = Frontier::new(0, FrontierLimits::default());
        frontier.add(Visit {
            url: server.url("/a"),
            depth: 0,
            from: None,
            changed: Some(changed.to_owned()),
        });
        let mut fetcher = Fetcher::new(&setting.client, setting.politeness.clone(), stop.clone());
        let mut found = FoundPages::default();
        Crawler::new(&plan, frontier, &mut fetcher, &cache, &stop, &mut found)
            .run()
            .unwrap();
        cache.finish().unwrap();
        assert_eq!(found.paths(), ["/a"]);
        server.paths().len()
    };
    assert_eq!(visit("2024-01-02"), 1);
    assert_eq!(visit("2024-01-02"), 1);
    assert_eq!(visit("2024-01-03"), 2);
}
