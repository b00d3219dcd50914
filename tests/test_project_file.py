"""`docsearch.toml`: `docsearch init` writes it, `docsearch index` needs nothing else, and `--watch` keeps it fresh."""

import os
import signal
import subprocess
import time
from contextlib import suppress

import pytest
from conftest import GUARD, Database
from test_folder import COMPLETE, FAILED, PARTIAL, docsearch, slugs, write

pytestmark = pytest.mark.any_server("files are read by the program, and index_docs gets the same documents")


def wait_for(database: Database, project: str, expected: list[str]) -> None:
    deadline = time.monotonic() + GUARD
    while slugs(database, project) != expected:
        assert time.monotonic() < deadline, slugs(database, project)
        time.sleep(0.1)


def test_index_needs_only_the_file_that_init_writes(database, tmp_path):
    write(tmp_path, {"README.md": "# Kit\n", "docs/v1/a.md": "# A\n", "docs/v2/a.md": "# A\n", "docs/b.md": "# B\n",
                     "docs/tests/c.md": "# C\n"})
    done = docsearch("init", tmp_path, "--project", "started")
    assert done.returncode == COMPLETE, done.stderr
    text = (tmp_path / "docsearch.toml").read_text()
    again = docsearch("init", tmp_path, "--project", "other")
    assert again.returncode == FAILED and "HINT:" in again.stderr
    assert (tmp_path / "docsearch.toml").read_text() == text

    for _ in range(2):
        done = docsearch("index", "--config", tmp_path / "docsearch.toml", conninfo=database.conninfo)
        assert done.returncode == COMPLETE, done.stderr
        assert slugs(database, "started") == ["1/a", "2/a", "b"]
    assert database.execute("SELECT version FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id "
                            "WHERE p.name = 'started' ORDER BY d.slug") == [("1",), ("2",), (None,)]


def test_one_file_has_several_projects(database, tmp_path):
    write(tmp_path, {"app/a.md": "# A\n", "kit/b.md": "# B\n", "kit/old/c.md": "# C\n"})
    config = write(tmp_path, {"docsearch.toml": "[project.fileapp]\npaths = ['app']\n[project.filekit]\npaths = ['kit']\n"
                                                "exclude = ['old/']\nprefix = 'kit'\n"}) / "docsearch.toml"
    done = docsearch("index", "--config", config, "--project", "filekit", conninfo=database.conninfo)
    assert done.returncode == COMPLETE, done.stderr
    assert (slugs(database, "filekit"), slugs(database, "fileapp")) == (["kit/b"], [])
    done = docsearch("index", "--config", config, conninfo=database.conninfo)
    assert done.returncode == COMPLETE, done.stderr
    assert slugs(database, "fileapp") == ["a"]
    config.write_text("[project.fileapp]\npath = ['app']\n")
    done = docsearch("index", "--config", config, conninfo=database.conninfo)
    assert done.returncode == FAILED and "Did you mean paths?" in done.stderr


