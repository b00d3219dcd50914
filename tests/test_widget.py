"""What Algolia's DocSearch asks `docsearch serve`, and what it shows: its requests are those that were recorded from its versions."""

import html
import http.client
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from conftest import GUARD, Database, page
from front import document, private, serving
from psycopg import sql
from test_serve_page import HOSTILE

CHROMIUM = os.environ.get("DOCSEARCH_TEST_CHROMIUM")
pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")
if CHROMIUM:
    from playwright.sync_api import Browser, Page, expect, sync_playwright

RECORDED = {path.stem.removeprefix("docsearch-"): json.loads(path.read_text())
            for path in sorted((Path(__file__).parent / "fixtures" / "widget").glob("*.json"))}
TOKEN = "web-0123456789abcdef"
SITE = "https://kit.test"
ALL = "/1/indexes/*/queries"
NODE = Path(os.environ.get("DOCSEARCH_TEST_NODE", ".")) / "node_modules"


@pytest.fixture(scope="module")
def documented(new_database: Callable[..., Database]) -> Database:
    database = document(new_database())
    name, = database.execute("SELECT current_database()")[0]
    database.execute(f"ALTER DATABASE {name} SET docsearch.log_queries = 'text'")
    database.index("kit", page("v1/ports", "# Ports\n\nA harbour has one gate.", version="1", metadata={"lang": "en", "level": 1}),
                   page("v2/ports", "# Ports\n\nA harbour has two gates now.", version="2", metadata={"lang": "de", "level": 2}),
                   page("gates", "# Gates\n\nA harbour without a version."))
    database.execute("SELECT docsearch.create_project('hostile')")
    database.index("hostile", *(
        {"slug": f"page-{number}", "title": f"Zebra {text}", "category": f"stripes {text}", "source_urls": [f"javascript:alert({number})"],
         "body": f"# Zebra {text}\n\n## Zebra {text}\n\nThe zebra says {text} to the other zebra.\n"} for number, text in enumerate(HOSTILE)))
    return database


