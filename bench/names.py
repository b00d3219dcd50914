#!/usr/bin/env python3
"""Measures how often a page is first for questions about its name, and for its addresses.

Each frame is filled with every one-word name that only one page of a project has (its title, or the last part of its
slug). Comparing frames also get another name of the project. Addresses are the slug, the reference that every output
prints, and both with an anchor.
"""

import argparse
import random

import psycopg

# The rules were tuned on these frames, so they only show losses.
KNOWN_FRAMES = (
    "what is {}?", "what is a {}?", "how do I use {}?", "{} example", "what does {} do?", "how does {} work?",
    "when should I use {} instead of {other}?", "difference between {} and {other}", "where is {} documented?",
    "can you explain {}?", "{} vs {other}", "which is better, {} or {other}?", "{} compared to {other}", "should I pick {} or {other}",
    "docs about {}", "give me the {} docs", "show me {}", "introduction to {}", "best practices for {}", "{} parameters",
    "I don't understand {}", "info on {}", "is {} deprecated?", "what is {} good for?", "so what is {} anyway", "what is {}, please?",
    "hi! how do I use {} ?", "anything about {}", "tell me more about {}", "what's the point of {}?", "{} - how does it work?",
    "need help with {}", "{} cheat sheet", "I'm looking for the {} page", "what are the arguments of {}", "could somebody explain {} to me",
    "everything I should know about {}", "what is {} in {project}?", "how to use {} in {project}", "{} {project}",
)
# Written before names were recognised by the corpus, and used for no decision.
UNSEEN_FRAMES = {
    "English": (
        "our designer keeps asking about {}, what do I answer", "ran into {} in a code review today", "{} for someone coming from another stack",
        "is it safe to rely on {} in production", "what happened to {} lately", "performance implications of {}",
        "who would ever want {}", "has {} been replaced by anything newer", "my team is migrating away from {}",
        "quick refresher on {} before my interview", "does anybody still bother with {}", "things nobody mentions about {}",
        "the story behind {}", "interviewer wants me to describe {}", "limitations I'd hit with {}",
        "which chapter covers {}", "{} gives me a headache", "how mature is {}", "I keep forgetting how {} goes",
        "reading material regarding {}", "{} and when not to reach for it", "walk a junior through {}",
        "what would I lose without {}", "in plain words, {}",
    ),
    "German": (
        "wozu braucht man {}?", "wie funktioniert {} eigentlich?", "ich verstehe {} nicht ganz", "gibt es ein Beispiel für {}?",
        "was muss ich bei {} beachten?", "wo finde ich etwas über {}?", "Unterschied zwischen {} und {other}",
        "kann mir jemand {} erklären", "Nachteile von {}", "seit wann gibt es {}?",
    ),
    "French": (
        "à quoi sert {} ?", "comment utiliser {} ?", "c'est quoi {} exactement", "je ne comprends rien à {}", "un exemple avec {}",
        "quels sont les inconvénients de {} ?", "documentation sur {}", "quelle est la différence entre {} et {other} ?",
        "depuis quelle version existe {} ?", "explique-moi {} simplement",
    ),
    "Spanish": (
        "¿para qué sirve {}?", "cómo se usa {}", "no entiendo {}", "ejemplo de {}", "¿qué ventajas tiene {}?",
        "dónde está documentado {}", "diferencia entre {} y {other}", "¿cuándo conviene usar {}?", "explícame {} por favor",
        "problemas habituales con {}",
    ),
    "Japanese": (
        "{}とは何ですか", "{}の使い方を教えてください", "{}の例が見たい", "{}と{other}の違い", "{}がよく分からない",
        "{} のデメリットは？", "いつ{}を使うべきですか", "{}について詳しく", "{}の引数", "{}はどこに書いてありますか",
    ),
}
NAMES = """
    SELECT name, slug FROM (
        SELECT DISTINCT ON (d.id) c.name, d.slug
        FROM docsearch.document d
        CROSS JOIN LATERAL (VALUES (1, d.title),
                                   (2, regexp_replace(d.slug, '^.*/|[.](html?|mdx?|rst|txt)$', '', 'g'))) c(place, name)
        WHERE d.project_id = p.id AND c.name ~ '^[A-Za-z_][A-Za-z0-9_.-]+$'
          AND (SELECT count(DISTINCT n.document_id) FROM docsearch.document_name n
               WHERE n.project_id = d.project_id AND n.kind <> 'address'
                 AND n.key = lower(regexp_replace(c.name, '[^A-Za-z0-9]', '', 'g'))) = 1
        ORDER BY d.id, c.place) found
    ORDER BY slug"""
