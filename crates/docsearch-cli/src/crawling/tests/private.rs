//! Private addresses.

use std::net::{IpAddr, Ipv4Addr};

use url::Url;

use super::super::address;
use super::super::crawler::no_pages_error;
use super::server::{Reply, Server};
use super::{TestCrawl, small_site};

/// Replaces the check of addresses, which would refuse every server on the loopback interface.
fn second_is_private(address: IpAddr) -> Option<&'static str> {
    (address == Ipv4Addr::new(127, 0, 0, 2)).then_some("a private address")
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
        let mut setting = TestCrawl::new(Url::parse(&format!("http://{host}:{port}/")).unwrap());
        setting.client.refuses = address::private_class;
        let (found, summary) = setting.crawl();
        assert!(found.pages.is_empty(), "{host}");
        assert!(found.problem("/").contains("address"), "{host}: {:?}", found.problems);
        let (url, problem) = summary.first_problem.unwrap();
        assert!(
            no_pages_error(url.as_str(), &problem)
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
    let mut setting = TestCrawl::new(outside.url("/"));
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
    let mut setting = TestCrawl::new(outside.url("/"));
    setting.client.refuses = second_is_private;
    assert!(setting.crawl().0.pages.is_empty());
    assert!(inside.paths().is_empty());
}
