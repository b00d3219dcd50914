#!/usr/bin/env python3
"""Searches third-party documentation with readers' questions.

bench/questions/sources.json lists releases of packages that contain their documentation. apt-get, npm and pip fetch
them into a cache folder, and each becomes the project questions_SET. bench/questions/SET.tsv has the questions: a group, the pages,
any of which is right, and for each page the heading of the section that answers, or `-`. A page may occur twice, with
two headings. A heading includes what is below it. No page answers a question of the group unanswerable; the script
counts how often the answer claims to be grounded anyway.

With --foreign, each question that has an answer also searches the documentation two places further in sources.json, and
counts in the group foreign. A few may have an answer there by chance; --show prints them. Shares have 95 % intervals
after Wilson. If a set has further wordings of its questions (wordings.py), there is another table for the questions with
these. With --page-questions, sets with questions for their pages (page_questions.py) are searched with and without
these; headings that are questions count as such. Sets that are marked apart run only when they are named: in celery,
mypy, black and coverage, answers to the group faq are below headings that are questions, and others elsewhere; buildbot,
jupyterlab, ai, linuxcnc, libssh and lvm2 have one format each, and were not used for any decision.
"""

import argparse
import csv
import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import psycopg

import page_questions
import wordings
from intervals import sign_test, wilson
from packages import Missing, documentation

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pg_docsearch" / "questions"
GROUPS = ("how", "name", "what", "keywords", "symptom", "faq")
UNANSWERABLE = "unanswerable"
FOREIGN = "foreign"
MEASURES = ("first page", "in three", "section", "grounded")
HIGH = "high confidence"
PLACES = 10


def pages(name: str, source: dict, cache: Path) -> Path:
    """The folder with the pages of a set. Fetches it if necessary."""
    try:
        return documentation(name, source, cache)
    except Missing as reason:
        raise SystemExit(f"{name}: {reason}") from None


def load(program: Path, url: str, name: str, folder: Path) -> None:
    """Indexes the pages that have changed."""
    print(f"{name}: ", end="", flush=True)
    done = subprocess.run([program, "--url", url, "index", folder, "--project", f"questions_{name}",
                           "--source-root", name])
    if done.returncode not in (0, 1):
        raise SystemExit(f"{program} ended with status {done.returncode}")


