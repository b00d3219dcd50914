"""`docsearch.questions.jsonl` and `docsearch questions`: what pages answer, in the words of their readers."""

import json
import time

import pytest
from test_folder import COMPLETE, FAILED, PARTIAL, SETTLED, UNREAD, docsearch, index, slugs, summary, write

pytestmark = pytest.mark.any_server("files are read by the program, and index_docs gets the same documents")

NAME = "docsearch.questions.jsonl"
PAGES = {
    "guide/start.md": "# Getting started\n\nHow to begin.\n\n## Install the `kit`\n\nRun it.\n\n## Options\n\nOne.\n\n"
                      "## Options\n\nTwo.\n",
    "session.rst": "Session\n=======\n\nOpens.\n\nThe :class:`Connection`\n-----------------------\n\nA wire.\n",
    "other.md": "# Other\n\nNothing.\n",
}


def line(file, heading, question):
    return json.dumps({"file": file, "heading": heading, "question": question}) + "\n"


def stored(database, project):
    return database.execute("SELECT slug, anchor, question FROM docsearch.questions(%s) ORDER BY 1, 2, 3", project)


def questions(database, *arguments, status=COMPLETE):
    done = docsearch("questions", *arguments, conninfo=database.conninfo)
    assert done.returncode == status, done.stderr
    return done


def test_pages_have_the_questions_of_the_file_in_their_folder_and_no_others(database, tmp_path):
    folder = write(tmp_path / "docs", PAGES)
    index(database, folder, "asked")
    database.execute("SELECT docsearch.set_questions('asked', 'other', '[\"by hand\"]')")
    index(database, folder, "asked", "--refresh")
    assert stored(database, "asked") == [("other", "", "by hand")]

    write(folder, {NAME: line("guide/start.md", "Install the `kit`", "how do I set it up")
                   + line("guide/start.md", "Getting started", "where do I begin")
                   + line("session.rst", "The :class:`~kit.Connection`", "how do I reach the server")})
    done = index(database, folder, "asked")
    assert UNREAD not in done.stderr and "left out" not in done.stderr
    assert slugs(database, "asked") == ["guide/start", "other", "session"]
    assert stored(database, "asked") == [
        ("guide/start", "", "where do I begin"), ("guide/start", "install-the-kit", "how do I set it up"),
        ("session", "the-connection", "how do I reach the server")]

    write(folder, {NAME: line("guide/start.md", "Instal the kid", "how do I set it up")
                   + line("gone.md", "", "where is it") + line("./guide/start.md", None, "what is it")})
    done = index(database, folder, "asked", status=PARTIAL)
    for warning in (f'{NAME}:1: guide/start.md has no heading "Instal the kid"; the question counts for the page', "Install the kit",
                    f"{NAME}:2: gone.md is no page; its question is left out"):
        assert warning in done.stderr, done.stderr
    assert summary(done)["skipped"] == 1
    assert stored(database, "asked") == [("guide/start", "", "how do I set it up"), ("guide/start", "", "what is it")]
    assert database.problems() == []


@pytest.mark.parametrize("damaged", ["no JSON\n", line("other.md", "", "x").encode("utf-16"), b"\x00", "[]\n", '{"file": "other.md"}'])
def test_a_damaged_file_changes_no_question(database, tmp_path, damaged):
    project = f"damaged-{tmp_path.name[-4:]}"
    folder = write(tmp_path / "docs", PAGES | {"other.md": "---\nquestions: [own]\n---\n# Other\n\nWords.\n"})
    good = line("guide/start.md", "Options", "which are there") + line("session.rst", "", "what opens it")
    write(folder, {NAME: good})
    index(database, folder, project)
    expected = [("guide/start", "options", "which are there"), ("other", "", "own"), ("session", "", "what opens it")]
    assert stored(database, project) == expected
    (folder / NAME).write_bytes(good.encode() + (damaged if isinstance(damaged, bytes) else damaged.encode()))
    done = index(database, folder, project, status=PARTIAL)
    assert f"{NAME}:3: " in done.stderr and "the questions of its pages stay as they are" in done.stderr
    assert stored(database, project) == expected
    done = questions(database, "import", project, folder / NAME, status=FAILED)
    assert "warning: line 3: " in done.stderr and "has lines that cannot be read" in done.stderr
    assert stored(database, project) == expected
    (folder / NAME).write_text(good + "\n" * 1_100_000)
    done = index(database, folder, project, "--refresh", "--max-file-size", "1", status=PARTIAL)
    assert f"{NAME}: larger than" in done.stderr and stored(database, project) == expected
    done = index(database, folder / NAME, project, status=FAILED)
    assert "holds questions, not a page" in done.stderr and "questions import" in done.stderr


