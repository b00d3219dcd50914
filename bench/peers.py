#!/usr/bin/env python3
"""Compares searches of this extension with what one would build or install instead:

pg_textsearch, pg_search, ts_rank_cd   an application with pgvector and these for words, fused in a statement
LanceDB, sqlite-vec                    words and vectors inside the application's process
Chroma, Qdrant local                   vectors there
Tantivy                                words there

DATA is a data set in BEIR layout. Without it, the corpus is a project of the development server, and the queries are headings
that only one of its pages has; the others store a row for each of its sections. Of a data set they store a row for each
document. All systems have the same corpus, model file and tokenizer, and a database or folder of their own; databases are
vacuumed and analysed. The extension splits documents into sections with a vector each. pg_textsearch and pg_search are the versions in the package pgembed
(scripts/requirements/headers17.txt), on its PostgreSQL. They are not the newest; the first lines of the output name all.

Blocks of queries go to one system after the other, in changing order. In each turn the queries end in other
punctuation, so that no embedding is cached. Then the same texts are sent again, without the embedding. The table has
the median of the turns. Processor time is that of the backend, or of this process for what runs in it; "with embedding"
adds the inference program and the client. Other load on the machine disturbs it less than latency. A ratio is ours
divided by the peer's. "First" is the first search of a new connection whose model is loaded.

Throughput is measured with 8 and 32 client processes. Then 8 clients search at a fixed rate, whatever the answers take, and
the time counts from when a search was due. Recall is the share of the nearest vectors that a system's own search finds. Each process of an application embeds its queries with one thread.
With --projects, that many projects with --sections in total are loaded and one is searched, which takes long.
"""

import argparse
import dataclasses
import itertools
import json
import math
import multiprocessing
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
from psycopg.conninfo import conninfo_to_dict

import server
import toolchain
from peer_model import RESULTS, embed_passages
from peer_systems import OWN, Application, Extension, PeerServer, connect, start_peers

if TYPE_CHECKING:
    from embedded_peers import Embedded

System = "Extension | Application | Embedded"

BLOCK = 20
CONNECTIONS = (8, 32)
FIRSTS = 9
# These add no word, but change the text. Not ".", "!" or "?", which the extension strips from the end of a query.
ENDINGS = ["".join(signs) for length in range(1, 6) for signs in itertools.product(",;:", repeat=length)]
# Before the number of a section, in the name of its row.
SECTION = "#section-"
# Shorter headings are names that many pages have.
MIN_HEADING_WORDS = 3
# For searches at a fixed rate.
PACED_ENDINGS = ENDINGS[-40:]
# That of no other search.
FIRST_ENDING = ",;:,;:"
MOST_CACHED = 0.05
WARM_UP = 5


@dataclasses.dataclass
class Data:
    """What is searched: documents for the extension, what the others store a row for, and queries with the grades of documents."""

    documents: list[dict]
    passages: list[dict]
    queries: list[dict]


def read(data: Path, count: int) -> Data:
    """A data set in BEIR layout, with the first queries that have an answer."""
    lines = lambda name: map(json.loads, (data / name).read_text("utf-8").splitlines())
    grades: dict[str, dict[str, float]] = {}
    for line in (data / "qrels.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0:
            grades.setdefault(query, {})[document] = float(grade)
    queries = [{"text": line["text"], "grades": grades[line["_id"]]}
               for line in lines("queries.jsonl") if line["_id"] in grades]
    documents = list(lines("corpus.jsonl"))
    return Data(documents, documents, queries[:count])


def read_project(url: str, project: str, count: int) -> Data:
    """The documents of a project, its sections, and as queries headings that only one document has."""
    with connect(url) as connection:
        sections = connection.execute(
            "SELECT d.slug, d.title, c.heading_path, c.body, d.body FROM docsearch.document d JOIN docsearch.chunk c "
            "ON c.project_id = d.project_id AND c.document_id = d.id JOIN docsearch.project p ON p.id = d.project_id "
            "WHERE p.name = %s AND c.kind = 'body' ORDER BY d.slug, c.chunk_no", (project,)).fetchall()
    if not sections:
        raise SystemExit(f"project {project} does not exist on the development server: run make demo, or give DATA=")
    documents = {slug: {"_id": slug, "title": title, "text": body} for slug, title, _, _, body in sections}
    passages = [{"_id": f"{slug}{SECTION}{number}", "title": " > ".join([title, *path]), "text": body}
                for number, (slug, title, path, body, _) in enumerate(sections)]
    having: dict[str, set[str]] = {}
    for slug, _, path, _, _ in sections:
        if path and len(path[-1].split()) >= MIN_HEADING_WORDS:
            having.setdefault(path[-1], set()).add(slug)
    queries = [{"text": heading, "grades": {slug: 1.0 for slug in slugs}} for heading, slugs in having.items() if len(slugs) == 1]
    return Data(list(documents.values()), passages, random.Random(1).sample(queries, min(count, len(queries))))


def pages(found: list[str]) -> list[str]:
    """The documents of results that may be sections."""
    return list(dict.fromkeys(slug.partition(SECTION)[0] for slug in found))


def ndcg(found: list[str], grades: dict[str, float]) -> float:
    """nDCG@10 of one query."""
    def discounted(gains: list[float]) -> float:
        return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains[:RESULTS]))
    return discounted([grades.get(slug, 0.0) for slug in found]) / discounted(sorted(grades.values(), reverse=True))


