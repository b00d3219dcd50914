//! Crawls of servers on the loopback interface.

mod server;

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use url::Url;

use super::address;
use super::cache::Cache;
use super::crawler::{Counts, Crawler, Incomplete, Output, Page, Plan, Problem, Summary};
use super::fetch::{Fetcher, Manners};
use super::frontier::{Frontier, Memory, Visit};
use super::http::{Client, ClientOptions, Failure, Kind, Validators};
use super::scope::{Reach, Scope};
use super::sitemap::Allowance;
use super::start::{self, Place};
use crate::error::Error;
use crate::interrupt::Interrupt;
use server::{Reply, Request, Server};

/// What one crawl found.
#[derive(Default)]
struct Found {
    pages: Vec<Page>,
    problems: Vec<(String, String)>,
    /// Ends the crawl after so many pages.
    stop_after: Option<(usize, Interrupt)>,
}

impl Output for Found {
    fn page(&mut self, page: Page) -> Result<(), Error> {
        self.pages.push(page);
        match &self.stop_after {
            Some((pages, stop)) if self.pages.len() == *pages => stop.raise(),
            _ => {}
        }
        Ok(())
    }

    fn problem(&mut self, visit: &Visit, problem: &Problem) {
        self.problems.push((visit.url.path().to_owned(), problem.to_string()));
    }

    fn progress(&mut self, _counts: &Counts) {}
}

impl Found {
    fn paths(&self) -> Vec<&str> {
        self.pages.iter().map(|page| page.url.path()).collect()
    }

    fn problem(&self, path: &str) -> &str {
        let problem = self.problems.iter().find(|(own, _)| own == path);
        problem.map_or("", |(_, reason)| reason)
    }
}

/// A crawl with what can be set.
struct Setting {
    starts: Vec<Url>,
    cache: TempDir,
    client: ClientOptions,
    manners: Manners,
    reach: Reach,
    include: Vec<String>,
    follow: bool,
    max_pages: u64,
    max_depth: u32,
    memory: Memory,
    refresh: bool,
    stop_after: Option<usize>,
}

impl Setting {
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
            manners: Manners {
                delay: Duration::ZERO,
                retries: 0,
            },
            reach: Reach::Path,
            include: Vec::new(),
            follow: true,
            max_pages: 100,
            max_depth: 10,
            memory: Memory::default(),
            refresh: false,
            stop_after: None,
        }
    }

    fn crawl(&self) -> (Found, Summary) {
        let stop = Interrupt::default();
        let cache = Cache::open(self.cache.path(), "test", self.refresh, 1 << 30).unwrap();
        let plan = Plan {
            scope: Scope::new(&self.starts, self.reach, &self.include, &[], false).unwrap(),
            follow: self.follow,
            max_pages: self.max_pages,
        };
        let mut frontier = Frontier::new(self.max_depth, self.memory);
        for url in &self.starts {
            frontier.add(Visit {
                url: url.clone(),
                depth: 0,
                from: None,
                changed: None,
            });
        }
        let mut fetcher = Fetcher::new(&self.client, self.manners.clone(), stop.clone());
        let mut found = Found {
            stop_after: self.stop_after.map(|pages| (pages, stop.clone())),
            ..Found::default()
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

/// Stands for the check of addresses, which would refuse every server on the loopback interface.
fn second_is_private(address: IpAddr) -> Option<&'static str> {
    (address == Ipv4Addr::new(127, 0, 0, 2)).then_some("a private address")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn links_are_followed_and_the_crawler_names_itself() {
    let server = Server::start(small_site);
    let (found, summary) = Setting::new(server.url("/")).crawl();
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
    let mut setting = Setting::new(server.url("/docs/guide/index.html"));
    setting.include = vec!["/docs/guide/{a/**,out,index.html}".to_owned()];
    let (found, _) = setting.crawl();
    assert_eq!(found.paths(), ["/docs/guide/index.html", "/docs/guide/a/b"]);
    assert!(found.problem("/docs/guide/out").contains("outside of the crawl"));
    assert_eq!(
        server.paths(),
        ["/docs/guide/index.html", "/docs/guide/a/b", "/docs/guide/out"]
    );
}

#[test]
fn a_start_that_the_patterns_leave_out_gives_its_links() {
    let server = Server::start(small_site);
    let mut setting = Setting::new(server.url("/"));
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
    let (found, summary) = Setting::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/", "/b"]);
    assert_eq!(found.problem("/a"), "robots.txt forbids it");
    assert_eq!(found.problem("/r"), "robots.txt forbids it");
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
    let (found, summary) = Setting::new(server.url("/")).crawl();
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
fn a_site_that_is_down_is_told_once() {
    let server = Server::start(|request, earlier| match (request.path.as_str(), earlier) {
        ("/robots.txt", 1) => Reply::status(500),
        _ => small_site(request, earlier),
    });
    let setting = Setting::new(server.url("/"));
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
    assert_eq!(Setting::new(server.url("/")).crawl().0.paths(), ["/"]);
    let server = Server::start(|request, earlier| match request.path.as_str() {
        "/robots.txt" => Reply::status(403),
        _ => small_site(request, earlier),
    });
    assert_eq!(Setting::new(server.url("/")).crawl().0.pages.len(), 3);
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
    let (found, _) = Setting::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/", "/nofollow", "/x"]);
}

#[test]
fn canonical_addresses_are_taken_once() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::html("<a href=/a><a href=/copy><a href=/ping><a href=/pong><a href=/far>"),
        "/copy" => Reply::html("<link rel=canonical href=/a>"),
        // Two that name each other.
        "/ping" => Reply::html("<link rel=canonical href=/pong>"),
        "/pong" => Reply::html("<link rel=canonical href=/ping>"),
        "/slash" => Reply::html("<link rel=canonical href=/slash/>"),
        // The canonical address leads back.
        "/slash/" => Reply::redirect("/slash"),
        "/far" => Reply::html("<link rel=canonical href=https://elsewhere.example/far><a href=/slash>"),
        _ => Reply::html(""),
    });
    let (found, _) = Setting::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/", "/a", "/pong", "/far", "/slash"]);
    assert!(found.problem("/copy").ends_with("/a"));
}

