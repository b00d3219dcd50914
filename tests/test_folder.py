"""`docsearch index` turns a folder into a project's documents, and follows its changes."""

import os
import re
import subprocess
import time
from pathlib import Path

import pytest
from conftest import GUARD, Database

pytestmark = pytest.mark.any_server("files are read by the program, and index_docs gets the same documents")

# Seconds after which files count as settled, and the message when none is read.
SETTLED, UNREAD = 2.1, "no file has changed since the last run"
COMPLETE, PARTIAL, FAILED = 0, 1, 2
DEBUG_TEXT = re.compile(r"panicked|unwrap|RUST_BACKTRACE|\w+ \{ |\w+\(\"|kind: |src/\w+\.rs")
DOCUMENTS = """
    SELECT d.slug, d.title, d.category, d.metadata FROM docsearch.document d
    JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = %s ORDER BY d.slug"""
VECTORS = """
    SELECT d.slug, v.chunk_no, v.xmin::text FROM docsearch.vector_1 v
    JOIN docsearch.document d ON (d.project_id, d.id) = (v.project_id, v.document_id)
    JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = %s"""
FOUR_PAGES = {
    "guides/start.md": "---\ntitle: Getting started\ncategory: Basics\nlevel: beginner\n---\n"
                       "Install the kit with `kit install`.\n",
    "guides/tabs.mdx": "import Tabs from './tabs'\n\n# Tabs\n\n<Tabs>\n\nChoose a panel.\n\n</Tabs>\n",
    "reference/session.rst": "Session\n=======\n\nOpens a :class:`Connection` to the server.\n",
    "notes.txt": "A note about zebras.\n",
}


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, contents in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
    return folder