@contextmanager
def counted(report: dict, *servers: server.Server) -> Iterator[None]:
    """Adds wall time, and the processor time of servers and this process, to `report`."""
    def now() -> tuple[float, float]:
        return time.perf_counter(), time.process_time() + sum(one.processor_seconds() for one in servers)
    before = now()
    yield
    for name, start, end in zip(("index_s", "index_processor_s"), before, now()):
        report[name] = report.get(name, 0) + end - start


def new_database(instance: server.Server, url: str) -> None:
    """Makes an empty database, and drops that of an earlier run."""
    name = conninfo_to_dict(url)["dbname"]
    instance.query(f'DROP DATABASE IF EXISTS "{name}" (FORCE)')
    instance.query(f'CREATE DATABASE "{name}"')


def vacuum(url: str) -> None:
    """Vacuums and analyses, as autovacuum would do later."""
    with connect(url) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def load(systems: list[System], servers: dict[str, server.Server], projects: list[list[dict]],
         passages: list[list[dict]], known: dict | None = None) -> dict[str, dict]:
    """Indexes the projects in every system, and returns the times. `known` are vectors of passages."""
    report: dict[str, dict] = {system.name: {} for system in systems}
    embedding: dict = {}
    if known is None:
        with counted(embedding):
            known = embed_passages(passages[0])
    for system in systems:
        instance = servers.get(system.name)
        if instance:
            new_database(instance, system.url)
        system.create()
        system.open(1)
        with counted(report[system.name], *([instance] if instance else [])):
            if isinstance(system, Extension):
                for number, documents in enumerate(projects):
                    system.load(documents, number)
            else:
                for number, rows in enumerate(passages):
                    system.load(rows, number, [known[original(row)] for row in rows])
            if instance:
                vacuum(system.url)
        if not isinstance(system, Extension):
            for name, value in embedding.items():
                report[system.name][name] += value
        system.close()
        print(f"{system.name} has indexed in {report[system.name]['index_s']:.0f} s", flush=True)
    return report


def original(document: dict) -> str:
    """The document of the corpus that this one is a copy of."""
    return document.get("original", document["_id"])


def milliseconds(search: Callable[[str], object], text: str) -> float:
    """The duration of a search."""
    start = time.perf_counter()
    search(text)
    return (time.perf_counter() - start) * 1000