#[test]
fn pages_that_send_their_readers_away_are_redirects() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::html("<meta http-equiv=refresh content='0; url=/b'>"),
        _ => small_site(request, 0),
    });
    let (found, _) = Setting::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/b"]);
}

#[test]
fn redirects_have_an_end() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::redirect("/1"),
        "/1" => Reply::redirect("/2"),
        "/2" => Reply::html("<a href=/loop><a href=/file>"),
        "/loop" => Reply::redirect("/pool"),
        "/pool" => Reply::redirect("/loop"),
        "/file" => Reply::redirect("file:///etc/passwd"),
        _ => Reply::status(404),
    });
    let (found, _) = Setting::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/2"]);
    assert_eq!(found.problem("/loop"), "more than 5 redirects");
    assert!(found.problem("/file").contains("only http and https"));
}

#[test]
fn private_addresses_are_not_reached_however_they_are_written() {
    let server = Server::start(small_site);
    let port = server.url("/").port().unwrap();
    for host in [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "[::ffff:127.0.0.1]",
        "0",
    ] {
        let mut setting = Setting::new(Url::parse(&format!("http://{host}:{port}/")).unwrap());
        setting.client.refuses = address::private_class;
        let (found, summary) = setting.crawl();
        assert!(found.pages.is_empty(), "{host}");
        assert!(found.problem("/").contains("address"), "{host}: {:?}", found.problems);
        let (url, problem) = summary.first_problem.unwrap();
        assert!(
            super::nothing(url.as_str(), &problem)
                .to_string()
                .contains("--allow-private")
        );
    }
    assert!(server.paths().is_empty());
}

#[test]
fn redirects_to_private_addresses_are_refused() {
    let inside = Server::start_at("127.0.0.2:0", |_, _| Reply::html("secret"));
    let target = inside.url("/metadata").to_string();
    let outside = Server::start(move |request, _| match request.path.as_str() {
        "/" => Reply::html("<a href=/in>"),
        "/in" => Reply::redirect(&target),
        _ => Reply::status(404),
    });
    let mut setting = Setting::new(outside.url("/"));
    // Even where the scope has room for it.
    setting.starts.push(inside.url("/"));
    setting.client.refuses = second_is_private;
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/"]);
    assert_eq!(found.problem("/in"), "127.0.0.2 is a private address (127.0.0.2)");
    assert_eq!(summary.counts.failed, 2);
    assert!(inside.paths().is_empty());
}