def send(address: str, target: str, body: object, method: str = "POST", **headers: str) -> tuple[int, dict[str, str], dict]:
    """Status, headers and JSON of a response."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=GUARD)
    try:
        content = body if isinstance(body, str) else json.dumps(body)
        connection.request(method, target, content, {"Content-Type": "text/plain", **{name.replace("_", "-"): text for name, text in headers.items()}})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, dict(answer.headers), json.loads(text) if text else {}
    finally:
        connection.close()


def search(address: str, query: str, index: str = "kit", **parameters: object) -> dict:
    """The result of one query."""
    status, _, answer = send(address, ALL, {"requests": [{"query": query, "indexName": index, **parameters}]})
    assert status == 200, answer
    return answer["results"][0]


def slugs(result: dict) -> set[str]:
    return {hit["objectID"].split("/", 1)[1].split("#")[0] for hit in result["hits"]}


def recorded(version: str, name: str, query: str) -> tuple[str, dict]:
    """Target and body of a request, without its key and with another query."""
    sent = RECORDED[version][name]
    requests = [{**one, "query": query if one["query"] else ""} for one in sent["body"]["requests"]]
    return sent["target"].replace(TOKEN, "anonymous"), {"requests": requests}


@pytest.mark.parametrize("version", RECORDED)
def test_s4_51_what_each_version_asks_is_answered(address: str, version: str) -> None:
    for name in ("search", "contextual"):
        status, _, answer = send(address, *recorded(version, name, "pause of every attempt"))
        assert status == 200, answer
        result, = answer["results"]
        hit = result["hits"][0]
        assert hit["hierarchy"] == {"lvl0": "guides", "lvl1": "Retry", "lvl2": "Backoff", **{f"lvl{level}": None for level in range(3, 7)}}
        assert (hit["type"], hit["objectID"], hit["anchor"]) == ("content", "kit/guides/retry#backoff", "backoff")
        assert (hit["url"], hit["url_without_anchor"]) == (f"{SITE}/retry#backoff", f"{SITE}/retry")
        assert hit["_highlightResult"]["content"]["value"].endswith("The <mark>pause</mark> doubles with every <mark>attempt</mark>.")
        assert hit["_snippetResult"]["hierarchy"]["lvl2"] == {"value": "Backoff", "matchLevel": "none"}
        assert hit["content"].endswith("The pause doubles with every attempt.")
        assert {key: result[key] for key in ("index", "page", "hitsPerPage", "query")} == {
            "index": "kit", "page": 0, "hitsPerPage": 20, "query": "pause of every attempt"}
        assert result["nbHits"] >= len(result["hits"]) and result["nbPages"] == 1 and "queryID" not in result


def test_several_indices_are_several_results(address: str) -> None:
    _, body = recorded("4.7.1", "indices", "harbour")
    _, _, answer = send(address, ALL, body)
    first, second = answer["results"]
    assert (first["index"], second["index"]) == ("kit", "other") and slugs(first) == {"v2/ports"}


def test_facets_are_counted(address: str) -> None:
    _, _, answer = send(address, *recorded("5.2.0", "facets", ""))
    assert answer["results"][0]["facets"] == {"version": {"1": 1, "2": 1}} and answer["results"][0]["hits"] == []
    assert search(address, "harbour", facets=["version", "lang"], facetFilters="version:2")["facets"] == {"version": {"2": 1}, "lang": {"de": 1}}
    assert set(search(address, "harbour", facets="*")["facets"]) >= {"version", "project"}


def test_a_heading_with_a_word_of_the_query_is_the_result(address: str) -> None:
    heading = search(address, "backoff", highlightPreTag="<span class=\"hit\">", highlightPostTag="</span>")["hits"][0]
    assert heading["type"] == "lvl2"
    assert heading["_highlightResult"]["hierarchy"]["lvl2"] == {
        "value": "<span class=\"hit\">Backoff</span>", "matchLevel": "full", "fullyHighlighted": True, "matchedWords": ["backoff"]}
    assert search(address, "retry")["hits"][0]["type"] == "lvl1"


def test_snippets_have_the_number_of_words(address: str) -> None:
    text = search(address, "pause of every attempt", attributesToSnippet=["content:3"], snippetEllipsisText=" .. ")["hits"][0]
    assert re.fullmatch(r"( \.\. )?(\S+ ){2}\S+( \.\. )?", re.sub("</?em>", "", text["_snippetResult"]["content"]["value"]))


@pytest.mark.parametrize(("filters", "expected"), [
    (["version:1"], {"v1/ports"}),
    (["version:latest"], {"v2/ports", "gates"}),
    ([["version:1", "version:2"]], {"v1/ports", "v2/ports"}),
    (["version:-1"], {"v2/ports", "gates"}),
    (["level:2"], {"v2/ports"}),
    ("lang:en", {"v1/ports", "gates"}),
    (["language:en-US"], {"v1/ports", "gates"}),
    (["language:en", ["docusaurus_tag:default", "docusaurus_tag:docs-default-current"]], {"v1/ports", "gates"}),
    ([["docusaurus_tag:default", "docusaurus_tag:docs-default-2"]], {"v2/ports", "gates"}),
    (["project:kit", "version:1"], {"v1/ports"}),
])
def test_s4_51_filters_leave_out_what_they_name(address: str, filters: object, expected: set[str]) -> None:
    found = slugs(search(address, "harbour", index="*", facetFilters=filters))
    assert found & {"v1/ports", "v2/ports", "gates"} == expected


def test_an_index_is_a_project_or_several(address: str) -> None:
    assert search(address, "paint", index="kit, other")["hits"][0]["hierarchy"]["lvl0"] == "other"
    assert search(address, "retry", index="k*")["hits"][0]["hierarchy"]["lvl0"] == "kit / guides"
    status, _, answer = send(address, ALL, {"requests": [{"query": "paint", "indexName": "othr"}]})
    assert status == 404 and answer["status"] == 404 and "othr" in answer["message"] and "other" in answer["hint"]


def test_pages_follow_each_other(address: str) -> None:
    first, second = (search(address, "zebra", index="hostile", hitsPerPage=5, page=number) for number in (0, 1))
    assert len(first["hits"]) == len(second["hits"]) == 5 and not slugs(first) & slugs(second)
    assert first["nbPages"] > 1 and first["nbHits"] > 10
    assert search(address, "zebra", index="hostile", hitsPerPage=100, page=11)["hits"] == []


def test_other_forms_of_a_request(address: str) -> None:
    encoded = urlencode({"query": "paint", "hitsPerPage": 1, "facetFilters": json.dumps(["version:-3"])})
    _, _, answer = send(address, ALL, {"requests": [{"indexName": "other", "params": encoded}]})
    _, _, single = send(address, "/1/indexes/other/query", {"params": encoded})
    assert slugs(single) == slugs(answer["results"][0]) == {"guides/paint"} and single["index"] == "other"


class Elements(HTMLParser):
    """The elements of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, list]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.found.append((tag, attributes))


