#!/usr/bin/env python3
"""Measures indexing throughput and search latency on the development server.

Throughput: pages are indexed by `docsearch.index_docs`, and the texts it
embedded are then run through the same model file by a bare ONNX Runtime loop
with as many threads, tokenised beforehand. Both in turns; medians are printed.

Latency: every query once through `search_docs` on one warm connection, in turns
with its embedding alone, which depends on the processor most of all.
"""

import argparse
import json
import os
import queue
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

# Read when the library is loaded. Without it the library reports its use to its vendor.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import numpy as np
import onnxruntime
import psycopg
from psycopg.types.json import Jsonb
from tokenizers import Tokenizer

import server
import toolchain

PROJECT = "bench"
BATCH = 32
WARM_UP = 20


class BareModel:
    """The model in plain ONNX Runtime sessions, one for each thread."""

    def __init__(self, directory: Path, threads: int):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.sessions = [onnxruntime.InferenceSession(
            directory / "onnx" / "model.onnx", options, providers=["CPUExecutionProvider"])
            for _ in range(threads)]
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        settings = json.loads((directory / "sentence_bert_config.json").read_text("utf-8"))
        self.tokenizer.enable_truncation(settings["max_seq_length"])

    def tokens(self, texts: list[str]) -> list[np.ndarray]:
        """Token ids of every text."""
        return [np.array([encoding.ids]) for encoding in self.tokenizer.encode_batch(texts)]

    def seconds(self, tokens: list[np.ndarray]) -> float:
        """The time for the texts, one a run."""
        waiting: queue.SimpleQueue[np.ndarray] = queue.SimpleQueue()
        for ids in tokens:
            waiting.put(ids)

        def work(session: onnxruntime.InferenceSession) -> None:
            while True:
                try:
                    ids = waiting.get_nowait()
                except queue.Empty:
                    return
                session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})

        workers = [threading.Thread(target=work, args=(session,)) for session in self.sessions]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return time.perf_counter() - start


def run_cli(*arguments: str | Path) -> None:
    """Runs the command-line program against the development server."""
    program = toolchain.target_directory() / "release" / "docsearch"
    url = server.development().url()
    if subprocess.run([program, *arguments, "--url", url]).returncode > 1:
        raise SystemExit("docsearch failed")


def source_documents(limit: int) -> list[dict]:
    """Django's pages as the command-line program reads them for `index_docs`."""
    program = toolchain.target_directory() / "release" / "docsearch"
    command = [program, "index", toolchain.documentation(), "--project", PROJECT, "--dry-run"]
    read = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    documents = [json.loads(line) for line in read.stdout.splitlines() if line.startswith("{")]
    return sorted(documents, key=lambda document: document["slug"])[:limit]


def batches(documents: list[dict]) -> Iterator[list[dict]]:
    """The documents in groups of BATCH."""
    for first in range(0, len(documents), BATCH):
        yield documents[first:first + BATCH]


def drop_project(connection: psycopg.Connection, name: str) -> None:
    """Drops a project, if it exists. The first project makes the tables."""
    tables = connection.execute("SELECT to_regclass('docsearch.project') IS NOT NULL").fetchone()[0]
    if tables and connection.execute("SELECT 1 FROM docsearch.project WHERE name = %s", (name,)).fetchall():
        connection.execute("SELECT docsearch.drop_project(%s)", (name,))


def index_seconds(connection: psycopg.Connection, documents: list[dict]) -> float:
    """The time of indexing into an empty project."""
    drop_project(connection, PROJECT)
    connection.execute("SELECT docsearch.create_project(%s)", (PROJECT,))
    start = time.perf_counter()
    for batch in batches(documents):
        rows = connection.execute(
            "SELECT slug, detail FROM docsearch.index_docs(%s, %s) WHERE action = 'failed'",
            (PROJECT, Jsonb(batch))).fetchall()
        if rows:
            raise SystemExit(f"not indexed: {rows[0]}")
    return time.perf_counter() - start


def embedded_texts(connection: psycopg.Connection) -> list[str]:
    """The texts that were embedded, one for each chunk."""
    rows = connection.execute(
        "SELECT docsearch.embed_input(c.project_id, c.document_id, c.chunk_no) "
        "FROM docsearch.chunk c JOIN docsearch.project p ON p.id = c.project_id "
        "WHERE p.name = %s", (PROJECT,))
    return [text for (text,) in rows]


def set_threads(connection: psycopg.Connection, threads: int) -> None:
    """Sets the number of the server's inference threads."""
    connection.execute("LOAD 'pg_docsearch'")
    connection.execute(f"ALTER SYSTEM SET docsearch.threads = {threads}")
    connection.execute("SELECT pg_reload_conf()")


