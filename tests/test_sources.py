"""Sources other than Markdown, and sites, with `docsearch index` and `docsearch crawl`."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from conftest import GUARD, Database, held_document, kept_waiting_by, started, wait_until
from test_folder import COMPLETE, FAILED, PARTIAL, VECTORS, docsearch, index, slugs, summary, write

pytestmark = pytest.mark.any_server("files and sites are read by the program, and index_docs gets the same documents")

INTERRUPTED = 130
# Long enough that sections are chunks of their own.
FILLER = "<p>" + "Nothing to see here, walk along. " * 30 + "</p>"
FORMATS = {
    "guide/retry.html": f"""<html><head><title>Retry - Kit</title></head><body><nav>Home Search</nav><main>
        <h1>Retrying</h1>{FILLER}<h2 id="backoff">Backoff<a class="headerlink" href="#backoff">¶</a></h2>
        <p>The pause doubles with every attempt.</p>
        <pre><code class="language-python">kit.retry(attempts=3)</code></pre></main></body></html>""",
    "notebook.ipynb": json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Plotting whales\n", "Counts by year."]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["whales.plot_by_year()"]}]}),
    "api.yaml": """openapi: 3.0.0
info: {title: Pet store, version: '1'}
paths:
  /pets:
    get: {operationId: listPets, summary: Lists all pets, responses: {'200': {description: Pets}}}
    post: {operationId: addPet, summary: Adds a pet, responses: {'201': {description: Created}}}
""",
    "llms-full.txt": "# Meteors\nSource: https://kit.test/meteors\n\nRocks that fall.\n\n"
                     "# Moons\nSource: https://kit.test/moons\n\nRocks that circle.\n\n"
                     "# Comets\nSource: https://kit.test/comets\n\nSnowballs that fly.\n",
}
PAGES = {
    "/": "<h1>Kit</h1><p>Start here.</p><a href=/install.html>Install</a> <a href=/use.html>Use</a>",
    "/install.html": f"<h1>Installing</h1>{FILLER}<h2 id=linux>On Linux</h2><p>Unpack the zebra archive.</p><a href=/>Up</a>",
    "/use.html": "<h1>Using</h1><p>Call the okapi service.</p>",
}


class Handler(BaseHTTPRequestHandler):
    """Serves the pages of its site. Markdown pages are served unchanged; a page that is a number is that error."""

    def __init__(self, pages: dict[str, str | int], *arguments):
        self.pages = pages
        super().__init__(*arguments)

    def do_GET(self):
        page = self.pages.get(self.path, 404)
        self.send_response(page if isinstance(page, int) else 200)
        is_markdown = self.path.endswith(".md")
        text = page if is_markdown else f"<html><body><main>{page}</main></body></html>"
        body = b"" if isinstance(page, int) else text.encode()
        self.send_header("Content-Type", f"text/{'markdown' if is_markdown else 'html'}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@dataclass
class Site:
    """A web server on the loopback interface, its pages, and crawls of it into a project."""

    url: str
    pages: dict[str, str | int]
    database: Database
    cache: Path
    project: str

    def crawl(self, *options: str, status: int = COMPLETE) -> subprocess.CompletedProcess:
        done = docsearch("crawl", self.url, "--project", self.project, "--cache-dir", self.cache, "--delay", 0,
                         "--retries", 0, *options, conninfo=self.database.conninfo)
        assert done.returncode == status, done.stderr
        return done

    def slugs(self) -> list[str]:
        return slugs(self.database, self.project)


@pytest.fixture
def site(database: Database, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    pages: dict[str, str | int] = dict(PAGES)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, pages))
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield Site(f"http://127.0.0.1:{server.server_port}/", pages, database, tmp_path / "cache", request.node.name[:60])
    server.shutdown()
    server.server_close()


def events(done: subprocess.CompletedProcess) -> list[dict]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def first(database: Database, query: str, project: str) -> tuple:
    rows = database.execute("SELECT slug, title, section FROM search_docs(%s, %s)", query, project)
    return rows[0]


def test_every_format_arrives_with_title_sections_and_code(database, tmp_path):
    folder = write(tmp_path / "docs", FORMATS)
    assert summary(index(database, folder, "kinds")) == {"added": 8}
    assert slugs(database, "kinds") == ["api", "api/addPet", "api/listPets", "comets", "guide/retry", "meteors",
                                        "moons", "notebook"]
    for query, found in (
        ("the pause doubles", ("guide/retry", "Retrying", "Backoff")),
        ("whales.plot_by_year", ("notebook", "Plotting whales")),
        ("GET /pets", ("api/listPets",)),
        ("snowballs", ("comets", "Comets")),
    ):
        assert first(database, query, "kinds")[:len(found)] == found
    page, = database.execute("SELECT load_doc('kinds/guide/retry#backoff')")[0]
    assert "```python\nkit.retry(attempts=3)\n```" in page
    assert "Home Search" not in page
    assert "walk along" not in page


def test_documents_that_vanish_from_a_file_are_deleted(database, tmp_path):
    folder = write(tmp_path / "docs", FORMATS)
    index(database, folder, "fewer")
    before = set(database.execute(VECTORS, "fewer"))
    write(folder, {"llms-full.txt": FORMATS["llms-full.txt"].split("# Comets")[0],
                   "api.yaml": FORMATS["api.yaml"].split("    post:")[0]})
    assert summary(index(database, folder, "fewer")) == {"changed": 1, "unchanged": 5, "deleted": 2}
    assert "comets" not in slugs(database, "fewer")
    assert "api/addPet" not in slugs(database, "fewer")
    kept = {row for row in before if row[0] in ("guide/retry", "meteors", "notebook")}
    assert kept < set(database.execute(VECTORS, "fewer"))


def test_json_lines_and_events(database, tmp_path):
    lines = [json.dumps({"slug": slug, "title": slug, "body": f"About {slug}."}) for slug in ("ant", "bee")]
    path = write(tmp_path, {"animals.jsonl": "\n".join([*lines, "{bad"])}) / "animals.jsonl"
    arguments = ("index", "--jsonl", path, "--project", "lines", "--source-root", "animals", "--json")
    done = docsearch(*arguments, conninfo=database.conninfo)
    assert done.returncode == PARTIAL
    reported = events(done)
    assert [(event["source"], event["event"]) for event in reported if event["event"] == "skipped"] == [
        (f"{path}:3", "skipped")]
    assert {key: reported[-1][key] for key in ("event", "added", "deleted", "skipped")} == {
        "event": "done", "added": 2, "deleted": 0, "skipped": 1}
    path.write_text(lines[0])
    done = docsearch(*arguments, conninfo=database.conninfo)
    assert (done.returncode, events(done)[-1]["deleted"], slugs(database, "lines")) == (COMPLETE, 1, ["ant"])


def pending_signals(pid: int) -> int:
    """The pending signals of a process, one bit each."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1], 16) for line in lines if line.startswith(("SigPnd:", "ShdPnd:")))