#[test]
fn robots_txt_does_not_lead_to_private_addresses() {
    let inside = Server::start_at("127.0.0.2:0", |_, _| Reply::html("secret"));
    let target = inside.url("/robots").to_string();
    let outside = Server::start(move |request, _| match request.path.as_str() {
        "/robots.txt" => Reply::redirect(&target),
        _ => Reply::html(""),
    });
    let mut setting = Setting::new(outside.url("/"));
    setting.client.refuses = second_is_private;
    assert!(setting.crawl().0.pages.is_empty());
    assert!(inside.paths().is_empty());
}

#[test]
fn a_second_crawl_is_sent_nothing_that_it_has() {
    let server = Server::start(|request, earlier| {
        let known = request.header("If-None-Match") == Some("\"v1\"")
            || request.header("If-Modified-Since") == Some("Fri, 31 Dec 1999 23:59:59 GMT");
        match request.path.as_str() {
            _ if known => Reply::status(304),
            "/" => small_site(request, earlier).header("ETag", "\"v1\""),
            _ => small_site(request, earlier).header("Last-Modified", "Fri, 31 Dec 1999 23:59:59 GMT"),
        }
    });
    let mut setting = Setting::new(server.url("/"));
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
fn an_interrupted_crawl_goes_on() {
    let server = Server::start(small_site);
    let mut setting = Setting::new(server.url("/"));
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
fn a_busy_server_is_left_alone_for_as_long_as_it_asks() {
    let server = Server::start(|request, earlier| match (request.path.as_str(), earlier) {
        ("/", 0) => Reply::status(429).header("Retry-After", "1"),
        ("/a", 0) => Reply::status(503).header("Retry-After", "86400"),
        _ => small_site(request, earlier),
    });
    let mut setting = Setting::new(server.url("/"));
    setting.manners.retries = 1;
    let started = Instant::now();
    let (found, summary) = setting.crawl();
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(found.paths(), ["/"]);
    assert_eq!(found.problem("/a"), "the server asks to come back in 86400 s");
    assert_eq!(server.paths(), ["/", "/", "/a"]);
    assert_eq!(summary.incomplete, Some(Incomplete::Links));
}

#[test]
fn a_page_that_fails_for_now_keeps_its_links() {
    let server = Server::start(|request, earlier| match (request.path.as_str(), earlier) {
        ("/a", 1) => Reply::status(500),
        _ => small_site(request, earlier),
    });
    let setting = Setting::new(server.url("/"));
    setting.crawl();
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/", "/b"]);
    assert_eq!(found.problem("/a"), "500 Internal Server Error");
    assert_eq!(summary.incomplete, None);
    assert!(summary.failed.contains(server.url("/a").as_str()));
}

#[test]
fn a_missing_page_is_told_and_no_failure() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::html("<a href=/gone><a href=/lost>"),
        "/gone" => Reply::status(410),
        _ => Reply::status(404),
    });
    let (found, summary) = Setting::new(server.url("/")).crawl();
    assert_eq!(found.problem("/gone"), "410 Gone");
    assert_eq!(found.problem("/lost"), "404 Not Found");
    assert_eq!((summary.counts.skipped, summary.counts.failed), (2, 0));
    assert_eq!(summary.incomplete, None);
}

#[test]
fn large_bodies_are_not_read_however_they_are_packed() {
    let bomb = gzip(&vec![b' '; 5_000_000]);
    let server = Server::start(move |request, _| match request.path.as_str() {
        "/" => Reply::html("<a href=/large><a href=/bomb><a href=/packed>"),
        "/large" => Reply::html(&"x".repeat(10_001)),
        "/bomb" => Reply::html("").header("Content-Encoding", "gzip").body(&bomb),
        _ => Reply::html("").header("Content-Encoding", "gzip").body(gzip(b"text")),
    });
    let (found, summary) = Setting::new(server.url("/")).crawl();
    assert_eq!(found.problem("/large"), "larger than 10000 bytes");
    assert_eq!(found.problem("/bomb"), "larger than 10000 bytes");
    assert_eq!(found.paths(), ["/", "/packed"]);
    assert_eq!(found.pages[1].body, b"text");
    assert_eq!(summary.counts.failed, 2);
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
    let (found, summary) = Setting::new(server.url("/")).crawl();
    assert_eq!(found.problem("/data"), "application/octet-stream is no page");
    assert_eq!(found.paths(), ["/", "/notes.md", "/more.md"]);
    assert_eq!(summary.counts.failed, 0);
}