def questions(name: str) -> list[dict]:
    """The questions of a set, with the right headings of each page."""
    with (HERE / "questions" / f"{name}.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
    for row in rows:
        slugs = row["pages"].split(" | ") if row["pages"] else []
        headings = row["section"].split(" | ") if row["section"] else ["-"] * len(slugs)
        if bool(slugs) == (row["group"] == UNANSWERABLE) or row["group"] not in (*GROUPS, UNANSWERABLE):
            raise SystemExit(f"{name}: {row['question']!r} has the wrong group")
        row["wanted"] = {slug: [] for slug in slugs}
        for slug, heading in zip(slugs, headings, strict=True):
            row["wanted"][slug] += [] if heading == "-" else [heading]
    return rows


def plain(heading: str) -> str:
    """A heading without markup and punctuation, in lower case."""
    return " ".join(re.findall(r"[^\W_]+", heading.lower()))


def ask(connection: psycopg.Connection, name: str, row: dict, config: dict, also: list[str] | None = None) -> dict:
    """Searches for a question. Returns the rank of the first right page, the section, and the grade."""
    further = ", also => %s::text[]" if also else ""
    answer = connection.execute(f"SELECT search_docs_json(%s, %s, max_results => %s, config => %s{further})",
                                [row["question"], f"questions_{name}", PLACES,
                                 json.dumps({**config, "grade": True}), *([also] if also else [])]).fetchone()[0]
    results, answerable = answer["results"], row["group"] in GROUPS
    slugs = list(dict.fromkeys(result["slug"] for result in results))
    right = [place for place, slug in enumerate(slugs, start=1) if slug in row["wanted"]]
    headings = row["wanted"].get(slugs[0], []) if slugs else []
    shown = {plain(heading) for heading in results[0]["section"].split(" > ")} if results else set()
    return {
        "set": name, "group": row["group"], "question": row["question"], "page": slugs[0] if slugs else "",
        "found": f"{results[0]['slug']}#{results[0]['anchor']}" if results else "nothing",
        "shown": results[0]["section"] if results else "",
        "wanted": " | ".join("#".join([slug, *wanted]) for slug, wanted in row["wanted"].items()),
        "place": right[0] if right else None,
        "first page": right[:1] == [1] if answerable else None,
        "in three": bool(right and right[0] <= 3) if answerable else None,
        "section": any(plain(heading) in shown for heading in headings) if headings else None,
        "grounded": answer["grade"]["grounded"],
        HIGH: answer["confidence"] == "high",
    }


def together(sources: dict) -> list[str]:
    """The default sets."""
    return [name for name, source in sources.items() if not source.get("apart")]


def foreign(name: str, sources: dict) -> str:
    """The foreign set for the questions of a set. Not the next one, since neighbours in sources.json are similar."""
    names = together(sources)
    place = names.index(name) if name in names else 0
    return names[(place + 2) % len(names)]


def share(asked: Iterable[dict], measure: str) -> str:
    """Percentage of answers that have the measure, with its interval and their number."""
    values = [one[measure] for one in asked if one[measure] is not None]
    if not values:
        return ""
    low, high = (round(100 * bound) for bound in wilson(sum(values), len(values)))
    return f"{100 * sum(values) / len(values):.0f} % ({low}-{high}) of {len(values)}"


def table(asked: list[dict]) -> None:
    """Prints the shares of each set, of each group, and of all."""
    answerable = [one for one in asked if one["group"] in GROUPS]
    parts = {name: [one for one in answerable if one["set"] == name]
             for name in dict.fromkeys(one["set"] for one in answerable)}
    parts |= {group: [one for one in answerable if one["group"] == group] for group in GROUPS}
    parts["all"] = answerable
    parts |= {group: [one for one in asked if one["group"] == group] for group in (UNANSWERABLE, FOREIGN)}
    print(f"\n{'':14}" + "".join(f"{measure:>22}" for measure in (*MEASURES, HIGH)))
    for label, part in parts.items():
        if part:
            print(f"{label:14}" + "".join(f"{share(part, measure):>22}" for measure in (*MEASURES, HIGH)))


def misses(asked: list[dict]) -> None:
    """Prints each miss: the page, the section, or the grade."""
    print()
    for one in asked:
        what = "page" if one["first page"] is False else "section" if one["section"] is False else None
        if what:
            instead = one["shown"] if what == "section" else f"place {one['place']}" if one["place"] else "not found"
            print(f"{one['set']}, {one['group']}, {what}: {one['question']} -> {one['found']} ({instead}), "
                  f"not {one['wanted']}")
        if one["grounded"] != (one["group"] in GROUPS):
            print(f"{one['set']}, {one['group']}, {'' if one['grounded'] else 'not '}grounded: {one['question']}")


def compare(before: list[dict], after: list[dict], show: bool) -> None:
    """Prints, for questions of both runs, how many became right and wrong, with the p-value of a sign test."""
    known = {(one["set"], one["question"]): one for one in before}
    pairs = [(known[key], one) for one in after if (key := (one["set"], one["question"])) in known]
    print(f"\n{'of both runs':26}{'before':>22}{'after':>22}{'better':>8}{'worse':>8}{'p':>8}")
    parts = (*(("all", measure, True) for measure in MEASURES), *((group, "grounded", False)
                                                                 for group in (UNANSWERABLE, FOREIGN)))
    for part, measure, right in parts:
        both = [pair for pair in pairs if part == ("all" if pair[0]["group"] in GROUPS else pair[0]["group"])
                and None not in (pair[0][measure], pair[1][measure])]
        changed = [(new, new[measure] == right) for old, new in both if old[measure] != new[measure]]
        better = sum(good for _, good in changed)
        print(f"{part + ', ' + measure:26}{share((old for old, _ in both), measure):>22}"
              f"{share((new for _, new in both), measure):>22}{better:8}{len(changed) - better:8}"
              f"{sign_test(better, len(changed) - better):8.2f}")
        for new, good in changed if show else ():
            print(f"  {'better' if good else 'worse'}: {new['set']}: {new['question']} -> {new['found']}")


def main() -> None:
    sources = json.loads((HERE / "questions" / "sources.json").read_text())
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True, help="database that the sets are loaded into")
    parser.add_argument("--program", type=Path, default=HERE.parent / "target" / "release" / "docsearch",
                        help="the program docsearch (default: %(default)s)")
    parser.add_argument("--sets", nargs="*", choices=sources, default=together(sources),
                        help="sets (default: all that are not marked apart)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder for the pages (default: %(default)s)")
    parser.add_argument("--config", type=json.loads, default={}, help="the search's config argument, as JSON")
    parser.add_argument("--foreign", action="store_true", help="also search foreign documentation with the questions")
    parser.add_argument("--page-questions", action="store_true",
                        help="store the questions that pages answer, and compare with searches that ignore them")
    parser.add_argument("--robust", action="store_true", help="also search questions that have wordings with wrong ones")
    parser.add_argument("--show", action="store_true", help="print what is missed")
    parser.add_argument("--output", type=Path, help="file for the answer to each question, as JSON")
    parser.add_argument("--baseline", type=Path, help="such a file of another run, to compare with")
    options = parser.parse_args()
    others = {name: foreign(name, sources) for name in options.sets} if options.foreign else {}
    for name in dict.fromkeys((*options.sets, *others.values())):
        load(options.program, options.url, name, pages(name, sources[name], options.cache))
        if options.page_questions:
            page_questions.store(options.program, options.url, name)
    with psycopg.connect(options.url, autocommit=True) as connection:
        rows = {name: questions(name) for name in options.sets}
        asked = [ask(connection, name, row, options.config) for name in options.sets for row in rows[name]]
        without = [ask(connection, name, row, {**options.config, **page_questions.LEFT_OUT})
                   for name in options.sets for row in rows[name]] if options.page_questions else []
        worded = [answer for name in options.sets for answer in wordings.ask_all(
            lambda row, also: ask(connection, name, row, options.config, also), rows[name],
            wordings.read(name, rows[name]), (one for one in asked if one["set"] == name), options.robust)]
        asked += [ask(connection, other, {**row, "group": FOREIGN, "wanted": {}}, options.config)
                  for name, other in others.items() for row in rows[name] if row["group"] in GROUPS]
    table(asked)
    if worded:
        wordings.table(worded, GROUPS, share, options.show)
    if options.show:
        misses(asked)
    if without:
        print("\nwith the questions of pages left out (before), and with them (after)")
        compare(without, asked, options.show)
    if options.baseline:
        compare(json.loads(options.baseline.read_text()), asked, options.show)
    if options.output:
        options.output.write_text(json.dumps(asked, indent=1) + "\n")


if __name__ == "__main__":
    main()