def texts(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts of a value, with their paths."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, path)
    elif isinstance(value, str):
        yield path, value


@pytest.mark.parametrize("tags", [("<mark>", "</mark>"), ("<img src=x onerror=alert(1)>", ""), ("<mark onclick='alert(1)'>", "</mark>")])
def test_s4_51_nothing_of_a_document_is_markup(address: str, tags: tuple[str, str]) -> None:
    hits = search(address, "zebra", index="hostile", hitsPerPage=100, highlightPreTag=tags[0], highlightPostTag=tags[1],
                  attributesToSnippet=["content:6", "hierarchy.lvl1:3"])["hits"]
    # Pages with the same words are one result.
    assert len(slugs({"hits": hits})) > len(HOSTILE) - 5
    for hit in hits:
        assert re.match(r"http://127\.0\.0\.1:\d+/doc/hostile/page-\d+", hit["url"])
        for path, text in texts(hit):
            if path != ".objectID":
                assert all(element == ("mark", []) for element in Elements(text).found), (path, text)
                assert "<mark>" in text or not re.search("[<>\"']", text), (path, text)
        assert html.unescape(hit["hierarchy"]["lvl1"]).startswith("Zebra ")


def test_a_token_is_the_key(documented: Database, tmp_path: Path) -> None:
    body = {"requests": [{"query": "pause of the retry", "indexName": "kit"}]}
    with documented.connect() as connection:
        connection.execute("CREATE ROLE widget_reader")
        connection.execute("SELECT docsearch.grant_usage('widget_reader')")
        connection.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
        connection.execute("CREATE POLICY visible ON docsearch.document FOR SELECT TO widget_reader USING (category <> 'internal')")
    try:
        tokens = private(tmp_path / "tokens", f"{TOKEN} widget_reader\nteam-0123456789abcdef\n")
        with serving(documented, "--token-file", tokens) as address:
            for target, headers in ((f"{ALL}?x-algolia-api-key={TOKEN}", {}), (ALL, {"x_algolia_api_key": TOKEN}), (ALL, {"authorization": f"Bearer {TOKEN}"})):
                status, _, answer = send(address, target, body, **headers)
                assert status == 200 and "secret" not in slugs(answer["results"][0]), answer
            assert "secret" in slugs(send(address, ALL, body, x_algolia_api_key="team-0123456789abcdef")[2]["results"][0])
            for target in (ALL, f"{ALL}?x-algolia-api-key=another-0123456789", f"{ALL}?x-algolia-api-key=anonymous", f"{ALL}?x-algolia-api-key=%0A"):
                status, _, answer = send(address, target, body)
                assert status == answer["status"] == 401 and answer["message"], target
            # Only these paths take a key.
            assert send(address, f"/v1/docs?x-algolia-api-key={TOKEN}", "", "GET")[0] == 401
        with serving(documented) as address:
            # Who sends an unknown token is not anonymous.
            assert send(address, f"{ALL}?x-algolia-api-key={TOKEN}", body)[0] == 401
            assert send(address, f"{ALL}?x-algolia-api-key=anonymous", body)[0] == 200
    finally:
        with documented.connect() as connection:
            connection.execute("ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY")
            connection.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier("widget_reader")))


