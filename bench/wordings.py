"""Questions of bench/questions.py that are asked together with further wordings of them.

bench/questions/wordings/SET.tsv has one or two wordings of each question, in words expected by a reader who knows the
software and not its pages. A question is searched alone, with the first wording, and with all; with --robust, also with a
wrong wording, and with the first and the wrong one. The wrong wording is the first one of the next `how` question of
the set that has other pages, wrapping around at the end.
"""

import csv
import statistics
from collections.abc import Callable, Iterable
from pathlib import Path

from intervals import mean_interval, sign_test

FOLDER = Path(__file__).resolve().parent / "questions" / "wordings"
FIRST, ALL = "with one wording", "with all wordings"
WRONG, FIRST_AND_WRONG = "with a wrong one", "with one and a wrong one"
MEASURES = ("first page", "in three")

Ask = Callable[[dict, list[str]], dict]


def read(name: str, rows: list[dict]) -> dict[str, list[str]]:
    """The wordings of each question of a set; none if the set has no file."""
    path = FOLDER / f"{name}.tsv"
    if not path.is_file():
        return {}
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
    given = {line["question"]: [line[key] for key in ("wording 1", "wording 2") if line[key]] for line in lines}
    known = {row["question"] for row in rows if row["wanted"]}
    for question, wordings in given.items():
        if question not in known or not wordings:
            raise SystemExit(f"{path.name}: {question!r} has no wording, or is no question with an answer")
    return given


def wrong(row: dict, rows: list[dict], given: dict[str, list[str]]) -> str | None:
    """A wording of another question, which has no page in common with this one."""
    place = rows.index(row)
    for other in (*rows[place + 1:], *rows[:place]):
        if other["group"] == "how" and other["question"] in given and not set(other["wanted"]) & set(row["wanted"]):
            return given[other["question"]][0]
    return None


def together(row: dict, rows: list[dict], given: dict[str, list[str]], robust: bool) -> dict[str, list[str]]:
    """The wordings to search with a question, by the label of their line in the table."""
    own = given[row["question"]]
    also = {FIRST: own[:1]} | ({ALL: own} if len(own) > 1 else {})
    if robust and (other := wrong(row, rows, given)):
        also |= {WRONG: [other], FIRST_AND_WRONG: [own[0], other]}
    return also


def ask_all(ask: Ask, rows: list[dict], given: dict[str, list[str]], alone: Iterable[dict], robust: bool) -> list[dict]:
    """The answers to each question with wordings: alone, with its wordings, and to each wording alone."""
    known = {one["question"]: one for one in alone}
    answers = []
    for row in rows:
        if row["question"] in given:
            also = together(row, rows, given, robust)
            answers.append({"alone": known[row["question"]], "also": also,
                            "with": {label: ask(row, wordings) for label, wordings in also.items()},
                            "wordings": [ask({**row, "question": wording}, []) for wording in given[row["question"]]]})
    return answers


def kept(alone: list[dict], answer: dict) -> bool:
    """Whether the first result for the wordings together is that of each alone, or a right one."""
    pages = {one["page"] for one in alone}
    if len(pages) == 1:
        return answer["page"] in pages
    return answer["first page"] or not all(one["first page"] for one in alone)


def broken(answers: Iterable[dict]) -> list[tuple[dict, str]]:
    """The questions and wordings that lose together the first result of each alone."""
    return [(one, label) for one in answers for label in (FIRST, ALL) if label in one["with"]
            and not kept([one["alone"], *one["wordings"][:len(one["also"][label])]], one["with"][label])]


def line(label: str, asked: list[dict], share: Callable[[Iterable[dict], str], str]) -> str:
    """Shares and mean reciprocal rank of answers."""
    rank = statistics.fmean(1 / one["place"] if one["place"] else 0 for one in asked)
    return f"  {label:26}" + "".join(f"{share(asked, measure):>22}" for measure in MEASURES) + f"{rank:8.3f}"


def changes(pairs: list[tuple[dict, dict]]) -> str:
    """First pages gained and lost, the difference of the shares with its interval, and the sign test."""
    differences = [int(new["first page"]) - int(old["first page"]) for old, new in pairs]
    gained, lost = differences.count(1), differences.count(-1)
    low, high = mean_interval(differences)
    difference = f"{100 * statistics.fmean(differences):+.0f} % ({100 * low:+.0f} to {100 * high:+.0f})"
    return f"{gained:8}{lost:6}{difference:>22}{sign_test(gained, lost):8.3f}"


def table(answers: list[dict], groups: Iterable[str], share: Callable[[Iterable[dict], str], str], show: bool) -> None:
    """Prints the shares of the questions alone and with wordings, for each group and for all."""
    parts = {group: [one for one in answers if one["alone"]["group"] == group] for group in groups}
    parts["all"] = answers
    print(f"\n{'questions with wordings':28}" + "".join(f"{measure:>22}" for measure in MEASURES) + f"{'MRR':>8}"
          f"{'gained':>8}{'lost':>6}{'difference':>22}{'p':>8}")
    for group, part in parts.items():
        if not part:
            continue
        print(f"{group}\n{line('alone', [one['alone'] for one in part], share)}")
        for label in (FIRST, ALL, WRONG, FIRST_AND_WRONG):
            if any(label in one["with"] for one in part):
                # A question may have only one wording.
                pairs = [(one["alone"], one["with"].get(label, one["with"][FIRST])) for one in part
                         if label in (*one["with"], ALL)]
                print(line(label, [new for _, new in pairs], share) + changes(pairs))
    for one in answers if show else ():
        for label, new in one["with"].items():
            if new["first page"] != one["alone"]["first page"]:
                print(f"{'gained' if new['first page'] else 'lost'} {label}: {new['set']}: {new['question']} "
                      f"{one['also'][label]} -> {new['found']}")
    lost = broken(answers)
    print(f"\nfirst for each wording alone and not for them together: {len(lost)} of {len(answers)} questions")
    for one, label in lost:
        new = one["with"][label]
        print(f"  {label}: {new['set']}: {new['question']} {one['also'][label]} -> {new['found']}, "
              f"alone {one['alone']['found']}")
