#!/usr/bin/env python3
"""Compares the inference program with inference in each backend, on the development server.

Compared figures are measured in turns in one run; medians are printed.
With --soak the program's memory is measured over many queries and passages instead.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psycopg

import run
import server
import toolchain

MODES = ("service", "in_process")
TEN_TOKENS = "how to add button number {} to view"
CONNECTIONS = (1, 2, 4, 8, 16, 32)
SOAK_QUERIES, SOAK_PASSAGES = 100_000, 20_000
CHUNK = "Text of a passage with number {}. " + "It has a handful of words in every sentence. " * 6


def connect(url: str, mode: str = "service") -> psycopg.Connection:
    """A connection whose inference runs in this mode."""
    connection = psycopg.connect(url, autocommit=True)
    if mode != "service":
        connection.execute("LOAD 'pg_docsearch'")
        connection.execute(f"SET docsearch.inference = '{mode}'")
    return connection


def timed(call: Callable[[], object]) -> float:
    """The duration of a call in milliseconds."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def anonymous_kilobytes(pid: int) -> int:
    """Private memory of a process on this machine."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1])


def backend_pid(connection: psycopg.Connection) -> int:
    """The backend's process id in this process's namespace."""
    return connection.execute("SELECT pg_backend_pid()").fetchone()[0]


def search(connection: psycopg.Connection, text: str) -> None:
    """One search in the benchmark's project."""
    connection.execute("SELECT slug, score FROM search_docs(%s, project => %s)",
                       (text, run.PROJECT)).fetchall()


def memory_of_first_search(url: str) -> dict:
    """Private memory that the first search adds to a backend in each mode, in megabytes."""
    gained: dict[str, list[float]] = {mode: [] for mode in MODES}
    for number in range(5):
        for mode in MODES:
            with connect(url, mode) as connection:
                connection.execute("SELECT 1")
                pid = backend_pid(connection)
                before = anonymous_kilobytes(pid)
                search(connection, TEN_TOKENS.format(number))
                gained[mode].append((anonymous_kilobytes(pid) - before) / 1024)
    return {mode: statistics.median(values) for mode, values in gained.items()}


def first_search(url: str) -> dict:
    """Extra milliseconds of a new connection with a search over one with a plain query, and the time of
    the same search on a connection that has searched before."""
    plain, first, warm = [], [], []

    def query() -> None:
        with connect(url) as connection:
            connection.execute("SELECT 1").fetchall()

    def searching(text: str) -> None:
        with connect(url) as connection:
            search(connection, text)

    with connect(url) as kept:
        for number in range(30):
            plain.append(timed(query))
            text = TEN_TOKENS.format(f"first {number}")
            first.append(timed(lambda text=text: searching(text)))
            warm.append(timed(lambda text=text: search(kept, text + " again")))
    return {"plain_ms": statistics.median(plain), "first_ms": statistics.median(first),
            "warm_ms": statistics.median(warm),
            "beyond_ms": statistics.median(first) - statistics.median(plain)}


def pgbench(instance: server.Server, script: str, connections: int, seconds: int,
            mode: str = "service") -> float:
    """Transactions a second of a pgbench script."""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        done = subprocess.run(
            [instance.bin / "pgbench", "-n", "-M", "prepared", "-c", str(connections), "-j", "1",
             "-T", str(seconds), "-f", file.name, instance.url()],
            capture_output=True, text=True, env={**instance.environment(), "PGOPTIONS": f"-c docsearch.inference={mode}"})
    if done.returncode != 0 or "failed transactions: 0 " not in done.stdout:
        raise SystemExit(f"pgbench: {done.stdout}{done.stderr}")
    return float(re.search(r"tps = ([\d.]+) \(without", done.stdout)[1])


def embedding(instance: server.Server, rounds: int, seconds: int) -> dict:
    """Milliseconds of a query's embedding in each mode, and of a cached one.

    The vector is not sent to the client, since that would take as long as a cache hit.
    """
    fresh = ("\\set salt random(1, 1000000000)\n"
             "SELECT vector_dims(docsearch.embed('how to add button to view ' || :salt));\n")
    scripts = {"service": (fresh, "service"), "in_process": (fresh, "in_process"),
               "cached": ("SELECT vector_dims(docsearch.embed('Button'));\n", "service"),
               "nothing": ("SELECT length('Button');\n", "service")}
    taken: dict[str, list[float]] = {name: [] for name in scripts}
    for _ in range(rounds):
        for name, (script, mode) in scripts.items():
            taken[name].append(1000 / pgbench(instance, script, 1, seconds, mode))
    return {name: statistics.median(values) for name, values in taken.items()}


def throughput(instance: server.Server, rounds: int, seconds: int) -> dict:
    """Searches a second by number of connections. No query is sent twice."""
    script = ("\\set page random(1, 100)\n\\set salt random(1, 1000000000)\n"
              "SELECT count(*) FROM search_docs((SELECT title FROM bench_title WHERE id = :page) "
              f"|| ' ' || :salt, project => '{run.PROJECT}');\n")
    with connect(instance.url()) as connection:
        connection.execute("DROP TABLE IF EXISTS bench_title")
        connection.execute(
            "CREATE TABLE bench_title AS SELECT row_number() OVER (ORDER BY slug) AS id, title "
            "FROM list_docs(%s) LIMIT 100", (run.PROJECT,))
    taken: dict[int, list[float]] = {number: [] for number in CONNECTIONS}
    for _ in range(rounds):
        for number in CONNECTIONS:
            taken[number].append(pgbench(instance, script, number, seconds))
    with connect(instance.url()) as connection:
        connection.execute("DROP TABLE bench_title")
    return {number: statistics.median(values) for number, values in taken.items()}


