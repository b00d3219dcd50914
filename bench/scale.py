#!/usr/bin/env python3
"""Measures searches, maintenance and memory in projects of up to a million sections, on a server of its own.

The sections are recombined from those of the development server's projects (bench/recombination.py), and stored with
index_docs while the worker is held back. Then their vectors are written, and `repair` computes their codes. Sizes double up
to --sections. For each it prints what is stored, how fast, and searches of headings of real sections, in rotation: once
without a cached embedding, and once with it. `same first` and `same ten` compare their results with those of a search that
compares all vectors and reads all lists of words.

--shape one: one project. --shape hidden: the same, and a role whose policies hide half of the documents. --shape many: several
projects, of which one is searched, then all. --shape tenants: projects of 100 sections, and a role that sees the documents of
one of them. --agree: compares recombined sections with embedded ones, and ends.
"""

import argparse
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy
import psycopg
from psycopg.types.json import Jsonb

import server
import toolchain
from peer_model import embed_passages
from peer_systems import processor_milliseconds
from recombination import Corpus, Made
from service import anonymous_kilobytes, backend_pid

SETTINGS = {"fsync": "on", "shared_buffers": "4GB", "maintenance_work_mem": "1GB", "max_wal_size": "16GB",
            "autovacuum": "off", "checkpoint_timeout": "30min"}
BATCH = 64
QUERIES = 100
ROUNDS = 3
TENANT_SECTIONS = 100
ROLE = "docsearch_scale_reader"
# What the role sees of the tables, by shape.
TENANT = "(SELECT current_setting('scale.tenant')::bigint)"
POLICIES = {"tenants": {"document": f"project_id = {TENANT}", "project": f"id = {TENANT}"}, "hidden": {"document": "id % 2 = 0"}}
# Compares all vectors, and reads the lists of all words.
EXHAUSTIVE = {"exact_search_limit": 10_000_000}
AGREED = 2_000


@dataclass
class Run:
    """The server, and what was stored in it."""

    instance: server.Server
    corpus: Corpus
    shape: str
    count: int
    sections: int = 0
    documents: int = 0
    projects: int = 0
    store_seconds: float = 0.0
    report: list[dict] = field(default_factory=list)

    def connect(self, **keywords) -> psycopg.Connection:
        return psycopg.connect(self.instance.url(), autocommit=True, **keywords)

    def add(self, figures: dict) -> None:
        """Prints figures, and keeps them for the report."""
        self.report.append(figures)
        print(json.dumps({name: round(value, 3) for name, value in figures.items()}), flush=True)