def measure(systems: list[System], texts: list[str], turns: int) -> dict[str, dict]:
    """The figures of every system, for each turn."""
    report: dict[str, dict] = {system.name: {} for system in systems}
    blocks = [texts[first:first + BLOCK] for first in range(0, len(texts), BLOCK)]
    for turn, ending in enumerate(ENDINGS[:turns]):
        taken = {system.name: {"whole": [], "rest": [], "whole_used": 0.0, "rest_used": 0.0, "cached": 0} for system in systems}
        for number, block in enumerate(blocks):
            first = (turn + number) % len(systems)
            for system in systems[first:] + systems[:first]:
                of = taken[system.name]
                of["cached"] -= system.cached()
                for part, search in (("whole", system.search), ("rest", system.search_again)):
                    before, others = used(system)
                    of[part] += [milliseconds(search, text + ending) for text in block]
                    after, others_after = used(system)
                    of[f"{part}_used"] += after - before + (others_after - others) * (part == "whole")
                    of["cached"] += system.cached() if part == "whole" else 0
        for name, of in taken.items():
            if of["cached"] > MOST_CACHED * len(texts):
                raise SystemExit(f"{name}: {of['cached']} of {len(texts)} embeddings were cached")
            figures = {"whole_p50_ms": numpy.percentile(of["whole"], 50), "whole_p95_ms": numpy.percentile(of["whole"], 95),
                       "whole_p99_ms": numpy.percentile(of["whole"], 99),
                       "whole_processor_ms": of["whole_used"] / len(texts),
                       "rest_p50_ms": numpy.percentile(of["rest"], 50), "rest_p95_ms": numpy.percentile(of["rest"], 95),
                       "rest_processor_ms": of["rest_used"] / len(texts)}
            for figure, value in figures.items():
                report[name].setdefault(figure, []).append(float(value))
        print(f"turn {turn + 1}: " + ", ".join(
            f"{name} {of['rest_processor_ms'][-1]:.2f} ms of processor time" for name, of in report.items()), flush=True)
    return report


def used(system: System) -> tuple[float, float]:
    """Processor time of what searches, and of embedder and client."""
    return system.searching_milliseconds(), system.embedding_milliseconds()


def first_searches(systems: list[System], texts: list[str]) -> dict[str, dict]:
    """The duration of the first search of new connections."""
    report: dict[str, list[float]] = {system.name: [] for system in systems}
    for text in texts[:FIRSTS]:
        for system in systems:
            fresh = dataclasses.replace(system)
            fresh.open(1)
            report[system.name].append(milliseconds(fresh.search, text + FIRST_ENDING))
            fresh.close()
    return {name: {"first_ms": taken} for name, taken in report.items()}


def ask_for(system: System, texts: list[str], endings: list[str], seconds: float, ready: Barrier, rates: Queue) -> None:
    """One client process: counts its searches until the time is over."""
    system.open(1)
    for text in texts[:WARM_UP]:
        system.search(text)
    ready.wait()
    start, count = time.perf_counter(), 0
    for ending, text in itertools.product(endings, texts):
        if time.perf_counter() - start >= seconds:
            rates.put(count / (time.perf_counter() - start))
            return
        system.search(text + ending)
        count += 1
    rates.put(0)


def throughput(systems: list[System], texts: list[str], turns: int, rounds: int, seconds: float) -> dict[str, dict]:
    """Searches a second of several processes. No process sends a text twice."""
    report: dict[str, dict] = {system.name: {} for system in systems}
    context = multiprocessing.get_context("spawn")
    share = (len(ENDINGS) - len(PACED_ENDINGS) - turns) // (rounds * len(CONNECTIONS))
    for number, (count, _) in enumerate(itertools.product(CONNECTIONS, range(rounds))):
        endings = ENDINGS[turns + number * share:turns + (number + 1) * share]
        for system in systems:
            ready, measured = context.Barrier(count), context.Queue()
            clients = [context.Process(target=ask_for, args=(
                dataclasses.replace(system), texts[client::count], endings, seconds, ready, measured))
                for client in range(count)]
            for client in clients:
                client.start()
            rates = [measured.get() for _ in clients]
            for client in clients:
                client.join()
            if not all(rates):
                raise SystemExit("a process ran out of texts: give fewer --seconds")
            report[system.name].setdefault(f"searches_per_second_{count}", []).append(sum(rates))
    return report


def keep_pace(system: System, texts: list[str], interval: float, offset: float, seconds: float, ready: Barrier, taken: Queue) -> None:
    """One client process: begins a search every `interval` seconds, and measures each from when it was due."""
    system.open(1)
    for text in texts[:WARM_UP]:
        system.search(text)
    ready.wait()
    start, times = time.perf_counter() + offset, []
    for number, (ending, text) in enumerate(itertools.product(PACED_ENDINGS, texts)):
        due = start + number * interval
        if due - start >= seconds:
            break
        time.sleep(max(due - time.perf_counter(), 0))
        system.search(text + ending)
        times.append((time.perf_counter() - due) * 1000)
    taken.put(times)