#[test]
fn an_answer_that_makes_no_sense_is_not_asked_for_again() {
    let server = Server::start(|request, earlier| match request.path.as_str() {
        "/a" => Reply::html("").header("Content-Encoding", "gzip").body("no gzip"),
        _ => small_site(request, earlier),
    });
    let mut setting = Setting::new(server.url("/"));
    setting.manners.retries = 3;
    let (found, _) = setting.crawl();
    assert_eq!(found.paths(), ["/"]);
    assert!(!found.problem("/a").is_empty());
    assert_eq!(server.paths(), ["/", "/a"]);
}

#[test]
fn a_slow_server_is_not_waited_for() {
    // Says nothing for as long as the test runs.
    let (_release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let server = Server::start(move |_, _| {
        held.lock().unwrap().recv().ok();
        Reply::html("late")
    });
    let mut setting = Setting::new(server.url("/"));
    setting.client.timeout = Duration::from_millis(300);
    let answer = Client::new(&setting.client).get(&server.url("/"), Kind::Page, &Validators::default());
    assert_eq!(answer.map(|_| ()), Err(Failure::Timeout));
    // It is asked for `robots.txt` first.
    let (found, _) = setting.crawl();
    assert_eq!(found.problem("/"), "robots.txt cannot be read: no answer in time");
}

#[test]
fn a_long_robots_txt_is_read_to_its_limit() {
    let mut robots = b"User-agent: *\nDisallow: /a\n".to_vec();
    robots.resize(20_000_000, b'#');
    robots.extend_from_slice(b"\nDisallow: /\n");
    let packed = gzip(&robots);
    let server = Server::start(move |request, earlier| match request.path.as_str() {
        "/robots.txt" => Reply::status(200).header("Content-Encoding", "gzip").body(&packed),
        _ => small_site(request, earlier),
    });
    let (found, _) = Setting::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/"]);
    assert_eq!(found.problem("/a"), "robots.txt forbids it");
}

#[test]
fn a_site_without_an_end_does_not_fill_the_memory() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => Reply::status(404),
        path => Reply::html(&format!(
            "<a href={path}a/><a href={path}b/><a href=/{}>",
            "x".repeat(5_000)
        )),
    });
    let mut setting = Setting::new(server.url("/"));
    setting.memory.addresses = 4;
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/", "/a/", "/b/", "/a/a/"]);
    assert_eq!(summary.incomplete, Some(Incomplete::Memory));
}

#[test]
fn a_server_that_is_gone_is_not_asked_for_every_page() {
    let server = Server::start(|request, _| {
        let links: String = (0..20).map(|page| format!("<a href=/{page}>")).collect();
        match request.path.as_str() {
            "/" => Reply::html(&links),
            "/robots.txt" => Reply::status(404),
            _ => Reply::status(503),
        }
    });
    let mut setting = Setting::new(server.url("/"));
    setting.manners.retries = 0;
    let (found, summary) = setting.crawl();
    assert_eq!(server.paths().len(), 6);
    assert_eq!(summary.counts.failed, 20);
    assert!(found.problem("/19").contains("did not answer"));
}

#[test]
fn limits_make_a_crawl_incomplete() {
    let server = Server::start(small_site);
    let mut setting = Setting::new(server.url("/"));
    setting.max_pages = 2;
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/", "/a"]);
    assert_eq!(summary.incomplete, Some(Incomplete::Pages));
    setting.max_pages = 3;
    assert_eq!(setting.crawl().1.incomplete, None);
    setting.max_depth = 1;
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/", "/a"]);
    assert_eq!(summary.incomplete, Some(Incomplete::Depth));
}

#[test]
fn requests_keep_their_distance() {
    let server = Server::start(small_site);
    let mut setting = Setting::new(server.url("/"));
    setting.manners.delay = Duration::from_millis(200);
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
    let mut setting = Setting::new(server.url("/"));
    setting.follow = false;
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/"]);
    assert_eq!(summary.incomplete, None);
}

