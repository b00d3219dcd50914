"""The search box that `docsearch serve` has for other sites: its script, and in Chromium how it searches from a strict site."""

import gzip
import json
import os
import re
import threading
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from conftest import Database, page
from front import document, private, serving

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")
CHROMIUM = os.environ.get("DOCSEARCH_TEST_CHROMIUM")
if CHROMIUM:
    from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

AXE = Path(os.environ.get("DOCSEARCH_TEST_NODE", ".")) / "node_modules" / "axe-core" / "axe.min.js"
LARGEST = 15_000
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
TOKEN = "web-0123456789abcdef"
HOSTILE = "<img src=x onerror=\"document.title='run'\"> glaze"
# Nothing but the server: no style, no other script, and no text that becomes markup.
POLICY = "default-src 'none'; script-src {0}; connect-src {0}; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"


@dataclass
class Site:
    """A site that serves the same page at each path."""

    origin: str
    server: str = ""
    body: str = ""
    script: str = "/docsearch.js"
    html: str = ""
    policy: str = POLICY
    # Beginnings of the addresses that a tab may ask.
    allowed: list[str] = field(default_factory=list)

    def page(self) -> bytes:
        return (f"<!doctype html><html lang=en {self.html}><head><title>Site</title><meta name=viewport content='width=device-width'>"
                f"<script defer src='{self.server}{self.script}'></script></head>"
                f"<body><main><h1>Site</h1>{self.body}</main></body></html>").encode()


@pytest.fixture(scope="module")
def server(new_database: Callable[..., Database], site: Site) -> Iterator[str]:
    database = document(new_database())
    sections = "\n\n".join(f"## {name} the kiln\n\n" + f"{name} a kiln takes time when it is cold. " * 40 for name in ("Opening", "Closing"))
    database.index("kit", page("glaze", f"# {HOSTILE}\n\nA `{HOSTILE}` text.", title=HOSTILE, source_urls=["javascript:document.title='run'"]),
                   page("kiln", f"# Kiln 🔥 Größe\n\nThe Größe of a 🔥 kiln.\n\n{sections}", title="Kiln 🔥 Größe", source_urls=["https://kit.test/kiln"]),
                   page("potter", "".join(f"# {name} {{#{name}}}\n\n" + f"A potter needs the {name} in the morning. " * 40 + "\n\n" for name in ("wheel", "bench")),
                        pages=[{"anchor": name, "source_url": f"https://kit.test/{name}.html"} for name in ("wheel", "bench")]),
                   page("right", "# תנור\n\nהתנור נפתח כשהוא קר.", title="תנור"))
    with serving(database, "--rate", "0", "--allow-origin", site.origin) as address:
        site.server = address
        yield address


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Security-Policy", made.policy.format(made.server))
            self.end_headers()
            self.wfile.write(made.page())

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        made = Site(f"http://docs.test:{listener.server_port}")
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield made
        listener.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    if not CHROMIUM:
        pytest.skip("needs Chromium")
    with sync_playwright() as playwright:
        # Root, as whom tests run, has no sandbox.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--host-resolver-rules=MAP *.test 127.0.0.1"])
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: "Browser", server: str, site: Site) -> Iterator["Page"]:
    """A tab of the site, in which nothing fails and which asks only the site and the server."""
    site.body, site.script, site.html, site.policy = "<doc-search project=kit></doc-search>", "/docsearch.js", "", POLICY
    context = browser.new_context(viewport=WIDE, base_url=site.origin)
    context.set_default_timeout(10_000)
    # The source of the documents.
    context.route("https://kit.test/**", lambda route: route.fulfill(content_type="text/html", body="<title>Source</title><h1>Source</h1>"))
    tab = context.new_page()
    failures, elsewhere = [], []
    site.allowed = [server, site.origin, "https://kit.test/"]
    tab.on("pageerror", lambda failure: failures.append(str(failure)))
    tab.on("console", lambda message: failures.append(message.text) if "Security Policy" in message.text else None)
    tab.on("request", lambda request: None if request.url.startswith(tuple(site.allowed)) else elsewhere.append(request.url))
    yield tab
    context.close()
    assert not failures and not elsewhere