def test_pages_that_become_one_document_keep_their_questions(database, tmp_path):
    rules = "project = 'grouped'\npaths = ['docs']\n[[groups]]\nfolder = 'guide'\n"
    folder = write(tmp_path, {
        "docs/guide/start.md": "---\nquestions: [what is it]\n---\n# Start\n\nBegin.\n\n## Options\n\nOne.\n",
        "docs/guide/stop.md": "# Stop\n\nEnd.\n\n## Options\n\nTwo.\n",
        "docs/" + NAME: line("guide/start.md", "Options", "which are there") + line("guide/stop.md", "Options", "how to end")
        + line("guide/stop.md", "", "it goes on") + line("guide", "Stop", "leave me alone") + line("guide/gone.md", "", "x"),
        "docsearch.toml": rules})
    done = docsearch("index", "--config", folder / "docsearch.toml", conninfo=database.conninfo)
    assert f"{NAME}:5: guide/gone.md is no page" in done.stderr and done.stderr.count(f"{NAME}:") == 1
    assert stored(database, "grouped") == [
        ("guide", "start", "what is it"), ("guide", "start.options", "which are there"), ("guide", "stop", "it goes on"),
        ("guide", "stop", "leave me alone"), ("guide", "stop.options", "how to end")]


def test_grouped_pages_are_named_by_an_import_as_by_a_file_in_their_folder(database, tmp_path):
    """The law: an import stores for a grouped page what indexing with the same lines stores."""
    named = [("guide/start.md", "Options", "which are there"), ("guide/start.md", "", "what is it"), ("guide/stop.md", "#options", "how to end"),
             ("guide/stop.md", "Stop", "it goes on"), ("guide", "#stop", "leave me alone"), ("other.md", "Other", "is there more")]
    lines = "".join(line(*each) for each in named)
    folder = write(tmp_path, {
        "docs/guide/start.md": "# Start\n\nBegin.\n\n## Options\n\nOne.\n", "docs/guide/stop.md": "# Stop\n\nEnd.\n\n## Options\n\nTwo.\n",
        "docs/other.md": "# Other\n\nNothing.\n",
        "docsearch.toml": "project = 'both'\npaths = ['docs']\n[[groups]]\nfolder = 'guide'\n", "q.jsonl": lines})
    arguments = ("index", "--config", folder / "docsearch.toml")
    assert docsearch(*arguments, conninfo=database.conninfo).returncode == COMPLETE
    assert questions(database, "import", "both", folder / "q.jsonl").stdout == "6 questions of 4 pages\n"
    imported = stored(database, "both")
    write(folder, {"docs/" + NAME: lines})
    assert docsearch(*arguments, conninfo=database.conninfo).returncode == COMPLETE
    assert stored(database, "both") == imported and len(imported) == len(named)

    # Pages of the document that the file does not name keep theirs; a slug names a page, too.
    write(folder, {"q.jsonl": line("guide/stop.md", "Opitons", "another") + line("guide/gone.md", "", "x")})
    done = questions(database, "import", "both", folder / "q.jsonl", status=PARTIAL)
    assert 'guide/stop.md has no heading "Opitons"' in done.stderr and "guide/gone.md is no page" in done.stderr
    kept = [("guide", "start", "what is it"), ("guide", "start.options", "which are there")]
    assert [row for row in stored(database, "both") if row[0] == "guide"] == [*kept, ("guide", "stop", "another")]
    write(folder, {"q.jsonl": line("guide/stop", "Options", "by slug")})
    questions(database, "import", "both", folder / "q.jsonl")
    assert [row for row in stored(database, "both") if row[0] == "guide"] == [*kept, ("guide", "stop.options", "by slug")]
    assert database.problems() == []


