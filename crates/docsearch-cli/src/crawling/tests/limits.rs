//! Limits on size, redirects and time.

use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use super::super::crawler::Incomplete;
use super::super::fetch::Fetcher;
use super::super::http::{Client, FetchFailure, RequestKind, Validators};
use super::super::sitemap::SitemapLimits;
use super::super::start::{self, SitemapLocation};
use super::server::{Reply, Server};
use super::{TestCrawl, gzip, small_site};
use crate::process::interrupt::Interrupt;

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
    let (found, _) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/2"]);
    assert_eq!(found.problem("/loop"), "more than 5 redirects");
    assert!(found.problem("/file").contains("only http and https"));
}

#[test]
fn retry_after_is_obeyed() {
    let server = Server::start(|request, earlier| match (request.path.as_str(), earlier) {
        ("/", 0) => Reply::status(429).header("Retry-After", "1"),
        ("/a", 0) => Reply::status(503).header("Retry-After", "86400"),
        _ => small_site(request, earlier),
    });
    let mut setting = TestCrawl::new(server.url("/"));
    setting.politeness.retries = 1;
    let started = Instant::now();
    let (found, summary) = setting.crawl();
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(found.paths(), ["/"]);
    assert_eq!(found.problem("/a"), "the server asks to retry after 86400 s");
    assert_eq!(server.paths(), ["/", "/", "/a"]);
    assert_eq!(summary.incomplete, Some(Incomplete::Links));
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
    let (found, summary) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.problem("/large"), "larger than 10000 bytes");
    assert_eq!(found.problem("/bomb"), "larger than 10000 bytes");
    assert_eq!(found.paths(), ["/", "/packed"]);
    assert_eq!(found.pages[1].body, b"text");
    assert_eq!(summary.counts.failed, 2);
}

#[test]
fn a_slow_server_times_out() {
    // Sends nothing while the test runs.
    let (_release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let server = Server::start(move |_, _| {
        held.lock().unwrap().recv().ok();
        Reply::html("late")
    });
    let mut setting = TestCrawl::new(server.url("/"));
    setting.client.timeout = Duration::from_millis(300);
    let answer = Client::new(&setting.client).get(&server.url("/"), RequestKind::Page, &Validators::default());
    assert_eq!(answer.map(|_| ()), Err(FetchFailure::Timeout));
    // The first request is for `robots.txt`.
    let (found, _) = setting.crawl();
    assert_eq!(found.problem("/"), "robots.txt cannot be read: timed out");
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
    let (found, _) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/"]);
    assert_eq!(found.problem("/a"), "disallowed by robots.txt");
}

#[test]
fn an_endless_site_does_not_fill_the_memory() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/robots.txt" => Reply::status(404),
        path => Reply::html(&format!(
            "<a href={path}a/><a href={path}b/><a href=/{}>",
            "x".repeat(5_000)
        )),
    });
    let mut setting = TestCrawl::new(server.url("/"));
    setting.frontier_limits.addresses = 4;
    let (found, summary) = setting.crawl();
    assert_eq!(found.paths(), ["/", "/a/", "/b/", "/a/a/"]);
    assert_eq!(summary.incomplete, Some(Incomplete::Memory));
}

#[test]
fn an_unreachable_server_is_not_asked_for_every_page() {
    let server = Server::start(|request, _| {
        let links: String = (0..20).map(|page| format!("<a href=/{page}>")).collect();
        match request.path.as_str() {
            "/" => Reply::html(&links),
            "/robots.txt" => Reply::status(404),
            _ => Reply::status(503),
        }
    });
    let mut setting = TestCrawl::new(server.url("/"));
    setting.politeness.retries = 0;
    let (found, summary) = setting.crawl();
    assert_eq!(server.paths().len(), 6);
    assert_eq!(summary.counts.failed, 20);
    assert!(found.problem("/19").contains("did not respond"));
}

#[test]
fn limits_make_a_crawl_incomplete() {
    let server = Server::start(small_site);
    let mut setting = TestCrawl::new(server.url("/"));
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
    let setting = TestCrawl::new(server.url("/"));
    let mut fetcher = Fetcher::new(&setting.client, setting.politeness.clone(), Interrupt::default());
    let location = SitemapLocation::parse(server.url("/index.xml").as_str()).unwrap();
    let listing = start::read_sitemap(&location, &mut fetcher, SitemapLimits::default())
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
            "a sitemap index within a sitemap index"
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
    let setting = TestCrawl::new(server.url("/"));
    let read = |path: &str, limits: SitemapLimits| {
        let mut fetcher = Fetcher::new(&setting.client, setting.politeness.clone(), Interrupt::default());
        let location = SitemapLocation::parse(server.url(path).as_str()).unwrap();
        let before = server.paths().len();
        let listing = start::read_sitemap(&location, &mut fetcher, limits).unwrap().unwrap();
        (listing.pages.len(), listing.problems, server.paths().len() - before)
    };
    let (pages, problems, requests) = read("/index.xml", SitemapLimits::default());
    assert_eq!((pages, problems.len(), requests), (200, 0, 101));
    // The 100 sitemaps of the index count, too.
    let addresses = |addresses| SitemapLimits {
        addresses,
        ..SitemapLimits::default()
    };
    let (pages, problems, requests) = read("/index.xml", addresses(105));
    assert_eq!((pages, requests), (5, 4));
    let said = "the sitemaps exceed the limits of a crawl";
    assert_eq!(problems[0], (server.url("/2.xml").to_string(), said.to_owned()));
    assert_eq!(
        problems[1],
        (
            server.url("/3.xml").to_string(),
            format!("{said}; 97 sitemaps are not read")
        )
    );
    let few_bytes = SitemapLimits {
        bytes: 10_000,
        ..SitemapLimits::default()
    };
    let (pages, problems, requests) = read("/index.xml", few_bytes);
    assert!(
        pages < 200 && requests < 101 && problems.len() == 1,
        "{pages} {requests} {problems:?}"
    );
    let (pages, problems, _) = read("/1.xml", addresses(1));
    assert_eq!((pages, problems.len()), (1, 1));
}