def throughput(url: str, threads: int, rounds: int, limit: int) -> dict:
    """Chunks a second of the extension and of the bare loop."""
    with psycopg.connect(url, autocommit=True) as connection:
        set_threads(connection, threads)
    documents = source_documents(limit)
    with psycopg.connect(url, autocommit=True) as connection:
        index_seconds(connection, documents)
        texts = embedded_texts(connection)
        bare = BareModel(toolchain.model(), threads)
        tokens = bare.tokens(texts)
        taken: dict[str, list[float]] = {"extension": [], "bare": []}
        for number in range(rounds):
            taken["bare"].append(bare.seconds(tokens))
            taken["extension"].append(index_seconds(connection, documents))
            print(f"round {number + 1}: bare loop {taken['bare'][-1]:.1f} s, "
                  f"index_docs {taken['extension'][-1]:.1f} s", flush=True)
    median = {name: statistics.median(seconds) for name, seconds in taken.items()}
    return {"documents": len(documents), "chunks": len(texts), "threads": threads,
            "tokens": sum(ids.size for ids in tokens),
            "extension_chunks_per_second": len(texts) / median["extension"],
            "bare_chunks_per_second": len(texts) / median["bare"],
            "ratio": median["bare"] / median["extension"]}


def queries(connection: psycopg.Connection, data: Path | None) -> tuple[str, list[str]]:
    """The project to search and the queries: a data set's, or the titles of the pages that were indexed."""
    if data is None:
        rows = connection.execute(
            "SELECT d.title FROM docsearch.document d JOIN docsearch.project p "
            "ON p.id = d.project_id WHERE p.name = %s ORDER BY d.slug", (PROJECT,))
        return PROJECT, [title for (title,) in rows]
    project = f"eval_{data.resolve().name}"
    report = toolchain.target_directory() / "bench" / "eval.json"
    run_cli("eval", data, "--project", project, "--report", report)
    with (data / "queries.jsonl").open(encoding="utf-8") as lines:
        return project, [json.loads(line)["text"] for line in lines]


def milliseconds(connection: psycopg.Connection, statement: str, *parameters: str) -> float:
    """The duration of a statement with fetching its rows."""
    start = time.perf_counter()
    connection.execute(statement, parameters).fetchall()
    return (time.perf_counter() - start) * 1000


def latency(url: str, data: Path | None) -> dict:
    """Milliseconds of a `search_docs` call with the query's embedding, and of the embedding alone.

    The embedding has a full stop at its end: without it the vector would be in the cache.
    """
    with psycopg.connect(url, autocommit=True, prepare_threshold=0) as connection:
        project, texts = queries(connection, data)
        search, embedding = [], []
        for text in [f"{text}!" for text in texts[:WARM_UP]] + texts:
            search.append(milliseconds(
                connection, "SELECT slug, score FROM search_docs(%s, project => %s)", text, project))
            embedding.append(milliseconds(
                connection, "SELECT docsearch.embed(%s)", f"{text}."))
    search, embedding = search[WARM_UP:], embedding[WARM_UP:]
    return {"project": project, "queries": len(search), "mean_ms": statistics.fmean(search),
            "p50_ms": float(np.percentile(search, 50)), "p95_ms": float(np.percentile(search, 95)),
            "embedding_p50_ms": float(np.percentile(embedding, 50))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="data set in BEIR layout for the latency")
    parser.add_argument("--threads", type=int, default=2, help="threads of both (default: 2)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each (default: 3)")
    parser.add_argument("--documents", type=int, default=150,
                        help="pages to index in a round (default: 150)")
    options = parser.parse_args()
    url = server.development().url()
    (toolchain.target_directory() / "bench").mkdir(parents=True, exist_ok=True)
    report = {"throughput": throughput(url, options.threads, options.rounds, options.documents),
              "latency": latency(url, options.data)}
    path = toolchain.target_directory() / "bench" / "report.json"
    path.write_text(json.dumps(report, indent=2) + "\n")
    indexing, search = report["throughput"], report["latency"]
    print(f"indexing  {indexing['extension_chunks_per_second']:.1f} chunks/s, bare loop "
          f"{indexing['bare_chunks_per_second']:.1f} chunks/s: {indexing['ratio']:.0%} "
          f"({indexing['chunks']} chunks, {indexing['tokens']} tokens, "
          f"{indexing['threads']} threads)")
    print(f"search    p50 {search['p50_ms']:.1f} ms, p95 {search['p95_ms']:.1f} ms "
          f"of which embedding {search['embedding_p50_ms']:.1f} ms "
          f"({search['queries']} queries on {search['project']})")
    print(f"report    {path}")


if __name__ == "__main__":
    main()