ADDRESSES = """
    SELECT d.slug, coalesce(max(c.anchor) FILTER (WHERE c.anchor <> ''), '')
    FROM docsearch.document d LEFT JOIN docsearch.chunk c ON c.project_id = d.project_id AND c.document_id = d.id
    WHERE d.project_id = p.id GROUP BY d.slug ORDER BY d.slug"""


def first(connection: psycopg.Connection, query: str, project: str | None) -> tuple[str, str, str, list]:
    """Slug, anchor and confidence of the first result, and the names that the query is about."""
    answer = connection.execute("SELECT search_docs_json(%s, %s, max_results => 1)", [query, project]).fetchone()[0]
    subjects = [subject["text"] for subject in answer.get("understood", {}).get("subjects", [])]
    for result in answer["results"]:
        return f"{result['project']}/{result['slug']}", result["anchor"], result["confidence"], subjects
    return "", "", "", subjects


def sample(rows: list, most: int) -> list:
    """Up to `most` of the rows, always the same ones."""
    return sorted(random.Random(1).sample(rows, most)) if len(rows) > most else rows


def frames(connection: psycopg.Connection, project: str, names: list, kind: str, frames: tuple, show: bool) -> None:
    """Prints how often the page is first in each frame, and how often the name is recognised."""
    held, recognised = 0, 0
    for frame in frames:
        missed, known = [], 0
        for place, (name, slug) in enumerate(names):
            other = names[(place + len(names) // 2) % len(names)][0]
            query = frame.format(name, other=other, project=project)
            found, _, _, subjects = first(connection, query, project)
            known += name in subjects
            if found != f"{project}/{slug}":
                missed.append(f"{query} -> {found}, not {slug}")
        held, recognised = held + len(names) - len(missed), recognised + known
        print(f"  {frame:58} {len(names) - len(missed):4} of {len(names)}, {known:4} recognised")
        if show:
            print("".join(f"      {line}\n" for line in missed), end="")
    asked = max(len(names) * len(frames), 1)
    print(f"  {kind}: {held} of {asked}, {100 * held / asked:.1f} %; name recognised in {100 * recognised / asked:.1f} %")


def addresses(connection: psycopg.Connection, project: str, pages: list, show: bool) -> None:
    """Prints how often the page is first for its addresses, with high confidence, and the section for its anchor."""
    forms = {"slug": "{slug}", "reference": "{project}/{slug}", "slug with anchor": "{slug}#{anchor}",
             "reference with anchor": "{project}/{slug}#{anchor}"}
    for label, form in forms.items():
        wanted = [page for page in pages if "anchor" not in label or page[1]]
        if label == "slug":
            wanted = [page for page in wanted if "/" in page[0]]
        held, sure = 0, 0
        for slug, anchor in wanted:
            query = form.format(project=project, slug=slug, anchor=anchor)
            found, section, confidence, _ = first(connection, query, project)
            holds = found == f"{project}/{slug}" and ("anchor" not in label or section == anchor)
            held, sure = held + holds, sure + (holds and confidence == "high")
            if show and not holds:
                print(f"      {query} -> {found}#{section}")
        print(f"  {label:45} {held:4} of {len(wanted)}, {sure} with high confidence")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True, help="database with the projects")
    parser.add_argument("--projects", nargs="*", help="names of projects (default: all)")
    parser.add_argument("--sample", type=int, default=300, help="pages of each project; names are a fifth of that")
    parser.add_argument("--no-known", dest="known", action="store_false", help="leave out the frames that rules were tuned on")
    parser.add_argument("--show", action="store_true", help="print what is missed")
    options = parser.parse_args()
    with psycopg.connect(options.url, autocommit=True) as connection:
        projects = [name for name, in connection.execute("SELECT name FROM docsearch.project ORDER BY name")]
        for project in options.projects or projects:
            print(project)
            query = "SELECT f.* FROM docsearch.project p, LATERAL ({}) f WHERE p.name = %s"
            names = connection.execute(query.format(NAMES), [project]).fetchall()
            pages = connection.execute(query.format(ADDRESSES), [project]).fetchall()
            names = sample(names, options.sample // 5)
            for language, unseen in UNSEEN_FRAMES.items():
                frames(connection, project, names, f"unseen, {language}", unseen, options.show)
            if options.known:
                frames(connection, project, names, "known", KNOWN_FRAMES, options.show)
            addresses(connection, project, sample(pages, options.sample), options.show)


if __name__ == "__main__":
    main()