def combobox(tab: "Page"):
    return tab.get_by_role("combobox")


def options(tab: "Page"):
    return tab.locator("a[role=option]")


def opened(tab: "Page", query: str = "") -> None:
    """Opens the box with the keys, and waits for the answer to a query."""
    tab.goto("/")
    tab.keyboard.press("Control+k")
    expect(combobox(tab)).to_be_focused()
    if query:
        combobox(tab).fill(query)
        expect(tab.get_by_role("status")).to_contain_text(re.compile(r"\d|found"))


def violations(tab: "Page") -> list[str]:
    """What axe-core finds, as the name of its rule and the element."""
    found = tab.evaluate(f"async () => {{ {AXE.read_text()}; return (await axe.run()).violations }}")
    return [f"{rule['id']}: {node['html'][:200]}" for rule in found for node in rule["nodes"]]


def fetch(address: str, headers: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and content of a response."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as failure:
        return failure.code, dict(failure.headers), failure.read()


def test_s4_50_any_site_may_load_the_script_and_nothing_else(server: str) -> None:
    of_site = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
    code, headers, content = fetch(f"{server}/docsearch.js?place=corner", of_site)
    assert code == 200 and headers["content-type"].startswith("text/javascript") and b"<doc-search>" in content
    assert headers["cross-origin-resource-policy"] == "cross-origin" and headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "public, max-age=3600"
    for path in ("/", "/v1/search?query=retry", "/openapi.json", "/doc/kit/long"):
        assert fetch(server + path, of_site)[0] == 403
    assert fetch(f"{server}/docsearch.js", {"Origin": "https://evil.test"})[0] == 403


def test_s4_50_the_script_is_small_and_sent_once(server: str) -> None:
    _, headers, content = fetch(f"{server}/docsearch.js", {"Accept-Encoding": "gzip"})
    assert headers["content-encoding"] == "gzip" and len(content) < LARGEST, len(content)
    text = gzip.decompress(content).decode()
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|\bimport\b", text)
    again, _, nothing = fetch(f"{server}/docsearch.js", {"If-None-Match": headers["etag"]})
    assert again == 304 and not nothing


def test_the_script_needs_no_token(new_database: Callable[..., Database], tmp_path: Path) -> None:
    with serving(new_database(), "--token-file", private(tmp_path / "tokens", f"{TOKEN}\n")) as address:
        assert fetch(f"{address}/docsearch.js", {})[0] == 200
        assert fetch(f"{address}/v1/search?query=x", {})[0] == 401
    with serving(new_database(), command="mcp") as address:
        assert fetch(f"{address}/docsearch.js", {})[0] == 404


def test_s4_50_keys_lead_to_a_page(tab: "Page") -> None:
    opened(tab, "pause of every attempt")
    expect(options(tab).first).to_contain_text("Retry")
    tab.keyboard.press("Enter")
    tab.wait_for_url("https://kit.test/retry#backoff")


def test_sections_that_were_pages_lead_to_their_pages(tab: "Page") -> None:
    opened(tab, "what a potter needs")
    found = tab.get_by_role("group", name="Potter").get_by_role("option")
    expect(found.first).to_be_visible()
    assert {option.get_attribute("href") for option in found.all()} >= {f"https://kit.test/{name}.html" for name in ("wheel", "bench")}


def test_enter_waits_for_the_answer_to_what_was_typed(tab: "Page") -> None:
    opened(tab, "kiln")
    tab.keyboard.press("Control+a")
    tab.keyboard.type("pause of every attempt")
    tab.keyboard.press("Enter")
    tab.wait_for_url("https://kit.test/retry#backoff")


def test_a_slash_opens_the_box_unless_one_types(tab: "Page", site: Site) -> None:
    site.body += "<label>Name <input id=name></label><div contenteditable id=notes>Notes</div>"
    tab.goto("/")
    for other in ("#name", "#notes"):
        tab.locator(other).click()
        tab.keyboard.press("/")
        expect(tab.get_by_role("dialog")).to_be_hidden()
    tab.get_by_role("heading", name="Site").click()
    tab.keyboard.press("/")
    expect(combobox(tab)).to_be_focused()
    expect(combobox(tab)).to_have_value("")
    tab.keyboard.press("Control+k")
    expect(tab.get_by_role("dialog")).to_be_hidden()


def test_the_slash_can_be_left_to_the_site(tab: "Page", site: Site) -> None:
    site.body = "<doc-search no-slash></doc-search>"
    tab.goto("/")
    tab.get_by_role("heading", name="Site").click()
    tab.keyboard.press("/")
    expect(tab.get_by_role("dialog")).to_be_hidden()


def test_assistive_technology_follows_the_choice(tab: "Page") -> None:
    tab.goto("/")
    button = tab.get_by_role("button", name="Search")
    button.focus()
    tab.keyboard.press("Enter")
    box = combobox(tab)
    expect(box).to_have_attribute("aria-expanded", "false")
    tab.keyboard.type("kiln")
    expect(tab.get_by_role("status")).to_have_text(re.compile(r"^\d+ results?$"))
    expect(box).to_have_attribute("aria-expanded", "true")
    assert box.get_attribute("aria-controls") == tab.get_by_role("listbox").get_attribute("id")
    every = tab.get_by_role("option")
    first, last = options(tab).first, every.last
    expect(tab.locator(".group").first).to_have_attribute("aria-label", "Kiln 🔥 Größe")
    for key, chosen in (("", first), ("ArrowDown", options(tab).nth(1)), ("ArrowUp", first)):
        if key:
            tab.keyboard.press(key)
        expect(chosen).to_have_attribute("aria-selected", "true")
        assert box.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
        assert tab.locator("[aria-selected=true]").count() == 1
    for _ in range(every.count() - [option.get_attribute("id") for option in every.all()].index(first.get_attribute("id")) - 1):
        tab.keyboard.press("ArrowDown")
    expect(last).to_have_attribute("aria-selected", "true")
    tab.keyboard.press("ArrowDown")
    expect(every.first).to_have_attribute("aria-selected", "true")
    # The focus stays in the dialog.
    for _ in range(6):
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement === document.body || document.activeElement.localName === 'doc-search'")
    box.focus()
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("dialog")).to_be_hidden()
    expect(button).to_be_focused()