def test_a_file_of_questions_below_the_folder_is_named_and_not_read(database, tmp_path):
    folder = write(tmp_path / "docs", PAGES | {"guide/" + NAME: line("start.md", "Options", "which are there")})
    done = index(database, folder, "nested", status=PARTIAL)
    assert f"guide/{NAME}: not read" in done.stderr and '"guide/page.md"' in done.stderr, done.stderr
    assert "left out" not in done.stderr and stored(database, "nested") == []


def test_lines_of_documents_name_questions_that_are_not_stored_as_given(database, tmp_path):
    asked = [{"anchor": "optoins", "question": "which are there"}, "what is it", {"anchor": "options", "question": "which"}]
    document = {"slug": "kit", "title": "Kit", "body": "# Kit\n\nText.\n\n## Options\n\nOne.\n", "questions": asked}
    file = write(tmp_path, {"lines.jsonl": json.dumps(document)}) / "lines.jsonl"
    arguments = ("index", "--jsonl", file, "--project", "lines-asked")
    done = docsearch(*arguments, conninfo=database.conninfo)
    assert done.returncode == COMPLETE
    assert 'lines.jsonl:1: question 1: the page has no anchor "optoins"' in done.stderr and '"options"' in done.stderr, done.stderr
    file.write_text(json.dumps(document | {"questions": [" ", "what is it"]}))
    done = docsearch(*arguments, conninfo=database.conninfo)
    assert done.returncode == PARTIAL and "question 1 is empty" in done.stderr
    assert stored(database, "lines-asked") == [("kit", "", "what is it")]


def test_pages_have_the_questions_of_their_front_matter_too(database, tmp_path):
    matter = ("---\nquestions:\n- what is it\n- 404\n- {heading: Install the kit, question: 'how: do I set it up'}\n"
              "- {anchor: options-1, question: which others}\n---\n")
    folder = write(tmp_path / "docs", PAGES | {"guide/start.md": matter + PAGES["guide/start.md"]})
    index(database, folder, "matter")
    own = [("guide/start", "", "404"), ("guide/start", "", "what is it"),
           ("guide/start", "install-the-kit", "how: do I set it up"), ("guide/start", "options-1", "which others")]
    assert stored(database, "matter") == own
    assert database.execute("SELECT load_doc_json('guide/start', project => 'matter') -> 'metadata'") == [({},)]
    assert database.execute("SELECT DISTINCT source FROM docsearch.questions('matter')") == [("author",)]

    # With those of a file, each once.
    write(folder, {NAME: line("guide/start.md", "", "what is it") + line("guide/start.md", "#options", "which ones")
                   + line("other.md", "", "nothing")})
    index(database, folder, "matter")
    assert stored(database, "matter") == sorted(
        [*own, ("guide/start", "options", "which ones"), ("other", "", "nothing")])

    # Invalid questions are left out and reported; the page and its other questions are indexed.
    (folder / NAME).unlink()
    many = "\n".join(f"- question {number}" for number in range(70))
    write(folder, {
        "a.md": f"---\nquestions:\n- {'x' * 301}\n- kept\n- how do I: begin\n- {{heading: Opne, question: x}}\n---\n# A\n\n## Open\n",
        "b.rst": f"---\nquestions:\n{many}\n---\nB\n=\n", "c.md": "---\nquestions: 12\n---\n# C\n",
        "d.txt": "+++\nquestions = [true, \"fine\"]\n+++\n# D\n"})
    done = index(database, folder, "matter", status=PARTIAL)
    for warning in ("a.md: front matter: 2 of 4 questions left out; number 1: \"xxx",
                    "b.rst: front matter: 6 of 70 questions left out; number 65: the page: a section has at most 64 questions",
                    "c.md: front matter: questions must be a list", "d.txt: front matter: 1 of 2 questions left out; number 1: "):
        assert warning in done.stderr, done.stderr
    assert summary(done)["skipped"] == 10
    assert [row for row in stored(database, "matter") if row[0] in "acd"] == [("a", "", "kept"), ("a", "", "x"), ("d", "", "fine")]
    assert sum(row[0] == "b" for row in stored(database, "matter")) == 64
    assert slugs(database, "matter") == ["a", "b", "c", "d", "guide/start", "other", "session"]

    # Without the key they stay, as without the file; an empty list removes them.
    write(folder, {"a.md": "# A\n\n## Open\n", "d.txt": "+++\nquestions = []\n+++\n# D\n"})
    index(database, folder, "matter", status=PARTIAL)
    assert [row for row in stored(database, "matter") if row[0] in "ad"] == [("a", "", "kept"), ("a", "", "x")]
    assert database.problems() == []


