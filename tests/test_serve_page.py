"""The page of `docsearch serve`: searching and reading without JavaScript, and what the page may load."""

import contextlib
import gzip
import http.client
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from conftest import GUARD, Database, page
from front import document, private, serving
from logged_calls import random_log
from psycopg import sql

pytestmark = pytest.mark.any_server("the server that answers is the program, which speaks SQL alone")

WEB = "web-0123456789abcdef"
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
          "base-uri 'none'; frame-ancestors 'none'")
# Each is one that some renderer or sanitizer once let through.
HOSTILE = [
    "<script>alert(1)</script>", "<ScRiPt src=//evil.test/x.js></sCrIpT>", "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>", "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](&#106;avascript:alert(1))", "[a](java\tscript:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)", "[a](vbscript:x)", "<a href='jav&#x0A;ascript:alert(1)'>a</a>",
    "![a](javascript:alert(1))", "![a\" onerror=\"alert(1)](x.png)", "![a](x\"onerror=\"alert(1))", "<javascript:alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>", "<object data=x></object>", "<embed src=x>", "<base href=//evil.test>",
    "<meta http-equiv=refresh content='0;url=//evil.test'>", "<link rel=stylesheet href=//evil.test/x.css>",
    "<form action=//evil.test><input name=q><button formaction=javascript:x>", "<style>@import '//evil.test'</style>",
    "<p style='background:url(//evil.test)' onclick=alert(1)>p</p>", "<a id='ds-query' name=x href=x>a</a>", "<!--><script>alert(1)</script>-->",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>", "<textarea><script>alert(1)</script>", "<title><script>alert(1)</script>",
    "```\"><script>alert(1)</script>\ncode\n```", "# Heading {#x\"onmouseover=\"alert(1)}", "<video autoplay src=x onplay=alert(1)>",
    "<details open ontoggle=alert(1)><summary>x", "<x-y onclick=alert(1)>custom</x-y>", "<div id=\"a\"onclick=alert(1)>", "</div></main></body>",
]

# Versions of a page, with metadata that they share.
SETUPS = [page(f"v1.{number}/setup", f"# Setup\n\nCalibrate the frobnicator{more}.", version=f"1.{number}", kind=kind, category=category,
               metadata={"platform": platform, "level": number % 2})
          for number, kind, category, platform, more in (
              (7, "tutorial", "guides", "macos", " once"), (8, "guide", "<b>'\"&", "linux", ""), (9, "guide", "guides", "linux", " twice"), (10, "tutorial", "guides", "macos", " at once"))]