def test_results_of_a_page_are_together_with_their_marks(tab: "Page") -> None:
    opened(tab, "Größe kiln 🔥")
    first = tab.get_by_role("group", name="Kiln 🔥 Größe")
    marks = first.locator("mark").all_inner_texts()
    assert {"Größe", "Kiln"} <= set(marks) and all(re.fullmatch(r"(?i)größe|kiln|opens?|opening|🔥", mark) for mark in marks), marks
    for name in ("opening-the-kiln", "closing-the-kiln"):
        combobox(tab).fill(name.replace("-", " "))
        expect(tab.get_by_role("status")).to_contain_text("result")
        expect(first.locator(f"[href='https://kit.test/kiln#{name}']")).to_have_count(1)


def test_a_late_answer_is_not_shown(tab: "Page") -> None:
    held: list[Route] = []
    tab.route(re.compile("search.query=session"), lambda route: held.append(route))
    opened(tab)
    tab.keyboard.type("session")
    while not held:
        tab.wait_for_timeout(10)
    combobox(tab).fill("pause of every attempt")
    expect(options(tab).first).to_contain_text("Retry")
    held[0].abort()
    expect(options(tab).first).to_contain_text("Retry")


def test_suggestions_do_not_move_results(tab: "Page") -> None:
    held: list[Route] = []
    tab.route(re.compile("/v1/suggest"), lambda route: held.append(route))
    opened(tab, "ret")
    before = tab.get_by_role("listbox").inner_text()
    held[0].fulfill(json={"suggestions": [{"suggestion": "retention", "highlights": [[0, 3]]}]}, headers={"Access-Control-Allow-Origin": "*"})
    tab.wait_for_timeout(50)
    assert tab.get_by_role("listbox").inner_text() == before
    tab.unroute(re.compile("/v1/suggest"))
    tab.route(re.compile("/v1/suggest"), lambda route: route.fulfill(
        json={"suggestions": [{"suggestion": "kiln <b>", "highlights": [[0, 4]]}]}, headers={"Access-Control-Allow-Origin": "*"}))
    combobox(tab).fill("retr")
    suggestion = tab.get_by_role("group", name="Suggestions").get_by_role("option")
    expect(suggestion).to_have_text("kiln <b>")
    suggestion.click()
    expect(combobox(tab)).to_have_value("kiln <b>")
    expect(combobox(tab)).to_be_focused()
    expect(options(tab).first).to_contain_text("Kiln")