def test_the_file_weighs_pages_and_pins_them_for_queries(database, tmp_path):
    """Front matter counts before the file, and pins that the file loses are removed. Those of others stay."""
    write(tmp_path, {"docs/guides/kiln.md": "# Kiln\n\nIt fires.\n", "docs/api/kiln.md": "# Kiln API\n\nIt fires.\n",
                     "docs/api/own.md": "---\nboost: 2\n---\n# Own\n", "docs/api/wrong.md": "+++\nboost = 'much'\n+++\n# Wrong\n",
                     "docs/text.adoc": "---\nboost: '1.5'\n---\n= Text\n\nIt fires.\n"})
    start = "project = 'pinned'\npaths = ['docs']\n[[boost]]\npaths = ['guides/']\nboost = 1.25\n[[boost]]\npaths = ['**']\nboost = 0.75\n"
    pins = "[[pin]]\nquery = ['who fires?', 'fire']\nfirst = ['api/own', 'later']\nnever = ['api/kiln']\n"
    config = write(tmp_path, {"docsearch.toml": start + pins}) / "docsearch.toml"

    def index() -> str:
        done = docsearch("index", "--config", config, conninfo=database.conninfo)
        assert done.returncode == COMPLETE, done.stderr
        return done.stderr

    said = index()
    assert "api/wrong.md: boost is not a number between 0.5 and 2" in said, said
    assert 'the pin of "who fires?" names pages that project "pinned" does not have: later' in said and "2 written, 0 removed" in said, said
    boosts = database.execute("SELECT d.slug, d.boost FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id "
                              "WHERE p.name = 'pinned' ORDER BY d.slug")
    assert boosts == [("api/kiln", 0.75), ("api/own", 2), ("api/wrong", None), ("guides/kiln", 1.25), ("text", 1.5)]
    found = [slug for slug, in database.execute("SELECT slug FROM search_docs('Who fires', 'pinned', max_results => 9)")]
    assert found[0] == "api/own" and "api/kiln" not in found, found

    assert "pins:" not in index()
    database.execute("SELECT docsearch.pin('pinned', 'by hand', first => '{text}')")
    config.write_text(start)
    assert "0 written, 2 removed" in index()
    assert database.execute("SELECT query, source FROM docsearch.pins('pinned')") == [("by hand", "")]