def test_a_change_of_the_file_is_a_change_for_the_next_run(database, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = write(tmp_path / "docs", {"a.md": "# A\n", NAME: line("a.md", "", "first")})
    time.sleep(SETTLED)
    index(database, folder, "known")
    assert UNREAD in index(database, folder, "known").stderr
    write(folder, {NAME: line("a.md", "", "other")})
    time.sleep(SETTLED)
    assert UNREAD not in index(database, folder, "known").stderr
    assert stored(database, "known") == [("a", "", "other")]


def test_questions_are_imported_exported_and_listed(database, tmp_path):
    folder = write(tmp_path / "docs", PAGES)
    index(database, folder, "later")
    file = write(tmp_path, {"q.jsonl": line("guide/start.md", "options", "which ones") + line("session", "", "what opens it")
                            + line("guide/start.md", "#options-1", "which others")}) / "q.jsonl"
    assert questions(database, "import", "later", file).stdout == "3 questions of 2 pages\n"
    expected = [("guide/start", "options", "which ones"), ("guide/start", "options-1", "which others"),
                ("session", "", "what opens it")]
    assert stored(database, "later") == expected

    exported = write(tmp_path, {"out.jsonl": questions(database, "export", "later").stdout}) / "out.jsonl"
    assert json.loads(exported.read_text().splitlines()[0]).keys() == {"file", "heading", "question"}
    database.execute("SELECT docsearch.set_questions('later', slug, '[]') FROM docsearch.document d "
                     "JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = 'later'")
    assert stored(database, "later") == []
    questions(database, "import", "later", exported)
    assert stored(database, "later") == expected

    listed = [json.loads(text) for text in questions(database, "list", "later").stdout.splitlines()]
    assert [(each["slug"], each["anchor"], each["question"]) for each in listed] == expected
    assert {each["source"] for each in listed} == {"author"}
    missing = [json.loads(text) for text in questions(database, "list", "later", "--missing").stdout.splitlines()]
    assert [(each["file"], each["heading"], each["anchor"]) for each in missing] == [
        ("guide/start.md", "", ""), ("guide/start.md", "Install the kit", "install-the-kit"), ("other.md", "", ""),
        ("session.rst", "The Connection", "the-connection")]
    assert questions(database, "list", "later", "--stale").stdout == ""

    (folder / "guide/start.md").write_text(PAGES["guide/start.md"].replace("Two.", "Three."))
    done = index(database, folder, "later")
    assert "1 question is stale: docsearch questions list --stale later" in done.stderr
    stale = [json.loads(text) for text in questions(database, "list", "later", "--stale").stdout.splitlines()]
    assert [(each["anchor"], each["stale"]) for each in stale] == [("options-1", True)]

    file.write_text(line("other.md", "Othre", "x") + line("gone", "", "y"))
    done = questions(database, "import", "later", file, status=PARTIAL)
    assert 'line 1: other.md has no heading "Othre"' in done.stderr and "line 2: gone" in done.stderr
    assert done.stdout == "1 question of 1 page\n"
    questions(database, "import", "no such project", file, status=FAILED)
    assert [problem for problem, *_ in database.problems()] == ["questions stale"]