def test_s4_50_no_text_of_a_document_is_more_than_text(tab: "Page", server: str) -> None:
    opened(tab, "glaze")
    first = options(tab).first
    expect(first).to_contain_text("<img src=x onerror=")
    expect(first).to_have_attribute("href", re.compile(f"^{re.escape(server)}/doc/kit/glaze"))
    assert tab.locator("doc-search img").count() == 0
    expect(tab).to_have_title("Site")


def test_what_is_not_found_is_said(tab: "Page") -> None:
    opened(tab, "zygomorphic quantum")
    expect(tab.get_by_role("status")).to_contain_text("found")
    assert tab.locator("[aria-selected=true]").count() == 0
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("dialog")).to_be_visible()


def test_a_correction_is_searched(tab: "Page") -> None:
    answer = {"results": [], "confidence": None, "suggestions": [{"suggestion": "pause of every attempt", "kind": "correction"}]}
    tab.route(re.compile("search.query=pasue"), lambda route: route.fulfill(json=answer, headers={"Access-Control-Allow-Origin": "*"}))
    opened(tab, "pasue")
    expect(tab.get_by_text("Did you mean")).to_be_visible()
    tab.get_by_role("button", name="pause of every attempt").click()
    expect(options(tab).first).to_contain_text("Retry")
    expect(tab.get_by_text("Did you mean")).to_be_hidden()


def test_a_server_that_is_away_is_said_and_asked_again(tab: "Page") -> None:
    tab.route(re.compile("/v1/"), lambda route: route.abort())
    opened(tab)
    tab.keyboard.type("retry")
    expect(tab.get_by_role("status")).to_contain_text("not available")
    tab.unroute(re.compile("/v1/"))
    tab.keyboard.press("Enter")
    tab.wait_for_url("https://kit.test/retry*")


def test_other_sites_are_not_answered(browser: "Browser", server: str, site: Site) -> None:
    context = browser.new_context(base_url=site.origin.replace("docs.test", "evil.test"))
    tab = context.new_page()
    site.body = "<doc-search></doc-search>"
    tab.goto("/")
    tab.get_by_role("button", name="Search").click()
    tab.keyboard.type("retry")
    expect(tab.get_by_role("status")).to_contain_text("not available")
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_s4_50_no_rule_of_accessibility_is_broken(tab: "Page", scheme: str) -> None:
    tab.emulate_media(color_scheme=scheme)
    opened(tab)
    assert not violations(tab)
    for query, shown in (("kiln", "result"), ("zygomorphic quantum", "found")):
        combobox(tab).fill(query)
        expect(tab.get_by_role("status")).to_contain_text(shown)
        assert not violations(tab)