def timed(call: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def start(options: argparse.Namespace, corpus: Corpus) -> Run:
    """Starts an empty server, or the one of an earlier run."""
    instance = server.Server(f"scale-{options.shape}", SETTINGS)
    instance.stop()
    if not options.again:
        instance.remove_data()
    instance.install("release")
    instance.configure()
    instance.start()
    run = Run(instance, corpus, options.shape, options.projects, projects=1)
    with run.connect() as connection:
        if options.again:
            run.sections, = connection.execute("SELECT count(*) FROM docsearch.chunk").fetchone()
            run.documents, = connection.execute("SELECT count(*) FROM docsearch.document").fetchone()
        else:
            connection.execute(server.CREATE_EXTENSION)
            connection.execute("SELECT docsearch.create_project('scale_0')")
    return run


def project_sizes(run: Run, sections: int) -> list[int]:
    """The sections of each project, for this number in total."""
    if run.shape in ("one", "hidden"):
        return [sections]
    count = run.count if run.shape == "many" else sections // TENANT_SECTIONS
    return [sections // count] * count


def grow(run: Run, sections: int) -> dict:
    """Stores documents until there is this number of sections; returns seconds and rates."""
    before, stored = run.sections, 0.0
    with run.connect() as connection, run.connect() as holder:
        holder.autocommit = False
        # The worker waits for this table, which indexing does not need.
        holder.execute("LOCK TABLE docsearch.attached_table IN ACCESS EXCLUSIVE MODE")
        connection.execute("SET docsearch.index_mode = 'deferred'")
        connection.execute("SET client_min_messages = error")
        for number, size in enumerate(project_sizes(run, sections)):
            name = f"scale_{number}"
            if number >= run.projects:
                connection.execute("SELECT docsearch.create_project(%s)", (name,))
                run.projects += 1
            project, model = connection.execute("SELECT id, model_id FROM docsearch.project WHERE name = %s", (name,)).fetchone()
            count, = connection.execute("SELECT count(*) FROM docsearch.chunk WHERE project_id = %s", (project,)).fetchone()
            while count < size:
                some = list(itertools.islice(run.corpus.made(run.documents), BATCH if size > 1_000 else 4))
                run.documents += len(some)
                stored += timed(lambda: connection.execute(
                    "SELECT count(*) FROM docsearch.index_docs(%s, %s)", (name, Jsonb([one.document for one in some]))))
                added = store_vectors(connection, project, model, some)
                count += added
                run.sections += added
    result = {"stored_per_second": (run.sections - before) / stored}
    with run.connect() as connection:
        connection.execute("SET client_min_messages = error")
        result["finish_seconds"] = timed(lambda: [connection.execute("SELECT docsearch.finish_load(%s)", (f"scale_{number}",))
                                                  for number in range(run.projects if run.shape != "tenants" else 1)])
        # With the digest of its files, repair would find that the model computes other vectors, and embed all sections.
        digest, = connection.execute("SELECT digest FROM docsearch.model WHERE id = (SELECT model_id FROM docsearch.project LIMIT 1)").fetchone()
        connection.execute("UPDATE docsearch.model SET digest = %s WHERE digest = %s", ("made", digest))
        result["codes_seconds"] = timed(lambda: connection.execute("SELECT FROM docsearch.repair()"))
        connection.execute("UPDATE docsearch.model SET digest = %s WHERE digest = %s", (digest, "made"))
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")
    return result


def store_vectors(connection: psycopg.Connection, project: int, model: int, made: list[Made]) -> int:
    """Writes the vectors of stored documents, and takes them from the worker's queue; returns the number of their chunks."""
    slugs = {one.document["slug"]: one for one in made}
    rows = connection.execute(
        "SELECT d.slug, c.document_id, c.chunk_no, c.heading_path FROM docsearch.document d JOIN docsearch.chunk c "
        "ON c.project_id = d.project_id AND c.document_id = d.id WHERE d.project_id = %s AND d.slug = ANY (%s) "
        "ORDER BY c.document_id, c.chunk_no", (project, list(slugs))).fetchall()
    with connection.cursor() as cursor, cursor.copy(f"COPY docsearch.vector_{model} FROM STDIN") as copy:
        used: dict[tuple[int, str], int] = {}
        for slug, document, chunk, heading in rows:
            vectors = slugs[slug].vectors
            name = heading[-1] if heading else ""
            of_heading = vectors.get(name) or next(iter(vectors.values()))
            place = used.get((document, name), 0)
            used[document, name] = place + 1
            vector = of_heading[min(place, len(of_heading) - 1)]
            copy.write_row((project, document, chunk, "[" + ",".join(map("{:.4g}".format, vector)) + "]"))
    connection.execute("DELETE FROM docsearch.embedding_queue q WHERE q.project_id = %s AND q.document_id = ANY (%s)",
                       (project, list({row[1] for row in rows})))
    return len(rows)


def queries(corpus: Corpus) -> list[str]:
    """Headings of real sections with the titles of their pages, and sentences of others."""
    draw = random.Random(1)
    chosen = draw.sample([section for section in corpus.sections if section.heading], QUERIES)
    texts = []
    for place, section in enumerate(chosen):
        words = re.findall(r"\w+", section.body)
        sentence = " ".join(words[:12])
        texts.append(sentence if place % 2 and len(words) >= 6 else f"{corpus.titles[section.document]} {section.heading[-1]}")
    return texts


def latencies(connection: psycopg.Connection, texts: list[str], project: str | None) -> dict:
    """Percentiles of searches with and without their embedding, and processor time of the backend."""
    search = "SELECT slug FROM search_docs(%s, %s)"
    backend = backend_pid(connection)
    for text in texts[:10]:
        connection.execute(search, (text + " ;", project)).fetchall()
    fresh, known, used = [], [], 0.0
    for number in range(ROUNDS):
        ending = " " + "," * (number + 1)
        fresh += [timed(lambda text=text: connection.execute(search, (text + ending, project)).fetchall()) for text in texts]
        before = processor_milliseconds(backend)
        known += [timed(lambda text=text: connection.execute(search, (text + ending, project)).fetchall()) for text in texts]
        used += processor_milliseconds(backend) - before
    percentile = lambda times, share: float(numpy.percentile(times, share)) * 1000
    return {**{f"p{share}_ms": percentile(fresh, share) for share in (50, 95, 99)},
            **{f"embedded_p{share}_ms": percentile(known, share) for share in (50, 99)}, "processor_ms": used / len(known)}


def same_results(connection: psycopg.Connection, texts: list[str], project: str | None) -> dict:
    """How far the results are those of an exhaustive search."""
    search = "SELECT slug FROM search_docs(%s, %s, config => %s)"
    first, ten = [], []
    for text in texts[:QUERIES // 2]:
        some, every = ([row[0] for row in connection.execute(search, (text, project, Jsonb(config))).fetchall()]
                       for config in ({}, EXHAUSTIVE))
        if every:
            first.append(some[:1] == every[:1])
            ten.append(len(set(some) & set(every)) / len(every))
    return {"same_first": statistics.fmean(first), "same_ten": statistics.fmean(ten)}


def measure(run: Run, texts: list[str]) -> dict:
    """All figures of one size."""
    project = None if run.shape == "tenants" else "scale_0"
    user = {"user": ROLE} if run.shape in POLICIES else {}
    figures: dict = {"sections": run.sections, "documents": run.documents}
    with run.connect() as owner:
        owner.execute("SET client_min_messages = error")
        if run.shape in POLICIES:
            hide(owner, POLICIES[run.shape])
        figures["megabytes"], = owner.execute("SELECT sum(pg_total_relation_size(oid))::bigint / 1000000 FROM pg_class "
                                              "WHERE relnamespace = 'docsearch'::regnamespace AND relkind = 'r'").fetchone()
        figures["check_seconds"] = timed(lambda: owner.execute("SELECT FROM docsearch.check()"))
        figures["recall"], = owner.execute("SELECT recall FROM docsearch.vector_recall('scale_0', 50)").fetchone()
        figures["edit_ms"] = 1000 * statistics.median(timed(lambda number=number: owner.execute(
            "SELECT docsearch.index_doc('scale_0', 'edited', 'Edited', %s)", (f"Edited {number} times.",))) for number in range(7))
    with run.connect(**user) as connection:
        figures |= latencies(connection, texts, project)
        if run.shape == "many":
            figures |= {f"all_{name}": value for name, value in latencies(connection, texts, None).items()}
        figures["backend_mb"] = anonymous_kilobytes(backend_pid(connection)) / 1024
        figures |= same_results(connection, texts, project)
        figures["inference_mb"] = anonymous_kilobytes(connection.execute("SELECT pid FROM docsearch.status()").fetchone()[0]) / 1024
    for name, warm in (("restart", False), ("warmed", True)):
        run.instance.stop()
        run.instance.start()
        with run.connect(**user) as connection:
            if warm:
                figures["warm_seconds"] = timed(lambda: connection.execute("SELECT docsearch.warm(%s)", (project,)))
        with run.connect(**user) as connection:
            figures[f"{name}_first_ms"] = 1000 * timed(lambda: connection.execute(
                "SELECT slug FROM search_docs(%s, %s)", (texts[0] + " ?", project)).fetchall())
    return figures


def hide(owner: psycopg.Connection, conditions: dict[str, str]) -> None:
    """A role that sees the rows of tables for which a condition holds."""
    if owner.execute("SELECT FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone() is not None:
        return
    owner.execute(f"CREATE ROLE {ROLE} LOGIN")
    owner.execute("SELECT docsearch.grant_usage(%s)", (ROLE,))
    for table, condition in conditions.items():
        owner.execute(f"ALTER TABLE docsearch.{table} ENABLE ROW LEVEL SECURITY")
        owner.execute(f"CREATE POLICY seen ON docsearch.{table} FOR SELECT TO {ROLE} USING ({condition})")
    project, = owner.execute("SELECT id FROM docsearch.project WHERE name = 'scale_0'").fetchone()
    owner.execute(f"ALTER ROLE {ROLE} SET scale.tenant = {int(project)}")


def maintain(run: Run) -> dict:
    """Deletes a tenth and vacuums, builds the indexes again, dumps and restores."""
    with run.connect() as owner:
        owner.execute("SET client_min_messages = error")
        figures = {"delete_seconds": timed(lambda: owner.execute("DELETE FROM docsearch.document WHERE id % 10 = 0")),
                   "vacuum_seconds": timed(lambda: owner.execute("VACUUM")),
                   "reindex_seconds": timed(lambda: owner.execute("REINDEX SCHEMA CONCURRENTLY docsearch"))}
    dump = toolchain.target_directory() / "bench" / "scale.dump"
    dump.parent.mkdir(parents=True, exist_ok=True)
    environment = run.instance.environment()
    figures["dump_seconds"] = timed(lambda: subprocess.run(
        [run.instance.bin / "pg_dump", "-Fc", "-Z1", "-f", dump, run.instance.url()], check=True, env=environment))
    with run.connect() as owner:
        owner.execute("CREATE DATABASE restored")
    figures["restore_seconds"] = timed(lambda: subprocess.run(
        [run.instance.bin / "pg_restore", "-j", str(os.cpu_count()), "-d", run.instance.url("restored"), dump], check=True, env=environment))
    dump.unlink()
    return figures


def single_sections(corpus: Corpus, first: int) -> tuple[list[dict], numpy.ndarray]:
    """Sections that have their heading to themselves, of the documents from a number on: their texts and vectors."""
    texts, vectors = [], []
    for made in itertools.islice(corpus.made(first), len(corpus.titles)):
        for part in re.split(r"^#+ ", made.document["body"], flags=re.M)[1:]:
            heading, _, text = part.partition("\n")
            of_heading = made.vectors.get(heading.strip(), [])
            if len(of_heading) == 1:
                texts.append({"_id": str(len(texts)), "title": f"{made.document['title']} {heading}", "text": text})
                vectors.append(of_heading[0])
    draw = random.Random(1).sample(range(len(texts)), min(AGREED, len(texts)))
    return [texts[place] for place in draw], numpy.array([vectors[place] for place in draw])


def agree(corpus: Corpus) -> None:
    """Compares made sections with real ones, and with the embedding of their text: neighbours, words and lengths."""
    real_texts, real = single_sections(corpus, 0)
    texts, made = single_sections(corpus, 3 * len(corpus.titles))
    embedded = numpy.array(list(embed_passages(texts).values()))
    print(f"cosine of a made vector and its embedded text: {(made * embedded).sum(axis=1).mean():.3f}")
    for name, some in (("real", real), ("made", made), ("made, embedded", embedded)):
        near = some @ some.T
        numpy.fill_diagonal(near, -1)
        near = -numpy.sort(-near, axis=1)
        print(f"{name:16} similarity of the nearest {near[:, 0].mean():.3f}, tenth {near[:, 9].mean():.3f}, "
              f"hundredth {near[:, 99].mean():.3f}, any {near[:, :-1].mean():.3f}")
    for name, some in (("real", real_texts), ("made", texts)):
        words = [word.lower() for text in some for word in re.findall(r"\w+", text["text"])]
        counts = sorted(Counter(words).values(), reverse=True)
        print(f"{name:16} {len(words) / len(some):.0f} words a section, {len(counts)} different of {len(words)}, "
              f"{sum(counts[:100]) / len(words):.2f} are one of the 100 most frequent, {counts.count(1) / len(counts):.2f} occur once")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", type=int, default=1_000_000, help="sections in the end (default: 1,000,000)")
    parser.add_argument("--shape", choices=("one", "hidden", "many", "tenants"), default="one", help="projects (default: one)")
    parser.add_argument("--projects", type=int, default=100, help="projects of --shape many (default: 100)")
    parser.add_argument("--first", type=int, default=20_000, help="sections that are measured first (default: 20,000)")
    parser.add_argument("--source", nargs="+", default=["django", "swiftui"], help="projects of the development server")
    parser.add_argument("--maintenance", action="store_true", help="also delete, vacuum, reindex, dump and restore")
    parser.add_argument("--again", action="store_true", help="store nothing: measure what an earlier run has stored")
    parser.add_argument("--agree", action="store_true", help="only compare made sections with embedded ones")
    options = parser.parse_args()
    with psycopg.connect(server.development().url(), autocommit=True) as connection:
        corpus = Corpus(connection, options.source)
    print(f"{len(corpus.titles)} real documents with {len(corpus.sections)} sections", flush=True)
    if options.agree:
        agree(corpus)
        return
    run = start(options, corpus)
    texts = queries(corpus)
    size = min(options.first, options.sections)
    try:
        while not options.again:
            figures = grow(run, size)
            figures |= measure(run, texts)
            run.add(figures)
            if size == options.sections:
                break
            size = min(2 * size, options.sections)
        if options.again:
            run.add(measure(run, texts))
        if options.maintenance:
            run.add(maintain(run))
    finally:
        run.instance.stop()
    path = toolchain.target_directory() / "bench" / f"scale-{options.shape}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run.report, indent=2) + "\n")


if __name__ == "__main__":
    main()
