#!/usr/bin/env python3
"""The demonstration: a private server, two sets of real pages, a few searches."""

import subprocess

import server
import toolchain

# The exit status of `docsearch index` when it has indexed everything else.
SOME_FILES_FAILED = 1
SEARCHES = """\
SELECT name, title, (SELECT count(*) FROM docsearch.document d WHERE d.project_id = p.id) AS documents
FROM docsearch.project p WHERE name IN ('swiftui', 'django') ORDER BY name;

SELECT rank, slug, title, section, score, confidence
FROM search_docs('Button in SwiftUI');

SELECT rank, slug, title, score
FROM search_docs('asyncimagephase.failure', max_results => 3);

SELECT rank, slug, section, score, snippet
FROM search_docs('how do I prevent cross site request forgery', project => 'django', max_results => 3);

SELECT rank, slug, section, score
FROM search_docs('select_related', project => 'django', max_results => 3);

SELECT slug, kind, description
FROM list_docs(project => 'swiftui') LIMIT 5;

SELECT left(load_doc('swiftui/button'), 600);
"""


def psql(instance: server.Server, script: str) -> None:
    """Runs SQL with every statement shown."""
    command = [instance.bin / "psql", instance.url(), "-X", "-q", "--echo-queries",
               "-v", "ON_ERROR_STOP=1", "-P", "pager=off", "-P", "footer=off"]
    done = subprocess.run(command, input=script, text=True, env=instance.environment())
    if done.returncode != 0:
        raise SystemExit(f"psql ended with status {done.returncode}")


def main() -> None:
    instance = server.start_development("release")
    psql(instance, f"{server.CREATE_EXTENSION};")
    docsearch = toolchain.target_directory() / "release" / "docsearch"
    for project, title, directory in (
            ("swiftui", "SwiftUI", toolchain.ROOT / "examples" / "swiftui"),
            ("django", "Django", toolchain.documentation())):
        print(f"\n==> {docsearch.name} index {directory} --project {project}", flush=True)
        index = subprocess.run([docsearch, "index", directory, "--project", project,
                                "--title", title, "--url", instance.url()])
        if index.returncode not in (0, SOME_FILES_FAILED):
            raise SystemExit(f"{docsearch} ended with status {index.returncode}")
    print(flush=True)
    psql(instance, SEARCHES)
    print("make psql opens a session on this server, make stop ends it.")


if __name__ == "__main__":
    main()