# 200 % zoom halves the pixels of a window.
@pytest.mark.parametrize(("size", "direction"), [(NARROW, "ltr"), (NARROW, "rtl"), ({"width": 640, "height": 450}, "ltr")])
def test_the_box_fits_small_windows(tab: "Page", site: Site, size: dict[str, int], direction: str) -> None:
    site.html = f"dir={direction}"
    tab.set_viewport_size(size)
    opened(tab, "kiln")
    edges = tab.get_by_role("dialog").bounding_box()
    assert edges["x"] >= 0 and edges["x"] + edges["width"] <= size["width"]
    assert edges["y"] >= 0 and edges["y"] + edges["height"] <= size["height"]
    assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    places = [tab.get_by_role("button", name="Close").bounding_box()["x"], combobox(tab).bounding_box()["x"]]
    assert (places == sorted(places)) is (direction == "rtl")
    expect(options(tab).last).to_be_attached()
    for _ in range(tab.get_by_role("option").count() - 1):
        tab.keyboard.press("ArrowDown")
        expect(tab.locator("[aria-selected=true]")).to_be_in_viewport()
    assert size != NARROW or not violations(tab)


def test_colours_follow_the_site_before_the_reader(tab: "Page", site: Site) -> None:
    background = "getComputedStyle(document.querySelector('doc-search').shadowRoot.querySelector('dialog')).backgroundColor"
    shown = {}
    for html in ("", "data-dark"):
        for scheme in ("light", "dark"):
            site.html, site.policy = html, POLICY + "; style-src 'unsafe-inline'"
            site.body = "<style>[data-dark] { color-scheme: dark; } doc-search { --docsearch-mark: red; }</style><doc-search></doc-search>"
            tab.emulate_media(color_scheme=scheme)
            opened(tab, "kiln")
            shown[html, scheme] = tab.evaluate(background)
            assert tab.locator("mark").first.evaluate("mark => getComputedStyle(mark).backgroundColor") == "rgb(255, 0, 0)"
    assert shown["", "light"] != shown["", "dark"] == shown["data-dark", "light"] == shown["data-dark", "dark"]


def test_nothing_moves_for_readers_who_prefer_that(tab: "Page") -> None:
    tab.emulate_media(reduced_motion="reduce")
    opened(tab, "kiln")
    assert tab.evaluate("document.querySelector('doc-search').shadowRoot.getAnimations().length") == 0
    assert tab.get_by_role("listbox").evaluate("list => getComputedStyle(list).transitionDuration") == "0s"


def test_the_box_speaks_the_language_of_the_site(tab: "Page", site: Site) -> None:
    for lang, name in (("de", "Suchen"), ("fr-CA", "Rechercher"), ("es", "Buscar"), ("ja", "検索"), ("zh-Hant", "搜索"), ("pt", "Search")):
        site.body = f"<doc-search lang={lang}></doc-search>"
        tab.goto("/")
        expect(tab.get_by_role("button", name=name)).to_be_visible()
    site.body = """<doc-search lang=pl placeholder="Szukaj w Kit" strings='{"search": "Szukaj", "one": "{n} wynik", "other": "{n} wyników"}'></doc-search>"""
    opened(tab, "kiln")
    expect(tab.get_by_role("status")).to_contain_text("wynik")
    expect(combobox(tab)).to_have_attribute("placeholder", "Szukaj w Kit")
    tab.evaluate("document.querySelector('doc-search').strings = { close: 'Zamknij' }")
    expect(tab.get_by_role("button", name="Zamknij")).to_be_visible()


def test_attributes_say_what_is_searched(tab: "Page", site: Site) -> None:
    asked: list[tuple[str, list[tuple[str, str]], str | None]] = []
    tab.on("request", lambda request: asked.append((urlsplit(request.url).path, parse_qsl(urlsplit(request.url).query), request.headers.get("authorization"))))
    site.body = """<doc-search project="kit other" filter='{"platform": "linux"}' results=1></doc-search>"""
    opened(tab, "pause")
    expect(tab.locator(".group")).to_have_count(1)
    searches = [query for path, query, _ in asked if path == "/v1/search"]
    assert searches == [[("query", "pause"), ("max_results", "1"), ("project", "kit"), ("project", "other"), ("filter", '{"platform": "linux"}')]]
    # A simple request: no preflight, no cookie, no header that distinguishes readers.
    assert not [path for path, _, token in asked if token or path == "/v1/suggest"]
    expect(options(tab).first).to_contain_text("kit · guides")