def at_rate(systems: list[System], texts: list[str], rate: float, seconds: float, able: dict[str, dict]) -> dict[str, dict]:
    """Latencies of clients that send `rate` searches a second together, of the systems that can answer a quarter more."""
    report: dict[str, dict] = {}
    context = multiprocessing.get_context("spawn")
    clients = CONNECTIONS[0]
    for system in systems:
        if middle(able[system.name][f"searches_per_second_{clients}"]) < 1.25 * rate:
            continue
        ready, taken = context.Barrier(clients), context.Queue()
        processes = [context.Process(target=keep_pace, args=(
            dataclasses.replace(system), texts[client::clients], clients / rate, client / rate, seconds, ready, taken))
            for client in range(clients)]
        for process in processes:
            process.start()
        times = [time for _ in processes for time in taken.get()]
        for process in processes:
            process.join()
        report[system.name] = {f"rate_p{share}_ms": float(numpy.percentile(times, share)) for share in (50, 95, 99)}
    return report


def many_projects(documents: list[dict], count: int, size: int) -> list[list[dict]]:
    """`count` projects of `size` documents each, copies of the corpus with other slugs."""
    endless = itertools.cycle(documents)
    return [[{**document, "_id": f"{document['_id']}-{place}-{number}", "original": document["_id"]}
             for place, document in enumerate(itertools.islice(endless, size))] for number in range(count)]


def run(options: argparse.Namespace, ours: server.Server, peers: PeerServer) -> dict:
    """All figures of each system."""
    data = read(options.data, options.queries) if options.data else read_project(ours.url(), options.project, options.queries)
    texts = [query["text"] for query in data.queries]
    print(f"{len(data.documents)} documents, {len(data.passages)} rows of others, {len(texts)} queries")
    words = ["pg_textsearch", *(["pg_search"] if options.pg_search else []), OWN]
    servers = {"pg_docsearch": ours, **dict.fromkeys(words, peers)}

    def databases(suffix: str) -> list[System]:
        return [Extension(ours.url(f"peers{suffix}")),
                *(Application(peers.url(f"peers_{name}{suffix}"), name) for name in words)]

    one = [*databases(""), *(embedded_systems() if options.embedded else [])]
    report: dict[str, dict] = {system.name: {} for system in one}

    def add(figures: dict[str, dict], prefix: str = "") -> None:
        for name, of in figures.items():
            report[name] |= {f"{prefix}{figure}": value for figure, value in of.items()}

    if not options.no_index:
        add(load(one, servers, [data.documents], [data.passages]))
    for system in one:
        system.forget()
        system.open(options.threads)
        print(f"{system.name}: {system.versions()}")
        vectors, rows, size = system.contents()
        report[system.name] |= {"vectors": vectors, "documents": rows, "bytes": size}
        found = [ndcg(pages(system.search(query["text"])), query["grades"]) for query in data.queries]
        report[system.name]["ndcg10"] = statistics.fmean(found)
        report[system.name]["recall"] = system.recall(texts)
    add(measure(one, texts, options.turns))
    for system in one:
        system.close()
    # What runs in a process belongs to that process.
    shared = [system for system in one if system.name in servers]
    add(first_searches(shared, texts))
    able = throughput(shared, texts, options.turns, options.rounds, options.seconds)
    add(able)
    add(at_rate(shared, texts, options.rate, options.seconds, able))
    if options.projects:
        add(ask_one_of_many(options, databases("_many"), servers, data, texts,
                            report["pg_docsearch"]["vectors"] / len(data.documents)), "many_")
    return report


def embedded_systems() -> list[System]:
    """What runs in this process. Its packages are installed if it is compared."""
    sys.path.append(str(toolchain.peer_packages()))
    import embedded_peers
    return embedded_peers.all_of(toolchain.target_directory() / "bench" / "peers")


def ask_one_of_many(options: argparse.Namespace, systems: list[System], servers: dict[str, server.Server],
                    data: Data, texts: list[str], sections: float) -> dict[str, dict]:
    """The figures with several projects, of which the first is searched. `sections` are those of a document."""
    if not options.no_index:
        size = round(options.sections / options.projects / sections)
        rows = round(size * len(data.passages) / len(data.documents))
        load(systems, servers, many_projects(data.documents, options.projects, size),
             many_projects(data.passages, options.projects, rows), embed_passages(data.passages))
    for system in systems:
        system.forget()
        system.open(options.threads)
        print(f"{system.name}: {system.contents()[0]} vectors in {options.projects} projects")
        for text in texts:
            system.search(text)
    figures = measure(systems, texts, options.turns)
    for system in systems:
        system.close()
    return figures


