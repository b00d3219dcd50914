#!/usr/bin/env python3
"""How often a page comes first for questions about its name, and for its addresses.

Every one-word name that one page of a project bears (its title, or the last part of its slug) is asked for in each
frame; another name of the project stands where a frame compares. Addresses are the slug, the reference that every output
prints, and both with an anchor.
"""

import argparse
import random

import psycopg

FRAMES = (
    "what is {}?", "what is a {}?", "how do I use {}?", "{} example", "what does {} do?", "how does {} work?",
    "when should I use {} instead of {other}?", "difference between {} and {other}", "where is {} documented?",
    "can you explain {}?", "{} vs {other}", "which is better, {} or {other}?", "{} compared to {other}", "should I pick {} or {other}",
    "docs about {}", "give me the {} docs", "show me {}", "introduction to {}", "best practices for {}", "{} parameters",
    "I don't understand {}", "info on {}", "is {} deprecated?", "what is {} good for?", "so what is {} anyway", "what is {}, please?",
    "hi! how do I use {} ?", "anything about {}", "tell me more about {}", "what's the point of {}?", "{} - how does it work?",
    "need help with {}", "{} cheat sheet", "I'm looking for the {} page", "what are the arguments of {}", "could somebody explain {} to me",
    "everything I should know about {}", "what is {} in {project}?", "how to use {} in {project}", "{} {project}",
)
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


def first(connection: psycopg.Connection, query: str, project: str | None) -> tuple[str, str, str]:
    """Slug, anchor and confidence of the first result."""
    found = connection.execute("SELECT search_docs_json(%s, %s, max_results => 1) -> 'results' -> 0",
                               [query, project]).fetchone()[0]
    return (f"{found['project']}/{found['slug']}", found["anchor"], found["confidence"]) if found else ("", "", "")


def sample(rows: list, most: int) -> list:
    """So many of the rows, always the same ones."""
    return sorted(random.Random(1).sample(rows, most)) if len(rows) > most else rows


def frames(connection: psycopg.Connection, project: str, names: list, show: bool) -> None:
    """Prints how often the page comes first in each frame."""
    held, asked = 0, 0
    for frame in FRAMES:
        missed = []
        for place, (name, slug) in enumerate(names):
            other = names[(place + len(names) // 2) % len(names)][0]
            query = frame.format(name, other=other, project=project)
            found = first(connection, query, project)[0]
            if found != f"{project}/{slug}":
                missed.append(f"{query} -> {found}, not {slug}")
        held, asked = held + len(names) - len(missed), asked + len(names)
        print(f"  {frame:45} {len(names) - len(missed):4} of {len(names)}")
        if show:
            print("".join(f"      {line}\n" for line in missed), end="")
    print(f"  questions about names: {held} of {asked}, {100 * held / max(asked, 1):.1f} %")


def addresses(connection: psycopg.Connection, project: str, pages: list, show: bool) -> None:
    """Prints how often the page comes first for its addresses, with high confidence, and the section for its anchor."""
    forms = {"slug": "{slug}", "reference": "{project}/{slug}", "slug with anchor": "{slug}#{anchor}",
             "reference with anchor": "{project}/{slug}#{anchor}"}
    for label, form in forms.items():
        wanted = [page for page in pages if "anchor" not in label or page[1]]
        if label == "slug":
            wanted = [page for page in wanted if "/" in page[0]]
        held, sure = 0, 0
        for slug, anchor in wanted:
            query = form.format(project=project, slug=slug, anchor=anchor)
            found, section, confidence = first(connection, query, project)
            holds = found == f"{project}/{slug}" and ("anchor" not in label or section == anchor)
            held, sure = held + holds, sure + (holds and confidence == "high")
            if show and not holds:
                print(f"      {query} -> {found}#{section}")
        print(f"  {label:45} {held:4} of {len(wanted)}, {sure} with high confidence")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True, help="database with the projects")
    parser.add_argument("--projects", nargs="*", help="names of projects (default: all)")
    parser.add_argument("--sample", type=int, default=300, help="so many pages of each project, and a fifth as many names")
    parser.add_argument("--show", action="store_true", help="print what is missed")
    options = parser.parse_args()
    with psycopg.connect(options.url, autocommit=True) as connection:
        projects = [name for name, in connection.execute("SELECT name FROM docsearch.project ORDER BY name")]
        for project in options.projects or projects:
            print(project)
            query = "SELECT f.* FROM docsearch.project p, LATERAL ({}) f WHERE p.name = %s"
            names = connection.execute(query.format(NAMES), [project]).fetchall()
            pages = connection.execute(query.format(ADDRESSES), [project]).fetchall()
            frames(connection, project, sample(names, options.sample // 5), options.show)
            addresses(connection, project, sample(pages, options.sample), options.show)


if __name__ == "__main__":
    main()
