"""`docsearch ranking`: a ranking as a file that is reviewed, compared, measured and applied."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Database, page
from test_command_line import FAILED, FOUND, ask

pytestmark = pytest.mark.any_server("what the program prints is made of rows that the SQL files hold in each version")

DIFFERENT = 1


@pytest.fixture
def kiln(new_database: Callable[..., Database]) -> Database:
    database = new_database()
    database.execute("SELECT docsearch.create_project('kiln', settings => '{\"penalty_news\": 0.1}')")
    database.index("kiln", page("reference/shelf", "A plate that holds pots."),
                   page("reference/cone", "A pyramid that bends at a known heat."),
                   page("guides/cooling", "Open the kiln when it is cold."))
    database.execute("INSERT INTO docsearch.synonym (project_id, term, expansion) SELECT id, 'pc', 'cone' FROM docsearch.project")
    database.execute("SELECT docsearch.import_judgments('readers', %s, %s)", "1\tpc\n2\tshelf\n3\tcone",
                     "1 0 reference/cone 1\n2 0 reference/shelf 1\n3 0 reference/cone 1")
    return database


@pytest.fixture
def ranking(kiln: Database, tmp_path: Path) -> Path:
    path = tmp_path / "ranking.toml"
    assert ask(kiln, "ranking", "pull", path) == ""
    return path


def state(database: Database) -> dict:
    return database.execute("SELECT docsearch.ranking_state('kiln')")[0][0]


def changed(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_a_file_says_what_the_server_has(kiln: Database, ranking: Path) -> None:
    text = ranking.read_text()
    assert 'project = "kiln"\n' in text and "penalty_news = 0.1\n" in text
    assert 'synonym = [\n  { expansion = "cone", term = "pc" },\n]\n' in text
    assert ask(kiln, "ranking", "pull", "--project", "kiln") == text
    assert ask(kiln, "ranking", "diff", ranking) == ""
    before = state(kiln)
    assert ask(kiln, "ranking", "push", ranking) == "" and state(kiln) == before


def test_a_changed_file_is_compared_and_applied(kiln: Database, ranking: Path) -> None:
    changed(ranking, "penalty_news = 0.1", "# Old news misled readers.\npenalty_news = 0.5")
    changed(ranking, '{ expansion = "cone", term = "pc" }', '{ term = "pc", expansion = "pyramid" }')
    expected = ["- settings.penalty_news = 0.1", "+ settings.penalty_news = 0.5",
                '- rules.synonym = { expansion = "cone", term = "pc" }',
                '+ rules.synonym = { expansion = "pyramid", term = "pc" }']
    assert ask(kiln, "ranking", "diff", ranking, status=DIFFERENT).splitlines() == expected
    before = state(kiln)
    assert ask(kiln, "ranking", "push", ranking, "--dry-run").splitlines() == expected and state(kiln) == before
    ask(kiln, "ranking", "push", ranking, "--message", "old news")
    assert state(kiln)["settings"] == {"penalty_news": 0.5}
    assert kiln.execute("SELECT comment FROM docsearch.ranking_history('kiln')") == [("old news",)]
    assert ask(kiln, "ranking", "diff", ranking) == ""
    # Comments stay, and the file can be changed and applied again.
    changed(ranking, "# Old news misled readers.\npenalty_news = 0.5", "# Old news misled readers.\npenalty_news = 0.4")
    ask(kiln, "ranking", "push", ranking)
    assert state(kiln)["settings"] == {"penalty_news": 0.4}


def test_a_server_that_has_changed_is_not_overwritten(kiln: Database, ranking: Path) -> None:
    kiln.execute("SELECT docsearch.configure_project('kiln', '{\"hybrid_weight\": 0.4}')")
    changed(ranking, "penalty_news = 0.1", "penalty_news = 0.5")
    assert "docsearch ranking pull" in ask(kiln, "ranking", "push", ranking, status=FAILED)
    assert state(kiln)["settings"] == {"penalty_news": 0.1, "hybrid_weight": 0.4}
    ask(kiln, "ranking", "push", ranking, "--force")
    assert state(kiln)["settings"] == {"penalty_news": 0.5}


def test_a_worse_ranking_is_not_applied(kiln: Database, ranking: Path, tmp_path: Path) -> None:
    report = tmp_path / "ranking.xml"
    changed(ranking, '  { expansion = "cone", term = "pc" },\n', "")
    before = state(kiln)
    options = ("--evaluate", "readers", "--junit", report)
    # One query of three falls, which may be chance.
    fallen = ask(kiln, "ranking", "push", ranking, *options, "--dry-run")
    assert "queries that are worse: 1" in fallen
    suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite.attrib["failures"] == "0"
    names = [case.attrib["name"] for case in suite.findall("testcase")]
    assert names == [f"overall {measure}" for measure in ("ndcg", "mrr", "p1", "p3", "recall")] + ["1: pc"]
    refused = ask(kiln, "ranking", "push", ranking, *options, "--max-loss", "0.1", status=DIFFERENT)
    assert "the ranking is worse on set readers" in refused and state(kiln) == before
    failures = ElementTree.parse(report).getroot().findall(".//failure")
    assert len(failures) == int(ElementTree.parse(report).getroot().attrib["failures"]) > 0
    ask(kiln, "ranking", "push", ranking, *options, "--max-loss", "0.9", status=FOUND)
    assert state(kiln) == {"settings": {"penalty_news": 0.1}, "rules": {}}


def test_mistakes(kiln: Database, ranking: Path) -> None:
    changed(ranking, "[settings]", "[setting]")
    assert "line 6: unknown field `setting`" in ask(kiln, "ranking", "diff", ranking, status=FAILED)
    changed(ranking, "[setting]", "[settings]\nhybrid = 1")
    assert 'unknown project setting "hybrid"' in ask(kiln, "ranking", "push", ranking, status=FAILED)
    assert "expected 0 to 1" in ask(kiln, "ranking", "push", ranking, "--evaluate", "readers", "--max-loss", 2, status=FAILED)
    assert "does not exist" in ask(kiln, "ranking", "pull", "--project", "none", status=DIFFERENT + 1)
    kiln.execute("SELECT docsearch.create_project('other')")
    assert "--project NAME" in ask(kiln, "ranking", "pull", status=FAILED)
