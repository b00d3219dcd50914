"""How `make bench-questions` searches questions with further wordings, and what it counts."""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))
import intervals  # noqa: E402
import questions  # noqa: E402
import wordings  # noqa: E402

pytestmark = pytest.mark.any_server(reason="computes without a server")
FIRST, ALL, WRONG, FIRST_AND_WRONG = wordings.FIRST, wordings.ALL, wordings.WRONG, wordings.FIRST_AND_WRONG


def row(question: str, *pages: str, group: str = "how") -> dict:
    """A question of a set."""
    return {"question": question, "group": group, "wanted": {page: [] for page in pages}}


def answer(question: dict, *found: str) -> dict:
    """The answer of a search that finds these pages, in this order."""
    places = [place for place, page in enumerate(found, start=1) if page in question["wanted"]]
    return {"set": "kit", "group": question["group"], "question": question["question"],
            "page": found[0], "found": found[0], "place": places[0] if places else None,
            "first page": places[:1] == [1], "in three": bool(places and places[0] <= 3)}


SAVE, LOAD, STOP = row("keep it", "save"), row("get it back", "load", "save"), row("let it be", "stop")
BLANK = row("nothing is shown", "blank", group="symptom")
ROWS = [SAVE, LOAD, STOP, BLANK]
GIVEN = {"keep it": ["save()", "persistence"], "get it back": ["load()"], "let it be": ["stop()"],
         "nothing is shown": ["empty page"]}


def test_a_question_is_asked_with_its_first_wording_and_with_all():
    assert wordings.together(SAVE, ROWS, GIVEN, False) == {FIRST: ["save()"], ALL: ["save()", "persistence"]}
    assert wordings.together(LOAD, ROWS, GIVEN, False) == {FIRST: ["load()"]}


def test_a_wrong_wording_is_that_of_the_next_how_question_with_other_pages():
    assert wordings.together(SAVE, ROWS, GIVEN, True)[WRONG] == ["stop()"], "the next one's pages are right here, too"
    assert wordings.together(LOAD, ROWS, GIVEN, True)[FIRST_AND_WRONG] == ["load()", "stop()"]
    assert wordings.together(STOP, ROWS, GIVEN, True)[WRONG] == ["save()"], "around the end, without the symptom"
    assert wordings.together(BLANK, ROWS, GIVEN, True)[WRONG] == ["save()"]
    assert WRONG not in wordings.together(SAVE, [SAVE, LOAD], GIVEN, True), "there is none"


def test_each_wording_is_asked_together_and_alone():
    calls = []

    def ask(question: dict, also: list[str]) -> dict:
        calls.append((question["question"], also))
        return answer(question, "save")

    asked, = wordings.ask_all(ask, ROWS, {"keep it": ["save()", "persistence"]}, [answer(SAVE, "load", "save")], False)
    assert calls == [("keep it", ["save()"]), ("keep it", ["save()", "persistence"]), ("save()", []), ("persistence", [])]
    assert (asked["alone"]["place"], asked["with"][ALL]["place"], len(asked["wordings"])) == (2, 1, 2)


def test_the_first_result_of_each_wording_stays_first_for_all_together():
    a, b, c = (answer(LOAD, page) for page in ("load", "save", "stop"))
    assert wordings.kept([a, a], a) and not wordings.kept([a, a], b), "the same page"
    assert wordings.kept([c, c], c) and not wordings.kept([c, c], a), "even if it is not right"
    assert wordings.kept([a, b], b) and not wordings.kept([a, b], c), "one of several right pages"
    assert wordings.kept([a, c], c), "they do not agree"
    one = {"alone": a, "wordings": [a, c], "with": {FIRST: b, ALL: c}, "also": {FIRST: ["w"], ALL: ["w", "x"]}}
    assert wordings.broken([one]) == [(one, FIRST)]


def test_the_table_counts_first_pages_that_are_gained_and_lost(capsys):
    right, second, wrong = (answer(SAVE, *pages) for pages in (["save"], ["stop", "save"], ["stop"]))
    two = {"also": {FIRST: ["w"], ALL: ["w", "x"]}, "wordings": [right, right]}
    one = {"also": {FIRST: ["w"]}, "wordings": [right]}
    answers = [{"alone": second, "with": {FIRST: right, ALL: right}, **two},
               {"alone": right, "with": {FIRST: wrong}, **one}, {"alone": wrong, "with": {FIRST: right}, **one}]
    wordings.table(answers, questions.GROUPS, questions.share, True)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    how = lines[lines.index("how") + 1:]
    assert re.match(r"alone 33 % \(6-79\) of 3 67 % \(21-94\) of 3 0.500$", how[0])
    assert re.match(r"with one wording 67 % .* 0.667 2 1 \+33 % \(-100 to \+100\) 1.000$", how[1])
    assert re.match(r"with all wordings 67 % .* 2 1 ", how[2]), "all wordings may be one"
    assert how[3] == "all"
    assert f"gained {ALL}: kit: keep it ['w', 'x'] -> save" in lines and f"lost {FIRST}: kit: keep it ['w'] -> stop" in lines
    assert lines[-2].endswith("1 of 3 questions"), "the second question and its wording have the same page first"


def test_intervals_and_the_sign_test_are_those_of_tables():
    assert [round(bound, 4) for bound in intervals.wilson(5, 10)] == [0.2366, 0.7634]
    for better, worse, chance in ((0, 0, 1), (3, 3, 1), (9, 1, 0.021484), (1, 9, 0.021484), (0, 6, 0.03125)):
        assert intervals.sign_test(better, worse) == pytest.approx(chance, abs=1e-6)
    assert intervals.mean_interval([1, 1, 1]) == (1, 1)


@pytest.mark.parametrize("name", sorted(path.stem for path in wordings.FOLDER.iterdir()))
def test_the_wordings_of_a_set_belong_to_its_questions(name):
    rows = questions.questions(name)
    given = wordings.read(name, rows)
    assert [row["question"] for row in rows if row["wanted"]] == list(given)


def test_a_set_without_wordings_has_none_and_an_unknown_question_is_an_error(tmp_path, monkeypatch):
    assert wordings.read("a-set-without", []) == {}
    monkeypatch.setattr(wordings, "FOLDER", tmp_path)
    (tmp_path / "kit.tsv").write_text("question\twording 1\twording 2\nunknown\tsave()\t\n")
    with pytest.raises(SystemExit, match="'unknown'"):
        wordings.read("kit", ROWS)