ROWS = (
    ("vectors", "vectors", "{:.0f}"),
    ("ndcg10", "nDCG@10", "{:.3f}"),
    ("recall", "recall of the nearest vectors", "{:.3f}"),
    ("whole_p50_ms", "search, p50 ms", "{:.1f}"),
    ("whole_p95_ms", "search, p95 ms", "{:.1f}"),
    ("whole_p99_ms", "search, p99 ms", "{:.1f}"),
    ("first_ms", "first search of a connection, ms", "{:.1f}"),
    ("whole_processor_ms", "processor ms, with embedding", "{:.2f}"),
    ("rest_p50_ms", "without embedding, p50 ms", "{:.1f}"),
    ("rest_p95_ms", "without embedding, p95 ms", "{:.1f}"),
    ("rest_processor_ms", "processor ms of the backend", "{:.2f}"),
    *((f"searches_per_second_{count}", f"searches a second, {count} connections", "{:.0f}") for count in CONNECTIONS),
    *((f"rate_p{share}_ms", f"at a fixed rate, p{share} ms", "{:.1f}") for share in (50, 95, 99)),
    ("many_whole_p50_ms", "one of several projects, p50 ms", "{:.1f}"),
    ("many_rest_p50_ms", "  without embedding, p50 ms", "{:.1f}"),
    ("many_rest_processor_ms", "  processor ms of the backend", "{:.2f}"),
    ("bytes", "size on disk, MB", "{:.1f}"),
    ("index_s", "time to index, s", "{:.0f}"),
    ("index_processor_s", "processor time to index, s", "{:.0f}"),
)


def middle(figure: float | list[float]) -> float:
    """The median of the turns, if there are turns."""
    return statistics.median(figure) if isinstance(figure, list) else figure


def table(report: dict[str, dict]) -> None:
    """Prints every figure of ours beside the peers', with ratios."""
    ours, *peers = report
    print(f"\n{'':36}{ours:>14}" + "".join(f"{name:>16}{'ratio':>8}" for name in peers))
    for figure, label, form in ROWS:
        if figure not in report[ours]:
            continue
        scale = 1e6 if figure == "bytes" else 1
        values = {name: middle(of[figure]) / scale for name, of in report.items() if of.get(figure)}
        print(f"{label:36}{form.format(values[ours]):>14}" + "".join(
            f"{form.format(values[name]):>16}{values[ours] / values[name]:8.2f}" if name in values else f"{'-':>16}{'':8}" for name in peers))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="data set in BEIR layout; default: --project")
    parser.add_argument("--project", default="django",
                        help="without a data set: a project of the development server (default: django, which make demo loads)")
    parser.add_argument("--queries", type=int, default=240, help="queries (default: 240)")
    parser.add_argument("--turns", type=int, default=5, help="turns of all queries (default: 5)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of searches a second (default: 3)")
    parser.add_argument("--seconds", type=float, default=8, help="seconds of each (default: 8)")
    parser.add_argument("--rate", type=float, default=50,
                        help="searches a second of 8 clients together, for latencies at a fixed rate (default: 50)")
    parser.add_argument("--threads", type=int, default=1,
                        help="threads with which the application embeds one query (default: 1, as the extension)")
    parser.add_argument("--no-pg-search", dest="pg_search", action="store_false", help="leave out pg_search")
    parser.add_argument("--no-embedded", dest="embedded", action="store_false",
                        help="leave out LanceDB, sqlite-vec, Chroma, Qdrant and Tantivy, whose packages have 900 MB")
    parser.add_argument("--no-index", action="store_true", help="take the databases of an earlier run")
    parser.add_argument("--projects", type=int, default=0, help="also load several projects, and search one of them")
    parser.add_argument("--sections", type=int, default=75_000, help="total number of their sections (default: 75,000)")
    options = parser.parse_args()
    peers = start_peers()
    try:
        print("load {:.1f} {:.1f} {:.1f}".format(*os.getloadavg()))
        report = run(options, server.development(), peers)
        print("load {:.1f} {:.1f} {:.1f}".format(*os.getloadavg()))
    finally:
        peers.stop()
    table(report)
    path = toolchain.target_directory() / "bench" / "peers.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n")
    print(f"\nreport {path}")


if __name__ == "__main__":
    main()