@pytest.mark.parametrize(("body", "message"), [
    ("{", "the body is not valid"), ({"requests": [{"query": "a"}]}, "indexName is missing"),
    ({"requests": [{"query": "a", "indexName": "kit"}] * 11}, "more than 10 queries"),
    ({"requests": [{"query": "a", "indexName": "kit", "filters": "version:1"}]}, "filters is not supported"),
    ({"requests": [{"query": "a", "indexName": "kit", "facetFilters": ["version"]}]}, "facet filter is not valid"),
    ({"requests": [{"query": "a", "indexName": "kit", "facetFilters": ["a:b"] * 101}]}, "more than 100 facet filters"),
    ({"requests": [{"query": "a", "indexName": "kit", "facets": ["a"] * 21}]}, "more than 20 facets"),
])
def test_what_is_not_valid_is_refused(address: str, body: object, message: str) -> None:
    status, _, answer = send(address, ALL, body)
    assert status == answer["status"] == 400 and answer["message"].startswith(message) and answer["hint"]


def test_sizes_are_bounded(address: str) -> None:
    result = search(address, "pause " * 500, hitsPerPage=5000)
    assert len(result["query"]) == 512 and result["hitsPerPage"] == 100
    status, _, answer = send(address, ALL, {"requests": [{"query": "a" * 300_000, "indexName": "kit"}]})
    assert status == answer["status"] == 413
    assert search(address, "   ")["hits"] == [] and search(address, "retry", hitsPerPage=0)["nbPages"] == 0
    assert send(address, "/1/indexes/kit/queries", {"requests": []})[0] == 404


def test_pages_of_allowed_origins_may_search(documented: Database) -> None:
    with serving(documented, "--allow-origin", SITE) as address:
        status, headers, _ = send(address, ALL, "", "OPTIONS", origin=SITE, access_control_request_method="POST",
                                  access_control_request_headers="x-algolia-api-key,x-algolia-application-id")
        assert status == 204 and headers["access-control-allow-origin"] == SITE
        assert {"x-algolia-api-key", "x-algolia-application-id", "content-type"} <= set(re.split(", *", headers["access-control-allow-headers"]))
        status, headers, answer = send(address, ALL, {"requests": []}, origin="https://evil.test")
        assert status == answer["status"] == 403