def test_links_lead_where_the_site_says(tab: "Page", site: Site, server: str) -> None:
    site.body = "<doc-search project=kit open-in=server target=_blank></doc-search>"
    opened(tab, "pause of every attempt")
    with tab.context.expect_page() as opens:
        tab.keyboard.press("Enter")
    opens.value.wait_for_url(f"{server}/doc/kit/guides/retry#backoff")
    expect(opens.value.get_by_role("heading", level=1)).to_contain_text("Retry")
    expect(tab.get_by_role("dialog")).to_be_visible()


def test_a_token_is_sent(new_database: Callable[..., Database], tab: "Page", site: Site, tmp_path: Path) -> None:
    tokens = private(tmp_path / "tokens", f"{TOKEN}\n")
    with serving(document(new_database()), "--token-file", tokens, "--allow-origin", site.origin) as address:
        site.allowed.append(address)
        site.policy = POLICY.replace("connect-src {0}", f"connect-src {address}")
        site.body = f"<doc-search server={address}/ token={TOKEN}></doc-search>"
        opened(tab, "pause of every attempt")
        expect(options(tab).first).to_contain_text("Retry")


def test_the_site_knows_what_is_chosen(tab: "Page", site: Site) -> None:
    answer = {"results": [{"project": "kit", "slug": "a/b", "title": "B", "url": "https://kit.test/b#c", "anchor": "c"}], "confidence": "high", "search_token": "T"}
    tab.route(re.compile("/v1/search"), lambda route: route.fulfill(json=answer, headers={"Access-Control-Allow-Origin": "*"}))
    reported: list[str] = []
    tab.route(re.compile("/v1/feedback"), lambda route: (reported.append(route.request.post_data), route.fulfill(status=204)))
    for attribute in ("", "feedback"):
        site.body = f"<doc-search {attribute}></doc-search>"
        opened(tab, "anything")
        tab.evaluate("addEventListener('doc-search', (event) => { event.preventDefault(); window.chosen = event.detail; })")
        tab.keyboard.press("Enter")
        expect(tab.get_by_role("dialog")).to_be_hidden()
        assert tab.evaluate("window.chosen") == {"query": "anything", "url": "https://kit.test/b#c", "project": "kit", "slug": "a/b", "anchor": "c", "title": "B"}
        assert urlsplit(tab.url).hostname == "docs.test"
        assert [json.loads(body) for body in reported] == ([{"token": "T", "kind": "click", "reference": "kit/a/b#c"}] if attribute else [])


@pytest.mark.parametrize(("place", "parent"), [("main", "MAIN"), (".nosuch", "BODY"), ("corner", "BODY")])
def test_the_address_of_the_script_places_the_box(tab: "Page", site: Site, place: str, parent: str) -> None:
    site.body, site.script = "", f"/docsearch.js?place={place}&project=kit&results=1&onclick=x"
    opened(tab, "kiln")
    expect(tab.locator(".group")).to_have_count(1)
    element = tab.locator("doc-search")
    assert element.evaluate("box => box.parentElement.tagName") == parent
    assert set(element.evaluate("box => box.getAttributeNames()")) == {"project", "results", *(["corner"] if parent == "BODY" else [])}


def test_two_boxes_share_the_keys(tab: "Page", site: Site) -> None:
    site.body = "<doc-search project=kit></doc-search><doc-search project=other></doc-search>"
    opened(tab)
    assert tab.get_by_role("dialog").count() == 1
    tab.keyboard.press("Escape")
    tab.evaluate("document.querySelector('doc-search').remove()")
    tab.keyboard.press("Control+k")
    tab.keyboard.type("paint dry")
    expect(options(tab).first).to_contain_text("Paint")