def test_an_interrupted_run_leaves_whole_batches(database, tmp_path):
    folder = write(tmp_path / "docs", {f"{number:04}.md": f"# Page {number}\n\nText {number}.\n"
                                       for number in range(400)})
    command = [os.environ["DOCSEARCH_TEST_CLI"], "index", str(folder), "--project", "stopped", "--batch", "5"]
    environment = {**os.environ, "DOCSEARCH_URL": database.conninfo}
    database.execute("SELECT docsearch.create_project('stopped')")
    with (held_document(database, "stopped", "0100") as holder,
          started(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process):
        wait_until(lambda: kept_waiting_by(database, holder))
        process.send_signal(signal.SIGINT)
        wait_until(lambda: not pending_signals(process.pid))
        holder.close()
        output, problems = process.communicate(timeout=GUARD)
    assert process.returncode == INTERRUPTED, problems
    done = len(slugs(database, "stopped"))
    assert f"added {done}," in output
    assert 0 < done < 400
    assert done % 5 == 0
    assert summary(index(database, folder, "stopped")) == {"added": 400 - done, "unchanged": done}


def test_a_site_is_crawled_and_kept_in_step(site, database):
    assert site.crawl("--allow-private").stdout.startswith("3 pages, 3 responses fetched")
    assert site.slugs() == ["127.0.0.1", "install", "use"]
    assert first(database, "zebra archive", site.project) == ("install", "Installing", "On Linux")
    urls = "SELECT d.source_urls FROM docsearch.document d WHERE d.slug = 'install' AND d.source_root = %s"
    assert database.execute(urls, site.url) == [([f"{site.url}install.html"],)]

    before = set(database.execute(VECTORS, site.project))
    assert summary(site.crawl("--allow-private")) == {"unchanged": 3}
    assert set(database.execute(VECTORS, site.project)) == before

    site.pages["/"] = PAGES["/"].replace("<a href=/use.html>Use</a>", "")
    del site.pages["/use.html"]
    site.pages["/install.html"] = 500
    done = site.crawl("--allow-private", status=PARTIAL)
    assert "failed: " in done.stderr
    assert site.slugs() == ["127.0.0.1", "install"]


def test_pages_that_are_crawled_have_the_questions_of_their_front_matter(site, database):
    site.pages["/"] += "<a href=/tips.md>Tips</a>"
    site.pages["/tips.md"] = "---\nquestions:\n- any advice\n- {heading: Heat, question: too hot}\n- [x]\n---\n# Tips\n\n## Heat\n\nFan.\n"
    done = site.crawl("--allow-private", status=PARTIAL)
    assert f"{site.url}tips.md: front matter: 1 of 3 questions left out; number 3: " in done.stderr
    questions = "SELECT slug, anchor, question FROM docsearch.questions(%s) ORDER BY 1, 2"
    assert database.execute(questions, site.project) == [("tips", "", "any advice"), ("tips", "heat", "too hot")]


def test_pages_that_are_crawled_have_the_questions_of_a_file(site, database, tmp_path):
    site.pages["/"] += "<a href=/tips.md>Tips</a>"
    site.pages["/tips.md"] = "---\nquestions: [any advice]\n---\n# Tips\n\n## Heat\n\nFan.\n"
    named = [("/tips.md", "Heat", "too hot"), ("tips", "", "help me"), (f"{site.url}tips.md", "Haet", "x"), ("tips.md", "", "help me"),
             ("/gone", "", "y"), ("use", "", "how is it used")]
    file = tmp_path / "asked.jsonl"
    lines = [json.dumps({"file": page, "heading": heading, "question": question}) for page, heading, question in named]
    file.write_text("\n".join([*lines, "{}"]))
    done = site.crawl("--allow-private", "--questions", str(file), status=FAILED)
    assert "asked.jsonl:7: file and question must be strings" in done.stderr and "has lines that cannot be read" in done.stderr
    file.write_text("\n".join(lines))
    done = site.crawl("--allow-private", "--questions", str(file), status=PARTIAL)
    warnings = [line for line in done.stderr.splitlines() if str(file) in line]
    assert len(warnings) == 2
    assert 'asked.jsonl:3: ' in done.stderr and 'has no heading "Haet"' in done.stderr and 'Perhaps you mean "Heat".' in done.stderr
    assert "asked.jsonl:5: /gone is no page" in done.stderr
    questions = "SELECT slug, anchor, question FROM docsearch.questions(%s) ORDER BY 1, 2, 3"
    stored = database.execute(questions, site.project)
    assert stored == [("tips", "", "any advice"), ("tips", "", "help me"), ("tips", "", "x"), ("tips", "heat", "too hot"), ("use", "", "how is it used")]
    site.crawl("--allow-private")
    assert database.execute(questions, site.project) == [("tips", "", "any advice"), ("use", "", "how is it used")]
    done = docsearch("crawl", site.url, "--project", site.project, "--questions", str(tmp_path / "none.jsonl"),
                     conninfo=database.conninfo)
    assert done.returncode == 2 and "none.jsonl" in done.stderr


def test_crawls_report_events_to_programs(site):
    site.pages["/use.html"] = 500
    done = site.crawl("--allow-private", "--json", status=PARTIAL)
    reported = events(done)
    failed, = (event for event in reported if event["event"] == "failed")
    assert (failed["source"], failed["from"]) == (f"{site.url}use.html", site.url)
    assert {key: reported[-1][key] for key in ("event", "added", "failed", "pages", "fetched")} == {
        "event": "done", "added": 2, "failed": 1, "pages": 2, "fetched": 2}


def test_private_addresses_are_refused(site):
    done = site.crawl(status=FAILED)
    assert "loopback address" in done.stderr
    assert "HINT:  Use --allow-private" in done.stderr
    assert site.slugs() == []


def test_a_dry_run_needs_no_database(site, tmp_path):
    done = docsearch("crawl", site.url, "--project", "none", "--cache-dir", tmp_path, "--delay", 0, "--allow-private",
                     "--dry-run", conninfo="host=/nowhere")
    assert done.returncode == COMPLETE, done.stderr
    assert [json.loads(line)["title"] for line in done.stdout.splitlines()] == ["Kit", "Installing", "Using"]