def test_a_click_is_feedback(documented: Database, address: str) -> None:
    reader = "anonymous-7f3a"
    _, body = recorded("5.2.0", "clicks", "pause of every attempt")
    body["requests"][0]["userToken"] = reader
    _, _, answer = send(address, ALL, body)
    result, = answer["results"]
    click = {"eventType": "click", "eventName": "Item Selected", "index": "kit", "userToken": reader, "queryID": result["queryID"],
             "objectIDs": [result["hits"][0]["objectID"]], "positions": [1]}
    viewed = {"eventType": "view", "eventName": "Items Viewed", "index": "kit", "userToken": reader, "objectIDs": ["kit/long"]}
    assert send(address, "/1/events", {"events": [click, viewed]})[::2] == (200, {"status": 200, "message": "OK"})
    assert documented.execute("SELECT count(*) FROM docsearch.feedback") == [(1,)]
    assert send(address, "/1/events", {"events": [click] * 21})[0] == 400
    assert send(address, "/1/events", {"events": [{**click, "queryID": "unknown"}]})[0] in (400, 404)


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with sync_playwright() as playwright:
        # Root, as whom tests run, has no sandbox.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Site(BaseHTTPRequestHandler):
    """A page for each version of the search box, which asks the server that the address names."""

    def do_GET(self) -> None:
        at = urlsplit(self.path)
        asked = dict(parse_qsl(at.query))
        if at.path == "/docsearch.js":
            content = (NODE / f"docsearch-{asked['version']}" / "dist" / "umd" / "index.js").read_bytes()
        elif at.path == "/":
            named = f"indices: [{asked['index']!r}], facets: [{{key: 'version'}}]" if asked["version"] == "5" else f"indexName: {asked['index']!r}"
            content = f"""<!doctype html><meta charset=utf-8><title>Kit</title><div id=search></div>
                <script src="/docsearch.js?version={asked['version']}"></script><script>
                docsearch({{container: '#search', appId: 'any', apiKey: 'anonymous', {named}, transformSearchClient(client) {{
                    client.transporter.hosts.splice(0, Infinity, {{protocol: 'http', url: '{asked['server']}', accept: 'readWrite'}});
                    return client; }} }});</script>""".encode()
        else:
            content = b""
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if at.path.endswith(".js") else "text/html")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()


def opened(browser: "Browser", site: str, address: str, version: str, index: str) -> "Page":
    """A page of a site with its search box open."""
    tab = browser.new_page()
    tab.set_default_timeout(20_000)
    tab.goto(f"{site}?{urlencode({'version': version[0], 'index': index, 'server': urlsplit(address).netloc})}")
    tab.locator(".DocSearch-Button").click()
    return tab


def elements(tab: "Page") -> set[str]:
    """The names of the elements that texts of results have become."""
    return set(tab.locator(".DocSearch-Hit-title *, .DocSearch-Hit-path *").evaluate_all("found => found.map(one => one.localName)"))


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.parametrize("version", RECORDED)
def test_s4_51_each_version_shows_results(browser: "Browser", site: str, address: str, version: str) -> None:
    tab = opened(browser, site, address, version, "kit")
    tab.keyboard.type("pause of every attempt")
    first = tab.locator(".DocSearch-Hit a").first
    expect(first).to_contain_text("The pause doubles with every attempt.")
    expect(first).to_have_attribute("href", f"{SITE}/retry#backoff")
    expect(first.locator("mark").first).to_have_text("pause")
    if version.startswith("5"):
        expect(tab.get_by_role("button", name=re.compile("Version"))).to_be_visible()
    tab.close()


@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium")
@pytest.mark.parametrize("version", RECORDED)
def test_s4_51_no_version_runs_what_documents_say(browser: "Browser", site: str, address: str, version: str) -> None:
    tab = opened(browser, site, address, version, "hostile")
    start = tab.url
    failures: list[str] = []
    tab.on("dialog", lambda dialog: (failures.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda sent: failures.append(sent.url) if "evil.test" in sent.url else None)
    tab.evaluate("() => { window.alert = () => { window.ran = true } }")
    for query in ("zebra onerror alert", "zebra svg script", "zebra style"):
        tab.locator(".DocSearch-Input").fill(query)
        expect(tab.locator(".DocSearch-Hit").first).to_contain_text("ebra")
        assert elements(tab) <= {"mark", "span"}
    # A result that was opened is shown again from what the browser has stored.
    assert not tab.evaluate("window.ran === true")
    tab.keyboard.press("Enter")
    expect(tab).to_have_url(re.compile("/doc/hostile/"))
    tab.goto(start)
    tab.locator(".DocSearch-Button").click()
    expect(tab.locator(".DocSearch-Modal")).to_be_visible()
    assert elements(tab) <= {"mark", "span"} and not failures
    tab.close()
