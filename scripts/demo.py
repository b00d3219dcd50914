#!/usr/bin/env python3
"""The demonstration: a private server, two sets of real pages, a few searches, and a page to search them.

While cargo compiles, the model and the pages are fetched and built.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import page_server
import server
import toolchain

# The exit status of `docsearch index` when it has indexed everything else.
SOME_FILES_FAILED = 1
# SwiftUI's folder has such a file, which `docsearch index` reads. Django's pages are in the cache, so theirs is apart.
DJANGO_QUESTIONS = toolchain.ROOT / "examples" / "django" / "docsearch.questions.jsonl"
PROGRAMS = ("docsearch-cli", "docsearch-inference", "install-script")
SWIFTUI = """\
SELECT rank, slug, title, section, score, confidence
FROM search_docs('Button in SwiftUI');

SELECT rank, slug, title, score
FROM search_docs('asyncimagephase.failure', max_results => 3);

SELECT slug, kind, description
FROM list_docs(project => 'swiftui') LIMIT 5;

SELECT left(load_doc('swiftui/button'), 600);
"""
DJANGO = """\
SELECT rank, slug, section, score, snippet
FROM search_docs('how do I prevent cross site request forgery', project => 'django', max_results => 3);

SELECT rank, slug, section, score
FROM search_docs('select_related', project => 'django', max_results => 3);

-- The page has none of these words, and calls it a redirect. A question that it answers has them:
SELECT rank, slug, section, score, snippet
FROM search_docs('send people on to another page', project => 'django', max_results => 3);

SELECT name, title, (SELECT count(*) FROM docsearch.document d WHERE d.project_id = p.id) AS documents
FROM docsearch.project p WHERE name IN ('swiftui', 'django') ORDER BY name;
"""


def psql(instance: server.Server, script: str) -> None:
    """Runs SQL and shows every statement."""
    command = [instance.bin / "psql", instance.url(), "-X", "-q", "--echo-queries",
               "-v", "ON_ERROR_STOP=1", "-P", "pager=off", "-P", "footer=off"]
    done = subprocess.run(command, input=script, text=True, env=instance.environment())
    if done.returncode != 0:
        raise SystemExit(f"psql ended with status {done.returncode}")


@contextmanager
def step(what: str) -> Iterator[None]:
    """Prints a step, and its time if it was long."""
    print(f"==> {what}", flush=True)
    begun = time.monotonic()
    yield
    if (seconds := round(time.monotonic() - begun)) >= 2:
        print(f"    {seconds // 60} min {seconds % 60} s", flush=True)


def build_programs() -> None:
    """Compiles the programs, which need no PostgreSQL."""
    command = ["cargo", "build", "--release", *(part for name in PROGRAMS for part in ("--package", name))]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(toolchain.target_directory())}
    if subprocess.run(command, cwd=toolchain.ROOT, env=environment).returncode != 0:
        raise SystemExit("the programs did not build")


def fetch() -> None:
    """Fetches and builds what is missing. What the extension is compiled with comes first."""
    for tool in (toolchain.postgres_pg_config, toolchain.libclang, toolchain.onnxruntime, toolchain.model,
                 toolchain.documentation):
        tool()


def main() -> None:
    first = not (toolchain.target_directory() / "release" / "docsearch").is_file()
    if first:
        print("The first run fetches and compiles everything: about six minutes on two processors.")
    with ThreadPoolExecutor(1) as pool:
        fetched = pool.submit(fetch)
        with step("the programs: docsearch, and the one that runs the model"):
            build_programs()
        with step("the extension, and a private server with it"):
            fetched.result()
            instance = server.start_development("release")
    psql(instance, f"{server.CREATE_EXTENSION};")
    docsearch = toolchain.target_directory() / "release" / "docsearch"
    for project, title, directory, questions, searches in (
            ("swiftui", "SwiftUI", toolchain.ROOT / "examples" / "swiftui", None, SWIFTUI),
            ("django", "Django", toolchain.documentation(), DJANGO_QUESTIONS, DJANGO)):
        print(f"\n==> {docsearch.name} index {directory} --project {project}", flush=True)
        index = subprocess.run([docsearch, "index", directory, "--project", project,
                                "--title", title, "--url", instance.url()])
        if index.returncode not in (0, SOME_FILES_FAILED):
            raise SystemExit(f"{docsearch} ended with status {index.returncode}")
        if questions:
            print(f"\n==> {docsearch.name} questions import {project} {questions}", flush=True)
            imported = subprocess.run([docsearch, "questions", "import", project, questions, "--url", instance.url()])
            if imported.returncode not in (0, SOME_FILES_FAILED):
                raise SystemExit(f"{docsearch} questions import ended with status {imported.returncode}")
        print(flush=True)
        psql(instance, searches)
    print("make psql opens a session on this server, make stop stops it and the page.")
    print(f"\nTo search in a browser, open\n  {page_server.start(docsearch, instance)}/?q=Button+in+SwiftUI")


if __name__ == "__main__":
    main()
