#!/usr/bin/env python3
"""Measures loading and updating documentation on the development server.

manual    a folder of pages through the command-line program, against a bare ONNX Runtime loop over
          the embedded texts with the same number of threads; the loop runs before and after. The
          share is given in wall time and in processor time of all processes involved, which other
          load on the machine disturbs less
again     the same folder with nothing changed, and with one page changed
deferred  a project of many chunks, made of the same pages with other words in each copy, stored with
          docsearch.index_mode at deferred: with the background worker paused, on one connection and on
          two at once, then with the worker running
edited    a hundredth of its chunks edited in one transaction, and searched by a new word from another
          connection as soon as that has committed
search    searches of the first project while the worker embeds the second, against a paused worker,
          in turns; the results must be the same
cancelled loads of many pages, and of one of 1 MB, cancelled at different moments: the longest time
          until they end. It should be less than 2 s

Ratios compare figures measured in turns; figures are medians of the rounds.
"""

import argparse
import json
import os
import random
import re
import resource
import shutil
import statistics
import string
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import psycopg
from psycopg.types.json import Jsonb

import toolchain
from run import BATCH, BareModel, batches, drop_project, embedded_texts, milliseconds, set_threads

MANUAL, MANY, CANCELLED = "bench", "bench_many", "bench_cancelled"
CANCELLED_AFTER = (0.02, 0.1, 0.3, 1, 2, 4)
QUERIES = 200
CLIENTS, PER_CLIENT = 2, 6
FOUND_WITHIN = 30
SEARCH = "SELECT slug, score FROM search_docs(%s, project => %s)"
WORKER = "backend_type = 'docsearch indexer' AND datname = current_database()"
TEXTS = "SELECT batches FROM docsearch.status()"
CHUNKS = ("SELECT coalesce(sum(d.chunk_count), 0) FROM docsearch.document d "
          "JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = %s")


def scalar(connection: psycopg.Connection, statement: str, *parameters: object) -> object:
    """The only value of a statement."""
    return connection.execute(statement, parameters or None).fetchone()[0]


def load() -> str:
    """The load of the machine."""
    return "load {:.1f} {:.1f} {:.1f}".format(*os.getloadavg())