def during_bulk_load(url: str, seconds: int) -> dict:
    """95th percentile of searches without and with a bulk load on another connection."""
    documents = run.source_documents(400)
    stop = threading.Event()

    def load() -> None:
        with connect(url) as connection:
            connection.execute("SELECT docsearch.create_project('bench_load')")
            for batch in run.batches(documents):
                if stop.is_set():
                    break
                connection.execute("SELECT count(*) FROM docsearch.index_docs('bench_load', %s)",
                                   (run.Jsonb(batch),))

    def latencies() -> Iterator[float]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            text = TEN_TOKENS.format(time.time_ns())
            yield timed(lambda text=text: search(connection, text))

    with connect(url) as connection:
        run.drop_project(connection, "bench_load")
        search(connection, "warm up")
        quiet = list(latencies())
        loader = threading.Thread(target=load)
        loader.start()
        time.sleep(2)
        busy = list(latencies())
        loading = loader.is_alive()
        stop.set()
        loader.join()
        run.drop_project(connection, "bench_load")
    if not loading:
        raise SystemExit("the load ended before the searches: give it more pages")
    p95 = {name: float(np.percentile(values, 95)) for name, values in (("quiet", quiet), ("busy", busy))}
    return {**p95, "quiet_p50": statistics.median(quiet), "busy_p50": statistics.median(busy),
            "ratio": p95["busy"] / p95["quiet"]}


def soak(url: str, queries: int, passages: int) -> list[dict]:
    """Memory of the program while it embeds, in twenty samples."""
    with connect(url) as connection:
        connection.execute("SELECT docsearch.restart_inference()")
    samples, lock = [], threading.Lock()
    left = {"queries": queries, "passages": passages}

    def take(kind: str, count: int) -> range | None:
        with lock:
            first = left[kind]
            left[kind] -= count
            return range(max(left[kind], 0), first) if first > 0 else None

    def embed_queries() -> None:
        with connect(url) as connection:
            while numbers := take("queries", 100):
                for number in numbers:
                    connection.execute("SELECT docsearch.embed(%s)",
                                       (TEN_TOKENS.format(number),), prepare=True)

    def embed_passages() -> None:
        with connect(url) as connection:
            while numbers := take("passages", 50):
                connection.execute("SELECT cardinality(docsearch.embed_passages(%s))",
                                   ([CHUNK.format(number) for number in numbers],))

    workers = [threading.Thread(target=work) for work in
               (embed_queries, embed_queries, embed_queries, embed_passages)]
    for worker in workers:
        worker.start()
    step = queries // 20
    with connect(url) as connection:
        while any(worker.is_alive() for worker in workers):
            done = queries - max(left["queries"], 0)
            if done >= step * (len(samples) + 1) or not samples:
                resident = connection.execute(
                    "SELECT resident_bytes, requests FROM docsearch.status()").fetchone()
                samples.append({"queries": done, "passages": passages - max(left["passages"], 0),
                                "resident_mb": resident[0] / 2**20, "requests": resident[1]})
                print(samples[-1], flush=True)
            time.sleep(0.2)
    return samples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--soak", action="store_true", help="measure the program's memory instead")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of pgbench (default: 3)")
    parser.add_argument("--seconds", type=int, default=8, help="seconds of each (default: 8)")
    options = parser.parse_args()
    os.environ.pop("PGOPTIONS", None)
    instance = server.development()
    url = instance.url()
    directory = toolchain.target_directory() / "bench"
    directory.mkdir(parents=True, exist_ok=True)
    if options.soak:
        samples = soak(url, SOAK_QUERIES, SOAK_PASSAGES)
        (directory / "soak.json").write_text(json.dumps(samples, indent=2) + "\n")
        return
    with connect(url) as connection:
        run.index_seconds(connection, run.source_documents(150))
        connection.execute("SELECT docsearch.finish_load(%s)", (run.PROJECT,))
    report: dict = {"memory": memory_of_first_search(url)}
    memory = report["memory"]
    print(f"memory    a backend gains {memory['service']:.1f} MB by its first search, "
          f"in process {memory['in_process']:.1f} MB", flush=True)
    report["first_search"] = first = first_search(url)
    print(f"first     search on a new connection {first['first_ms']:.1f} ms, plain query "
          f"{first['plain_ms']:.1f} ms: {first['beyond_ms']:.1f} ms beyond; "
          f"warm search {first['warm_ms']:.1f} ms", flush=True)
    report["embedding"] = embed = embedding(instance, options.rounds, options.seconds)
    print(f"embedding service {embed['service']:.3f} ms, in process {embed['in_process']:.3f} ms: "
          f"{embed['service'] - embed['in_process']:+.3f} ms; cached {embed['cached']:.3f} ms, "
          f"of which a statement that does nothing {embed['nothing']:.3f} ms", flush=True)
    report["throughput"] = rates = throughput(instance, options.rounds, options.seconds)
    print("searches  " + ", ".join(f"{number}: {rate:.1f}/s" for number, rate in rates.items())
          + f"; 32 connections at {rates[32] / max(rates.values()):.0%} of the best", flush=True)
    report["bulk"] = bulk = during_bulk_load(url, options.seconds * 2)
    print(f"bulk load p95 {bulk['busy']:.1f} ms, without {bulk['quiet']:.1f} ms: "
          f"{bulk['ratio']:.1f} times (p50 {bulk['busy_p50']:.1f} and {bulk['quiet_p50']:.1f} ms)")
    path = directory / "service.json"
    path.write_text(json.dumps(report, indent=2) + "\n")
    print(f"report    {path}")


if __name__ == "__main__":
    main()