def test_a_folder_that_is_watched_stays_fresh(database, tmp_path):
    folder = write(tmp_path / "docs", {"a.md": "# A\n"})
    config = write(tmp_path, {"docsearch.toml": "project = 'fresh'\npaths = ['docs']\n"}) / "docsearch.toml"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    with subprocess.Popen([os.environ["DOCSEARCH_TEST_CLI"], "index", "--watch", "--config", str(config)],
                          env=environment | {"DOCSEARCH_URL": database.conninfo}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as program:
        try:
            wait_for(database, "fresh", ["a"])
            write(folder, {"new/b.md": "# B\n"})
            wait_for(database, "fresh", ["a", "new/b"])
            (folder / "a.md").unlink()
            wait_for(database, "fresh", ["new/b"])
            config.write_text("project = ")
            time.sleep(1)
            config.write_text("project = 'fresh'\npaths = ['docs']\nprefix = 'kit'\n")
            wait_for(database, "fresh", ["kit/new/b"])
            program.send_signal(signal.SIGINT)
            assert program.wait(GUARD) == COMPLETE
        finally:
            with suppress(ProcessLookupError):
                program.kill()


PAGES = {
    "docs/guide.md": "# Guide\n\nHow to begin with the kit.\n",
    "docs/controls/button.md": "---\nkeywords: [press, tap]\n---\n# Button\n\nStarts an action when a user pushes it.\n\n"
                               "## Styling\n\nRound borders and a shadow. " + "Borders have a width and a colour. " * 12 + "\n",
    "docs/controls/slider.md": "# Slider\n\nChooses a value between two ends.\n\n## Styling\n\nThe track may be thin.\n",
    "docs/controls/toggle.md": "# Toggle\n\nSwitches something on and off.\n",
}
GROUPED = ("project = '{}'\npaths = ['docs']\nroot_url = 'https://kit.test/docs/'\nurl_suffix = '.html'\n"
           "[[groups]]\nfolder = 'controls'\ntitle = 'Controls'\nsummary = 'What people press and drag.'\n"
           "keywords = ['widget']\n")
CHUNKS = """
    SELECT v.chunk_no, c.anchor, c.body, v.xmin::text FROM docsearch.vector_1 v
    JOIN docsearch.chunk c USING (project_id, document_id, chunk_no)
    JOIN docsearch.document d ON (d.project_id, d.id) = (v.project_id, v.document_id)
    JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = %s AND d.slug = 'controls'"""


def grouped(database, folder, project, *options, status=COMPLETE):
    done = docsearch("index", "--config", folder / "docsearch.toml", *options, conninfo=database.conninfo)
    assert done.returncode == status, done.stderr
    return done


def test_s3_50_pages_of_a_folder_become_one_document_and_each_keeps_its_source(database, tmp_path):
    write(tmp_path, PAGES | {"docsearch.toml": "project = 'kits'\npaths = ['docs']\n"})
    grouped(database, tmp_path, "kits")
    assert slugs(database, "kits") == ["controls/button", "controls/slider", "controls/toggle", "guide"]
    (tmp_path / "docsearch.toml").write_text(GROUPED.format("kits"))
    grouped(database, tmp_path, "kits")
    assert slugs(database, "kits") == ["controls", "guide"]

    (answer,), = database.execute("SELECT load_doc_json('kits/controls')")
    assert answer["title"] == "Controls" and answer["keywords"] == ["widget", "press", "tap"]
    assert answer["summary"] == "What people press and drag.\n\nButton: press, tap. Slider: Styling. Toggle."
    assert [section["anchor"] for section in answer["sections"]] == [
        "button", "button.styling", "slider", "slider.styling", "toggle"]
    site = "https://kit.test/docs/controls"
    for section, url, path in (("button", f"{site}/button.html", "controls/button.md"),
                               ("button.styling", f"{site}/button.html#styling", "controls/button.md"),
                               ("Slider", f"{site}/slider.html", "controls/slider.md")):
        (answer,), = database.execute("SELECT load_doc_json('kits/controls', section => %s)", section)
        assert (answer["url"], answer["section"]["source_path"]) == (url, path)
        (text,), = database.execute("SELECT load_doc('kits/controls', section => %s)", section)
        assert f"**Sources:** {url}\n" in text

    for query, anchor, url in (("borders with a shadow", "button.styling", f"{site}/button.html#styling"),
                               ("a value between two ends", "slider", f"{site}/slider.html"),
                               ("switch it on and off", "toggle", f"{site}/toggle.html"),
                               ("toggle", "toggle", f"{site}/toggle.html"),
                               (f"{site}/slider.html", "slider", f"{site}/slider.html"),
                               (f"{site}/button.html#styling", "button.styling", f"{site}/button.html#styling")):
        (answer,), = database.execute("SELECT search_docs_json(%s, 'kits')", query)
        first = answer["results"][0]
        assert (query, first["slug"], first["anchor"], first["url"]) == (query, "controls", anchor, url)
    assert database.problems() == []


def test_s3_50_a_page_of_a_group_that_changes_has_only_its_part_embedded(database, tmp_path):
    write(tmp_path, PAGES | {"docsearch.toml": GROUPED.format("parts")})
    grouped(database, tmp_path, "parts")
    before = set(database.execute(CHUNKS, "parts"))
    assert {anchor for _, anchor, _, _ in before} >= {"", "button", "slider", "toggle"}
    assert "unchanged 2" in grouped(database, tmp_path, "parts").stdout
    write(tmp_path, {"docs/controls/slider.md": "# Slider\n\nDrags a knob from left to right.\n\n## Styling\n\nThin.\n"})
    grouped(database, tmp_path, "parts")
    after = set(database.execute(CHUNKS, "parts"))
    assert {anchor.split(".")[0] for _, anchor, _, _ in after - before} == {"slider"}
    (tmp_path / "docs/controls/slider.md").unlink()
    grouped(database, tmp_path, "parts")
    (answer,), = database.execute("SELECT load_doc_json('parts/controls')")
    assert [section["anchor"] for section in answer["sections"]] == ["button", "button.styling", "toggle"]


def test_s3_50_a_group_stays_as_it_is_until_all_of_its_pages_can_be_read(database, tmp_path):
    write(tmp_path, PAGES | {"docsearch.toml": GROUPED.format("whole")})
    grouped(database, tmp_path, "whole")
    (before,), = database.execute("SELECT load_doc('whole/controls')")
    write(tmp_path, {"docs/controls/slider.md": b"\xff", "docs/controls/toggle.md": "# Toggle\n\nOther words.\n"})
    done = grouped(database, tmp_path, "whole", status=PARTIAL)
    assert 'document "controls" is not updated: controls/slider.md cannot be read' in done.stderr
    assert database.execute("SELECT load_doc('whole/controls')") == [(before,)]
    assert slugs(database, "whole") == ["controls", "guide"]


def test_s3_50_front_matter_and_lists_make_groups_too(database, tmp_path):
    write(tmp_path, {"docs/a.md": "---\ntopic: Fruit trees\n---\n# Apple\n\nRed.\n",
                     "docs/b.md": "---\ntopic: Fruit trees\n---\n# Pear\n\nGreen.\n",
                     "docs/c.md": "# Oak\n\nOld.\n", "docs/d.md": "# Elm\n\nTall.\n", "docs/e.md": "# Stone\n",
                     "docsearch.toml": "project = 'trees'\npaths = ['docs']\nprefix = 'all'\n"
                                       "[[groups]]\nfront_matter = 'topic'\n"
                                       "[[groups]]\npages = ['d.md', 'c.md']\nslug = 'others'\ntitle = 'Other trees'\n"})
    grouped(database, tmp_path, "trees")
    assert slugs(database, "trees") == ["all/e", "all/fruit-trees", "all/others"]
    (answer,), = database.execute("SELECT load_doc_json('trees/all/others')")
    assert [section["title"] for section in answer["sections"]] == ["Elm", "Oak"]
    (answer,), = database.execute("SELECT load_doc_json('trees/all/fruit-trees')")
    assert (answer["title"], [section["title"] for section in answer["sections"]]) == ("Fruit trees", ["Apple", "Pear"])
    done = grouped(database, tmp_path, "trees", tmp_path / "docs/d.md", "--project", "trees")
    assert 'document "all/others" is not updated: not all of its pages were read' in done.stderr
    assert database.execute("SELECT load_doc_json('trees/all/others') -> 'sections' -> 1 ->> 'title'") == [("Oak",)]
    write(tmp_path, {"docs/large.md": "---\ntopic: Fruit trees\n---\n# Fig\n\n" + "It has figs.\n\n" * 80_000})
    done = grouped(database, tmp_path, "trees")
    assert "is not grouped: the pages are too large for one document" in done.stderr
    assert slugs(database, "trees") == ["all/a", "all/b", "all/e", "all/large", "all/others"]
    (tmp_path / "docs/large.md").unlink()
    (tmp_path / "docs/e.md").write_text("---\nslug: others\n---\n# Stone\n")
    done = grouped(database, tmp_path, "trees")
    assert 'is not grouped: another page has the slug "all/others"' in done.stderr
    assert slugs(database, "trees") == ["all/c", "all/d", "all/fruit-trees", "all/others"]


def test_s3_50_a_group_follows_its_pages_while_they_are_watched(database, tmp_path):
    write(tmp_path, PAGES | {"docsearch.toml": GROUPED.format("watched")})
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    with subprocess.Popen([os.environ["DOCSEARCH_TEST_CLI"], "index", "--watch", "--config", tmp_path / "docsearch.toml"],
                          env=environment | {"DOCSEARCH_URL": database.conninfo}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as program:
        try:
            wait_for(database, "watched", ["controls", "guide"])
            write(tmp_path, {"docs/controls/knob.md": "# Knob\n\nTurns.\n"})
            deadline = time.monotonic() + GUARD
            while not database.execute("SELECT slug FROM search_docs('knob', 'watched') WHERE section = 'Knob'"):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            program.send_signal(signal.SIGINT)
            assert program.wait(GUARD) == COMPLETE
        finally:
            with suppress(ProcessLookupError):
                program.kill()