def docsearch(*arguments: object, conninfo: str | None = None) -> subprocess.CompletedProcess:
    """Runs the program, and checks that its output is for users, not for developers."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    if conninfo:
        environment["DOCSEARCH_URL"] = conninfo
    done = subprocess.run([os.environ["DOCSEARCH_TEST_CLI"], *map(str, arguments)],
                          capture_output=True, text=True, env=environment, timeout=GUARD)
    assert not DEBUG_TEXT.search(done.stderr), done.stderr
    return done


def index(database: Database, folder: Path, project: str, *options: str,
          status: int = COMPLETE) -> subprocess.CompletedProcess:
    done = docsearch("index", folder, "--project", project, *options, conninfo=database.conninfo)
    assert done.returncode == status, done.stderr
    return done


def summary(done: subprocess.CompletedProcess) -> dict[str, int]:
    """The counts in the last line that are not 0."""
    line = done.stdout.splitlines()[-1]
    assert re.search(r" in \d+\.\d s \(\d+\.\d documents/s\)$", line), line
    return {name: int(count) for name, count in re.findall(r"([a-z]+) (\d+)[, ]", line) if int(count)}


def slugs(database: Database, project: str) -> list[str]:
    return [row[0] for row in database.execute(DOCUMENTS, project)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", FOUR_PAGES)


def test_every_format_becomes_a_page(database, folder):
    assert summary(index(database, folder, "formats", "--title", "All formats")) == {"added": 4}
    assert database.execute(DOCUMENTS, "formats") == [
        ("guides/start", "Getting started", "Basics", {"level": "beginner"}),
        ("guides/tabs", "Tabs", "guides", {}),
        ("notes", "notes", None, {}),
        ("reference/session", "Session", "reference", {}),
    ]
    for query, slug in (("kit install", "guides/start"), ("panel", "guides/tabs"),
                        ("zebras", "notes"), ("Connection", "reference/session")):
        assert database.execute("SELECT slug FROM search_docs(%s, 'formats')", query)[0] == (slug,)


def test_a_second_run_embeds_only_changes_and_deletes_missing_pages(database, folder):
    index(database, folder, "rerun")
    before = set(database.execute(VECTORS, "rerun"))
    assert summary(index(database, folder, "rerun")) == {"unchanged": 4}
    assert set(database.execute(VECTORS, "rerun")) == before

    write(folder, {"notes.txt": "A note about okapis.\n"})
    (folder / "guides/tabs.mdx").unlink()
    assert summary(index(database, folder, "rerun")) == {"changed": 1, "unchanged": 2, "deleted": 1}
    assert slugs(database, "rerun") == ["guides/start", "notes", "reference/session"]
    assert {row[0] for row in set(database.execute(VECTORS, "rerun")) - before} == {"notes"}


def test_files_that_have_not_changed_are_not_read_again(database, folder):
    write(folder, {"again.rst": "Again\n=====\n\nOnce more.\n\n.. include:: gone.rst\n", "guides/start.txt": "A second start."})
    time.sleep(SETTLED)
    first = index(database, folder, "still", status=PARTIAL)
    messages = {line for line in first.stderr.splitlines() if line.startswith(("warning: again.rst", "skipped: guides/start"))}
    assert len(messages) == 2
    second = index(database, folder, "still", status=PARTIAL)
    assert UNREAD in second.stderr
    assert messages <= set(second.stderr.splitlines()), "problems are reported again"
    assert summary(second) == {"unchanged": 5, "skipped": 1}
    assert UNREAD not in index(database, folder, "still", "--refresh", status=PARTIAL).stderr
    assert UNREAD not in index(database, folder, "still", "--version", "2", status=PARTIAL).stderr
    assert database.execute("SELECT DISTINCT version FROM list_docs('still')") == [("2",)]


def test_changes_of_documents_by_others_are_reverted(database, folder):
    time.sleep(SETTLED)
    index(database, folder, "restored")
    assert UNREAD in index(database, folder, "restored").stderr
    database.execute("SELECT docsearch.delete_doc('restored', 'notes')")
    assert summary(index(database, folder, "restored")) == {"added": 1, "unchanged": 3}
    database.execute("SELECT docsearch.drop_project('restored')")
    assert summary(index(database, folder, "restored")) == {"added": 4}
    write(folder, {"notes.txt": "A note about horses."})
    assert summary(index(database, folder, "restored")) == {"changed": 1, "unchanged": 3}
    assert UNREAD not in index(database, folder, "restored").stderr, "a file that was just written may be written again"


def test_pages_of_one_title_get_distinct_titles_and_are_found_by_both(database, tmp_path):
    write(tmp_path, {
        "parser/index.md": "# The parser\n\nIt reads text.\n",
        "parser/changes.md": "# Change history\n\nIt reads twice as fast.\n",
        "lexer/changes.md": "# Change history\n\nIt knows numbers.\n",
        "lexer/use.adoc": "= Use\n\nCall it.\n\ninclude::options.adoc[]\n",
        "lexer/options.adoc": "--fast::\n  It guesses.\n",
    })
    done = index(database, tmp_path, "titles")
    assert "part of other pages: 1" in done.stderr
    titles = {slug: title for slug, title, *_ in database.execute(DOCUMENTS, "titles")}
    assert titles == {"parser": "The parser", "parser/changes": "Change history (The parser)",
                      "lexer/changes": "Change history (lexer)", "lexer/use": "Use"}
    assert summary(index(database, tmp_path, "titles", "--refresh"))["unchanged"] == len(titles)
    found = [slug for slug, in database.execute("SELECT slug FROM search_docs('change history', 'titles', max_results => 2)")]
    assert sorted(found) == ["lexer/changes", "parser/changes"]
    [(first,)] = database.execute("SELECT slug FROM search_docs('parser change history', 'titles', max_results => 1)")
    assert first == "parser/changes"


def test_a_folder_owns_only_its_own_documents(database, folder, tmp_path):
    other = write(tmp_path / "blog", {"welcome.md": "# Welcome\n", "old.md": "# Old\n"})
    index(database, folder, "shared")
    index(database, other, "shared", "--prefix", "blog")
    (other / "old.md").unlink()
    assert summary(index(database, other, "shared", "--prefix", "blog")) == {"unchanged": 1, "deleted": 1}
    assert slugs(database, "shared") == [
        "blog/welcome", "guides/start", "guides/tabs", "notes", "reference/session"]


def test_a_broken_file_is_reported_and_loses_nothing_else(database, folder):
    write(folder, {"binary.md": b"MZ\x00\x01", "latin.md": b"caf\xe9", "long.md": f"---\nslug: {'x' * 1100}\n---\n"})
    done = index(database, folder, "broken", status=PARTIAL)
    assert summary(done) == {"added": 4, "failed": 1, "skipped": 2}
    lines = done.stderr.splitlines()
    assert "skipped: binary.md: binary: NUL byte at offset 2" in lines
    assert "skipped: latin.md: not UTF-8: invalid byte at offset 3" in lines
    assert [line for line in lines if line.startswith("failed: long.md: ")], lines


def test_an_unreadable_file_keeps_its_page(database, folder):
    index(database, folder, "kept")
    write(folder, {"notes.txt": b"\xff"})
    assert summary(index(database, folder, "kept", status=PARTIAL)) == {"unchanged": 3, "skipped": 1}
    assert "notes" in slugs(database, "kept")


def test_odd_documents_are_documents(database, tmp_path):
    folder = write(tmp_path, {
        "empty.md": b"",
        "headings.md": "".join(f"# Heading {number}\n\n" for number in range(10_000)),
        "fence.md": "# Fence\n\n```python\nprint('never closed')\n\n## still code\n",
    })
    assert summary(index(database, folder, "odd")) == {"added": 3}
    chunks = dict(database.execute(
        "SELECT d.slug, d.chunk_count FROM docsearch.document d "
        "JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = 'odd'"))
    assert chunks["empty"] >= 1
    assert 1 < chunks["headings"] < 10_000
    for query, slug in (("empty", "empty"), ("Heading 9999", "headings"), ("never closed", "fence")):
        assert database.execute("SELECT slug FROM search_docs(%s, 'odd')", query)[0] == (slug,)
    section, = database.execute("SELECT section FROM search_docs('still code', 'odd')")[0]
    assert "still code" not in section


def test_errors_end_with_status_2_and_a_hint(database, folder, tmp_path):
    (tmp_path / "empty").mkdir()
    refused = (
        index(database, tmp_path / "empty", "none", status=FAILED),
        index(database, folder, "two words", status=FAILED),
        docsearch("index", folder, "--project", "none",
                  conninfo=f"host={tmp_path} dbname=none user=nobody"),
    )
    for done in refused:
        assert done.returncode == FAILED
        assert done.stderr.startswith("docsearch: ")
        assert "HINT:  " in done.stderr
    for done in (index(database, tmp_path / "missing", "none", status=FAILED),
                 docsearch("index"), docsearch("no-such-command")):
        assert done.returncode == FAILED
        assert done.stderr
    assert database.execute("SELECT name FROM docsearch.project WHERE name IN ('none', 'two words')") == []