def cpu_seconds(process: int) -> float:
    """Processor time of a process, 0 if it has ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class ProcessorTime:
    """Sums the processor time of the program, its connections and the inference program."""

    def __init__(self, connection: psycopg.Connection):
        self.connection = connection
        self.inference = scalar(connection, "SELECT pid FROM docsearch.status()")

    def __enter__(self) -> "ProcessorTime":
        self.before = self.others()
        self.backends: dict[int, float] = {}
        self.stopped = Event()
        self.thread = Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.thread.join()
        self.seconds = self.others() - self.before + sum(self.backends.values())

    def others(self) -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return cpu_seconds(self.inference) + children.ru_utime + children.ru_stime

    def watch(self) -> None:
        with psycopg.connect(self.connection.info.dsn, autocommit=True) as connection:
            while not self.stopped.wait(0.1):
                for (process,) in connection.execute(
                        "SELECT pid FROM pg_stat_activity WHERE application_name = 'docsearch'").fetchall():
                    self.backends[process] = max(self.backends.get(process, 0), cpu_seconds(process))


class Program:
    """The command-line program and the folder it indexes."""

    def __init__(self, path: Path, url: str, folder: Path):
        self.command = [str(path), "index", str(folder), "--project", MANUAL]
        self.url = url

    def seconds(self) -> tuple[float, dict]:
        """The time of a run, and its summary."""
        start = time.perf_counter()
        done = subprocess.run([*self.command, "--json", "--url", self.url], text=True, stdout=subprocess.PIPE)
        taken = time.perf_counter() - start
        if done.returncode > 1:
            raise SystemExit("docsearch failed")
        return taken, json.loads(done.stdout.splitlines()[-1])

    def documents(self) -> list[dict]:
        """The documents that the program would send."""
        done = subprocess.run([*self.command, "--dry-run"], text=True, stdout=subprocess.PIPE)
        return [json.loads(line) for line in done.stdout.splitlines()]


def manual(connection: psycopg.Connection, program: Program, threads: int, rounds: int) -> dict:
    """Chunks a second of the program and of the bare loop."""
    bare, tokens = BareModel(toolchain.model(), threads), []
    rates, shares, cpu_shares = [], [], []

    def loop() -> tuple[float, float]:
        before = time.process_time()
        return bare.seconds(tokens), time.process_time() - before

    for _ in range(rounds):
        drop_project(connection, MANUAL)
        loops = [loop()] if tokens else []
        with ProcessorTime(connection) as used:
            taken, summary = program.seconds()
        tokens = tokens or bare.tokens(embedded_texts(connection))
        clock, cpu = (statistics.fmean(times) for times in zip(*loops, loop()))
        shares.append(clock / taken)
        cpu_shares.append(cpu / used.seconds)
        rates.append((len(tokens) / taken, len(tokens) / clock))
        print(f"  program {taken:.1f} s, bare loop {clock:.1f} s; processor time {used.seconds:.1f} s and {cpu:.1f} s; "
              f"{load()}", flush=True)
    return {"documents": summary["added"], "chunks": len(tokens), "threads": threads,
            "program_chunks_per_second": statistics.median(rate for rate, _ in rates),
            "bare_chunks_per_second": statistics.median(rate for _, rate in rates),
            "share": statistics.median(shares), "processor_share": statistics.median(cpu_shares)}


def change(page: Path, number: int) -> None:
    """Adds a sentence to a page."""
    text = page.read_text(errors="replace")
    sentence = f" This was changed {number} times."
    # Navigation surrounds the text.
    ends = [found.start() for found in re.finditer("</p>", text)]
    place = ends[len(ends) // 2] if ends else len(text)
    page.write_text(f"{text[:place]}{sentence}{text[place:]}")


def again(connection: psycopg.Connection, program: Program, folder: Path, rounds: int) -> dict:
    """Seconds of runs over the same folder, and the number of texts that they embed."""
    name, chunks = connection.execute(
        "SELECT d.source_path, d.chunk_count FROM docsearch.document d WHERE d.source_root = %s "
        "ORDER BY d.chunk_count DESC, d.slug LIMIT 1", (str(folder.resolve()),)).fetchone()
    page = folder / name
    taken: dict[str, list[float]] = {"unchanged": [], "changed": []}
    processor: dict[str, list[float]] = {"unchanged": [], "changed": []}
    embedded = {"unchanged": 0, "changed": 0}
    for number in range(rounds):
        for kind in taken:
            if kind == "changed":
                change(page, number + 1)
            before = scalar(connection, TEXTS)
            with ProcessorTime(connection) as used:
                seconds, summary = program.seconds()
            taken[kind].append(seconds)
            processor[kind].append(used.seconds)
            embedded[kind] = scalar(connection, TEXTS) - before
            if summary["changed"] != (kind == "changed") or summary["added"] or summary["deleted"]:
                raise SystemExit(f"unexpected summary: {summary}")
    return {"unchanged_s": statistics.median(taken["unchanged"]), "unchanged_embedded": embedded["unchanged"],
            "changed_s": statistics.median(taken["changed"]), "changed_embedded": embedded["changed"],
            "unchanged_processor_s": statistics.median(processor["unchanged"]),
            "changed_processor_s": statistics.median(processor["changed"]), "changed_page": page.name, "changed_page_chunks": chunks}


@contextmanager
def paused(url: str) -> Iterator[None]:
    """Makes the background worker wait for a table that indexing does not need."""
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE docsearch.attached_table IN ACCESS EXCLUSIVE MODE")
        while scalar(connection, f"SELECT count(*) FROM pg_stat_activity WHERE {WORKER}"
                                 " AND wait_event_type IS DISTINCT FROM 'Lock'"):
            time.sleep(0.05)
        yield
        connection.rollback()
        connection.execute("SELECT * FROM docsearch.index_progress()")


def copies(documents: list[dict]) -> Iterator[dict]:
    """Endless copies of the documents, each with words of its own in every section."""
    number = 0
    while True:
        number += 1
        words = random.Random(number).sample([word for document in documents[:50]
                                              for word in re.findall(r"[a-z]{5,}", document["body"])], 5)
        phrase = f"Edition {number}: {' '.join(words)}."
        for document in documents:
            body = re.sub(r"^(#+ .*)$", rf"\1\n\n{phrase}", document["body"], flags=re.MULTILINE)
            yield {"slug": f"{number}/{document['slug']}", "title": document["title"], "body": body,
                   "category": document.get("category")}


def send(connection: psycopg.Connection, documents: list[dict]) -> int:
    """Indexes documents, and returns the number of chunks."""
    chunks = 0
    for batch in batches(documents):
        rows = connection.execute("SELECT action, chunks, detail FROM docsearch.index_docs(%s, %s)",
                                  (MANY, Jsonb(batch))).fetchall()
        if failed := [detail for action, _, detail in rows if action == "failed"]:
            raise SystemExit(f"not indexed: {failed[0]}")
        chunks += sum(row[1] for row in rows)
    return chunks


def at_once(url: str, groups: list[list[dict]]) -> float:
    """Chunks a second that several connections store together, each its own groups of documents."""
    connections = [psycopg.connect(url, autocommit=True) for _ in range(CLIENTS)]
    for connection in connections:
        connection.execute("SET client_min_messages = error")
        connection.execute("SET docsearch.index_mode = 'deferred'")
    with ThreadPoolExecutor(CLIENTS) as clients:
        start = time.perf_counter()
        work = [clients.submit(lambda own=own, groups=groups[number::CLIENTS]: sum(send(own, group) for group in groups))
                for number, own in enumerate(connections)]
        stored = sum(done.result() for done in work)
        rate = stored / (time.perf_counter() - start)
    for connection in connections:
        connection.close()
    return rate


def deferred(connection: psycopg.Connection, url: str, documents: list[dict], chunks: int) -> dict:
    """Chunks a second that one connection stores, that several store after it, and then one while the worker runs."""
    drop_project(connection, MANY)
    connection.execute("SELECT docsearch.create_project(%s)", (MANY,))
    connection.execute("SET docsearch.index_mode = 'deferred'")
    supply = copies(documents)
    rates: dict[str, list[float]] = {"paused": [], "working": []}
    processor: list[float] = []

    def fill(kind: str, target: int) -> None:
        stored = scalar(connection, CHUNKS, MANY)
        while stored < target:
            batch = [next(supply) for _ in range(2 * BATCH)]
            start, used = time.perf_counter(), cpu_seconds(connection.info.backend_pid)
            sent = send(connection, batch)
            rates[kind].append(sent / (time.perf_counter() - start))
            processor.append(sent / (cpu_seconds(connection.info.backend_pid) - used))
            stored += sent

    with paused(url):
        fill("paused", chunks)
        more = [[next(supply) for _ in range(2 * BATCH)] for _ in range(PER_CLIENT * CLIENTS)]
        together = at_once(url, more)
        connection.execute("SELECT docsearch.finish_load(%s)", (MANY,))
    fill("working", scalar(connection, CHUNKS, MANY) + chunks // 10)
    stored = scalar(connection, CHUNKS, MANY)
    print(f"  {stored} chunks, {load()}", flush=True)
    return {"chunks": stored, "chunks_per_second": statistics.median(rates["paused"]),
            "slowest_chunks_per_second": min(rates["paused"]),
            "chunks_per_second_at_once": together,
            "chunks_per_processor_second": statistics.median(processor),
            "chunks_per_second_worker": statistics.median(rates["working"])}


def edited(connection: psycopg.Connection, url: str, rounds: int) -> dict:
    """Seconds to edit a hundredth of the chunks, and from the commit until all are found."""
    wanted = scalar(connection, CHUNKS, MANY) // 100
    found_after, rates, chunks = [], [], 0
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(SEARCH, ("warm", MANY)).fetchall()
        for number in range(rounds):
            rows = connection.execute(
                "SELECT d.slug, d.title, d.body, d.chunk_count FROM docsearch.document d "
                "JOIN docsearch.project p ON p.id = d.project_id WHERE p.name = %s "
                "ORDER BY hashtextextended(d.slug, %s)", (MANY, number)).fetchall()
            documents, left = [], wanted
            # A word that no page has, and pages that no earlier run has edited.
            mark = "".join(random.choices(string.ascii_lowercase, k=14))
            for slug, title, body, count in rows:
                if left <= 0:
                    break
                left -= count
                edit = re.sub(r"(?m)^(Edition \d+:)", rf"{mark} \1", body)
                documents.append({"slug": slug, "title": title, "body": f"{edit}\n\n{mark}\n"})
            start = time.perf_counter()
            with connection.transaction():
                chunks = send(connection, documents)
                rates.append(chunks / (time.perf_counter() - start))
            committed = time.perf_counter()
            slugs, wanted_first = {document["slug"] for document in documents}, min(100, len(documents))
            first: set[str] = set()
            # Pages near in meaning follow those that have the word.
            while len(first) < wanted_first or not first <= slugs:
                rows = other.execute("SELECT slug FROM search_docs(%s, %s, max_results => 100)",
                                     (mark, MANY)).fetchall()
                first = {slug for (slug,) in rows[:wanted_first]}
                if time.perf_counter() - committed > FOUND_WITHIN:
                    raise SystemExit(f"the edited pages are not the first {wanted_first} after {FOUND_WITHIN} s")
            found_after.append(time.perf_counter() - committed)
    return {"chunks": chunks, "chunks_per_second": statistics.median(rates),
            "found_after_s": statistics.median(found_after)}


def search(url: str, rounds: int) -> dict:
    """95th percentiles of searches with the worker paused and running."""
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
        titles = connection.execute(
            "SELECT DISTINCT d.title FROM docsearch.document d JOIN docsearch.project p ON p.id = d.project_id "
            "WHERE p.name = %s ORDER BY d.title", (MANUAL,)).fetchall()
        queries = random.Random(1).sample([title for (title,) in titles], min(QUERIES, len(titles)))

        def measure() -> tuple[list[float], list]:
            taken = [milliseconds(connection, SEARCH, query, MANUAL) for query in queries]
            return taken, [connection.execute(SEARCH, (query, MANUAL)).fetchall() for query in queries[::10]]

        measure()
        ratios, quiet_p95, busy_p95, same = [], [], [], True
        for _ in range(rounds):
            with paused(url):
                quiet, expected = measure()
            while not scalar(connection, f"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE {WORKER})"):
                time.sleep(0.05)
            time.sleep(1)
            before = scalar(connection, TEXTS)
            busy, seen = measure()
            if scalar(connection, TEXTS) - before <= len(queries) + len(seen):
                raise SystemExit("the worker was not running")
            same = same and seen == expected
            quiet_p95.append(statistics.quantiles(quiet, n=20)[-1])
            busy_p95.append(statistics.quantiles(busy, n=20)[-1])
            ratios.append(busy_p95[-1] / quiet_p95[-1])
            print(f"  p95 {quiet_p95[-1]:.1f} ms, then {busy_p95[-1]:.1f} ms, {load()}", flush=True)
    return {"queries": len(queries), "quiet_p95_ms": statistics.median(quiet_p95),
            "busy_p95_ms": statistics.median(busy_p95), "ratio": statistics.median(ratios), "same_results": same}


def cancelled(connection: psycopg.Connection, url: str) -> dict:
    """The longest time that loads continued after they were cancelled."""
    parts = [f"## Part {number}\n\n{f'Words of part {number}. ' * 20}\n\n" for number in range(2500)]
    loads = {"many_s": [{"slug": f"long/{number}", "title": f"Long {number}", "body": "".join(parts[number:number + 10])}
                        for number in range(500)],
             "one_s": [{"slug": "long", "title": "Long", "body": "".join(parts)}]}
    drop_project(connection, CANCELLED)
    connection.execute("SELECT docsearch.create_project(%s)", (CANCELLED,))
    longest = dict.fromkeys(loads, 0.0)
    with psycopg.connect(url, autocommit=True) as loading, ThreadPoolExecutor(1) as pool:
        for name, documents in loads.items():
            for pause in CANCELLED_AFTER:
                load = pool.submit(loading.execute, "SELECT * FROM docsearch.index_docs(%s, %s)",
                                   (CANCELLED, Jsonb(documents)))
                while not scalar(connection, "SELECT a.state = 'active' FROM pg_stat_activity a WHERE a.pid = %s",
                                 loading.info.backend_pid):
                    time.sleep(0.01)
                time.sleep(pause)
                begun = time.perf_counter()
                connection.execute("SELECT pg_cancel_backend(%s)", (loading.info.backend_pid,))
                if load.exception() is None:
                    # On a fast machine it has ended before.
                    break
                if not isinstance(load.exception(), psycopg.errors.QueryCanceled):
                    raise load.exception()
                longest[name] = max(longest[name], time.perf_counter() - begun)
    drop_project(connection, CANCELLED)
    return longest


@contextmanager
def without_cache(connection: psycopg.Connection) -> Iterator[None]:
    """Disables the cache, so that every query is embedded."""
    connection.execute("ALTER SYSTEM SET docsearch.query_cache_size = 0")
    connection.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        connection.execute("ALTER SYSTEM RESET docsearch.query_cache_size")
        connection.execute("SELECT pg_reload_conf()")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="connection URL of the development server")
    parser.add_argument("--program", required=True, type=Path, help="the command-line program")
    parser.add_argument("--data", type=Path, help="folder of pages (default: Django's)")
    parser.add_argument("--threads", type=int, default=2, help="threads of the model (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the parts that take seconds (default: 3)")
    parser.add_argument("--loads", type=int, default=1, help="rounds of the first part (default: 1)")
    parser.add_argument("--chunks", type=int, default=100_000, help="chunks of the second project (default: 100000)")
    parser.add_argument("--parts", default="manual,again,deferred,edited,search,cancelled",
                        help="parts, separated by commas; later ones need the results of earlier ones")
    options = parser.parse_args()
    parts, report = options.parts.split(","), {"load_before": os.getloadavg()}
    with psycopg.connect(options.url, autocommit=True) as connection:
        # Pages are changed; and the path, which marks them, is the same in every run.
        folder = toolchain.target_directory() / "bench" / "pages"
        if "manual" in parts or not folder.is_dir():
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(options.data or toolchain.documentation(), folder)
        program = Program(options.program, options.url, folder)
        set_threads(connection, options.threads)
        connection.execute("SELECT docsearch.embed('The program is started and the model is loaded.')")
        if "manual" in parts:
            report["manual"] = done = manual(connection, program, options.threads, options.loads)
            print(f"manual    {done['program_chunks_per_second']:.1f} chunks/s, bare loop "
                  f"{done['bare_chunks_per_second']:.1f} chunks/s: {done['share']:.0%}, by processor time "
                  f"{done['processor_share']:.0%} ({done['documents']} documents, {done['chunks']} chunks, "
                  f"{done['threads']} threads)", flush=True)
        if "again" in parts:
            report["again"] = done = again(connection, program, folder, options.rounds)
            print(f"again     nothing changed {done['unchanged_s']:.2f} s (processor time "
                  f"{done['unchanged_processor_s']:.2f} s), {done['unchanged_embedded']} texts embedded; one page changed "
                  f"{done['changed_s']:.2f} s ({done['changed_processor_s']:.2f} s), {done['changed_embedded']} embedded "
                  f"(of {done['changed_page_chunks']} in {done['changed_page']})", flush=True)
        if "deferred" in parts:
            report["deferred"] = done = deferred(connection, options.url, program.documents(), options.chunks)
            print(f"deferred  {done['chunks_per_second']:.0f} chunks/s with the worker paused (slowest batch "
                  f"{done['slowest_chunks_per_second']:.0f}), {done['chunks_per_second_worker']:.0f} with it at work, "
                  f"{done['chunks_per_second_at_once']:.0f} on {CLIENTS} connections with it paused, "
                  f"{done['chunks_per_processor_second']:.0f} a second of the backend's processor time "
                  f"({done['chunks']} chunks)", flush=True)
        if "edited" in parts:
            connection.execute("SET docsearch.index_mode = 'deferred'")
            with paused(options.url):
                report["edited"] = done = edited(connection, options.url, options.rounds)
            print(f"edited    {done['chunks']} chunks at {done['chunks_per_second']:.0f} chunks/s, found "
                  f"{done['found_after_s'] * 1000:.0f} ms after the commit", flush=True)
        if "search" in parts:
            with without_cache(connection):
                report["search"] = done = search(options.url, options.rounds)
            print(f"search    p95 {done['quiet_p95_ms']:.1f} ms, {done['busy_p95_ms']:.1f} ms while the worker embeds: "
                  f"{done['ratio']:.1f} times; results {'the same' if done['same_results'] else 'DIFFER'} "
                  f"({done['queries']} queries)", flush=True)
        if "cancelled" in parts:
            report["cancelled"] = done = cancelled(connection, options.url)
            print(f"cancelled a load of many pages ended within {done['many_s']:.2f} s, one of a page of 1 MB within "
                  f"{done['one_s']:.2f} s", flush=True)
    report["load_after"] = os.getloadavg()
    path = toolchain.target_directory() / "bench" / "indexing.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, indent=2) + "\n")
    print(f"report    {path}")


if __name__ == "__main__":
    main()