#[test]
fn an_index_of_sitemaps_packed_and_broken() {
    let server = Server::start(|request, _| {
        let host = format!("http://{}", request.header("Host").unwrap());
        match request.path.as_str() {
            "/index.xml" => Reply::status(200).body(format!(
                "<sitemapindex><sitemap><loc>{host}/1.xml.gz</loc></sitemap><sitemap><loc>{host}/2.xml</loc></sitemap>\
                 <sitemap><loc>http://127.0.0.9/3.xml</loc></sitemap><sitemap><loc>{host}/index.xml</loc></sitemap>\
                 </sitemapindex>"
            )),
            "/1.xml.gz" => Reply::status(200).header("Content-Type", "application/gzip").body(gzip(
                format!("<urlset><url><loc>{host}/a</loc><lastmod>2024-01-02</lastmod></url></urlset>").as_bytes(),
            )),
            _ => Reply::status(404),
        }
    });
    let setting = Setting::new(server.url("/"));
    let mut fetcher = Fetcher::new(&setting.client, setting.manners.clone(), Interrupt::default());
    let place = Place::parse(server.url("/index.xml").as_str()).unwrap();
    let listing = start::read_sitemap(&place, &mut fetcher, Allowance::default())
        .unwrap()
        .unwrap();
    assert_eq!(listing.pages.len(), 1);
    assert_eq!(listing.pages[0].url, server.url("/a").as_str());
    assert_eq!(listing.pages[0].changed.as_deref(), Some("2024-01-02"));
    let reasons: Vec<&str> = listing.problems.iter().map(|(_, reason)| reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "404 Not Found",
            "on another site than the sitemap that lists it",
            "a list of sitemaps within another"
        ]
    );
}

#[test]
fn sitemaps_have_a_limit_together() {
    let server = Server::start(|request, _| {
        let host = format!("http://{}", request.header("Host").unwrap());
        match request.path.as_str() {
            "/robots.txt" => Reply::status(404),
            "/index.xml" => Reply::status(200).body(format!(
                "<sitemapindex>{}</sitemapindex>",
                (0..100)
                    .map(|number| format!("<sitemap><loc>{host}/{number}.xml</loc></sitemap>"))
                    .collect::<String>()
            )),
            path => Reply::status(200).body(format!("{host}{path}/a\n{host}{path}/b\n")),
        }
    });
    let setting = Setting::new(server.url("/"));
    let read = |path: &str, allowance: Allowance| {
        let mut fetcher = Fetcher::new(&setting.client, setting.manners.clone(), Interrupt::default());
        let place = Place::parse(server.url(path).as_str()).unwrap();
        let before = server.paths().len();
        let listing = start::read_sitemap(&place, &mut fetcher, allowance).unwrap().unwrap();
        (listing.pages.len(), listing.problems, server.paths().len() - before)
    };
    let (pages, problems, requests) = read("/index.xml", Allowance::default());
    assert_eq!((pages, problems.len(), requests), (200, 0, 101));
    // The 100 sitemaps of the index count, too.
    let addresses = |addresses| Allowance {
        addresses,
        ..Allowance::default()
    };
    let (pages, problems, requests) = read("/index.xml", addresses(105));
    assert_eq!((pages, requests), (5, 4));
    let said = "the sitemaps list more than a crawl takes";
    assert_eq!(problems[0], (server.url("/2.xml").to_string(), said.to_owned()));
    assert_eq!(
        problems[1],
        (
            server.url("/3.xml").to_string(),
            format!("{said}; 97 sitemaps are not read")
        )
    );
    let few_bytes = Allowance {
        bytes: 10_000,
        ..Allowance::default()
    };
    let (pages, problems, requests) = read("/index.xml", few_bytes);
    assert!(
        pages < 200 && requests < 101 && problems.len() == 1,
        "{pages} {requests} {problems:?}"
    );
    let (pages, problems, _) = read("/1.xml", addresses(1));
    assert_eq!((pages, problems.len()), (1, 1));
}

#[test]
fn a_page_that_its_sitemap_calls_unchanged_is_not_asked_for() {
    let server = Server::start(small_site);
    let setting = Setting::new(server.url("/"));
    let stop = Interrupt::default();
    let visit = |changed: &str| {
        let cache = Cache::open(setting.cache.path(), "test", false, 1 << 30).unwrap();
        let plan = Plan {
            scope: Scope::new(&setting.starts, Reach::Path, &[], &[], false).unwrap(),
            follow: false,
            max_pages: 10,
        };
        let mut frontier = Frontier::new(0, Memory::default());
        frontier.add(Visit {
            url: server.url("/a"),
            depth: 0,
            from: None,
            changed: Some(changed.to_owned()),
        });
        let mut fetcher = Fetcher::new(&setting.client, setting.manners.clone(), stop.clone());
        let mut found = Found::default();
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