class Tags(HTMLParser):
    """The tags of a page with their attributes, its identifiers and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data + " "

    def values(self, name: str) -> list[str]:
        """The values of an attribute, in order."""
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]

    def link(self, text: str) -> str:
        """The address of the link with this name."""
        return next(attributes["href"] for _, attributes in self.tags if attributes.get("aria-label") == text)

    def hits(self) -> list[str]:
        """The addresses of the results."""
        return [attributes["href"] for tag, attributes in self.tags if tag == "a" and attributes.get("class") == "hit"]


@pytest.fixture(scope="module")
def documented(new_database: Callable[..., Database]) -> Database:
    database = document(new_database())
    database.index("kit", page("hostile", "# Hostile\n\n" + "\n\n".join(HOSTILE) + "\n\nThe last word is kept."),
                   page("guides/links", "# Links\n\n[retry](retry.md#backoff) [session](../api/session.html) [gone](gone.md) "
                        "[elsewhere](https://example.test/x) ![picture](a/picture.png)\n\n## Own {#chosen}\n\n## Own\n",
                        source_urls=["https://kit.test/guides/links"]),
                   page("huge", "# Huge\n\n" + "\n\n".join(f"## Part {number}\n\n{'Words of a long part. ' * 3000}" for number in range(20))),
                   page("right", "# ימין\n\nטקסט מימין לשמאל.\n"), *SETUPS)
    return database


def get(address: str, path: str, headers: dict[str, str] | None = None, **query: object) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and content of a response."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=GUARD)
    with contextlib.closing(connection):
        connection.request("GET", f"{path}?{urlencode(query)}" if query else path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()


def read(address: str, path: str, headers: dict[str, str] | None = None, **query: object) -> Tags:
    """A page, which has to be there."""
    status, _, content = get(address, path, headers, **query)
    assert status == 200, content
    return Tags(content.decode())


def test_the_start_shows_the_projects(address: str) -> None:
    start = read(address, "/")
    assert {"kit", "other"} <= set(re.findall(r"\w+", start.text))
    assert [attributes["value"] for tag, attributes in start.tags if attributes.get("name") == "project"] == ["kit", "other"]


def test_a_search_needs_no_script(address: str) -> None:
    found = read(address, "/", q="pause of every attempt", project="kit")
    assert found.hits()[0] == "/doc/kit/guides/retry?q=pause+of+every+attempt&in=kit#backoff"
    assert found.values("data-summary")[0] in found.text
    assert all(hit.startswith("/doc/kit/") for hit in found.hits())
    assert "ds-query" in found.values("id") and "pause of every attempt" in found.values("value")


def test_a_fragment_is_the_part_of_the_page_that_changes(address: str) -> None:
    whole, part = (get(address, "/", q="retry", **more)[2].decode() for more in ({}, {"fragment": "true"}))
    timeless = [re.sub(r'data-token="[^"]*"', "", text) for text in (whole, part)]
    assert timeless[1] in timeless[0] and "<html" not in part


def test_nothing_relevant_is_said(address: str) -> None:
    found = read(address, "/", q="zygomorphic quantum flamenco")
    assert found.values("data-summary")[0].startswith("Nothing")


@pytest.mark.parametrize("parameters", [{"count": "many"}, {"part": "-1"}, {"utm_source": "x"}, {"fragment": "false"}])
def test_parameters_that_mean_nothing_are_ignored(address: str, parameters: dict[str, str]) -> None:
    assert read(address, "/", q="retry", **parameters).hits()


def test_several_projects_are_searched(address: str) -> None:
    both = read(address, "/?q=paint+retry&project=kit&project=other")
    assert {hit.split("/")[2] for hit in both.hits()} == {"kit", "other"} and all("in=kit&in=other" in hit for hit in both.hits())
    chosen = [attributes["value"] for tag, attributes in both.tags if attributes.get("name") == "project" and "checked" in attributes]
    assert chosen == ["kit", "other"]
    assert {hit.split("/")[2] for hit in read(address, "/?q=paint&project=oth*").hits()} == {"other"}


def test_s3_60_choices_narrow_a_search(address: str) -> None:
    found = read(address, "/?q=frobnicator&project=kit")
    for choice in ("category=guides", "kind=guide", "version=1.9", "version=latest", "meta.platform=linux", "meta.level=1",
                   "category=%3Cb%3E%27%22%26"):
        assert f"/?q=frobnicator&project=kit&{choice}" in found.values("href"), choice
    assert "guide 2 pages" in re.sub(r"\s+", " ", found.text) and "Results by meaning are not counted." in found.text
    narrowed = read(address, "/?q=frobnicator&project=kit&kind=guide&meta.platform=linux")
    assert {hit.split("?")[0] for hit in narrowed.hits()} == {"/doc/kit/v1.9/setup", "/doc/kit/guides/retry"}
    assert "in=kit&kind=guide&meta.platform=linux" in narrowed.hits()[0]
    assert narrowed.link("Remove the filter Kind: guide") == "/?q=frobnicator&project=kit&meta.platform=linux"
    # The other values of a key that is chosen are still offered, and the form keeps the choices.
    assert "/?q=frobnicator&project=kit&kind=guide&kind=tutorial" in read(address, "/?q=frobnicator&project=kit&kind=guide").values("href")
    assert {"kind": "guide", "meta.platform": "linux"}.items() <= {
        attributes["name"]: attributes["value"] for _, attributes in narrowed.tags if attributes.get("type") == "hidden"}.items()
    assert read(address, "/?q=frobnicator&fragment=facets").values("aria-current") == []


def test_choices_count_pages_with_any_word_if_none_has_all(address: str) -> None:
    assert "pages with any of them" in read(address, "/?q=frobnicator+dry&project=kit").text


@pytest.mark.parametrize("choice", ["kind=nosuch", "meta.nosuch=1", "meta.level=%7B%22not%22%3A1%7D", "kind=guide&version=latest&version=1.9"])
def test_choices_that_fit_nothing_can_be_removed(address: str, choice: str) -> None:
    status, _, content = get(address, f"/?q=frobnicator&{choice}")
    assert status in (200, 400) and not Tags(content.decode()).hits()


def test_a_document_links_to_its_versions(address: str) -> None:
    shown = read(address, "/doc/kit/v1.9/setup?q=frobnicator&in=kit&kind=guide")
    versions = [(attributes["href"].split("?")[0], attributes.get("aria-current")) for tag, attributes in shown.tags
                if tag == "a" and re.match("/doc/kit/v1", attributes.get("href", ""))]
    assert versions == [("/doc/kit/v1.10/setup", None), ("/doc/kit/v1.9/setup", "page"), ("/doc/kit/v1.8/setup", None),
                        ("/doc/kit/v1.7/setup", None)]
    assert "/?q=frobnicator&project=kit&kind=guide" in shown.values("href")
    assert "Versions" not in read(address, "/doc/kit/guides/retry").text


def test_a_document_has_the_anchors_of_its_sections(documented: Database, address: str) -> None:
    for slug in ("guides/retry", "guides/links", "long", "hostile"):
        anchors = [row[0] for row in documented.execute(
            "SELECT s ->> 'anchor' FROM load_doc_json(%s, project => 'kit') AS d, jsonb_array_elements(d -> 'sections') AS s", slug)]
        shown = read(address, f"/doc/kit/{slug}")
        identifiers = [attributes.get("id") for tag, attributes in shown.tags if re.fullmatch("h[1-6]", tag)]
        assert [anchor for anchor in anchors if anchor] == [identifier for identifier in identifiers if identifier]


def test_links_between_documents_stay_here(address: str) -> None:
    links = read(address, "/doc/kit/guides/links").values("href")
    for expected in ("/doc/kit/guides/retry#backoff", "/doc/kit/api/session", "https://kit.test/guides/gone.md", "https://example.test/x",
                     "https://kit.test/guides/a/picture.png", "#chosen", "https://kit.test/guides/links"):
        assert expected in links, (expected, links)


def test_no_document_is_more_than_text(address: str) -> None:
    for query in ({}, {"fragment": "true", "section": "hostile"}):
        shown = read(address, "/doc/kit/hostile", **query)
        assert {attributes.get("src", "").split("/")[1] for tag, attributes in shown.tags if tag in ("script", "img")} <= {"page"}
        assert not {tag for tag, _ in shown.tags} & {"iframe", "object", "embed", "base", "style", "video", "textarea", "x-y", "math"}
        handlers = [name for _, attributes in shown.tags for name in attributes if name.startswith("on") or name in ("style", "srcdoc", "formaction")]
        assert not handlers
        addresses = [urlsplit(value.strip()).scheme.lower() for name in ("href", "src", "action") for value in shown.values(name)]
        assert set(addresses) <= {"", "http", "https"}, addresses
        assert "The last word is kept." in shown.text
        assert all(value.startswith("/") for tag, attributes in shown.tags for name, value in attributes.items()
                   if name == "src" or (tag in ("link", "form") and name in ("href", "action")))


def test_a_long_document_comes_in_parts(address: str) -> None:
    first = read(address, "/doc/kit/huge")
    other = next(link for link in first.values("href") if link.endswith("#part-19"))
    assert "part=" in other and "part-19" not in first.values("id")
    assert "part-19" in read(address, other.split("#")[0]).values("id")
    assert read(address, "/doc/kit/huge", part="99").values("id")


def test_text_from_right_to_left_has_its_direction(address: str) -> None:
    shown = read(address, "/doc/kit/right")
    assert all(attributes.get("dir") == "auto" for tag, attributes in shown.tags if tag == "h1")


def test_an_explanation_is_a_table_with_bars(address: str) -> None:
    shown = read(address, "/why/kit/guides/retry", q="pause of every attempt")
    assert "lexical" in shown.text and [tag for tag, _ in shown.tags].count("rect") >= 3


def test_a_browser_may_load_nothing_but_the_page(address: str) -> None:
    for path in ("/", "/?q=retry", "/doc/kit/guides/retry", "/doc/kit/nosuch", "/why/kit/guides/retry?q=retry"):
        _, headers, content = get(address, path)
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        shown = Tags(content.decode())
        assert not [attributes for tag, attributes in shown.tags if (tag == "script" and "src" not in attributes) or "style" in attributes]
        for file in [*shown.values("src"), *(attributes["href"] for tag, attributes in shown.tags if tag == "link")]:
            status, kept, _ = get(address, file)
            assert (status, kept["cache-control"]) == (200, "public, max-age=31536000, immutable")
    assert get(address, "/page/0/page.js")[0] == 404


def test_answers_are_compressed_if_the_client_says_so(address: str) -> None:
    for path in ("/", "/?q=retry", "/v1/search?query=retry"):
        plain = get(address, path)
        _, headers, content = get(address, path, {"Accept-Encoding": "gzip"})
        assert headers["content-encoding"] == "gzip" and "accept-encoding" in headers["vary"]
        assert len(gzip.decompress(content)) > 0 and "content-encoding" not in plain[1]


@pytest.mark.parametrize(("path", "code", "words"), [
    ("/doc/kit/guides/retri", 404, "guides/retry"),
    ("/doc/nosuch/x", 404, "nosuch"),
    ("/?q=retry&project=nosuch", 404, "nosuch"),
    ("/why/kit/nosuch?q=x", 404, "nosuch"),
    ("/doc/kit/%FF", 400, ""),
])
def test_what_is_not_there_is_said_in_a_page(address: str, path: str, code: int, words: str) -> None:
    status, headers, content = get(address, path)
    assert status == code and headers["content-type"].startswith("text/html") and words in Tags(content.decode()).text


def test_an_empty_database_says_how_to_begin(new_database: Callable[..., Database]) -> None:
    with serving(new_database()) as address:
        assert "docsearch index FOLDER --project NAME" in read(address, "/").text
        assert get(address, "/", q="retry")[0] >= 400


def test_without_the_database_the_page_says_so(documented: Database) -> None:
    away = Database(re.sub(r"port=\d+|:\d+/", lambda found: found[0].replace(re.search(r"\d+", found[0])[0], "1"), documented.conninfo))
    with serving(away) as address:
        status, _, content = get(address, "/", q="retry")
        assert status == 503 and "The database is away" in Tags(content.decode()).text


@pytest.fixture(scope="module")
def reader(documented: Database) -> Iterator[str]:
    """A role that does not see internal documents."""
    role = sql.Identifier("page_reader")
    with documented.connect() as connection:
        connection.execute(sql.SQL("CREATE ROLE {}").format(role))
        connection.execute("SELECT docsearch.grant_usage('page_reader')")
        connection.execute("ALTER TABLE docsearch.document ENABLE ROW LEVEL SECURITY")
        connection.execute("CREATE POLICY seen ON docsearch.document FOR SELECT USING (category IS DISTINCT FROM 'internal')")
    yield "page_reader"
    with documented.connect() as connection:
        connection.execute("DROP POLICY seen ON docsearch.document")
        connection.execute("ALTER TABLE docsearch.document DISABLE ROW LEVEL SECURITY")
        connection.execute(sql.SQL("DROP OWNED BY {}").format(role))
        connection.execute(sql.SQL("DROP ROLE {}").format(role))


def test_hidden_documents_are_not_there(documented: Database, reader: str) -> None:
    with serving(documented, "--rate", "0", "--role", reader) as address:
        found = read(address, "/", q="the pause of the retry that nobody may see")
        assert not [hit for hit in found.hits() if "secret" in hit]
        for path in ("/doc/kit/secret", "/doc/kit/secret?fragment=true", "/why/kit/secret?q=retry"):
            status, _, content = get(address, path)
            assert status == 404 and "nobody" not in content.decode()
        assert "internal" not in read(address, "/").text


def test_s3_61_only_some_roles_see_the_status(documented: Database, reader: str, address: str) -> None:
    assert "Largest tables" in read(address, "/status").text and "/status" in read(address, "/").values("href")
    assert "Searches are not logged" in read(address, "/status").text
    checked = read(address, "/status?check=true")
    assert "Checks" in checked.text and "Largest tables" not in checked.text
    with serving(documented, "--rate", "0", "--role", reader) as limited:
        assert "/status" not in read(limited, "/").values("href")
        for path in ("/status", "/status?check=true", "/status?report=top_queries"):
            status, _, content = get(limited, path)
            assert status == 404 and "no such path" in content.decode()
        documented.execute("SELECT docsearch.grant_reports('page_reader')")
        with documented.connect() as connection:
            random_log(connection, 1, 200, ["the kiln <b>", "glaze"])
        shown = read(limited, "/status")
        assert "Largest tables" not in shown.text and "/status?check=true" not in shown.values("href")
        assert "Searches of each day" in shown.text and [tag for tag, _ in shown.tags].count("svg") >= 3
        assert "the kiln <b>" in shown.text and "b" not in [tag for tag, _ in shown.tags]
        assert "Rephrase rate" in read(limited, "/status?report=rephrase_rate").text
        assert "All of the status" in read(limited, "/status?report=nosuch").text
    documented.execute("TRUNCATE docsearch.query_log, docsearch.feedback, docsearch.gap_report")


def test_a_token_opens_the_page(documented: Database, reader: str, tmp_path: Path) -> None:
    tokens = private(tmp_path / "tokens", f"{WEB} {reader}\n")
    with serving(documented, "--token-file", tokens) as address:
        for path in ("/", "/?q=retry", "/doc/kit/guides/retry", "/doc/kit/nosuch", "/why/kit/guides/retry?q=retry"):
            for headers in ({}, {"Authorization": "Bearer web-unknown-token"}):
                status, _, content = get(address, path, headers)
                shown = Tags(content.decode())
                assert status == 401 and "ds-token" in shown.values("id") and "Retry" not in shown.text
            assert get(address, path, {"Authorization": f"Bearer {WEB}"})[0] == (404 if "nosuch" in path else 200)
        assert get(address, next(file for file in shown.values("src") if file.endswith(".js")))[0] == 200


def test_links_of_other_sites_lead_to_the_page_alone(address: str) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    for path in ("/", "/?q=retry", "/doc/kit/guides/retry"):
        assert get(address, path, link)[0] == 200
        for other in ({"Sec-Fetch-Dest": "iframe"}, {"Sec-Fetch-Mode": "no-cors"}, {"Origin": "https://evil.test"}):
            assert get(address, path, link | other)[0] == 403
    for path in ("/v1/search?query=retry", "/v1/docs", "/why/kit/guides/retry?q=x", "/status", "/mcp"):
        assert get(address, path, link)[0] == 403


def test_mcp_alone_has_no_page(documented: Database) -> None:
    with serving(documented, command="mcp") as address:
        assert get(address, "/")[0] == 404
