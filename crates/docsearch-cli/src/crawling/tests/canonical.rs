//! Sites whose addresses and canonical links do not agree.

use proptest::prelude::*;

use super::*;

fn page(title: &str, canonical: &str) -> Reply {
    Reply::html(&format!(
        "<title>{title}</title><link rel=canonical href='{canonical}'><h1>{title}</h1><p>Text of {title}, which no other page has.</p>"
    ))
}

#[test]
fn every_page_comes_once_whatever_its_canonical_link() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::html(
            "<title>Home</title><h1>Home</h1><p>All pages.</p>\
             <a href=/slash><a href=/case><a href=/gone><a href=/home><a href=/far><a href=/copy><a href=/robots>\
             <a href=/moved><a href=/v1/page>",
        ),
        // GitHub Pages redirects to the slash, and the page names the address without.
        "/slash" => Reply::redirect("/slash/"),
        "/slash/" => page("Slash", "/slash"),
        "/case" => page("Case", "/Case"),
        "/gone" => page("Gone", "/not-there"),
        "/home" => page("Not home", "/"),
        "/far" => page("Far", "https://elsewhere.example/far"),
        "/copy" | "/original" => page("Original", "/original"),
        "/robots.txt" => Reply::status(200).body("User-agent: *\nDisallow: /secret"),
        "/robots" => page("Robots", "/secret"),
        "/moved" => page("Moved", "/old"),
        "/old" => Reply::redirect("/other"),
        "/other" => page("Other", "/other"),
        "/v1/page" => page("Page, version 1", "/v2/page"),
        "/v2/page" => page("Page, version 2", "/v2/page"),
        _ => Reply::status(404),
    });
    let (found, summary) = TestCrawl::new(server.url("/")).crawl();
    let mut paths = found.paths();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "/",
            "/case",
            "/far",
            "/gone",
            "/home",
            "/moved",
            "/original",
            "/other",
            "/robots",
            "/slash/",
            "/v2/page"
        ]
    );
    assert!(found.problem("/copy").ends_with("/original"), "{:?}", found.problems);
    assert!(found.problem("/v1/page").ends_with("/v2/page"), "{:?}", found.problems);
    let reason = |path: &str| {
        found
            .ignored
            .iter()
            .find(|(own, _)| own == path)
            .map(|(_, reason)| reason.as_str())
    };
    assert!(reason("/gone").is_some_and(|reason| reason.ends_with("404 Not Found")));
    assert!(reason("/home").is_some_and(|reason| reason.ends_with("another text")));
    assert!(reason("/robots").is_some_and(|reason| reason.ends_with("robots.txt")));
    assert_eq!(reason("/slash/"), None);
    let wrong = |path: &str| {
        found
            .pages
            .iter()
            .any(|page| page.url.path() == path && page.ignores_canonical)
    };
    assert!(wrong("/gone") && wrong("/home") && !wrong("/slash/") && !wrong("/far"));
    assert_eq!(summary.counts.pages, 11);
}

#[test]
fn pages_that_name_each_other_are_one() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/" => Reply::html("<h1>Home</h1><a href=/ping><a href=/pong>"),
        "/ping" => page("Ping", "/pong"),
        "/pong" => page("Pong", "/ping"),
        _ => Reply::status(404),
    });
    let (found, _) = TestCrawl::new(server.url("/")).crawl();
    assert_eq!(found.paths(), ["/", "/pong"]);
}

/// What the site has at an address.
#[derive(Debug, Clone)]
enum Place {
    /// A page with a text, and the address that it names.
    Page {
        text: usize,
        canonical: Option<usize>,
    },
    Redirect(usize),
    Missing,
}

fn place(count: usize) -> impl Strategy<Value = Place> {
    prop_oneof![
        4 => (0..count, prop::option::of(0..count + 1)).prop_map(|(text, canonical)| Place::Page { text, canonical }),
        1 => (0..count).prop_map(Place::Redirect),
        1 => Just(Place::Missing),
    ]
}

/// Where an address leads, if it is a page.
fn end(site: &[Place], mut at: usize) -> Option<usize> {
    for _ in 0..=site.len() {
        match site.get(at)? {
            Place::Page { .. } => return Some(at),
            Place::Redirect(next) => at = *next,
            Place::Missing => return None,
        }
    }
    None
}

/// The pages that a page names in turn, until one names itself, none, or an earlier one.
fn names(site: &[Place], mut at: usize) -> Vec<usize> {
    let mut named = Vec::new();
    while let Place::Page {
        canonical: Some(next), ..
    } = site[at]
    {
        match end(site, next) {
            Some(next) if !named.contains(&next) && next != at => named.push(next),
            _ => break,
        }
        at = named[named.len() - 1];
    }
    named
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// No text is lost but those of pages that name each other, and no page comes twice.
    #[test]
    fn canonical_links_lose_no_text(site in prop::collection::vec(place(5), 5)) {
        let served = site.clone();
        let server = Server::start(move |request, _| {
            let Some(at) = request.path.strip_prefix("/p").and_then(|at| at.parse::<usize>().ok()) else {
                let links: String = (0..served.len()).map(|at| format!("<a href=/p{at}>page</a>")).collect();
                return match request.path.as_str() {
                    "/" => Reply::html(&format!("<h1>Home</h1>{links}")),
                    _ => Reply::status(404),
                };
            };
            match served.get(at) {
                Some(Place::Page { text, canonical }) => {
                    let link = canonical.map(|to| format!("<link rel=canonical href=/p{to}>")).unwrap_or_default();
                    let body = "word ".repeat(5);
                    Reply::html(&format!("{link}<h1>Title {text}</h1><p>text{text} {body}</p>"))
                }
                Some(Place::Redirect(to)) => Reply::redirect(&format!("/p{to}")),
                _ => Reply::status(404),
            }
        });
        let (found, _) = TestCrawl::new(server.url("/")).crawl();
        let mut urls: Vec<&str> = found.paths();
        urls.sort_unstable();
        let count = urls.len();
        urls.dedup();
        prop_assert_eq!(urls.len(), count, "a page comes twice");
        let texts: Vec<String> = found.pages.iter().map(|page| String::from_utf8_lossy(&page.body).into_owned()).collect();
        let is_found = |text: usize| texts.iter().any(|own| own.contains(&format!("text{text} ")));
        for (at, place) in site.iter().enumerate() {
            let Place::Page { text, .. } = place else { continue };
            let is_in_ring = names(&site, at).iter().any(|&next| names(&site, next).contains(&at));
            if is_in_ring {
                let mut ring = names(&site, at);
                ring.push(at);
                let any = ring.iter().any(|&at| matches!(site[at], Place::Page { text, .. } if is_found(text)));
                prop_assert!(any, "a ring is lost");
            } else {
                prop_assert!(is_found(*text), "text {text} of /p{at} is lost");
            }
        }
    }
}
